//! Reads lists of ids.

use anyhow::{Context, Result};
use capeval::corpus::SegmentId;
use capeval_files as files;

/// Reads a list of ids: one per line, or a JSON array.
pub fn ids(path: &str) -> Result<Vec<SegmentId>> {
    let text = files::text(path)?;
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(&text).with_context(|| format!("{path}: not a JSON array of ids"));
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(SegmentId::from_untyped).collect())
}
