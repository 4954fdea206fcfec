//! The metrics, each in a file of its own.

pub(crate) mod bert_score;
pub(crate) mod clip_score;
pub(crate) mod fluency;
pub(crate) mod retrieval;
pub(crate) mod self_similarity;
pub(crate) mod sentence;

use capeval::OutsideRow;
use capeval::metric::{Explanation, Step};

/// The settings that name a model.
pub(crate) const MODEL_SETTINGS: [&str; 2] = [clip_score::MODEL.name, fluency::DETECTOR.name];

/// An explanation over the words of a row, split at white space.
fn explanation(row: &OutsideRow<'_>, scores: Vec<Step>) -> Explanation {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    Explanation {
        candidate: words(row.candidate),
        references: row.references.iter().map(|text| words(text)).collect(),
        scores,
    }
}

/// The name of reference number `nth`, from 0.
fn reference(nth: usize) -> String {
    format!("reference {}", nth + 1)
}
