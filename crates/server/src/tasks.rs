//! What children do: prepare references, score, compare, and write pictures anew. This code runs in the sandbox, with
//! nothing but its order and the files that it may read.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use capeval::choice::SegmentId;
use capeval::corpus::{Captions, Empty, Ids, Missing, ReadOptions, Surplus};
use capeval::metric::{Direction, Resources};
use capeval::report::{Measure, Verdict};
use capeval::stats::Resampling;
use capeval::{
    CompareOptions, CompareRequest, MetricOptions, PrepareOptions, PrepareRequest, ReferenceSource,
    ScoreOptions, ScoreRequest,
};
use capeval_files::{self as files, MeteorHome, SpiceHome};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::App;
use crate::collections::agreement::task as agreement;
use crate::collections::picture;
use crate::ids;
use crate::jobs::Failure;
use crate::jobs::child::{self, Allowance, Order};

/// The draws behind intervals and tests on boards.
const RESAMPLES: usize = 1_000;

/// A task.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Tries what no task may do.
    Probe {
        /// A file that exists and may not be read.
        file: PathBuf,
        /// More bytes than may be taken.
        memory: u64,
    },
    /// Writes an uploaded picture anew; returns [`picture::Pictured`].
    Picture {
        /// The file as it was uploaded.
        source: PathBuf,
        /// Where to write the picture.
        picture: PathBuf,
        /// Where to write the small picture.
        thumb: PathBuf,
    },
    /// Prepares references; returns [`Prepared`].
    Prepare {
        /// The file of references, in any format that the engine reads.
        source: PathBuf,
        /// The ids of the images to keep; `None` for all.
        images: Option<Vec<SegmentId>>,
        /// Metrics and data.
        metrics: Metrics,
        /// Where to write the prepared references.
        prepared: PathBuf,
        /// Where to write the ids of their images.
        ids: PathBuf,
    },
    /// Takes a reference of each image, for people to judge; returns a list of captions.
    Sample {
        /// The file of references, in any format that the engine reads.
        source: PathBuf,
        /// The images.
        images: Vec<SegmentId>,
        /// What decides which reference is taken.
        seed: String,
    },
    /// Scores a file of captions by several reference sets; returns a [`SetScores`] for each.
    Score {
        /// The captions; `None` for the human row.
        captions: Option<PathBuf>,
        /// The reference sets.
        sets: Vec<Set>,
    },
    /// Correlates metrics with ratings; returns an [`Agreement`](agreement::Agreement).
    Correlate(agreement::Correlate),
    /// Compares a file of captions with another; returns a [`SetContrasts`] for each reference set.
    Compare {
        /// The captions of the one that ranks higher.
        above: PathBuf,
        /// The captions of the other.
        below: PathBuf,
        /// The reference sets.
        sets: Vec<Set>,
    },
}

/// Metrics, and where their data are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Metrics {
    /// Metrics or suites, as the command line takes them.
    pub names: Vec<String>,
    /// The tokenizer; `None` for that of each metric.
    pub tokenizer: Option<String>,
    /// The folder with the data of METEOR and SPICE, if there is one.
    pub data: Option<PathBuf>,
}

/// A reference set.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Set {
    /// Its id.
    pub id: String,
    /// The prepared references.
    pub prepared: PathBuf,
    /// Metrics and data.
    pub metrics: Metrics,
}

/// What was prepared.
#[derive(Debug, Serialize, Deserialize)]
pub struct Prepared {
    /// The number of images.
    pub n_images: usize,
    /// The number of references.
    pub n_references: usize,
    /// The fewest references of an image.
    pub fewest: usize,
    /// The measures that the metrics give, in order.
    pub measures: Vec<Described>,
}

/// A measure, for the head of a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Described {
    /// The key, such as `bleu-4`.
    pub key: String,
    /// The label, such as `BLEU-4`.
    pub label: String,
    /// Whether lower is better.
    pub lower_is_better: bool,
    /// Whether it is a number of things, without decimals.
    pub is_count: bool,
}

