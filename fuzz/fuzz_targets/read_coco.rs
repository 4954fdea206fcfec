//! Any bytes, read as coco.
#![no_main]

use capeval_corpus::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    capeval_fuzz::check_reader(Some(Format::CocoAnnotations), data);
    capeval_fuzz::check_against_serde_json(Format::CocoAnnotations, data, capeval_fuzz::annotations_model);
});
