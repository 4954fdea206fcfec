//! Any bytes, decompressed and read in the detected format.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| capeval_fuzz::check_reader(None, data));
