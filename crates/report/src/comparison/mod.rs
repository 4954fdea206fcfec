//! The result of a comparison of systems, as plain data.

use capeval_stats::correction::Correction;
use capeval_stats::paired::Tally;
use capeval_stats::{Interval, Resampling};
use serde::{Deserialize, Serialize};

use crate::json_float;
use crate::{RankRule, Report};

pub(crate) mod json;
mod matrix;
mod study;
mod tables;
pub(crate) mod tail;

pub use study::KIND;
pub(crate) use tables::p_value;

/// The result of a comparison of systems.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The systems' scores, with confidence intervals.
    pub report: Report,
    /// The draws of resamples and the exchanges of scores.
    pub resampling: Resampling,
    /// The correction of p-values over all pairs and measures. Each test is corrected on its own, but where there is no
    /// exact p-value, the one by randomisation joins the exact ones, since the verdict is based on either.
    pub correction: Correction,
    /// The pairs that were compared.
    pub pairs: Vec<Pair>,
}

/// Two systems and their differences.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The index of the system that the other one is compared with.
    pub baseline: usize,
    /// The index of the other system.
    pub system: usize,
    /// The contrast of each measure, in the report's order.
    pub contrasts: Vec<Contrast>,
}

/// The difference of two systems by one measure.
#[derive(Clone, Copy, Debug)]
pub struct Contrast {
    /// The system's score minus the baseline's, on the measure's own scale.
    pub difference: f64,
    /// The percentile interval of the difference over bootstrap resamples of the images.
    pub interval: Interval,
    /// The paired bootstrap test, as sacreBLEU defines it.
    pub bootstrap: P,
    /// The paired approximate randomisation test.
    pub randomisation: P,
    /// The exact sign test over images; `None` if the score is not a mean of scores of images.
    pub sign: Option<P>,
    /// The exact permutation test; `None` if the score is not a mean of scores of images, or if too many images differ.
    /// Randomisation then estimates the same p-value.
    pub permutation: Option<P>,
    /// The numbers of images on which the system is better, equal and worse.
    pub tally: Tally,
    /// Cohen's d of the differences of segment scores: their mean over their standard deviation; above 0 where
    /// the system's scores are higher, NaN where they do not vary.
    pub cohens_d: f64,
    /// True if the measure is tested and has an interval; one that is itself the end of an interval does not.
    pub has_test: bool,
    /// The verdict at the level of confidence of [`Comparison::resampling`].
    pub verdict: Verdict,
}

/// The p-values of one test; NaN if a score is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct P {
    /// The probability of a difference at least this large if the systems do not differ.
    #[serde(rename = "p", with = "json_float")]
    pub value: f64,
    /// The p-value corrected for the number of tests.
    #[serde(with = "json_float")]
    pub adjusted: f64,
}

/// The verdict on a system beside its baseline: better, worse, or undecided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is significantly better.
    Better,
    /// It is significantly worse.
    Worse,
    /// The difference is not significant.
    Undecided,
}

impl Verdict {
    /// All verdicts.
    pub(crate) const ALL: [Self; 3] = [Self::Better, Self::Worse, Self::Undecided];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Undecided => "undecided",
        }
    }
}

/// There are too few resamples for the number of tests, so no randomisation test can find a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFewResamples {
    /// The number of tests that are corrected together.
    pub tests: usize,
    /// The number of resamples drawn.
    pub resamples: usize,
    /// The smallest number that suffices.
    pub enough: usize,
}

impl Comparison {
    /// Reports too few resamples: even the smallest possible p-value of [`resampling`](Self::resampling), 1 /
    /// (resamples + 1), is not significant after [correction](Self::correction), so that every verdict by randomisation
    /// is undecided.
    ///
    /// Holm's and Bonferroni's corrections multiply the smallest of n p-values by n; Benjamini and Hochberg's leaves it
    /// unchanged if all are equally small. `None` if there are enough, or if exact tests decide everything.
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

    /// Sorts the systems by the measure `key`, best first; `None` if there is no such measure.
    pub fn sort_by(&mut self, key: &str) -> Option<()> {
        let order = self.report.sort_by(key)?;
        self.arrange(&order);
        Some(())
    }

    /// Ranks the systems by a rule over several measures.
    pub fn rank_by(&mut self, rule: &RankRule) {
        let order = self.report.rank_by(rule);
        self.arrange(&order);
    }

    /// Has the pairs name the systems by their places in `order`.
    fn arrange(&mut self, order: &[usize]) {
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, system)| places[*system] = place);
        for pair in &mut self.pairs {
            (pair.baseline, pair.system) = (places[pair.baseline], places[pair.system]);
        }
    }

    /// Multiplies scores, differences and their intervals by 100, except those that are on another scale.
    pub fn scale_to_percent(&mut self) {
        let factors = self.report.scale_to_percent();
        for (contrast, factor) in
            self.pairs.iter_mut().flat_map(|pair| pair.contrasts.iter_mut().zip(&factors))
        {
            contrast.difference *= factor;
            contrast.interval = contrast.interval.scaled(*factor);
        }
    }

    /// The contrast of pair number `pair` by the measure `key`; `None` if there is no such pair or measure.
    pub fn contrast(&self, pair: usize, key: &str) -> Option<&Contrast> {
        self.pairs.get(pair)?.contrasts.get(self.report.measure(key)?)
    }
}
