//! One table in every format gives the same captions, ratings, scores and pairs, under every name that is known.

use capeval_choice::Code;
use capeval_corpus::probabilities::{Scale, read_probabilities};
use capeval_corpus::ratings::{RatingOptions, read_pairs, read_ratings};
use capeval_corpus::scores::read_scores;
use capeval_corpus::{ErrorKind, ReadOptions, SegmentId, read_bytes};

/// The table in CSV, TSV, JSON Lines, JSON and, where it can be read, Parquet. Cells that are numbers are numbers, and
/// cells that begin with a bracket are lists.
fn formats(header: &[&str], rows: &[&[&str]]) -> Vec<(&'static str, Vec<u8>)> {
    let delimited = |separator: &str| {
        let lines = std::iter::once(header).chain(rows.iter().copied());
        let field = |cell: &&str| match cell.starts_with('[') {
            true => format!("\"{}\"", cell.replace('"', "\"\"")),
            false => (*cell).to_owned(),
        };
        let line = |line: &[&str]| line.iter().map(field).collect::<Vec<_>>().join(separator) + "\n";
        lines.map(line).collect::<String>().into_bytes()
    };
    let value = |cell: &str| match cell.parse::<f64>() {
        Ok(_) => cell.to_owned(),
        Err(_) if cell.starts_with('[') => cell.to_owned(),
        Err(_) if cell.is_empty() => "null".to_owned(),
        Err(_) => format!("{cell:?}"),
    };
    let objects = rows.iter().map(|row| {
        let cells = header.iter().zip(*row).map(|(name, cell)| format!("{name:?}: {}", value(cell)));
        format!("{{{}}}", cells.collect::<Vec<_>>().join(", "))
    });
    let objects: Vec<String> = objects.collect();
    let found = vec![
        ("csv", delimited(",")),
        ("tsv", delimited("\t")),
        ("jsonl", objects.join("\n").into_bytes()),
        ("json", format!("[{}]", objects.join(", ")).into_bytes()),
    ];
    #[cfg(feature = "parquet")]
    let found = [found, vec![("parquet", parquet(header, rows))]].concat();
    found
}

