//! Reasons: why something was refused or failed, in English, as they are stored and passed on. Pages in other languages
//! recognise the sentences that [`reason!`](crate::reason!) has filled.

use std::fmt::Display;

/// A reason from a sentence and its arguments. The sentence is one of `[reasons]` in the files of `locales`.
#[macro_export]
macro_rules! reason {
    ($sentence:literal $(, $argument:expr)* $(,)?) => {
        $crate::reason::fill($sentence, &[$($argument.to_string()),*] as &[String])
    };
}

/// Puts the arguments in the place of each `{}`; `{1}` is the first argument wherever it stands.
pub fn fill(pattern: &str, arguments: &[impl Display]) -> String {
    let mut next = 0;
    let mut filled = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let Some((place, after)) = after.split_once('}') else {
            filled.push('{');
            rest = after;
            continue;
        };
        let index = place.parse::<usize>().map_or(next, |place| place.saturating_sub(1));
        next += 1;
        if let Some(argument) = arguments.get(index) {
            filled.push_str(&argument.to_string());
        }
        rest = after;
    }
    filled.push_str(rest);
    filled
}
