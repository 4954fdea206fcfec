//! `capeval dense`: scores captions of events in videos, by the form of any program.

use std::collections::BTreeMap;

use anyhow::Result;
use capeval::choice::Refusal;
use capeval::metric::Resources;
use capeval::report::Report;
use capeval::{GroupBy, MetricOptions, group_saved};
use capeval_dense::read::{ReadOptions, ThoughtsJudge, read, read_references, read_results};
use capeval_dense::{
    DenseOptions, DenseReport, EventFile, EventInspection, Form, Program, WordMetric, WordMetrics, score,
};
use capeval_files::{self as files, GroupSources};
use clap::Subcommand;

use super::compare::{Tests, finish};
use crate::data;
use crate::fault::{fault, sentence};
use crate::messages;
use crate::names::{self, SystemFile};
use crate::options::{self, GROUPS, Order};
use crate::output::Output;
use crate::output_args::OutputArgs;
use crate::progress::Bar;
use crate::requirements::ConditionArgs;
use crate::resampling_args::Intervals;

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
    #[command(flatten)]
    inputs: Inputs,
    /// Add a row of what people wrote: each reference file, scored against the others.
    #[arg(long)]
    human: bool,
    #[command(flatten)]
    intervals: Intervals,
    #[command(flatten)]
    output: OutputArgs,
}

/// Files of predictions, and how their captions are measured.
#[derive(clap::Args)]
pub(super) struct Systems {
    /// Files of predictions, one per system, `-` for standard input. A system is named after its file unless NAME= is
    /// given.
    #[arg(required = true, value_name = "[NAME=]FILE")]
    files: Vec<String>,
    /// Name of a system, in the order of the files; may be repeated.
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,
    /// Metrics of captions; METEOR's data are needed only for METEOR [default: all].
    #[arg(short, long, value_name = "LIST", value_delimiter = ',', value_parser = options::choices::<WordMetric>())]
    metrics: Vec<WordMetric>,
}

impl Systems {
    /// The systems with their names.
    pub fn named(&self) -> Result<Vec<SystemFile>> {
        names::name(&self.files, &self.names)
    }

    /// The metrics of captions: those that are named, or all, with METEOR's data if a form needs them.
    pub fn metrics(&self, has_meteor: bool) -> Result<WordMetrics> {
        let mut wanted = if self.metrics.is_empty() { WordMetric::ALL } else { &self.metrics }.to_vec();
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
}

/// Files of events, and the forms of their scores.
#[derive(clap::Args)]
struct Inputs {
    /// File of reference events; give it again for a second one, as with val_1 and val_2 of ActivityNet.
    #[arg(short, long = "references", value_name = "FILE", required = true)]
    references: Vec<String>,
    /// Form of the scores, or several, or all; see `capeval dense forms` [default: capeval].
    #[arg(long = "form", visible_alias = "forms", value_name = "NAME", value_delimiter = ',', value_parser = forms)]
    forms: Vec<Vec<Form>>,
    /// Frames per second, for times that are given in frames.
    #[arg(long, value_name = "N", value_parser = rate)]
    fps: Option<f64>,
    /// Score groups of videos, too: by FILE or FILE:COLUMN with a group for each id, by `duration` or `events`, the
    /// seconds and the number of events in the references; numbers in bins, as in `duration=60,180`; joined by `×` or
    /// ` x `. Scores of groups are means over videos. May be repeated.
    #[arg(long, value_name = "WHAT", help_heading = GROUPS)]
    group_by: Vec<String>,
    #[command(flatten)]
    systems: Systems,
}

#[derive(Subcommand)]
enum Command {
    /// Test systems for significant differences, with videos as units
    ///
    /// The first system is the baseline. Measures that are means of the scores of videos are tested, which all of the
    /// form `capeval` are. `capeval compare --reports` compares results that were saved in the same way.
    Compare(Box<CompareArgs>),
    /// List the forms: which program each one is, who uses it, and what differs
    Forms,
}

/// The arguments of `capeval dense compare`.
#[derive(clap::Args)]
#[command(mut_arg("segments", |arg| arg.help(SEGMENTS)))]
struct CompareArgs {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    tests: Tests,
    #[command(flatten)]
    conditions: ConditionArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    order: Order,
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
  capeval dense -r val_1.json -r val_2.json results.json --human --html page.html
  capeval dense compare -r val_1.json base.json new.json
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
pub fn run(args: &Args) -> Result<u8> {
    match &args.command {
        Some(Command::Forms) => {
            let told = |of: &Program| [of.name(), of.summary(), of.users(), of.differences()];
            return list(Program::ALL.iter().map(told)).map(|()| 0);
        }
        Some(Command::Compare(args)) => return compare(args),
        None => {}
    }
    let (systems, paths) = args.inputs.name()?;
    let target = args.output.open(&paths.iter().map(String::as_str).collect::<Vec<_>>())?;
    let options = DenseOptions {
        segments: target.wants_items(),
        timelines: target.has_page() || target.saves(),
        human: args.human,
        intervals: args.intervals.resampling()?,
        forms: args.inputs.chosen_forms(),
    };
    let options = DenseOptions { segments: options.segments || !args.inputs.group_by.is_empty(), ..options };
    let (mut found, groups) = args.inputs.score(systems, &options)?;
    if groups.is_empty() {
        target.write(&mut found, Bar::new())?;
    } else {
        target.write(&mut grouped(&found, &groups)?, Bar::new())?;
    }
    Ok(0)
}

/// The scores of videos as a report, with those of groups; what is remarked about the files is said beside it.
fn grouped(found: &DenseReport, groups: &[GroupBy]) -> Result<Report> {
    found.systems.iter().flat_map(|system| &system.remarks).for_each(|remark| messages::note(remark));
    let mut report = found.to_report()?;
    group_saved(&mut report, groups)?;
    Ok(report)
}

/// Compares systems.
fn compare(args: &CompareArgs) -> Result<u8> {
    let CompareArgs { inputs, tests, conditions, output, order } = args;
    let requirements = tests.requirements(conditions)?;
    let (systems, paths) = inputs.name()?;
    let target = output.open(&paths.iter().map(String::as_str).collect::<Vec<_>>())?;
    let options = DenseOptions { segments: true, ..DenseOptions::new(inputs.chosen_forms()) };
    let bar = Bar::new();
    let (found, groups) = inputs.score(systems, &options)?;
    let comparison = tests.compare(vec![grouped(&found, &groups)?], &bar)?;
    finish(&requirements, comparison, order, target, bar)
}

impl Inputs {
    /// The systems with their names, and the paths of all files.
    fn name(&self) -> Result<(Vec<SystemFile>, Vec<String>)> {
        let systems = self.systems.named()?;
        let paths = systems.iter().map(|system| system.path.clone()).chain(self.references.iter().cloned());
        let paths = paths.collect();
        Ok((systems, paths))
    }

