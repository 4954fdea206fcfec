//! `capeval score`: scores systems against references.

use std::cell::OnceCell;
use std::collections::HashSet;

use anyhow::Result;
use capeval::corpus::{Captions, Format, Ids, Missing, ReadOptions, SegmentId};
use capeval::evaluate::registry;
use capeval::{ReferenceSource, ScoreOptions, ScoreRequest};
use capeval_files::{self as files, Caches};
use rayon::prelude::*;

use crate::external_scores::{GivenArgs, refuse_without_metrics};
use crate::fault::fault;
use crate::group_args::GroupArgs;
use crate::image_args::{ImageArgs, WITH_IMAGES};
use crate::metrics::{self, MetricArgs};
use crate::names::SystemFile;
use crate::options::{Candidates, Order, Policies, ReferenceFiles};
use crate::output_args::{OutputArgs, ResultTarget};
use crate::progress::Bar;
use crate::requirements::{ConditionArgs, exit_code};
use crate::resampling_args::{self, Intervals};
use crate::rouge::Rouge;
use crate::runs::{RunFiles, run_files, run_name};
use crate::written_flags::WrittenFlags;
use crate::{data, memory, names, options};

/// Score captions against references
#[derive(clap::Args)]
#[command(before_help = COMMON, after_help = after_help(), mut_arg("html", |arg| arg.help(WITH_IMAGES)))]
pub struct Args {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    intervals: Intervals,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    order: Order,
    #[command(flatten)]
    conditions: ConditionArgs,
    #[command(flatten)]
    details: DetailArgs,
    #[command(flatten)]
    images: ImageArgs,
}

