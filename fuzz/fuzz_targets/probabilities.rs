//! The reader of probabilities does not panic on any bytes, and accepted values have a perplexity of at least
//! 1.
#![no_main]

use capeval_fluency::{Base, EndSymbol, records};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for base in [Base::E, Base::Two, Base::Ten] {
        let Ok(records) = records::read(bytes, base) else { continue };
        for end in [EndSymbol::Counted, EndSymbol::Omitted] {
            for record in &records {
                let value = record.perplexity(end).value();
                assert!(value >= 1.0, "{value}");
            }
            let _ = records::remarks(&records, end);
        }
    }
});
