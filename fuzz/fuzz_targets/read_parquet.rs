//! Any bytes, read as parquet.
#![no_main]

use capeval_corpus::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: tolerate_panics_of_dependencies(),
    |data: &[u8]| capeval_fuzz::check_reader(Some(Format::Parquet), data)
);

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
