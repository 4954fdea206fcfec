//! Results that the server accepts are those that the reader of captions reads, in the order of the images.

use std::io::Read;

use capeval_benchmarks::validation::{self, ExpectedImages};
use capeval_corpus::{Format, ReadOptions, SegmentId, read_bytes};

/// The ids, as texts, and the captions of a file, by id.
fn captions(bytes: &[u8]) -> Vec<(String, String)> {
    let options = ReadOptions { format: Some(Format::CocoResults), ..ReadOptions::candidates() };
    let read = read_bytes(bytes, "f", &options).expect("what the server accepts can be read");
    let mut captions: Vec<_> = read.iter().map(|(id, text)| (id.to_string(), text.to_owned())).collect();
    captions.sort_unstable();
    captions
}

pub fn check(bytes: &[u8]) {
    let images = [SegmentId::Integer(1), SegmentId::Integer(2), SegmentId::Text("a".into())];
    let mut expected = ExpectedImages::default();
    expected.add(images.to_vec());
    let (report, canonical) =
        validation::check(bytes, &expected, (10, 50), &std::env::temp_dir()).expect("there is space");
    assert_eq!(report.is_valid, canonical.is_some());
    let Some(mut canonical) = canonical else { return };
    let mut written = Vec::new();
    canonical.read_to_end(&mut written).expect("the file can be read");
    assert_eq!(captions(&written), captions(bytes));
}
