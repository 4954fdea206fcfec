//! Reports and comparisons that are read again from the JSON that they were written as.

use std::io::{self, Write};

use capeval_choice::{Refusal, Remedy};
use capeval_metric::Signature;
use capeval_stats::Interval;

use super::comparison::{Compared, tail};
use super::report::{Body, Images, Named, System, Tail, Words};
use super::{Export, Map, Whole};
use crate::real::Real;
use crate::{Comparison, Head, Lengths, Pair, Provenance, Report, Segments, SystemReport};

/// A result that was read from its JSON.
///
/// What a page shows of single images, and explanations, are not in it.
#[derive(Clone, Debug)]
pub enum Saved {
    /// Of scores.
    Report(Report),
    /// Of a comparison of systems.
    Comparison(Comparison),
}

impl Report {
    /// Writes the report as JSON, with the scores of every image if it has them, on one line. [`Saved::read`] reads it.
    pub fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        let whole = Whole::new(&self.head, &self.shared_signatures(), Body::of(self, true), Tail::of(self));
        super::line(&whole, out)
    }
}

impl Comparison {
    /// As [`Report::save`].
    pub fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        let head = &self.report.head;
        super::line(&Whole::new(head, &self.signatures(), Body::of(&self.report, true), tail(self)), out)
    }
}

impl Saved {
    /// Reads what [`Report::save`], [`Comparison::save`] and the output format `json` write.
    ///
    /// # Errors
    /// When the text is not such a result, or its parts do not belong together.
    pub fn read(json: &[u8]) -> Result<Self, Refusal> {
        let whole: Whole<'_, Body<'_>, Tail<'_>> =
            serde_json::from_slice(json).map_err(|error| unread(json, &error))?;
        let Whole { capeval, run, body, resampling, signatures: _, notices, measures, metrics, tail } = whole;
        let resampling = resampling.map(|resampled| resampled.resampling());
        let head = Head {
            version: capeval.into_owned(),
            metrics: metrics.into_owned(),
            measures: measures.into_owned(),
            resampling,
            notices: notices.into_owned(),
            run: run.map(std::borrow::Cow::into_owned),
        };
        if let Some(Err(error)) = resampling.map(|resampling| resampling.check()) {
            return Err(damaged(&error.to_string()));
        }
        let Tail { references, policy, same_images, sorted_by, correction, comparisons } = tail;
        let n_measures =
            head.metrics.iter().try_fold(0_usize, |sum, metric| sum.checked_add(metric.n_measures));
        if n_measures != Some(head.measures.len()) {
            return Err(damaged("its metrics have other measures"));
        }
        let systems =
            body.systems.into_iter().map(|named| system(named, &head)).collect::<Result<Vec<_>, _>>()?;
        let at = |key: &str| {
            let at = head.measures.iter().position(|measure| measure.key == key);
            at.ok_or_else(|| damaged(&format!("it is sorted by {key}, which is none of its measures")))
        };
        let sorted_by = sorted_by.as_deref().map(at).transpose()?;
        let (n_images, n_references) = references.as_ref().map_or((0, 0), |r| (r.images, r.references));
        let report = Report {
            provenance: Provenance {
                files: references.map_or_else(Vec::new, |references| references.files.into_owned()),
                n_images,
                n_references,
                policy: policy.as_ref().and_then(super::report::Policies::policy),
                ids: policy.and_then(|policy| policy.ids),
            },
            head,
            systems,
            same_images,
            sorted_by,
            explained: Vec::new(),
            gallery: None,
            profiles: Vec::new(),
        };
        let (Some(correction), Some(comparisons)) = (correction, comparisons) else {
            return Ok(Self::Report(report));
        };
        let pairs = comparisons.iter().map(|compared| pair(compared, &report)).collect::<Result<_, _>>()?;
        let resampling =
            report.head.resampling.ok_or_else(|| damaged("nothing says how it was resampled"))?;
        Ok(Self::Comparison(Comparison { report, resampling, correction, pairs }))
    }
}

