//! Parquet tables, whole and damaged.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int64Builder, ListBuilder, StringBuilder, StructBuilder};
use arrow_array::{
    Array as _, ArrayRef, BinaryArray, Float64Array, Int64Array, RecordBatch, StringArray, StringViewArray,
    StructArray, UInt64Array,
};
use arrow_schema::{DataType, Field};
use capeval_choice::Code;
use capeval_corpus::ratings::{Item, RatedCaption, RatingOptions, read_ratings};
use capeval_corpus::{Captions, Error, ErrorKind, Format, ReadOptions, read_bytes};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

fn table(columns: Vec<(&str, ArrayRef)>, compression: Compression) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    );
    let batch = batch.unwrap();
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn references(bytes: &[u8]) -> Result<Captions, Error> {
    read_bytes(bytes, "f", &ReadOptions::references())
}

fn rows(captions: &Captions) -> Vec<String> {
    captions.iter().map(|(id, text)| format!("{}={text}", id.quoted())).collect()
}

fn lists() -> ArrayRef {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for list in [Some(vec![Some("a"), None, Some("b")]), None, Some(vec![]), Some(vec![Some("c")])] {
        lists.append_option(list);
    }
    Arc::new(lists.finish())
}

#[test]
fn one_row_per_caption() {
    for compression in
        [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(ZstdLevel::default())]
    {
        let bytes = table(
            vec![
                ("score", Arc::new(Float64Array::from(vec![0.5, 1.5, 2.5]))),
                ("caption", Arc::new(StringViewArray::from(vec![Some("a cat"), Some(""), None]))),
                ("image_id", Arc::new(Int64Array::from(vec![3, -1, 9]))),
            ],
            compression,
        );
        let captions = references(&bytes).unwrap();
        assert_eq!(captions.format(), Some(Format::Parquet));
        assert_eq!(rows(&captions), ["3=a cat", "-1="]);
        assert_eq!(captions.declared().len(), 1);
    }
}

#[test]
fn a_column_of_lists() {
    let ids: ArrayRef = Arc::new(StringArray::from(vec!["x.jpg", "2", "z", "w"]));
    let captions = references(&table(vec![("id", ids), ("captions", lists())], Compression::SNAPPY)).unwrap();
    assert_eq!(rows(&captions), ["\"x.jpg\"=a", "\"x.jpg\"=b", "\"w\"=c"]);
    assert_eq!(captions.declared(), ["2".into(), "z".into()]);
    let unnamed = references(&table(vec![("captions", lists())], Compression::SNAPPY)).unwrap();
    assert_eq!(rows(&unnamed), ["1=a", "1=b", "4=c"]);
    assert_eq!(unnamed.notices()[0].code, Code::RowNumbers);
}

/// As data sets on hubs have them: pictures beside their paths, captions as records, and by the names of their kinds.
#[test]
fn structures_are_read_as_objects_are() {
    let texts = |texts: [&str; 2]| -> ArrayRef { Arc::new(StringArray::from(texts.to_vec())) };
    let object = |fields: Vec<(&str, ArrayRef)>| -> ArrayRef {
        let fields = fields
            .into_iter()
            .map(|(name, array)| (Arc::new(Field::new(name, array.data_type().clone(), true)), array));
        Arc::new(StructArray::from(fields.collect::<Vec<_>>()))
    };
    let pictures: ArrayRef = Arc::new(BinaryArray::from(vec![&b"\xff\xd8"[..], b"\xff\xd8"]));
    let image = || object(vec![("bytes", pictures.clone()), ("path", texts(["1.jpg", "2.jpg"]))]);
    let fields = vec![Field::new("raw", DataType::Utf8, true), Field::new("sentid", DataType::Int64, true)];
    let mut records = ListBuilder::new(StructBuilder::from_fields(fields, 2));
    for (raw, number) in [("a dog runs", 0), ("one dog", 1)] {
        let record = records.values();
        record.field_builder::<StringBuilder>(0).unwrap().append_value(raw);
        record.field_builder::<Int64Builder>(1).unwrap().append_value(number);
        record.append(true);
    }
    records.append(true);
    records.append(false);
    let records: ArrayRef = Arc::new(records.finish());
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let versions =
        object(vec![("v1", texts(["a dog runs", "a cat"])), ("v2", texts(["one dog", "two cats sit"]))]);
    let caption = || texts(["a dog runs", "a cat"]);
    let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&b"a dog runs"[..], b"a cat"]));
    for (columns, expected) in [
        (vec![("image", image()), ("caption", caption())], &["1=a dog runs", "2=a cat"][..]),
        (vec![("image_id", ids.clone()), ("sentences", records)], &["1=a dog runs", "1=one dog"]),
        (
            vec![("image_id", ids.clone()), ("captions", versions)],
            &["1=a dog runs", "1=one dog", "2=a cat", "2=two cats sit"],
        ),
        (vec![("image_id", ids.clone()), ("caption", bytes)], &["1=a dog runs", "2=a cat"]),
        (
            vec![("image_id", ids), ("out", object(vec![("caption", caption())]))],
            &["1=a dog runs", "2=a cat"],
        ),
    ] {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let read = references(&table(columns.clone(), Compression::SNAPPY));
        assert_eq!(
            read.map(|read| rows(&read)).map_err(|error| error.to_string()),
            Ok(expected.iter().map(|row| (*row).to_owned()).collect()),
            "{names:?}"
        );
    }
}

