//! Comparing scores with golden ones, digit for digit or within the tolerance that a file states.

use std::fmt::Write as _;

use serde::Deserialize;

use crate::{Case, Scores};

/// How far scores may be from the golden ones.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    segment: Limit,
    corpus: Limit,
    /// Why the scores need not be equal in every bit.
    #[serde(default)]
    why: String,
}

/// `"bits"`, or the largest difference: absolute for scores up to 1, relative for those above.
#[derive(Clone, Default, Deserialize)]
#[serde(untagged)]
enum Limit {
    #[default]
    #[serde(skip)]
    Unset,
    Bits(Bits),
    Difference(f64),
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Bits {
    Bits,
}

impl Limit {
    fn allows(&self, expected: f64, found: f64) -> bool {
        match self {
            Self::Unset | Self::Bits(Bits::Bits) => expected.to_bits() == found.to_bits(),
            Self::Difference(limit) => (expected - found).abs() <= limit * expected.abs().max(1.0),
        }
    }
}

/// How many differences a message lists.
const SHOWN: usize = 5;

impl Case {
    /// Compares scores with the golden ones.
    ///
    /// # Errors
    /// With the file, the case, and each score that differs.
    pub fn check(&self, found: &Scores) -> Result<(), String> {
        let mut differences = Vec::new();
        let tolerance = &self.source.tolerance;
        for (key, expected) in &self.corpus {
            let found = found.corpus.get(key).copied();
            if !expected.is_nan() && !found.is_some_and(|found| tolerance.corpus.allows(*expected, found)) {
                differences
                    .push(format!("{key} of the corpus: expected {expected:?}, found {}", shown(found)));
            }
        }
        let segments = self.segments();
        for (key, expected) in &self.segment {
            let found = found.segment.get(key).map_or(&[][..], Vec::as_slice);
            if found.len() != expected.len() || found.len() != segments.len() {
                let counts = (expected.len(), found.len());
                differences.push(format!("{key}: expected {} segments, found {}", counts.0, counts.1));
                continue;
            }
            for (k, (expected, found)) in expected.iter().zip(found).enumerate() {
                if !expected.is_nan() && !tolerance.segment.allows(*expected, *found) {
                    differences.push(format!(
                        "{key} of segment {k}, {:?}: expected {expected:?}, found {found:?}",
                        segments[k].captions
                    ));
                }
            }
        }
        if differences.is_empty() { Ok(()) } else { Err(self.message(&differences)) }
    }

    fn message(&self, differences: &[String]) -> String {
        let mut message = format!(
            "{}, case {}: {} differs from {} in {} scores",
            self.source.file,
            self.name,
            self.metric,
            self.source.program,
            differences.len()
        );
        for difference in differences.iter().take(SHOWN) {
            write!(message, "\n  {difference}").unwrap();
        }
        if differences.len() > SHOWN {
            message.push_str("\n  …");
        }
        if !self.source.tolerance.why.is_empty() {
            write!(message, "\n  (a tolerance is stated, since {})", self.source.tolerance.why).unwrap();
        }
        message
    }
}

fn shown(found: Option<f64>) -> String {
    found.map_or_else(|| "none".to_owned(), |found| format!("{found:?}"))
}

impl Scores {
    /// Takes down the scores of one part of a metric.
    pub fn insert(&mut self, key: &str, corpus: f64, segments: Vec<f64>) {
        self.corpus.insert(key.to_owned(), corpus);
        self.segment.insert(key.to_owned(), segments);
    }
}
