//! Descriptions of the scores that a metric computes.

use std::ops::RangeInclusive;

/// The direction of better scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Higher is better: BLEU, CIDEr.
    HigherIsBetter,
    /// Lower is better: edit rates, perplexity.
    LowerIsBetter,
    /// Neither is better: the mean length of captions.
    Neither,
}

/// The kind of a number, which determines how it is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Number {
    /// Any number in its range, shown with digits after the decimal point.
    #[default]
    Real,
    /// A count, shown as an integer.
    Count,
}

impl Direction {
    /// The name in JSON and other files.
    pub fn name(self) -> &'static str {
        match self {
            Self::HigherIsBetter => "higher",
            Self::LowerIsBetter => "lower",
            Self::Neither => "neither",
        }
    }

    /// Returns true if higher is better and false if lower is; `None` if neither is.
    pub fn is_higher(self) -> Option<bool> {
        match self {
            Self::HigherIsBetter => Some(true),
            Self::LowerIsBetter => Some(false),
            Self::Neither => None,
        }
    }
}

impl Number {
    /// The name in JSON and other files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Count => "count",
        }
    }
}

/// One of a metric's scores, such as `bleu-3` of BLEU.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The key in files and programs: lower case, stable.
    pub key: String,
    /// The name that tables show.
    pub label: String,
    /// The direction of better scores.
    pub direction: Direction,
    /// The kind of number.
    pub number: Number,
    /// The lowest possible value.
    pub min: f64,
    /// The highest possible value; may be infinite.
    pub max: f64,
    /// True if it can have a confidence interval; the bounds of an interval cannot.
    pub has_interval: bool,
}

impl Part {
    /// A real number in this range; higher is better.
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

    /// Makes lower values better.
    pub fn lower(self) -> Self {
        Self { direction: Direction::LowerIsBetter, ..self }
    }

    /// Makes no value better than another.
    pub fn neither(self) -> Self {
        Self { direction: Direction::Neither, ..self }
    }

    /// Makes the number a count.
    pub fn count(self) -> Self {
        Self { number: Number::Count, ..self }
    }

    /// Excludes the number from confidence intervals.
    pub fn without_interval(self) -> Self {
        Self { has_interval: false, ..self }
    }
}
