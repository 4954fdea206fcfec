//! The second, smaller contract: metrics that are not sums over segments.
//!
//! The number of distinct words of a system, or the diversity of its captions for one image, cannot be computed from
//! additive statistics. Such a metric collects a [`Sketch`] instead, which can be merged with those of other images,
//! and computes scores from it. Its scores appear in reports, but not in tests, which need rows.

use std::ops::Range;
use std::sync::Arc;

use capeval_choice::Notice;
use capeval_text::ngrams::{ImageNgrams, ReferenceNgrams};
use capeval_text::{Ends, Sentences, Symbol, Vocabulary};

use crate::{Input, Part, References, Signature};

/// The number of images per sketch.
const CHUNK: usize = 1024;

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

    /// The n-grams of the captions of `image`.
    ///
    /// # Panics
    /// When the metric's [`Input`] does not request n-grams, or there is no such image.
    pub fn ngrams_of(&self, image: usize) -> ImageNgrams<'a> {
        self.ngrams.expect("the metric's input requests n-grams").image(image)
    }
}

/// The data that a [`CorpusMetric`] collects from some images.
pub trait Sketch: Send {
    /// Adds the sketch of the images that follow.
    fn merge(&mut self, later: Self);
}

/// One number per image; images without a number have no entry.
impl Sketch for Vec<f64> {
    fn merge(&mut self, later: Self) {
        self.extend(later);
    }
}

/// A metric of all captions of a system taken together.
pub trait CorpusMetric: Send + Sync {
    /// The data fitted to references, or to training captions in their place; usually `()`.
    type Model: Send + Sync;
    /// The data collected from some images.
    type Sketch: Sketch;

    /// Everything that can change a score.
    fn signature(&self) -> Signature;
    /// The input that the metric needs from captions and from references.
    fn input(&self) -> Input;
    /// The scores that the metric computes, described.
    fn parts(&self) -> Vec<Part>;
    /// Fits the metric to the references.
    fn fit(&self, references: &References<'_>) -> Self::Model;
    /// Collects data from the captions of these images; the result does not depend on other images.
    fn sketch(&self, model: &Self::Model, captions: &CaptionSets<'_>, images: Range<usize>) -> Self::Sketch;
    /// Computes one value per part from the sketch of all images.
    fn score(&self, sketch: &Self::Sketch, values: &mut [f64]);
    /// Remarks for readers of the scores.
    fn notices(&self, _sketch: &Self::Sketch, _captions: &CaptionSets<'_>) -> Vec<Notice> {
        Vec::new()
    }
}

/// A corpus metric of any kind, without type parameters and cheap to clone.
#[derive(Clone)]
pub struct AnyCorpusMetric(Arc<dyn ErasedCorpusMetric>);

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

impl AnyCorpusMetric {
    /// Wraps a typed metric.
    pub fn new(metric: impl CorpusMetric + 'static) -> Self {
        Self(Arc::new(metric))
    }

    /// Everything that can change a score.
    pub fn signature(&self) -> Signature {
        self.0.signature()
    }

    /// The input that the metric needs.
    pub fn input(&self) -> Input {
        self.0.input()
    }

    /// The scores that the metric computes, described.
    pub fn parts(&self) -> Vec<Part> {
        self.0.parts()
    }

    /// Scores all captions of a system.
    pub fn score(&self, references: &References<'_>, captions: &CaptionSets<'_>) -> CorpusScores {
        self.0.score(references, captions)
    }
}

trait ErasedCorpusMetric: Send + Sync {
    fn signature(&self) -> Signature;
    fn input(&self) -> Input;
    fn parts(&self) -> Vec<Part>;
    fn score(&self, references: &References<'_>, captions: &CaptionSets<'_>) -> CorpusScores;
}

impl<M: CorpusMetric> ErasedCorpusMetric for M {
    fn signature(&self) -> Signature {
        CorpusMetric::signature(self)
    }

    fn input(&self) -> Input {
        CorpusMetric::input(self)
    }

    fn parts(&self) -> Vec<Part> {
        CorpusMetric::parts(self)
    }

    fn score(&self, references: &References<'_>, captions: &CaptionSets<'_>) -> CorpusScores {
        let model = self.fit(references);
        let n_images = captions.ends.len();
        let mut sketch = self.sketch(&model, captions, 0..n_images.min(CHUNK));
        for start in (CHUNK..n_images).step_by(CHUNK) {
            sketch.merge(self.sketch(&model, captions, start..n_images.min(start + CHUNK)));
        }
        let parts = CorpusMetric::parts(self);
        let mut values = vec![0.0; parts.len()];
        CorpusMetric::score(self, &sketch, &mut values);
        let notices = self.notices(&sketch, captions);
        CorpusScores { signature: CorpusMetric::signature(self), parts, values, notices }
    }
}
