//! BLEU as the COCO evaluation computes it.
//!
//! Rewards n-grams that the references also contain. An n-gram counts at most as often as in the reference in which it
//! is most frequent. The score is the geometric mean of the precisions of 1- to N-grams; if candidates are shorter than
//! their references, it is multiplied by `exp(1 − reference length / candidate length)`. The corpus score is computed
//! from the counts of the whole corpus, not from segment scores.
//!
//! Paper: Papineni et al., *BLEU: a Method for Automatic Evaluation of Machine Translation* (2002).
//! Reference program: pycocoevalcap 1.2, `bleu/bleu_scorer.py`.
//!
//! Quirks kept on purpose:
//! - there is no smoothing, but counts of 0 are replaced by tiny numbers: each precision is
//!   `(matches + 1e-15) / (total + 1e-9)`, so a score is never exactly 0 or 1;
//! - the ratio of lengths is `(candidate + 1e-15) / (reference + 1e-9)`, so candidates exactly as long as their
//!   references are penalised slightly, by about 1e-10;
//! - the reference length is that of the reference closest in length, and of the shorter one on a tie.

use std::hint::black_box;

use capeval_metric::setting::{ORDER, TOK};
use capeval_metric::{
    About, AnyMetric, Column, Explanation, Input, Metric, MetricKind, Part, Reading, References, Rule,
    Segment, Setting, Signature, Statistics, Step,
};
use capeval_text::Tokenizer;
use capeval_text::ngrams::MAX_ORDER;

use crate::explain::clipped;

/// The entry of BLEU in the registry.
pub const KIND: MetricKind = MetricKind {
    name: "bleu",
    summary: "precision of n-grams over the corpus, with a penalty for short captions",
    paper: "Papineni et al. 2002, BLEU: a Method for Automatic Evaluation of Machine Translation",
    program: "pycocoevalcap 1.2",
    settings: &[
        TOK,
        ORDER,
        Setting::choice(
            "reflen",
            "closest",
            "reference length of the brevity penalty",
            ReferenceLength::NAMES,
        ),
    ],
    variants: &[],
    need: None,
    seconds: 0.01,
    build: |settings| {
        let bleu = settings.order(Bleu::coco(settings.tokenizer()?), Bleu::with_order)?;
        Ok(AnyMetric::new(Bleu { reference_length: settings.get("reflen")?, ..bleu }))
    },
};

const TINY: f64 = 1e-15;
const SMALL: f64 = 1e-9;

capeval_choice::named! {
    /// The reference length with which a candidate is compared if there are several references.
    pub enum ReferenceLength ("reference length") {
        Closest = "closest", "that of the reference closest in length, the shorter on a tie";
        Shortest = "shortest", "that of the shortest reference";
        Average = "average", "the mean over all references";
    }
}

impl ReferenceLength {
    fn of(self, lengths: impl ExactSizeIterator<Item = usize>, candidate: usize) -> f64 {
        let n = lengths.len();
        match self {
            Self::Closest => lengths.min_by_key(|l| (l.abs_diff(candidate), *l)).unwrap_or(0) as f64,
            Self::Shortest => lengths.min().unwrap_or(0) as f64,
            Self::Average if n > 0 => lengths.sum::<usize>() as f64 / n as f64,
            Self::Average => 0.0,
        }
    }
}

/// BLEU-1 to BLEU-N of the COCO evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bleu {
    /// The tokenizer of the text.
    pub tokenizer: Tokenizer,
    /// The length of the longest n-grams, 1 to 9; 4 in the reference program.
    order: usize,
    /// The reference length of the brevity penalty.
    pub reference_length: ReferenceLength,
}

impl Bleu {
    /// As in pycocoevalcap: BLEU-1 to BLEU-4, closest reference length.
    pub fn coco(tokenizer: Tokenizer) -> Self {
        Self { tokenizer, order: 4, reference_length: ReferenceLength::Closest }
    }

    /// Sets the length of the longest n-grams; `None` unless it is 1 to 9.
    pub fn with_order(self, order: usize) -> Option<Self> {
        (1..=MAX_ORDER).contains(&order).then_some(Self { order, ..self })
    }
}

/// The counts of BLEU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// The number of words in the candidate.
    pub candidate_length: f64,
    /// The reference length for the brevity penalty, in words.
    pub reference_length: f64,
    /// The number of n-grams of each order that the references also contain, clipped.
    pub matches: [f64; MAX_ORDER],
    /// The number of n-grams of each order in the candidate.
    pub totals: [f64; MAX_ORDER],
}

impl Statistics for Counts {
    fn store(&self, row: &mut [f64]) {
        let order = (row.len() - 2) / 2;
        row[0] = self.candidate_length;
        row[1] = self.reference_length;
        row[2..2 + order].copy_from_slice(&self.matches[..order]);
        row[2 + order..].copy_from_slice(&self.totals[..order]);
    }

    fn load(row: &[f64]) -> Self {
        let order = (row.len() - 2) / 2;
        let mut counts = Self { candidate_length: row[0], reference_length: row[1], ..Self::default() };
        counts.matches[..order].copy_from_slice(&row[2..2 + order]);
        counts.totals[..order].copy_from_slice(&row[2 + order..]);
        counts
    }
}

impl Metric for Bleu {
    type Model = ();
    type Stats = Counts;
    type Scratch = ();