/// A score.
#[derive(Debug, Serialize, Deserialize)]
pub struct Score {
    /// The key of the measure.
    pub key: String,
    /// The score.
    pub value: f64,
    /// The ends of its confidence interval, if it has one.
    pub interval: Option<(f64, f64)>,
}

/// The scores by one reference set. Scores that are not numbers are left out.
#[derive(Debug, Serialize, Deserialize)]
pub struct SetScores {
    /// The id of the set.
    pub set: String,
    /// The measures in order.
    pub measures: Vec<Described>,
    /// The scores.
    pub scores: Vec<Score>,
    /// A signature for each metric.
    pub signatures: Vec<String>,
}

/// How two files differ by one reference set.
#[derive(Debug, Serialize, Deserialize)]
pub struct SetContrasts {
    /// The id of the set.
    pub set: String,
    /// The key of each measure that was tested, its p-value by randomisation, and whether it is significant.
    pub contrasts: Vec<(String, f64, bool)>,
}

/// What was possible although it should not be.
#[derive(Debug, Serialize, Deserialize)]
pub struct Probe {
    /// Opening a socket.
    pub socket: bool,
    /// Reading a foreign file.
    pub file: bool,
    /// Starting a program.
    pub program: bool,
    /// Taking more memory than is allowed.
    pub memory: bool,
    /// Reading a variable of the environment.
    pub environment: bool,
}

/// Performs a task.
///
/// # Errors
/// With the reason, if it cannot be done with what was given.
pub fn perform(task: Task, threads: usize) -> Result<Value, String> {
    // If this fails, the default pool is as good.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    let performed = match task {
        Task::Probe { file, memory } => value(&Probe {
            socket: std::net::UdpSocket::bind("127.0.0.1:0").is_ok(),
            file: std::fs::read(file).is_ok(),
            program: std::process::Command::new("/bin/true").status().is_ok(),
            memory: usize::try_from(memory).is_ok_and(|n| Vec::<u8>::new().try_reserve_exact(n).is_ok()),
            environment: std::env::vars_os().next().is_some(),
        }),
        Task::Picture { source, picture, thumb } => {
            picture::process(&source, &picture, &thumb).and_then(|done| value(&done))
        }
        Task::Prepare { source, images, metrics, prepared, ids } => {
            prepare(&source, images.as_deref(), &metrics, &prepared, &ids).and_then(|done| value(&done))
        }
        Task::Sample { source, images, seed } => {
            sample(&source, &images, &seed).and_then(|captions| value(&captions))
        }
        Task::Score { captions, sets } => {
            let scores: anyhow::Result<Vec<SetScores>> =
                sets.iter().map(|set| score(captions.as_deref(), set)).collect();
            scores.and_then(|scores| value(&scores))
        }
        Task::Correlate(task) => agreement::correlate(&task).and_then(|done| value(&done)),
        Task::Compare { above, below, sets } => {
            let contrasts: anyhow::Result<Vec<SetContrasts>> =
                sets.iter().map(|set| compare(&above, &below, set)).collect();
            contrasts.and_then(|contrasts| value(&contrasts))
        }
    };
    performed.map_err(|error| format!("{error:#}"))
}

fn value(result: &impl Serialize) -> anyhow::Result<Value> {
    Ok(serde_json::to_value(result)?)
}

impl Metrics {
    /// What the engine is asked for.
    pub fn options(&self) -> MetricOptions {
        MetricOptions { tokenizer: self.tokenizer.clone(), ..MetricOptions::new(self.names.clone()) }
    }

