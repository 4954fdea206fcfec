//! Div-n: the share of distinct n-grams in the captions of one image, averaged over images.
//!
//! Paper: Shetty et al., *Speaking the Same Language: Matching Machine to Human Captions by Adversarial
//! Training* (2017). Reference program: ruotianluo/self-critical.pytorch, `div_utils.py`.
//!
//! Quirks kept on purpose: n-grams of every order are divided by the number of words, not of n-grams, so
//! Div-2 of captions without any repetition is below 1; and 1e-6 is added to the number of words.

use std::sync::Arc;

use capeval_metric::setting::{ORDER, TOK};
use capeval_metric::{
    CaptionSets, CorpusKind, CorpusMetric, CorpusNeed, Input, Notice, Part, Reading, References, Setting,
    Signature,
};
use capeval_text::Tokenizer;
use capeval_text::ngrams::MAX_ORDER;

/// The entry of Div-n in the registry.
pub const KIND: CorpusKind = CorpusKind {
    name: "div",
    summary: "share of distinct n-grams in the captions of an image",
    paper: super::SHETTY,
    program: super::SELF_CRITICAL,
    settings: &[TOK, Setting { default: "2", ..ORDER }],
    needs: CorpusNeed::Nothing,
    compares: true,
    build: |settings| {
        let div = settings.order(Distinct::new(settings.tokenizer()?), Distinct::with_order)?;
        Ok(Arc::new(div))
    },
};

/// Div-1 to Div-n.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distinct {
    /// The tokenizer of the text.
    pub tokenizer: Tokenizer,
    order: usize,
}

impl Distinct {
    /// Div-1 and Div-2.
    pub fn new(tokenizer: Tokenizer) -> Self {
        Self { tokenizer, order: 2 }
    }

    /// Sets the highest order; `None` unless it is 1 to 9.
    pub fn with_order(self, order: usize) -> Option<Self> {
        (1..=MAX_ORDER).contains(&order).then_some(Self { order, ..self })
    }
}

impl CorpusMetric for Distinct {
    fn signature(&self) -> Signature {
        let Self { tokenizer, order } = self;
        Signature::new("div").with("n", order).with("tok", tokenizer)
    }

    fn input(&self) -> Input {
        Input::new(Reading::Tokens(self.tokenizer)).with_ngrams(self.order)
    }

    fn parts(&self) -> Vec<Part> {
        (1..=self.order).map(|n| Part::score(format!("div-{n}"), format!("Div-{n}"), 0.0..=1.0)).collect()
    }

    fn score(
        &self,
        _references: &References<'_>,
        captions: &CaptionSets<'_>,
        _notices: &mut Vec<Notice>,
    ) -> Vec<f64> {
        let of_image = |image| {
            let ngrams = captions.ngrams_of(image);
            let n_words: usize = captions.words(image).map(<[_]>::len).sum();
            (0..self.order).map(move |n| ngrams.entries(n).len() as f64 / (1e-6 + n_words as f64))
        };
        let shares: Vec<f64> = (0..captions.ends.len()).flat_map(of_image).collect();
        super::means(&shares, self.order)
    }
}
