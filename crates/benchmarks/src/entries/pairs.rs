//! Pairs of entries: how the two differ, as far as that is known, and the job that computes it.
//!
//! A row on a board is compared with the row above by the measure that sorts, and not with all others. The database
//! keeps p-values before correction; a board corrects over its own neighbours when it is read, so a new row changes
//! marks without new tests. Until a pair has been compared, the board shows only marks that its result cannot change.

use std::collections::{HashMap, HashSet};

use capeval_api::{ComparisonState, EntryPair, SubmissionKind};
use capeval_site::jobs::queue;
use capeval_site::jobs::queue::Wait;
use capeval_site::prelude::*;
use capeval_site::two_part_subject;
use capeval_stats::correction::Correction;
use capeval_tasks::{MeasureInfo, SetTests};

use super::contrasts::{self, ByImage, ContrastPair};
use super::records::SeenEntry;
use crate::board::{self, BoardQuery, Interval, LEVEL, UncomparedPair};
use crate::records::{self, ReferenceSet, SeenPhase};
use crate::settings::Phase;
use crate::{scoring, submissions};

/// Compares two submissions that need not be neighbours on a board.
pub struct ComparePair;

/// The ids of two submissions, the smaller one first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    pub one: String,
    pub other: String,
}

impl Pair {
    /// The pair of two entries.
    pub fn of([a, b]: &[SeenEntry; 2]) -> Self {
        let (a, b) = (a.submission.id.clone(), b.submission.id.clone());
        if a < b { Self { one: a, other: b } } else { Self { one: b, other: a } }
    }
}

impl Pair {
    /// The two submissions with their captions, to be compared by all reference sets of their phase.
    pub async fn to_compare(&self, app: &App) -> Result<(Phase, Vec<ReferenceSet>, UncomparedPair), Failure> {
        let one = submissions::by_id(&app.store, &self.one).await?;
        let other = submissions::by_id(&app.store, &self.other).await?;
        let phase = records::phase_of(&app.store, &one.phase).await?;
        let sets = records::all_sets(&app.store, &phase.id).await?;
        let (Some(captions), Some(others)) = (one.blob, other.blob) else {
            return Err(Failure::Lasting("people have no captions of their own to compare".to_owned()));
        };
        let pair = UncomparedPair {
            one: (one.id, captions),
            other: (other.id, others),
            sets: sets.iter().map(|set| set.id.clone()).collect(),
        };
        Ok((phase, sets, pair))
    }
}

two_part_subject!(Pair: one / other);

/// P-values by the id of the reference set and the key of the measure; `None` where there is no test.
type PValues = HashMap<(String, String), Option<f64>>;

/// The stored differences of two submissions.
async fn known_p_values(store: &Store, phase: &Phase, Pair { one, other }: &Pair) -> Result<PValues, Error> {
    let sql =
        "SELECT reference_set, metric, p FROM comparison WHERE score_set = $1 AND one = $2 AND other = $3";
    let score_set = phase.score_set.as_deref().unwrap_or_default();
    let rows: Vec<(String, String, Option<f64>)> = store.fetch(sql, args![score_set, one, other]).await?;
    Ok(rows.into_iter().map(|(set, metric, p)| ((set, metric), p)).collect())
}

/// The ids of the reference sets by which two submissions were compared.
fn compared(known: &PValues) -> HashSet<&String> {
    known.keys().map(|(set, _)| set).collect()
}

impl Work for ComparePair {
    const KIND: &'static str = "compare-pair";
    const LANE: Lane = Lane::Comparisons;
    type Subject = Pair;
    /// Their differences, and the score set that the phase showed when they were compared.
    type Output = (Option<String>, Vec<SetTests>);

    async fn run(app: &App, job: &Job<Pair>) -> Result<Self::Output, Failure> {
        let (phase, sets, mut pair) = job.subject.to_compare(app).await?;
        let known = known_p_values(&app.store, &phase, &job.subject).await?;
        let compared = compared(&known);
        pair.sets.retain(|set| !compared.contains(set));
        let tests = scoring::compare_pair(app, &phase, &sets, &pair).await?;
        Ok((phase.score_set, tests))
    }

