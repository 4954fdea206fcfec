//! The second, small contract: metrics that are not sums over segments.
//!
//! How many different words a system knows, or how much its captions for one image differ from each other,
//! cannot be told from statistics that add up. Such a metric gathers a [`Sketch`] instead, which can be
//! merged with that of other images, and scores that. Its scores take part in reports, but in no test that
//! needs rows.

use std::ops::Range;
use std::sync::Arc;

use capeval_choice::Notice;
use capeval_text::ngrams::{ImageNgrams, ReferenceNgrams};
use capeval_text::{Ends, Sentences, Symbol, Vocabulary};

use crate::{Input, Part, References, Signature};

/// Images that are sketched at a time.
const CHUNK: usize = 1024;

/// All captions of one system in one reading, any number per image.
#[derive(Clone, Copy)]
pub struct CaptionSets<'a> {
    /// The captions' words.
    pub sentences: &'a Sentences,
    /// Where the captions of each image stop among the sentences.
    pub ends: &'a [u64],
    /// The n-grams of each image's captions.
    pub ngrams: Option<&'a ReferenceNgrams>,
    /// What the symbols mean; the same as for the references.
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
    /// When the metric's [`Input`] asked for no n-grams, or there is no such image.
    pub fn ngrams_of(&self, image: usize) -> ImageNgrams<'a> {
        self.ngrams.expect("the metric's input asks for n-grams").image(image, self.ends)
    }
}

/// What was gathered from some images.
pub trait Sketch: Send {
    /// Adds what was gathered from the images that follow.
    fn merge(&mut self, later: Self);
}

/// One number per image that has one.
impl Sketch for Vec<f64> {
    fn merge(&mut self, later: Self) {
        self.extend(later);
    }
}

/// A metric of all captions of a system together.
pub trait CorpusMetric: Send + Sync {
    /// What is learnt from references, or from training captions in their place; mostly `()`.
    type Model: Send + Sync;
    /// What is gathered from some images.
    type Sketch: Sketch;

    /// Everything that can change a score.
    fn signature(&self) -> Signature;
    /// What the metric needs to see of captions and of references.
    fn input(&self) -> Input;
    /// The numbers it yields.
    fn parts(&self) -> Vec<Part>;
    /// Learns from the references.
    fn fit(&self, references: &References<'_>) -> Self::Model;
    /// Gathers from the captions of these images; the same whatever other images there are.
    fn sketch(&self, model: &Self::Model, captions: &CaptionSets<'_>, images: Range<usize>) -> Self::Sketch;
    /// Turns what was gathered into one value per part.
    fn score(&self, sketch: &Self::Sketch, values: &mut [f64]);
    /// What a reader of the scores should know, as sentences.
    fn notices(&self, _sketch: &Self::Sketch, _captions: &CaptionSets<'_>) -> Vec<Notice> {
        Vec::new()
    }
}

/// A corpus metric of any kind: cheap to clone, and free of type parameters.
#[derive(Clone)]
pub struct AnyCorpusMetric(Arc<dyn Erased>);

/// What a system scores by a corpus metric.
pub struct CorpusScores {
    /// The metric's signature.
    pub signature: Signature,
    /// The numbers, described.
    pub parts: Vec<Part>,
    /// One value per part.
    pub values: Vec<f64>,
    /// What a reader should know.
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

    /// What the metric needs to see.
    pub fn input(&self) -> Input {
        self.0.input()
    }

    /// The numbers that the metric yields.
    pub fn parts(&self) -> Vec<Part> {
        self.0.parts()
    }

    /// Scores all captions of a system.
    pub fn score(&self, references: &References<'_>, captions: &CaptionSets<'_>) -> CorpusScores {
        self.0.score(references, captions)
    }
}

trait Erased: Send + Sync {
    fn signature(&self) -> Signature;
    fn input(&self) -> Input;
    fn parts(&self) -> Vec<Part>;
    fn score(&self, references: &References<'_>, captions: &CaptionSets<'_>) -> CorpusScores;
}

impl<M: CorpusMetric> Erased for M {
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
