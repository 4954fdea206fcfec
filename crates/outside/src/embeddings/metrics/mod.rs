//! The metrics, each in a file of its own.

mod bert_score;
mod clip_score;
mod fluency;
mod retrieval;
mod self_similarity;
mod sentence;

use capeval::OutsideRow;
use capeval::metric::{Explanation, Step};

use crate::kind::OutsideKind;

/// The kinds of metrics that compare vectors, in the order of lists.
pub(crate) const KINDS: &[&OutsideKind] = &[
    &clip_score::CLIP_S,
    &clip_score::REF_CLIP_S,
    &clip_score::PAC_S,
    &clip_score::REF_PAC_S,
    &bert_score::KIND,
    &sentence::KIND,
    &fluency::FENSE,
    &fluency::FER,
    &fluency::SPIDER_FL,
    &retrieval::RECALL,
    &retrieval::MEDIAN_RANK,
    &self_similarity::KIND,
];

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
