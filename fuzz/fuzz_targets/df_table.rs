//! No file makes the reader of tables panic, not even with a right checksum, and each table has one file.
#![no_main]

use capeval_lexical::frequencies::{DocumentFrequencies, file};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    let _ = DocumentFrequencies::load(body);
    let mut bytes = file::MAGIC.to_vec();
    bytes.extend(file::VERSION.to_le_bytes());
    bytes.extend(twox_hash::XxHash3_64::oneshot(body).to_le_bytes());
    bytes.extend(body);
    if let Ok(table) = DocumentFrequencies::load(&bytes) {
        let mut saved = Vec::new();
        table.save(&mut saved).expect("a vector takes all bytes");
        assert_eq!(saved, bytes);
        for (words, frequency) in table.iter() {
            assert_eq!(table.frequency(words), frequency);
        }
    }
});
