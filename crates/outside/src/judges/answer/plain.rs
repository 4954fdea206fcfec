//! Reads answers in plain text: a number, or the name of an option.

use super::json::on_scale;
use super::{Options, Reading, start};

/// The first number.
pub fn number(text: &str, scale: [f64; 2]) -> Reading {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let Some(first) = (0..bytes.len()).find(|at| is_digit(*at)) else {
        return Reading::unreadable(format!("no number in {}", start(text)));
    };
    // A point or a minus may stand before it: `.5`, `-1`, but not `1-2` or `a-1`.
    let mut from = first;
    if from > 0 && bytes[from - 1] == b'.' {
        from -= 1;
    }
    let is_minus = from > 0 && bytes[from - 1] == b'-';
    if is_minus && (from < 2 || bytes[from - 2].is_ascii_whitespace()) {
        from -= 1;
    }
    let mut end = first;
    let mut has_point = text[from..first].contains('.');
    while is_digit(end) || (!has_point && bytes.get(end) == Some(&b'.') && is_digit(end + 1)) {
        has_point |= bytes[end] == b'.';
        end += 1;
    }
    match text[from..end].parse() {
        Ok(number) => on_scale(number, scale, None),
        Err(_) => Reading::unreadable(format!("no number in {}", start(text))),
    }
}

/// The option that the answer consists of, or that stands alone in its last line, or after `answer:` or `answer is`.
/// A letter inside a sentence is not taken for one, since `A` is also a word.
pub fn letter(text: &str, options: &Options) -> Reading {
    let bare = |text: &str| text.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let last = text.trim().lines().next_back().unwrap_or_default();
    let lower = text.to_lowercase();
    let after = ["answer:", "answer is"].iter().filter_map(|mark| {
        // Lower case may have another length; such a text has no more than its last line.
        let at = lower.rfind(mark)? + mark.len();
        let rest = text.get(at..).filter(|_| lower.len() == text.len())?;
        rest.split_whitespace().next()
    });
    let found = [text, last].into_iter().chain(after).find_map(|part| options.worth(&bare(part)));
    match found {
        Some(worth) => Reading::grade(worth, None),
        None => Reading::unreadable(format!("none of {} stands alone in {}", options.listed(), start(text))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(reading: Reading) -> Option<f64> {
        match reading {
            Reading::Read { values, .. } => Some(values[0]),
            Reading::Unreadable(_) => None,
        }
    }

    #[test]
    fn the_first_number_counts() {
        for (text, value) in [
            ("8", Some(0.8)),
            ("Score: 7.5/10, or 3", Some(0.75)),
            (".5", Some(0.05)),
            ("it is 10.", Some(1.0)),
            ("1.5.2", Some(0.15)),
            ("-1", None),
            ("grade -2", None),
            ("clip-4 is", Some(0.4)),
            ("1-2", Some(0.1)),
            ("11", None),
            ("none", None),
            ("", None),
            ("٣", None),
        ] {
            assert_eq!(read(number(text, [0.0, 10.0])), value, "{text}");
        }
    }

    #[test]
    fn an_option_must_stand_alone() {
        let options = json!({"A": 1, "B": 0, "C": 0.5});
        let options = Options::read(options.as_object().unwrap(), [0.0, 1.0]).unwrap();
        for (text, value) in [
            ("A", Some(1.0)),
            ("(b)", Some(0.0)),
            ("**C**.", Some(0.5)),
            ("A caption is bad.\nB", Some(0.0)),
            ("A caption is bad.", None),
            ("My answer is C because A is worse", Some(0.5)),
            ("Answer: (B), since A lies", Some(0.0)),
            ("İ answer: B", None),
            ("D", None),
            ("", None),
        ] {
            assert_eq!(read(letter(text, &options)), value, "{text}");
        }
    }
}
