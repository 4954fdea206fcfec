//! ROUGE as Google's rouge_score computes it.
//!
//! Rewards what a candidate has in common with the best matching reference: n-grams (rouge1 to rouge9), the longest
//! common subsequence of the whole texts (rougeL), and that of each reference line with all lines of the candidate
//! (rougeLsum). Precision P is the matching share of the candidate, recall R that of the reference, and
//! `F = 2PR / (P + R)`. The corpus score is the mean of the segment scores.
//!
//! Paper: Lin, *ROUGE: A Package for Automatic Evaluation of Summaries* (2004). Reference program: rouge_score 0.1.2,
//! `RougeScorer.score_multi`.
//!
//! Quirks kept on purpose:
//! - for each measure, the reference with the best F counts, or the first of equal ones, with its own P and R;
//! - words consist of a to z and 0 to 9 only, so text in other scripts has no words and scores 0 (a notice says
//!   so, and any other tokenizer may be chosen);
//! - words of three letters or less are not stemmed, and the stemmer is NLTK's variant of Porter's;
//! - rougeL treats line breaks as spaces, while rougeLsum counts a word at most as often as both texts contain it;
//! - a text without words scores 0, even with a reference without words.

use capeval_choice::Code;
use capeval_metric::setting::{ORDER, TOK, Values};
use capeval_metric::{
    About, AnyMetric, Column, Input, Learns, Metric, MetricKind, Notice, Part, Reading, References, Segment,
    Setting, Signature,
};
use capeval_text::ngrams::MAX_ORDER;
use capeval_text::{Stemmer, Tokenizer};

use crate::lcs::Lcs;
use crate::rouge;
use crate::rouge::{Budget, Classes, Overlap, Text, UnionLcs, unreadable};
pub use crate::rouge::{Model, Sums};

/// The entry of rouge_score in the registry.
pub const KIND: MetricKind = MetricKind {
    name: "rouge-score",
    summary: "n-grams and subsequences shared with the best reference, as in Google's rouge_score",
    paper: rouge::PAPER,
    program: "rouge_score 0.1.2",
    settings: &[
        Setting { default: "2", ..ORDER },
        Setting::new("stem", "none", "stemmer (porter-nltk is the program's use_stemmer)", Values::Stemmer),
        Setting { default: "rouge-score", summary: "tokenizer, applied line by line", ..TOK },
    ],
    variants: &["stem=porter-nltk"],
    need: None,
    seconds: 0.01,
    build: |settings| {
        let rouge = settings.order(RougeScore::new(), RougeScore::with_order)?;
        let (stemmer, tokenizer) = (settings.stemmer()?, settings.tokenizer()?);
        Ok(AnyMetric::new(RougeScore { stemmer, tokenizer, ..rouge }))
    },
};

/// rouge_score's rouge1 to rougeN, rougeL and rougeLsum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RougeScore {
    /// The tokenizer of the text, applied line by line.
    pub tokenizer: Tokenizer,
    /// The stemmer of words with more than three letters, if any.
    pub stemmer: Option<Stemmer>,
    order: usize,
}

impl RougeScore {
    /// rouge1, rouge2, rougeL and rougeLsum with the tokenizer of the reference program.
    pub fn new() -> Self {
        Self { tokenizer: Tokenizer::RougeScore, stemmer: None, order: 2 }
    }

    /// As [`new`](Self::new), with `use_stemmer=True`.
    pub fn stemmed() -> Self {
        Self { stemmer: Some(Stemmer::PorterNltk), ..Self::new() }
    }

    /// Sets the length of the longest n-grams; `None` unless it is 1 to 9.
    pub fn with_order(self, order: usize) -> Option<Self> {
        (1..=MAX_ORDER).contains(&order).then_some(Self { order, ..self })
    }

    fn name(&self) -> &'static str {
        if self.stemmer.is_some() { "rouge-score-stem" } else { "rouge-score" }
    }
}

impl Default for RougeScore {
    fn default() -> Self {
        Self::new()
    }
}

/// Buffers of [`RougeScore`].
#[derive(Default)]
pub struct Scratch {
    candidate: Text,
    reference: Text,
    overlap: Overlap,
    lcs: Lcs,
    union: UnionLcs,
    budget: Budget,
}

/// F, R and P for `hits` matches.
fn scores(hits: usize, reference: usize, candidate: usize) -> [f64; 3] {
    let precision = hits as f64 / candidate.max(1) as f64;
    let recall = hits as f64 / reference.max(1) as f64;
    let f = if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 };
    [f, recall, precision]
}

