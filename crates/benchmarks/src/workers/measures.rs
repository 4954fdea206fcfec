//! The measures that a phase declares for its hosts' machines.

use std::collections::HashSet;

use anyhow::ensure;
use capeval_site::{clean_text, reason};
use capeval_tasks::MeasureInfo;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most measures of a phase, and the most characters of a key or a label.
const MEASURES: usize = 20;
const LABEL: usize = 40;

/// A measure as a file describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenMeasure {
    /// The name for programs: small letters, digits, hyphens.
    pub key: String,
    /// The name for people; the key by default.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    #[serde(default)]
    pub lower_is_better: bool,
    /// True if it is a number of things, shown without decimals.
    #[serde(default)]
    pub is_count: bool,
    /// The least value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The largest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

impl GivenMeasure {
    fn info(&self) -> MeasureInfo {
        MeasureInfo {
            key: self.key.clone(),
            label: if self.label.is_empty() { self.key.clone() } else { self.label.clone() },
            lower_is_better: self.lower_is_better,
            is_count: self.is_count,
            group: None,
        }
    }

    /// Returns true if the measure can have a value.
    pub fn has(&self, value: f64) -> bool {
        value.is_finite()
            && self.min.is_none_or(|min| value >= min)
            && self.max.is_none_or(|max| value <= max)
    }
}

/// Checks the measures of a phase.
pub fn checked(measures: &[GivenMeasure]) -> anyhow::Result<()> {
    ensure!(measures.len() <= MEASURES, reason!("{} has at most {} entries", "given", MEASURES));
    let mut keys = HashSet::new();
    for GivenMeasure { key, label, min, max, .. } in measures {
        ensure!(
            clean_text::is_key(key, LABEL),
            reason!(
                "given: `{}` is not a key: use at most {} lowercase letters, digits and hyphens",
                key,
                LABEL
            )
        );
        ensure!(keys.insert(key), reason!("given: two measures have the key {}", key));
        ensure!(
            clean_text::line(label) == *label && label.chars().count() <= LABEL,
            reason!("given: `{}` is not a text of at most {} characters", label, LABEL)
        );
        let ends = [min, max].map(|end| end.unwrap_or(0.0));
        ensure!(
            ends.iter().all(|end| end.is_finite()) && min.zip(*max).is_none_or(|(min, max)| min < max),
            reason!("given: min of {} must be less than max", key)
        );
    }
    Ok(())
}

/// Adds the measures that machines give to those of the engine.
///
/// # Errors
/// If both have a key in common.
pub fn extend(measures: &mut Vec<MeasureInfo>, given: &[GivenMeasure]) -> Result<(), String> {
    for measure in given {
        if measures.iter().any(|known| known.key == measure.key) {
            return Err(reason!(
                "given: the metrics have a measure {}, too: choose another key",
                measure.key
            ));
        }
        measures.push(measure.info());
    }
    Ok(())
}
