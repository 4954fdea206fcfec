//! `capeval prepare`: reads references once, for many runs.

use anyhow::Result;
use capeval::evaluate::registry;
use capeval::metric::Family;
use capeval::report::Notice;
use capeval::{Cleaning, PrepareOptions, PrepareRequest, PreparedCleaning};
use capeval_files::{self as files, MetricData};
use capeval_outside::Sources;

use crate::data;
use crate::fault::{Flags, fault};
use crate::messages;
use crate::options::{Matching, Metrics, ReferenceInput, choices};
use crate::output::Output;
use crate::progress::Bar;

/// Prepare references once, for many runs
///
/// Pass the result to `capeval score -r`. It contains the references and their words for the tokenizers of the metrics,
/// and for SPICE the facts in each reference, which are then parsed only once.
/// It becomes invalid when one of its source files changes.
#[derive(clap::Args)]
pub struct Args {
    /// Files of references, `-` for standard input.
    #[arg(required = true, value_name = "FILE")]
    references: Vec<String>,
    #[command(flatten)]
    reading: ReferenceInput,
    #[command(flatten)]
    metrics: Metrics,
    #[command(flatten)]
    matching: Matching,
    /// Remove these kinds of text from the references; scores that are computed with them clean captions in the same
    /// way, and their signatures say so.
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = choices::<Cleaning>())]
    clean: Vec<Cleaning>,
    /// Write the prepared references to this file.
    #[arg(short, long, value_name = "FILE", required = true)]
    output: String,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let inputs: Vec<&str> = args.references.iter().map(String::as_str).collect();
    let options = PrepareOptions {
        metrics: args.metrics.options(None),
        ids: args.matching.ids,
        clean: args.clean.clone(),
    };
    let mut data = data::installed(&options.metrics)?;
    for name in &options.metrics.names {
        if !capeval_outside::family(name)?.is_some_and(Family::is_outside) {
            continue;
        }
        let remedy = match registry::base(name) {
            Some(base) => format!("name {} instead, which it multiplies", base.name),
            None => "leave it out of the metrics".to_owned(),
        };
        return Err(fault(format!("there is nothing to prepare for {name}"), remedy));
    }
    let sources = Sources { programs: Some(messages::of_programs()), ..Sources::default() };
    sources.open(&options.metrics, &mut data.resources)?;
    // A misspelt metric should not wait for the references.
    capeval::select_metrics(&options.metrics, &data.resources)?;
    let named = args.metrics.files();
    let output =
        Output::open(Some(&args.output), &inputs.iter().copied().chain(named.paths()).collect::<Vec<_>>())?;
    data.open_caches(&named)?;
    let MetricData { resources, caches, .. } = data;
    messages::tell(caches.notices(), Flags::Usual);
    let sources = inputs.iter().filter_map(|path| files::source(path)).collect();
    let references = args.reading.read(&args.references)?;
    messages::tell(references.notices(), Flags::Usual);
    data::announce_parses(&resources, data::texts([&references]));
    let request = PrepareRequest { references, sources, options, resources, progress: &Bar::new() };
    let prepared = capeval::prepare(request)?;
    let removed = PreparedCleaning::of(&prepared).cleaned;
    let removed: Vec<Notice> = removed.into_iter().map(|removal| removal.notice("the references")).collect();
    messages::tell(&removed, Flags::Usual);
    let saved = data::save(caches);
    let images = prepared.n_images();
    let references = prepared.n_references(0..images as u32);
    let what = format!("{references} references of {images} images");
    output.write_described(&what, |out| prepared.write(out))?;
    std::mem::forget(prepared);
    saved
}
