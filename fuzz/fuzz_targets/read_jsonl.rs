//! Any bytes, read as jsonl.
#![no_main]

use capeval_corpus::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    capeval_fuzz::check_reader(Some(Format::JsonLines), data);
});
