//! No rule for ranks makes the parser panic, and what it computes is what counting pairs of systems gives.

use capeval_metric::Direction;
use capeval_report::{RankRule, RankScore, RankTies};

use crate::words::text;

const MEASURES: [(&str, Direction); 4] = [
    ("bleu-4", Direction::HigherIsBetter),
    ("cider-d", Direction::HigherIsBetter),
    ("ter", Direction::LowerIsBetter),
    ("words", Direction::Neither),
];

/// The pieces of rules, so that a few bytes make some that can be read.
const PIECES: [&str; 14] = [
    "bleu-4",
    "cider-d",
    "ter",
    "words",
    "ranks(",
    "mean-rank(",
    "points(",
    "wins(",
    "(",
    ")",
    ",",
    " ",
    "\u{a0}",
    "é",
];

/// The rank of a system, or the points or wins, by one measure, counted pair by pair.
fn counted(
    scores: &[Option<f64>],
    competes: &[bool],
    own: usize,
    rule: (RankScore, RankTies),
    lower: bool,
) -> f64 {
    let is_better = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => {
            if lower {
                a < b
            } else {
                a > b
            }
        }
        (a, b) => a.is_some() && b.is_none(),
    };
    let others = || (0..scores.len()).filter(|k| competes[*k] && *k != own).map(|k| scores[k]);
    let better: Vec<Option<f64>> = others().filter(|other| is_better(*other, scores[own])).collect();
    let worse = others().filter(|other| is_better(scores[own], *other)).count();
    let equal = others().count() - better.len() - worse;
    let steps = (0..better.len()).filter(|k| !better[..*k].contains(&better[*k])).count();
    let rank = match rule.1 {
        RankTies::Least => better.len() as f64 + 1.0,
        RankTies::Average => better.len() as f64 + 1.0 + equal as f64 / 2.0,
        RankTies::Dense => steps as f64 + 1.0,
    };
    match rule.0 {
        RankScore::Ranks | RankScore::MeanRank => rank,
        RankScore::Points => (4.0 - rank).max(0.0),
        RankScore::Wins => worse as f64 - better.len() as f64,
    }
}

pub fn check(bytes: &[u8]) {
    let Some((numbers, bytes)) = bytes.split_first_chunk::<16>() else { return };
    let rule = text(&PIECES, bytes);
    // Few values, so that many are equal; some are absent.
    let score = |system: usize, key: &str| {
        let measure = MEASURES.iter().position(|(known, _)| *known == key)?;
        let byte = numbers[(system * 3 + measure) % 15];
        (byte % 5 > 0).then(|| f64::from(byte % 5) - 2.0)
    };
    let competes: Vec<bool> = (0..5).map(|system| numbers[15] >> system & 1 == 0).collect();
    for ties in RankTies::ALL {
        let Ok(read) = RankRule::parse(&rule, *ties, MEASURES) else { continue };
        for column in read.columns(competes.len(), |system| competes[system], score) {
            let keys =
                column.name.split_once('(').map_or(&*column.name, |(_, keys)| keys.trim_end_matches(')'));
            let keys: Vec<&str> = keys.split(',').map(str::trim).collect();
            for (system, value) in column.values.iter().enumerate() {
                let expected = match column.score {
                    None => score(system, keys[0]),
                    Some(made) => {
                        let of = |key: &&str| {
                            let scores: Vec<Option<f64>> =
                                (0..competes.len()).map(|k| score(k, key)).collect();
                            counted(&scores, &competes, system, (made, *ties), *key == "ter")
                        };
                        let sum: f64 = keys.iter().map(of).sum();
                        Some(if made == RankScore::MeanRank { sum / keys.len() as f64 } else { sum })
                    }
                };
                assert_eq!(*value, expected, "{rule:?}, {ties:?}: {} of system {system}", column.name);
            }
        }
    }
}
