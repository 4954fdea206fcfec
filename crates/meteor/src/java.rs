//! METEOR's uses of the Java library: string hashes, trimming, lower case.

/// `String.hashCode()`: over UTF-16 code units, `h = 31 h + unit` in 32 bits.
///
/// METEOR compares words only by this number, so it treats two words with equal hashes as the same word.
pub fn hash_code(text: &str) -> i32 {
    let step = |hash: i32, unit: u16| hash.wrapping_mul(31).wrapping_add(i32::from(unit));
    if text.is_ascii() {
        text.bytes().fold(0, |hash, byte| step(hash, u16::from(byte)))
    } else {
        text.encode_utf16().fold(0, step)
    }
}

/// `String.trim()`: drops code units up to U+0020 at both ends.
pub fn trim(text: &str) -> &str {
    text.trim_matches(|c| c <= ' ')
}

/// `String.length()`: the number of UTF-16 code units.
pub fn utf16_len(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// Returns true if `c` is one of `StringTokenizer`'s default delimiters.
pub fn is_token_delimiter(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0C')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_equal_those_of_java() {
        assert_eq!(hash_code(""), 0);
        assert_eq!(hash_code("meteor"), -1_077_557_844);
        assert_eq!(hash_code("Aa"), hash_code("BB"));
        assert_eq!(hash_code("😀"), 0xD83D * 31 + 0xDE00);
    }

    #[test]
    fn trim_keeps_non_ascii_spaces() {
        assert_eq!(trim(" \u{1}\ta\u{a0} \n"), "a\u{a0}");
    }
}
