//! Scores rows of captions that each have their own references, as in studies of ratings and of pairs.

use capeval_choice::Argument;
use capeval_corpus::{Empty, SegmentId};
use capeval_evaluate::{MetricScores, Progress, ReadSystems, ReferenceSet, Sessions, System, SystemScores};
use capeval_metric::{AnyMetric, Signature};
use capeval_report::{GroupFrequencies, Notice};
use capeval_text::Looks;

use crate::findings::Findings;
use crate::given::GivenMetric;
use crate::notices::{about_texts, look_at};
use crate::signing::Signing;

/// The scores of one or more captions of each row.
pub(crate) struct Rows<'s> {
    systems: &'s [System],
    metrics: &'s [AnyMetric],
    pub references: ReferenceSet,
    sessions: Sessions,
    pub scores: Vec<SystemScores>,
    /// The signatures of the first caption's scores, one per metric.
    pub signatures: Vec<Signature>,
    pub notices: Vec<Notice>,
}

/// Captions of rows, read once; each system has a caption for each row.
pub(crate) struct RowScorer<'s> {
    systems: &'s [System],
    /// The name of the captions of each system in notices.
    sources: &'s [&'s str],
    metrics: &'s [AnyMetric],
    read: ReadSystems<'s>,
}

impl<'s> RowScorer<'s> {
    pub fn new(systems: &'s [System], sources: &'s [&'s str], metrics: &'s [AnyMetric]) -> Self {
        Self { systems, sources, metrics, read: ReadSystems::new(systems, metrics) }
    }

    /// Scores the captions against references, an image for each row; empty captions are scored as well. `hashes` are
    /// those of given scores, by measure; `keeps` keeps what groups of rows are scored from.
    pub fn score(
        &self,
        mut references: ReferenceSet,
        hashes: &[(String, String)],
        keeps: bool,
        progress: &dyn Progress,
    ) -> Rows<'s> {
        let Self { systems, sources, metrics, read } = self;
        let (scores, sessions) = read.evaluate_and_keep(&mut references, metrics, keeps, progress);
        let mut found = Findings::default();
        let reads_captions = metrics.iter().any(|metric| !GivenMetric::is(metric));
        let sign = |((system, source), scores): ((&System, &&str), &SystemScores)| {
            let blank = blank(system, source).filter(|_| reads_captions);
            let signing = Signing { notices: blank.as_slice(), given: hashes, ..Signing::default() };
            signing.sign(scores, &references, &mut found)
        };
        let signed: Vec<Vec<Signature>> = systems.iter().zip(*sources).zip(&scores).map(sign).collect();
        let look = |system: &'s System| -> (&str, Looks) {
            (&system.name, look_at(system.texts.len(), |k| system.texts.get(k)))
        };
        found.add(about_texts(references.texts(), systems.iter().map(look).collect(), metrics));
        let signatures = signed.into_iter().next().unwrap_or_default();
        Rows { systems, metrics, references, sessions, scores, signatures, notices: found.into() }
    }
}

impl Rows<'_> {
    /// The scores of system `s` on some rows, if what they need was kept.
    pub fn of_some(&self, s: usize, frequencies: GroupFrequencies, rows: &[u32]) -> SystemScores {
        let whole = &self.scores[s];
        match frequencies {
            GroupFrequencies::All => whole.select(rows),
            GroupFrequencies::Own => {
                self.sessions.evaluate_some(&self.references, (self.systems, s), self.metrics, whole, rows)
            }
        }
    }
}

/// The scores of a system in each row, measure after measure.
pub(crate) fn values(scores: &SystemScores) -> Vec<Vec<f64>> {
    let of_metric = |metric: &MetricScores| {
        let (n_parts, segments) = (metric.corpus.len(), metric.segments());
        (0..n_parts).map(move |part| segments.iter().skip(part).step_by(n_parts).copied().collect())
    };
    scores.metrics.iter().flat_map(of_metric).collect()
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
