//! Reports and comparisons that are read again from the JSON that they were written as.
//!
//! They contain neither explanations nor a page's data on single images.

use std::borrow::Cow;
use std::io::{self, Write};

use capeval_choice::Refusal;
use capeval_metric::Signature;
use capeval_stats::Interval;
use serde::{Deserialize, Serialize};

use super::json::{Body, Images, NamedSystem, Policies, RunFields, SystemFields, Tail, Words};
use crate::comparison::json::PairFields;
use crate::comparison::tail::tail;
use crate::json_float::{Floats, JsonFloat};
use crate::kind::{AGAIN, ReadStudy, as_type, damaged};
use crate::render::programs::{Map, ResamplingMethod, by_metric, line};
use crate::study::Study;
use crate::{
    Comparison, Head, Lengths, Measure, MetricEntry, Notice, Pair, Provenance, Report, Run, Runs, Segments,
    SourceReading, SystemReport,
};

/// A report or a comparison as one JSON object.
#[derive(Serialize, Deserialize)]
struct Whole<'r> {
    capeval: Cow<'r, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<Cow<'r, Run>>,
    #[serde(flatten)]
    body: Body<'r>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resampling: Option<ResamplingMethod>,
    signatures: Map<Cow<'r, str>, String>,
    notices: Cow<'r, [Notice]>,
    measures: Cow<'r, [Measure]>,
    metrics: Cow<'r, [MetricEntry]>,
    #[serde(default, skip_serializing_if = "<[SourceReading]>::is_empty")]
    reading: Cow<'r, [SourceReading]>,
    #[serde(flatten)]
    tail: Tail<'r>,
}

impl<'r> Whole<'r> {
    /// The object with the scores of every image, if the report has them.
    fn new(report: &'r Report, notices: &'r [Notice], tail: Tail<'r>) -> Self {
        let head = &report.head;
        Self {
            capeval: Cow::Borrowed(&head.version),
            run: head.run.as_ref().map(Cow::Borrowed),
            body: Body::of(report, true),
            resampling: head.resampling.map(ResamplingMethod::new),
            signatures: by_metric(head, &report.shared_signatures()),
            notices: Cow::Borrowed(notices),
            measures: Cow::Borrowed(&head.measures),
            metrics: Cow::Borrowed(&head.metrics),
            reading: Cow::Borrowed(&head.readings),
            tail,
        }
    }
}

pub(super) fn save(study: &dyn Study, notices: &[Notice], out: &mut dyn Write) -> io::Result<()> {
    let report: &Report = as_type(study);
    let profiles = (!report.profiles.is_empty()).then_some(Cow::Borrowed(&report.profiles[..]));
    line(&Whole::new(report, notices, Tail { profiles, ..Tail::of(report) }), out)
}

pub(crate) fn save_comparison(study: &dyn Study, notices: &[Notice], out: &mut dyn Write) -> io::Result<()> {
    let comparison: &Comparison = as_type(study);
    line(&Whole::new(&comparison.report, notices, tail(comparison)), out)
}

/// Reads a report or a comparison.
pub(crate) fn read(json: &[u8]) -> ReadStudy {
    let whole: Whole<'_> = serde_json::from_slice(json).map_err(|error| unread(json, &error))?;
    let Whole { capeval, run, body, resampling, signatures: _, notices, measures, metrics, reading, tail } =
        whole;
    let resampling = resampling.map(|method| method.resampling());
    let head = Head {
        version: capeval.into_owned(),
        metrics: metrics.into_owned(),
        measures: measures.into_owned(),
        resampling,
        notices: notices.into_owned(),
        readings: reading.into_owned(),
        run: run.map(Cow::into_owned),
        in_percent: false,
    };
    head.check()?;
    let Tail {
        references,
        policy,
        same_images,
        sorted_by,
        ranking,
        correction,
        comparisons,
        groups,
        profiles,
    } = tail;
    let systems =
        body.systems.into_iter().map(|named| system(named, &head)).collect::<Result<Vec<_>, _>>()?;
    let at = |key: &str| {
        let at = head.measures.iter().position(|measure| measure.key == key);
        at.ok_or_else(|| damaged(format!("it is sorted by {key}, which is none of its measures")))
    };
    let sorted_by = sorted_by.as_deref().map(at).transpose()?;
    let groups = groups.into_iter().map(|fields| fields.scores(&head));
    let groups = groups.collect::<Option<_>>().ok_or_else(|| damaged("its groups have other measures"))?;
    let (n_images, n_references) = references.as_ref().map_or((0, 0), |r| (r.images, r.references));
    let report = Report {
        provenance: Provenance {
            files: references.map_or_else(Vec::new, |references| references.files.into_owned()),
            n_images,
            n_references,
            policy: policy.as_ref().and_then(Policies::policy),
            ids: policy.and_then(|policy| policy.ids),
        },
        head,
        systems,
        same_images,
        sorted_by,
        groups,
        ranking: ranking.map(Cow::into_owned),
        profiles: profiles.map_or_else(Vec::new, Cow::into_owned),
        ..Report::default()
    };
    report.check()?;
    let (Some(correction), Some(comparisons)) = (correction, comparisons) else {
        return Ok(Box::new(report));
    };
    let pairs = comparisons.iter().map(|fields| pair(fields, &report)).collect::<Result<_, _>>()?;
    let resampling = report.head.resampling.ok_or_else(|| damaged("nothing says how it was resampled"))?;
    Ok(Box::new(Comparison { report, resampling, correction, pairs }))
}