impl Metric for RougeScore {
    type Model = Model;
    type Stats = Sums;
    type Scratch = Scratch;

    fn about(&self) -> About {
        let signature = {
            let Self { tokenizer, stemmer, order } = self;
            Signature::new(self.name())
                .with("n", order)
                .with("stem", stemmer.map_or("none", Stemmer::name))
                .with("best", "f")
                .with("tok", tokenizer)
        };
        let input = Input::new(Reading::Lines(self.tokenizer));
        let columns = {
            let measures = (1..=self.order).map(|n| n.to_string()).chain(["l".to_owned(), "lsum".to_owned()]);
            let columns =
                measures.flat_map(|key| ["f", "r", "p"].map(|part| Column::sum(format!("{part}-{key}"))));
            [Column::count("segments")].into_iter().chain(columns).collect()
        };
        let parts = {
            let name = self.name();
            let stem = if self.stemmer.is_some() { ", stemmed" } else { "" };
            let measures = (1..=self.order)
                .map(|n| (n.to_string(), n.to_string()))
                .chain([("l".to_owned(), "L".to_owned()), ("lsum".to_owned(), "Lsum".to_owned())]);
            measures
                .flat_map(|(key, label)| {
                    ['F', 'R', 'P'].map(|letter| {
                        Part::score(
                            format!("{name}-{key}-{}", letter.to_ascii_lowercase()),
                            format!("rouge{label} {letter} (rouge_score{stem})"),
                            0.0..=1.0,
                        )
                    })
                })
                .collect()
        };
        About::new(signature, input, columns, parts).learns(Learns::Words).mean(true)
    }

    fn fit(&self, references: &References<'_>) -> Model {
        let classes = match self.stemmer {
            None => Classes::of_words(references.vocabulary),
            Some(stemmer) => Classes::build(references.vocabulary, |word| {
                let is_short = word.chars().take(4).count() < 4;
                Some(if is_short { word.into() } else { stemmer.stem(word).into() })
            }),
        };
        let (n_unreadable, n_references) =
            if self.tokenizer == Tokenizer::RougeScore { unreadable(references) } else { (0, 0) };
        Model { classes, n_unreadable, n_references }
    }

    fn notices(&self, model: &Model) -> Vec<Notice> {
        let notice = (model.n_unreadable > 0).then(|| Notice::new(Code::OnlyAscii, format!(
                "rouge_score's tokenizer reads ASCII letters and digits only: {} of {} references lose all their \
                 words",
                model.n_unreadable, model.n_references
            )).remedy("use rouge-score:tok=char"));
        notice.into_iter().collect()
    }

    fn measure(&self, model: &Model, segment: &Segment<'_>, scratch: &mut Scratch) -> Sums {
        let Scratch { candidate, reference, overlap, lcs, union, budget } = scratch;
        candidate.read(segment.pieces, &model.classes);
        let n_candidate = candidate.words.len();
        overlap.prepare(&candidate.words, self.order);
        lcs.prepare(overlap.words().iter().copied());
        let mut best = vec![[0.0; 3]; self.order + 2];
        for (k, pieces) in segment.reference_pieces().enumerate() {
            reference.read(pieces, &model.classes);
            let n_reference = reference.words.len();
            let hits = overlap.hits(&reference.words);
            let n_grams = |words: usize, n: usize| (words + 1).saturating_sub(n);
            let common = lcs.length(overlap.other().iter().copied());
            let common_by_line = if candidate.sentences().len() <= 1 && reference.sentences().len() <= 1 {
                common
            } else {
                budget.fill(&candidate.words, &reference.words);
                union.count(reference, candidate, budget)
            };
            let measures = (1..=self.order)
                .map(|n| scores(hits[n - 1] as usize, n_grams(n_reference, n), n_grams(n_candidate, n)))
                .chain([common, common_by_line].map(|hits| scores(hits, n_reference, n_candidate)));
            for (best, scores) in best.iter_mut().zip(measures) {
                if k == 0 || scores[0] > best[0] {
                    *best = scores;
                }
            }
        }
        Sums { segments: 1.0, sums: best }
    }

    fn score(&self, stats: &Sums, values: &mut [f64]) {
        let n = if stats.segments == 0.0 { 1.0 } else { stats.segments };
        for (value, sum) in values.iter_mut().zip(stats.sums.as_flattened()) {
            *value = sum / n;
        }
    }
}
