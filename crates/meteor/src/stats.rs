//! The counts of a segment or a corpus, and the score computed from them.

use capeval_choice::Refusal;
use std::fmt;

use crate::options::{MAX_MATCHERS, Parameters};

/// The matches of one matcher, in words (or characters, see [`Unit`](crate::Unit)).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MatcherStats {
    /// Matched content words of the hypothesis.
    pub hypothesis_content: f64,
    /// Matched content words of the reference.
    pub reference_content: f64,
    /// Matched function words of the hypothesis.
    pub hypothesis_function: f64,
    /// Matched function words of the reference.
    pub reference_function: f64,
}

/// METEOR's 23 counts, and the number of chunks as counted for a corpus.
///
/// All are integers. Rows made by [`store`](Stats::store) are additive: the sum of the rows of all segments
/// is the row of the corpus, and [`score`] gives the correct score for both.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// Length of the hypothesis.
    pub hypothesis_len: f64,
    /// Length of the reference.
    pub reference_len: f64,
    /// Function words in the hypothesis.
    pub hypothesis_function: f64,
    /// Function words in the reference.
    pub reference_function: f64,
    /// Matches per matcher, in the order in which the matchers run.
    pub matches: [MatcherStats; MAX_MATCHERS],
    /// Runs of matches that are contiguous in both sentences.
    pub chunks: f64,
    /// Matched words of the hypothesis; always words, even if the other counts are characters.
    pub hypothesis_matched: f64,
    /// Matched words of the reference; always words, even if the other counts are characters.
    pub reference_matched: f64,
    /// The chunks that are penalised; a perfectly matching segment has none.
    pub penalized_chunks: f64,
}

impl Stats {
    /// The number of columns of a row.
    pub const WIDTH: usize = 24;

    /// The names of the columns; the first 23 in the order in which METEOR prints them.
    pub const COLUMNS: [&str; Self::WIDTH] = [
        "hypothesis_len",
        "reference_len",
        "hypothesis_function",
        "reference_function",
        "hypothesis_content_1",
        "reference_content_1",
        "hypothesis_function_1",
        "reference_function_1",
        "hypothesis_content_2",
        "reference_content_2",
        "hypothesis_function_2",
        "reference_function_2",
        "hypothesis_content_3",
        "reference_content_3",
        "hypothesis_function_3",
        "reference_function_3",
        "hypothesis_content_4",
        "reference_content_4",
        "hypothesis_function_4",
        "reference_function_4",
        "chunks",
        "hypothesis_matched",
        "reference_matched",
        "penalized_chunks",
    ];

    /// Writes the counts into `row`, in the order of [`COLUMNS`](Self::COLUMNS).
    pub fn store(&self, row: &mut [f64]) {
        for (place, value) in row.iter_mut().zip(self.to_row()) {
            *place = value;
        }
    }

    /// The counts in the order of [`COLUMNS`](Self::COLUMNS).
    pub fn to_row(&self) -> [f64; Self::WIDTH] {
        let mut row = [0.0; Self::WIDTH];
        row[..4].copy_from_slice(&[
            self.hypothesis_len,
            self.reference_len,
            self.hypothesis_function,
            self.reference_function,
        ]);
        for (place, m) in row[4..20].chunks_exact_mut(4).zip(&self.matches) {
            place.copy_from_slice(&[
                m.hypothesis_content,
                m.reference_content,
                m.hypothesis_function,
                m.reference_function,
            ]);
        }
        row[20..].copy_from_slice(&[
            self.chunks,
            self.hypothesis_matched,
            self.reference_matched,
            self.penalized_chunks,
        ]);
        row
    }

    /// Restores the counts from a row or a sum of rows; missing columns count as 0.
    pub fn load(row: &[f64]) -> Self {
        let at = |index: usize| row.get(index).copied().unwrap_or(0.0);
        let matcher = |k: usize| MatcherStats {
            hypothesis_content: at(4 + 4 * k),
            reference_content: at(5 + 4 * k),
            hypothesis_function: at(6 + 4 * k),
            reference_function: at(7 + 4 * k),
        };
        Self {
            hypothesis_len: at(0),
            reference_len: at(1),
            hypothesis_function: at(2),
            reference_function: at(3),
            matches: [matcher(0), matcher(1), matcher(2), matcher(3)],
            chunks: at(20),
            hypothesis_matched: at(21),
            reference_matched: at(22),
            penalized_chunks: at(23),
        }
    }

