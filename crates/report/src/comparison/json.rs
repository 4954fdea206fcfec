//! The differences of systems as JSON, which is also their file.

use std::borrow::Cow;

use capeval_stats::Interval;
use capeval_stats::paired::Tally;
use serde::{Deserialize, Serialize};

use super::{Contrast, P, Verdict};
use crate::json_float;
use crate::render::programs::Map;

/// A pair of systems in JSON.
#[derive(Serialize, Deserialize)]
pub(crate) struct PairFields<'r> {
    pub baseline: Cow<'r, str>,
    pub system: Cow<'r, str>,
    pub contrasts: Map<Cow<'r, str>, ContrastFields>,
}

/// A contrast as JSON.
#[derive(Serialize, Deserialize)]
pub(crate) struct ContrastFields {
    #[serde(with = "json_float")]
    difference: f64,
    #[serde(with = "json_float")]
    interval: Interval,
    bootstrap: P,
    randomisation: P,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sign: Option<P>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exact: Option<P>,
    wins: usize,
    ties: usize,
    losses: usize,
    #[serde(with = "json_float")]
    cohens_d: f64,
    #[serde(with = "json_float")]
    superiority: f64,
    verdict: Cow<'static, str>,
    /// Only where there is no test.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    tested: bool,
}

fn yes() -> bool {
    true
}

fn is_yes(tested: &bool) -> bool {
    *tested
}

impl ContrastFields {
    pub fn new(contrast: &Contrast) -> Self {
        let tally = contrast.tally;
        Self {
            difference: contrast.difference,
            interval: contrast.interval,
            bootstrap: contrast.bootstrap,
            randomisation: contrast.randomisation,
            sign: contrast.sign,
            exact: contrast.permutation,
            wins: tally.wins,
            ties: tally.ties,
            losses: tally.losses,
            cohens_d: contrast.cohens_d,
            superiority: tally.superiority(),
            verdict: Cow::Borrowed(contrast.verdict.name()),
            tested: contrast.has_test,
        }
    }

    /// The contrast again; `None` if there is no such verdict, or no such number of images.
    pub fn contrast(&self) -> Option<Contrast> {
        self.wins.checked_add(self.ties)?.checked_add(self.losses)?;
        Some(Contrast {
            difference: self.difference,
            interval: self.interval,
            bootstrap: self.bootstrap,
            randomisation: self.randomisation,
            sign: self.sign,
            permutation: self.exact,
            tally: Tally { wins: self.wins, ties: self.ties, losses: self.losses },
            cohens_d: self.cohens_d,
            has_test: self.tested,
            verdict: Verdict::ALL.into_iter().find(|verdict| verdict.name() == self.verdict)?,
        })
    }
}
