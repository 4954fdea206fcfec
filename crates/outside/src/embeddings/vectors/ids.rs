//! The ids of the rows of a matrix, in a file beside it.

use std::path::Path;

use capeval::choice::SegmentId;
use capeval_choice::Refusal;
use capeval_files::Error;
use serde_json::Value;

use crate::embeddings::hash;

/// The ends of names of such files, in place of `.npy`.
const ENDS: [&str; 3] = [".json", ".txt", "~im2row.json"];

/// The ids of the `n` rows of the matrix at `path`, and the hash of their file.
pub(super) fn beside(path: &str, n: usize) -> Result<(Vec<SegmentId>, String), Error> {
    let stem = path.strip_suffix(".npy").unwrap_or(path);
    // As CLIPScore's own vectors: features~MODEL.npy and features~MODEL~im2row.json, or features~im2row.json.
    let shorter = stem.rsplit_once('~').map(|(stem, _)| format!("{stem}~im2row.json"));
    let names = ENDS.iter().map(|end| format!("{stem}{end}")).chain(shorter);
    let Some(name) = names.into_iter().find(|name| Path::new(&*capeval_files::expanded(name)).is_file())
    else {
        let message = "there are no ids of its rows";
        let remedy = format!(
            "put them into {stem}.json, as a list or as {{id: row}}, or into {stem}.txt, an id a line"
        );
        return Err(Refusal::new(message).with_remedy(remedy).at(path).into());
    };
    let bytes = capeval_files::read(&name)?;
    let ids = if name.ends_with(".txt") { lines(&bytes) } else { json(&bytes, n) };
    let ids = ids.and_then(|ids| match ids.len() == n {
        true => Ok(ids),
        false => {
            let message = format!("there are {} ids, and {path} has {n} rows", ids.len());
            Err(Refusal::new(message).with_remedy("give an id for each row"))
        }
    });
    Ok((ids.map_err(|refusal| refusal.at(&name))?, hash::of(&bytes)))
}

/// An id in each line.
fn lines(bytes: &[u8]) -> Result<Vec<SegmentId>, Refusal> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| Refusal::new("the ids are not in UTF-8").with_remedy("save them in UTF-8"))?;
    Ok(text.lines().map(SegmentId::from_untyped).collect())
}

/// A list of ids, or the row of each id.
fn json(bytes: &[u8], n: usize) -> Result<Vec<SegmentId>, Refusal> {
    let value: Value = serde_json::from_slice(bytes)
        .map_err(|error| Refusal::new(format!("no JSON: {error}")).with_remedy("save the ids again"))?;
    match value {
        Value::Array(ids) => list(&ids),
        Value::Object(rows) => {
            let mut ids: Vec<Option<SegmentId>> = vec![None; n];
            for (id, row) in &rows {
                let place = row.as_u64().and_then(|row| ids.get_mut(usize::try_from(row).ok()?));
                match place {
                    Some(place @ None) => *place = Some(SegmentId::from_untyped(id)),
                    Some(Some(other)) => {
                        let message = format!("{id:?} and {} have the same row, {row}", other.quoted());
                        return Err(Refusal::new(message).with_remedy("give each id its own row"));
                    }
                    None => {
                        let message = format!("{id:?} has the row {row}, and there are {n} rows, from 0");
                        return Err(Refusal::new(message).with_remedy("give the rows of this matrix"));
                    }
                }
            }
            let found: Option<Vec<SegmentId>> = ids.into_iter().collect();
            found.ok_or_else(|| {
                Refusal::new(format!("there are {} ids, and {n} rows", rows.len()))
                    .with_remedy("give an id for each row")
            })
        }
        _ => Err(Refusal::new("the ids are neither a list nor {id: row}").with_remedy("write one of them")),
    }
}

/// The ids in a list.
pub(super) fn list(ids: &[Value]) -> Result<Vec<SegmentId>, Refusal> {
    ids.iter().map(id).collect()
}

fn id(value: &Value) -> Result<SegmentId, Refusal> {
    match value {
        Value::String(text) => Ok(SegmentId::from_untyped(text)),
        Value::Number(number) if number.as_i64().is_some() => {
            Ok(SegmentId::Integer(number.as_i64().unwrap_or_default()))
        }
        other => Err(Refusal::new(format!("{other} is no id")).with_remedy("write numbers or texts")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_lists_maps_and_lines() {
        let ids = ["a", "7", "000"].map(SegmentId::from_untyped);
        assert_eq!(json(br#"["a", 7, "000"]"#, 3).unwrap(), ids);
        assert_eq!(json(br#"{"000": 2, "a": 0, "7": 1}"#, 3).unwrap(), ids);
        assert_eq!(lines(b"a\r\n7\n000\n").unwrap(), ids);
    }

    #[test]
    fn ids_that_fit_no_matrix_are_refused() {
        let why = |bytes: &[u8]| json(bytes, 2).unwrap_err().to_string();
        assert_eq!(why(br#"{"a": 2}"#), "\"a\" has the row 2, and there are 2 rows, from 0");
        assert_eq!(why(br#"{"a": 1, "b": 1}"#), "\"b\" and \"a\" have the same row, 1");
        assert_eq!(why(br#"{"a": 1}"#), "there are 1 ids, and 2 rows");
        assert_eq!(why(b"[[]]"), "[] is no id");
        assert_eq!(why(b"3"), "the ids are neither a list nor {id: row}");
        assert!(why(b"[").starts_with("no JSON"));
    }
}
