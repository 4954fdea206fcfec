//! Reads tables with a header: a row for each event, with columns for the video, start, end and caption.

use capeval_choice::Refusal;

use super::{EXPECTED, Json, ReadOptions};
use crate::EventFile;

/// Reads a table separated by commas, semicolons or tabs.
pub(super) fn read(text: &str, name: &str, options: &ReadOptions) -> Result<EventFile, Refusal> {
    let header = text.lines().next().unwrap_or_default();
    let separator = [b'\t', b';', b',']
        .into_iter()
        .max_by_key(|separator| header.bytes().filter(|byte| byte == separator).count());
    let mut reader =
        csv::ReaderBuilder::new().delimiter(separator.unwrap_or(b',')).from_reader(text.as_bytes());
    let refuse = |error: csv::Error| Refusal::new(format!("{name}: {error}")).with_remedy(EXPECTED);
    let names: Vec<String> =
        reader.headers().map_err(refuse)?.iter().map(|field| field.trim().to_owned()).collect();
    if names.len() < 3 {
        return Err(Refusal::new(format!(
            "{name}: the first line is no header with a video, times and a caption"
        ))
        .with_remedy(EXPECTED));
    }
    let mut rows = Vec::new();
    for row in reader.records() {
        let row = row.map_err(refuse)?;
        let cells = names.iter().cloned().zip(row.iter().map(|cell| Json::Text(cell.to_owned())));
        rows.push(Json::Object(cells.collect()));
    }
    super::read_json(&Json::List(rows), name, options)
}
