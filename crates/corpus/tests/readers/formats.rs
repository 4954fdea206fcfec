//! Each format, whole and damaged, on small samples.

use std::io::{Cursor, Read as _, Write as _};

use capeval_choice::Code;
use capeval_corpus::{
    Captions, Error, ErrorKind, Format, ReadOptions, Role, SegmentId, UnknownName, merge, read, read_bytes,
};

fn references(text: &str) -> Result<Captions, Error> {
    read(text.as_bytes(), "f", &ReadOptions::references())
}

fn candidates(text: &str) -> Result<Captions, Error> {
    read(text.as_bytes(), "f", &ReadOptions::candidates())
}

/// Rows as `id=text`, with text ids in quotes.
fn rows(captions: &Captions) -> Vec<String> {
    captions.iter().map(|(id, text)| format!("{}={text}", id.quoted())).collect()
}

fn check(captions: Result<Captions, Error>, format: Format, expected: &[&str]) {
    let captions = captions.unwrap();
    assert_eq!(captions.format(), Some(format));
    assert_eq!(rows(&captions), expected);
}

/// The error with its remedy.
fn with_remedy(error: &Error) -> String {
    error.remedy().map_or_else(|| error.to_string(), |remedy| format!("{error}; {remedy}"))
}

fn check_error(captions: Result<Captions, Error>, kind: ErrorKind, message: &str) {
    let error = captions.unwrap_err();
    assert_eq!(with_remedy(&error), message);
    assert!(!error.to_string().contains('?'), "a message is a clause, and others may follow it");
    assert_eq!(error.kind(), kind);
}

