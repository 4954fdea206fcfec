//! Tests that need something which a machine may lack: data, a database, a browser.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;

/// The variable with the things that must not be missing, by names separated by commas, such as
/// `meteor,spice,postgresql`; `all` names everything.
pub const REQUIRED: &str = "CAPEVAL_REQUIRE";

/// The file to which each skip adds a line: what is missing, the test, and why, between tabs.
pub const RECORD: &str = "CAPEVAL_SKIPPED";

/// Says that a test is skipped because something is missing, and why. What [`REQUIRED`] names must not be missing.
///
/// # Panics
/// If it is required.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
pub fn skip(needs: &str, why: &str) {
    let required = std::env::var(REQUIRED).unwrap_or_default();
    let required: BTreeSet<&str> = required.split(',').map(str::trim).collect();
    assert!(!required.contains(needs) && !required.contains("all"), "{needs} is required: {why}");
    eprintln!("skipped: {why}");
    let Some(path) = std::env::var_os(RECORD) else { return };
    // A test runs in a thread that has its name. One write, so that lines of several processes do not mix.
    let thread = std::thread::current();
    let line = format!("{needs}\t{}\t{why}\n", thread.name().unwrap_or("?"));
    let mut record = OpenOptions::new().create(true).append(true).open(path).unwrap();
    record.write_all(line.as_bytes()).unwrap();
}
