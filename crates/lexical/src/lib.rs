//! The metrics that compare words: BLEU, ROUGE-L, CIDEr.
//!
//! One file each. A file says what its metric rewards, by which formula, after which paper and whose
//! program, and which of that program's quirks are kept on purpose; each quirk has a test of its name. Saved
//! tables of document frequencies, by which CIDEr weighs n-grams, are [`frequencies`].

pub mod bleu;
pub mod chrf;
pub mod cider;
pub mod diversity;
mod explain;
pub mod frequencies;
mod lcs;
pub mod meteor_2005;
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
];

/// The metrics of all captions of a system, in the order in which they are listed.
pub const CORPUS_KINDS: &[&CorpusKind] = &[
    &diversity::distinct::KIND,
    &diversity::mutual_bleu::KIND,
    &diversity::self_cider::KIND,
    &diversity::coverage::VOCABULARY,
    &diversity::coverage::NOVELTY,
];
