//! Readers of captions: any bytes give the same result from memory and from a stream, and JSON agrees with serde_json.

use capeval_corpus::{
    Captions, ErrorKind, Format, GroupedCaptions, Ids, Policy, ReadOptions, Role, align, read, read_bytes,
    write,
};
use serde_json::Value;

/// Any bytes, decompressed and read in the detected format.
pub fn any(data: &[u8]) {
    check_reader(None, data);
}

pub fn coco(data: &[u8]) {
    check_reader(Some(Format::CocoAnnotations), data);
    check_against_serde_json(Format::CocoAnnotations, data, annotations_model);
}

pub fn coco_results(data: &[u8]) {
    check_reader(Some(Format::CocoResults), data);
    check_against_serde_json(Format::CocoResults, data, results_model);
}

pub fn karpathy(data: &[u8]) {
    check_reader(Some(Format::Karpathy), data);
}

pub fn list_json(data: &[u8]) {
    check_reader(Some(Format::ListJson), data);
}

pub fn dict_json(data: &[u8]) {
    check_reader(Some(Format::DictJson), data);
    check_against_serde_json(Format::DictJson, data, dict_model);
}

pub fn jsonl(data: &[u8]) {
    check_reader(Some(Format::JsonLines), data);
}

pub fn csv(data: &[u8]) {
    check_reader(Some(Format::Csv), data);
}

pub fn tsv(data: &[u8]) {
    check_reader(Some(Format::Tsv), data);
}

pub fn pipes(data: &[u8]) {
    check_reader(Some(Format::Pipes), data);
}

pub fn flickr(data: &[u8]) {
    check_reader(Some(Format::Tokens), data);
}

pub fn lines(data: &[u8]) {
    check_reader(Some(Format::Lines), data);
}

#[cfg(feature = "parquet")]
pub fn parquet(data: &[u8]) {
    check_reader(Some(Format::Parquet), data);
}

/// As [`any`], with what the first line says: the column of ids, those of captions, what to leave out and splits.
pub fn options(data: &[u8]) {
    let Some(end) = data.iter().position(|byte| *byte == b'\n') else { return };
    let Ok(line) = std::str::from_utf8(&data[..end]) else { return };
    let names = |part: &str| part.split('&').map(str::to_owned).collect::<Vec<_>>();
    let mut parts = line.split(';').map(|part| (!part.is_empty()).then_some(part));
    let mut next = || parts.next().flatten();
    let options = ReadOptions {
        id_column: next().map(str::to_owned),
        caption_columns: next().map(names),
        drop: next().map(names).unwrap_or_default(),
        split: next().map(names),
        ..ReadOptions::references()
    };
    check_options(&options, &data[end + 1..]);
}

/// Reads `data` in `format`, or the detected one.
fn check_reader(format: Option<Format>, data: &[u8]) {
    check_options(&ReadOptions { format, ..ReadOptions::references() }, data);
}

/// Reads `data` in both roles, from memory and as a stream.
fn check_options(options: &ReadOptions, data: &[u8]) {
    for role in [Role::References, Role::Candidates] {
        let options = ReadOptions { role, ..options.clone() };
        let whole = read_bytes(data, "f", &options);
        let streamed = read(data, "f", &options);
        match (whole, streamed) {
            (Ok(whole), Ok(streamed)) => {
                assert!(whole.iter().eq(streamed.iter()));
                check_captions(&whole);
            }
            (Err(whole), Err(streamed)) => {
                assert_eq!(whole.to_string(), streamed.to_string());
                let byte = whole.position().byte.unwrap_or(0);
                assert!(
                    byte <= data.len() as u64 || matches!(data, [0x1F, 0x8B, ..] | [_, _, 0x2F | 0x4D, ..])
                );
            }
            (whole, streamed) => panic!("{whole:?} but {streamed:?}"),
        }
    }
}

/// The ids and texts of captions.
type ReadCaptions = Vec<(Value, String)>;

