//! Scores rows of captions that each have their own references, as in studies of ratings and of pairs.

use capeval_choice::Argument;
use capeval_corpus::{Empty, SegmentId};
use capeval_evaluate::{MetricScores, Progress, ReferenceSet, System, SystemScores, evaluate};
use capeval_metric::{AnyMetric, Signature};
use capeval_report::Notice;
use capeval_text::Looks;

use crate::notices::{about_texts, look_at};
use crate::score::{Alignment, sign};

/// The scores of one or more captions of each row.
pub(crate) struct Rows {
    pub scores: Vec<SystemScores>,
    /// The signatures: system after system, one per metric.
    pub signatures: Vec<Vec<Signature>>,
    pub notices: Vec<Notice>,
}

/// Scores the captions of `systems`, one for each image of `references`; empty captions are scored as well. Notices
/// call the captions of each system by its name in `sources`.
pub(crate) fn score_rows(
    mut references: ReferenceSet,
    systems: &[System],
    sources: &[&str],
    metrics: &[AnyMetric],
    progress: &dyn Progress,
) -> Rows {
    let scores = evaluate(&mut references, systems, metrics, progress);
    let mut notices = Vec::new();
    let signatures = systems.iter().zip(sources).zip(&scores).map(|((system, source), scores)| {
        let blank: Vec<Notice> = blank(system, source).into_iter().collect();
        let alignment = Alignment { notices: &blank, subset: None, common: None };
        sign(scores, &references, alignment, &mut notices)
    });
    let signatures = signatures.collect();
    let looks: Vec<(&str, Looks)> = systems
        .iter()
        .map(|system| (system.name.as_str(), look_at(system.texts.len(), |k| system.texts.get(k))))
        .collect();
    notices.extend(about_texts(references.texts(), looks, metrics));
    Rows { scores, signatures, notices }
}

impl Rows {
    /// The scores of system `s` in each row, measure after measure.
    pub fn values(&self, s: usize) -> Vec<Vec<f64>> {
        let of_metric = |metric: &MetricScores| {
            let (n_parts, segments) = (metric.corpus.len(), metric.segments());
            (0..n_parts).map(move |part| segments.iter().skip(part).step_by(n_parts).copied().collect())
        };
        self.scores.get(s).into_iter().flat_map(|scores| &scores.metrics).flat_map(of_metric).collect()
    }
}

/// A notice about captions without any words.
fn blank(system: &System, source: &str) -> Option<Notice> {
    let is_blank = |row: &usize| system.texts.get(*row).trim().is_empty();
    let rows = || (0..system.texts.len()).filter(is_blank);
    let count = rows().count();
    let message = match count {
        0 => return None,
        1 => format!("1 candidate of {source} is empty and is scored as it is"),
        _ => format!("{count} candidates of {source} are empty and are scored as they are"),
    };
    let ids = rows().take(Notice::MAX_IDS).map(|row| SegmentId::Integer(row as i64)).collect();
    Some(Notice::applied(Argument::Empty, Empty::Keep.name(), message).count(count).ids(ids))
}
