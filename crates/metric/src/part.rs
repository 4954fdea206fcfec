//! The numbers that a metric yields, described.

use std::ops::RangeInclusive;

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// More is better: BLEU, CIDEr.
    HigherIsBetter,
    /// Less is better: edit rates, perplexity.
    LowerIsBetter,
}

/// What kind of number it is, which decides how people are shown it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Number {
    /// Any number of its range, shown with digits after the point.
    #[default]
    Real,
    /// How many there are of something: a whole number, shown as one.
    Count,
}

impl Number {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Count => "count",
        }
    }
}

/// One of a metric's numbers: `bleu-3` of BLEU.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The key in files and programs: lower case, stable.
    pub key: String,
    /// What tables show.
    pub label: String,
    /// Which way is better.
    pub direction: Direction,
    /// What kind of number it is.
    pub number: Number,
    /// The lowest possible value.
    pub min: f64,
    /// The highest possible value; may be infinite.
    pub max: f64,
    /// Whether resamples give it a confidence interval; the ends of an interval have none.
    pub has_interval: bool,
}

impl Part {
    /// A real number of this range, of which more is better.
    pub fn score(key: impl Into<String>, label: impl Into<String>, range: RangeInclusive<f64>) -> Self {
        let (min, max) = range.into_inner();
        Self {
            key: key.into(),
            label: label.into(),
            direction: Direction::HigherIsBetter,
            number: Number::Real,
            min,
            max,
            has_interval: true,
        }
    }

    /// The same, but less is better.
    pub fn lower(self) -> Self {
        Self { direction: Direction::LowerIsBetter, ..self }
    }

    /// The same as a whole number.
    pub fn count(self) -> Self {
        Self { number: Number::Count, ..self }
    }

    /// The same without a confidence interval.
    pub fn without_interval(self) -> Self {
        Self { has_interval: false, ..self }
    }
}