    async fn finish(
        _: &App,
        tx: &mut Tx,
        job: &Job<Pair>,
        outcome: Result<Self::Output, String>,
    ) -> Result<()> {
        let Ok((score_set, tests)) = outcome else { return Ok(()) };
        let Pair { one, other } = &job.subject;
        Ok(scoring::write_tests(tx, &score_set.unwrap_or_default(), (one, other), &tests).await?)
    }
}

/// Two entries side by side.
pub struct SideBySide {
    pub entries: [SeenEntry; 2],
    pub progress: Progress,
    pub sets: Vec<BySet>,
    /// The two image by image; `None` if the visitor may not see that.
    pub images: Option<ByImage>,
}

/// The progress of a comparison.
#[derive(Clone, Debug)]
pub struct Progress {
    pub state: ComparisonState,
    /// The remaining wait.
    pub wait: Option<Wait>,
    /// The reason why it failed.
    pub reason: Option<String>,
}

impl Progress {
    /// The progress of the job `W` for a pair, whose result may be there.
    pub async fn of<W: Work<Subject = Pair>>(app: &App, pair: &Pair, is_done: bool) -> Result<Self, Error> {
        let mut progress = Self { state: ComparisonState::Compared, wait: None, reason: None };
        if is_done {
            return Ok(progress);
        }
        let (is_waiting, reason) = jobs::progress::<W>(&mut app.store.snapshot().await?, pair).await?;
        progress.reason = reason;
        progress.state = match (is_waiting, &progress.reason) {
            (true, _) => ComparisonState::Waiting,
            (false, Some(_)) => ComparisonState::Failed,
            (false, None) => ComparisonState::NotCompared,
        };
        if is_waiting {
            progress.wait = queue::wait(&app.store, &pair.to_string(), app.settings.workers).await?;
        }
        Ok(progress)
    }

    /// Returns true if someone can request it.
    pub fn is_open(&self) -> bool {
        matches!(self.state, ComparisonState::NotCompared | ComparisonState::Failed)
    }
}

/// Two entries by a reference set.
pub struct BySet {
    pub set: ReferenceSet,
    pub measures: Vec<ByMeasure>,
}

/// Two entries by a measure.
pub struct ByMeasure {
    pub measure: MeasureInfo,
    /// The score of each, with its interval.
    pub scores: [Option<(f64, Interval)>; 2],
    pub test: Option<Test>,
}

/// The result of the test of a measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Test {
    /// The p-value before correction.
    pub p: f64,
    /// The same corrected over the measures of the reference set.
    pub corrected: f64,
}

impl Test {
    /// Returns true if the entries differ significantly.
    pub fn differs(self) -> bool {
        self.corrected < LEVEL
    }
}

impl ByMeasure {
    /// The one of the two that is significantly better.
    pub fn better(&self) -> Option<usize> {
        self.test.filter(|test| test.differs())?;
        let [a, b] = self.scores.map(|score| board::strength(score.map(|(score, _)| score), &self.measure));
        Some(usize::from(b > a))
    }
}

/// The tests of the measures of a reference set, corrected by Holm's method.
fn tests(ps: &[Option<f64>]) -> Vec<Option<Test>> {
    let values: Vec<f64> = ps.iter().map(|p| p.unwrap_or(f64::NAN)).collect();
    let corrected = Correction::Holm.adjust(&values);
    ps.iter().zip(corrected).map(|(p, corrected)| p.map(|p| Test { p, corrected })).collect()
}

/// The entries of a phase with these ids, as far as the visitor may see both.
pub async fn entries(
    app: &App,
    of: &SeenPhase,
    [a, b]: [&str; 2],
    visitor: Option<&Visitor>,
) -> Result<[SeenEntry; 2]> {
    let a = SeenEntry::with_id(app, of.clone(), a, visitor).await?;
    Ok([a, SeenEntry::with_id(app, of.clone(), b, visitor).await?])
}

