//! The coefficients of agreement between metrics and people.

use capeval::report::Agreement;
use serde::{Deserialize, Serialize};

/// A coefficient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coefficient {
    /// Pearson's r.
    Pearson,
    /// Spearman's ρ.
    Spearman,
    /// Kendall's τ-b.
    TauB,
    /// Kendall's τ-c.
    TauC,
    /// The share of pairs in which a metric prefers the caption that people prefer; the mean over categories of pairs.
    Accuracy,
}

impl Coefficient {
    /// The name in data.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pearson => "pearson",
            Self::Spearman => "spearman",
            Self::TauB => "tau-b",
            Self::TauC => "tau-c",
            Self::Accuracy => "accuracy",
        }
    }

    /// The name in tables.
    pub fn label(self) -> &'static str {
        match self {
            Self::Pearson => "Pearson r",
            Self::Spearman => "Spearman ρ",
            Self::TauB => "τ-b",
            Self::TauC => "τ-c",
            Self::Accuracy => "accuracy",
        }
    }

    /// The value without agreement.
    pub(crate) fn none(self) -> f64 {
        if self == Self::Accuracy { 0.5 } else { 0.0 }
    }

    pub(crate) fn of(self, agreement: &Agreement) -> Option<f64> {
        let Agreement { pearson, spearman, tau_b, tau_c, accuracy, n_pairs: _ } = agreement;
        let found = match self {
            Self::Pearson => pearson,
            Self::Spearman => spearman,
            Self::TauB => tau_b,
            Self::TauC => tau_c,
            Self::Accuracy => accuracy,
        };
        found.value
    }
}
