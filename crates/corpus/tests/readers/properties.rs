//! Tests what holds for any captions and any bytes.

use capeval_choice::NoticeCode;
use capeval_corpus::{
    Captions, Duplicate, Empty, ErrorKind, Format, GroupedCaptions, Ids, Missing, Policy, ReadOptions,
    SegmentId, Surplus, align, read, read_bytes, write,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn id() -> impl Strategy<Value = SegmentId> {
    prop_oneof![
        4 => (-3_i64..10).prop_map(SegmentId::from),
        1 => any::<i64>().prop_map(SegmentId::from),
        4 => "[a-c]\\.jpg".prop_map(SegmentId::from),
        1 => "-?[0-9]{1,3}".prop_map(SegmentId::from),
        2 => "(?s).{0,8}".prop_map(SegmentId::from),
        1 => "[\"',#\t\r\n\u{FEFF} ]{0,4}".prop_map(SegmentId::from),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z ]{0,30}",
        2 => "(?s).{0,20}",
        2 => "[\"',#|\\\\\t\r\n\u{0}\u{85}\u{2028}\u{FEFF} é]{0,6}",
    ]
}

fn captions() -> impl Strategy<Value = Captions> {
    (vec((id(), text()), 1..12), vec(id(), 0..2), any::<bool>()).prop_map(|(rows, declared, numbered)| {
        let mut captions = Captions::new("made up");
        for (i, (id, text)) in rows.into_iter().enumerate() {
            let id = if numbered { SegmentId::Integer(i as i64 + 1) } else { id };
            captions.push(id, &text);
        }
        declared.into_iter().for_each(|id| captions.declare(id));
        captions
    })
}

/// Rows sorted by image but in file order within each, and the images without captions.
fn grouped(captions: &Captions) -> (Vec<(SegmentId, String)>, Vec<SegmentId>) {
    let references = GroupedCaptions::new(captions.clone(), Ids::AsGiven).unwrap();
    let mut rows: Vec<_> = captions.iter().map(|(id, text)| (id.clone(), text.to_owned())).collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    let mut without = references.index().without_captions().to_vec();
    without.sort();
    without.dedup();
    (rows, without)
}