#[test]
fn coco_annotations() {
    let text = r#"{"info": {"year": 2014}, "images": [{"license": 3, "id": 7, "x": [{}]}, {"id": 8}],
        "annotations": [{"image_id": 7, "id": 1, "caption": "A cat\n\"sat\". \u00e9"}, {"caption": "b", "image_id": "x"}]}"#;
    check(references(text), Format::CocoAnnotations, &["7=A cat\n\"sat\". é", "\"x\"=b"]);
    assert_eq!(references(text).unwrap().declared(), [SegmentId::from(7), SegmentId::from(8)]);
    check_error(
        references(r#"{"info": {}, "annotations": [{"image_id": 1, "caption": "a"}, {"image_id": 2, "capt"#),
        ErrorKind::Syntax,
        "f:1:84 (byte 83): unexpected end of JSON (the file may be truncated); read as coco; get the file again, or mend its end",
    );
    check_error(
        references("{\"annotations\": [\n  {\"image_id\": 1, \"bbox\": [0]}]}"),
        ErrorKind::Shape,
        "f:2:3 (byte 20): record 1 of the annotations has no \"caption\"; read as coco; give an object from ids to captions, or a list of objects with an id and a caption",
    );
    check_error(
        references(r#"{"images": [{"id": 1}], "info": {}}"#),
        ErrorKind::Shape,
        "f:1:1 (byte 0): there is no \"annotations\" in this object, so there are no captions; read as coco; give an object from ids to captions, or a list of objects with an id and a caption",
    );
    check_error(
        references(r#"{"annotations": [{"image_id": 1, "caption": null}]}"#),
        ErrorKind::Shape,
        "f:1:45 (byte 44): expected a caption in quotes, found null for image 1; read as coco; write its caption, or leave it out",
    );
    check_error(
        references(r#"{"annotations": [{"image_id": 1.5, "caption": "a"}]}"#),
        ErrorKind::Id,
        "f:1:31 (byte 30): the image id 1.5 is not an integer; write it as a string",
    );
    check_error(
        references(r#"{"annotations": [{"image_id": 123456789012345678901, "caption": "a"}]}"#),
        ErrorKind::Id,
        "f:1:31 (byte 30): the image id 123456789012345678901 does not fit into 64 bits; write it as a string",
    );
    check_error(
        references(r#"{"annotations": [{"image_id": 1, "caption": "a", "image_id": 2}]}"#),
        ErrorKind::Duplicate,
        "f:1:50 (byte 49): the key \"image_id\" appears twice in one object",
    );
    check_error(
        references(r#"{"annotations": [{"image_id": 1, "caption": "a \ud83d"}]}"#),
        ErrorKind::Encoding,
        "f:1:48 (byte 47): an escaped surrogate without its partner is not a character",
    );
}

#[test]
fn coco_results() {
    let text = r#"[{"image_id": 1, "caption": "a", "score": NaN}, {"image_id": "b", "caption": ""}]"#;
    check(candidates(text), Format::CocoResults, &["1=a", "\"b\"="]);
    check(candidates("[]"), Format::CocoResults, &[]);
    check_error(
        candidates(r#"[{"image_id": 1, "caption": "a"} {"image_id": 2, "caption": "b"}]"#),
        ErrorKind::Syntax,
        "f:1:34 (byte 33): expected ',' or ']'; read as coco-results; mend it there, or write the file again with a program that writes JSON",
    );
    check_error(
        candidates(r#"[{"image_id": 1, "caption": "a"}] []"#),
        ErrorKind::Syntax,
        "f:1:35 (byte 34): expected the end of the file after the value; read as coco-results; mend it there, or write the file again with a program that writes JSON",
    );
    let options = ReadOptions { format: Some(Format::CocoResults), ..ReadOptions::candidates() };
    check_error(
        read(&br#"{"images": [], "annotations": []}"#[..], "f", &options),
        ErrorKind::Shape,
        "f:1:1 (byte 0): expected an array of objects with \"image_id\" and \"caption\", found an object; the file looks \
         like coco rather than coco-results",
    );
}

#[test]
fn karpathy_files() {
    let text = r#"{"images": [
        {"filename": "a.jpg", "imgid": 0, "split": "train", "sentences": [{"tokens": ["a"], "raw": "A.", "sentid": 0}], "cocoid": 5},
        {"filename": "b.jpg", "imgid": 1, "split": "test", "sentences": [{"raw": "B."}, {"raw": "Bb."}], "cocoid": 6},
        {"filename": "c.jpg", "imgid": 2, "split": "restval", "sentences": [], "cocoid": 7}], "dataset": "coco"}"#;
    check(references(text), Format::Karpathy, &["5=A.", "6=B.", "6=Bb."]);
    let split = |names: &[&str]| {
        let split = Some(names.iter().map(ToString::to_string).collect());
        read(text.as_bytes(), "f", &ReadOptions { split, ..ReadOptions::references() })
    };
    check(split(&["test"]), Format::Karpathy, &["6=B.", "6=Bb."]);
    assert!(split(&["test"]).unwrap().notices().is_empty());
    let train = split(&["train"]).unwrap();
    assert_eq!(train.notices()[0].code, Code::RestvalLeftOut);
    assert!(split(&["train", "restval"]).unwrap().notices().is_empty());
    assert_eq!(split(&["restval"]).unwrap().declared(), [SegmentId::from(7)]);
    check_error(
        split(&["val"]),
        ErrorKind::Split,
        "f: there is no split \"val\"; this file has \"train\", \"test\", \"restval\"; set split to name one of them",
    );
    let flickr = text.replace("cocoid", "other");
    check(references(&flickr), Format::Karpathy, &["\"a.jpg\"=A.", "\"b.jpg\"=B.", "\"b.jpg\"=Bb."]);
    let by_number = ReadOptions { id_column: Some("imgid".into()), ..ReadOptions::references() };
    check(read(text.as_bytes(), "f", &by_number), Format::Karpathy, &["0=A.", "1=B.", "1=Bb."]);
    check_error(
        references(&text.replace("\"raw\": \"B.\"", "\"tokens\": [\"b\"]")),
        ErrorKind::Shape,
        "f:3:74 (byte 220): this sentence has no \"raw\"; read as karpathy; give an object from ids to captions, or a list of objects with an id and a caption",
    );
}

#[test]
fn list_json() {
    let text = r#"[{"image_id": "2008_1.jpg", "caption": "a"}, {"image_id": "2008_1.jpg", "caption": "b"}]"#;
    check(references(text), Format::ListJson, &["\"2008_1.jpg\"=a", "\"2008_1.jpg\"=b"]);
    let text = r#"[{"id": 3, "refs": ["a", "b"], "hyp": "c"}, {"id": 4, "refs": [], "hyp": "d"}]"#;
    check(references(text), Format::ListJson, &["3=a", "3=b"]);
    assert_eq!(references(text).unwrap().declared(), [SegmentId::from(4)]);
    check(candidates(text), Format::ListJson, &["3=c", "4=d"]);
    let options = ReadOptions {
        id_column: Some("key".into()),
        caption_columns: Some(vec!["x".into(), "y".into()]),
        ..ReadOptions::references()
    };
    let text = r#"[{"key": 1, "y": "b", "x": "a", "id": 9}]"#;
    check(read(text.as_bytes(), "f", &options), Format::ListJson, &["1=a", "1=b"]);
    check_error(
        references(r#"[{"id": 1, "caption": "a"}, {"caption": "b"}]"#),
        ErrorKind::Shape,
        "f:1:29 (byte 28): record 2 has no id, while those before it have one: its keys are \"caption\"; read as list-json; set id_column to name \
         one",
    );
    check_error(
        references(r#"[{"id": 1, "title": "a"}]"#),
        ErrorKind::Shape,
        "f:1:2 (byte 1): no column is known to hold captions; the columns are \"id\", \"title\"; read as list-json; set caption_columns to name \
         one",
    );
    check_error(
        references(r#"[["a"], ["b"]]"#),
        ErrorKind::Shape,
        "f:1:2 (byte 1): expected an object with an id and a caption, found an array; read as list-json; give an object from ids to captions, or a list of objects with an id and a caption",
    );
}

#[test]
fn records_without_an_id_are_numbered() {
    let captions = references(r#"[{"caption": "a"}, {"caption": "b"}]"#).unwrap();
    assert_eq!(rows(&captions), ["1=a", "2=b"]);
    assert_eq!(captions.notices()[0].code, Code::RowNumbers);
}

#[test]
fn dict_json() {
    check(
        references(r#"{"1": ["a", "b"], "x.jpg": ["c"]}"#),
        Format::DictJson,
        &["1=a", "1=b", "\"x.jpg\"=c"],
    );
    check(candidates(r#"{"1": "a", "01": "b"}"#), Format::DictJson, &["1=a", "\"01\"=b"]);
    check_error(
        candidates(r#"{"1": "a", "2": "b", "\u0031": "c"}"#),
        ErrorKind::Duplicate,
        "f:1:22 (byte 21): the key 1 appears twice, and only one of its values could be kept",
    );
    check_error(
        candidates(r#"{"1": "a", "2": 5}"#),
        ErrorKind::Shape,
        "f:1:17 (byte 16): expected a caption in quotes or a list of captions, found a number for image 2; read as dict-json; write captions in quotes, and null where there is none",
    );
    for text in [r#"{"1": "a", "2": null}"#, r#"{"1": ["a", null], "2": [NaN]}"#, r#"{"1": "a", "2": NaN}"#] {
        check(candidates(text), Format::DictJson, &["1=a"]);
        assert_eq!(candidates(text).unwrap().declared(), [SegmentId::from(2)], "{text}");
    }
    check_error(
        candidates(r#"{"1": [["a"]]}"#),
        ErrorKind::Shape,
        "f:1:8 (byte 7): expected a caption in quotes, found an array for image 1; read as dict-json; give each image one \
         list of captions, without lists in it",
    );
}

#[test]
fn json_lines() {
    let text =
        "{\"image_id\": 1, \"captions\": [\"a\", \"b\"]}\n\n{\"image_id\": \"x\", \"captions\": [\"c\"]}\r\n";
    check(references(text), Format::JsonLines, &["1=a", "1=b", "\"x\"=c"]);
    assert_eq!(references(text).unwrap().position(2).line, Some(3));
    let text = "{\"id\": 1, \"prediction\": \"p\", \"references\": [\"a\", \"b\"]}";
    check(references(text), Format::JsonLines, &["1=a", "1=b"]);
    check(candidates(text), Format::JsonLines, &["1=p"]);
    check_error(
        candidates("{\"id\": 1, \"text\": \"p\"}\n{\"id\": 2, \"text\": \"q\""),
        ErrorKind::Syntax,
        "f:2:22 (byte 44): unexpected end of JSON (the file may be truncated); read as jsonl; get the file again, or mend its end",
    );
    check_error(
        candidates("{\"id\": 1, \"text\": \"p\"} x\n"),
        ErrorKind::Syntax,
        "f:1:24 (byte 23): expected the end of the file after the value; read as jsonl; mend it there, or write the file again with a program that writes JSON",
    );
}

#[test]
fn csv_tables() {
    let clotho = "file_name,caption_1,caption_2,caption_3\r\na.wav,A dog,\"B, \"\"b\"\"\",C\r\nb.wav,D,,\"E\r\nF\"\r\n";
    check(
        references(clotho),
        Format::Csv,
        &["\"a.wav\"=A dog", "\"a.wav\"=B, \"b\"", "\"a.wav\"=C", "\"b.wav\"=D", "\"b.wav\"=E\r\nF"],
    );
    let both = "caption_predicted,caption_1,caption_2,mult_captions_predicted_1\np,a,b,m\nq,c,d,n\n";
    check(references(both), Format::Csv, &["1=a", "1=b", "2=c", "2=d"]);
    check(candidates(both), Format::Csv, &["1=p", "2=q"]);
    assert_eq!(candidates(both).unwrap().notices()[0].code, Code::RowNumbers);
    check(references("image,caption\n7,a\n7,b\n007,\n"), Format::Csv, &["7=a", "7=b", "\"007\"="]);
    check(candidates("caption\na\n\nb\n"), Format::Csv, &["1=a", "2=", "3=b"]);
    check_error(
        references("image,caption\n1,a\n2,\"b\n"),
        ErrorKind::Syntax,
        "f:3:3 (byte 20): this quoted field never ends (the file may be truncated); read as csv; write the missing quotation mark, or get the file again",
    );
    check_error(
        references("image,caption\n1,\"a\" b\n"),
        ErrorKind::Syntax,
        "f:2:6 (byte 19): a quoted field goes on after its closing quote; read as csv; write a quote inside it \
         twice",
    );
    check_error(
        references("image,caption\n1,a, b\n"),
        ErrorKind::Syntax,
        "f:2:1 (byte 14): this row has 3 fields and the header has 2; read as csv; put a caption with a comma in it into quotation marks",
    );
    let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::references() };
    check_error(
        read(&b"a,b\n1,2\n"[..], "f", &options),
        ErrorKind::Shape,
        "f:1:1 (byte 0): no column is known to hold captions; the columns are \"a\", \"b\"; the file looks like \
         lines rather than csv; set caption_columns to name one",
    );
    let options = ReadOptions {
        id_column: Some("a".into()),
        caption_columns: Some(vec!["b".into()]),
        format: Some(Format::Csv),
        ..ReadOptions::references()
    };
    check(read(&b"a,b\n1,2\n"[..], "f", &options), Format::Csv, &["1=2"]);
    check_error(
        read(&b"x,caption\n1,2\n"[..], "f", &options),
        ErrorKind::Shape,
        "f:1:1 (byte 0): there is no column \"a\"; the columns are \"x\", \"caption\"",
    );
}

#[test]
fn tsv_tables_with_and_without_quotes() {
    let text = "image_id\tcaption\n1\t\"A cat\" it said\n2\t\"b \"\"c\"\"\"\n3\tplain \"d\"\n";
    check(references(text), Format::Tsv, &["1=\"A cat\" it said", "2=b \"c\"", "3=plain \"d\""]);
}

#[test]
fn flickr30k_results_with_pipes() {
    let text = "image_name| comment_number| comment\n1000092795.jpg| 0| Two men .\n1000092795.jpg| 1| Two \"guys\" .\n";
    let expected = ["\"1000092795.jpg\"=Two men .", "\"1000092795.jpg\"=Two \"guys\" ."];
    check(references(text), Format::Pipes, &expected);
    // Kaggle's copy has one row like this.
    check_error(
        references(&(text.to_owned() + "2199200615.jpg| 4   A dog runs .\n")),
        ErrorKind::Syntax,
        "f:4:1 (byte 97): this row has 2 fields and the header has 3; read as pipes; mend this line",
    );
}

#[test]
fn flickr_tokens() {
    let text = "a.jpg#0\tA cat .\na.jpg#1\tB #3 .\n\n7#0\tC\n";
    check(references(text), Format::Tokens, &["\"a.jpg\"=A cat .", "\"a.jpg\"=B #3 .", "7=C"]);
    let chinese = "667626_18933d713e.jpg#zhc#0 一个 女人\nb.jpg#zhm#12 一\n";
    check(references(chinese), Format::Tokens, &["\"667626_18933d713e.jpg\"=一个 女人", "\"b.jpg\"=一"]);
    check_error(
        references("a.jpg#0\tA cat .\na.jpg A cat .\n"),
        ErrorKind::Syntax,
        "f:2 (byte 16): expected an image, '#', a number, a tab and a caption, as in image.jpg#0; read as flickr; mend this line",
    );
}

#[test]
fn lines_and_their_merging() {
    let one = "a cat\r\n\nc\u{2028}c\rc\n";
    check(references(one), Format::Lines, &["1=a cat", "2=", "3=c\u{2028}c\rc"]);
    // As on old computers: there is no other line end.
    check(references("a cat\r\rc\r"), Format::Lines, &["1=a cat", "2=", "3=c"]);
    let file = |name: &str, text: &str| read(text.as_bytes(), name, &ReadOptions::references()).unwrap();
    let merged = merge(vec![file("one", one), file("two", "x\ny\nz")], Role::References).unwrap();
    assert_eq!(rows(&merged), ["1=a cat", "2=", "3=c\u{2028}c\rc", "1=x", "2=y", "3=z"]);
    let error = merge(vec![file("one", one), file("two", "x\ny\n")], Role::References).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LineCount);
    assert_eq!(
        error.to_string(),
        "two: has 2 lines, but one has 3 lines; files of references must be aligned line by line; one has empty lines: 2"
    );
    let error = merge(vec![file("one", one), file("two", "{\"1\": \"a\"}")], Role::References).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LineCount);
    let json = merge(
        vec![file("one", "{\"1\": \"a\"}"), file("two", "{\"1\": \"b\", \"2\": \"c\"}")],
        Role::References,
    )
    .unwrap();
    assert_eq!(rows(&json), ["1=a", "1=b", "2=c"]);
}

#[test]
fn captions_that_look_like_json_are_lines() {
    check(references("[unk] on a mat\n"), Format::Lines, &["1=[unk] on a mat"]);
    check(references("a man, text and a dog\n"), Format::Lines, &["1=a man, text and a dog"]);
}

#[test]
fn what_is_no_caption_file_is_named() {
    let known = "expected one of coco, coco-results, karpathy, list-json, dict-json, jsonl, csv, tsv, pipes, flickr, \
                 lines, parquet";
    let lines = "set format to \"lines\" to read each line as a caption";
    for (bytes, name, what, advice) in [
        (
            &b"<!DOCTYPE html><html>404"[..],
            "refs.json",
            "XML or HTML",
            "write its captions as a JSON object from ids to captions",
        ),
        (b"\x80\x04\x95", "refs.p", "a Python pickle", "write it as JSON"),
        (b"a man\0runs", "refs.txt", "binary data", "give text in UTF-8"),
        (
            b"\xFF\xD8\xFF\xE0",
            "a.jpg",
            "a JPEG image",
            "give a file of captions, such as a JSON object from ids to captions",
        ),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n",
            "refs",
            "a pointer of Git LFS",
            "fetch the file itself with git lfs pull",
        ),
        (b"not json", "refs.json.gz", "plain text, though its name ends in .json", lines),
        (
            b"<p>\na dog</p>\n",
            "refs.txt",
            "XML or HTML",
            "write its captions as a JSON object from ids to captions",
        ),
        (
            b"<table><tr><td>1</td><td>a dog</td></tr><tr><td>2</td><td>a cat</td></tr></table>",
            "refs.txt",
            "XML or HTML",
            "write its captions as a JSON object from ids to captions",
        ),
    ] {
        check_error(
            read(bytes, name, &ReadOptions::references()),
            ErrorKind::Format,
            &format!("{name}: looks like {what}; {known}; {advice}"),
        );
    }
}

#[test]
fn short_text_of_a_stated_format_may_hold_many_zero_bytes() {
    let options = ReadOptions { format: Some(Format::Tokens), ..ReadOptions::references() };
    let captions = read_bytes(b"0#0\t\0\0", "refs.token", &options).unwrap();
    assert_eq!(captions.iter().map(|(_, text)| text).collect::<Vec<_>>(), ["\0\0"]);
}

#[test]
fn empty_files_are_refused() {
    for text in ["", "  \n\n", "\u{FEFF}", "\u{FEFF}\n"] {
        check_error(references(text), ErrorKind::Empty, "f: the file is empty");
    }
    for format in Format::ALL {
        let options = ReadOptions { format: Some(*format), ..ReadOptions::references() };
        check_error(read(&b""[..], "f", &options), ErrorKind::Empty, "f: the file is empty");
    }
}

#[test]
fn invalid_utf8_is_named_by_its_byte() {
    let latin = b"[{\"image_id\": 1,\n \"caption\": \"caf\xE9 x\"}]";
    check_error(
        read(&latin[..], "f", &ReadOptions::candidates()),
        ErrorKind::Encoding,
        "f:2:17 (byte 33): invalid UTF-8 (byte 0xE9); save the file as UTF-8",
    );
    check_error(
        read(&b"one\ncaf\xE9\n"[..], "f", &ReadOptions::candidates()),
        ErrorKind::Encoding,
        "f:2 (byte 7): the file ends inside a character; save the file as UTF-8",
    );
}

#[test]
fn a_byte_order_mark_is_left_out() {
    check(candidates("\u{FEFF}{\"1\": \"a\"}"), Format::DictJson, &["1=a"]);
    check(candidates("\u{FEFF}a\nb"), Format::Lines, &["1=a", "2=b"]);
    check(candidates("\u{FEFF}id,caption\n1,b"), Format::Csv, &["1=b"]);
    check_error(
        candidates("\u{FEFF}[[1]]"),
        ErrorKind::Shape,
        "f:1:2 (byte 4): expected an object with an id and a caption, found an array; read as list-json; give an object from ids to captions, or a list of objects with an id and a caption",
    );
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn gzip_of_several_members_is_unpacked() {
    let json = br#"{"1": "a", "2": "b"}"#;
    let mut packed = gzip(&json[..7]);
    packed.extend(gzip(&json[7..]));
    check(read(&packed[..], "f", &ReadOptions::candidates()), Format::DictJson, &["1=a", "2=b"]);
    check(read_bytes(&packed, "f", &ReadOptions::candidates()), Format::DictJson, &["1=a", "2=b"]);
    check_error(
        read(&packed[..packed.len() - 9], "f", &ReadOptions::candidates()),
        ErrorKind::Compression,
        "f: the gzip data end too early; fetch the file again",
    );
    let last = packed.len() - 6;
    packed[last] ^= 1;
    let error = read(&packed[..], "f", &ReadOptions::candidates()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Compression);
    assert!(error.to_string().starts_with("f: the gzip data are damaged ("), "{error}");
}

#[test]
fn gzip_in_gzip_is_unpacked_and_no_deeper() {
    let twice = gzip(&gzip(br#"{"1": "a", "2": "b"}"#));
    check(read_bytes(&twice, "f", &ReadOptions::candidates()), Format::DictJson, &["1=a", "2=b"]);
    check_error(
        read_bytes(&gzip(&twice), "f", &ReadOptions::candidates()),
        ErrorKind::Compression,
        "f: compressed more than 2 times, at last with gzip; decompress the file first",
    );
    // The limit is that of the file, not of each layer.
    let mut content = gzip(&vec![b'a'; 70_000_000]);
    content = gzip(&content);
    let error = read_bytes(&content, "f", &ReadOptions::candidates()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
}

/// `{"1": "a", "2": "b"}`, by `xz` 5.4.1 and Python's `lzma.compress`.
const XZ: &[u8] = b"\
    \xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2f\xe5\xa3\
    \x01\x00\x13\x7b\x22\x31\x22\x3a\x20\x22\x61\x22\x2c\x20\x22\x32\x22\x3a\x20\x22\x62\x22\x7d\x00\
    \x09\x23\x3a\x0d\xeb\xe2\x07\x52\x00\x01\x2c\x14\xf8\x0a\x6d\x03\x1f\xb6\xf3\x7d\x01\x00\x00\x00\
    \x00\x04\x59\x5a\
";

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    bzip2::read::BzEncoder::new(bytes, bzip2::Compression::fast()).read_to_end(&mut packed).unwrap();
    packed
}

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (file, content) in files {
        archive.start_file(*file, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (file, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        archive.append_data(&mut header, file, *content).unwrap();
    }
    archive.into_inner().unwrap()
}

#[test]
fn the_file_that_is_meant_in_an_archive_is_read() {
    let json: &[u8] = br#"{"1": "a", "2": "b"}"#;
    let one = [("out/a.json", json)];
    let others: [(&str, &[u8]); 3] =
        [("__MACOSX/out/._a.json", b"\0"), ("out/.DS_Store", b"\0"), ("out/README.txt", b"mine")];
    let several = [&others[..], &one].concat();
    for (packed, how) in [
        (bzip2(json), "bzip2"),
        (XZ.to_vec(), "xz"),
        (zip(&one), "zip"),
        (tar(&one), "tar"),
        (zip(&several), "zip of a folder"),
        (tar(&several), "tar of a folder"),
        (gzip(&tar(&one)), "tar.gz"),
        (bzip2(&tar(&one)), "tar.bz2"),
        (zip(&[("a.json.gz", &gzip(json))]), "gzip in zip"),
    ] {
        let captions = read_bytes(&packed, how, &ReadOptions::candidates()).unwrap();
        assert_eq!(rows(&captions), ["1=a", "2=b"], "{how}");
    }
    // The name of the file inside counts where formats are told apart by names.
    let error =
        read_bytes(&zip(&[("a.json", b"not json")]), "a.zip", &ReadOptions::candidates()).unwrap_err();
    assert!(error.to_string().starts_with("a.zip: looks like plain text, though its name"), "{error}");
}

#[test]
fn damaged_packed_data_are_refused_or_read() {
    let json: &[u8] = br#"{"1": "a", "2": "b"}"#;
    for packed in [gzip(json), bzip2(json), XZ.to_vec(), zip(&[("a", json)]), gzip(&tar(&[("a", json)]))] {
        for at in 0..packed.len() {
            let mut damaged = packed.clone();
            for wrong in [0, packed[at] ^ 1, 0xFF] {
                damaged[at] = wrong;
                let _ = read_bytes(&damaged, "f", &ReadOptions::candidates());
            }
            let _ = read_bytes(&packed[..at], "f", &ReadOptions::candidates());
        }
    }
}

#[test]
fn an_archive_of_several_files_is_refused_with_their_names() {
    let named = |files: &[&str]| zip(&files.iter().map(|file| (*file, &b"x"[..])).collect::<Vec<_>>());
    for (packed, said) in [
        (
            named(&["a.json", "b.json"]),
            "f: the zip archive holds 2 files: a.json, b.json; unpack it, and give one",
        ),
        (tar(&[("a.txt", b"x"), ("b", b"x")]), "f: the tar archive holds 2 files: a.txt, b; unpack it"),
        (
            named(&["a", "b", "c", "d", "e", "f"]),
            "f: the zip archive holds 6 files: a, b, c, d, e, …; unpack it",
        ),
        (named(&[".a"]), "f: the zip archive holds no file; give the file itself"),
        (
            named(&["[Content_Types].xml", "xl/a.xml"]),
            "f: looks like a spreadsheet or another document; export",
        ),
        (b"PK\x03\x04rest".to_vec(), "f: the zip data are damaged ("),
        (tar(&[("a.json", b"{}")])[..513].to_vec(), "f: the tar data end too early"),
        (XZ[..40].to_vec(), "f: the xz data end too early; fetch the file again"),
        (zip(&[("a.txt", &vec![b'a'; 70_000_000])]), "f: the zip data unpack to more than 64 MB"),
    ] {
        let error = read_bytes(&packed, "f", &ReadOptions::candidates()).unwrap_err();
        let remedy = error.remedy().map(ToString::to_string).unwrap_or_default();
        assert!(format!("{error}; {remedy}").contains(said), "{error}; {remedy}");
    }
}

#[test]
fn utf_16_without_a_mark_is_named() {
    for bytes in [
        r#"{"1":"a dog"}"#.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(),
        "a dog\na cat\n".encode_utf16().flat_map(u16::to_be_bytes).collect(),
    ] {
        let error = read_bytes(&bytes, "x.json", &ReadOptions::candidates()).unwrap_err();
        assert!(error.to_string().contains("looks like UTF-16 without a byte order mark"), "{error}");
    }
    let lines = ReadOptions { format: Some(Format::Lines), ..ReadOptions::candidates() };
    assert!(read_bytes(b"a\0 dog\n", "x.txt", &lines).is_ok());
}

#[test]
fn archives_are_not_to_be_read_as_a_format() {
    let error = read_bytes(b"7z\xBC\xAF\x27\x1C\0\0", "x.7z", &ReadOptions::candidates()).unwrap_err();
    assert_eq!(error.remedy().unwrap().to_string(), "unpack it first");
}

#[test]
fn utf_16_with_a_mark_is_read_in_either_order() {
    let text = "{\"1\": \"ein Café\", \"2\": \"🐕\"}";
    let units = || "\u{FEFF}".encode_utf16().chain(text.encode_utf16());
    let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
    for bytes in [&little, &big, &gzip(&little)] {
        check(read_bytes(bytes, "f", &ReadOptions::candidates()), Format::DictJson, &["1=ein Café", "2=🐕"]);
    }
    let lines: Vec<u8> = "\u{FEFF}a dog\r\na cat\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    check(read_bytes(&lines, "f", &ReadOptions::candidates()), Format::Lines, &["1=a dog", "2=a cat"]);
    let cut = [&little[..6], &[0x00, 0xD8], &little[6..]].concat();
    let error = read_bytes(&cut, "f", &ReadOptions::candidates()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Encoding);
    assert!(error.to_string().contains("invalid UTF-16"), "{error}");
    let odd = &little[..little.len() - 1];
    assert_eq!(read_bytes(odd, "f", &ReadOptions::candidates()).unwrap_err().kind(), ErrorKind::Encoding);
}

#[test]
fn zstd_of_several_frames_is_unpacked() {
    let pack =
        |bytes: &[u8]| ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest);
    let json = br#"{"1": "a", "2": "b"}"#;
    let mut packed = b"\x50\x2A\x4D\x18\x03\0\0\0abc".to_vec();
    packed.extend(pack(&json[..7]));
    packed.extend(b"\x5F\x2A\x4D\x18\x01\0\0\0z");
    packed.extend(pack(&json[7..]));
    check(read(&packed[..], "f", &ReadOptions::candidates()), Format::DictJson, &["1=a", "2=b"]);
    check(read_bytes(&packed, "f", &ReadOptions::candidates()), Format::DictJson, &["1=a", "2=b"]);
    let error = read(&packed[..packed.len() - 9], "f", &ReadOptions::candidates()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Compression);
    assert!(error.to_string().starts_with("f: the zstd data end too early"), "{error}");
    let garbage = b"\x28\xb5\x2f\xfd\0\0\0garbagegarbagegarbage";
    let error = read(&garbage[..], "f", &ReadOptions::candidates()).unwrap_err();
    let words = "f: the zstd data are damaged (a block cannot be decoded)";
    assert!(error.to_string().starts_with(words), "{error}");
}

#[test]
fn a_failing_source_is_an_error() {
    struct BrokenReader;
    impl std::io::Read for BrokenReader {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::from_raw_os_error(21))
        }
    }
    check_error(
        read(BrokenReader, "dir", &ReadOptions::candidates()),
        ErrorKind::Io,
        "dir: cannot read: is a directory",
    );
}

#[test]
fn formats_are_known_by_name() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(*format));
        assert_eq!(format.to_string(), format.name());
    }
    let error: UnknownName = "xml".parse::<Format>().unwrap_err();
    assert!(error.remedy().to_string().starts_with("choose from coco, coco-results,"), "{error}");
}

#[test]
fn data_that_unpack_to_much_more_than_their_size_are_refused() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for _ in 0..70 {
        encoder.write_all(&[b'a'; 1_000_000]).unwrap();
    }
    let packed = encoder.finish().unwrap();
    let error = read_bytes(&packed, "f", &ReadOptions::references()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert_eq!(
        with_remedy(&error),
        "f: the gzip data unpack to more than 64 MB, over 50 times their size; set no_limits to read them anyway"
    );
    let options = ReadOptions { no_limits: true, ..ReadOptions::references() };
    assert_eq!(read_bytes(&packed, "f", &options).unwrap().text(0).len(), 70_000_000);
}

#[test]
fn a_caption_has_at_most_a_megabyte() {
    let text = format!("[\"short\", \"{}\"]", "a".repeat(1_200_000));
    check_error(
        references(&text),
        ErrorKind::TooLarge,
        "f (record 2): the caption of image 2 has 1.2 MB, and 1 MB is allowed; set no_limits to read it anyway",
    );
    let options = ReadOptions { no_limits: true, ..ReadOptions::references() };
    assert_eq!(read_bytes(text.as_bytes(), "f", &options).unwrap().len(), 2);
}

#[test]
fn an_array_of_strings_is_read_as_text_is() {
    for role in [ReadOptions::references(), ReadOptions::candidates()] {
        check(read(&b"[\"a\", \"\", \"b c\"]"[..], "f", &role), Format::Lines, &["1=a", "2=", "3=b c"]);
    }
    check(references("[1] a mat\n[2] a cat\n"), Format::Lines, &["1=[1] a mat", "2=[2] a cat"]);
    check_error(
        references("[\"a\", 2]"),
        ErrorKind::Shape,
        "f:1:7 (byte 6): expected a caption in quotes, as before it, found a number; read as list-json; write captions in \
         quotes, and null where there is none",
    );
}
