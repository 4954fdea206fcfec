//! A report as one JSON object.

use std::io::{self, Write};

use capeval_corpus::{Ids, SegmentId};
use capeval_metric::{Direction, Signature};
use capeval_stats::Resampling;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::{Measure, MetricEntry, Notice, Provenance, Report, SystemReport};

/// Writes `report` as one JSON object, indented, with every number in full.
///
/// `systems` is a list of objects with `name`, `scores` (a map from measure to value on the measure's own
/// scale) and `signatures` (a map from metric to signature); `signatures` beside it holds what these have in
/// common, and `notices` what a reader should know. Where confidence intervals were asked for, each system
/// has `intervals` (a map from measure to its two ends), and `resampling` says how they came about. Every command
/// writes `measures`, `signatures`, `notices` and `resampling` in this shape, and leaves out what it has not: `references`
/// without references, `policy` where nothing could be missing.
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
        references: (provenance.n_references > 0).then(|| References {
            files: &provenance.references,
            images: provenance.n_images,
            references: provenance.n_references,
        }),
        policy: policies(provenance),
        measures: measures(&report.measures),
        systems: report.systems.iter().map(|system| self::system(report, system)).collect(),
        resampling: resampling(report),
        signatures: signatures(&report.metrics, &report.shared_signatures()),
        notices: report.notices.iter().map(notice).collect(),
    }
}

/// One system, as it stands in `systems`.
fn system<'r>(report: &'r Report, system: &'r SystemReport) -> System<'r> {
    System { name: &system.name, rest: system_rest(report, system) }
}

/// What stands there beside the name.
pub(crate) fn system_rest<'r>(report: &'r Report, system: &'r SystemReport) -> SystemRest<'r> {
    SystemRest {
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
        signatures: signatures(&report.metrics, &system.signatures),
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

/// What is known of the measures, as it stands in `measures`.
pub(crate) fn measures(measures: &[Measure]) -> Vec<SerialMeasure<'_>> {
    let known = measures.iter();
    known
        .map(|m| SerialMeasure {
            key: &m.key,
            label: &m.label,
            better: match m.direction {
                Direction::HigherIsBetter => "higher",
                Direction::LowerIsBetter => "lower",
            },
            number: m.number.name(),
            min: m.min,
            max: m.max,
        })
        .collect()
}

fn policies(Provenance { policy, ids, .. }: &Provenance) -> Option<Policies> {
    (policy.is_some() || ids.is_some()).then(|| Policies {
        missing: policy.map(|policy| policy.missing.name()),
        surplus: policy.map(|policy| policy.surplus.name()),
        duplicate: policy.map(|policy| policy.duplicate.name()),
        empty: policy.map(|policy| policy.empty.name()),
        ids: ids.map(Ids::name),
    })
}

/// Signatures by metric, as they stand in `signatures`.
pub(crate) fn signatures<'r>(metrics: &'r [MetricEntry], signatures: &[Signature]) -> Map<&'r str, String> {
    Map(metrics.iter().map(|m| m.key.as_str()).zip(signatures.iter().map(ToString::to_string)).collect())
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
    measures: Vec<SerialMeasure<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    references: Option<References<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<Policies>,
}

#[derive(Serialize)]
struct System<'r> {
    name: &'r str,
    #[serde(flatten)]
    rest: SystemRest<'r>,
}

/// What is told of a system beside its name.
#[derive(Serialize)]
pub(crate) struct SystemRest<'r> {
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
pub(crate) struct SerialMeasure<'r> {
    key: &'r str,
    label: &'r str,
    better: &'static str,
    number: &'static str,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    surplus: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicate: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    empty: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ids: Option<&'static str>,
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
