//! Document frequencies of n-grams, and the weights computed from them.
//!
//! Powers are the C library's: `pow(x, 2)` of glibc is not `x * x` in the last place for one x in 1,200, and the
//! reference programs use `pow`. Exponents are hidden from the compiler, which would replace them. numpy's own `log`
//! differs from the C library's in 8 of the first 200,000 whole numbers on processors with AVX-512; there the last
//! place of CIDEr may differ from a run of the reference program, which then also differs from itself on another
//! machine.

use std::hint::black_box;
use std::sync::Arc;

use crate::frequencies::{DocumentFrequencies, Node};
use capeval_metric::References;
use capeval_text::Symbol;
use capeval_text::ngrams::NONE;

/// The source of the document frequencies of a model.
pub(super) enum Source {
    /// The references of the images in the evaluation.
    Corpus,
    Table(TranslatedTable),
    Uniform,
}

/// Replaces numbers by the document frequencies of the n-grams of the given reference at each place: of all words, then
/// of all bigrams, and so on.
type Counter<'s> = Box<dyn FnMut(&[Symbol], &mut Vec<u32>) + 's>;

impl Source {
    /// The counter of a shard of references, which takes them in order.
    pub(super) fn counter<'s>(&'s self, references: &References<'s>, shard: usize) -> Counter<'s> {
        let order = references.order;
        match self {
            Self::Corpus => {
                let mut occurrences = references.frequencies().occurrences(shard);
                Box::new(move |words, images| occurrences.next(words, images))
            }
            Self::Table(tabled) => Box::new(move |words, images| tabled.count(words, order, images)),
            Self::Uniform => Box::new(move |words, images| {
                images.clear();
                images.resize(order * words.len(), 0);
            }),
        }
    }
}

/// A saved table, translated to one vocabulary.
pub(super) struct TranslatedTable {
    pub(super) table: Arc<DocumentFrequencies>,
    /// By symbol, the number of the word in the table.
    pub(super) words: Vec<Option<u32>>,
}

impl TranslatedTable {
    pub(super) fn new(table: &Arc<DocumentFrequencies>, references: &References<'_>) -> Self {
        let words = references.vocabulary.iter().map(|(_, word)| table.find_word(word)).collect();
        Self { table: Arc::clone(table), words }
    }

    /// Replaces `images` with the document frequencies of the n-grams of a text.
    fn count(&self, words: &[Symbol], order: usize, images: &mut Vec<u32>) {
        images.clear();
        // By place, the n-gram that begins there.
        let mut nodes = vec![None; words.len()];
        for n in 0..order {
            for (place, last) in words.iter().skip(n).enumerate() {
                let prefix = if n == 0 { NONE } else { place as u32 };
                let found = self.find(prefix, *last, &nodes);
                nodes[place] = found.map(|(node, _)| node);
                images.push(found.map_or(0, |(_, df)| df));
            }
        }
    }

    /// The n-gram that extends number `prefix` of those found before by `symbol`.
    pub(super) fn find(&self, prefix: u32, symbol: Symbol, nodes: &[Option<Node>]) -> Option<(Node, u32)> {
        let word = (*self.words.get(symbol.index())?)?;
        if prefix == NONE {
            self.table.child(None, word)
        } else {
            self.table.child(Some(nodes[prefix as usize]?), word)
        }
    }
}

/// Inverse document frequencies.
pub(super) struct Weights {
    pub(super) log_images: f64,
    /// By document frequency: the weight and its square.
    pub(super) known: Vec<(f64, f64)>,
}

impl Weights {
    /// The weights of document frequencies above this one are computed on request.
    const KNOWN: u64 = 1 << 17;

    pub(super) fn uniform() -> Self {
        Self { log_images: 1.0, known: vec![(1.0, 1.0)] }
    }

    pub(super) fn over(n_images: u64) -> Self {
        let mut weights = Self { log_images: (n_images as f64).ln(), known: Vec::new() };
        weights.known = (0..=n_images.min(Self::KNOWN) as u32).map(|df| weights.compute(df)).collect();
        weights
    }

    fn compute(&self, df: u32) -> (f64, f64) {
        let weight = self.log_images - f64::from(df.max(1)).ln();
        (weight, weight.powf(black_box(2.0)))
    }

    #[inline]
    pub(super) fn of(&self, df: u32) -> (f64, f64) {
        match self.known.get(df as usize) {
            Some(known) => *known,
            None => self.compute(df),
        }
    }

    /// The element of an n-gram, and its square as computed by `pow` in the reference program.
    #[inline]
    pub(super) fn element(&self, tf: f64, df: u32) -> (f64, f64) {
        let (idf, square) = self.of(df);
        if tf == 1.0 {
            (idf, square)
        } else {
            let element = tf * idf;
            (element, element.powf(black_box(2.0)))
        }
    }
}
