//! The second, smaller contract: metrics that are not sums over segments.
//!
//! The number of distinct words of a system, or the diversity of its captions for one image, cannot be computed from
//! additive statistics. Such a metric looks at all captions of a system at once. Its scores appear in reports, but not
//! in tests, which need rows.

use std::ops::Range;
use std::sync::Arc;

use capeval_choice::Notice;
use capeval_text::ngrams::{ImageNgrams, ReferenceNgrams};
use capeval_text::{Ends, Sentences, Symbol, Vocabulary};

use crate::{Input, Part, References, Signature};

/// All captions of one system in one reading, any number per image.
#[derive(Clone, Copy)]
pub struct CaptionSets<'a> {
    /// The words of the captions.
    pub sentences: &'a Sentences,
    /// The end of each image's captions among the sentences.
    pub ends: &'a [u64],
    /// The n-grams of each image's captions, if the metric needs them.
    pub ngrams: Option<&'a ReferenceNgrams>,
    /// The vocabulary of the symbols, which is also that of the references.
    pub vocabulary: &'a Vocabulary,
}

impl<'a> CaptionSets<'a> {
    /// The sentences of `image`.
    ///
    /// # Panics
    /// When there is no such image.
    pub fn of(&self, image: usize) -> Range<usize> {
        Ends(self.ends).range(image)
    }

    /// The words of each caption of `image`.
    ///
    /// # Panics
    /// When there is no such image.
    pub fn words(&self, image: usize) -> impl ExactSizeIterator<Item = &'a [Symbol]> + Clone + use<'a> {
        let sentences = self.sentences;
        self.of(image).map(|k| sentences.words(k))
    }

    /// The words of each caption of each image.
    pub fn all_words(&self) -> impl Iterator<Item = &'a [Symbol]> + use<'a> {
        let captions = *self;
        (0..captions.ends.len()).flat_map(move |image| captions.words(image))
    }

    /// The n-grams of the captions of `image`.
    ///
    /// # Panics
    /// When the metric's [`Input`] does not request n-grams, or there is no such image.
    pub fn ngrams_of(&self, image: usize) -> ImageNgrams<'a> {
        self.ngrams.expect("the metric's input requests n-grams").image(image)
    }
}

/// A metric of all captions of a system taken together.
pub trait CorpusMetric: Send + Sync {
    /// Everything that can change a score.
    fn signature(&self) -> Signature;
    /// The input that the metric needs from captions and from references.
    fn input(&self) -> Input;
    /// The scores that the metric computes, described.
    fn parts(&self) -> Vec<Part>;
    /// Scores all captions of a system: one value per part. The references may be training captions in their place.
    /// Remarks for readers of the scores go to `notices`.
    fn score(
        &self,
        references: &References<'_>,
        captions: &CaptionSets<'_>,
        notices: &mut Vec<Notice>,
    ) -> Vec<f64>;
}

/// A corpus metric of any kind, cheap to clone.
pub type AnyCorpusMetric = Arc<dyn CorpusMetric>;

/// The scores of a system by a corpus metric.
pub struct CorpusScores {
    /// The signature of the metric.
    pub signature: Signature,
    /// The scores, described.
    pub parts: Vec<Part>,
    /// One value per part.
    pub values: Vec<f64>,
    /// Remarks for readers of the scores.
    pub notices: Vec<Notice>,
}
