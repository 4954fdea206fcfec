//! `capeval data`: third-party data that metrics need.

use std::path::PathBuf;

use anyhow::{Result, bail};
use capeval::choice::{Refusal, Remedy, Task};
use capeval_files::MeteorHome;

use crate::data;
use crate::fault::{fault, sentence};
use crate::output::Output;

/// Install and manage third-party data that metrics need
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Download data, compile and store them
    ///
    /// METEOR's data are taken from the Python package pycocoevalcap 1.2: from an installed copy, or else from your
    /// package index through pip, which verifies the hash.
    Install {
        /// Name of the data.
        #[arg(value_parser = ["meteor"])]
        name: String,
        /// Source, instead of the package: a wheel, a meteor-1.5.jar with data/ beside it, or a folder with these.
        #[arg(long, value_name = "PATH")]
        from: Option<PathBuf>,
    },
    /// List all data, and whether they are installed
    List,
    /// Verify the checksums of installed data
    Verify,
    /// Remove installed data
    Remove {
        /// Name of the data.
        #[arg(value_parser = ["meteor"])]
        name: String,
    },
    /// Print the folder where data are stored
    Path,
}

fn install() -> Remedy {
    Remedy::run(Task::Install("meteor"))
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    match &args.action {
        Action::Install { name: _, from } => data::install(from.as_deref()),
        Action::List => {
            let path = MeteorHome::of_user()?.file();
            let state = match data::meteor() {
                Ok(Some(resources)) => {
                    let bytes = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
                    format!(
                        "installed, {:.1} MB, content {}, {}",
                        bytes as f64 / 1e6,
                        resources.fingerprint(),
                        path.display()
                    )
                }
                Ok(None) => sentence(&Refusal::new("not installed").with_remedy(install())),
                Err(error) => format!("unusable: {error:#}"),
            };
            Output::open(None, &[])?.write(|out| writeln!(out, "meteor  {state}"))
        }
        Action::Verify => match data::meteor()? {
            Some(resources) => {
                let line = format!("meteor  as it was written, content {}", resources.fingerprint());
                Output::open(None, &[])?.write(|out| writeln!(out, "{line}"))
            }
            None => Err(fault("METEOR's resources are not installed", install())),
        },
        Action::Remove { name: _ } => {
            if !MeteorHome::of_user()?.remove()? {
                bail!("METEOR's resources are not installed");
            }
            Ok(())
        }
        Action::Path => {
            let folder = MeteorHome::of_user()?.folder().display().to_string();
            Output::open(None, &[])?.write(|out| writeln!(out, "{folder}"))
        }
    }
}
