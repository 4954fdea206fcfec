//! Saved reports: arbitrary bytes, and what was read is written and read again.
#![no_main]

use capeval_report::Saved;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(saved) = Saved::read(data) else { return };
    let mut written = Vec::new();
    let done = match &saved {
        Saved::Report(report) => report.save(&mut written),
        Saved::Comparison(comparison) => comparison.save(&mut written),
    };
    assert!(done.is_ok() && Saved::read(&written).is_ok());
});
