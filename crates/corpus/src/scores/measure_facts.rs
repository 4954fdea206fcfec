//! The description of measures in a file of scores: range and direction.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::SegmentScores;
use crate::{Error, ErrorKind, Position, Remedy};

/// The range of a measure, and whether lower is better by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MeasureFacts {
    /// The lowest and the highest possible value; infinite if there is none.
    #[serde(deserialize_with = "range")]
    pub range: Option<(f64, f64)>,
    /// True if lower is better.
    pub lower_is_better: Option<bool>,
}

/// JSON has `null` for an infinite bound.
fn range<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<(f64, f64)>, D::Error> {
    let range: Option<(Option<f64>, Option<f64>)> = Option::deserialize(deserializer)?;
    let range = range.map(|(low, high)| (low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY)));
    match range {
        Some((low, high)) if low.is_nan() || high.is_nan() || low >= high => {
            Err(serde::de::Error::custom(format_args!("[{low}, {high}] is no range, from low to high")))
        }
        range => Ok(range),
    }
}

/// The header of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    measures: BTreeMap<String, MeasureFacts>,
}

/// A text whose first line may be a header.
pub(super) struct SplitText<'t> {
    pub described: Vec<(String, MeasureFacts)>,
    /// The text that follows it.
    pub rest: &'t str,
    /// True if it was a comment above a table.
    pub is_comment: bool,
}

/// Splits the header from a text: a line `{"measures": …}` alone, or in a comment of a table.
pub(super) fn split<'t>(text: &'t str, name: &str) -> Result<SplitText<'t>, Error> {
    let end = text.find('\n').unwrap_or(text.len());
    let (line, rest) = text.split_at(end);
    let line = line.trim();
    let comment = line.strip_prefix('#').map(str::trim_start);
    let is_header = |line: &str| {
        let mut value = line.strip_prefix('{').map(str::trim_start).into_iter();
        value.any(|value| value.starts_with("\"measures\"")) && super::is_whole(line)
    };
    let none = SplitText { described: Vec::new(), rest: text, is_comment: false };
    match (comment, rest.trim().is_empty()) {
        (Some(header), _) if is_header(header) => {
            Ok(SplitText { described: read(header, name)?, rest, is_comment: true })
        }
        (None, false) if is_header(line) => {
            Ok(SplitText { described: read(line, name)?, rest, is_comment: false })
        }
        _ => Ok(none),
    }
}

/// Reads a header.
pub(super) fn read(header: &str, name: &str) -> Result<Vec<(String, MeasureFacts)>, Error> {
    let header: Header = serde_json::from_str(header).map_err(|error| {
        let place = Position { line: Some(1), ..Position::default() };
        let message = format!("the description of its measures: {error}");
        Error::new(ErrorKind::Syntax, name, message).at(place).with_remedy(Remedy::say(
            "write it as {\"measures\": {\"NAME\": {\"range\": [0, 1], \"lower_is_better\": false}}}",
        ))
    })?;
    Ok(header.measures.into_iter().collect())
}

impl SegmentScores {
    /// Describes measures, in place of what the file says about them.
    ///
    /// # Errors
    /// When there is no such measure, or a score is outside of its range.
    pub fn describe(&mut self, described: Vec<(String, MeasureFacts)>) -> Result<(), Error> {
        self.described.retain(|(name, _)| described.iter().all(|(other, _)| other != name));
        self.described.extend(described);
        check(self)
    }
}

/// Refuses descriptions of other measures than the file has, and scores outside of their range.
pub(super) fn check(scores: &mut SegmentScores) -> Result<(), Error> {
    if scores.is_unnamed
        && let [(name, _)] = &scores.described[..]
    {
        scores.keys = vec![name.clone()];
        scores.is_unnamed = false;
    }
    let SegmentScores { source, keys, described, rows, .. } = scores;
    for (name, MeasureFacts { range, .. }) in described.iter() {
        let Some(column) = keys.iter().position(|key| key == name) else {
            let message =
                format!("{name} is described, but there is no such score, only {}", keys.join(", "));
            return Err(Error::new(ErrorKind::Shape, &*source, message));
        };
        let Some((low, high)) = *range else { continue };
        for row in rows.iter() {
            let Some(score) = row.scores.get(column) else { continue };
            if *score < low || *score > high {
                let message =
                    format!("the score by {name} is {score}, outside of its range from {low} to {high}");
                return Err(Error::new(ErrorKind::Shape, &*source, message).at(row.place));
            }
        }
    }
    Ok(())
}