#[cfg(feature = "parquet")]
fn parquet(header: &[&str], rows: &[&[&str]]) -> Vec<u8> {
    use std::sync::Arc;

    use arrow_array::builder::{Float64Builder, ListBuilder, StringBuilder};
    use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;

    let columns = header.iter().enumerate().map(|(k, name)| {
        let cells: Vec<Option<&str>> =
            rows.iter().map(|row| Some(row[k]).filter(|cell| !cell.is_empty())).collect();
        let integers: Option<Vec<Option<i64>>> =
            cells.iter().map(|cell| cell.map(str::parse).transpose().ok()).collect();
        let numbers: Option<Vec<Option<f64>>> =
            cells.iter().map(|cell| cell.map(str::parse).transpose().ok()).collect();
        let lists: Option<Vec<Option<Vec<serde_json::Value>>>> =
            cells.iter().map(|cell| cell.map(serde_json::from_str).transpose().ok()).collect();
        let array: ArrayRef = match (integers, numbers) {
            (None, None) if lists.is_some() => {
                let lists = lists.unwrap();
                let is_text = lists.iter().flatten().flatten().any(serde_json::Value::is_string);
                let (mut texts, mut numbers) =
                    (ListBuilder::new(StringBuilder::new()), ListBuilder::new(Float64Builder::new()));
                for list in lists {
                    if is_text {
                        texts.append_option(list.map(|list| {
                            list.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Vec<_>>()
                        }));
                    } else {
                        numbers.append_option(
                            list.map(|list| list.iter().map(serde_json::Value::as_f64).collect::<Vec<_>>()),
                        );
                    }
                }
                if is_text { Arc::new(texts.finish()) } else { Arc::new(numbers.finish()) }
            }
            (Some(integers), _) => Arc::new(Int64Array::from(integers)),
            (None, Some(numbers)) => Arc::new(Float64Array::from(numbers)),
            (None, None) => Arc::new(StringArray::from(cells)),
        };
        ((*name).to_owned(), array, true)
    });
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn captions(bytes: &[u8], name: &str, options: &ReadOptions) -> Vec<String> {
    let captions = read_bytes(bytes, name, options).unwrap_or_else(|error| panic!("{name}: {error}"));
    captions.iter().map(|(id, text)| format!("{}={text}", id.quoted())).collect()
}

#[test]
fn captions_are_the_same_in_every_format() {
    let table = formats(
        &["image_id", "caption_1", "caption_2", "prediction"],
        &[&["7", "a dog", "one dog", "the dog"], &["8", "a cat", "", "my cat"]],
    );
    for (name, bytes) in table {
        let name = format!("t.{name}");
        let references = captions(&bytes, &name, &ReadOptions::references());
        assert_eq!(references, ["7=a dog", "7=one dog", "8=a cat"], "{name}");
        let candidates = captions(&bytes, &name, &ReadOptions::candidates());
        assert_eq!(candidates, ["7=the dog", "8=my cat"], "{name}");
    }
}

#[test]
fn every_name_is_known_in_every_format() {
    let ids =
        ["image_id", "Image ID", "image", "img_id", "id", "file_name", "filename", "image_name", "name"];
    let both = ["caption", "captions", "text", "sentence", "description", "comment"];
    let references = ["references", "refs", "reference", "ref", "ref_1", "Caption 1", "raw", "gts"];
    let candidates =
        ["prediction", "predicted_caption", "caption_predicted", "hypothesis", "hyp", "candidate", "cand"];
    for id in ids {
        for (role, names) in [
            (ReadOptions::references(), [&both[..], &references].concat()),
            (ReadOptions::candidates(), [&both[..], &candidates].concat()),
        ] {
            for name in names {
                for (format, bytes) in formats(&[id, name], &[&["7", "a dog"]]) {
                    // A header with spaces looks like a caption.
                    let options = ReadOptions {
                        format: match format {
                            "csv" | "tsv" => Some(format.parse().unwrap()),
                            "jsonl" => Some(format.parse().unwrap()),
                            _ => None,
                        },
                        ..role.clone()
                    };
                    assert_eq!(captions(&bytes, format, &options), ["7=a dog"], "{id}, {name}");
                }
            }
        }
    }
}

/// The choice among several names of one kind must not change between versions.
#[test]
fn the_first_of_several_names_counts() {
    let (references, candidates) = (ReadOptions::references(), ReadOptions::candidates());
    let cases = [
        // Headers.
        ("id,reference,captions\n1,a,b\n", &references, "1=a"),
        ("id,ref_1,references,refs\n1,a,b,c\n", &references, "1=a 1=b"),
        ("id,caption,Captions\n1,a,b\n", &references, "1=a 1=b"),
        ("id,caption,Caption\n1,a,b\n", &references, "1=a 1=b"),
        ("id,text,comment\n1,a,b\n", &references, "1=b"),
        ("id,text,comment\n1,a,b\n", &candidates, "1=b"),
        ("id,Caption,text\n1,a,b\n", &candidates, "1=a"),
        ("id,description,caption_1,caption_2\n1,a,b,c\n", &candidates, "1=b 1=c"),
        ("img_id,file_name,caption\n1,a,b\n", &references, "\"a\"=b"),
        ("image_name,name,caption\n1,a,b\n", &references, "\"a\"=b"),
        ("name,filename,caption\n1,a,b\n", &references, "\"a\"=b"),
        // Objects.
        (r#"{"id": 1, "reference": "a", "captions": ["b"]}"#, &references, "1=b"),
        (r#"{"id": 1, "comment": "a", "text": "b"}"#, &references, "1=b"),
        (r#"{"id": 1, "Caption": "a", "text": "b"}"#, &references, "1=b"),
        (r#"{"id": 1, "caption_1": "a", "text": "b"}"#, &references, "1=b"),
        (r#"{"id": 1, "sentence": "a", "captions": "b"}"#, &candidates, "1=b"),
        (r#"{"id": 1, "cand": "a", "caption": "b"}"#, &candidates, "1=b"),
        (r#"{"ID": 1, "image": "x", "caption": "b"}"#, &references, "\"x\"=b"),
        // An object from ids to captions.
        (r#"{"img": "a", "description": "b"}"#, &references, "\"img\"=a \"description\"=b"),
    ];
    for (text, options, expected) in cases {
        assert_eq!(captions(text.as_bytes(), "t", options).join(" "), expected, "{text}");
    }
    let lines = "{\"img\": \"x\", \"description\": \"a\"}\n{\"img\": \"y\", \"description\": \"b\"}\n";
    assert_eq!(captions(lines.as_bytes(), "t", &references), ["\"x\"=a", "\"y\"=b"]);
    let scores = |text: &str| read_scores(text.as_bytes(), "f", None).unwrap().keys;
    assert_eq!(scores("image_id,caption,BLEU-1,bleu_1\n1,,0.5,0.25\n"), ["BLEU-1", "bleu_1"]);
    let rated = |text: &str| read_ratings(text.as_bytes(), "f", &RatingOptions::default()).unwrap().items;
    assert_eq!(rated("file_name,image_path,rater_1,rater_1_2\na,b,3,9\n")[0].ratings, [3.0]);
    assert_eq!(rated("file_name,image_path,rater_1\na,b,3\n")[0].image, SegmentId::from("b"));
    let pair = read_pairs(b"id,caption.a,caption.b,votes(a),votes(b)\n1,a dog,a cat,3,1\n", "f").unwrap();
    assert_eq!(pair.items.len(), 1);
}

#[test]
fn ratings_scores_and_pairs_are_the_same_in_every_format() {
    let rated = formats(
        &["image_id", "caption", "system", "rater_1", "rater_2"],
        &[&["7", "a dog", "s", "3", "4.5"], &["8", "a cat", "s", "1", ""]],
    );
    let read = |bytes: &[u8]| read_ratings(bytes, "f", &RatingOptions::default()).unwrap();
    let expected = read(&rated[0].1).items;
    assert_eq!((expected.len(), &expected[0].ratings[..]), (2, &[3.0, 4.5][..]));
    for (name, bytes) in &rated {
        assert_eq!(read(bytes).items, expected, "{name}");
    }
    let scored = formats(&["image_id", "caption", "m", "n"], &[&["7", "a dog", "0.5", "1"]]);
    for (name, bytes) in &scored {
        let found = read_scores(bytes, "f", None).unwrap();
        assert_eq!(
            (found.keys, found.rows[0].scores.clone()),
            (vec!["m".into(), "n".into()], vec![0.5, 1.0]),
            "{name}"
        );
    }
    let pairs = formats(
        &["image", "caption_a", "caption_b", "votes_a", "votes_b", "reference_1"],
        &[&["7", "a dog", "a cat", "3", "1", "the dog"], &["x", "one", "two", "0", "2", ""]],
    );
    let first = |bytes: &[u8]| read_pairs(bytes, "f").unwrap().items[0].clone();
    for (name, bytes) in &pairs {
        let (mut found, mut expected) = (first(bytes), first(&pairs[2].1));
        if name == &"parquet" {
            // A column that holds a text holds no number.
            assert_eq!(found.image, SegmentId::from("7"));
            expected.image = found.image.clone();
        }
        found.references.sort();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn what_is_wrong_with_a_table_is_named_with_its_place() {
    let cases: [(&[u8], ErrorKind, &str); 8] = [
        (
            b"{\"id\": 1, \"caption\": \"a\", \"id\": 2}",
            ErrorKind::Duplicate,
            "the key \"id\" appears twice in one object",
        ),
        (
            b"[{\"id\": 1, \"caption\": \"a\", \"x\": 1, \"x\": 1}]",
            ErrorKind::Duplicate,
            "the key \"x\" appears twice in one object",
        ),
        (b"id,ID,caption\n1,a,b\n", ErrorKind::Duplicate, "the column id is given twice"),
        (
            b"id,caption\n1,a\n2\n",
            ErrorKind::Syntax,
            "f:3:1 (byte 15): this row has 1 field and the header has 2",
        ),
        (b"id,caption\n1,caf\xE9\n", ErrorKind::Encoding, "f:2:6 (byte 16): invalid UTF-8 (byte 0xE9)"),
        (b"{\"id\": 1, \"caption\": \"caf\xE9\"}", ErrorKind::Encoding, "f:1 (byte 25): invalid UTF-8"),
        (b"", ErrorKind::Empty, "f: the file is empty"),
        (b"{\"id\": 1, \"caption\": 2}", ErrorKind::Shape, "f:1:22 (byte 21): expected a caption in quotes"),
    ];
    for (bytes, kind, message) in cases {
        let error = read_bytes(bytes, "f", &ReadOptions::references()).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        assert_eq!(error.kind(), kind);
    }
    let twice = b"[{\"image_id\": 1, \"rating\": 2, \"rating\": 3}]";
    let ratings = read_ratings(twice, "f", &RatingOptions::default()).unwrap_err();
    for error in [ratings, read_scores(twice, "f", None).unwrap_err(), read_pairs(twice, "f").unwrap_err()] {
        assert!(error.to_string().contains("the key \"rating\" appears twice in one object"), "{error}");
    }
    let ragged = b"image_id,rating\n1,2,3\n";
    let ratings = read_ratings(ragged, "f", &RatingOptions::default()).unwrap_err();
    for error in [ratings, read_scores(ragged, "f", None).unwrap_err(), read_pairs(ragged, "f").unwrap_err()]
    {
        assert!(error.to_string().starts_with("f:2:1 (byte 16): this row has 3 fields"), "{error}");
    }
}

fn segments(bytes: &[u8], name: &str) -> Vec<(String, Vec<f64>, Option<f64>)> {
    let read = read_probabilities(bytes, name).unwrap_or_else(|error| panic!("{name}: {error}"));
    read.segments.into_iter().map(|segment| (segment.id.to_string(), segment.tokens, segment.end)).collect()
}

#[test]
fn probabilities_are_the_same_in_every_format() {
    let lists = formats(
        &["id", "Token_LogProbs", "tokens", "end"],
        &[
            &["7", "[null, -0.5, -0.25]", "[\"a\", \"man\", \"</s>\"]", ""],
            &["a.jpg", "[-1.5]", "", "-2"],
            &["9", "[]", "", ""],
        ],
    );
    let tokens = formats(
        &["image_id", "token", "logprob"],
        &[
            &["7", "a", ""],
            &["a.jpg", "<end>", "-1.5"],
            &["7", "man", "-0.5"],
            &["7", "</s>", "-0.25"],
            &["a.jpg", "</s>", "-2"],
            &["9", "man", ""],
        ],
    );
    for (name, bytes) in lists.into_iter().chain(tokens) {
        let expected = [
            ("7".to_owned(), vec![-0.5], Some(-0.25)),
            ("a.jpg".to_owned(), vec![-1.5], Some(-2.0)),
            ("9".to_owned(), vec![], None),
        ];
        assert_eq!(segments(&bytes, name), expected, "{name}");
        let read = read_probabilities(&bytes, name).unwrap();
        assert!(
            read.segments.iter().all(|segment| segment.scale == Scale::Logarithm) && read.notices.is_empty()
        );
    }
    for (name, bytes) in formats(&["Probs", "id"], &[&["[0.5, 1]", "7"], &["[0]", "8"]]) {
        let expected = [("7".to_owned(), vec![0.5, 1.0], None), ("8".to_owned(), vec![0.0], None)];
        assert_eq!(segments(&bytes, name), expected, "{name}");
        assert_eq!(read_probabilities(&bytes, name).unwrap().segments[0].scale, Scale::Probability);
    }
}

#[test]
fn segments_without_ids_are_numbered_in_every_format() {
    for (name, bytes) in formats(&["probs"], &[&["[0.5]"], &["[0.25]"]]) {
        let expected = [("1".to_owned(), vec![0.5], None), ("2".to_owned(), vec![0.25], None)];
        assert_eq!(segments(&bytes, name), expected, "{name}");
        assert_eq!(read_probabilities(&bytes, name).unwrap().notices[0].code, Code::RowNumbers);
    }
}

#[test]
fn faulty_probabilities_are_refused_in_every_format() {
    for (header, rows, expected) in [
        (
            &["id", "probs"][..],
            &[&["1", "[0.5]"][..], &["2", "[1.5]"]][..],
            "segment 2 has 1.5, which is not a",
        ),
        (&["id", "logprobs"], &[&["1", "[-0.5, 0.5]"]], "segment 1 has 0.5, which is not the logarithm"),
        (&["id", "probs"], &[&["1", "[0.5]"], &["1", "[0.5]"]], "segment 1 appears twice"),
        (&["id", "probs"], &[&["1", "[0.5]"], &["2", ""]], "segment 2 has no numbers"),
        (&["id", "probs"], &[&["1", ""], &["2", "[0.5]"]], "segment 1 has no numbers"),
        (&["id", "probs", "logprobs"], &[&["1", "[0.5]", "[-1]"]], "segment 1 has both"),
        (
            &["id", "probs", "tokens"],
            &[&["1", "[0.5]", "[\"a\", \"b\"]"]],
            "segment 1 has 2 tokens but 1 numbers",
        ),
        (
            &["id", "probs", "tokens"],
            &[&["1", "[0.5]", "a"]],
            "segment 1 needs a list of tokens, found a string",
        ),
        (&["id", "prob"], &[&["1", "0.5"], &["2", "0.5"]], "each segment has a single number"),
        (&["prob"], &[&["0.5"], &["0.25"]], "segment 1 has a single number, and no id"),
        (&["id", "text"], &[&["1", "a"]], "no column is known to hold probabilities"),
        (&["id", "probs", "Probs"], &[&["1", "[0.5]", "[0.5]"]], "the column probs is given twice"),
    ] {
        for (name, bytes) in formats(header, rows) {
            let error = read_probabilities(&bytes, name).unwrap_err();
            assert!(error.message().starts_with(expected), "{name}: {error}");
            assert_eq!(error.source_name(), name);
        }
    }
}
