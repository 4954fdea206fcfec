//! The fuzz target that `CAPEVAL_TARGET` names. One program has all, since linking one for each takes an hour.
#![no_main]

use std::sync::LazyLock;

use capeval_checks::{TARGETS, named};
use libfuzzer_sys::fuzz_target;

static CHECK: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    tolerate_panics_of_dependencies();
    let name = std::env::var("CAPEVAL_TARGET").unwrap_or_default();
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    named(&name).unwrap_or_else(|| panic!("set CAPEVAL_TARGET to one of {}", names.join(", "))).check
});

fuzz_target!(|data: &[u8]| CHECK(data));

/// The parquet and arrow crates panic on damaged files, which the reader turns into errors. Only other
/// panics, and unbounded use of memory or time, count as findings.
fn tolerate_panics_of_dependencies() {
    const DEPENDENCIES: &[&str] = &["/parquet-", "/arrow-", "/bytes-", "/snap-"];
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let file = info.location().map_or("", |location| location.file());
        if !DEPENDENCIES.iter().any(|name| file.contains(name)) {
            default(info);
        }
    }));
}
