//! Reads lists of ids.

use anyhow::{Context, Result};
use capeval::corpus::SegmentId;
use capeval_files as files;

/// Reads a list of ids: one per line, or a JSON array.
pub fn ids(path: &str) -> Result<Vec<SegmentId>> {
    let text = files::text(path)?;
    if text.trim_start().starts_with('[') {
        let values: Vec<serde_json::Value> =
            serde_json::from_str(&text).with_context(|| format!("{path}: not a JSON array of ids"))?;
        return values
            .iter()
            .map(|value| id(value).with_context(|| format!("{path}: {value} is not an id")))
            .collect();
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(SegmentId::from_untyped).collect())
}

fn id(value: &serde_json::Value) -> Option<SegmentId> {
    match value {
        serde_json::Value::String(text) => Some(text.as_str().into()),
        _ => value.as_i64().map(SegmentId::from),
    }
}