#[test]
fn damaged_tables_are_refused() {
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3, 4]));
    let bytes = table(vec![("image_id", ids), ("captions", lists())], Compression::UNCOMPRESSED);
    for length in 0..bytes.len() {
        let options = ReadOptions { format: Some(Format::Parquet), ..ReadOptions::references() };
        assert!(read_bytes(&bytes[..length], "f", &options).is_err());
    }
    let error = references(&bytes[..bytes.len() - 3]).unwrap_err();
    assert!(error.to_string().starts_with("f: the Parquet data cannot be read ("), "{error}");
}

#[test]
fn no_changed_byte_gets_a_panic_through() {
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3, 4]));
    let bytes = table(vec![("image_id", ids), ("captions", lists())], Compression::UNCOMPRESSED);
    for place in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xFF] {
            let mut damaged = bytes.clone();
            damaged[place] ^= flip;
            let _ = references(&damaged);
        }
    }
}

/// As pandas writes integers beside missing values.
#[test]
fn whole_numbers_of_floating_point_are_ids() {
    let ids: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    let read = references(&table(vec![("id", ids), ("caption", texts)], Compression::SNAPPY)).unwrap();
    assert_eq!(*read.ids(), [1.into(), 2.into()]);
}

#[test]
fn unfit_columns_are_refused_by_type() {
    let texts = || -> ArrayRef { Arc::new(StringArray::from(vec!["a", "b"])) };
    let check = |id: ArrayRef, caption: ArrayRef, kind: ErrorKind, message: &str| {
        let error =
            references(&table(vec![("id", id), ("caption", caption)], Compression::SNAPPY)).unwrap_err();
        assert_eq!((error.kind(), error.to_string()), (kind, message.to_owned()));
    };
    check(
        Arc::new(Float64Array::from(vec![1.0, 2.5])),
        texts(),
        ErrorKind::Id,
        "f (record 2): the image id 2.5 is not an integer of 64 bits",
    );
    check(
        Arc::new(UInt64Array::from(vec![1, u64::MAX])),
        texts(),
        ErrorKind::Id,
        "f (record 2): the image id 18446744073709552000 is not an integer of 64 bits",
    );
    check(
        Arc::new(StringArray::from(vec![Some("a"), None])),
        texts(),
        ErrorKind::Id,
        "f (record 2): an image id must be an integer or a string, found null",
    );
    check(
        texts(),
        Arc::new(Int64Array::from(vec![1, 2])),
        ErrorKind::Shape,
        "f (record 1): expected a caption in quotes or a list of captions, found a number for image \"a\"",
    );
    let error = references(&table(vec![("a", texts())], Compression::SNAPPY)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
}

fn ratings(bytes: &[u8]) -> Result<Vec<Item>, Error> {
    read_ratings(bytes, "f", &RatingOptions::default()).map(|found| found.items)
}

#[test]
fn raters_are_in_rows_in_columns_or_in_lists() {
    let item = |image: &str, caption: &str, ratings: &[f64]| Item {
        image: image.into(),
        caption: Some(RatedCaption::Text(caption.into())),
        system: None,
        ratings: ratings.to_vec(),
    };
    let expected = [item("x.jpg", "a dog", &[3.0, 4.0]), item("y.jpg", "a cat", &[1.0])];
    let texts = |texts: &[&str]| -> ArrayRef { Arc::new(StringArray::from(texts.to_vec())) };
    let rows = table(
        vec![
            ("image_id", texts(&["x.jpg", "x.jpg", "y.jpg", "y.jpg"])),
            ("caption", texts(&["a dog", "a dog", "a cat", "a cat"])),
            ("rater", Arc::new(Int64Array::from(vec![1, 2, 1, 2]))),
            ("rating", Arc::new(Int64Array::from(vec![Some(3), Some(4), Some(1), None]))),
        ],
        Compression::SNAPPY,
    );
    assert_eq!(ratings(&rows).unwrap(), expected);
    let (ids, captions) = (texts(&["x.jpg", "y.jpg"]), texts(&["a dog", "a cat"]));
    let columns = table(
        vec![
            ("image_id", ids.clone()),
            ("caption", captions.clone()),
            ("rater_1", Arc::new(Float64Array::from(vec![Some(3.0), None]))),
            ("rater_2", Arc::new(UInt64Array::from(vec![Some(4), Some(1)]))),
        ],
        Compression::UNCOMPRESSED,
    );
    assert_eq!(ratings(&columns).unwrap(), expected);
    let mut doubles = ListBuilder::new(Float64Builder::new());
    doubles.append_value([Some(3.0), Some(4.0)]);
    doubles.append_value([Some(1.0), None]);
    let mut integers = ListBuilder::new(Int64Builder::new());
    integers.append_value([Some(3), Some(4)]);
    integers.append_value([Some(1)]);
    let lists: [ArrayRef; 2] = [Arc::new(doubles.finish()), Arc::new(integers.finish())];
    for list in lists {
        let columns = vec![("image_id", ids.clone()), ("caption", captions.clone()), ("ratings", list)];
        assert_eq!(ratings(&table(columns, Compression::SNAPPY)).unwrap(), expected);
    }
}

#[test]
fn damaged_tables_of_ratings_are_refused() {
    let whole = table(
        vec![
            ("image_id", Arc::new(Int64Array::from(vec![1, 2]))),
            ("rating", Arc::new(Float64Array::from(vec![1.0, f64::NAN]))),
        ],
        Compression::SNAPPY,
    );
    let error = ratings(&whole).unwrap_err().to_string();
    assert!(error.contains("not a finite number"), "{error}");
    for length in 0..whole.len() {
        assert!(ratings(&whole[..length]).is_err(), "{length} bytes of {}", whole.len());
    }
}
