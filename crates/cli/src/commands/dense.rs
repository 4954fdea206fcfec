//! `capeval dense`: scores captions of events in videos, by the form of any program.

use anyhow::Result;
use capeval::MetricOptions;
use capeval::choice::Refusal;
use capeval::metric::Resources;
use capeval_dense::read::{ReadOptions, read_references, read_results};
use capeval_dense::{DenseOptions, EventFile, Form, Program, WordMetric, WordMetrics, score};
use capeval_files as files;
use clap::Subcommand;

use crate::data;
use crate::fault::{fault, sentence};
use crate::names;
use crate::options::{self, Intervals};
use crate::output::Output;
use crate::output_args::OutputArgs;
use crate::progress::Bar;

/// Score dense video captions: captions of events with a start and an end
///
/// Programs that score dense captions differ by up to a factor of five on the same file, so each has a form of its own
/// here, equal to it digit for digit. `capeval dense forms` tells which form a paper used.
#[derive(clap::Args)]
#[command(
    after_help = AFTER_HELP,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    mut_arg("segments", |arg| arg.help(SEGMENTS))
)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Files of predicted events, one per system, `-` for standard input. A system is named after its file unless NAME=
    /// is given.
    #[arg(required = true, value_name = "[NAME=]FILE")]
    files: Vec<String>,
    /// File of reference events; give it again for a second one, as with val_1 and val_2 of ActivityNet.
    #[arg(short, long = "references", value_name = "FILE", required = true)]
    references: Vec<String>,
    /// Form of the scores, or several, or all; see `capeval dense forms` [default: capeval].
    #[arg(long = "form", visible_alias = "forms", value_name = "NAME", value_delimiter = ',', value_parser = forms)]
    forms: Vec<Vec<Form>>,
    /// Metrics of captions; METEOR's data are needed only for METEOR [default: all].
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = options::choices::<WordMetric>())]
    metrics: Vec<WordMetric>,
    /// Frames per second, for times that are given in frames.
    #[arg(long, value_name = "N", value_parser = rate)]
    fps: Option<f64>,
    /// Name of a system, in the order of the files; may be repeated.
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    intervals: Intervals,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Subcommand)]
enum Command {
    /// List the forms: which program each one is, who uses it, and what differs
    Forms,
}

const SEGMENTS: &str = "Write the scores of every video to this file, as JSON Lines; `-` for standard output";

const AFTER_HELP: &str = "\
Files are read by their structure: ActivityNet's and YouCook2's JSON, lists of events, texts with times, JSON Lines, \
and tables with the columns video, start, end and caption. Times are seconds, 1:30, 25% (with durations in the \
references) or frames (with --fps). Paragraphs and stories (mart-paragraph, scenic-paragraph, timechat-paragraph, \
mart-repetition, vist) may be texts by id, without times.

Examples:
  capeval dense -r val_1.json -r val_2.json results.json
  capeval dense -r val_1.json results.json --form all
  capeval dense -r val_1.json a.json b.json --form densevid-2019,soda-c --format csv
  capeval dense -r anet_para_1.json -r anet_para_2.json results.json --form mart-paragraph
  capeval dense forms";

/// One form by its name, or all of them.
fn forms(text: &str) -> Result<Vec<Form>, String> {
    Form::several(text).map_err(|refusal: Refusal| sentence(&refusal))
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| "must be a number above 0, such as 25".to_owned())
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    if let Some(Command::Forms) = args.command {
        return list();
    }
    let systems = names::name(&args.files, &args.names)?;
    let mut inputs: Vec<&str> = systems.iter().map(|system| system.path.as_str()).collect();
    inputs.extend(args.references.iter().map(String::as_str));
    let target = args.output.open(&inputs)?;
    let intervals = args.intervals.resampling()?;
    let mut forms: Vec<Form> = args.forms.iter().flatten().copied().collect();
    if forms.is_empty() {
        forms.push(Program::Capeval.into());
    }
    let metrics = metrics(&args.metrics, forms.iter().any(|form| form.has_meteor()))?;
    let takes_texts = forms.iter().all(|form| form.is_text());
    let mut options = ReadOptions { fps: args.fps, takes_texts, ..ReadOptions::default() };
    let files = args.references.iter().map(|path| Ok(read_references(&input(path)?, path, &options)?));
    let references: Vec<EventFile> = files.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
    for file in &references {
        options.durations.extend(file.durations.iter().map(|(id, seconds)| (id.clone(), *seconds)));
    }
    let systems = systems
        .into_iter()
        .map(|system| Ok((system.name, read_results(&input(&system.path)?, &system.path, &options)?)));
    let systems = systems.collect::<Result<Vec<_>>>()?;
    let options = DenseOptions { forms, segments: target.wants_items(), intervals };
    target.write(&mut score(&references, systems, &options, &metrics)?, Bar::new())
}

/// The metrics of captions: those that are named, or all, with METEOR's data if a form needs them.
pub(super) fn metrics(named: &[WordMetric], has_meteor: bool) -> Result<WordMetrics> {
    let mut wanted = if named.is_empty() { WordMetric::ALL } else { named }.to_vec();
    if !has_meteor {
        wanted.retain(|metric| *metric != WordMetric::Meteor);
    }
    let mut resources = Resources::default();
    if wanted.contains(&WordMetric::Meteor) {
        let needed = MetricOptions::new(["meteor"]);
        data::complete(&needed, false)?;
        resources = data::installed(&needed)?.resources;
    }
    Ok(WordMetrics::new(&resources, &wanted)?)
}

/// The text of a file, which may be compressed.
pub(super) fn input(path: &str) -> Result<String> {
    let bytes = files::open_or_stdin(path)?;
    let bytes = capeval::corpus::unpack(&bytes, path, false)?;
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err(fault(format!("{path}: not UTF-8"), "save the file as UTF-8")),
    }
}

/// Prints the forms.
fn list() -> Result<()> {
    Output::open(None, &[])?.write(|out| {
        Program::ALL.iter().try_for_each(|program| {
            writeln!(
                out,
                "{}\n  {}\n  used by: {}\n  differs: {}",
                program.name(),
                program.summary(),
                program.users(),
                program.differences()
            )
        })
    })
}
