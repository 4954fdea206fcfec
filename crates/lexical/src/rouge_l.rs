//! ROUGE-L as the COCO evaluation computes it.
//!
//! Rewards long common subsequences with the references. With `lcs` the length of the longest common
//! subsequence, precision is `lcs / |candidate|`, recall `lcs / |reference|`, and the score
//! `(1 + β²) P R / (R + β² P)` with β = 1.2. The corpus score is the mean of the segment scores.
//!
//! Paper: Lin, *ROUGE: A Package for Automatic Evaluation of Summaries* (2004). Reference program:
//! pycocoevalcap 1.2, `rouge/rouge.py`. ROUGE-1.5.5 and Google's rouge_score are other metrics.
//!
//! Quirks kept on purpose:
//! - precision and recall are each the best over all references, so they may come from different references, and a
//!   score of 1 does not require a perfect match;
//! - text is split on single spaces, so an empty caption has one, empty, token: two empty captions score 1, and a
//!   double space adds a token.

use capeval_metric::setting::{POSITIVE, TOK};
use capeval_metric::{
    About, AnyMetric, Explanation, Input, Match, Mean, Metric, MetricKind, Part, Reading, References, Rule,
    Segment, Setting, Signature, Step,
};
use capeval_text::{Symbol, Tokenizer};

use crate::lcs::Lcs;
use crate::rouge;

/// The entry of ROUGE-L in the registry.
pub const KIND: MetricKind = MetricKind {
    name: "rouge-l",
    summary: "longest common subsequence with the references, COCO's variant",
    paper: rouge::PAPER,
    program: "pycocoevalcap 1.2",
    settings: &[TOK, Setting::number("beta", "1.2", "weight of recall", POSITIVE)],
    variants: &[],
    need: None,
    seconds: 0.01,
    build: |settings| {
        Ok(AnyMetric::new(RougeL { tokenizer: settings.tokenizer()?, beta: settings.get("beta")? }))
    },
};

/// ROUGE-L of the COCO evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct RougeL {
    /// The tokenizer of the text.
    pub tokenizer: Tokenizer,
    /// The importance of recall relative to precision; 1.2 in the reference program.
    pub beta: f64,
}

impl RougeL {
    /// As in pycocoevalcap: β = 1.2.
    pub fn coco(tokenizer: Tokenizer) -> Self {
        Self { tokenizer, beta: 1.2 }
    }
}

/// The result of Python's `split(" ")`: an empty text is one empty token.
fn tokens(pieces: &[Symbol]) -> &[Symbol] {
    if pieces.is_empty() { &[Symbol::EMPTY] } else { pieces }
}

impl Metric for RougeL {
    type Model = ();
    type Stats = Mean;
    type Scratch = Scratch;

    fn about(&self) -> About {
        let signature = {
            let Self { tokenizer, beta } = self;
            Signature::new("rouge-l").with("beta", beta).with("best", "each").with("tok", tokenizer)
        };
        let input = Input::new(Reading::Tokens(self.tokenizer));
        let columns = Mean::columns();
        let parts = vec![Part::score("rouge-l", "ROUGE-L", 0.0..=1.0)];
        About::new(signature, input, columns, parts).reading_texts(false)
    }

    fn fit(&self, _references: &References<'_>) {}

    fn measure(&self, (): &(), segment: &Segment<'_>, Scratch(lcs): &mut Scratch) -> Mean {
        let candidate = tokens(segment.pieces);
        lcs.prepare(candidate.iter().map(|symbol| symbol.number()));
        let (mut precision, mut recall) = (0.0_f64, 0.0_f64);
        for reference in segment.reference_pieces() {
            let reference = tokens(reference);
            let common = lcs.length(reference.iter().map(|symbol| symbol.number())) as f64;
            precision = precision.max(common / candidate.len() as f64);
            recall = recall.max(common / reference.len() as f64);
        }
        if precision == 0.0 || recall == 0.0 {
            return Mean::of(0.0);
        }
        let beta2 = self.beta.powf(std::hint::black_box(2.0));
        Mean::of((1.0 + beta2) * precision * recall / (recall + beta2 * precision))
    }

    fn score(&self, stats: &Mean, values: &mut [f64]) {
        values[0] = stats.value();
    }

    fn explain(&self, (): &(), segment: &Segment<'_>, scratch: &mut Scratch) -> Explanation {
        let score = self.measure(&(), segment, scratch).value();
        let Scratch(lcs) = scratch;
        let vocabulary = segment.references.vocabulary;
        let spelt = |pieces: &[Symbol]| -> Vec<String> {
            pieces.iter().map(|piece| vocabulary.word(*piece).to_owned()).collect()
        };
        let candidate = tokens(segment.pieces);
        lcs.prepare(candidate.iter().map(|symbol| symbol.number()));
        let (mut precisions, mut recalls) = (Vec::new(), Vec::new());
        for (r, reference) in segment.reference_pieces().map(tokens).enumerate() {
            let numbers: Vec<u32> = reference.iter().map(|symbol| symbol.number()).collect();
            let mut marks = vec![false; candidate.len()];
            lcs.mark(&numbers, &mut marks);
            let common: Vec<usize> = (0..candidate.len()).filter(|k| marks[*k]).collect();
            let length = common.len() as f64;
            let name = format!("reference {}", r + 1);
            let share = |of: &str, n: usize| {
                let parts = vec![
                    Step::given("words in common, in order", length),
                    Step::given(format!("words in the {of}"), n as f64),
                ];
                Step::of(name.clone(), length / n as f64, Rule::QUOTIENT, parts)
            };
            let precision = share("candidate", candidate.len());
            precisions.push(if common.is_empty() {
                precision
            } else {
                let words: Vec<&str> = common.iter().map(|k| vocabulary.word(candidate[*k])).collect();
                precision.noted(words.join(" ")).matched(subsequence(candidate, common, r, reference))
            });
            recalls.push(share("reference", reference.len()));
        }
        let best = |title: &str, parts: Vec<Step>| {
            let best = parts.iter().filter_map(|part| part.value).fold(0.0, f64::max);
            Step::of(title, best, Rule::GREATEST, parts)
        };
        let parts = vec![
            best("precision P, the best", precisions),
            best("recall R, the best", recalls),
            Step::given("β", self.beta),
        ];
        Explanation {
            candidate: spelt(candidate),
            references: segment.reference_pieces().map(|reference| spelt(tokens(reference))).collect(),
            scores: vec![Step::of("ROUGE-L", score, F_SCORE, parts)],
        }
    }
}

const F_SCORE: Rule = Rule::new("(1 + β²) P R / (R + β² P)", |parts| match parts {
    [precision, recall, beta] if *precision > 0.0 && *recall > 0.0 => {
        (1.0 + beta * beta) * precision * recall / (recall + beta * beta * precision)
    }
    _ => 0.0,
});

/// The positions, in candidate and reference, of a common subsequence, given its positions `common` in the candidate.
fn subsequence(candidate: &[Symbol], common: Vec<usize>, r: usize, reference: &[Symbol]) -> Match {
    let mut at = Vec::with_capacity(common.len());
    let mut from = 0;
    for k in &common {
        let Some(found) = reference[from..].iter().position(|word| *word == candidate[*k]) else { break };
        at.push(from + found);
        from += found + 1;
    }
    Match { matcher: "subsequence", candidate: common, references: vec![(r, at)] }
}

/// Buffers of [`RougeL`].
#[derive(Default)]
pub struct Scratch(Lcs);
