//! The order of a board: which submission stands for a team, its place, and how scores are rounded.

use std::collections::HashMap;

use capeval_api::SubmissionKind;
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
    /// Whether it does not differ significantly from the row above; `None` if they were not compared.
    pub is_tied: Option<bool>,
}

/// The order of a board: for each team its pinned submission, or else its best by `main`; then by `sort`, the best
/// first, and of equal scores the one that came first.
pub fn order(candidates: Vec<Candidate>, main: &Described, sort: &Described) -> Vec<Row> {
    // Higher is better for a key made of a score.
    let strength = |candidate: &Candidate, measure: &Described| {
        let score = candidate
            .scores
            .get(&measure.key)
            .map_or(f64::NEG_INFINITY, |(score, _)| if measure.lower_is_better { -score } else { *score });
        if score.is_nan() { f64::NEG_INFINITY } else { score }
    };
    let mut best: HashMap<String, Candidate> = HashMap::new();
    let mut rows: Vec<Candidate> = Vec::new();
    for candidate in candidates {
        let Some(team) = candidate.team.clone() else {
            rows.push(candidate);
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
    rows.extend(best.into_values());
    rows.sort_by(|a, b| {
        let strengths = strength(b, sort).total_cmp(&strength(a, sort));
        strengths.then(a.created_at.cmp(&b.created_at)).then_with(|| a.id.cmp(&b.id))
    });
    let (mut place, mut last) = (0, None);
    let mut counted = 0;
    rows.into_iter()
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
            Row { rank, entry, is_tied: None }
        })
        .collect()
}

/// Marks rows that do not differ from the one above, by what is known of pairs.
pub fn mark_ties(rows: &mut [Row], known: &HashMap<(String, String), bool>) {
    let mut above: Option<String> = None;
    for row in rows {
        // The row of people has no captions, and nothing was compared with it.
        let own = row.entry.blob.as_ref().map(|_| row.entry.id.clone());
        if let (Some(above), Some(own)) = (std::mem::replace(&mut above, own.clone()), own) {
            row.is_tied = known.get(&(above, own)).map(|differs| !differs);
        }
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
        let rows = order(candidates, &measure(lower_is_better), &measure(lower_is_better));
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

    #[test]
    fn a_row_is_tied_with_the_row_above_and_no_other() {
        let mut rows: Vec<Row> = ["a", "people", "b", "c"]
            .into_iter()
            .map(|id| {
                let blob = (id != "people").then(|| id.to_owned());
                let entry = Candidate { blob, ..candidate(id, Some(id), Some(0.5), false) };
                Row { rank: None, entry, is_tied: None }
            })
            .collect();
        let pair = |above: &str, below: &str| ((above.to_owned(), below.to_owned()), false);
        mark_ties(&mut rows, &HashMap::from([pair("a", "b"), pair("b", "c"), pair("a", "people")]));
        let ties: Vec<Option<bool>> = rows.iter().map(|row| row.is_tied).collect();
        assert_eq!(ties, [None, None, None, Some(true)]);
    }
}
