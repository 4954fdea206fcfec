//! The data that metrics read: tokenised references, and one candidate with its references.

use std::sync::Arc;

use capeval_text::ngrams::{NgramCounts, ReferenceLists, SegmentNgrams};
use capeval_text::{Ends, Sentences, Symbol, Texts, Vocabulary};

use crate::{Figures, Memo};

/// The references of all images in one reading.
#[derive(Clone, Copy)]
pub struct References<'a> {
    /// The captions as given.
    pub texts: &'a Texts,
    /// The words of the captions.
    pub sentences: &'a Sentences,
    /// The end of each list of references among the sentences.
    pub ends: &'a [u64],
    /// The list of each image, ascending; empty if each image has its own.
    pub lists: &'a [u32],
    /// The length of the longest n-grams that metrics request; 0 for none.
    pub order: usize,
    /// The vocabulary of the symbols.
    pub vocabulary: &'a Vocabulary,
    /// The images in this evaluation, ascending.
    pub images: &'a [u32],
    /// The number of these images in which each n-gram occurs, if a metric requests it.
    pub frequencies: Option<&'a Arc<NgramCounts>>,
    /// The notes that metrics keep of captions.
    pub memos: &'a [Memo],
    /// The figures that metrics computed of each reference, if all images take part as they did then.
    pub figures: &'a [Figures],
}

impl<'a> References<'a> {
    /// The sentences of `image`.
    ///
    /// # Panics
    /// When there is no such image.
    pub fn of(&self, image: usize) -> std::ops::Range<usize> {
        self.of_list(self.list(image))
    }

    /// The sentences of a list.
    ///
    /// # Panics
    /// When there is no such list.
    pub fn of_list(&self, list: usize) -> std::ops::Range<usize> {
        Ends(self.ends).range(list)
    }

    /// The list of references of `image`, which it may share with others.
    ///
    /// # Panics
    /// When there is no such image.
    pub fn list(&self, image: usize) -> usize {
        if self.lists.is_empty() { image } else { self.lists[image] as usize }
    }

    /// The number of lists.
    pub fn n_lists(&self) -> usize {
        self.ends.len()
    }

    /// The sentences of the images in this evaluation, each once.
    pub fn sentences_once(&self) -> impl Iterator<Item = usize> {
        let lists = self.images.iter().map(|image| self.list(*image as usize));
        let mut last = None;
        lists.filter(move |list| last.replace(*list) != Some(*list)).flat_map(|list| self.of_list(list))
    }

    /// The memo with this name.
    pub fn memo(&self, name: &str) -> Option<&'a Memo> {
        self.memos.iter().find(|memo| memo.name() == name)
    }

    /// The figures with this name.
    pub fn figures(&self, name: &str) -> Option<&'a Arc<[f64]>> {
        self.figures.iter().find(|figures| figures.name == name).map(|figures| &figures.values)
    }

    /// The lists of references of the images in this evaluation, with n-grams of up to [`order`](Self::order) words.
    ///
    /// # Panics
    /// When no metric's [`Input`](crate::Input) requests n-grams.
    pub fn reference_lists(&self) -> ReferenceLists<'a> {
        let lists = self.images.iter().map(|image| self.list(*image as usize) as u32);
        ReferenceLists::new(self.sentences, self.ends, lists, self.order)
    }

    /// The number of images of the evaluation in which each n-gram occurs.
    ///
    /// # Panics
    /// When no metric's [`Input`](crate::Input) requests frequencies.
    pub fn frequencies(&self) -> &'a Arc<NgramCounts> {
        self.frequencies.expect("the metric's input requests frequencies")
    }
}

/// The candidates of one system in one reading, in the order of the images in the evaluation.
#[derive(Clone, Copy)]
pub struct Candidates<'a> {
    /// The captions as given.
    pub texts: &'a Texts,
    /// The words of the captions.
    pub sentences: &'a Sentences,
    /// The number of the system.
    pub system: usize,
}

/// One candidate with its references.
#[derive(Clone, Copy)]
pub struct Segment<'a> {
    /// The number of the system, for scores that are not computed from the candidate.
    pub system: usize,
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
            system: candidates.system,
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
