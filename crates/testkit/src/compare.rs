//! Compares scores with golden values, digit for digit or within the tolerance given in the file.

use std::fmt::Write as _;

use serde::Deserialize;

use crate::{Case, Scores};

/// The maximum difference from the golden values.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    segment: Limit,
    corpus: Limit,
    /// The reason why scores need not be equal bit for bit.
    #[serde(default)]
    why: String,
}

/// `"bits"`, or the maximum difference: absolute for scores up to 1, relative for larger ones.
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

/// The maximum number of differences listed in a message.
const SHOWN: usize = 5;

impl Case {
    /// Compares scores with the golden ones.
    ///
    /// # Errors
    /// A message that names the file, the case, and the scores that differ.
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
            write!(message, "\n  (there is a tolerance because {})", self.source.tolerance.why).unwrap();
        }
        message
    }
}

fn shown(found: Option<f64>) -> String {
    found.map_or_else(|| "none".to_owned(), |found| format!("{found:?}"))
}

impl Scores {
    /// Adds the scores of one part of a metric.
    pub fn insert(&mut self, key: &str, corpus: f64, segments: Vec<f64>) {
        self.corpus.insert(key.to_owned(), corpus);
        self.segment.insert(key.to_owned(), segments);
    }
}
