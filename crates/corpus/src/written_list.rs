//! Lists of captions that are written as text: `["a", "b"]` in JSON, `['a', "b"]` in Python, `['a' 'b']` as numpy
//! prints arrays.

use std::iter::Peekable;
use std::str::Chars;

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
    let mut rest = inner.chars().peekable();
    let mut strings = Vec::new();
    loop {
        while rest.next_if(|c| c.is_whitespace()).is_some() {}
        match rest.peek() {
            None => break,
            Some('"' | '\'' | 'u') => strings.push(string(&mut rest)?),
            Some(_) => nothing(&mut rest)?,
        }
        while rest.next_if(|c| c.is_whitespace()).is_some() {}
        rest.next_if_eq(&',');
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

/// Reads a word that stands for no value.
fn nothing(rest: &mut Peekable<Chars<'_>>) -> Option<()> {
    let mut word = String::new();
    while let Some(letter) = rest.next_if(char::is_ascii_alphabetic) {
        word.push(letter);
    }
    matches!(&*word, "None" | "null" | "nan" | "NaN").then_some(())
}

/// Reads a string with its quotes.
fn string(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    rest.next_if_eq(&'u');
    let quote = rest.next_if(|c| matches!(c, '"' | '\''))?;
    let mut read = String::new();
    loop {
        match rest.next()? {
            c if c == quote => break,
            '\\' => escape(rest, &mut read)?,
            c => read.push(c),
        }
    }
    // What follows a string directly is not a list: 'it's'.
    let ends = rest.peek().is_none_or(|c| c.is_whitespace() || *c == ',');
    ends.then_some(read)
}

/// Reads what follows a backslash, as in JSON and Python.
fn escape(rest: &mut Peekable<Chars<'_>>, read: &mut String) -> Option<()> {
    let code = match rest.next()? {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'x' => char::from_u32(hex(rest, 2)?)?,
        'u' => unicode(rest)?,
        'U' => char::from_u32(hex(rest, 8)?)?,
        c @ ('\\' | '\'' | '"' | '/') => c,
        // Python keeps the backslash of an unknown escape.
        c => {
            read.push('\\');
            c
        }
    };
    read.push(code);
    Some(())
}

/// Reads four digits, and a second half after the first half of a surrogate pair.
fn unicode(rest: &mut Peekable<Chars<'_>>) -> Option<char> {
    let first = hex(rest, 4)?;
    if !(0xD800..0xDC00).contains(&first) {
        return char::from_u32(first);
    }
    let is_pair = rest.next()? == '\\' && rest.next()? == 'u';
    let second = hex(rest, 4).filter(|half| is_pair && (0xDC00..0xE000).contains(half))?;
    char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
}

fn hex(rest: &mut Peekable<Chars<'_>>, digits: u32) -> Option<u32> {
    (0..digits).try_fold(0, |number, _| Some(number * 16 + rest.next()?.to_digit(16)?))
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
