//! The data that metrics read: tokenised references, and one candidate with its references.

use std::sync::Arc;

use capeval_text::ngrams::{ImageNgrams, NgramCounts, ReferenceNgrams, SegmentNgrams};
use capeval_text::{Ends, Sentences, Symbol, Texts, Vocabulary};

use crate::Memo;

/// The references of all images in one reading.
#[derive(Clone, Copy)]
pub struct References<'a> {
    /// The captions as given.
    pub texts: &'a Texts,
    /// The words of the captions.
    pub sentences: &'a Sentences,
    /// The end of each image's captions among the sentences.
    pub ends: &'a [u64],
    /// The n-grams of each image in this evaluation, up to the greatest length that a metric requests.
    pub ngrams: Option<&'a ReferenceNgrams>,
    /// The vocabulary of the symbols.
    pub vocabulary: &'a Vocabulary,
    /// The images in this evaluation, ascending.
    pub images: &'a [u32],
    /// The number of these images in which each n-gram occurs, if a metric requests it.
    pub frequencies: Option<&'a Arc<NgramCounts>>,
    /// What metrics remember of captions.
    pub memos: &'a [Memo],
}

impl<'a> References<'a> {
    /// The sentences of `image`.
    ///
    /// # Panics
    /// When there is no such image.
    pub fn of(&self, image: usize) -> std::ops::Range<usize> {
        Ends(self.ends).range(image)
    }

    /// The memo with this name.
    pub fn memo(&self, name: &str) -> Option<&'a Memo> {
        self.memos.iter().find(|memo| memo.name() == name)
    }

    /// The n-gram index.
    ///
    /// # Panics
    /// When no metric's [`Input`](crate::Input) requests n-grams.
    pub fn ngrams(&self) -> &'a ReferenceNgrams {
        self.ngrams.expect("the metric's input requests n-grams")
    }

    /// The number of images of the evaluation in which each n-gram occurs.
    ///
    /// # Panics
    /// When no metric's [`Input`](crate::Input) requests frequencies.
    pub fn frequencies(&self) -> &'a Arc<NgramCounts> {
        self.frequencies.expect("the metric's input requests frequencies")
    }

    /// The n-grams of `image`.
    ///
    /// # Panics
    /// When no metric's [`Input`](crate::Input) requests n-grams, or the image takes no part in this evaluation.
    pub fn ngrams_of(&self, image: usize) -> ImageNgrams<'a> {
        let is_whole = self.images.len() == self.ends.len();
        let place = if is_whole { Ok(image) } else { self.images.binary_search(&(image as u32)) };
        self.ngrams().image(place.expect("the image takes part in the evaluation"))
    }
}

/// The candidates of one system in one reading, in the order of the images in the evaluation.
#[derive(Clone, Copy)]
pub struct Candidates<'a> {
    /// The captions as given.
    pub texts: &'a Texts,
    /// The words of the captions.
    pub sentences: &'a Sentences,
}

/// One candidate with its references.
#[derive(Clone, Copy)]
pub struct Segment<'a> {
    /// The image's index among the references.
    pub image: usize,
    /// The candidate as given.
    pub text: &'a str,
    /// The candidate split on white space.
    pub words: &'a [Symbol],
    /// The candidate split on single spaces.
    pub pieces: &'a [Symbol],
    /// All references.
    pub references: References<'a>,
    pub(crate) ngrams: Option<SegmentNgrams<'a>>,
}

impl<'a> Segment<'a> {
    /// The segment of a system's candidate number `k`, which describes `image`.
    ///
    /// # Panics
    /// When there is no such candidate.
    pub fn new(
        references: References<'a>,
        candidates: Candidates<'a>,
        image: usize,
        k: usize,
        ngrams: Option<SegmentNgrams<'a>>,
    ) -> Self {
        Self {
            image,
            text: candidates.texts.get(k),
            words: candidates.sentences.words(k),
            pieces: candidates.sentences.pieces(k),
            references,
            ngrams,
        }
    }

    /// The references' words, reference by reference.
    pub fn reference_words(&self) -> impl ExactSizeIterator<Item = &'a [Symbol]> + Clone + use<'a> {
        let sentences = self.references.sentences;
        self.references.of(self.image).map(|r| sentences.words(r))
    }

    /// The references' pieces, reference by reference.
    pub fn reference_pieces(&self) -> impl ExactSizeIterator<Item = &'a [Symbol]> + Clone + use<'a> {
        let sentences = self.references.sentences;
        self.references.of(self.image).map(|r| sentences.pieces(r))
    }

    /// The references as given.
    pub fn reference_texts(&self) -> impl ExactSizeIterator<Item = &'a str> + Clone + use<'a> {
        let texts = self.references.texts;
        self.references.of(self.image).map(|r| texts.get(r))
    }

    /// The n-grams of the candidate, with their counts in its references.
    ///
    /// # Panics
    /// When no metric's [`Input`](crate::Input) requests n-grams.
    pub fn ngrams(&self) -> SegmentNgrams<'a> {
        self.ngrams.expect("the metric's input requests n-grams")
    }
}
