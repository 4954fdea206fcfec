//! Any bytes, unpacked and read as what they look like.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| capeval_fuzz::check_reader(None, data));