/// Text near the formats that are read: their own characters, words and awkward strings in any order.
fn near_a_format() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => "[\\[\\]{}:,\"#|\t \r\n-]".prop_map(String::into_bytes),
        2 => "[0-9]{1,3}(\\.0)?".prop_map(String::into_bytes),
        4 => prop::sample::select(vec![
            "{\"image_id\": 1, \"caption\": \"a\"}", "\"image_id\"", "\"caption\"", "\"annotations\": [", "\"images\": [",
            "{\"images\": [{\"sentences\": [{\"raw\": \"a\"}], \"split\": \"x\", \"cocoid\": 1}]}", "\"sentences\": [", "null",
            "image_id,caption\n", "image_id\tcaption\n", "name| comment\n", "a.jpg#0\tb\n", "\\ud83d", "\\u0061", "NaN",
            "{\"1\": [\"a\"]}", "caption_1,caption_2\n",
        ]).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 0..4),
        1 => Just(b"\x1F\x8B\x08\0\0\0\0\0\0\x03".to_vec()),
        1 => Just(b"\x28\xB5\x2F\xFD".to_vec()),
        1 => Just(b"PAR1".to_vec()),
        1 => Just("\u{FEFF}".as_bytes().to_vec()),
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn all_options() -> Vec<ReadOptions> {
    let mut all = Vec::new();
    for options in [ReadOptions::references(), ReadOptions::candidates()] {
        all.push(options.clone());
        for format in Format::ALL {
            all.push(ReadOptions { format: Some(*format), ..options.clone() });
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn what_is_written_reads_the_same(captions in captions(), format in prop::sample::select(Format::ALL)) {
        let mut bytes = Vec::new();
        if let Err(error) = write(&captions, format, &mut bytes) {
            prop_assert_eq!(error.kind(), ErrorKind::Unwritable);
            prop_assert!(!matches!(format, Format::CocoAnnotations | Format::ListJson | Format::JsonLines));
            return Ok(());
        }
        let options = ReadOptions { format: Some(format), ..ReadOptions::references() };
        let back = read_bytes(&bytes, "back", &options).unwrap();
        if format == Format::Lines {
            prop_assert!(back.iter().map(|(_, text)| text).eq(captions.iter().map(|(_, text)| text)));
            return Ok(());
        }
        if format != Format::DictJson {
            prop_assert!(back.iter().eq(captions.iter()), "{}", String::from_utf8_lossy(&bytes));
        }
        prop_assert_eq!(grouped(&back), grouped(&captions));
        if format == Format::Tokens {
            // A name such as `{"` on the first line looks like another format.
            return Ok(());
        }
        let sniffed = read_bytes(&bytes, "back", &ReadOptions::references()).unwrap();
        prop_assert_eq!(grouped(&sniffed), grouped(&captions), "{}", String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn plain_captions_fit_every_written_format(texts in vec("a [a-z ]{1,20}", 1..8)) {
        let mut captions = Captions::new("made up");
        for (i, text) in texts.iter().enumerate() {
            captions.push(SegmentId::Integer(i as i64 + 1), text);
        }
        for format in Format::ALL.iter().filter(|format| format.is_writable()) {
            let mut bytes = Vec::new();
            write(&captions, *format, &mut bytes).unwrap();
            let options = ReadOptions { format: Some(*format), ..ReadOptions::candidates() };
            prop_assert!(read_bytes(&bytes, "back", &options).unwrap().iter().eq(captions.iter()));
            let sniffed = read_bytes(&bytes, "back", &ReadOptions::references()).unwrap();
            let same = sniffed.format() == Some(*format)
                || (*format == Format::CocoResults && sniffed.format() == Some(Format::ListJson));
            prop_assert!(same, "{:?} instead of {}", sniffed.format(), format);
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in near_a_format()) {
        for options in all_options() {
            let streamed = read(&bytes[..], "f", &options);
            let whole = read_bytes(&bytes, "f", &options);
            match (streamed, whole) {
                (Ok(streamed), Ok(whole)) => prop_assert!(streamed.iter().eq(whole.iter())),
                (Err(streamed), Err(whole)) => prop_assert_eq!(streamed.to_string(), whole.to_string()),
                (streamed, whole) => prop_assert!(false, "{:?} {:?}", streamed, whole),
            }
        }
    }

    #[test]
    fn an_error_position_lies_within_the_text(bytes in near_a_format()) {
        for options in all_options() {
            if let Err(error) = read_bytes(&bytes, "f", &options)
                && let Some(byte) = error.position().byte
            {
                prop_assert!(byte <= bytes.len() as u64, "{}", error);
            }
        }
    }

    #[test]
    fn annotations_are_those_of_serde_json(
        rows in vec((any::<i64>(), "(?s).{0,30}"), 0..8),
        others in vec(("[a-z]{1,3}", "(?s).{0,9}"), 0..3),
        ascii in any::<bool>(),
        pretty in any::<bool>(),
    ) {
        let record = |(id, text): &(i64, String)| {
            let mut record = serde_json::Map::new();
            for (key, value) in &others {
                record.insert(key.clone(), serde_json::json!([value, {"x": 1.5}]));
            }
            record.insert("caption".into(), text.clone().into());
            record.insert("image_id".into(), (*id).into());
            serde_json::Value::Object(record)
        };
        let document = serde_json::json!({"info": others, "annotations": rows.iter().map(record).collect::<Vec<_>>()});
        let mut json = if pretty { format!("{document:#}") } else { document.to_string() };
        if ascii {
            json = json.chars().map(|c| match c {
                ' '..='~' | '\n' => c.to_string(),
                _ => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
            }).collect();
        }
        let captions = read(json.as_bytes(), "f", &ReadOptions::references()).unwrap();
        let expected: Vec<_> = rows.iter().map(|(id, text)| (SegmentId::from(*id), text.as_str())).collect();
        prop_assert!(captions.iter().eq(expected.iter().map(|(id, text)| (id, *text))), "{}", json);
    }

    #[test]
    fn tables_are_those_of_the_csv_crate(rows in vec(("[a-z]{1,4}", text()), 0..8)) {
        let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
        writer.write_record(["image_id", "caption"]).unwrap();
        for (id, text) in &rows {
            writer.write_record([id, text]).unwrap();
        }
        let table = writer.into_inner().unwrap();
        let captions = read(&table[..], "f", &ReadOptions::references()).unwrap();
        let expected: Vec<_> = rows.iter().map(|(id, text)| (SegmentId::from(&**id), text.as_str())).collect();
        prop_assert!(captions.iter().eq(expected.iter().map(|(id, text)| (id, *text))));
    }

    #[test]
    fn alignment_keeps_every_promise(
        references in captions(),
        candidates in captions(),
        missing in prop::sample::select(Missing::ALL),
        surplus in prop::sample::select(Surplus::ALL),
        duplicate in prop::sample::select(Duplicate::ALL),
        empty in prop::sample::select(Empty::ALL),
        ids in prop::sample::select(Ids::ALL),
    ) {
        let grouped = GroupedCaptions::new(references, ids);
        // Two paths may end with the same name.
        prop_assert!(grouped.is_ok() || matches!(ids, Ids::FileName | Ids::Loose));
        let Ok(references) = grouped else { return Ok(()) };
        let all_rows: usize = (0..references.len()).map(|image| references.rows(image).len()).sum();
        prop_assert_eq!(all_rows, references.captions().len());
        let policy = Policy { missing, surplus, duplicate, empty };
        let Ok(aligned) = align(references.index(), &candidates, &policy) else { return Ok(()) };
        prop_assert!(!aligned.is_empty());
        prop_assert!(aligned.pairs.is_sorted_by(|a, b| a.image < b.image));
        for pair in &aligned.pairs {
            let image = pair.image as usize;
            prop_assert!(!references.rows(image).is_empty());
            prop_assert_eq!(references.texts(image).len(), references.rows(image).len());
            match pair.candidate {
                Some(row) => {
                    let id = candidates.id(row as usize).unwrap();
                    prop_assert_eq!(references.index().find(id), Some(pair.image as usize));
                }
                None => prop_assert_eq!(missing, Missing::Empty),
            }
        }
        let strict = align(references.index(), &candidates, &Policy::default());
        let changed = aligned.notices.iter().any(|notice| matches!(notice.code, NoticeCode::Applied(..)));
        prop_assert_eq!(strict.is_err(), changed);
    }
}