    /// The data that metrics need.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn resources(&self) -> anyhow::Result<Resources> {
        let Some(folder) = &self.data else { return Ok(Resources::default()) };
        let needed = capeval::needed_data(&self.options());
        let needs = |metric: &str| needed.iter().any(|needed| needed.metric == metric);
        if !needs("meteor") && !needs("spice") {
            return Ok(Resources::default());
        }
        let meteor = MeteorHome::new(folder.clone()).resources(files::open)?.map(Arc::new);
        let spice = match &meteor {
            Some(meteor) if needs("spice") => {
                SpiceHome::new(folder.clone()).data(files::open, Arc::clone(meteor))?.map(Arc::new)
            }
            _ => None,
        };
        Ok(Resources::default().with(meteor).with(spice))
    }
}

fn described(measures: &[Measure]) -> Vec<Described> {
    let describe = |measure: &Measure| Described {
        key: measure.key.clone(),
        label: measure.label.clone(),
        lower_is_better: matches!(measure.direction, Direction::LowerIsBetter),
        is_count: measure.digits(1) == 0,
    };
    measures.iter().map(describe).collect()
}

fn prepare(
    source: &Path,
    images: Option<&[SegmentId]>,
    metrics: &Metrics,
    prepared: &Path,
    ids: &Path,
) -> anyhow::Result<Prepared> {
    let bytes = open(source, "the file of references cannot be opened")?;
    let options = ReadOptions { no_limits: true, ..ReadOptions::references() };
    // The name in errors, which hosts see.
    let mut captions = files::captions_in("references", &bytes, &options)?;
    if let Some(images) = images {
        captions = only(&captions, images)?;
    }
    let n_references = captions.len();
    let resources = metrics.resources()?;
    let selection = capeval::select_metrics(&metrics.options(), &resources)?;
    let (_, measures) = capeval::entries(&selection.metrics);
    let done = capeval::prepare(PrepareRequest {
        references: captions,
        sources: Vec::new(),
        options: PrepareOptions { metrics: metrics.options(), ids: Ids::Text },
        resources,
        progress: &(),
    })?;
    done.write(File::create(prepared)?)?;
    serde_json::to_writer(File::create(ids)?, &done.ids)?;
    let counts = (0..u32::try_from(done.n_images())?).map(|image| done.n_references([image]));
    Ok(Prepared {
        n_images: done.ids.len(),
        n_references,
        fewest: counts.min().unwrap_or(0),
        measures: described(&measures),
    })
}

/// A reference of each image.
fn sample(source: &Path, images: &[SegmentId], seed: &str) -> anyhow::Result<Vec<String>> {
    let bytes = open(source, "the file of references cannot be opened")?;
    let options = ReadOptions { no_limits: true, ..ReadOptions::references() };
    let captions = files::captions_in("references", &bytes, &options)?;
    let mut of_image: HashMap<String, Vec<&str>> = HashMap::new();
    for (id, caption) in captions.iter() {
        of_image.entry(text(id)).or_default().push(caption);
    }
    let one = |image: &SegmentId| {
        let image = text(image);
        let references = of_image.get(&image).filter(|references| !references.is_empty());
        let references = references.with_context(|| format!("the image {image} has no reference"))?;
        let digest = ids::digest(format!("{seed}:{image}"));
        let place = u64::from_str_radix(&digest[..15], 16)? as usize % references.len();
        Ok(references[place].to_owned())
    };
    images.iter().map(one).collect()
}

/// The text of an id, by which the number 1 and the text "1" are the same.
fn text(id: &SegmentId) -> String {
    match id {
        SegmentId::Integer(number) => number.to_string(),
        SegmentId::Text(text) => text.to_string(),
    }
}

/// The captions of the listed images, all of which must have some.
fn only(captions: &Captions, images: &[SegmentId]) -> anyhow::Result<Captions> {
    let listed: HashSet<String> = images.iter().map(text).collect();
    let known: HashSet<String> = captions.ids().iter().map(text).collect();
    if let Some(unknown) = images.iter().find(|id| !known.contains(&text(id))) {
        anyhow::bail!("the listed image {} has no reference", unknown.quoted());
    }
    Ok(captions.only(|id| listed.contains(&text(id))))
}

