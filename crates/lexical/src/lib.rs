//! The metrics that compare words, such as BLEU, ROUGE-L and CIDEr.
//!
//! There is one file per metric. Its head says what the metric rewards, the formula, the paper, the program that it
//! equals, and which quirks of that program are kept; each quirk has a test named after it. [`frequencies`] contains
//! saved tables of document frequencies, by which CIDEr weights n-grams, and [`fluency`] n-gram models.

pub mod bleu;
pub mod chrf;
pub mod cider;
pub mod diversity;
mod explain;
pub mod fluency;
pub mod frequencies;
mod lcs;
pub mod meteor_2005;
pub mod object_f1;
mod overlap;
mod repetition;
mod rouge;
pub mod rouge155;
pub mod rouge_l;
pub mod rouge_score;
pub mod sacrebleu;
pub mod sentence_bleu;
pub mod ter;

pub use bleu::{Bleu, ReferenceLength};
pub use chrf::{Blanks, Chrf, Orders};
pub use cider::{Cider, Clipping, Idf, Length, TermFrequency};
pub use meteor_2005::Meteor2005;
pub use object_f1::{ObjectF1, ObjectWords};
pub use rouge_l::RougeL;
pub use rouge_score::RougeScore;
pub use rouge155::Rouge155;
pub use sacrebleu::{Case, EffectiveOrder, SacreBleu, sacrebleu_signature};
pub use sentence_bleu::{SentenceBleu, Smoothing};
pub use ter::Ter;

use capeval_metric::{CorpusKind, MetricKind};

/// The metrics of this family, in the order in which they are listed.
pub const KINDS: &[&MetricKind] = &[
    &bleu::KIND,
    &rouge_l::KIND,
    &rouge155::KIND,
    &rouge_score::KIND,
    &sentence_bleu::KIND,
    &meteor_2005::KIND,
    &cider::CIDER_D,
    &cider::CIDER,
    &cider::CIDER_D_IN_PAPER,
    &cider::CIDER_IN_PAPER,
    &cider::CIDER_R,
    &sacrebleu::KIND,
    &chrf::CHRF,
    &chrf::CHRF_PLUS_PLUS,
    &ter::KIND,
    &fluency::metric::KIND,
    &object_f1::KIND,
];

/// The metrics of all captions of a system, in the order in which they are listed.
pub const CORPUS_KINDS: &[&CorpusKind] = &[
    &diversity::distinct::KIND,
    &diversity::mutual_bleu::KIND,
    &diversity::self_cider::KIND,
    &diversity::coverage::VOCABULARY,
    &diversity::coverage::NOVELTY,
];
