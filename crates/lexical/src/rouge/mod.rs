//! What the ROUGE programs share: words by class, common n-grams, skip-bigrams and subsequences.

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

/// What is learnt from the references.
pub struct Model {
    pub(crate) classes: Classes,
    pub(crate) n_unreadable: usize,
    pub(crate) n_references: usize,
}

/// How many of the references that take part hold letters or digits but none of ASCII, and how many there are.
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

/// Where ROUGE was published.
pub(crate) const PAPER: &str = "Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries";
