//! The order of a board: which submission stands for a team, its place, and how scores are rounded.

use std::collections::HashMap;

use capeval_api::SubmissionKind;
use capeval_stats::correction::Correction;
use capeval_tasks::Described;
use serde::Deserialize;

/// A scored submission, as it competes for its place.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Candidate {
    pub id: String,
    pub kind: SubmissionKind,
    /// The id of the team.
    pub team: Option<String>,
    /// Empty for baselines and people.
    pub team_name: String,
    pub method: String,
    /// A link to more.
    pub link: String,
    /// The hash of the captions.
    pub blob: Option<String>,
    /// Whether its team chose it for the board.
    pub is_pinned: bool,
    pub created_at: i64,
    #[serde(skip)]
    pub scores: Scores,
}

/// Scores by measure, with their intervals.
pub type Scores = HashMap<String, (f64, Option<(f64, f64)>)>;

/// A row of a board.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The place; equal scores share one. `None` for baselines and the human row.
    pub rank: Option<usize>,
    pub entry: Candidate,
    /// The p-value of the difference from the row above by the measure that sorts, before correction.
    pub p: Option<f64>,
    /// Whether it does not differ significantly from the row above; `None` if that is not known.
    pub is_tied: Option<bool>,
}

/// The id of a submission, and the hash of its captions.
pub type WithCaptions = (String, String);

/// The p-values of pairs of submissions, the smaller id first; `None` where there is no test.
pub type Tests = HashMap<(String, String), Option<f64>>;

/// The level of the tests on boards, computed as `capeval::compare` does.
const LEVEL: f64 = 1.0 - 0.95;

/// A number that is the higher the better.
fn strength(candidate: &Candidate, measure: &Described) -> f64 {
    let score = candidate
        .scores
        .get(&measure.key)
        .map_or(f64::NEG_INFINITY, |(score, _)| if measure.lower_is_better { -score } else { *score });
    if score.is_nan() { f64::NEG_INFINITY } else { score }
}

/// What stands on a board: for each team its pinned submission, or else its best by `main`; of equal ones, the first.
pub fn standing_for_teams(candidates: Vec<Candidate>, main: &Described) -> Vec<Candidate> {
    let mut best: HashMap<String, Candidate> = HashMap::new();
    let mut standing: Vec<Candidate> = Vec::new();
    for candidate in candidates {
        let Some(team) = candidate.team.clone() else {
            standing.push(candidate);
            continue;
        };
        let is_better = best.get(&team).is_none_or(|known| {
            let by_score = strength(&candidate, main).total_cmp(&strength(known, main));
            let by_choice = candidate.is_pinned.cmp(&known.is_pinned);
            by_choice.then(by_score).then(known.created_at.cmp(&candidate.created_at)).is_gt()
        });
        if is_better {
            best.insert(team, candidate);
        }
    }
    standing.extend(best.into_values());
    standing
}

/// The order of a board by `sort`, the best first, and of equal scores the one that came first.
pub fn order(mut standing: Vec<Candidate>, sort: &Described) -> Vec<Row> {
    standing.sort_by(|a, b| {
        let strengths = strength(b, sort).total_cmp(&strength(a, sort));
        strengths.then(a.created_at.cmp(&b.created_at)).then_with(|| a.id.cmp(&b.id))
    });
    let (mut place, mut last) = (0, None);
    let mut counted = 0;
    standing
        .into_iter()
        .map(|entry| {
            let rank = (entry.kind == SubmissionKind::Entry).then(|| {
                counted += 1;
                let own = strength(&entry, sort);
                if last != Some(own) {
                    place = counted;
                    last = Some(own);
                }
                place
            });
            Row { rank, entry, p: None, is_tied: None }
        })
        .collect()
}

/// Two submissions as pairs are stored; `None` if one is the row of people, which has no captions to compare.
pub fn neighbours(above: &Candidate, below: &Candidate) -> Option<(WithCaptions, WithCaptions)> {
    let with_captions = |candidate: &Candidate| Some((candidate.id.clone(), candidate.blob.clone()?));
    let (above, below) = (with_captions(above)?, with_captions(below)?);
    Some(if above.0 < below.0 { (above, below) } else { (below, above) })
}

/// Marks rows that do not differ from the one above, by what is known of pairs, corrected by Holm's method over all
/// neighbours. While some of them are not compared yet, rows are marked only where these cannot change the verdict.
pub fn mark_ties(rows: &mut [Row], known: &Tests) {
    let tests: Vec<(usize, Option<f64>)> = (1..rows.len())
        .filter_map(|k| {
            let (one, other) = neighbours(&rows[k - 1].entry, &rows[k].entry)?;
            match known.get(&(one.0, other.0)) {
                None => Some((k, None)),
                Some(None) => None,
                Some(Some(p)) => Some((k, Some(*p))),
            }
        })
        .collect();
    let corrected = |unknown: f64| {
        let values: Vec<f64> = tests.iter().map(|(_, p)| p.unwrap_or(unknown)).collect();
        Correction::Holm.adjust(&values)
    };
    for ((k, p), (least, most)) in tests.iter().zip(corrected(0.0).into_iter().zip(corrected(1.0))) {
        let is_decided = p.is_some() && (least < LEVEL) == (most < LEVEL);
        rows[*k].p = *p;
        rows[*k].is_tied = is_decided.then_some(least >= LEVEL);
    }
}

