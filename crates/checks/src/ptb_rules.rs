//! The automaton of PTB's rules finds the tokens that the rules match, whatever follows the text.

use capeval_text::tokenizers::ptb::slow;

pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut lines = text.split('\u{0}');
    let first = lines.next().unwrap_or_default();
    slow::check(first, &lines.collect::<Vec<_>>());
}
