//! No list, no instances, no data of NLTK and no caption makes CHAIR panic, and mentions are where it says.

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/chair/nltk_data");
const LIST: &str = include_str!("../../../testdata/chair/objects.txt");

pub fn check(bytes: &[u8]) {
    capeval_outside::chair::fuzz(bytes, DATA, LIST);
}
