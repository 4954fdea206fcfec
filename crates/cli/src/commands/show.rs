//! `capeval show`: writes a saved result in another format, or as a page.

use anyhow::Result;
use capeval::report::{Report, Study};
use capeval::{GroupBy, group_saved};
use capeval_files::{self as files, GroupSources};

use crate::fault::fault;
use crate::messages;
use crate::options::{GROUPS, Order};
use crate::output_args::OutputArgs;
use crate::progress::Bar;
use crate::results;

/// Show a saved result, in any format or as a page
///
/// Reads what `--save` wrote, and reports and comparisons that were written with `--format json`. Nothing is scored,
/// and no other file is needed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The saved result; `-` for standard input.
    #[arg(value_name = "FILE")]
    result: String,
    /// Group the images of a report that was written with --save: by a file, or FILE:COLUMN, with a group for each
    /// id. Scores of groups are means of the scores of images. May be repeated.
    #[arg(long, value_name = "WHAT", help_heading = GROUPS)]
    group_by: Vec<String>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    order: Order,
}

const AFTER_HELP: &str = "\
A saved report holds scores, not captions: its page has tables and charts, but no images, and no score can be \
explained. `--segments` needs a report that was written with --save.

Examples:
  capeval score -r refs.json a.json b.json --save report.json
  capeval show report.json
  capeval show report.json --format latex --percent
  capeval show report.json --html page.html
  capeval show report.json --group-by domains.csv
  capeval score -r refs.json results.json -f json | capeval show - -f markdown";

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let path = args.result.as_str();
    let output = args.output.open(&[path])?;
    let mut study = files::result(path, results::kinds())?;
    let has_no_segments = |report: &Report| report.systems.iter().all(|system| system.segments.is_none());
    if output.wants_segments() && study.details().report().is_some_and(has_no_segments) {
        return Err(fault(
            format!("{path} has no scores of images"),
            "score the captions again, and keep the report with --save FILE",
        ));
    }
    if !args.group_by.is_empty() {
        study = group(args, study)?;
    }
    args.order.apply(&mut *study)?;
    let has_page = output.has_page();
    output.write_again(&mut *study, Bar::new())?;
    if has_page && study.details().report().is_some_and(|report| report.profiles.is_empty()) {
        messages::note(
            "the page has no images, since a saved report has no captions; score with --html to see them",
        );
    }
    Ok(())
}

/// Adds the scores of groups to a saved report.
fn group(args: &Args, mut study: Box<dyn Study>) -> Result<Box<dyn Study>> {
    let mut sources = GroupSources::new([]);
    let by: Vec<GroupBy> = args.group_by.iter().map(|what| Ok(sources.find(what)?)).collect::<Result<_>>()?;
    if let Some(report) = study.report_mut() {
        group_saved(report, &by)?;
        return Ok(study);
    }
    let Some(mut report) = results::report_of(&*study)? else {
        let kind = study.kind().name;
        return Err(fault(format!("--group-by: there are no systems in a {kind}"), "leave it out"));
    };
    group_saved(&mut report, &by)?;
    Ok(Box::new(report))
}
