//! Text that people write, as it is stored: without characters that are not seen, or that change how others are shown.

/// Whether a character leaves no trace, or only changes the direction of others.
pub fn is_odd(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Text on one line.
pub fn line(text: &str) -> String {
    let words = text.split_whitespace().map(|word| word.chars().filter(|c| !is_odd(*c)).collect::<String>());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Text of several lines.
pub fn lines(text: &str) -> String {
    let kept: String = text.chars().filter(|c| !is_odd(*c) || matches!(c, '\n' | '\t')).collect();
    kept.trim().to_owned()
}
