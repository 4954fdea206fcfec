//! Texts that OpenAI's tokenizer would mend: with entities of HTML, or what ftfy changes.

/// Returns true if a text has an entity such as `&amp;`, curly quotes, letters of full width, ligatures, control
/// characters, or what becomes of letters that are decoded twice.
pub(crate) fn would_change(text: &str) -> bool {
    has_entity(text) || text.chars().any(is_mended) || is_decoded_twice(text)
}

fn has_entity(text: &str) -> bool {
    text.split('&').skip(1).any(|after| {
        let name = after.find(';').map(|end| &after[..end]).unwrap_or_default();
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric());
        let is_number = name.strip_prefix('#').is_some_and(|n| n.chars().all(|c| c.is_ascii_alphanumeric()));
        !name.is_empty() && (is_name || is_number)
    })
}

fn is_mended(c: char) -> bool {
    matches!(c,
        '\u{2018}'..='\u{201F}' | '\u{FF01}'..='\u{FF5E}' | '\u{3000}' | '\u{FB00}'..='\u{FB06}' | '\u{FEFF}'
        | '\u{80}'..='\u{9F}' | '\u{0}'..='\u{8}' | '\u{B}' | '\u{E}'..='\u{1F}' | '\u{7F}' | '\u{206A}'..='\u{206F}'
        | '\u{FFF9}'..='\u{FFFC}' | '\u{2028}' | '\u{2029}')
}

/// Returns true if there are signs such as `Ã©`, which is é after two wrong turns.
fn is_decoded_twice(text: &str) -> bool {
    let mut before = ' ';
    text.chars().any(|c| {
        let is_pair =
            matches!(before, 'Ã' | 'Â' | 'â' | 'ã') && matches!(c, '\u{A0}'..='\u{BF}' | '€' | '™' | 'œ');
        before = c;
        is_pair
    })
}

#[cfg(test)]
mod tests {
    use super::would_change;

    #[test]
    fn texts_that_are_mended_are_found() {
        for text in ["caf&eacute;", "a &amp; b", "&#39;s", "“a”", "it’s", "ＣＡＴ", "ﬁre", "cafÃ©", "a\u{7}b"]
        {
            assert!(would_change(text), "{text}");
        }
        for text in ["a cat & a dog", "a; b & c; d", "café", "two cats.", "中文", "a&;b", "naïve Ångström"]
        {
            assert!(!would_change(text), "{text}");
        }
    }
}
