//! Options of confidence intervals and tests: the level, the number of resamples and their seed.

use anyhow::Result;
use capeval::stats::Resampling;

use crate::fault::{fault, sentence};

/// Confidence intervals.
#[derive(clap::Args)]
#[command(next_help_heading = "Confidence intervals")]
pub struct Intervals {
    /// Add a confidence interval to every score, from resamples of the images; LEVEL is in percent, 95 if left out.
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_missing_value = "95", value_parser = level)]
    ci: Option<f64>,
    #[command(flatten)]
    draws: Draws,
}

impl Intervals {
    /// The options for resampling; `None` without intervals.
    pub fn resampling(&self) -> Result<Option<Resampling>> {
        if self.ci.is_none() && (self.draws.resamples.is_some() || self.draws.seed.is_some()) {
            return Err(fault(
                "--resamples and --seed have no effect without confidence intervals",
                "add --ci, or leave them out",
            ));
        }
        Ok(self.ci.map(|level| Resampling { level, ..self.draws.resampling() }))
    }
}

/// The number of resamples, and their seed.
#[derive(clap::Args)]
pub struct Draws {
    /// Number of resamples [default: 10000].
    #[arg(long, value_name = "N", value_parser = resamples)]
    resamples: Option<usize>,
    /// Seed of the resamples; the same seed gives the same digits on every machine [default: 12345].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl Draws {
    /// The options of the library.
    pub fn resampling(&self) -> Resampling {
        let default = Resampling::default();
        let (resamples, seed) =
            (self.resamples.unwrap_or(default.resamples), self.seed.unwrap_or(default.seed));
        Resampling { resamples, seed, ..default }
    }
}

/// Parses a confidence level: `95`, `95%` or `0.95`.
pub fn level(text: &str) -> Result<f64, String> {
    let (number, is_percent) = match text.strip_suffix('%') {
        Some(number) => (number, true),
        None => (text, false),
    };
    let number: f64 = number.trim().parse().map_err(|_| "must be a number such as 95 or 0.95".to_owned())?;
    // Levels of one percent or less are useless, so such a number is a fraction.
    let level = if is_percent || number > 1.0 { number / 100.0 } else { number };
    let is_level = Resampling { level, ..Resampling::default() }.check().is_ok();
    is_level.then_some(level).ok_or_else(|| {
        format!("'{text}' is not a confidence level; use a percentage between 0 and 100, such as 95")
    })
}

pub fn resamples(text: &str) -> Result<usize, String> {
    let resamples: usize = text.parse().map_err(|_| "must be a whole number such as 10000".to_owned())?;
    Resampling { resamples, ..Resampling::default() }
        .check()
        .map_err(|refusal| sentence(&refusal))
        .map(|()| resamples)
}
