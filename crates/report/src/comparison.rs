//! What a comparison of systems found, as plain data.

use capeval_stats::correction::Correction;
use capeval_stats::paired::Tally;
use capeval_stats::{Interval, Resampling};

use crate::Report;

mod render;

pub(crate) use render::p_value;
pub use render::{csv, html, json, jsonl, latex, markdown, table};

/// Whether systems differ.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The systems' scores, with confidence intervals.
    pub report: Report,
    /// How resamples and exchanges were drawn.
    pub resampling: Resampling,
    /// How p-values were corrected over all pairs and measures: test by test, but exact p-values together with those of
    /// randomisation where there is no exact one, since a verdict goes by either.
    pub correction: Correction,
    /// The pairs that were compared.
    pub pairs: Vec<Pair>,
}

/// Two systems.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The system that the other one is compared with, as an index into the report's systems.
    pub baseline: usize,
    /// The other one.
    pub system: usize,
    /// How they differ, measure by measure.
    pub contrasts: Vec<Contrast>,
}

/// How two systems differ by one measure.
#[derive(Clone, Copy, Debug)]
pub struct Contrast {
    /// The system's score less the baseline's, on the measure's own scale.
    pub difference: f64,
    /// The percentile interval of the difference over bootstrap resamples of the images.
    pub interval: Interval,
    /// The paired bootstrap, as sacreBLEU defines it.
    pub bootstrap: P,
    /// Paired approximate randomisation.
    pub randomisation: P,
    /// The exact sign test over images, where the score is a mean.
    pub sign: Option<P>,
    /// The exact permutation test, where the score is a mean and few images differ; where many do,
    /// randomisation estimates the same p-value.
    pub permutation: Option<P>,
    /// On how many images the system is better, as good and worse.
    pub tally: Tally,
    /// Cohen's d of the differences of segment scores: their mean over their standard deviation; above 0 where
    /// the system's scores are higher, NaN where they do not vary.
    pub cohens_d: f64,
    /// What can be said at the report's level of confidence.
    pub verdict: Verdict,
}

/// The result of one test; NaN where a score is no number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct P {
    /// How probable so large a difference is if there is none.
    pub value: f64,
    /// The same, corrected for the number of tests.
    pub adjusted: f64,
}

/// What a comparison says of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is better than the baseline.
    Better,
    /// It is worse.
    Worse,
    /// Chance may explain the difference.
    Undecided,
}

impl Verdict {
    /// The name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Undecided => "undecided",
        }
    }
}

impl Comparison {
    /// The contrast of pair number `pair` by the measure `key`.
    #[must_use]
    pub fn contrast(&self, pair: usize, key: &str) -> Option<&Contrast> {
        self.pairs.get(pair)?.contrasts.get(self.report.measure(key)?)
    }
}
