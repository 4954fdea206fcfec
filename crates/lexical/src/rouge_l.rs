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
//! - precision and recall are each the best over all references, so they may come from different ones,
//!   and a score of 1 does not need a perfect reference;
//! - text is split on single blanks, so an empty caption has one, empty, token: two empty captions
//!   score 1, and a double blank adds a token.

use capeval_metric::{Column, Direction, Input, Mean, Metric, Part, Reading, References, Segment, Signature};
use capeval_text::{Symbol, Tokenizer};

use crate::lcs::Lcs;

/// ROUGE-L of the COCO evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct RougeL {
    /// How the text is cut.
    pub tokenizer: Tokenizer,
    /// How many times recall matters as much as precision; 1.2 in the reference program.
    pub beta: f64,
}

impl RougeL {
    /// As in pycocoevalcap: β = 1.2.
    #[must_use]
    pub fn coco(tokenizer: Tokenizer) -> Self {
        Self { tokenizer, beta: 1.2 }
    }
}

/// What `split(" ")` gives: an empty text is one empty token.
fn tokens(pieces: &[Symbol]) -> &[Symbol] {
    if pieces.is_empty() { &[Symbol::EMPTY] } else { pieces }
}

impl Metric for RougeL {
    type Model = ();
    type Stats = Mean;
    type Scratch = Scratch;

    fn signature(&self) -> Signature {
        let Self { tokenizer, beta } = self;
        Signature::new("rouge-l").with("beta", beta).with("best", "each").with("tok", tokenizer)
    }

    fn input(&self) -> Input {
        Input { reading: Reading::Tokens(self.tokenizer), ngrams: 0 }
    }

    fn parts(&self) -> Vec<Part> {
        vec![Part {
            key: "rouge-l".into(),
            label: "ROUGE-L".into(),
            direction: Direction::HigherIsBetter,
            min: 0.0,
            max: 1.0,
        }]
    }

    fn columns(&self) -> Vec<Column> {
        Mean::columns()
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
}

/// Buffers of [`RougeL`].
#[derive(Default)]
pub struct Scratch(Lcs);