/// Candidates, references and metrics.
#[derive(clap::Args)]
#[command(mut_arg("references", |arg| arg.required(false).required_unless_present_any(["candidates", "rouge_list", "scores", "metrics", "suite", "kit"])))]
pub struct Inputs {
    /// Files of candidates, one per system, `-` for standard input. A system is named after its file unless NAME= is
    /// given. A file that has both candidates and references may be given alone.
    #[arg(required_unless_present_any = ["references", "rouge_list", "scores", "runs"], value_name = "[NAME=]FILE")]
    candidates: Vec<String>,
    #[command(flatten)]
    files: ReferenceFiles,
    #[command(flatten)]
    reading: WrittenFlags<Candidates>,
    /// Files of runs of one system, such as 'mine=run*.json' for several seeds; it is one row, with means over the
    /// runs. `*` stands for any letters of a file name, and commas separate several; may be repeated.
    #[arg(long, value_name = "NAME=FILES", help_heading = "Reading candidates", value_parser = run_files)]
    runs: Vec<RunFiles>,
    /// Name of a system, in the order of the files; may be repeated.
    #[arg(long = "name", value_name = "NAME", help_heading = "Reading candidates")]
    names: Vec<String>,
    /// Kit of a field, such as vizwiz, or the TOML file of your own: it sets metrics, settings and policies that other
    /// flags leave open; see `capeval kit list`.
    #[arg(long, value_name = "NAME|FILE", help_heading = options::METRICS)]
    kit: Option<String>,
    #[command(flatten)]
    metrics: WrittenFlags<MetricArgs>,
    /// Number made of measures, such as 'sm = mean(bleu-4, meteor, rouge-l, cider-d)': with + - * /, mean, hmean,
    /// gmean, sum, min, max and percent; `; lower` behind it says that lower is better. May be repeated.
    #[arg(long, value_name = "NAME=FORMULA", help_heading = options::METRICS)]
    derive: Vec<String>,
    #[command(flatten)]
    given: GivenArgs,
    #[command(flatten)]
    rouge: Rouge,
    #[command(flatten)]
    policies: Policies,
    #[command(flatten)]
    groups: GroupArgs,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
struct DetailArgs {
    /// Explain how the scores of this image were computed, below the table; may be repeated.
    #[arg(long, value_name = "ID")]
    explain: Vec<String>,
    /// Add a row for people: each reference of an image held out in turn and scored against the others; see
    /// `capeval human`.
    #[arg(long)]
    human: bool,
}

fn after_help() -> String {
    let formats = Format::NAMES.join(", ");
    format!(
        "Formats are detected from the content, also in files compressed with gzip, zstd, bzip2, xz or zip, or archived with tar: {formats}.\n\n{EXAMPLES}"
    )
}

const COMMON: &str = "\
Most common:
  -r refs.json a.json       references, and the captions of a system, or of several
  -m bleu,cider-d           these metrics instead of those of COCO
  --split test              one split of a Karpathy file
  --missing skip            leave out images without a caption
  --percent                 scores times 100, as papers print them
  --ci                      confidence intervals
  -o table.tex              a table for a paper; also table.md, table.csv, scores.json
  --html page.html          a page with every image
  --segments scores.jsonl   the scores of every image
  --group-by domain         scores of groups of images, too
  --kit vizwiz              the evaluation of a field; see `capeval kit list`";

const EXAMPLES: &str = "\
Examples:
  capeval score -r captions_val2014.json results.json --missing skip
  capeval score -r dataset_coco.json --split test a.json b.json -f markdown
  capeval score -r ref1.txt -r ref2.txt mine=out.txt -m bleu,cider-d:n=3
  capeval score -r refs.json results.json -f json --segments per_image.jsonl
  capeval score -r val.json results.json --kit vizwiz
  capeval score -r refs.json a.json b.json c.json --sort cider-d
  capeval score -r refs.json results.json --ci=99 --resamples 2000 --seed 1
  capeval score -r refs.json results.json --save report.json && capeval show report.json -f latex
  capeval score -r refs.json a.json b.json -m meteor,cider-d --scores a=clip_a.json --scores b=clip_b.json
  capeval score -r nocaps_val.json results.json --group-by domain
  capeval score -r refs.json results.json --require 'cider-d>=1.2' --require 'bleu-4>=0.3'
  capeval score --scores clip.csv --scores per_image.jsonl --ci
  capeval score --rouge-list settings.xml --rouge-data RELEASE-1.5.5";

/// Runs the command.
pub fn run(args: &Args) -> Result<u8> {
    if !args.details.explain.is_empty() && !args.output.is_for_people() {
        return Err(fault(
            "--explain works only with the default table",
            "leave out --format and an ending of --output that names a format",
        ));
    }
    // Report cheap errors first.
    let intervals = args.intervals.resampling()?;
    if intervals.is_some() {
        args.inputs.refuse_levels()?;
    }
    let requirements = args.conditions.read(&[])?;
    requirements.refuse_verdicts()?;
    let chosen = args.inputs.choose()?;
    let output = args.inputs.open(&chosen, &args.output, &args.images)?;
    let bar = Bar::new();
    let (request, caches) = args.inputs.read(chosen, &bar)?;
    let request = request.map(|options| ScoreOptions {
        segments: output.wants_items(),
        gallery: output.has_page(),
        explain: args.details.explain.iter().map(|id| SegmentId::from_untyped(id)).collect(),
        intervals,
        human: args.details.human,
        ..options
    });
    let mut report = capeval::score(request)?;
    // A full disk should not cost the scores.
    let saved = data::save(caches);
    let failures = requirements.unmet(&report)?;
    args.order.apply(&mut report)?;
    output.write(&mut report, bar)?;
    // The program ends here, so freeing the memory piece by piece would only take time.
    std::mem::forget(report);
    saved?;
    Ok(exit_code(&failures))
}

/// Systems and metrics, before any file of captions is opened.
pub struct ChosenInputs {
    systems: Vec<SystemFile>,
    metrics: metrics::ChosenMetrics,
    /// True if the file of the only system is to have references, too.
    is_one_file: bool,
}

impl Inputs {
    /// The files of candidates, with the names of systems.
    pub fn name(&self) -> Result<Vec<SystemFile>> {
        let mut systems = match &self.candidates[..] {
            [] => match self.alone() {
                Some(path) => names::name(std::slice::from_ref(path), &self.names)?,
                None => Vec::new(),
            },
            candidates => names::name(candidates, &self.names)?,
        };
        for RunFiles { name, paths } in &self.runs {
            let run = |(k, path): (usize, &String)| SystemFile {
                name: run_name(name, k),
                path: path.clone(),
                is_given: true,
            };
            systems.extend(paths.iter().enumerate().map(run));
        }
        Ok(systems)
    }

