//! Ranks over several measures: the numbers that a phase's rule computes from ranks become measures of its boards.

use capeval_api::SubmissionKind;
use capeval_choice::Refusal;
use capeval_report::{Direction, RankColumn, RankRule, RankScore, RankTies};
use capeval_tasks::MeasureInfo;

use super::order::Candidate;
use crate::records::ReferenceSet;
use crate::settings::Phase;

/// Reads the rule of a phase over these measures.
///
/// # Errors
/// If they lack one that it names.
pub fn check_rank_rule(phase: &Phase, measures: &[MeasureInfo]) -> Result<RankRule, Refusal> {
    let direction = |measure: &MeasureInfo| match measure.lower_is_better {
        true => Direction::LowerIsBetter,
        false => Direction::HigherIsBetter,
    };
    let measures = measures.iter().map(|measure| (measure.key.as_str(), direction(measure)));
    RankRule::parse(&phase.rank_by, RankTies::default(), measures)
}

/// The rule of a phase over the measures of a reference set; `None` if it has no rule, or the set lacks a measure.
fn rule(phase: &Phase, set: &ReferenceSet) -> Option<RankRule> {
    check_rank_rule(phase, &set.measures).ok()
}

/// A number of a rule as a measure; `None` for one that is a measure already.
fn made(column: &RankColumn) -> Option<MeasureInfo> {
    let score = column.score?;
    Some(MeasureInfo {
        key: column.name.clone(),
        label: column.name.clone(),
        lower_is_better: column.lower_is_better,
        is_count: score != RankScore::MeanRank,
        group: None,
    })
}

/// The measures by which the board of a reference set is ordered, the one that decides first in front; none if it has
/// no scores yet.
pub fn ranking(phase: &Phase, set: &ReferenceSet) -> Vec<MeasureInfo> {
    let Some(rule) = rule(phase, set) else { return set.main_measure(phase).cloned().into_iter().collect() };
    let own = |key: &str| set.measures.iter().find(|measure| measure.key == key).cloned();
    let columns = rule.columns(0, |_| false, |_, _| None);
    columns.iter().filter_map(|column| made(column).or_else(|| own(&column.name))).collect()
}

/// Returns true if a key is that of a number that the rule makes of ranks.
pub fn is_made(phase: &Phase, set: &ReferenceSet, key: &str) -> bool {
    ranking(phase, set).iter().any(|one| one.key == key && !set.measures.contains(one))
}

/// A reference set with the numbers of the rule in front of its measures.
pub fn with_ranks(phase: &Phase, set: &ReferenceSet) -> ReferenceSet {
    let mut set = set.clone();
    let made = ranking(phase, &set).into_iter().filter(|one| !set.measures.contains(one));
    set.measures = made.collect::<Vec<_>>().into_iter().chain(set.measures).collect();
    set
}

/// Gives all rows of a board the numbers of the rule, of which only entries take ranks from each other.
pub fn add(rows: &mut [Candidate], phase: &Phase, set: &ReferenceSet) {
    let Some(rule) = rule(phase, set) else { return };
    let columns = rule.columns(
        rows.len(),
        |row| rows[row].kind == SubmissionKind::Entry,
        |row, key| rows[row].scores.get(key).map(|(score, _)| *score),
    );
    for column in columns.into_iter().filter(|column| column.score.is_some()) {
        for (row, value) in rows.iter_mut().zip(column.values) {
            row.scores.extend(value.map(|value| (column.name.clone(), (value, None))));
        }
    }
}
