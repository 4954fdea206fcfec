//! The common parts of the ROUGE programs: classes of words, common n-grams, skip-bigrams and subsequences.

mod classes;
mod overlap;
mod skip;
mod subsequence;
mod sums;
mod text;
mod weighted;

pub(crate) use classes::Classes;
pub(crate) use overlap::Overlap;
pub use skip::Gap;
pub(crate) use skip::{Skip, n_pairs};
pub(crate) use subsequence::{Budget, UnionLcs};
pub use sums::Sums;
pub(crate) use text::Text;
pub(crate) use weighted::WeightedLcs;

use capeval_metric::References;

/// The model, which maps words to classes.
pub struct Model {
    pub(crate) classes: Classes,
    pub(crate) n_unreadable: usize,
    pub(crate) n_references: usize,
}

/// The number of references in the evaluation that have letters or digits, but none in ASCII, and the number of all.
pub(crate) fn unreadable(references: &References<'_>) -> (usize, usize) {
    let is_unreadable = |text: &str| {
        !text.bytes().any(|b| b.is_ascii_alphanumeric()) && text.chars().any(char::is_alphanumeric)
    };
    references
        .images
        .iter()
        .flat_map(|image| references.of(*image as usize))
        .fold((0, 0), |(found, all), r| {
            (found + usize::from(is_unreadable(references.texts.get(r))), all + 1)
        })
}

/// The paper that published ROUGE.
pub(crate) const PAPER: &str = "Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries";
