//! Tests programs as they are shipped and as users build them: optimisation must not change a digit.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::profiles;
use crate::suite::step;

/// Builds the program in both profiles, checks that it is stripped, and has the tests of the command line run each of
/// them.
pub fn run(root: &Path) -> Result<()> {
    for profile in ["release", "dist"] {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "capeval-cli", "--profile", profile]).current_dir(root);
        step(&format!("build for {profile}"), &mut build)?;
        let program = root.canonicalize()?.join("target").join(profile).join("capeval");
        profiles::check_stripped(&program)?;
        let mut test = Command::new(env!("CARGO"));
        test.args(["test", "--quiet", "--workspace", "--test", "cli"]).current_dir(root);
        step(&format!("tests of {profile}"), test.env("CAPEVAL_PROGRAM", program))?;
    }
    Ok(())
}
