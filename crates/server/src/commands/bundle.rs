//! The command that turns a bundle of another site into a draft.

use std::io::Write as _;
use std::path::PathBuf;

use capeval_benchmarks::{bundles, plan};
use clap::Args;

#[derive(Args)]
pub(super) struct ImportBundle {
    /// The bundle: a ZIP archive or a folder with competition.yaml or challenge_config.yaml.
    bundle: PathBuf,
    /// Folder to create, for the plan and its files.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Email address of a host; repeatable.
    #[arg(long, value_name = "EMAIL")]
    host: Vec<String>,
}

pub(super) fn import(given: &ImportBundle) -> anyhow::Result<()> {
    let (_, mut text) = bundles::import(&given.bundle, &given.out, &given.host)?;
    let file = given.out.join(plan::FILE);
    text.push_str(&format!("\ncapeval-server admin benchmark apply {}\n", file.display()));
    // A reader such as `head` may close the pipe early.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(())
}
