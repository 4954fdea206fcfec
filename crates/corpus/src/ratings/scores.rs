//! Scores of segments, as written by reports or other programs.

use crate::input::Source;
use crate::table::{Cell, Nesting, Table, known};
use crate::{Error, ErrorKind, Remedy, SegmentId};

/// The description of a row in errors.
const EXPECTED: &str = "an object with keys such as image_id and scores";

/// Scores of segments by one or more metrics.
#[derive(Clone, Debug)]
pub struct SegmentScores {
    /// The display name of the source.
    pub source: String,
    /// The keys of the metrics.
    pub keys: Vec<String>,
    /// The segments.
    pub rows: Vec<ScoredSegment>,
}

/// A segment with its scores.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredSegment {
    /// The image.
    pub image: SegmentId,
    /// The system, if given.
    pub system: Option<String>,
    /// The caption, if given.
    pub caption: Option<String>,
    /// The scores: one finite number per key.
    pub scores: Vec<f64>,
}

/// Reads JSON Lines such as `{"system": …, "image_id": …, "scores": {…}}`, or a table (CSV, TSV, JSON, Parquet) with a
/// column `image_id`, optionally `system` and `caption`, and a column per metric.
pub fn read_scores(bytes: &[u8], name: &str) -> Result<SegmentScores, Error> {
    let table = Table::read(Source::from_bytes(bytes, name)?, EXPECTED, Nesting::Flat)?;
    let has = |wanted: &str| table.names.iter().any(|name| name.starts_with(wanted));
    if has("captions") && has("votes") && has("scores.") {
        let message = "these are segments of pairs, with two captions and scores each";
        return Err(Error::new(ErrorKind::Format, name, message).with_remedy(Remedy::say(
            "give a table with image_id, caption and a column per metric, one row for each caption",
        )));
    }
    let names = table.names();
    let (id, system, caption) =
        (names.known(known::IMAGE), names.known(known::SYSTEM), table.judged_caption(&["caption"]));
    let Some(id) = id else {
        return Err(Error::new(ErrorKind::Shape, name, "there is no image_id, only scores"));
    };
    let is_score = |column: &usize| *column != id && Some(*column) != system && Some(*column) != caption;
    let mut columns: Vec<usize> = (0..table.names.len()).filter(is_score).collect();
    if has("scores.") {
        columns.retain(|column| table.names[*column].starts_with("scores."));
    }
    if columns.is_empty() || table.rows.is_empty() {
        return Err(Error::new(ErrorKind::Shape, name, "there are no scores in this file"));
    }
    let about: Vec<usize> = [id].into_iter().chain(system).chain(caption).collect();
    names.refuse_twins(&about, name)?;
    names.refuse_same(&[about, columns.clone()].concat(), name)?;
    let key = |column: &usize| table.names[*column].trim_start_matches("scores.").to_owned();
    let mut rows = Vec::with_capacity(table.rows.len());
    for row in &table.rows {
        let fault = |kind, message: String| Error::new(kind, name, message).at(row.place);
        let cell = |column: usize| row.get(&table.names[column]);
        let image = cell(id).and_then(Cell::id);
        let image = image.ok_or_else(|| fault(ErrorKind::Id, "there is no image_id in this row".into()))?;
        let score = |column: &usize| {
            let score = match cell(*column) {
                Some(Cell::Bool(truth)) => Some(f64::from(u8::from(*truth))),
                cell => cell.and_then(Cell::number),
            };
            score.filter(|score| score.is_finite()).ok_or_else(|| {
                let message = format!("the score by {} is missing or not a finite number", key(column));
                fault(ErrorKind::Shape, message)
            })
        };
        let scores = columns.iter().map(score).collect::<Result<_, _>>()?;
        let text = |column: Option<usize>| column.and_then(cell).map(Cell::to_string);
        rows.push(ScoredSegment { image, system: text(system), caption: text(caption), scores });
    }
    Ok(SegmentScores { source: name.to_owned(), keys: columns.iter().map(key).collect(), rows })
}
