//! Scores of segments, as `capeval score --segments` and other programs write them.

use super::records::{self, Cell};
use crate::input::Source;
use crate::{Error, ErrorKind, Remedy, SegmentId};

/// Scores of segments by one or more metrics.
#[derive(Clone, Debug)]
pub struct SegmentScores {
    /// Where they come from.
    pub source: String,
    /// The metrics' keys.
    pub keys: Vec<String>,
    /// The segments.
    pub rows: Vec<ScoredSegment>,
}

/// A segment with its scores.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredSegment {
    /// The image.
    pub image: SegmentId,
    /// The system, if it is told.
    pub system: Option<String>,
    /// The caption, if it is told.
    pub caption: Option<String>,
    /// A finite number per key.
    pub scores: Vec<f64>,
}

/// Reads JSON Lines such as `{"system": …, "image_id": …, "scores": {…}}`, or a table (CSV, TSV, JSON) with a column
/// `image_id`, perhaps `system` and `caption`, and a column per metric.
///
/// # Errors
/// When there is no id, no metric, or a score that is no finite number.
pub fn read_scores(bytes: &[u8], name: &str) -> Result<SegmentScores, Error> {
    let text = Source::from_bytes(bytes, name)?.into_text()?.text;
    let records = records::read(&text, name)?;
    let has = |wanted: &str| records.names.iter().any(|name| name.starts_with(wanted));
    if has("captions") && has("votes") && has("scores.") {
        let message = "these are segments of pairs, with two captions and scores each";
        return Err(Error::new(ErrorKind::Format, name, message).with_remedy(Remedy::say(
            "give a table with image_id, caption and a column per metric, one row for each caption",
        )));
    }
    let find = |wanted: &[&str]| {
        wanted
            .iter()
            .find_map(|wanted| records.names.iter().position(|name| name.eq_ignore_ascii_case(wanted)))
    };
    let (id, system, caption) =
        (find(&["image_id", "image", "id"]), find(&["system", "model"]), find(&["caption"]));
    let Some(id) = id else {
        return Err(Error::new(ErrorKind::Shape, name, "there is no image_id beside the scores"));
    };
    let nested: Vec<usize> =
        (0..records.names.len()).filter(|k| records.names[*k].starts_with("scores.")).collect();
    let columns: Vec<usize> = if nested.is_empty() {
        (0..records.names.len()).filter(|k| *k != id && Some(*k) != system && Some(*k) != caption).collect()
    } else {
        nested
    };
    if columns.is_empty() || records.rows.is_empty() {
        return Err(Error::new(ErrorKind::Shape, name, "there are no scores in this file"));
    }
    let key = |k: &usize| records.names[*k].trim_start_matches("scores.").to_owned();
    let mut rows = Vec::with_capacity(records.rows.len());
    for record in &records.rows {
        let fault = |kind, message: String| Error::new(kind, name, message).at(record.place);
        let image = record.cell(Some(id)).and_then(Cell::id);
        let image = image.ok_or_else(|| fault(ErrorKind::Id, "there is no image_id in this row".into()))?;
        let mut scores = Vec::with_capacity(columns.len());
        for column in &columns {
            let score = match record.cell(Some(*column)) {
                Some(Cell::Integer(integer)) => Some(*integer as f64),
                Some(Cell::Number(number)) => Some(*number),
                Some(Cell::Text(text) | Cell::Untyped(text)) => text.trim().parse().ok(),
                Some(Cell::List(_)) | None => None,
            };
            let score = score.filter(|score: &f64| score.is_finite());
            scores.push(score.ok_or_else(|| {
                fault(
                    ErrorKind::Shape,
                    format!("the score by {} is missing or no finite number", key(column)),
                )
            })?);
        }
        let (system, caption) = (record.cell(system), record.cell(caption));
        rows.push(ScoredSegment {
            image,
            system: system.map(Cell::text),
            caption: caption.map(Cell::text),
            scores,
        });
    }
    Ok(SegmentScores { source: name.to_owned(), keys: columns.iter().map(key).collect(), rows })
}
