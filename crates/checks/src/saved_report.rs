//! Saved results: arbitrary bytes, and what was read is written and read again.

use capeval_report::{KINDS, read, save};

pub fn check(data: &[u8]) {
    let Ok(study) = read(data, KINDS) else { return };
    let mut written = Vec::new();
    assert!(save(&*study, &mut written).is_ok() && read(&written, KINDS).is_ok());
}