/// Opens a file; the error is for people who do not know where it is.
fn open(path: &Path, otherwise: &'static str) -> anyhow::Result<files::Bytes> {
    files::open(&path.display().to_string()).map_err(|_| anyhow::anyhow!(otherwise))
}

fn references(set: &Set) -> anyhow::Result<ReferenceSource> {
    let bytes = open(&set.prepared, "the references cannot be opened")?;
    let prepared = files::open_prepared("references", Arc::new(bytes))?;
    Ok(ReferenceSource::Prepared { prepared: Box::new(prepared), source: "references".to_owned() })
}

fn candidates(path: &Path) -> anyhow::Result<Captions> {
    let bytes = open(path, "the captions of the submission cannot be opened")?;
    let options = ReadOptions { no_limits: true, ..ReadOptions::candidates() };
    Ok(files::captions_in("submission", &bytes, &options)?)
}

fn options(set: &Set) -> ScoreOptions {
    ScoreOptions {
        metrics: set.metrics.options(),
        missing: Missing::Error,
        // A phase may have sets with references of fewer images.
        surplus: Surplus::Ignore,
        empty: Empty::Keep,
        ids: Ids::Text,
        ..ScoreOptions::default()
    }
}

fn resampling() -> Resampling {
    Resampling { resamples: RESAMPLES, ..Resampling::default() }
}

fn score(captions: Option<&Path>, set: &Set) -> anyhow::Result<SetScores> {
    let systems = captions.map(candidates).transpose()?.map(|captions| ("submission", captions));
    let report = capeval::score(ScoreRequest {
        options: ScoreOptions { intervals: Some(resampling()), human: captions.is_none(), ..options(set) },
        resources: set.metrics.resources()?,
        ..ScoreRequest::new(references(set)?, systems)
    })?;
    let measures = described(&report.head.measures);
    let Some(system) = report.systems.first() else { anyhow::bail!("the engine gave no scores") };
    let scores = measures.iter().zip(&system.scores).enumerate().filter(|(_, (_, value))| value.is_finite());
    let scores = scores.map(|(k, (measure, value))| Score {
        key: measure.key.clone(),
        value: *value,
        interval: system
            .intervals
            .as_ref()
            .and_then(|intervals| intervals.get(k))
            .map(|interval| (interval.low, interval.high))
            .filter(|(low, high)| low.is_finite() && high.is_finite()),
    });
    Ok(SetScores {
        set: set.id.clone(),
        scores: scores.collect(),
        signatures: system.signatures.iter().map(ToString::to_string).collect(),
        measures,
    })
}

fn compare(above: &Path, below: &Path, set: &Set) -> anyhow::Result<SetContrasts> {
    let systems = [("above", candidates(above)?), ("below", candidates(below)?)];
    let comparison = capeval::compare(CompareRequest {
        options: CompareOptions {
            score: options(set),
            resampling: resampling(),
            ..CompareOptions::default()
        },
        resources: set.metrics.resources()?,
        ..CompareRequest::new(references(set)?, systems)
    })?;
    let measures = &comparison.report.head.measures;
    let contrasts = comparison.pairs.first().map(|pair| &pair.contrasts[..]).unwrap_or_default();
    let tested = measures.iter().zip(contrasts).filter(|(_, contrast)| contrast.has_test);
    let tested = tested.filter(|(_, contrast)| contrast.randomisation.value.is_finite());
    let contrasts = tested.map(|(measure, contrast)| {
        let differs = contrast.verdict != Verdict::Undecided;
        (measure.key.clone(), contrast.randomisation.value, differs)
    });
    Ok(SetContrasts { set: set.id.clone(), contrasts: contrasts.collect() })
}

/// Tries in a child what no task may do.
///
/// # Errors
/// If the child cannot run.
pub async fn probe(app: &App) -> Result<Probe, Failure> {
    let allowance = Allowance::of(app, Vec::new());
    let task = Task::Probe { file: app.program.clone(), memory: allowance.memory };
    child::run(app, Order { allowance, task }).await
}
