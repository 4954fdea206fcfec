//! Text without what does not belong there: as people write it, without characters that are not seen or change how
//! others are shown; as others read it, without the folders of the server.

use std::path::Path;

/// Returns true if a character leaves no trace, or only changes the direction of others.
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

/// Returns true if a text is a key or a part of addresses: 1 to `most` lowercase letters, digits and hyphens.
pub fn is_key(text: &str, most: usize) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=most).contains(&text.len()) && text.bytes().all(is_part)
}

/// A reason for people who have no business with the disk of the server: it calls files by their names alone. `known`
/// are folders whose names may have spaces.
pub fn without_folders(text: &str, known: &[&Path]) -> String {
    let mut text = text.to_owned();
    for folder in known {
        text = text.replace(&format!("{}/", folder.display()), "/");
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find('/') {
        let (before, path) = rest.split_at(at);
        shown.push_str(before);
        let follows = shown.chars().next_back().is_some_and(|c| c.is_alphanumeric() || "/:.<~_-".contains(c));
        let end = if follows { 1 } else { end_of_path(path) };
        let (path, after) = path.split_at(end);
        shown.push_str(if end == 1 {
            path
        } else {
            path.rsplit('/').find(|name| !name.is_empty()).unwrap_or(path)
        });
        rest = after;
    }
    shown.push_str(rest);
    shown
}

/// The end of a path that begins a text.
fn end_of_path(text: &str) -> usize {
    let is_end = |c: char| c.is_whitespace() || "\"'`’”,;)，；）".contains(c);
    let end = text.find(is_end).unwrap_or(text.len());
    text[..end].trim_end_matches([':', '.', '：', '。']).len().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_called_by_their_names() {
        let shown = |text: &str| without_folders(text, &[Path::new("/srv/my data")]);
        for (text, words) in [
            (
                "/usr/share/meteor-1.5.bin: this is no file of METEOR",
                "meteor-1.5.bin: this is no file of METEOR",
            ),
            ("cannot read \"/srv/my data/hidden/ab/abcd\".", "cannot read \"abcd\"."),
            ("(see /a/b, /c/d/)", "(see b, d)"),
            ("/srv/my data/x y.bin is gone", "x y.bin is gone"),
            (
                "1/2 and/or https://example.org/a/b </li> a / b //",
                "1/2 and/or https://example.org/a/b </li> a / b //",
            ),
            ("无法读取：/a/b/c.bin。", "无法读取：c.bin。"),
        ] {
            assert_eq!(shown(text), words);
        }
    }
}
