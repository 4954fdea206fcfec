//! Orders a board: which submission stands for a team, its place, and how scores are rounded.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use capeval_api::{FinalRule, SubmissionKind};
use capeval_site::store;
use capeval_stats::correction::Correction;
use capeval_tasks::MeasureInfo;
use serde::Deserialize;

use crate::about::MethodDetails;

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
    pub method_details: MethodDetails,
    /// The hash of the captions.
    pub blob: Option<String>,
    pub created_at: i64,
    #[serde(deserialize_with = "store::json")]
    pub scores: Scores,
}

/// A scored submission that may stand for its team.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Contender {
    pub id: String,
    /// By the measure that ranks.
    pub score: Option<f64>,
    /// True if its team chose it for the board.
    pub is_pinned: bool,
    /// True if its team chose it for the private half.
    pub is_chosen: bool,
    pub created_at: i64,
}

/// The ends of a confidence interval, of a score that has one.
pub type Interval = Option<(f64, f64)>;

/// Scores by measure, with their intervals.
pub type Scores = HashMap<String, (f64, Interval)>;

/// A row of a board.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The place; equal scores share one. `None` for baselines and the human row.
    pub rank: Option<usize>,
    /// On the board of a private half, the place of the team on that of the public one.
    pub public_rank: Option<usize>,
    pub entry: Arc<Candidate>,
    /// The nearest row above on the whole board that has captions to compare, if this one has some; that of people has
    /// none, and is passed over.
    pub above: Option<Arc<Candidate>>,
    /// The p-value of the difference from the row above by the measure that sorts, before correction.
    pub p: Option<f64>,
    /// True if it does not differ significantly from the row above; `None` if that is not known.
    pub is_tied: Option<bool>,
}

/// The id of a submission, and the hash of its captions.
pub type WithCaptions = (String, String);

/// The p-values of pairs of submissions, the smaller id first; `None` where there is no test.
pub type Tests = HashMap<(String, String), Option<f64>>;

/// The level of the tests on boards, computed as `capeval::compare` does.
pub const LEVEL: f64 = 1.0 - 0.95;

/// A number that is the higher the better a score is.
pub fn strength(score: Option<f64>, measure: &MeasureInfo) -> f64 {
    match score {
        Some(score) if score.is_nan() => f64::NEG_INFINITY,
        Some(score) if measure.lower_is_better => -score,
        Some(score) => score,
        None => f64::NEG_INFINITY,
    }
}

/// The name of a submission: the team with the method, or the method of one that has no team.
pub fn entry_name(team: &str, method: &str) -> String {
    if team.is_empty() { method.to_owned() } else { format!("{team} ({method})") }
}

impl Candidate {
    /// Its name: the team with the method, or the method of a baseline.
    pub fn name(&self) -> String {
        entry_name(&self.team_name, &self.method)
    }

    /// Its score by a measure.
    pub fn score(&self, measure: &MeasureInfo) -> Option<f64> {
        self.scores.get(&measure.key).map(|(score, _)| *score)
    }
}

/// The submission that stands on a board for a team: its pinned one, or else its best by `main`; of equal ones, the
/// first.
pub fn standing_for_team(contenders: Vec<Contender>, main: &MeasureInfo) -> Option<Contender> {
    contenders.into_iter().reduce(|best, other| {
        let by_choice = other.is_pinned.cmp(&best.is_pinned);
        let by_score = strength(other.score, main).total_cmp(&strength(best.score, main));
        let is_better = by_choice.then(by_score).then(best.created_at.cmp(&other.created_at)).is_gt();
        if is_better { other } else { best }
    })
}

/// The submission that stands for a team on the board of a private half: by the rule of the phase, or else the one that
/// stands on that of the public half, which is `public`.
pub fn final_for_team(
    rule: FinalRule,
    mut contenders: Vec<Contender>,
    main: &MeasureInfo,
    public: Option<&String>,
) -> Option<Contender> {
    match rule {
        FinalRule::Last => {
            contenders.into_iter().max_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)))
        }
        FinalRule::Chosen if contenders.iter().any(|one| one.is_chosen) => {
            contenders.retain(|one| one.is_chosen);
            // Which one stands on the other board does not matter here.
            contenders.iter_mut().for_each(|one| one.is_pinned = false);
            standing_for_team(contenders, main)
        }
        _ => contenders.into_iter().find(|one| Some(&one.id) == public),
    }
}

