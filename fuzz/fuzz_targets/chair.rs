//! No list, no instances, no data of NLTK and no caption makes CHAIR panic, and mentions are where it says.
#![no_main]

use libfuzzer_sys::fuzz_target;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/chair/nltk_data");
const LIST: &str = include_str!("../../testdata/chair/objects.txt");

fuzz_target!(|bytes: &[u8]| capeval_outside::chair::fuzz(bytes, DATA, LIST));
