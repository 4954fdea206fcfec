//! Coverage: the vocabulary of a system, and its distinct and novel captions.
//!
//! Reference program: ruotianluo/self-critical.pytorch, `eval_utils.py` (`vocab_size` and
//! `novel_sentences`) and `div_utils.py` (`gDiv1`, which is the size of the vocabulary).

use std::ops::Range;

use capeval_metric::setting::TOK;
use capeval_metric::{
    AnyCorpusMetric, CaptionSets, CorpusKind, CorpusMetric, CorpusNeed, Input, Part, Reading, References,
    Signature, Sketch,
};
use capeval_text::{Symbol, Tokenizer};
use foldhash::fast::FixedState;
use hashbrown::HashSet;

type Set<T> = HashSet<T, FixedState>;

/// The words of a caption as one text, which does not depend on the evaluation.
fn spell(captions: &CaptionSets<'_>, words: &[Symbol]) -> String {
    let words: Vec<&str> = words.iter().map(|word| captions.vocabulary.word(*word)).collect();
    words.join(" ")
}

/// The entry of the vocabulary in the registry.
pub const VOCABULARY: CorpusKind = CorpusKind {
    name: "vocabulary",
    summary: "number of distinct words, mean length, and share of distinct captions",
    paper: super::SHETTY,
    program: super::SELF_CRITICAL,
    settings: &[TOK],
    needs: CorpusNeed::Nothing,
    compares: false,
    build: |settings| Ok(AnyCorpusMetric::new(WordStock { tokenizer: settings.tokenizer()? })),
};

/// The size of the vocabulary, the mean length of captions, and the share of distinct captions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordStock {
    /// The tokenizer of the text.
    pub tokenizer: Tokenizer,
}

/// The words and captions collected so far.
#[derive(Default)]
pub struct Stock {
    words: Set<String>,
    captions: Set<String>,
    n_words: u64,
    n_captions: u64,
}

impl Sketch for Stock {
    fn merge(&mut self, later: Self) {
        self.words.extend(later.words);
        self.captions.extend(later.captions);
        self.n_words += later.n_words;
        self.n_captions += later.n_captions;
    }
}

impl CorpusMetric for WordStock {
    type Model = ();
    type Sketch = Stock;

    fn signature(&self) -> Signature {
        let Self { tokenizer } = self;
        Signature::new("vocabulary").with("tok", tokenizer)
    }

    fn input(&self) -> Input {
        Input::new(Reading::Tokens(self.tokenizer))
    }

    fn parts(&self) -> Vec<Part> {
        vec![
            Part::score("vocabulary", "Vocabulary", 0.0..=f64::INFINITY).count(),
            Part::score("mean-length", "Mean length", 0.0..=f64::INFINITY).neither(),
            Part::score("distinct-captions", "Distinct captions", 0.0..=1.0),
        ]
    }

    fn fit(&self, _references: &References<'_>) {}

    fn sketch(&self, (): &(), captions: &CaptionSets<'_>, images: Range<usize>) -> Stock {
        let mut stock = Stock::default();
        let mut seen = vec![false; captions.vocabulary.len()];
        for words in images.flat_map(|image| captions.words(image)) {
            for word in words {
                if !std::mem::replace(&mut seen[word.index()], true) {
                    stock.words.insert(captions.vocabulary.word(*word).to_owned());
                }
            }
            stock.captions.insert(spell(captions, words));
            stock.n_words += words.len() as u64;
            stock.n_captions += 1;
        }
        stock
    }

    fn score(&self, stock: &Stock, values: &mut [f64]) {
        let n_captions = stock.n_captions.max(1) as f64;
        values.copy_from_slice(&[
            stock.words.len() as f64,
            stock.n_words as f64 / n_captions,
            stock.captions.len() as f64 / n_captions,
        ]);
    }
}

/// The entry of novelty in the registry.
pub const NOVELTY: CorpusKind = CorpusKind {
    name: "novelty",
    summary: "share of captions that differ from all training captions",
    paper: super::SHETTY,
    program: super::SELF_CRITICAL,
    settings: &[TOK],
    needs: CorpusNeed::Training,
    compares: false,
    build: |settings| Ok(AnyCorpusMetric::new(Novelty { tokenizer: settings.tokenizer()? })),
};

/// The share of captions that differ from all training captions, which are given in place of references.
///
/// `novel` counts every caption; `novel-distinct`, as in the reference program, counts equal novel captions once but
/// divides by the number of all captions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Novelty {
    /// The tokenizer of the text.
    pub tokenizer: Tokenizer,
}

/// The novel captions collected so far.
#[derive(Default)]
pub struct Novel {
    distinct: Set<String>,
    n_novel: u64,
    n_captions: u64,
}

impl Sketch for Novel {
    fn merge(&mut self, later: Self) {
        self.distinct.extend(later.distinct);
        self.n_novel += later.n_novel;
        self.n_captions += later.n_captions;
    }
}

impl CorpusMetric for Novelty {
    /// The training captions.
    type Model = Set<Vec<Symbol>>;
    type Sketch = Novel;

    fn signature(&self) -> Signature {
        let Self { tokenizer } = self;
        Signature::new("novelty").with("tok", tokenizer)
    }

    fn input(&self) -> Input {
        Input::new(Reading::Tokens(self.tokenizer))
    }

    fn parts(&self) -> Vec<Part> {
        vec![
            Part::score("novel", "Novel captions", 0.0..=1.0),
            Part::score("novel-distinct", "Distinct novel captions", 0.0..=1.0),
        ]
    }

    fn fit(&self, references: &References<'_>) -> Set<Vec<Symbol>> {
        let images = references.images.iter();
        images
            .flat_map(|image| references.of(*image as usize))
            .map(|sentence| references.sentences.words(sentence).to_vec())
            .collect()
    }

    fn sketch(&self, training: &Set<Vec<Symbol>>, captions: &CaptionSets<'_>, images: Range<usize>) -> Novel {
        let mut novel = Novel::default();
        for words in images.flat_map(|image| captions.words(image)) {
            novel.n_captions += 1;
            if !training.contains(words) {
                novel.n_novel += 1;
                novel.distinct.insert(spell(captions, words));
            }
        }
        novel
    }

    fn score(&self, novel: &Novel, values: &mut [f64]) {
        let n_captions = novel.n_captions.max(1) as f64;
        values
            .copy_from_slice(&[novel.n_novel as f64 / n_captions, novel.distinct.len() as f64 / n_captions]);
    }
}
