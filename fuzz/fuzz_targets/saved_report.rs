//! Saved results: arbitrary bytes, and what was read is written and read again.
#![no_main]

use capeval_report::{KINDS, read, save};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(study) = read(data, KINDS) else { return };
    let mut written = Vec::new();
    assert!(save(&*study, &mut written).is_ok() && read(&written, KINDS).is_ok());
});
