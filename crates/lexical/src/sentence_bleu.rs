//! BLEU of single sentences, smoothed.
//!
//! BLEU multiplies precisions of 1- to N-grams, so a sentence without a common 4-gram scores 0, however many words it
//! shares with its references. Smoothing gives such sentences a score above 0. The corpus score is the mean of the
//! segment scores, unlike that of [`Bleu`](crate::Bleu).
//!
//! Papers: Lin and Och, *ORANGE: a Method for Evaluating Automatic Evaluation Metrics for Machine Translation*
//! (2004), for [`Smoothing::AddOne`]; Chen and Cherry, *A Systematic Comparison of Smoothing Techniques for
//! Sentence-Level BLEU* (2014), for the others. Reference program: NLTK 3.10, `sentence_bleu` with
//! `SmoothingFunction().method0` to `method7` and their default parameters.
//!
//! Quirks kept on purpose, all of them NLTK's:
//! - a candidate without common words scores 0 for every kind of smoothing;
//! - the number of n-grams of a candidate shorter than n is 1, not 0; it is 0 only for [`Smoothing::AddOne`], which
//!   therefore differs from method 2;
//! - without smoothing, a precision of 0 is replaced by the smallest normal number, which gives scores of 1e-77 and
//!   less;
//! - method 4 does not change the zeros of one-word candidates, and a precision of 0 is left out of the product;
//! - methods 5 and 7 use 5-grams as the order after the last one, whatever the last one is.
//!
//! One difference: method 6 is undefined without a common bigram, and NLTK fails if there is no common trigram. Here,
//! the score is 0 in the first case and that of the formula in the second.

use capeval_metric::setting::{ORDER, TOK};
use capeval_metric::{
    About, AnyMetric, Input, Mean, Metric, MetricKind, Part, Reading, References, Segment, Setting, Signature,
};
use capeval_text::Tokenizer;
use capeval_text::ngrams::MAX_ORDER;

/// NLTK's parameters.
const EPSILON: f64 = 0.1;
const K: f64 = 5.0;
const ALPHA: f64 = 5.0;
/// The additional order of methods 5 and 7.
const BESIDES: usize = 5;

capeval_choice::named! {
    /// The smoothing, which avoids precisions of 0.
    pub enum Smoothing ("smoothing") {
        AddOne = "add-one", "one more match and one more n-gram for n above 1 (Lin and Och)";
        Method0 = "0", "NLTK's method 0: the smallest normal number instead";
        Method1 = "1", "NLTK's method 1: 0.1 matches";
        Method2 = "2", "NLTK's method 2: one more match and one more n-gram for n above 1";
        Method3 = "3", "NLTK's method 3: the k-th 0 becomes 1/2^k matches";
        Method4 = "4", "NLTK's method 4: the same for short candidates, by their length";
        Method5 = "5", "NLTK's method 5: means of neighbouring orders";
        Method6 = "6", "NLTK's method 6: an estimate from the orders before";
        Method7 = "7", "NLTK's method 7: method 4, then method 5";
    }
}

/// The entry of sentence BLEU in the registry.
pub const KIND: MetricKind = MetricKind {
    name: "sentence-bleu",
    summary: "BLEU of each sentence, smoothed; the corpus score is their mean",
    paper: "Lin and Och 2004, ORANGE; Chen and Cherry 2014, Smoothing Techniques for Sentence-Level BLEU",
    program: "NLTK 3.10",
    settings: &[
        TOK,
        ORDER,
        Setting::choice(
            "smooth",
            "add-one",
            "smoothing (Lin and Och's, or a method of NLTK)",
            Smoothing::NAMES,
        ),
    ],
    variants: &[],
    need: None,
    seconds: 0.01,
    build: |settings| {
        let bleu = SentenceBleu::new(settings.tokenizer()?, settings.get("smooth")?);
        Ok(AnyMetric::new(settings.order(bleu, SentenceBleu::with_order)?))
    },
};

/// Smoothed BLEU-N of sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentenceBleu {
    /// The tokenizer of the text.
    pub tokenizer: Tokenizer,
    /// The smoothing, which avoids precisions of 0.
    pub smoothing: Smoothing,
    order: usize,
}

impl SentenceBleu {
    /// BLEU-4 with this smoothing.
    pub fn new(tokenizer: Tokenizer, smoothing: Smoothing) -> Self {
        Self { tokenizer, smoothing, order: 4 }
    }

    /// Sets the length of the longest n-grams; `None` unless it is 1 to 9.
    pub fn with_order(self, order: usize) -> Option<Self> {
        (1..=MAX_ORDER).contains(&order).then_some(Self { order, ..self })
    }

