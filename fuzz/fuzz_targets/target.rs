//! The fuzz target that `CAPEVAL_TARGET` names. One program has all, since linking one for each takes an hour.
#![no_main]

mod structure;

use std::sync::LazyLock;

use capeval_checks::{TARGETS, named};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

use structure::{Sequence, changed};

static CHECK: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    tolerate_panics_of_dependencies();
    let name = std::env::var("CAPEVAL_TARGET").unwrap_or_default();
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    named(&name).unwrap_or_else(|| panic!("set CAPEVAL_TARGET to one of {}", names.join(", "))).check
});

fuzz_target!(|data: &[u8]| CHECK(data));

// Every other change is one of the structure, where the input is text.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut sequence = Sequence(u64::from(seed));
    let is_text = sequence.below(2) == 0 && std::str::from_utf8(&data[..size]).is_ok();
    match is_text.then(|| changed(&data[..size], &mut sequence)).flatten() {
        Some(text) if !text.is_empty() && text.len() <= max_size => {
            data[..text.len()].copy_from_slice(&text);
            text.len()
        }
        _ => fuzzer_mutate(data, size, max_size),
    }
});

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
