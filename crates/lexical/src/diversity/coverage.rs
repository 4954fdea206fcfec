//! Coverage: the vocabulary of a system, and its distinct and novel captions.
//!
//! Reference program: ruotianluo/self-critical.pytorch, `eval_utils.py` (`vocab_size` and
//! `novel_sentences`) and `div_utils.py` (`gDiv1`, which is the size of the vocabulary).

use std::sync::Arc;

use capeval_metric::setting::TOK;
use capeval_metric::{
    CaptionSets, CorpusKind, CorpusMetric, CorpusNeed, Input, Notice, Part, Reading, References, Signature,
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
    build: |settings| Ok(Arc::new(WordStock { tokenizer: settings.tokenizer()? })),
};

/// The size of the vocabulary, the mean length of captions, and the share of distinct captions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordStock {
    /// The tokenizer of the text.
    pub tokenizer: Tokenizer,
}

impl CorpusMetric for WordStock {
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

    fn score(
        &self,
        _references: &References<'_>,
        captions: &CaptionSets<'_>,
        _notices: &mut Vec<Notice>,
    ) -> Vec<f64> {
        let mut seen = vec![false; captions.vocabulary.len()];
        let mut distinct: Set<String> = Set::default();
        let (mut n_words, mut n_captions) = (0_u64, 0_u64);
        for words in captions.all_words() {
            words.iter().for_each(|word| seen[word.index()] = true);
            distinct.insert(spell(captions, words));
            n_words += words.len() as u64;
            n_captions += 1;
        }
        let n_captions = n_captions.max(1) as f64;
        let n_seen = seen.iter().filter(|seen| **seen).count();
        vec![n_seen as f64, n_words as f64 / n_captions, distinct.len() as f64 / n_captions]
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
    build: |settings| Ok(Arc::new(Novelty { tokenizer: settings.tokenizer()? })),
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

impl CorpusMetric for Novelty {
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

    fn score(
        &self,
        training: &References<'_>,
        captions: &CaptionSets<'_>,
        _notices: &mut Vec<Notice>,
    ) -> Vec<f64> {
        let known: Set<&[Symbol]> = training
            .images
            .iter()
            .flat_map(|image| training.of(*image as usize))
            .map(|sentence| training.sentences.words(sentence))
            .collect();
        let mut distinct: Set<String> = Set::default();
        let (mut n_novel, mut n_captions) = (0_u64, 0_u64);
        for words in captions.all_words() {
            n_captions += 1;
            if !known.contains(words) {
                n_novel += 1;
                distinct.insert(spell(captions, words));
            }
        }
        let n_captions = n_captions.max(1) as f64;
        vec![n_novel as f64 / n_captions, distinct.len() as f64 / n_captions]
    }
}
