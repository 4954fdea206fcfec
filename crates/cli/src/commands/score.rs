//! `capeval score`: scores systems against references.

use std::sync::Arc;

use anyhow::Result;
use capeval::corpus::{Captions, ReadOptions, SegmentId};
use capeval::metric::{AnyMetric, Resources, Signature};
use capeval::{MetricOptions, ReferenceSource, ScoreOptions, ScoreRequest};
use capeval_files as files;
use rayon::prelude::*;

use crate::fault::fault;
use crate::html::{Html, Pages};
use crate::names::Named;
use crate::options::{self, Candidates, Intervals, Metrics, Order, Policies, ReferenceFiles};
use crate::parses::Parses;
use crate::progress::Bar;
use crate::rouge::Rouge;
use crate::shown::{Shown, Target};
use crate::{data, memory, names};

/// Score captions against references
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    intervals: Intervals,
    #[command(flatten)]
    shown: Shown,
    #[command(flatten)]
    order: Order,
    #[command(flatten)]
    closer: Closer,
    #[command(flatten)]
    pages: Pages,
}

/// Candidates, references and metrics.
#[derive(clap::Args)]
#[command(mut_arg("references", |arg| arg.required(false).required_unless_present("rouge_list")))]
pub struct Inputs {
    /// Files of candidates, one per system, `-` for standard input. A system is named after its file unless NAME= is
    /// given.
    #[arg(required_unless_present = "rouge_list", value_name = "[NAME=]FILE")]
    candidates: Vec<String>,
    #[command(flatten)]
    files: ReferenceFiles,
    #[command(flatten)]
    reading: Candidates,
    /// Name of a system, in the order of the files; may be repeated.
    #[arg(long = "name", value_name = "NAME", help_heading = "Reading candidates")]
    names: Vec<String>,
    #[command(flatten)]
    what: What,
    #[command(flatten)]
    rouge: Rouge,
    #[command(flatten)]
    policies: Policies,
}

/// Metrics and the data that they need.
#[derive(clap::Args)]
#[command(next_help_heading = options::METRICS)]
pub struct What {
    #[command(flatten)]
    metrics: Metrics,
    /// Source of CIDEr's document frequencies: corpus, uniform, or table with --df [default: corpus].
    #[arg(long, value_name = "WHICH")]
    idf: Option<String>,
    /// File with a table of document frequencies for CIDEr; see `capeval df`.
    #[arg(long, value_name = "FILE")]
    df: Option<String>,
    /// Number of images counted in the table, for a pickle that does not contain it.
    #[arg(long, value_name = "N", requires = "df")]
    df_images: Option<u64>,
    /// ARPA file with the language model for the metric perplexity; see `capeval lm`.
    #[arg(long, value_name = "FILE")]
    lm: Option<String>,
    /// Install data that a metric needs, such as METEOR's, without asking; SPICE's (521 MB) only if SPICE or SPIDEr is
    /// named, not for a suite.
    #[arg(long)]
    yes: bool,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
struct Closer {
    /// Explain how the scores of this image were computed, below the table; may be repeated.
    #[arg(long, value_name = "ID")]
    explain: Vec<String>,
    /// Add a row for people: each reference of an image held out in turn and scored against the others; see
    /// `capeval human`.
    #[arg(long)]
    human: bool,
}

const AFTER_HELP: &str = "\
Formats are detected from the content, including gzip and zstd: coco, coco-results, karpathy, list-json, dict-json, \
jsonl, csv, tsv, pipes, flickr, lines, parquet.

Examples:
  capeval score -r captions_val2014.json results.json --missing skip
  capeval score -r dataset_coco.json --split test a.json b.json -f markdown
  capeval score -r ref1.txt -r ref2.txt mine=out.txt -m bleu,cider-d:n=3
  capeval score -r refs.json results.json -f json --segments per_image.jsonl
  capeval score -r refs.json a.json b.json c.json --sort cider-d
  capeval score -r refs.json results.json --ci=99 --resamples 2000 --seed 1
  capeval score --rouge-list settings.xml --rouge-data RELEASE-1.5.5";

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    if !args.closer.explain.is_empty() && !args.shown.is_for_people() {
        return Err(fault("--explain works only with the default table", "leave out --format"));
    }
    // Report cheap errors first.
    let intervals = args.intervals.resampling()?;
    if intervals.is_some() {
        args.inputs.refuse_levels()?;
    }
    let chosen = args.inputs.choose()?;
    let output = args.inputs.open(&chosen, &args.shown)?;
    let html = args.inputs.open_page(&chosen, &args.pages, &args.shown)?;
    let bar = Bar::new();
    let (request, parses) = args.inputs.read(chosen, &bar)?;
    let request = request.map(|options| ScoreOptions {
        segments: output.wants_segments(),
        gallery: html.is_some(),
        explain: args.closer.explain.iter().map(|id| SegmentId::from_untyped(id)).collect(),
        intervals,
        human: args.closer.human,
        ..options
    });
    let mut report = capeval::score(request)?;
    // A full disk should not cost the scores.
    let saved = parses.save();
    if let Some(key) = &args.order.sort
        && report.sort_by(key).is_none()
    {
        return Err(options::unknown_measure("--sort", key, &report.head.measures));
    }
    if let Some(html) = html {
        html.write(&report, &bar)?;
    }
    drop(bar);
    output.write(&mut report)?;
    // The program ends here, so freeing the memory piece by piece would only take time.
    std::mem::forget(report);
    saved
}

