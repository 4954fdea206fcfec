//! The readers of human ratings and of segment scores do not panic on any bytes, and keep only finite
//! numbers.

use capeval_corpus::ratings::{RatingOptions, read_ratings};
use capeval_corpus::scores::read_scores;

pub fn check(bytes: &[u8]) {
    if let Ok(ratings) = read_ratings(bytes, "f", &RatingOptions::default()) {
        assert!(!ratings.items.is_empty());
        for item in &ratings.items {
            assert!(!item.ratings.is_empty() && item.ratings.iter().all(|rating| rating.is_finite()));
        }
    }
    if let Ok(scores) = read_scores(bytes, "f", None) {
        for row in &scores.rows {
            assert!(
                row.scores.len() == scores.keys.len() && !row.scores.iter().any(|score| score.is_infinite())
            );
        }
    }
}
