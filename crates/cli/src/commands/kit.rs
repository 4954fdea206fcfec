//! `capeval kit`: lists and shows kits, the ways in which fields evaluate captions.

use anyhow::Result;
use capeval::{KITS, Kit};
use capeval_files as files;

use crate::kits;
use crate::output::Output;

/// List and show kits: the metrics, settings and rules of a field, for `capeval score --kit`
#[derive(clap::Subcommand)]
pub enum Args {
    /// List the kits that come with capeval
    List,
    /// Print a kit, which is the text of a file to change and pass to --kit, and the flags that it stands for
    Show {
        /// Name of the kit, or the file of one.
        #[arg(value_name = "NAME|FILE")]
        name: String,
    },
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let text = match args {
        Args::List => list()?,
        Args::Show { name } => shown(name)?,
    };
    Output::open(None, &[])?.write(|out| out.write_all(text.as_bytes()))
}

fn list() -> Result<String> {
    let width = KITS.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let line = |(name, _): &(&str, &str)| -> Result<String> {
        Ok(format!("{name:width$}  {}\n", Kit::named(name)?.summary))
    };
    KITS.iter().map(line).collect()
}

fn shown(name: &str) -> Result<String> {
    let kit = files::kit(name)?;
    let text = match KITS.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => (*text).to_owned(),
        None => files::text(name)?,
    };
    let flags: Vec<String> = kits::flags(&kit).iter().map(|(_, flag)| kits::quoted(flag)).collect();
    Ok(format!("# The same as: capeval score {}\n{text}", flags.join(" ")))
}
