//! `capeval prepare`: references read and counted once, scored against many times.

use anyhow::Result;
use capeval::corpus::Ids;
use capeval::metric::Resources;
use capeval::{PrepareOptions, PrepareRequest};
use capeval_files as files;

use crate::data;
use crate::fault::Flags;
use crate::options::{self, Metrics, References};
use crate::output::{self, Output};

/// Prepare references, so that scoring against them takes milliseconds
///
/// The result is given to `score -r`. It holds the references, their words for the metrics' tokenizers, and
/// the document frequencies over all images; it is refused once a file it was made from has changed.
#[derive(clap::Args)]
pub struct Args {
    /// Files of references, `-` for standard input.
    #[arg(required = true, value_name = "FILE")]
    references: Vec<String>,
    #[command(flatten)]
    reading: References,
    #[command(flatten)]
    metrics: Metrics,
    /// How ids are compared: with `text`, the number 1 and the text "1" are one id.
    #[arg(long, value_name = "HOW", default_value_t, value_parser = options::ids())]
    ids: Ids,
    /// Write to this file.
    #[arg(short, long, value_name = "FILE", required = true)]
    output: String,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let inputs: Vec<&str> = args.references.iter().map(String::as_str).collect();
    let options = PrepareOptions { metrics: args.metrics.options(None), ids: args.ids };
    let needs_meteor = capeval::needed_data(&options.metrics).iter().any(|needed| needed.metric == "meteor");
    let meteor = if needs_meteor { data::meteor()? } else { None };
    let resources = Resources::default().with(meteor);
    // A misspelt metric should not wait for the references.
    capeval::select_metrics(&options.metrics, &resources)?;
    let output = Output::open(Some(&args.output), &inputs)?;
    let sources = inputs.iter().filter_map(|path| files::source(path)).collect();
    let references = args.reading.read(&args.references)?;
    output::tell(references.notices(), Flags::Usual);
    let request = PrepareRequest { references, sources, options, resources, progress: &() };
    let prepared = capeval::prepare(request)?;
    let (images, references) = (prepared.references.n_images(), prepared.references.n_references());
    let what = format!("{references} references of {images} images");
    output.write_described(&what, |out| prepared.write(out))?;
    std::mem::forget(prepared);
    Ok(())
}
