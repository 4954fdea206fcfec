//! Parquet as Hugging Face stores it: pictures in a column, references in lists, and a table in several files.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, BinaryArray, Float64Array, RecordBatch, StringArray, StructArray};
use arrow_schema::{DataType, Field};

use super::*;

fn part(rows: &[(&str, &str, &str, f64)]) -> Vec<u8> {
    let paths: StringArray = rows.iter().map(|row| Some(row.0)).collect();
    let bytes: BinaryArray = rows.iter().map(|_| Some(b"\xff\xd8 a picture".as_slice())).collect();
    let picture = StructArray::from(vec![
        (Arc::new(Field::new("bytes", DataType::Binary, true)), Arc::new(bytes) as ArrayRef),
        (Arc::new(Field::new("path", DataType::Utf8, true)), Arc::new(paths.clone()) as ArrayRef),
    ]);
    let mut references = ListBuilder::new(StringBuilder::new());
    for row in rows {
        references.append_value([Some(row.2), Some("something else")]);
    }
    let captions: StringArray = rows.iter().map(|row| Some(row.1)).collect();
    let ratings: Float64Array = rows.iter().map(|row| Some(row.3)).collect();
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("file_name", Arc::new(paths) as ArrayRef, true),
        ("image", Arc::new(picture) as ArrayRef, true),
        ("refs", Arc::new(references.finish()) as ArrayRef, true),
        ("mt", Arc::new(captions) as ArrayRef, true),
        ("human_score", Arc::new(ratings) as ArrayRef, true),
    ])
    .unwrap();
    let mut bytes = Vec::new();
    let mut writer = ::parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn tables_of_hugging_face_are_read_with_all_their_parts() {
    let first = part(&[
        ("a.jpg", "a dog runs", "a dog runs on sand", 1.0),
        ("a.jpg", "a cat", "a dog runs on sand", 0.1),
    ]);
    let second = part(&[("b.jpg", "a kite", "a kite flies", 0.8), ("b.jpg", "a man", "a kite flies", 0.2)]);
    let files: [(&str, &[u8]); 2] =
        [("data/test-00000-of-00002.parquet", &first), ("data/test-00001-of-00002.parquet", &second)];
    let report = run_on("nebula", &files, &["rouge-l"]).unwrap();
    let outcome = &report.outcomes[0];
    assert_eq!((outcome.n_points, outcome.n_images, outcome.files.len()), (4, 2, 2));
    assert!(value(&report, "rouge-l").is_some_and(|value| value > 0.4));
    let error =
        run_on("nebula", &[("data/test-0.parquet", &first[..first.len() - 30])], &["rouge-l"]).err().unwrap();
    assert!(error.to_string().contains("test-0.parquet"), "{error}");
}
