//! No file of a judge, no answer of a server and no line of a record makes a reader panic, and every score is a number.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| capeval_outside::judges::fuzz(bytes));
