//! `capeval inspect`: shows how files of captions are read.

use anyhow::Result;
use capeval::report;
use capeval_files as files;

use super::dense;
use crate::fault::Flags;
use crate::names;
use crate::options::{Candidates, Matching, ReferenceInput};
use crate::output::Output;
use crate::written_flags::WrittenFlags;

/// Show how files are read: records, ids, captions, and how well both sides fit
///
/// Files are understood from their structure and from the values of both sides, so give the references, too. What
/// else could be meant is listed with the flag that reads it so. Files of dense captions, with a start and an end for
/// each, are shown as `dense` reads them. `score` and other commands read files in the same way.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Files of candidates, `-` for standard input; none to look at references alone.
    #[arg(required_unless_present = "references", value_name = "[NAME=]FILE")]
    files: Vec<String>,
    /// File of references; may be repeated, or be a file of prepared references.
    #[arg(short, long, value_name = "FILE")]
    references: Vec<String>,
    #[command(flatten)]
    reading_references: WrittenFlags<ReferenceInput>,
    #[command(flatten)]
    reading: Candidates,
    #[command(flatten)]
    matching: Matching,
    /// Write JSON.
    #[arg(long)]
    json: bool,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

const AFTER_HELP: &str = "\
Examples:
  capeval inspect results.jsonl -r refs.json
  capeval inspect a.csv b.yaml -r captions_val2014.json --json
  capeval inspect -r dataset.json --split test";

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let systems = names::name(&args.files, &[])?;
    let mut inputs: Vec<&str> = systems.iter().map(|system| system.path.as_str()).collect();
    inputs.extend(args.references.iter().map(String::as_str));
    let output = Output::open(args.output.as_deref(), &inputs)?;
    if let Some(found) = dense::inspection(&args.references, &systems)? {
        return output.write(|out| match args.json {
            true => report::line(&found, out),
            false => writeln!(out, "{found}score them by `capeval dense`"),
        });
    }
    let references = match &args.references[..] {
        [] => None,
        paths => Some(args.reading_references.open(paths)?),
    };
    let options = args.reading.options(args.reading_references.no_limits);
    let mut captions = Vec::new();
    for system in systems {
        captions.push((system.name, files::captions(&system.path, &options)?));
    }
    let found = capeval::inspect(references, captions, args.matching.ids)?;
    output.write(|out| match args.json {
        true => report::line(&found, out),
        false => found.write_text(&Flags::Usual, out),
    })
}