/// A score as the phase rounds it.
pub fn rounded(value: f64, measure: &Described, decimals: usize) -> f64 {
    let digits = if measure.is_count { 0 } else { decimals };
    format!("{value:.digits$}").parse().unwrap_or(value)
}

/// A score as people see it.
pub fn shown(value: f64, measure: &Described, decimals: usize) -> String {
    capeval_report::fixed(value, if measure.is_count { 0 } else { decimals })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(lower_is_better: bool) -> Described {
        Described { key: "m".to_owned(), label: "M".to_owned(), lower_is_better, is_count: false }
    }

    fn candidate(id: &str, team: Option<&str>, score: Option<f64>, is_pinned: bool) -> Candidate {
        Candidate {
            id: id.to_owned(),
            kind: if team.is_some() { SubmissionKind::Entry } else { SubmissionKind::Baseline },
            team: team.map(str::to_owned),
            team_name: String::new(),
            method: String::new(),
            link: String::new(),
            blob: None,
            is_pinned,
            created_at: i64::from(id.as_bytes()[0]),
            scores: score.map(|score| ("m".to_owned(), (score, None))).into_iter().collect(),
        }
    }

    fn ordered(candidates: Vec<Candidate>, lower_is_better: bool) -> String {
        let measure = measure(lower_is_better);
        let rows = order(standing_for_teams(candidates, &measure), &measure);
        let shown = rows.iter().map(|row| {
            format!("{}{}", row.entry.id, row.rank.map_or("-".to_owned(), |rank| rank.to_string()))
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_team_stands_with_its_best_or_its_pinned_submission() {
        let rows = vec![
            candidate("a", Some("x"), Some(0.3), false),
            candidate("b", Some("x"), Some(0.5), false),
            candidate("c", Some("y"), Some(0.9), false),
            candidate("d", Some("y"), Some(0.4), true),
            candidate("e", None, Some(0.45), false),
            candidate("f", Some("z"), Some(0.4), false),
            candidate("g", Some("w"), Some(0.1), false),
        ];
        assert_eq!(ordered(rows.clone(), false), "b1 e- d2 f2 g4");
        assert_eq!(ordered(rows, true), "g1 a2 d3 f3 e-");
    }

    #[test]
    fn what_has_no_score_comes_last_and_ties_go_to_the_first() {
        let rows = vec![
            candidate("a", Some("x"), None, false),
            candidate("b", Some("y"), Some(f64::NAN), false),
            candidate("c", Some("z"), Some(-1.0), false),
            candidate("e", Some("w"), Some(0.2), false),
            candidate("d", Some("w"), Some(0.2), false),
        ];
        assert_eq!(ordered(rows, false), "d1 c2 a3 b3");
    }

    /// Rows `a`, `b`, … with the p-values of neighbours: `Some(None)` where there is no test, `None` where nothing is
    /// known yet.
    fn marked(ps: &[Option<Option<f64>>]) -> Vec<Option<bool>> {
        let ids: Vec<String> = (b'a'..).take(ps.len() + 1).map(|id| char::from(id).to_string()).collect();
        let mut rows: Vec<Row> = ids
            .iter()
            .map(|id| {
                let entry = Candidate { blob: Some(id.clone()), ..candidate(id, Some(id), Some(0.5), false) };
                Row { rank: None, entry, p: None, is_tied: None }
            })
            .collect();
        let pairs = ids.windows(2).zip(ps);
        let known = pairs.filter_map(|(pair, p)| Some(((pair[0].clone(), pair[1].clone()), (*p)?)));
        mark_ties(&mut rows, &known.collect());
        rows.iter().skip(1).map(|row| row.is_tied).collect()
    }

    #[test]
    fn neighbours_are_corrected_by_holm() {
        let p = |value: f64| Some(Some(value));
        assert_eq!(marked(&[p(0.049)]), [Some(false)]);
        assert_eq!(marked(&[p(0.049), p(0.026)]), [Some(true), Some(true)]);
        assert_eq!(marked(&[p(0.049), p(0.024)]), [Some(false), Some(false)]);
        assert_eq!(marked(&[p(0.049), p(0.024), Some(None)]), [Some(false), Some(false), None]);
        assert_eq!(marked(&[p(0.03), p(0.001), p(0.026)]), [Some(true), Some(false), Some(true)]);
    }

    #[test]
    fn what_is_not_compared_yet_leaves_only_what_it_cannot_change() {
        let p = |value: f64| Some(Some(value));
        assert_eq!(marked(&[p(0.2), None, p(0.001)]), [Some(true), None, Some(false)]);
        assert_eq!(marked(&[p(0.03), None]), [None, None]);
    }

    #[test]
    fn a_row_is_tied_with_the_row_above_and_no_other() {
        let mut rows: Vec<Row> = ["a", "people", "c", "b"]
            .into_iter()
            .map(|id| {
                let blob = (id != "people").then(|| id.to_owned());
                let entry = Candidate { blob, ..candidate(id, Some(id), Some(0.5), false) };
                Row { rank: None, entry, p: None, is_tied: None }
            })
            .collect();
        let pair = |one: &str, other: &str| ((one.to_owned(), other.to_owned()), Some(0.5));
        mark_ties(&mut rows, &HashMap::from([pair("a", "b"), pair("b", "c"), pair("a", "people")]));
        let ties: Vec<Option<bool>> = rows.iter().map(|row| row.is_tied).collect();
        assert_eq!(ties, [None, None, None, Some(true)]);
    }
}