/// The system again.
fn system(NamedSystem { name, system }: NamedSystem<'_>, head: &Head) -> Result<SystemReport, Refusal> {
    let SystemFields {
        file,
        images,
        references,
        reference_hash,
        lengths,
        scores,
        intervals,
        runs,
        signatures,
        segments,
    } = system;
    let other = || damaged(format!("'{name}' has other measures"));
    let lines =
        in_order(signatures, head.metrics.iter().map(|metric| metric.key.as_str())).ok_or_else(other)?;
    let signatures = lines.iter().map(|line| line.parse::<Signature>().map_err(damaged));
    let intervals = match intervals {
        None => None,
        Some(ends) => Some(in_order(ends, head.keys()).ok_or_else(other)?),
    };
    let runs = match runs {
        None => None,
        Some(RunFields { n, deviations }) => {
            let deviations = in_order(deviations, head.keys()).ok_or_else(other)?;
            Some(Runs {
                n,
                deviations: deviations.into_iter().map(|JsonFloat(deviation)| deviation).collect(),
            })
        }
    };
    let segments = match segments {
        None => None,
        Some(images) => Some(of_images(images, head).ok_or_else(other)?),
    };
    Ok(SystemReport {
        source: file.into_owned(),
        n_images: images,
        n_references: references,
        lengths: lengths.map(|Words { candidates, references, .. }| Lengths { candidates, references }),
        scores: in_order(scores, head.keys())
            .ok_or_else(other)?
            .into_iter()
            .map(|JsonFloat(score)| score)
            .collect(),
        intervals: intervals.map(|all| all.into_iter().map(Interval::of_json).collect()),
        runs,
        signatures: signatures.collect::<Result<_, _>>()?,
        reference_hash: reference_hash.map(Cow::into_owned),
        segments,
        name: name.into_owned(),
    })
}

/// The scores of images again; `None` if a measure has too few or too many.
fn of_images(Images { ids, scores }: Images<'_>, head: &Head) -> Option<Segments> {
    let columns: Vec<Vec<JsonFloat>> = in_order(scores, head.keys())?;
    if columns.iter().any(|column| column.len() != ids.len()) {
        return None;
    }
    let row =
        |at: usize| columns.iter().filter_map(move |column| column.get(at).map(|JsonFloat(score)| *score));
    let values = (0..ids.len()).flat_map(row).collect();
    Some(Segments { ids: ids.into_owned(), values })
}

/// The pair again.
fn pair(
    PairFields { baseline, system, contrasts }: &PairFields<'_>,
    report: &Report,
) -> Result<Pair, Refusal> {
    let other = || damaged(format!("the pair of '{baseline}' and '{system}' has other systems or measures"));
    let at = |name: &str| report.systems.iter().position(|system| system.name == name).ok_or_else(other);
    let keys = contrasts.0.iter().map(|(key, _)| key.as_ref());
    if !keys.eq(report.head.keys()) {
        return Err(other());
    }
    let contrasts = contrasts.0.iter().map(|(_, fields)| fields.contrast().ok_or_else(other));
    Ok(Pair { baseline: at(baseline)?, system: at(system)?, contrasts: contrasts.collect::<Result<_, _>>()? })
}

/// The values of a map whose keys are `keys`, in this order; `None` if it has others.
pub(super) fn in_order<'k, V>(
    Map(pairs): Map<Cow<'_, str>, V>,
    keys: impl Iterator<Item = &'k str>,
) -> Option<Vec<V>> {
    pairs
        .iter()
        .map(|(key, _)| key.as_ref())
        .eq(keys)
        .then(|| pairs.into_iter().map(|(_, value)| value).collect())
}

/// Says what a text is instead of a report.
fn unread(json: &[u8], error: &serde_json::Error) -> Refusal {
    let is_line = || {
        json.iter().position(|byte| *byte == b'\n').is_some_and(|end| {
            let line = json.get(..end).unwrap_or_default();
            serde_json::from_slice::<serde_json::Value>(line).is_ok()
        })
    };
    match serde_json::from_slice::<serde_json::Value>(json) {
        Ok(value) if value.get("capeval").is_some() => {
            let message = match value.get("systems") {
                None if value.get("measures").is_some() => {
                    "not a report of scores or a comparison of systems: of other results, only saved files are read"
                        .to_owned()
                }
                _ => format!("not a report that this version can read: {error}"),
            };
            Refusal::new(message).with_remedy(AGAIN)
        }
        Err(_) if is_line() => Refusal::new("JSON Lines, not a report as one JSON object")
            .with_remedy("save the report with the format json"),
        _ => Refusal::new(format!("not a report of capeval: {error}"))
            .with_remedy("name a file that was saved as JSON"),
    }
}
