//! A report as one JSON object.

use std::io::{self, Write};

use capeval_corpus::SegmentId;
use capeval_metric::{Direction, Signature};
use capeval_stats::Resampling;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::{Notice, Report, SystemReport};

/// Writes `report` as one JSON object, indented, with every number in full.
///
/// `systems` is a list of objects with `name`, `scores` (a map from measure to value on the measure's own
/// scale) and `signatures` (a map from metric to signature); `signatures` beside it holds what these have in
/// common, and `notices` what a reader should know. Where confidence intervals were asked for, each system
/// has `intervals` (a map from measure to its two ends), and `resampling` says how they came about.
///
/// # Errors
/// When `out` does not take what is written.
pub fn json(report: &Report, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &whole(report))?;
    out.write_all(b"\n")
}

/// The whole report.
pub(crate) fn whole(report: &Report) -> impl Serialize {
    let provenance = &report.provenance;
    Whole {
        capeval: &provenance.version,
        references: References {
            files: &provenance.references,
            images: provenance.n_images,
            references: provenance.n_references,
        },
        policy: Policies {
            missing: provenance.policy.missing.name(),
            surplus: provenance.policy.surplus.name(),
            duplicate: provenance.policy.duplicate.name(),
            empty: provenance.policy.empty.name(),
            ids: provenance.ids.name(),
        },
        measures: report
            .measures
            .iter()
            .map(|m| Measure {
                key: &m.key,
                label: &m.label,
                better: match m.direction {
                    Direction::HigherIsBetter => "higher",
                    Direction::LowerIsBetter => "lower",
                },
                min: m.min,
                max: m.max,
            })
            .collect(),
        systems: report.systems.iter().map(|system| self::system(report, system)).collect(),
        resampling: resampling(report),
        signatures: signatures(report, &report.shared_signatures()),
        notices: report.notices.iter().map(notice).collect(),
    }
}

/// One system, as it stands in `systems`.
pub(crate) fn system<'r>(report: &'r Report, system: &'r SystemReport) -> System<'r> {
    System {
        name: &system.name,
        file: &system.source,
        images: system.n_images,
        references: system.n_references,
        scores: Map(report
            .measures
            .iter()
            .map(|m| m.key.as_str())
            .zip(system.scores.iter().copied())
            .collect()),
        intervals: system.intervals.as_ref().map(|intervals| {
            let keys = report.measures.iter().map(|m| m.key.as_str());
            Map(keys.zip(intervals.iter().map(|i| [i.low, i.high])).collect())
        }),
        signatures: signatures(report, &system.signatures),
    }
}

/// How the intervals came about, as it stands in `resampling`.
pub(crate) fn resampling(report: &Report) -> Option<SerialResampling> {
    report.resampling.map(SerialResampling::new)
}

impl SerialResampling {
    pub(crate) fn new(Resampling { resamples, seed, level }: Resampling) -> Self {
        Self { method: "percentile bootstrap", level, resamples, seed }
    }
}

fn signatures<'r>(report: &'r Report, signatures: &[Signature]) -> Map<&'r str, String> {
    Map(report
        .metrics
        .iter()
        .map(|m| m.key.as_str())
        .zip(signatures.iter().map(ToString::to_string))
        .collect())
}

/// One notice, as it stands in `notices`.
pub(crate) fn notice(notice: &Notice) -> SerialNotice<'_> {
    let Notice { code, message, system, ids, count } = notice;
    SerialNotice { code, message, system: system.as_deref(), count: *count, ids }
}

#[derive(Serialize)]
struct Whole<'r> {
    capeval: &'r str,
    systems: Vec<System<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resampling: Option<SerialResampling>,
    signatures: Map<&'r str, String>,
    notices: Vec<SerialNotice<'r>>,
    measures: Vec<Measure<'r>>,
    references: References<'r>,
    policy: Policies,
}

#[derive(Serialize)]
pub(crate) struct System<'r> {
    name: &'r str,
    file: &'r str,
    images: usize,
    references: usize,
    scores: Map<&'r str, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals: Option<Map<&'r str, [f64; 2]>>,
    signatures: Map<&'r str, String>,
}

#[derive(Serialize)]
pub(crate) struct SerialResampling {
    method: &'static str,
    level: f64,
    resamples: usize,
    seed: u64,
}

#[derive(Serialize)]
pub(crate) struct SerialNotice<'r> {
    code: &'r str,
    message: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    ids: &'r [SegmentId],
}

#[derive(Serialize)]
struct Measure<'r> {
    key: &'r str,
    label: &'r str,
    better: &'r str,
    min: f64,
    max: f64,
}

#[derive(Serialize)]
struct References<'r> {
    files: &'r [String],
    images: usize,
    references: usize,
}

#[derive(Serialize)]
struct Policies {
    missing: &'static str,
    surplus: &'static str,
    duplicate: &'static str,
    empty: &'static str,
    ids: &'static str,
}

/// Pairs as a JSON object, in their order.
pub(crate) struct Map<K, V>(pub Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Map<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
