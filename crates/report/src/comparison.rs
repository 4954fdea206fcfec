//! What a comparison of systems found, as plain data.

use capeval_stats::correction::Correction;
use capeval_stats::paired::Tally;
use capeval_stats::{Interval, Resampling};
use serde::Serialize;

use crate::Report;

mod render;

pub(crate) use render::{latex, markdown, p_value, table};

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
    /// Whether there are tests of the measure; the ends of an interval have none, and no interval either.
    pub has_test: bool,
    /// What can be said at the report's level of confidence.
    pub verdict: Verdict,
}

/// The result of one test; NaN where a score is no number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct P {
    /// How probable so large a difference is if there is none.
    #[serde(rename = "p")]
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

/// Why no test by drawn exchanges can find a difference: there are too few for the number of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFewResamples {
    /// How many tests are corrected together.
    pub tests: usize,
    /// How many exchanges were drawn.
    pub resamples: usize,
    /// How many would do.
    pub enough: usize,
}

impl Comparison {
    /// Whether the least p-value that [`resampling`](Self::resampling) can give, 1 / (resamples + 1), is no finding
    /// once it is [corrected](Self::correction), so that no verdict by randomisation can be but undecided.
    ///
    /// Holm's correction and Bonferroni's multiply the least of n p-values by n; Benjamini and Hochberg's leaves it as
    /// it is where all are as small. `None` where exact tests decide everything.
    #[must_use]
    pub fn too_few_resamples(&self) -> Option<TooFewResamples> {
        let contrasts = || self.pairs.iter().flat_map(|pair| &pair.contrasts);
        let is_test = |contrast: &&Contrast| !contrast.randomisation.value.is_nan();
        if !contrasts().filter(is_test).any(|contrast| contrast.permutation.is_none()) {
            return None;
        }
        let factor = match self.correction {
            Correction::None | Correction::BenjaminiHochberg => 1,
            Correction::Bonferroni | Correction::Holm => contrasts().filter(is_test).count(),
        };
        let finds =
            |resamples: usize| (factor as f64) / (resamples as f64 + 1.0) < 1.0 - self.resampling.level;
        let resamples = self.resampling.resamples;
        if finds(resamples) {
            return None;
        }
        let least = (factor as f64 / (1.0 - self.resampling.level)) as usize;
        let enough = (least.saturating_sub(1)..).find(|n| finds(*n)).unwrap_or(usize::MAX);
        Some(TooFewResamples { tests: factor, resamples, enough })
    }

    /// The contrast of pair number `pair` by the measure `key`.
    #[must_use]
    pub fn contrast(&self, pair: usize, key: &str) -> Option<&Contrast> {
        self.pairs.get(pair)?.contrasts.get(self.report.measure(key)?)
    }
}