/// The submissions that have stood on a board for a team: each that was its best by `main` when it came, in their
/// order. Of a team that has pinned one, only that one is known to have stood.
pub fn past_of_team(mut contenders: Vec<Contender>, main: &MeasureInfo) -> Vec<Contender> {
    if contenders.iter().any(|one| one.is_pinned) {
        contenders.retain(|one| one.is_pinned);
    }
    contenders.sort_by(|a, b| a.created_at.cmp(&b.created_at).then_with(|| a.id.cmp(&b.id)));
    let mut best = None;
    contenders.retain(|one| {
        let own = strength(one.score, main);
        let is_better = best.is_none_or(|best: f64| own.total_cmp(&best).is_gt());
        if is_better {
            best = Some(own);
        }
        is_better
    });
    contenders
}

/// The order of a board by the first of the measures `sort`, then the next one, the best first, and of equal scores the
/// one that came first.
pub fn order(mut standing: Vec<Arc<Candidate>>, sort: &[MeasureInfo]) -> Vec<Row> {
    let compare = |a: &Candidate, b: &Candidate| {
        let by =
            |measure| strength(b.score(measure), measure).total_cmp(&strength(a.score(measure), measure));
        sort.iter().map(by).fold(Ordering::Equal, Ordering::then)
    };
    standing
        .sort_by(|a, b| compare(a, b).then(a.created_at.cmp(&b.created_at)).then_with(|| a.id.cmp(&b.id)));
    let (mut place, mut last) = (0, None::<Arc<Candidate>>);
    let mut counted = 0;
    standing
        .into_iter()
        .map(|entry| {
            let rank = (entry.kind == SubmissionKind::Entry).then(|| {
                counted += 1;
                if last.as_ref().is_none_or(|last| compare(last, &entry).is_ne()) {
                    place = counted;
                    last = Some(entry.clone());
                }
                place
            });
            Row { rank, public_rank: None, entry, above: None, p: None, is_tied: None }
        })
        .collect()
}

/// The places of rows that are compared: each with captions, and the nearest above it that has some, too.
pub fn neighbours(rows: &[Row]) -> Vec<(usize, usize)> {
    let compared: Vec<usize> = (0..rows.len()).filter(|k| rows[*k].entry.blob.is_some()).collect();
    compared.iter().copied().zip(compared.iter().copied().skip(1)).collect()
}

/// Two submissions as pairs are stored; `None` if one has no captions.
pub fn pair(above: &Candidate, below: &Candidate) -> Option<(WithCaptions, WithCaptions)> {
    let with_captions = |candidate: &Candidate| Some((candidate.id.clone(), candidate.blob.clone()?));
    let (above, below) = (with_captions(above)?, with_captions(below)?);
    Some(if above.0 < below.0 { (above, below) } else { (below, above) })
}