    /// Names systems and builds metrics.
    pub fn choose(&self) -> Result<ChosenInputs> {
        let systems = self.name()?;
        if self.is_of_scores() {
            if self.kit.is_some() {
                return Err(fault(
                    "a kit is for captions, and there are only scores",
                    "leave out --kit, or give captions and references",
                ));
            }
            if self.metrics.options().are_chosen() {
                return Err(fault(
                    "metrics compare captions with references, and there are only scores",
                    "leave out --metrics and --suite, or give captions and references",
                ));
            }
            let flags =
                [self.files.first_written(), self.reading.first_but(&[]), self.metrics.first_of_data()];
            refuse_without_metrics(flags)?;
            return Ok(ChosenInputs {
                systems,
                metrics: metrics::ChosenMetrics::default(),
                is_one_file: false,
            });
        }
        let mut options = self.metrics.options();
        // Only a language model from a file lets a metric of the engine do without references.
        let is_of_engine =
            |spec: &String| registry::kind(spec).is_some() && !self.metrics.has_language_model();
        let needs_references =
            !options.are_chosen() || options.suite.is_some() || options.names.iter().any(is_of_engine);
        let lacks_references = self.has_no_references() && needs_references;
        let is_one_file = self.alone().is_some() || lacks_references && systems.len() == 1;
        if lacks_references && !is_one_file {
            return Err(no_references());
        }
        if self.rouge.rouge_list.is_some() && options.suite.is_none() && options.names.is_empty() {
            options.suite = Some("rouge-1.5.5".to_owned());
        }
        let mut metrics = self.metrics.choose(options)?;
        let mut settings = metrics.options.names.iter().flat_map(|spec| spec.split(':'));
        let needs_data = settings.any(|setting| ["stop=yes", "stem=porter-exceptions"].contains(&setting));
        if self.rouge.names_data() && !needs_data {
            return Err(fault(
                "--rouge-data is used only by rouge155:stop=yes and rouge155:stem=porter-exceptions, neither of which \
                 is set",
                "leave it out, or add one of them to -m",
            ));
        }
        self.rouge.add_data(&mut metrics.data.resources, needs_data)?;
        metrics.check_early()?;
        Ok(ChosenInputs { systems, metrics, is_one_file })
    }

    /// Returns true if there is no file of references, which some metrics do not need.
    fn has_no_references(&self) -> bool {
        self.files.references.is_empty() && self.rouge.rouge_list.is_none()
    }

    /// The only file of references, if nothing else has captions.
    fn alone(&self) -> Option<&String> {
        let has_others = !self.candidates.is_empty() || !self.runs.is_empty() || self.given.any();
        match &self.files.references[..] {
            [path] if !has_others && self.rouge.rouge_list.is_none() => Some(path),
            _ => None,
        }
    }

    /// Returns true if there are given scores and no captions.
    fn is_of_scores(&self) -> bool {
        self.given.any()
            && self.candidates.is_empty()
            && self.runs.is_empty()
            && self.rouge.rouge_list.is_none()
    }

    /// Refuses a confidence level in place of a file, as in `--ci 99`.
    pub fn refuse_levels(&self) -> Result<()> {
        let is_level =
            |text: &&String| resampling_args::level(text).is_ok() && !std::path::Path::new(text).exists();
        if let Some(text) = self.candidates.iter().find(is_level) {
            return Err(fault(
                format!("{text}: no such file"),
                format!("write --ci={text} if {text} is the confidence level"),
            ));
        }
        Ok(())
    }

    /// Opens the output files, which must differ from the input files.
    pub fn open(
        &self,
        chosen: &ChosenInputs,
        output: &OutputArgs,
        images: &ImageArgs,
    ) -> Result<ResultTarget> {
        let paths = self.paths(chosen);
        if files::are_few(&paths) {
            memory::use_small_pages();
        }
        let target = images.open(output, &paths, &self.metrics.pictures)?;
        self.metrics.refuse_unseen(chosen.metrics.looks, target.has_page())?;
        Ok(target)
    }

    /// The files of references, and then those of candidates.
    fn captions<'a>(&'a self, systems: &'a [SystemFile]) -> Vec<&'a str> {
        let references = self.files.references.iter().map(String::as_str);
        references.chain(systems.iter().map(|system| system.path.as_str())).collect()
    }

    /// All input files.
    fn paths<'a>(&'a self, chosen: &'a ChosenInputs) -> Vec<&'a str> {
        let mut paths: Vec<&str> = self.files.paths().collect();
        paths.extend(chosen.systems.iter().map(|system| system.path.as_str()));
        paths.extend(chosen.metrics.files.paths());
        paths.extend(self.given.paths());
        paths.extend(self.rouge.rouge_list.as_deref());
        paths
    }