    fn chosen_forms(&self) -> Vec<Form> {
        let forms: Vec<Form> = self.forms.iter().flatten().copied().collect();
        if forms.is_empty() { vec![Program::Capeval.into()] } else { forms }
    }

    /// Reads the files, and scores the systems; with what groups videos.
    fn score(&self, systems: Vec<SystemFile>, options: &DenseOptions) -> Result<(DenseReport, Vec<GroupBy>)> {
        let metrics = self.systems.metrics(options.forms.iter().any(|form| form.has_meteor()))?;
        let takes_texts = options.forms.iter().all(|form| form.is_text());
        let mut reading = ReadOptions {
            fps: self.fps,
            takes_texts,
            after_thoughts: AFTER_THOUGHTS,
            ..ReadOptions::default()
        };
        let files = self.references.iter().map(|path| Ok(read_references(&input(path)?, path, &reading)?));
        let references: Vec<EventFile> = files.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        for file in &references {
            reading.durations.extend(file.durations.iter().map(|(id, seconds)| (id.clone(), *seconds)));
        }
        let of_system = |system: SystemFile| {
            Ok((system.name, read_results(&input(&system.path)?, &system.path, &reading)?))
        };
        let systems = systems.into_iter().map(of_system).collect::<Result<Vec<_>>>()?;
        let groups = self.groups(&references)?;
        Ok((score(&references, systems, options, &metrics)?, groups))
    }

    /// What groups the videos of these references.
    fn groups(&self, references: &[EventFile]) -> Result<Vec<GroupBy>> {
        let mut sources = GroupSources::new([]);
        let mut events: BTreeMap<&str, usize> = BTreeMap::new();
        let mut seconds: BTreeMap<&str, f64> = BTreeMap::new();
        for file in references {
            seconds.extend(file.durations.iter().map(|(id, seconds)| (id.as_str(), *seconds)));
            for (id, of_video) in &file.videos {
                *events.entry(id).or_default() += of_video.len();
            }
        }
        sources.give("events", &serde_json::to_string(&events)?)?;
        if !seconds.is_empty() {
            sources.give("duration", &serde_json::to_string(&seconds)?)?;
        }
        self.group_by.iter().map(|what| Ok(sources.find(what)?)).collect()
    }
}

/// The judge of thoughts before the texts of language models.
pub(super) const AFTER_THOUGHTS: Option<ThoughtsJudge> = Some(capeval::after_thoughts);

/// Reads a file of events, which may be compressed.
pub(super) fn events(path: &str, options: &ReadOptions) -> Result<EventFile> {
    Ok(read(&input(path)?, path, options)?)
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

/// What is read of files, if all of them are of events; standard input can be read only once, so it is not looked at.
pub(super) fn inspection(references: &[String], systems: &[SystemFile]) -> Result<Option<EventInspection>> {
    let mut options = ReadOptions { after_thoughts: AFTER_THOUGHTS, ..ReadOptions::default() };
    let mut files = Vec::new();
    for path in references.iter().chain(systems.iter().map(|system| &system.path)) {
        if path == files::STDIN {
            return Ok(None);
        }
        let Ok(file) = events(path, &options) else { return Ok(None) };
        if file.videos.values().all(Vec::is_empty) {
            return Ok(None);
        }
        options.durations.extend(file.durations.iter().map(|(id, seconds)| (id.clone(), *seconds)));
        files.push(file);
    }
    let results = files.split_off(references.len());
    Ok(Some(EventInspection::of(&files, results)))
}

/// Prints forms: their names, what they compute, who uses them, and what differs.
pub(super) fn list(mut forms: impl Iterator<Item = [&'static str; 4]>) -> Result<()> {
    Output::open(None, &[])?.write(|out| {
        forms.try_for_each(|[name, summary, users, differences]| {
            writeln!(out, "{name}\n  {summary}\n  used by: {users}\n  differs: {differences}")
        })
    })
}
