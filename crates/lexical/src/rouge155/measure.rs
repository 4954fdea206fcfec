//! The measures of ROUGE-1.5.5.

use std::fmt;
use std::str::FromStr;

use capeval_text::ngrams::MAX_ORDER;

use crate::rouge::Gap;

/// One of ROUGE's measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// ROUGE-N: n-grams of this number of words, 1 to 9.
    Ngram(usize),
    /// ROUGE-L: longest common subsequences.
    Lcs,
    /// ROUGE-W: a run of k words has the weight k to this power, which is above 0.
    Weighted(f64),
    /// ROUGE-S: skip-bigrams.
    Skip(Gap),
    /// ROUGE-SU: skip-bigrams and words.
    SkipUnigram(Gap),
}

impl Measure {
    /// The name in tables after `ROUGE-`, as in the program.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Ngram(n) => n.to_string(),
            Self::Lcs => "L".into(),
            Self::Weighted(weight) => format!("W-{weight}"),
            Self::Skip(Gap::Unlimited) => "S*".into(),
            Self::SkipUnigram(Gap::Unlimited) => "SU*".into(),
            Self::Skip(Gap::Most(gap)) => format!("S{gap}"),
            Self::SkipUnigram(Gap::Most(gap)) => format!("SU{gap}"),
        }
    }

    /// The part of a key that names the measure.
    pub(super) fn key(&self) -> String {
        self.label().to_lowercase().replace("w-", "w").replace('*', "-unlimited")
    }
}

/// Displays the name that users type: `1` to `9`, `l`, `w1.2`, `s4`, `su4`, `s-unlimited`.
impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key())
    }
}

/// The syntax of lists of measures.
pub(super) const SYNTAX: &str = "any of 1 to 9, l, w and a weight from 0.1 to 10, s and su with a gap of up to \
     1000000 or -unlimited, joined by +";

/// The error that a text does not name a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMeasure;

impl fmt::Display for NoMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a measure of ROUGE, which has {SYNTAX}")
    }
}

impl std::error::Error for NoMeasure {}

/// The range of weights for which powers of lengths, and their roots, are finite.
const WEIGHTS: std::ops::RangeInclusive<f64> = 0.1..=10.0;

/// The widest gap that is not unlimited.
const MAX_GAP: usize = 1_000_000;

impl FromStr for Measure {
    type Err = NoMeasure;

    fn from_str(text: &str) -> Result<Self, NoMeasure> {
        let gap = |text: &str| match text {
            "*" | "-unlimited" => Some(Gap::Unlimited),
            _ => text.parse().ok().filter(|gap| *gap <= MAX_GAP).map(Gap::Most),
        };
        let measure = match text {
            "l" => Some(Self::Lcs),
            _ => match (text.strip_prefix('w'), text.strip_prefix("su"), text.strip_prefix('s')) {
                (Some(weight), ..) => {
                    let weight = weight.parse().ok().filter(|w| WEIGHTS.contains(w));
                    weight.map(Self::Weighted)
                }
                (_, Some(rest), _) => gap(rest).map(Self::SkipUnigram),
                (_, _, Some(rest)) => gap(rest).map(Self::Skip),
                _ => text.parse().ok().filter(|n| (1..=MAX_ORDER).contains(n)).map(Self::Ngram),
            },
        };
        measure.ok_or(NoMeasure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_prints_parses_back() {
        for text in ["1", "9", "l", "w1.2", "w2", "s0", "s4", "su4", "s-unlimited", "su-unlimited"] {
            assert_eq!(text.parse::<Measure>().unwrap().to_string(), text);
        }
        assert_eq!("su*".parse(), Ok(Measure::SkipUnigram(Gap::Unlimited)));
        for text in [
            "",
            "0",
            "10",
            "w",
            "w0",
            "w-1",
            "winf",
            "wnan",
            "w1e200",
            "w1e-9",
            "w11",
            "s1000001",
            "su18446744073709551615",
            "s",
            "su",
            "s-1",
            "L",
            "x",
        ] {
            assert!(text.parse::<Measure>().is_err(), "{text}");
        }
    }
}