/// Two entries of a phase by all measures, with what is known of how they differ.
pub async fn side_by_side(
    app: &App,
    of: &SeenPhase,
    entries: [SeenEntry; 2],
    asked: &EntryPair,
) -> Result<SideBySide> {
    let (store, phase, pair) = (&app.store, &of.phase, Pair::of(&entries));
    let known = known_p_values(store, phase, &pair).await?;
    let [a, b] = &entries;
    let a = submissions::scores(store, phase, &a.submission.id).await?;
    let b = submissions::scores(store, phase, &b.submission.id).await?;
    let mut sets = Vec::new();
    for set in records::sets(store, of).await? {
        let key = |measure: &MeasureInfo| (set.id.clone(), measure.key.clone());
        let ps: Vec<Option<f64>> =
            set.measures.iter().map(|measure| known.get(&key(measure)).copied().flatten()).collect();
        let measures = set.measures.iter().zip(tests(&ps)).map(|(measure, test)| ByMeasure {
            scores: [&a, &b].map(|scores| scores.get(&key(measure)).copied()),
            measure: measure.clone(),
            test,
        });
        let measures: Vec<ByMeasure> = measures.filter(|by| by.scores.iter().any(Option::is_some)).collect();
        if !measures.is_empty() {
            sets.push(BySet { measures, set });
        }
    }
    let compared = compared(&known);
    let is_done = sets.iter().all(|by| compared.contains(&by.set.id));
    let mut progress = Progress::of::<ComparePair>(app, &pair, is_done).await?;
    if entries.iter().any(|entry| entry.submission.blob.is_none()) {
        progress.state = ComparisonState::NoCaptions;
    }
    let images = contrasts::by_image(app, of, &entries, &sets, asked).await?;
    Ok(SideBySide { entries, progress, sets, images })
}

/// Has two entries compared, and image by image if the visitor may see that, unless they are or are about to be.
pub async fn compare(app: &App, compared: &SideBySide) -> Result<()> {
    if compared.progress.state == ComparisonState::NoCaptions {
        return Err(fault!(CONFLICT, "no-captions", "People have no captions of their own to compare."));
    }
    let pair = Pair::of(&compared.entries);
    let mut tx = app.store.begin().await?;
    // Two who ask at once must not both miss the job of the other.
    records::phase_alone(&mut tx, &compared.entries[0].of.phase.id).await?;
    if compared.progress.is_open() {
        jobs::add_once::<ComparePair>(&mut tx, &pair, Priority::Background).await?;
    }
    if compared.images.as_ref().is_some_and(|images| images.progress.is_open()) {
        jobs::add_once::<ContrastPair>(&mut tx, &pair, Priority::Background).await?;
    }
    Ok(app.commit(tx).await?)
}

/// An entry that can be chosen: its id, and its name for people.
pub type Choice = (String, String);

/// The entries that a visitor may choose: those on the board of the phase that have captions, and those chosen already.
pub async fn choices(
    app: &App,
    of: &SeenPhase,
    visitor: Option<&Visitor>,
    chosen: &[String],
) -> Result<Vec<Choice>> {
    let sets = records::sets(&app.store, of).await?;
    let board = board::board(app, of, &sets, visitor, &BoardQuery::default()).await?;
    let board = board.ok_or_else(Fault::not_found)?;
    let rows = board.rows.iter().filter(|row| row.entry.blob.is_some());
    let mut choices: Vec<Choice> = rows.map(|row| (row.entry.id.clone(), row.entry.name())).collect();
    for id in chosen {
        if choices.iter().all(|(known, _)| known != id) {
            let entry = SeenEntry::with_id(app, of.clone(), id, visitor).await?;
            if entry.submission.kind != SubmissionKind::Human {
                choices.push((id.clone(), entry.name()));
            }
        }
    }
    Ok(choices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_one_in_either_order() {
        let pair = Pair { one: "a".to_owned(), other: "b".to_owned() };
        assert_eq!(pair.to_string().parse(), Ok(pair));
        assert!("ab".parse::<Pair>().is_err());
    }

    #[test]
    fn measures_without_a_test_do_not_count_in_the_correction() {
        let found = tests(&[Some(0.02), None, Some(0.03)]);
        assert_eq!(
            found,
            [Some(Test { p: 0.02, corrected: 0.04 }), None, Some(Test { p: 0.03, corrected: 0.04 })]
        );
        assert!(found[0].unwrap().differs() && !tests(&[Some(0.03); 2])[0].unwrap().differs());
    }
}