/// Marks rows that do not differ from the one above, by what is known of pairs, corrected by Holm's method over all
/// neighbours. While some of them are not compared yet, rows are marked only where these cannot change the verdict.
pub fn mark_ties(rows: &mut [Row], known: &Tests) {
    let tests: Vec<(usize, Option<f64>)> = neighbours(rows)
        .into_iter()
        .filter_map(|(above, k)| {
            let above = rows[above].entry.clone();
            let (one, other) = pair(&above, &rows[k].entry)?;
            rows[k].above = Some(above);
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

/// The decimals of a measure in a phase that shows scores with so many.
pub fn shown_decimals(measure: &MeasureInfo, decimals: usize) -> usize {
    if measure.is_count { 0 } else { decimals }
}

/// A score as the phase rounds it.
pub fn rounded(value: f64, measure: &MeasureInfo, decimals: usize) -> f64 {
    rounded_to(value, shown_decimals(measure, decimals))
}

/// A number rounded as if it were written with so many decimals and read again, which a board needs thousands of times;
/// this is eight times as fast. The quotient of two whole numbers that floats hold exactly is the float nearest to the
/// decimal number, and which whole number is meant is in doubt only in the middle between two.
fn rounded_to(value: f64, decimals: usize) -> f64 {
    let unit = 10_f64.powi(decimals.min(18) as i32);
    let scaled = value * unit;
    let is_clear = scaled.abs() < 1e9 && (scaled.fract().abs() - 0.5).abs() > 1e-6;
    if is_clear && decimals <= 18 {
        scaled.round() / unit
    } else {
        format!("{value:.decimals$}").parse().unwrap_or(value)
    }
}

/// A score as people see it.
pub fn score_text(value: f64, measure: &MeasureInfo, decimals: usize) -> String {
    capeval_report::fixed(value, shown_decimals(measure, decimals))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(lower_is_better: bool) -> MeasureInfo {
        MeasureInfo {
            key: "m".to_owned(),
            label: "M".to_owned(),
            lower_is_better,
            is_count: false,
            group: None,
        }
    }

    fn candidate(id: &str, team: Option<&str>, score: Option<f64>) -> Candidate {
        Candidate {
            id: id.to_owned(),
            kind: if team.is_some() { SubmissionKind::Entry } else { SubmissionKind::Baseline },
            team: team.map(str::to_owned),
            team_name: String::new(),
            method: String::new(),
            link: String::new(),
            method_details: MethodDetails::default(),
            blob: None,
            created_at: i64::from(id.as_bytes()[0]),
            scores: score.map(|score| ("m".to_owned(), (score, None))).into_iter().collect(),
        }
    }

    fn ordered(candidates: Vec<Candidate>, lower_is_better: bool) -> String {
        let candidates = candidates.into_iter().map(Arc::new).collect();
        let rows = order(candidates, &[measure(lower_is_better)]);
        let shown = rows.iter().map(|row| {
            format!("{}{}", row.entry.id, row.rank.map_or("-".to_owned(), |rank| rank.to_string()))
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    /// The id of what stands for a team with these submissions: their scores, and which one is pinned.
    fn stands(scores: &[Option<f64>], pinned: Option<usize>, lower_is_better: bool) -> usize {
        let contenders = scores.iter().enumerate().map(|(k, score)| Contender {
            id: k.to_string(),
            score: *score,
            is_pinned: pinned == Some(k),
            is_chosen: false,
            created_at: k as i64,
        });
        // Rows come in any order.
        let standing = standing_for_team(contenders.rev().collect(), &measure(lower_is_better));
        standing.and_then(|standing| standing.id.parse().ok()).unwrap_or(usize::MAX)
    }

    #[test]
    fn a_team_stands_with_its_best_or_its_pinned_submission() {
        let scores = [Some(0.3), Some(0.5), None, Some(0.5), Some(f64::NAN)];
        assert_eq!(stands(&scores, None, false), 1);
        assert_eq!(stands(&scores, None, true), 0);
        assert_eq!(stands(&scores, Some(2), false), 2);
        assert_eq!(stands(&[], None, false), usize::MAX);
    }

    #[test]
    fn equal_scores_share_a_place_and_baselines_have_none() {
        let rows = vec![
            candidate("b", Some("x"), Some(0.5)),
            candidate("d", Some("y"), Some(0.4)),
            candidate("e", None, Some(0.45)),
            candidate("f", Some("z"), Some(0.4)),
            candidate("g", Some("w"), Some(0.1)),
        ];
        assert_eq!(ordered(rows.clone(), false), "b1 e- d2 f2 g4");
        assert_eq!(ordered(rows, true), "g1 d2 f2 e- b4");
    }

    #[test]
    fn what_has_no_score_comes_last_and_ties_go_to_the_first() {
        let rows = vec![
            candidate("a", Some("x"), None),
            candidate("b", Some("y"), Some(f64::NAN)),
            candidate("c", Some("z"), Some(-1.0)),
            candidate("e", Some("v"), Some(0.2)),
            candidate("d", Some("w"), Some(0.2)),
        ];
        assert_eq!(ordered(rows, false), "d1 e1 c3 a4 b4");
    }

    fn unranked(entry: Candidate) -> Row {
        Row { rank: None, public_rank: None, entry: Arc::new(entry), above: None, p: None, is_tied: None }
    }

    /// Rows `a`, `b`, … with the p-values of neighbours: `Some(None)` where there is no test, `None` where nothing is
    /// known yet.
    fn marked(ps: &[Option<Option<f64>>]) -> Vec<Option<bool>> {
        let ids: Vec<String> = (b'a'..).take(ps.len() + 1).map(|id| char::from(id).to_string()).collect();
        let mut rows: Vec<Row> = ids
            .iter()
            .map(|id| {
                let entry = Candidate { blob: Some(id.clone()), ..candidate(id, Some(id), Some(0.5)) };
                unranked(entry)
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
    fn a_row_is_tied_with_the_system_above_and_no_other() {
        let mut rows: Vec<Row> = ["people", "a", "people", "c", "b", "people"]
            .into_iter()
            .map(|id| {
                let blob = (id != "people").then(|| id.to_owned());
                let entry = Candidate { blob, ..candidate(id, Some(id), Some(0.5)) };
                unranked(entry)
            })
            .collect();
        let pair = |one: &str, other: &str| ((one.to_owned(), other.to_owned()), Some(0.5));
        mark_ties(&mut rows, &HashMap::from([pair("a", "b"), pair("a", "c"), pair("a", "people")]));
        let above: Vec<Option<&str>> =
            rows.iter().map(|row| row.above.as_ref().map(|above| above.id.as_str())).collect();
        assert_eq!(above, [None, None, None, Some("a"), Some("c"), None]);
        // `b` is below `c`, with which it has not been compared; that `a` is like it says nothing.
        let ties: Vec<Option<bool>> = rows.iter().map(|row| row.is_tied).collect();
        assert_eq!(ties, [None, None, None, Some(true), None, None]);
    }

    #[test]
    fn numbers_are_rounded_as_they_are_written() {
        let ties = [0.5, 1.5, 0.125, 0.0005, 1.0005, 2.675, -0.0004, 0.0, -0.0, 1e300, f64::INFINITY];
        let many = (0..20_000).map(|k| f64::from(k).sin() * 10_f64.powi(k % 13 - 3));
        for value in many.chain(ties).chain(ties.map(|tie| -tie)) {
            for decimals in 0..13 {
                let written: f64 = format!("{value:.decimals$}").parse().unwrap();
                let rounded = rounded_to(value, decimals);
                assert_eq!(rounded.to_bits(), written.to_bits(), "{value} with {decimals} decimals");
            }
        }
        assert!(rounded_to(f64::NAN, 3).is_nan());
    }

    #[test]
    fn a_team_has_stood_with_each_of_its_bests() {
        let one = |id: &str, score, is_pinned, created_at| Contender {
            id: id.to_owned(),
            score,
            is_pinned,
            is_chosen: false,
            created_at,
        };
        let past = |contenders: &[Contender], lower_is_better| {
            let past = past_of_team(contenders.to_vec(), &measure(lower_is_better));
            past.into_iter().map(|one| one.id).collect::<String>()
        };
        let contenders = [
            one("c", Some(0.5), false, 3),
            one("a", Some(0.2), false, 1),
            one("d", Some(0.4), false, 4),
            one("b", Some(0.2), false, 2),
            one("e", Some(f64::NAN), false, 5),
        ];
        assert_eq!(past(&contenders, false), "ac");
        assert_eq!(past(&contenders, true), "a");
        let pinned = [&contenders[..], &[one("f", Some(0.1), true, 6)]].concat();
        assert_eq!(past(&pinned, false), "f");
        assert_eq!(past(&[], false), "");
    }

    /// Ids grow with time, also within a millisecond.
    #[test]
    fn of_submissions_at_one_time_the_one_with_the_greatest_id_is_the_last() {
        let one = |id: &str| Contender {
            id: id.to_owned(),
            score: None,
            is_pinned: false,
            is_chosen: false,
            created_at: 7,
        };
        for order in [["a", "b", "c"], ["c", "a", "b"], ["b", "c", "a"]] {
            let contenders = order.map(one).to_vec();
            let last = final_for_team(FinalRule::Last, contenders, &measure(false), None);
            assert_eq!(last.map(|last| last.id).as_deref(), Some("c"), "{order:?}");
        }
    }

    #[test]
    fn the_rule_decides_what_stands_on_a_private_half() {
        let one = |id: &str, score, is_chosen| Contender {
            id: id.to_owned(),
            score: Some(score),
            is_pinned: id == "a",
            is_chosen,
            created_at: i64::from(id.as_bytes()[0]),
        };
        let last = |rule, contenders: &[Contender], public: &str| {
            let public = Some(public.to_owned()).filter(|public| !public.is_empty());
            let last = final_for_team(rule, contenders.to_vec(), &measure(false), public.as_ref());
            last.map_or(String::new(), |last| last.id)
        };
        let unchosen = [one("b", 0.9, false), one("c", 0.1, false), one("a", 0.5, false)];
        assert_eq!(last(FinalRule::Best, &unchosen, "a"), "a");
        assert_eq!(last(FinalRule::Best, &unchosen, ""), "");
        assert_eq!(last(FinalRule::Last, &unchosen, "a"), "c");
        assert_eq!(last(FinalRule::Chosen, &unchosen, "a"), "a");
        let chosen = [one("a", 0.2, true), one("b", 0.9, false), one("c", 0.3, true)];
        assert_eq!(last(FinalRule::Chosen, &chosen, "b"), "c");
        assert_eq!(last(FinalRule::Best, &chosen, "b"), "b");
    }
}
