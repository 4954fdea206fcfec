//! Signatures in files: each as the line that it prints as.

use capeval_metric::Signature;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

/// Writes signatures as lines.
pub fn serialize<S: Serializer>(signatures: &[Signature], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(signatures.iter().map(ToString::to_string))
}

/// Reads what [`serialize`] writes.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Signature>, D::Error> {
    let lines = Vec::<String>::deserialize(deserializer)?;
    lines.iter().map(|line| line.parse().map_err(D::Error::custom)).collect()
}
