//! `capeval human`: scores what people wrote against what others wrote.

use anyhow::Result;
use capeval::{ScoreOptions, ScoreRequest};

use crate::data;
use crate::group_args::GroupArgs;
use crate::metrics::MetricArgs;
use crate::options::{Matching, ReferenceFiles};
use crate::output_args::OutputArgs;
use crate::progress::Bar;
use crate::resampling_args::Intervals;

/// Score each reference against the others: the human row of a table
///
/// Round k holds out the k-th reference of every image and scores it against the others; document frequencies are
/// counted without it. The number of rounds is the largest number of references of an image; images with fewer start
/// again from the first, and those with a single reference are left out. Scores are means over the rounds.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    #[command(flatten)]
    files: ReferenceFiles,
    #[command(flatten)]
    matching: Matching,
    #[command(flatten)]
    metrics: MetricArgs,
    #[command(flatten)]
    groups: GroupArgs,
    #[command(flatten)]
    intervals: Intervals,
    #[command(flatten)]
    output: OutputArgs,
}

const AFTER_HELP: &str = "\
`capeval score --human` adds this row to a table of systems.

Examples:
  capeval human -r captions_val2014.json
  capeval human -r dataset_coco.json --split test --ci -f markdown";

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let intervals = args.intervals.resampling()?;
    let chosen = args.metrics.choose(args.metrics.options())?;
    chosen.check_early()?;
    args.metrics.refuse_unseen(chosen.looks, false)?;
    let inputs: Vec<&str> = args.files.paths().chain(chosen.files.paths()).collect();
    let output = args.output.open(&inputs)?;
    let groups = args.groups.read(args.files.paths(), [args.files.id_column(), None])?;
    let bar = Bar::new();
    let (metrics, resources, caches) = chosen.read()?;
    let images = args.files.images()?;
    let references = args.files.open()?;
    data::announce_parses(&resources, data::texts(references.captions()));
    let mut report = capeval::score(ScoreRequest {
        reference_files: args.files.references.clone(),
        groups,
        options: args.groups.apply(ScoreOptions {
            metrics,
            images,
            ids: args.matching.ids,
            intervals,
            segments: output.wants_items(),
            human: true,
            ..ScoreOptions::default()
        }),
        resources,
        progress: &bar,
        ..ScoreRequest::new(references, Vec::<(String, _)>::new())
    })?;
    let saved = data::save(caches);
    output.write(&mut report, bar)?;
    saved
}
