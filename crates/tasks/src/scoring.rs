//! Scores files of captions, and compares them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use capeval::corpus::{Captions, Empty, Ids, Missing, ReadOptions, Surplus};
use capeval::evaluate;
use capeval::report::Report;
use capeval::stats::correction::Correction;
use capeval::stats::{Interval, Resampling};
use capeval::{
    CompareOptions, CompareReportsRequest, CompareRequest, GroupBy, ReferenceSource, ScoreOptions,
    ScoreRequest,
};
use capeval_files as files;
use serde::{Deserialize, Serialize};

use crate::dense::DenseSet;
use crate::input::open;
use crate::metrics::{ImageGroups, MeasureInfo, Metrics, described, key_in_group};

/// The draws behind intervals on boards.
pub(crate) const RESAMPLES: usize = 1_000;

/// The exchanges behind tests of neighbours on boards: those of `capeval::compare`, so that p-values are equal.
const EXCHANGES: usize = 10_000;

/// Scores a file of captions by several reference sets.
#[derive(Serialize, Deserialize)]
pub struct Score {
    /// The captions; `None` for the human row.
    pub captions: Option<PathBuf>,
    /// The reference sets.
    pub sets: Vec<Set>,
}

/// Tests whether two files of captions differ.
#[derive(Serialize, Deserialize)]
pub struct Compare {
    pub one: PathBuf,
    pub other: PathBuf,
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
pub struct MeasureScore {
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
    pub measures: Vec<MeasureInfo>,
    /// The scores.
    pub scores: Vec<MeasureScore>,
    /// A signature for each metric.
    pub signatures: Vec<String>,
}

/// The differences of two files by one reference set.
#[derive(Debug, Serialize, Deserialize)]
pub struct SetTests {
    /// The id of the set.
    pub set: String,
    /// The key of each measure with the p-value that verdicts are based on, before correction: the exact one, or else
    /// that of randomisation; `None` where there is no test.
    pub tests: Vec<(String, Option<f64>)>,
}

impl Score {
    pub(crate) fn perform(self) -> anyhow::Result<Vec<SetScores>> {
        self.sets.iter().map(|set| score(self.captions.as_deref(), set)).collect()
    }
}

impl Compare {
    pub(crate) fn perform(self) -> anyhow::Result<Vec<SetTests>> {
        self.sets.iter().map(|set| compare(&self.one, &self.other, set)).collect()
    }
}

pub(crate) fn prepared(set: &Set) -> anyhow::Result<evaluate::PreparedReferences> {
    let bytes = open(&set.prepared, "the references cannot be opened")?;
    Ok(files::open_prepared("references", Arc::new(bytes))?)
}

pub(crate) fn references(set: &Set) -> anyhow::Result<ReferenceSource> {
    Ok(ReferenceSource::Prepared { prepared: Box::new(prepared(set)?), source: "references".to_owned() })
}

pub(crate) fn candidates(path: &Path) -> anyhow::Result<Captions> {
    let bytes = open(path, "the captions of the submission cannot be opened")?;
    let options = ReadOptions { no_limits: true, ..ReadOptions::candidates() };
    Ok(files::captions_in("submission", &bytes, &options)?)
}

pub(crate) fn options(set: &Set) -> ScoreOptions {
    ScoreOptions {
        metrics: set.metrics.options(),
        derive: set.metrics.derive.clone(),
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

/// The scores of files of captions by a reference set, or of people if there are none.
pub(crate) fn scored(
    set: &Set,
    files: &[(&str, &Path)],
    options: ScoreOptions,
    groups: Vec<GroupBy>,
) -> anyhow::Result<Report> {
    if let Some(dense) = DenseSet::open(set)? {
        return dense.report(files, options.intervals);
    }
    let systems = files.iter().map(|(name, path)| Ok((*name, candidates(path)?)));
    let systems = systems.collect::<anyhow::Result<Vec<_>>>()?;
    Ok(capeval::score(ScoreRequest {
        options: ScoreOptions { human: files.is_empty(), ..options },
        resources: set.metrics.resources()?,
        groups,
        ..ScoreRequest::new(references(set)?, systems)
    })?)
}

fn score(captions: Option<&Path>, set: &Set) -> anyhow::Result<SetScores> {
    let files: Vec<(&str, &Path)> = captions.map(|path| ("submission", path)).into_iter().collect();
    let options = ScoreOptions { intervals: Some(resampling()), ..options(set) };
    let groups = set.metrics.groups.as_ref().map(ImageGroups::property).transpose()?;
    let report = scored(set, &files, options, groups.into_iter().collect())?;
    let measures = described(&report.head.measures);
    let Some(system) = report.systems.first() else { anyhow::bail!("the engine gave no scores") };
    let mut scores = finite_scores(&measures, &system.scores, system.intervals.as_deref());
    let rows = report.groups.iter().flat_map(|groups| &groups.rows);
    for row in rows.filter(|row| row.system == system.name) {
        let of_group = finite_scores(&measures, &row.scores, row.intervals.as_deref()).into_iter();
        scores.extend(
            of_group.map(|score| MeasureScore { key: key_in_group(&score.key, &row.group), ..score }),
        );
    }
    Ok(SetScores {
        set: set.id.clone(),
        scores,
        signatures: system.signatures.iter().map(ToString::to_string).collect(),
        measures,
    })
}

/// The scores that are numbers.
fn finite_scores(
    measures: &[MeasureInfo],
    scores: &[f64],
    intervals: Option<&[Interval]>,
) -> Vec<MeasureScore> {
    let scores = measures.iter().zip(scores).enumerate().filter(|(_, (_, value))| value.is_finite());
    let score = |(k, (measure, value)): (usize, (&MeasureInfo, &f64))| MeasureScore {
        key: measure.key.clone(),
        value: *value,
        interval: intervals
            .and_then(|intervals| intervals.get(k))
            .map(|interval| (interval.low, interval.high))
            .filter(|(low, high)| low.is_finite() && high.is_finite()),
    };
    scores.map(score).collect()
}

fn compare(one: &Path, other: &Path, set: &Set) -> anyhow::Result<SetTests> {
    let resampling = Resampling { resamples: EXCHANGES, ..Resampling::default() };
    // Boards correct over all of their neighbours.
    let correction = Correction::None;
    let comparison = match DenseSet::open(set)? {
        Some(dense) => capeval::compare_reports(CompareReportsRequest {
            resampling,
            correction,
            ..CompareReportsRequest::new(vec![dense.report(&[("one", one), ("other", other)], None)?])
        })?,
        None => capeval::compare(CompareRequest {
            options: CompareOptions {
                score: options(set),
                resampling,
                correction,
                ..CompareOptions::default()
            },
            resources: set.metrics.resources()?,
            ..CompareRequest::new(
                references(set)?,
                [("one", candidates(one)?), ("other", candidates(other)?)],
            )
        })?,
    };
    let measures = &comparison.report.head.measures;
    let contrasts = comparison.pairs.first().map(|pair| &pair.contrasts[..]).unwrap_or_default();
    let tests = measures.iter().zip(contrasts).map(|(measure, contrast)| {
        let p = contrast.permutation.unwrap_or(contrast.randomisation).value;
        (measure.key.clone(), Some(p).filter(|p| contrast.has_test && p.is_finite()))
    });
    Ok(SetTests { set: set.id.clone(), tests: tests.collect() })
}
