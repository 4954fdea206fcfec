//! `capeval show`: writes a saved report in another format, or as a page.

use anyhow::Result;
use capeval::report::{Head, Saved};
use capeval_files as files;

use crate::fault::fault;
use crate::html::PageArgs;
use crate::messages;
use crate::options::{self, Order};
use crate::output_args::OutputArgs;
use crate::progress::Bar;

/// Show a saved report or comparison, in any format or as a page
///
/// Reads what `--save` and `--format json` wrote. Nothing is scored, and no other file is needed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The saved report or comparison; `-` for standard input.
    #[arg(value_name = "FILE")]
    report: String,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    order: Order,
    #[command(flatten)]
    page: PageArgs,
}

const AFTER_HELP: &str = "\
A saved report holds scores, not captions: its page has tables and charts, but no images, and no score can be \
explained. `--segments` needs a report that was written with --save.

Examples:
  capeval score -r refs.json a.json b.json --save report.json
  capeval show report.json
  capeval show report.json --format latex --percent
  capeval show report.json --html page.html
  capeval score -r refs.json results.json -f json | capeval show - -f markdown";

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let path = args.report.as_str();
    let output = args.output.open(&[path])?;
    let page = args.page.open(&[path], &args.output)?;
    let mut saved = files::report(path)?;
    let report = match &mut saved {
        Saved::Report(report) => report,
        Saved::Comparison(comparison) => &mut comparison.report,
    };
    if output.wants_segments() && report.systems.iter().all(|system| system.segments.is_none()) {
        return Err(fault(
            format!("{path} has no scores of images"),
            "score the captions again, and keep the report with --save FILE",
        ));
    }
    if let Some(key) = &args.order.sort {
        let unknown = |head: &Head| options::unknown_measure("--sort", key, &head.measures);
        match &mut saved {
            Saved::Report(report) => report.sort_by(key).map(drop).ok_or_else(|| unknown(&report.head))?,
            Saved::Comparison(comparison) => {
                comparison.sort_by(key).ok_or_else(|| unknown(&comparison.report.head))?;
            }
        }
    }
    let bar = Bar::new();
    if let Some(page) = page {
        match &saved {
            Saved::Report(report) => page.write(report, &bar)?,
            Saved::Comparison(comparison) => page.write_comparison(comparison, &bar)?,
        }
        messages::note(
            "the page has no images, since a saved report has no captions; score with --html to see them",
        );
    }
    drop(bar);
    match &mut saved {
        Saved::Report(report) => output.write_again(report),
        Saved::Comparison(comparison) => output.write_again(comparison),
    }
}
