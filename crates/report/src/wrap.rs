//! Lines that fit the terminal.

use unicode_width::UnicodeWidthStr;

/// `head` and `text`, broken between words, or after a bar of a signature, where a line would exceed `width` columns.
/// Later lines begin with `indent`. Escape sequences of colours take no room.
pub fn wrapped(head: &str, text: &str, indent: &str, width: usize) -> String {
    let mut lines = head.to_owned();
    let mut column = shown_width(head);
    let mut is_start = true;
    for word in text.split_inclusive([' ', '|']) {
        let shown = word.trim_end_matches(' ');
        if !is_start && !shown.is_empty() && column + shown_width(shown) > width {
            lines.truncate(lines.trim_end_matches(' ').len());
            lines.push('\n');
            lines.push_str(indent);
            column = indent.width();
        }
        lines.push_str(word);
        column += shown_width(word);
        is_start = false;
    }
    lines
}

/// The columns that a text takes on a terminal.
fn shown_width(text: &str) -> usize {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().width();
    first + parts.map(|part| part.split_once('m').map_or(part, |(_, shown)| shown).width()).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_between_words_and_begin_below_each_other() {
        assert_eq!(wrapped("help: ", "one two three", "      ", 13), "help: one two\n      three");
        assert_eq!(wrapped("help: ", "one two three", "      ", usize::MAX), "help: one two three");
        assert_eq!(wrapped("", "looooong a", " ", 5), "looooong\n a", "a word is not split");
    }

    #[test]
    fn signatures_are_broken_after_bars() {
        assert_eq!(
            wrapped("  ", "bleu|n:4|tok:ptb|nrefs:5", "    ", 12),
            "  bleu|n:4|\n    tok:ptb|\n    nrefs:5"
        );
    }

    #[test]
    fn colours_take_no_room() {
        let painted = "\u{1b}[1mone\u{1b}[0m two";
        assert_eq!(wrapped("", painted, "", 7), painted);
        assert_eq!(wrapped("", painted, "", 6), "\u{1b}[1mone\u{1b}[0m\ntwo");
    }
}