    /// Parses the 23 numbers of *one segment* as printed by METEOR in its `SCORE` answers.
    pub fn from_line(line: &str) -> Result<Self, Refusal> {
        let numbers: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
        match numbers {
            Ok(numbers) if numbers.len() == 23 => Ok(Self::load(&numbers).with_penalized_chunks()),
            _ => {
                Err(Refusal::new(format!("expected the 23 numbers of METEOR's statistics, found \"{line}\"")))
            }
        }
    }

    /// Fills in the penalised chunks of one segment.
    pub(crate) fn with_penalized_chunks(mut self) -> Self {
        let (hypothesis, reference) = self.totals();
        #[expect(clippy::float_cmp, reason = "these are whole numbers")]
        let perfect =
            hypothesis == self.hypothesis_len && reference == self.reference_len && self.chunks == 1.0;
        self.penalized_chunks = if perfect { 0.0 } else { self.chunks };
        self
    }

    /// Matched hypothesis and reference lengths over all matchers, in the unit of the lengths.
    fn totals(&self) -> (f64, f64) {
        self.matches.iter().fold((0.0, 0.0), |(hypothesis, reference), m| {
            (
                hypothesis + m.hypothesis_content + m.hypothesis_function,
                reference + m.reference_content + m.reference_function,
            )
        })
    }
}

impl fmt::Display for Stats {
    /// One segment as printed by METEOR: 23 numbers such as `17.0`, separated by spaces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, value) in self.to_row()[..23].iter().enumerate() {
            let blank = if at == 0 { "" } else { " " };
            write!(f, "{blank}{value:?}")?;
        }
        Ok(())
    }
}

/// METEOR's score and its factors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The score, 0 to 1.
    pub score: f64,
    /// The weighted share of the hypothesis that is matched; NaN for an empty hypothesis.
    pub precision: f64,
    /// The weighted share of the reference that is matched; NaN for an empty reference.
    pub recall: f64,
    /// The harmonic mean of both, weighted by alpha.
    pub fmean: f64,
    /// The number of chunks per matched word; 0 for a perfect match.
    pub fragmentation: f64,
    /// The reduction due to fragmentation, as a share of `fmean`: `gamma * fragmentation^beta`.
    pub penalty: f64,
}

/// METEOR's formula, in METEOR's order of operations.
///
/// ```text
/// P = sum_k w_k (delta * content_k + (1 - delta) * function_k) / (the same for all words)    R likewise
/// F = 1 / ((1 - alpha) / P + alpha / R)
/// score = F * (1 - gamma * (chunks / matched words)^beta)
/// ```
/// If nothing is matched, or a side is empty, the score is 0. `weights` are those of the matchers; statistics
/// of further matchers are ignored.
///
/// The power is computed by the C library. Java's differs from it in the last digit: on x86 for one
/// fragmentation in nine hundred, which cannot occur with captions (fewer than 47 matched words on both sides
/// together); on other processors, and in the Java version behind the scores published with METEOR, for one
/// in thirteen.
pub fn score(stats: &Stats, parameters: &Parameters, weights: &[f64]) -> Score {
    let Parameters { alpha, beta, gamma, delta } = *parameters;
    let length = |all: f64, function: f64| delta * (all - function) + (1.0 - delta) * function;
    let hypothesis_len = length(stats.hypothesis_len, stats.hypothesis_function);
    let reference_len = length(stats.reference_len, stats.reference_function);
    let (mut hypothesis, mut reference) = (0.0, 0.0);
    for (m, weight) in stats.matches.iter().zip(weights) {
        hypothesis += m.hypothesis_content * weight * delta;
        reference += m.reference_content * weight * delta;
    }
    for (m, weight) in stats.matches.iter().zip(weights) {
        hypothesis += m.hypothesis_function * weight * (1.0 - delta);
        reference += m.reference_function * weight * (1.0 - delta);
    }
    let precision = hypothesis / hypothesis_len;
    let recall = reference / reference_len;
    let fmean = 1.0 / ((1.0 - alpha) / precision + alpha / recall);
    // A perfect segment has no penalised chunks, so METEOR's special case for it needs no branch here.
    let fragmentation = stats.penalized_chunks / ((stats.hypothesis_matched + stats.reference_matched) / 2.0);
    let penalty = gamma * fragmentation.powf(beta);
    let score = fmean * (1.0 - penalty);
    let score = if score.is_nan() { 0.0 } else { score.max(0.0) };
    Score { score, precision, recall, fmean, fragmentation, penalty }
}