    /// Reads all input files; caches are to be saved after scoring.
    pub fn read<'p>(&self, chosen: ChosenInputs, progress: &'p Bar) -> Result<(ScoreRequest<'p>, Caches)> {
        let ChosenInputs { systems, metrics, is_one_file } = chosen;
        let (metrics, resources, caches) = metrics.read()?;
        let images = self.files.images()?;
        let scores = self.given.read()?;
        let lower_is_better = self.given.lower_is_better.clone();
        let groups =
            self.groups.read(self.captions(&systems), [self.files.id_column(), self.reading.id_column()])?;
        let options = self.groups.apply(self.policies.apply(ScoreOptions {
            metrics,
            lower_is_better,
            images,
            derive: self.derive.clone(),
            ref_drop: self.files.dropped().to_vec(),
            drop: self.reading.drop.clone(),
            kit: self.kit.as_deref().map(files::kit).transpose()?,
            runs: self.runs.iter().map(RunFiles::names).collect(),
            ..ScoreOptions::default()
        }));
        if self.is_of_scores() {
            return Ok((
                ScoreRequest { groups, options, progress, ..ScoreRequest::of_scores(scores) },
                caches,
            ));
        }
        if self.has_no_references() && !is_one_file {
            let captions = read_candidates(&systems, &self.reading.options(self.files.no_limits()))?;
            let systems = systems.into_iter().map(|system| system.name).zip(captions);
            let request = ScoreRequest::without_references(systems);
            return Ok((ScoreRequest { scores, groups, options, resources, progress, ..request }, caches));
        }
        let both = match &systems[..] {
            [system] if is_one_file => Some(self.read_both(system)?),
            _ => None,
        };
        let reference_files = match &both {
            Some((references, _)) => vec![references.source().to_owned()],
            None => self.files.references.iter().chain(&self.rouge.rouge_list).cloned().collect(),
        };
        let (references, systems): (ReferenceSource, Vec<(String, Captions)>) =
            match (both, self.rouge.listed()?) {
                (Some((references, system)), _) => (references.into(), vec![system]),
                (None, Some((references, systems))) => (references.into(), systems),
                (None, None) => {
                    let (references, candidates) = rayon::join(
                        || self.files.open(),
                        || read_candidates(&systems, &self.reading.options(self.files.no_limits())),
                    );
                    (references?, systems.into_iter().map(|system| system.name).zip(candidates?).collect())
                }
            };
        let scored = scored_references(&options, references.captions(), &systems);
        let candidates = data::texts(systems.iter().map(|(_, captions)| captions));
        data::announce_parses(&resources, scored.chain(candidates));
        let request = ScoreRequest {
            reference_files,
            scores,
            groups,
            options,
            resources,
            progress,
            ..ScoreRequest::new(references, systems)
        };
        Ok((request, caches))
    }

    /// Reads the references and the captions of a system from its file.
    fn read_both(&self, system: &SystemFile) -> Result<(Captions, (String, Captions))> {
        let both = self.files.open_both(&system.path, &self.reading, self.policies.ids())?;
        match both {
            Some((references, captions)) => Ok((references, (system.name.clone(), captions))),
            None if self.has_no_references() => Err(no_references()),
            None => Err(fault(
                format!("there are no candidates: {} has captions of one kind only", system.path),
                "give files of candidates, or name the columns of both with --ref-caption-column and --caption-column",
            )),
        }
    }
}

fn no_references() -> anyhow::Error {
    fault(
        "captions are compared with references, and there are none",
        "pass -r FILE, choose only metrics that need none, such as clip-s, or give only scores",
    )
}

fn read_candidates(systems: &[SystemFile], options: &ReadOptions) -> Result<Vec<Captions>> {
    systems.par_iter().map(|system| Ok(files::captions(&system.path, options)?)).collect()
}

/// The references that are scored: if images without a candidate are left out, only those of the others, unless their
/// ids are written in another way.
fn scored_references<'c>(
    options: &ScoreOptions,
    references: Option<&'c Captions>,
    systems: &'c [(String, Captions)],
) -> impl Iterator<Item = &'c str> {
    let are_all = options.missing != Missing::Skip || options.ids != Ids::default();
    let ids = OnceCell::new();
    let candidates = || systems.iter().flat_map(|(_, captions)| captions.ids()).collect::<HashSet<_>>();
    let is_scored = move |id: &SegmentId| are_all || ids.get_or_init(candidates).contains(id);
    let references = references.into_iter().flat_map(Captions::iter);
    references.filter(move |(id, _)| is_scored(id)).map(|(_, text)| text)
}