    fn about(&self) -> About {
        let Self { tokenizer, order, reference_length } = self;
        let signature = Signature::new("bleu")
            .with("n", order)
            .with("smooth", "coco-tiny")
            .with("reflen", reference_length.name())
            .with("tok", tokenizer);
        let input = Input::new(Reading::Tokens(*tokenizer)).with_ngrams(*order);
        let reference_length = match reference_length {
            ReferenceLength::Average => Column::sum("reference-length"),
            ReferenceLength::Closest | ReferenceLength::Shortest => Column::count("reference-length"),
        };
        let columns = [Column::count("candidate-length"), reference_length]
            .into_iter()
            .chain((1..=*order).map(|n| Column::count(format!("matches-{n}"))))
            .chain((1..=*order).map(|n| Column::count(format!("totals-{n}"))))
            .collect();
        let part = |n| Part::score(format!("bleu-{n}"), format!("BLEU-{n}"), 0.0..=1.0);
        let parts = (1..=*order).map(part).collect();
        About::new(signature, input, columns, parts).reading_texts(false)
    }

    fn fit(&self, _references: &References<'_>) {}

    fn measure(&self, (): &(), segment: &Segment<'_>, (): &mut ()) -> Counts {
        let length = segment.words.len();
        let lengths = segment.reference_words().map(<[_]>::len);
        let n_references = lengths.len();
        let mut counts = Counts {
            candidate_length: length as f64,
            reference_length: self.reference_length.of(lengths, length),
            ..Counts::default()
        };
        let ngrams = segment.ngrams();
        for n in 0..self.order {
            counts.totals[n] = length.saturating_sub(n) as f64;
            let mut matches = 0;
            for k in ngrams.range(n) {
                let most = (0..n_references).map(|r| ngrams.reference_counts(r)[k]).max().unwrap_or(0);
                matches += ngrams.all()[k].count.min(most);
            }
            counts.matches[n] = f64::from(matches);
        }
        counts
    }

    fn score(&self, counts: &Counts, values: &mut [f64]) {
        let mut product = 1.0;
        for (n, value) in values.iter_mut().enumerate() {
            product *= (counts.matches[n] + TINY) / (counts.totals[n] + SMALL);
            // The compiler would replace a known exponent of 0.5 with a square root, which may differ in the last place
            // from the power in the reference program.
            *value = f64::powf(product, black_box(1.0 / (n + 1) as f64));
        }
        let ratio = (counts.candidate_length + TINY) / (counts.reference_length + SMALL);
        if ratio < 1.0 {
            let penalty = (1.0 - 1.0 / ratio).exp();
            values.iter_mut().for_each(|value| *value *= penalty);
        }
    }

    fn explain(&self, (): &(), segment: &Segment<'_>, (): &mut ()) -> Explanation {
        let counts = self.measure(&(), segment, &mut ());
        let mut values = vec![0.0; self.order];
        self.score(&counts, &mut values);
        let scores = values.iter().enumerate().map(|(n, value)| {
            // Counts are listed once, under the longest order.
            let listed = n + 1 == self.order;
            let precisions: Vec<Step> = (0..=n).map(|k| counts.precision(segment, k, listed)).collect();
            let product: f64 = precisions.iter().filter_map(|step| step.value).product();
            let mean = f64::powf(product, black_box(1.0 / (n + 1) as f64));
            let mean = Step::of("geometric mean of the precisions", mean, ROOT, precisions);
            let penalty = counts.brevity(self.reference_length, listed);
            Step::of(format!("BLEU-{}", n + 1), *value, Rule::PRODUCT, vec![mean, penalty])
        });
        Explanation { scores: scores.collect(), ..Explanation::over_words(segment) }
    }
}

const ROOT: Rule = Rule::new("n-th root of the product of n", |parts| {
    f64::powf(parts.iter().product(), 1.0 / parts.len().max(1) as f64)
});
const PRECISION: Rule = Rule::new("(matches + 1e-15) / (n-grams + 1e-9)", |parts| match parts {
    [matches, total] => (matches + TINY) / (total + SMALL),
    _ => f64::NAN,
});
const RATIO: Rule = Rule::new("(candidate + 1e-15) / (reference + 1e-9)", |parts| match parts {
    [candidate, reference] => (candidate + TINY) / (reference + SMALL),
    _ => f64::NAN,
});
const BREVITY: Rule = Rule::new("exp(1 − 1/ratio), at most 1", |parts| match parts {
    [ratio] if *ratio < 1.0 => (1.0 - 1.0 / ratio).exp(),
    _ => 1.0,
});

impl Counts {
    /// The precision of n-grams of order `n` (from 0); `listed` adds the matching n-grams.
    fn precision(&self, segment: &Segment<'_>, n: usize, listed: bool) -> Step {
        let (matches, total) = (self.matches[n], self.totals[n]);
        let (title, value) = (format!("precision of {}-grams", n + 1), (matches + TINY) / (total + SMALL));
        if !listed {
            return Step::given(title, value);
        }
        let matches = Step::of("matches, clipped", matches, Rule::SUM, clipped(segment, n));
        Step::of(title, value, PRECISION, vec![matches, Step::given("in the candidate", total)])
    }

    /// The brevity penalty; `listed` adds the lengths.
    fn brevity(&self, which: ReferenceLength, listed: bool) -> Step {
        let ratio = (self.candidate_length + TINY) / (self.reference_length + SMALL);
        let lengths = vec![
            Step::given("words in the candidate", self.candidate_length),
            Step::given(format!("words in the {} reference", which.name()), self.reference_length),
        ];
        let penalty = if ratio < 1.0 { (1.0 - 1.0 / ratio).exp() } else { 1.0 };
        if !listed {
            return Step::given("brevity penalty", penalty);
        }
        Step::of("brevity penalty", penalty, BREVITY, vec![Step::of("ratio", ratio, RATIO, lengths)])
    }
}
