//! Tests how well people rate: captions whose grade is known are mixed among the others.

use sha2::{Digest, Sha256};

/// One in so many captions has a known grade.
const EVERY: i64 = 15;

/// The number of known ones among the first [`EVERY`] captions, so that careless raters are found before they decide
/// much.
const FIRST: usize = 3;

/// The share of right answers, in percent, below which ratings do not count.
const RIGHT: i64 = 70;

/// The answers before which no one is judged.
const ENOUGH: i64 = 3;

/// Returns true if a grade is near enough to the known one.
pub fn is_right(grade: i64, known: i64) -> bool {
    (grade - known).abs() <= 1
}

/// The weight of a person's ratings by their answers to known captions: 1, or 0 if too few were right.
pub fn weight(right: i64, rated: i64) -> i64 {
    i64::from(rated < ENOUGH || right * 100 >= rated * RIGHT)
}

/// Returns true if the caption after `done` others has a known grade; the places differ between people, who cannot tell
/// them.
pub fn is_turn(account: &str, done: i64) -> bool {
    let block = done / EVERY;
    let hash = Sha256::digest(format!("{account}\n{block}"));
    let mut places: Vec<i64> = (0..EVERY).collect();
    // The first few of a shuffled list.
    let wanted = if block == 0 { FIRST } else { 1 };
    for (k, byte) in (0..wanted).zip(hash) {
        let other = k + usize::from(byte) % (places.len() - k);
        places.swap(k, other);
    }
    places.iter().take(wanted).any(|place| *place == done % EVERY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_fifteen_is_known_and_three_of_the_first() {
        let mut places = std::collections::BTreeSet::new();
        for person in 0..50 {
            let account = format!("account {person}");
            let turns: Vec<i64> = (0..150).filter(|done| is_turn(&account, *done)).collect();
            assert_eq!(turns.len(), 12, "{turns:?}");
            assert_eq!(turns.iter().filter(|turn| **turn < 15).count(), 3);
            for block in 1..10 {
                assert_eq!(turns.iter().filter(|turn| *turn / 15 == block).count(), 1);
            }
            places.extend(turns.iter().map(|turn| turn % 15));
        }
        assert_eq!(places.len(), 15);
    }

    #[test]
    fn under_seventy_percent_right_a_rating_does_not_count() {
        assert_eq!([weight(0, 0), weight(0, 2), weight(0, 3), weight(2, 3), weight(3, 4)], [1, 1, 0, 0, 1]);
        assert_eq!([weight(7, 10), weight(69, 100), weight(70, 100)], [1, 0, 1]);
    }

    /// Half of the known captions are unrelated to their pictures, so one grade for everything is not enough.
    #[test]
    fn a_rater_who_always_answers_the_same_does_not_count() {
        for always in 1..=4 {
            let known = [4, 1, 4, 1, 4, 1];
            let right = known.iter().filter(|known| is_right(always, **known)).count() as i64;
            assert_eq!(weight(right, known.len() as i64), 0, "{always}");
        }
        let careful = [(4, 4), (1, 1), (3, 4), (2, 1), (4, 4), (1, 1)];
        assert!(careful.iter().all(|(grade, known)| is_right(*grade, *known)));
    }
}