/// Systems and metrics, before any file of captions is opened.
pub struct Chosen {
    systems: Vec<Named>,
    metrics: MetricOptions,
    resources: Resources,
}

impl Inputs {
    /// Names systems and builds metrics.
    ///
    /// # Errors
    /// If a metric or setting does not exist.
    pub fn choose(&self) -> Result<Chosen> {
        let systems = names::name(&self.candidates, &self.names)?;
        let mut metrics = self.what.options();
        if self.rouge.rouge_list.is_some() && metrics.suite.is_none() && metrics.names.is_empty() {
            metrics.suite = Some("rouge-1.5.5".to_owned());
        }
        let mut resources = self.what.resources(&metrics)?;
        let mut settings = metrics.names.iter().flat_map(|spec| spec.split(':'));
        let needs_data = settings.any(|setting| ["stop=yes", "stem=porter-exceptions"].contains(&setting));
        if self.rouge.names_data() && !needs_data {
            return Err(fault(
                "--rouge-data is used only by rouge155:stop=yes and rouge155:stem=porter-exceptions, neither of which \
                 is set",
                "leave it out, or add one of them to -m",
            ));
        }
        self.rouge.add_data(&mut resources, needs_data)?;
        if self.what.is_ready() {
            self.what.check(&metrics, &resources)?;
        }
        Ok(Chosen { systems, metrics, resources })
    }

    /// Refuses a confidence level in place of a file, as in `--ci 99`.
    ///
    /// # Errors
    /// If there is one.
    pub fn refuse_levels(&self) -> Result<()> {
        let is_level = |text: &&String| options::level(text).is_ok() && !std::path::Path::new(text).exists();
        if let Some(text) = self.candidates.iter().find(is_level) {
            return Err(fault(
                format!("{text}: no such file"),
                format!("write --ci={text} if {text} is the confidence level"),
            ));
        }
        Ok(())
    }

