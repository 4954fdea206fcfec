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
use capeval_text::ngrams::{NONE, Shard};

/// The source of the document frequencies of a model.
pub(super) enum Source {
    /// The references of the images in the evaluation.
    Corpus,
    Table(TranslatedTable),
    Uniform,
}

impl Source {
    /// Applies `work` to each shard of the references, with the document frequencies of its entries, unless they are
    /// uniform.
    pub(super) fn visit<T: Send>(
        &self,
        references: &References<'_>,
        work: impl Fn(&Shard, Option<&[u32]>) -> T + Sync,
    ) -> Vec<T> {
        let lists = references.reference_lists();
        match self {
            Self::Corpus => references.frequencies().visit(&lists, |shard, counts| work(shard, Some(counts))),
            Self::Table(tabled) => lists.visit(|shard| work(shard, Some(&tabled.entries(shard)))),
            Self::Uniform => lists.visit(|shard| work(shard, None)),
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

    fn entries(&self, shard: &Shard) -> Vec<u32> {
        let mut nodes = Vec::new();
        let mut entries = Vec::with_capacity(shard.n_entries());
        for image in shard.images() {
            nodes.clear();
            for (prefix, symbol) in image.prefixes.iter().zip(image.symbols) {
                let found = self.find(*prefix, *symbol, &nodes);
                nodes.push(found.map(|(node, _)| node));
                entries.push(found.map_or(0, |(_, df)| df));
            }
        }
        entries
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
