//! Scores files of captions, and compares them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use capeval::corpus::{Captions, Empty, Ids, Missing, ReadOptions, Surplus};
use capeval::report::Verdict;
use capeval::stats::Resampling;
use capeval::{CompareOptions, CompareRequest, ReferenceSource, ScoreOptions, ScoreRequest};
use capeval_files as files;
use serde::{Deserialize, Serialize};

use crate::metrics::{Described, Metrics, described};

/// The draws behind intervals and tests on boards.
pub(crate) const RESAMPLES: usize = 1_000;

/// Scores a file of captions by several reference sets.
#[derive(Serialize, Deserialize)]
pub struct Score {
    /// The captions; `None` for the human row.
    pub captions: Option<PathBuf>,
    /// The reference sets.
    pub sets: Vec<Set>,
}

/// Compares a file of captions with another.
#[derive(Serialize, Deserialize)]
pub struct Compare {
    /// The captions of the one that ranks higher.
    pub above: PathBuf,
    /// The captions of the other.
    pub below: PathBuf,
    /// The reference sets.
    pub sets: Vec<Set>,
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

/// A score.
#[derive(Debug, Serialize, Deserialize)]
pub struct Scored {
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
    pub scores: Vec<Scored>,
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

impl Score {
    pub(crate) fn perform(self) -> anyhow::Result<Vec<SetScores>> {
        self.sets.iter().map(|set| score(self.captions.as_deref(), set)).collect()
    }
}

impl Compare {
    pub(crate) fn perform(self) -> anyhow::Result<Vec<SetContrasts>> {
        self.sets.iter().map(|set| compare(&self.above, &self.below, set)).collect()
    }
}

/// Opens a file; the error is for people who do not know where it is.
pub(crate) fn open(path: &Path, otherwise: &'static str) -> anyhow::Result<files::Bytes> {
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

pub(crate) fn resampling() -> Resampling {
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
    let scores = scores.map(|(k, (measure, value))| Scored {
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
