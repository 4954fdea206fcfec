//! The classes of unknown words.

/// The name under which an unknown word is counted, made of capitals, hyphens, digits and the last letter. Java looks
/// at UTF-16 units, so characters outside the basic plane are neither letters nor digits.
pub(super) fn signature(word: &str, is_first: bool) -> String {
    let mut has_digit = false;
    let mut has_other = false;
    let mut has_small = false;
    for character in word.chars() {
        if is_digit(character) {
            has_digit = true;
        } else {
            has_other = true;
            has_small |= is_small(character);
        }
    }
    let mut signature = String::from("UNK");
    if word.chars().next().is_some_and(is_capital) {
        signature.push_str(match (has_small, is_first) {
            (false, _) => "-ALLC",
            (true, true) => "-INIT",
            (true, false) => "-UC",
        });
    } else if has_small {
        signature.push_str("-LC");
    }
    if word.contains('-') {
        signature.push_str("-DASH");
    }
    if has_digit {
        signature.push_str(if has_other { "-DIG" } else { "-NUM" });
    } else if word.encode_utf16().count() > 3 {
        signature.extend(word.chars().last().map(lower));
    }
    signature
}

/// Returns true if a character is one UTF-16 unit.
fn is_basic(character: char) -> bool {
    u32::from(character) < 0x1_0000
}

/// Java's `isDigit`: decimal digits of all scripts, in blocks of ten.
fn is_digit(character: char) -> bool {
    const ZEROS: &str = "0٠۰߀०০੦૦୦௦౦೦൦෦๐໐༠၀႐០᠐᥆᧐᪀᪐᭐᮰᱀᱐꘠꣐꤀꧐꧰꩐꯰０";
    let code = u32::from(character);
    character.is_ascii_digit()
        || (code > 0x7F && ZEROS.chars().any(|zero| (0..10).contains(&code.wrapping_sub(zero.into()))))
}

fn is_small(character: char) -> bool {
    // Letters only: Java also calls some numerals and symbols lower case, but asks whether they are letters first.
    is_basic(character)
        && character.is_alphabetic()
        && (character.is_lowercase() || is_title(character))
        && !is_numeral(character)
}

fn is_capital(character: char) -> bool {
    is_basic(character) && (character.is_uppercase() || is_title(character))
}

/// The Roman numerals and circled letters, which have case but are no letters.
fn is_numeral(character: char) -> bool {
    matches!(character, '\u{2160}'..='\u{217F}' | '\u{24B6}'..='\u{24E9}' | '\u{345}')
}

/// Digraphs and Greek letters whose first part is a capital.
fn is_title(character: char) -> bool {
    matches!(character, 'ǅ' | 'ǈ' | 'ǋ' | 'ǲ' | '\u{1F88}'..='\u{1F8F}' | '\u{1F98}'..='\u{1F9F}' | '\u{1FA8}'..='\u{1FAF}')
        || matches!(character, 'ᾼ' | 'ῌ' | 'ῼ')
}

/// The small form of a character, if that is one character.
fn lower(character: char) -> char {
    let mut lower = character.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(small), None) if is_basic(character) => small,
        _ => character,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_tell_capitals_digits_hyphens_and_endings() {
        for (word, is_first, expected) in [
            ("selfie", false, "UNK-LCe"),
            ("Selfie", true, "UNK-INITe"),
            ("Selfie", false, "UNK-UCe"),
            ("NASAX", false, "UNK-ALLCx"),
            ("zzz", false, "UNK-LC"),
            ("t-shirty", false, "UNK-LC-DASHy"),
            ("1999999", false, "UNK-NUM"),
            ("19b", false, "UNK-LC-DIG"),
            ("12-13", false, "UNK-DASH-DIG"),
            ("????", false, "UNK?"),
            ("??", false, "UNK"),
            ("𝐀𝐁", false, "UNK𝐁"),
            ("", false, "UNK"),
            ("ÉTÉS", false, "UNK-ALLCs"),
        ] {
            assert_eq!(signature(word, is_first), expected, "{word}");
        }
    }
}