/// The system again.
fn system(Named { name, system }: Named<'_>, head: &Head) -> Result<SystemReport, Refusal> {
    let System { file, images, references, reference_hash, lengths, scores, intervals, signatures, segments } =
        system;
    let other = || damaged(&format!("'{name}' has other measures"));
    let lines =
        in_order(signatures, head.metrics.iter().map(|metric| metric.key.as_str())).ok_or_else(other)?;
    let signatures = lines.iter().map(|line| line.parse::<Signature>().map_err(|error| damaged(&error)));
    let intervals = match intervals {
        None => None,
        Some(ends) => Some(in_order(ends, head.keys()).ok_or_else(other)?),
    };
    let interval = |[Real(low), Real(high)]: [Real; 2]| Interval { low, high };
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
            .map(|Real(score)| score)
            .collect(),
        intervals: intervals.map(|all| all.into_iter().map(interval).collect()),
        signatures: signatures.collect::<Result<_, _>>()?,
        reference_hash: reference_hash.map(std::borrow::Cow::into_owned),
        segments,
        name: name.into_owned(),
    })
}

/// The scores of images again; `None` if a measure has too few or too many.
fn of_images(Images { ids, scores }: Images<'_>, head: &Head) -> Option<Segments> {
    let columns: Vec<Vec<Real>> = in_order(scores, head.keys())?;
    if columns.iter().any(|column| column.len() != ids.len()) {
        return None;
    }
    let row = |at: usize| columns.iter().filter_map(move |column| column.get(at).map(|Real(score)| *score));
    let values = (0..ids.len()).flat_map(row).collect();
    Some(Segments { ids: ids.into_owned(), values })
}

/// The pair again.
fn pair(Compared { baseline, system, contrasts }: &Compared<'_>, report: &Report) -> Result<Pair, Refusal> {
    let other = || damaged(&format!("the pair of '{baseline}' and '{system}' has other systems or measures"));
    let at = |name: &str| report.systems.iter().position(|system| system.name == name).ok_or_else(other);
    let keys = contrasts.0.iter().map(|(key, _)| key.as_ref());
    if !keys.eq(report.head.keys()) {
        return Err(other());
    }
    let contrasts = contrasts.0.iter().map(|(_, found)| found.contrast().ok_or_else(other));
    Ok(Pair { baseline: at(baseline)?, system: at(system)?, contrasts: contrasts.collect::<Result<_, _>>()? })
}

/// The values of a map whose keys are `keys`, in this order; `None` if it has others.
fn in_order<'k, V>(
    Map(pairs): Map<std::borrow::Cow<'_, str>, V>,
    keys: impl Iterator<Item = &'k str>,
) -> Option<Vec<V>> {
    pairs
        .iter()
        .map(|(key, _)| key.as_ref())
        .eq(keys)
        .then(|| pairs.into_iter().map(|(_, value)| value).collect())
}

fn damaged(what: &str) -> Refusal {
    Refusal::new(format!("the report is damaged: {what}")).with_remedy("score the captions again")
}

/// Says what a text is instead of a report.
fn unread(json: &[u8], error: &serde_json::Error) -> Refusal {
    let scores_again = || Remedy::say("score the captions again, and save the report with this version");
    let is_line = || {
        json.iter().position(|byte| *byte == b'\n').is_some_and(|end| {
            let line = json.get(..end).unwrap_or_default();
            serde_json::from_slice::<serde_json::Value>(line).is_ok()
        })
    };
    match serde_json::from_slice::<serde_json::Value>(json) {
        Ok(value) if value.get("capeval").is_some() => {
            let other = ["correlations", "accuracies", "pairs"].iter().any(|key| value.get(key).is_some());
            let message = match other {
                true => "not a report of scores or a comparison of systems".to_owned(),
                false => format!("not a report that this version can read: {error}"),
            };
            Refusal::new(message).with_remedy(scores_again())
        }
        Err(_) if is_line() => Refusal::new("JSON Lines, not a report as one JSON object")
            .with_remedy("save the report with the format json"),
        _ => Refusal::new(format!("not a report of capeval: {error}"))
            .with_remedy("name a file that was saved as JSON"),
    }
}
