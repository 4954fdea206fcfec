//! Any bytes, read as dict-json.
#![no_main]

use capeval_corpus::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    capeval_fuzz::check_reader(Some(Format::DictJson), data);
    capeval_fuzz::check_against_serde_json(Format::DictJson, data, capeval_fuzz::dict_model);
});