    fn smoothed(&self, counts: &Counts) -> Vec<f64> {
        let precisions: Vec<f64> =
            counts.matches.iter().zip(&counts.totals).map(|(m, t)| m / t.max(1.0)).collect();
        let mut p = precisions[..self.order].to_vec();
        let matches = &counts.matches;
        let total = |n: usize| counts.totals[n].max(1.0);
        match self.smoothing {
            Smoothing::AddOne => {
                for (n, p) in p.iter_mut().enumerate().skip(1) {
                    *p = (matches[n] + 1.0) / (counts.totals[n] + 1.0);
                }
            }
            Smoothing::Method0 => {
                p.iter_mut().filter(|p| **p == 0.0).for_each(|p| *p = f64::MIN_POSITIVE);
            }
            Smoothing::Method1 => {
                for (n, p) in p.iter_mut().enumerate().filter(|(n, _)| matches[*n] == 0.0) {
                    *p = EPSILON / total(n);
                }
            }
            Smoothing::Method2 => {
                for (n, p) in p.iter_mut().enumerate().skip(1) {
                    *p = (matches[n] + 1.0) / (total(n) + 1.0);
                }
            }
            Smoothing::Method3 => {
                let mut power = 1.0;
                for (n, p) in p.iter_mut().enumerate().filter(|(n, _)| matches[*n] == 0.0) {
                    power *= 2.0;
                    *p = 1.0 / (power * total(n));
                }
            }
            Smoothing::Method4 => by_length(&mut p, counts),
            Smoothing::Method6 => {
                for n in 2..p.len() {
                    let prior = if p[n - 2] == 0.0 { 0.0 } else { p[n - 1] * p[n - 1] / p[n - 2] };
                    p[n] = (matches[n] + ALPHA * prior) / (counts.totals[n] + ALPHA);
                }
                if p.iter().take(2).any(|p| *p == 0.0) {
                    p.fill(0.0);
                }
            }
            Smoothing::Method5 | Smoothing::Method7 => {
                if self.smoothing == Smoothing::Method7 {
                    by_length(&mut p, counts);
                }
                let mut above = p[1..].to_vec();
                above.push(precisions[BESIDES - 1]);
                let mut before = p[0] + 1.0;
                for (p, above) in p.iter_mut().zip(above) {
                    *p = (before + *p + above) / 3.0;
                    before = *p;
                }
            }
        }
        p
    }

    fn score_of(&self, counts: &Counts) -> f64 {
        if counts.matches[0] == 0.0 {
            return 0.0;
        }
        let p = self.smoothed(counts);
        if p[0] == 0.0 {
            return 0.0;
        }
        let weight = 1.0 / self.order as f64;
        let sum: f64 = p.iter().filter(|p| **p > 0.0).map(|p| weight * p.ln()).sum();
        let penalty = if counts.length > counts.reference_length {
            1.0
        } else {
            (1.0 - counts.reference_length / counts.length).exp()
        };
        penalty * sum.exp()
    }
}

/// Method 4: the k-th precision of 0 becomes `ln(length) / (5 · 2^k)` matches.
fn by_length(p: &mut [f64], counts: &Counts) {
    if counts.length <= 1.0 {
        return;
    }
    let mut power = 1.0;
    for (n, p) in p.iter_mut().enumerate().filter(|(n, _)| counts.matches[*n] == 0.0) {
        power *= 2.0;
        *p = 1.0 / (power * K / counts.length.ln()) / counts.totals[n].max(1.0);
    }
}

/// The counts of a sentence.
struct Counts {
    length: f64,
    reference_length: f64,
    matches: [f64; MAX_ORDER],
    totals: [f64; MAX_ORDER],
}

impl Metric for SentenceBleu {
    type Model = ();
    type Stats = Mean;
    type Scratch = ();

    fn about(&self) -> About {
        let signature = {
            let Self { tokenizer, smoothing, order } = self;
            Signature::new("sentence-bleu")
                .with("n", order)
                .with("smooth", smoothing)
                .with("reflen", "closest")
                .with("tok", tokenizer)
        };
        let input = Input::new(Reading::Tokens(self.tokenizer)).with_ngrams(self.order.max(BESIDES));
        let columns = Mean::columns();
        let most = match self.smoothing {
            // These methods include one number above 1 in an average.
            Smoothing::Method5 | Smoothing::Method7 => 4.0 / 3.0,
            _ => 1.0,
        };
        let label = format!("sentence BLEU-{} ({})", self.order, self.smoothing);
        let parts = vec![Part::score("sentence-bleu", label, 0.0..=most)];
        About::new(signature, input, columns, parts).reading_texts(false)
    }

    fn fit(&self, _references: &References<'_>) {}

    fn measure(&self, (): &(), segment: &Segment<'_>, (): &mut ()) -> Mean {
        let length = segment.words.len();
        let lengths = segment.reference_words().map(<[_]>::len);
        let closest = lengths.clone().min_by_key(|l| (l.abs_diff(length), *l)).unwrap_or(0);
        let mut counts = Counts {
            length: length as f64,
            reference_length: closest as f64,
            matches: [0.0; MAX_ORDER],
            totals: [0.0; MAX_ORDER],
        };
        let ngrams = segment.ngrams();
        for n in 0..self.order.max(BESIDES) {
            counts.totals[n] = length.saturating_sub(n) as f64;
            let clipped = ngrams.range(n).map(|k| {
                let most = (0..lengths.len()).map(|r| ngrams.reference_counts(r)[k]).max().unwrap_or(0);
                f64::from(ngrams.all()[k].count.min(most))
            });
            counts.matches[n] = clipped.sum();
        }
        Mean::of(self.score_of(&counts))
    }

    fn score(&self, stats: &Mean, values: &mut [f64]) {
        values[0] = stats.value();
    }
}