/// Groups, aligns, writes and reads again.
fn check_captions(captions: &Captions) {
    for (row, (id, text)) in captions.iter().enumerate() {
        assert_eq!(captions.get(row), Some((id, text)));
    }
    for ids in Ids::ALL {
        if let Ok(references) = GroupedCaptions::new(captions.clone(), *ids) {
            let rows: usize = (0..references.len()).map(|image| references.rows(image).len()).sum();
            assert_eq!(rows, captions.len());
            let _ = align(references.index(), captions, &Policy::default());
        }
    }
    let mut bytes = Vec::new();
    write(captions, Format::JsonLines, &mut bytes).expect("JSON Lines can represent all captions");
    if captions.is_empty() && captions.declared().is_empty() {
        return;
    }
    let options = ReadOptions { format: Some(Format::JsonLines), ..ReadOptions::references() };
    let back = read_bytes(&bytes, "back", &options).expect("the written file can be read");
    // A caption that is a list written as text is read as its strings, with a notice.
    let is_list = |(_, text): (_, &str)| text.trim_start().starts_with(['{', '[', '(']);
    assert!(captions.iter().any(is_list) || back.iter().eq(captions.iter()));
}

/// Compares a reader of JSON documents with serde_json: `model` returns the captions of a document, or `None`
/// if it is not in the format.
fn check_against_serde_json(format: Format, data: &[u8], model: fn(&Value) -> Option<ReadCaptions>) {
    if let [0x1F, 0x8B, ..] | [_, _, 0x2F | 0x4D, ..] = data {
        return;
    }
    // The reader skips one byte order mark; neither parser accepts a second one.
    let document = data.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(data);
    let options = ReadOptions { format: Some(format), ..ReadOptions::candidates() };
    let ours = read_bytes(data, "f", &options);
    match (serde_json::from_slice::<Value>(document), ours) {
        (Ok(value), Ok(ours)) => {
            let theirs = model(&value).expect("an accepted document is in the format");
            let ours: Vec<(Value, String)> = ours
                .iter()
                .map(|(id, text)| (serde_json::to_value(id).expect("an id is JSON"), text.to_owned()))
                .collect();
            assert_eq!(ours, theirs);
        }
        (Ok(value), Err(error)) => {
            let too_deep = error.to_string().contains("too deep");
            let twice = error.kind() == ErrorKind::Duplicate;
            assert!(model(&value).is_none() || too_deep || twice, "{error}");
            assert!(error.kind() != ErrorKind::Syntax || too_deep, "{error}");
        }
        (Err(error), Ok(_)) => {
            let error = error.to_string();
            let text = String::from_utf8_lossy(data);
            let python = text.contains("NaN") || text.contains("Infinity");
            let known = ["out of range", "recursion limit", "surrogate", "hex escape"];
            assert!(python || known.iter().any(|known| error.contains(known)), "{error}");
        }
        (Err(_), Err(_)) => {}
    }
}

/// The captions of a list of `{"image_id", "caption"}`.
fn results_model(value: &Value) -> Option<Vec<(Value, String)>> {
    value.as_array()?.iter().map(record_model).collect()
}

/// The captions of `{"annotations": [...]}`; `None` if an image has an invalid id.
fn annotations_model(value: &Value) -> Option<Vec<(Value, String)>> {
    let object = value.as_object()?;
    if let Some(images) = object.get("images") {
        for image in images.as_array()? {
            if let Some(id) = image.as_object()?.get("id") {
                id_model(id)?;
            }
        }
    }
    results_model(object.get("annotations")?)
}

/// The captions of `{id: caption}` and `{id: [captions]}`.
fn dict_model(value: &Value) -> Option<Vec<(Value, String)>> {
    let mut captions = Vec::new();
    for (key, value) in value.as_object()? {
        let integer: Option<i64> = key.parse().ok().filter(|integer: &i64| integer.to_string() == *key);
        let id = integer.map_or_else(|| Value::from(key.as_str()), Value::from);
        match value {
            Value::String(caption) => captions.push((id, caption.clone())),
            Value::Array(list) => {
                for caption in list {
                    captions.push((id.clone(), caption.as_str()?.to_owned()));
                }
            }
            _ => return None,
        }
    }
    Some(captions)
}

fn record_model(record: &Value) -> Option<(Value, String)> {
    let record = record.as_object()?;
    Some((id_model(record.get("image_id")?)?, record.get("caption")?.as_str()?.to_owned()))
}

fn id_model(id: &Value) -> Option<Value> {
    match id {
        Value::String(_) => Some(id.clone()),
        // Python, and so this project, reads -0 as the integer 0.
        Value::Number(number) if number.to_string() == "-0.0" => Some(0.into()),
        Value::Number(_) => id.as_i64().map(Value::from),
        _ => None,
    }
}