    /// Opens the output files, which must differ from the input files.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn open(&self, chosen: &Chosen, shown: &Shown) -> Result<Target> {
        let paths = self.paths(&chosen.systems);
        if files::are_few(&paths) {
            memory::use_small_pages();
        }
        shown.open(&paths)
    }

    /// Opens the page, if one is requested.
    ///
    /// # Errors
    /// If it cannot be written, or its pictures cannot be found.
    pub fn open_page(&self, chosen: &Chosen, pages: &Pages, shown: &Shown) -> Result<Option<Html>> {
        pages.open(&self.paths(&chosen.systems), shown)
    }

    /// All input files.
    fn paths<'a>(&'a self, systems: &'a [Named]) -> Vec<&'a str> {
        let mut paths: Vec<&str> = self.files.paths().collect();
        paths.extend(systems.iter().map(|system| system.path.as_str()));
        paths.extend(self.what.paths());
        paths.extend(self.rouge.rouge_list.as_deref());
        paths
    }

    /// Reads all input files; SPICE's parses are to be saved after scoring.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn read<'p>(&self, chosen: Chosen, progress: &'p Bar) -> Result<(ScoreRequest<'p>, Parses)> {
        let Chosen { systems, metrics, mut resources } = chosen;
        let parses = self.what.read(&metrics, &mut resources)?;
        let images = self.files.images()?;
        let (references, systems): (ReferenceSource, Vec<(String, Captions)>) = match self.rouge.listed()? {
            Some((references, systems)) => (references.into(), systems),
            None => {
                let (references, candidates) = rayon::join(
                    || self.files.open(),
                    || read_candidates(&systems, &self.reading.options(self.files.no_limits())),
                );
                (references?, systems.into_iter().map(|system| system.name).zip(candidates?).collect())
            }
        };
        let request = ScoreRequest {
            reference_files: self.files.references.iter().chain(&self.rouge.rouge_list).cloned().collect(),
            options: self.policies.apply(ScoreOptions { metrics, images, ..ScoreOptions::default() }),
            resources,
            progress,
            ..ScoreRequest::new(references, systems)
        };
        Ok((request, parses))
    }
}

fn read_candidates(systems: &[Named], options: &ReadOptions) -> Result<Vec<Captions>> {
    systems.par_iter().map(|system| Ok(files::captions(&system.path, options)?)).collect()
}

impl What {
    /// The metrics with their settings.
    pub fn options(&self) -> MetricOptions {
        self.metrics.options(self.idf.as_deref())
    }

    /// Whether metrics can be built before any file is read.
    pub fn is_ready(&self) -> bool {
        self.df.is_none() && self.lm.is_none()
    }

    /// The installed data that `metrics` need; missing data are installed first if the user agrees.
    ///
    /// # Errors
    /// If the data are damaged.
    pub fn resources(&self, metrics: &MetricOptions) -> Result<Resources> {
        if capeval::needed_data(metrics).is_empty() {
            return Ok(Resources::default());
        }
        data::complete(metrics, self.yes)?;
        data::resources(metrics)
    }

    /// Adds the data from files, among them SPICE's parses, which are to be saved after scoring.
    ///
    /// # Errors
    /// If a file cannot be read, or no metric uses its data.
    pub fn read(&self, metrics: &MetricOptions, resources: &mut Resources) -> Result<Parses> {
        if let Some(path) = &self.df {
            resources.insert(Arc::new(files::frequencies(path, &files::open(path)?, self.df_images)?));
        }
        if let Some(path) = &self.lm {
            resources.insert(Arc::new(files::language_model(path, &files::open(path)?)?));
        }
        if !self.is_ready() {
            self.check(metrics, resources)?;
        }
        Parses::open(self.metrics.spice_cache.as_deref(), resources)
    }

    /// Refuses metrics that do not exist, and data and settings that no metric uses.
    ///
    /// # Errors
    /// If there are any.
    pub fn check(&self, metrics: &MetricOptions, resources: &Resources) -> Result<()> {
        let selection = capeval::select_metrics(metrics, resources)?;
        let signatures: Vec<&Signature> = selection.metrics.iter().map(AnyMetric::signature).collect();
        let setting = |name: &str| -> Vec<&str> { signatures.iter().filter_map(|s| s.get(name)).collect() };
        if self.idf.is_some() && setting("idf").is_empty() {
            return Err(fault(
                "--idf applies to CIDEr, which is not among the metrics",
                "add -m cider-d, or leave out --idf",
            ));
        }
        if self.df.is_some() && !setting("idf").iter().any(|idf| idf.starts_with("table")) {
            return Err(fault(
                "no metric uses the document frequencies of --df",
                "leave out --df, or add a metric that uses it, such as cider-d without idf=corpus or idf=uniform",
            ));
        }
        if self.lm.is_some() && !setting("lm").iter().any(|lm| *lm != "references") {
            return Err(fault("no metric uses the model of --lm", "add -m perplexity, or leave out --lm"));
        }
        Ok(())
    }

    /// The files that [`read`](Self::read) reads.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.df.iter().chain(&self.lm).chain(&self.metrics.spice_cache).map(String::as_str)
    }
}
