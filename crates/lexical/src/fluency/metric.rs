//! The perplexity of captions under an n-gram model, as a metric.
//!
//! Rewards only fluency: a caption is not compared with the references of its image. The model is either given, or
//! estimated from the references of all images in the evaluation. Perplexities are comparable only under the same model
//! and tokenizer, which the signature names.

use std::sync::Arc;

use capeval_choice::{Argument, Code, Remedy};
use capeval_metric::setting::TOK;
use capeval_metric::{
    About, AnyMetric, Input, Metric, MetricKind, Notice, Part, Reading, References, Segment, Setting,
    Signature,
};
use capeval_text::Tokenizer;

use super::ngram::{Estimate, FALLBACK_DISCOUNTS, MAX_ORDER, NgramModel, Word};
use super::perplexity::{EndSymbol, Perplexity};

/// The source of the model.
#[derive(Clone, Debug)]
pub enum Source {
    /// A given model.
    Model(Arc<NgramModel>),
    /// A model estimated from the references, with n-grams of up to this many words.
    References(usize),
}

capeval_choice::named! {
    /// The choice to count words that the model does not know.
    pub enum UnknownWords ("unknown words") {
        Counted = "yes", "they do, with the probability of <unk>: KenLM's perplexity including OOVs";
        Omitted = "no", "they do not, but precede the words that follow them: perplexity excluding OOVs";
    }
}

/// The entry of perplexity in the registry.
pub const KIND: MetricKind = MetricKind {
    name: "perplexity",
    summary: "perplexity of captions under an n-gram model; lower is better",
    paper: "Chen and Goodman 1999, An Empirical Study of Smoothing Techniques for Language Modeling",
    program: "KenLM (lmplz and query)",
    settings: &[
        TOK,
        Setting::count("n", "3", "longest n-grams", 1..=MAX_ORDER),
        Setting::choice(
            "lm",
            "references",
            "language model, trained on the references or from a file",
            &["references", "file"],
        ),
        Setting::choice("end", "yes", "count the end of a caption", EndSymbol::NAMES),
        Setting::choice("unknown", "yes", "count unknown words", UnknownWords::NAMES),
    ],
    variants: &[],
    need: None,
    seconds: 0.01,
    build: |settings| {
        let tokenizer = settings.tokenizer()?;
        let source = match (settings.given("lm"), settings.resource()) {
            (Some("references"), _) | (None, None) => Source::References(settings.get("n")?),
            (Some(_), None) => {
                return Err(settings
                    .error("lm=file needs a saved n-gram model")
                    .with_remedy(Remedy::give(Argument::LanguageModel)));
            }
            (_, Some(_)) if settings.given("n").is_some() => {
                return Err(settings
                    .error("a saved n-gram model has its own n")
                    .with_remedy(Remedy::say("leave n out, or set lm=references")));
            }
            (_, Some(model)) => Source::Model(model),
        };
        let (end, unknown) = (settings.get("end")?, settings.get("unknown")?);
        Ok(AnyMetric::new(NgramPerplexity { tokenizer, source, end, unknown }))
    },
};

/// The perplexity of captions under an n-gram model.
#[derive(Clone, Debug)]
pub struct NgramPerplexity {
    /// The tokenizer of the text.
    pub tokenizer: Tokenizer,
    source: Source,
    /// The choice to count the end of a caption as a token.
    pub end: EndSymbol,
    /// The choice to count words that the model does not know.
    pub unknown: UnknownWords,
}

impl NgramPerplexity {
    /// The perplexity under a given model.
    pub fn under(model: Arc<NgramModel>, tokenizer: Tokenizer) -> Self {
        let (end, unknown) = (EndSymbol::Counted, UnknownWords::Counted);
        Self { tokenizer, source: Source::Model(model), end, unknown }
    }

    /// Sets whether the end of a caption counts as a token.
    pub fn with_end(self, end: EndSymbol) -> Self {
        Self { end, ..self }
    }

    /// Sets whether words that the model does not know count.
    pub fn with_unknown(self, unknown: UnknownWords) -> Self {
        Self { unknown, ..self }
    }

    /// The description of perplexity as a score.
    pub fn part() -> Part {
        Part::score("perplexity", "Perplexity", 1.0..=f64::INFINITY).lower()
    }
}

