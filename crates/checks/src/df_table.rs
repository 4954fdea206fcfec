//! No file makes the table reader panic, even with a correct checksum, and equal tables give equal files.

use capeval_lexical::frequencies::{DocumentFrequencies, file};

pub fn check(body: &[u8]) {
    let _ = DocumentFrequencies::load(body);
    let mut bytes = file::MAGIC.to_vec();
    bytes.extend(file::VERSION.to_le_bytes());
    bytes.extend(twox_hash::XxHash3_64::oneshot(body).to_le_bytes());
    bytes.extend(body);
    if let Ok(table) = DocumentFrequencies::load(&bytes) {
        let mut saved = Vec::new();
        table.save(&mut saved).expect("writing to a vector cannot fail");
        assert_eq!(saved, bytes);
        for (words, frequency) in table.iter() {
            assert_eq!(table.frequency(words), frequency);
        }
    }
}
