//! Any bytes, read as coco-results.
#![no_main]

use capeval_corpus::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    capeval_fuzz::check_reader(Some(Format::CocoResults), data);
    capeval_fuzz::check_against_serde_json(Format::CocoResults, data, capeval_fuzz::results_model);
});
