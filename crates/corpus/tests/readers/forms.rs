//! Twenty captions in twelve forms, and in Parquet, against their references in as many: each pair is read right, or
//! refused with a remedy.

use std::collections::BTreeMap;

use capeval_corpus::{Captions, Ids, Opposite, ReadOptions, agree, read_bytes};

const WHO: [&str; 5] = ["dog", "woman", "red train", "surfer", "clock tower"];
const WHERE: [&str; 4] = ["on the beach", "in a kitchen", "near a bridge", "under tall trees"];

/// The id, the caption and two references of each image.
fn images() -> Vec<(String, String, [String; 2])> {
    let image = |k: usize| {
        let (who, place) = (WHO[k % 5], WHERE[k % 4]);
        let references = [format!("one {who} is {place} today"), format!("the {who} waits {place}")];
        (format!("im_{}", 100 + 7 * k), format!("there is a {who} {place}"), references)
    };
    (0..20).map(image).collect()
}

/// What `line` makes of each image, between `separator`s.
fn each(separator: &str, line: impl Fn(&str, &str, &[String; 2]) -> String) -> String {
    images()
        .iter()
        .map(|(id, text, references)| line(id, text, references))
        .collect::<Vec<_>>()
        .join(separator)
}

/// The ways to write captions: a name, a name of the file, and the file.
fn candidates() -> Vec<(&'static str, &'static str, String)> {
    let object = |id: &str, text: &str| format!(r#"{{"image_id": "{id}", "caption": "{text}"}}"#);
    let list = format!("[{}]", each(", ", |id, text, _| object(id, text)));
    vec![
        ("coco results", "a.json", list.clone()),
        ("dictionary", "a.json", format!("{{{}}}", each(", ", |id, text, _| format!("{id:?}: {text:?}")))),
        ("wrapped", "a.json", format!(r#"{{"split": "test", "results": {list}}}"#)),
        (
            "keyed",
            "a.json",
            format!("{{{}}}", each(", ", |id, text, _| format!(r#""{id}": {{"said": "{text}"}}"#))),
        ),
        (
            "nested",
            "a.jsonl",
            each("\n", |id, text, _| {
                format!(
                    r#"{{"custom_id": "{id}", "response": {{"choices": [{{"message": {{"content": "{text}"}}}}]}}}}"#
                )
            }),
        ),
        ("csv", "a.csv", format!("picture,said\n{}", each("\n", |id, text, _| format!("{id},{text}")))),
        ("csv without a header", "a.csv", each("\n", |id, text, _| format!("{id},\"{text}\""))),
        ("lines with ids", "a.txt", each("\n", |id, text, _| format!("{id}\t{text}"))),
        ("yaml", "a.yaml", each("\n", |id, text, _| format!("- image_id: {id}\n  caption: {text}"))),
        (
            "one key each",
            "a.json",
            format!("[{}]", each(", ", |id, text, _| format!(r#"{{"{id}": "{text}"}}"#))),
        ),
        (
            "columns and data",
            "a.json",
            format!(
                r#"{{"columns": ["k", "v"], "index": [{}], "data": [{}]}}"#,
                (0..20).map(|k| k.to_string()).collect::<Vec<_>>().join(", "),
                each(", ", |id, text, _| format!(r#"["{id}", "{text}"]"#))
            ),
        ),
        (
            "with a prompt",
            "a.jsonl",
            each("\n", |id, text, _| {
                format!(r#"{{"q": "{id}", "text": "Describe the image.", "out": "{text}"}}"#)
            }),
        ),
    ]
}

/// The ways to write references, likewise.
fn references() -> Vec<(&'static str, &'static str, String)> {
    let both = |id: &str, line: &dyn Fn(&str, &str) -> String, texts: &[String; 2], separator: &str| {
        texts.iter().map(|text| line(id, text)).collect::<Vec<_>>().join(separator)
    };
    let object = |id: &str, text: &str| format!(r#"{{"image_id": "{id}", "caption": "{text}"}}"#);
    let list = each(", ", |id, _, texts| both(id, &object, texts, ", "));
    let ids = each(", ", |id, _, _| format!(r#"{{"id": "{id}"}}"#));
    vec![
        ("coco", "r.json", format!(r#"{{"images": [{ids}], "annotations": [{list}]}}"#)),
        ("dictionary", "r.json", format!("{{{}}}", each(", ", |id, _, texts| format!("{id:?}: {texts:?}")))),
        ("wrapped", "r.json", format!(r#"{{"info": {{}}, "data": [{list}]}}"#)),
        (
            "keyed",
            "r.json",
            format!(
                "{{{}}}",
                each(", ", |id, _, texts| format!(r#""{id}": {{"human": {texts:?}, "n": 2}}"#))
            ),
        ),
        (
            "nested",
            "r.json",
            format!(
                "[{}]",
                each(", ", |id, _, texts| {
                    format!(
                        r#"{{"file": "{id}", "people": [{{"raw": "{}"}}, {{"raw": "{}"}}]}}"#,
                        texts[0], texts[1]
                    )
                })
            ),
        ),
        (
            "csv",
            "r.csv",
            format!(
                "file,caption_1,caption_2\n{}",
                each("\n", |id, _, texts| format!("{id},{}", texts.join(",")))
            ),
        ),
        (
            "csv without a header",
            "r.csv",
            each("\n", |id, _, texts| both(id, &|id, text| format!("{id},\"{text}\""), texts, "\n")),
        ),
        (
            "lines with ids",
            "r.txt",
            each("\n", |id, _, texts| both(id, &|id, text| format!("{id}\t{text}"), texts, "\n")),
        ),
        (
            "yaml",
            "r.yaml",
            each("\n", |id, _, texts| format!("- file: {id}\n  texts:\n  - {}\n  - {}", texts[0], texts[1])),
        ),
        (
            "karpathy",
            "r.json",
            format!(
                r#"{{"images": [{}]}}"#,
                each(", ", |id, _, texts| format!(
                    r#"{{"filename": "{id}", "split": "test", "sentences": [{{"raw": "{}"}}, {{"raw": "{}"}}]}}"#,
                    texts[0], texts[1]
                ))
            ),
        ),
        (
            "json lines",
            "r.jsonl",
            each("\n", |id, _, texts| format!(r#"{{"id": "{id}", "refs": {texts:?}}}"#)),
        ),
        (
            "pairs",
            "r.json",
            format!(
                "[{}]",
                each(", ", |id, _, texts| both(
                    id,
                    &|id, text| format!(r#"["{id}", "{text}"]"#),
                    texts,
                    ", "
                ))
            ),
        ),
    ]
}

/// Tables in Parquet, for candidates and for references, in columns of no known names.
#[cfg(feature = "parquet")]
fn tables() -> [(&'static str, &'static str, Vec<u8>); 2] {
    use std::sync::Arc;

    use arrow_array::builder::{ListBuilder, StringBuilder};
    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;

    let ids =
        || -> ArrayRef { Arc::new(StringArray::from_iter_values(images().into_iter().map(|(id, ..)| id))) };
    let table = |captions: ArrayRef| {
        let batch = RecordBatch::try_from_iter([("which", ids()), ("said", captions)]).unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        bytes
    };
    let mut lists = ListBuilder::new(StringBuilder::new());
    images().into_iter().for_each(|(_, _, texts)| lists.append_value(texts.map(Some)));
    let texts = StringArray::from_iter_values(images().into_iter().map(|(_, text, _)| text));
    [
        ("parquet", "a.parquet", table(Arc::new(texts))),
        ("parquet", "r.parquet", table(Arc::new(lists.finish()))),
    ]
}

#[cfg(not(feature = "parquet"))]
fn tables() -> [(&'static str, &'static str, Vec<u8>); 0] {
    []
}

fn by_id(captions: &Captions) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    captions.iter().for_each(|(id, text)| all.entry(id.to_string()).or_default().push(text.to_owned()));
    all
}

#[test]
fn every_form_is_read_beside_every_other() {
    let meant: BTreeMap<String, Vec<String>> =
        images().into_iter().map(|(id, text, _)| (id, vec![text])).collect();
    let truth: BTreeMap<String, Vec<String>> =
        images().into_iter().map(|(id, _, texts)| (id, texts.to_vec())).collect();
    let (mut pairs, mut refused) = (0, Vec::new());
    let bytes = |(here, name, text): (&'static str, &'static str, String)| (here, name, text.into_bytes());
    let of_tables =
        |role: &'static str| tables().into_iter().filter(move |(_, name, _)| name.starts_with(role));
    let grounds: Vec<_> = references().into_iter().map(bytes).chain(of_tables("r")).collect();
    let systems: Vec<_> = candidates().into_iter().map(bytes).chain(of_tables("a")).collect();
    let all = grounds.len() * systems.len();
    for (there, name, ground) in grounds {
        for (here, file, text) in &systems {
            pairs += 1;
            let pair = format!("{here} against {there}");
            let mut ground = read_bytes(&ground, name, &ReadOptions::references())
                .unwrap_or_else(|error| panic!("{pair}: {error}"));
            let read = read_bytes(text, file, &ReadOptions::candidates());
            let mut systems = vec![("a".to_owned(), read.unwrap_or_else(|error| panic!("{pair}: {error}")))];
            match agree(Opposite::Captions(&mut ground), &mut systems, Ids::AsGiven) {
                Err(error) => {
                    assert!(error.remedy().is_some(), "{pair}: {error}");
                    refused.push(pair);
                }
                Ok(_) => {
                    assert_eq!(by_id(&systems[0].1), meant, "{pair}");
                    assert_eq!(by_id(&ground), truth, "{pair}");
                }
            }
        }
    }
    assert_eq!((pairs, refused), (all, Vec::<String>::new()));
}