/// Starts a model of all references in the evaluation; `None` unless `order` is 1 to [`MAX_ORDER`].
pub fn estimate(references: &References<'_>, order: usize) -> Option<Estimate> {
    let mut estimate = Estimate::new(order)?;
    for sentence in references.images.iter().flat_map(|image| references.of(*image as usize)) {
        let words = references.sentences.words(sentence);
        estimate.add(words.iter().map(|word| references.vocabulary.word(*word)));
    }
    Some(estimate)
}

/// An n-gram model, with the mapping from the vocabulary of the captions to its words.
pub struct Model {
    /// The n-gram model; `None` if there are no references to estimate it from.
    ngrams: Option<Arc<NgramModel>>,
    /// The model's word for each word of the captions.
    words: Vec<Word>,
    /// The orders whose discounts could not be estimated.
    fallen_back: Vec<usize>,
}

impl Metric for NgramPerplexity {
    type Model = Model;
    type Stats = Perplexity;
    type Scratch = ();

    fn about(&self) -> About {
        let signature = {
            let Self { tokenizer, source, end, unknown } = self;
            let signature = Signature::new("perplexity");
            match source {
                Source::Model(model) => {
                    signature.with("n", model.order()).with("lm", format!("{:016x}", model.fingerprint()))
                }
                Source::References(order) => signature.with("n", order).with("lm", "references"),
            }
            .with("end", end)
            .with("unknown", unknown)
            .with("tok", tokenizer)
        };
        let input = Input::new(Reading::Tokens(self.tokenizer));
        let columns = Perplexity::columns();
        let parts = vec![Self::part()];
        About::new(signature, input, columns, parts).reading_texts(false)
    }

    fn fit(&self, references: &References<'_>) -> Model {
        let vocabulary = references.vocabulary;
        let (ngrams, fallen_back) = match &self.source {
            Source::Model(model) => (Some(Arc::clone(model)), Vec::new()),
            Source::References(order) => {
                let estimated = estimate(references, *order)
                    .and_then(|estimate| estimate.finish(Some(FALLBACK_DISCOUNTS)).ok());
                estimated.map_or((None, Vec::new()), |(model, orders)| (Some(Arc::new(model)), orders))
            }
        };
        let words = ngrams
            .as_ref()
            .map_or(Vec::new(), |model| vocabulary.iter().map(|(_, word)| model.word(word)).collect());
        Model { ngrams, words, fallen_back }
    }

    fn sign_model(&self, model: &Model, signature: &mut Signature) {
        if let (Source::References(_), Some(ngrams)) = (&self.source, &model.ngrams) {
            signature.push("fingerprint", format!("{:016x}", ngrams.fingerprint()));
        }
    }

    fn notices(&self, model: &Model) -> Vec<Notice> {
        if model.fallen_back.is_empty() {
            return Vec::new();
        }
        let orders: Vec<String> = model.fallen_back.iter().map(usize::to_string).collect();
        let [d1, d2, d3] = FALLBACK_DISCOUNTS;
        vec![Notice::new(
            Code::FallbackDiscounts,
            format!(
                "the references are too few, or too much alike, to estimate the discounts of n-grams of {} \
                 words; {d1}, {d2} and {d3} were taken instead",
                orders.join(", ")
            ),
        )]
    }

    fn measure(&self, model: &Model, segment: &Segment<'_>, (): &mut ()) -> Perplexity {
        let mut perplexity = Perplexity::default();
        let Some(ngrams) = &model.ngrams else { return perplexity };
        let mut context = ngrams.start();
        let words = segment.words.iter().map(|symbol| model.words[symbol.index()]);
        let end = (self.end == EndSymbol::Counted).then_some(ngrams.end());
        for word in words.chain(end) {
            let log2 = ngrams.log10(&mut context, word) * std::f64::consts::LOG2_10;
            let is_unknown = word == ngrams.unknown();
            perplexity.unknown += f64::from(u8::from(is_unknown));
            if !is_unknown || self.unknown == UnknownWords::Counted {
                perplexity.add(log2);
            }
        }
        perplexity
    }

    fn score(&self, stats: &Perplexity, values: &mut [f64]) {
        values[0] = stats.value();
    }
}
