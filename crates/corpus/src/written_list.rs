//! Lists of captions that are written as text: `["a", "b"]` in JSON, `['a', "b"]` in Python, `['a' 'b']` as numpy
//! prints arrays.

use crate::quoted::quoted;

/// The strings of a list, if `text` is nothing but a list of strings, of which there is at least one.
///
/// Tuples and sets are lists, too, and so is `array(['a', 'b'], dtype=object)`, as numpy writes it; `None`, `null` and
/// `nan` among the strings are left out.
///
/// ```
/// use capeval_corpus::written_list;
///
/// assert_eq!(written_list(r#"['a dog', "it's a dog"]"#), Some(vec!["a dog".into(), "it's a dog".into()]));
/// assert_eq!(written_list("[a dog]"), None);
/// ```
pub fn written_list(text: &str) -> Option<Vec<String>> {
    let text = without_call(text.trim());
    let inner = match text.as_bytes() {
        [b'[', .., b']'] | [b'(', .., b')'] | [b'{', .., b'}'] => text.get(1..text.len() - 1)?,
        _ => return None,
    };
    let mut rest = inner.trim_start();
    let mut strings = Vec::new();
    while let Some(first) = rest.chars().next() {
        let after = match first {
            '"' | '\'' | 'u' => {
                let (string, after) = quoted(rest.strip_prefix('u').unwrap_or(rest))?;
                strings.push(string);
                // What follows a string directly is not a list: 'it's'.
                Some(after).filter(|after| after.is_empty() || after.starts_with(is_separator))?
            }
            _ => after_nothing(rest)?,
        };
        let after = after.trim_start();
        rest = after.strip_prefix(',').unwrap_or(after).trim_start();
    }
    (!strings.is_empty()).then_some(strings)
}

/// The list within numpy's `array(…)`, or the text as it is.
fn without_call(text: &str) -> &str {
    let within = text.strip_prefix("array(").and_then(|rest| rest.strip_suffix(')'));
    let list = within.and_then(|within| within.rsplit_once(']'));
    match list {
        Some((list, rest))
            if rest.is_empty() || rest.trim_start_matches([',', ' ', '\n']).starts_with("dtype=") =>
        {
            within.and_then(|within| within.get(..=list.len())).unwrap_or(text)
        }
        _ => text,
    }
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || c == ','
}

/// The text after a word that stands for no value.
fn after_nothing(text: &str) -> Option<&str> {
    let (word, after) = text.split_at(text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len()));
    matches!(word, "None" | "null" | "nan" | "NaN").then_some(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Option<Vec<String>> {
        written_list(text)
    }

    #[test]
    fn lists_of_json_python_and_numpy_are_read() {
        let two = Some(vec!["a".to_owned(), "b c".to_owned()]);
        for text in [
            r#"["a", "b c"]"#,
            "['a', 'b c']",
            "['a' 'b c']",
            "['a'\n 'b c']",
            "('a', 'b c')",
            " [ 'a','b c', ] ",
            "[u'a', None, 'b c', nan]",
            "{'a', 'b c'}",
            "array(['a', 'b c'], dtype=object)",
            "array(['a', 'b c'],\n      dtype='<U3')",
            "array(['a', 'b c'])",
        ] {
            assert_eq!(list(text), two, "{text}");
        }
        assert_eq!(list(r"['it\'s', 'é\x41\u00e9']"), Some(vec!["it's".into(), "éAé".into()]));
        assert_eq!(list(r#"["\ud83d\ude00", "\q"]"#), Some(vec!["😀".into(), "\\q".into()]));
        assert_eq!(list("[\"it's\"]"), Some(vec!["it's".into()]));
        assert_eq!(list("['']"), Some(vec![String::new()]));
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in [
            "",
            "[]",
            "()",
            "[",
            "]",
            "[Music]",
            "(a dog)",
            "['a'",
            "a ['b']",
            "['a'] b",
            "[1, 2]",
            "[['a']]",
            "['it's']",
            r#"["a" said he]"#,
            "['a\\",
            r#"["\ud83d"]"#,
            r#"["\ud83dx"]"#,
            "['\\x4']",
            "[None]",
            "{'a': 'b'}",
            "array(['a'], x)",
        ] {
            assert_eq!(list(text), None, "{text}");
        }
    }
}
