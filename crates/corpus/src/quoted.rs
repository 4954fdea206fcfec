//! Strings in quotes, as JSON and Python write them.

use std::str::Chars;

/// The string at the start of `text`, in single or double quotes, and the text after it.
pub(crate) fn quoted(text: &str) -> Option<(String, &str)> {
    let mut rest = text.chars();
    let quote = rest.next().filter(|c| matches!(c, '"' | '\''))?;
    let mut read = String::new();
    loop {
        match rest.next()? {
            c if c == quote => return Some((read, rest.as_str())),
            '\\' => escape(&mut rest, &mut read)?,
            c => read.push(c),
        }
    }
}

/// Reads what follows a backslash.
fn escape(rest: &mut Chars<'_>, read: &mut String) -> Option<()> {
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
        // The string goes on in the next line.
        '\n' => return Some(()),
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
fn unicode(rest: &mut Chars<'_>) -> Option<char> {
    let first = hex(rest, 4)?;
    if !(0xD800..0xDC00).contains(&first) {
        return char::from_u32(first);
    }
    let is_pair = rest.next()? == '\\' && rest.next()? == 'u';
    let second = hex(rest, 4).filter(|half| is_pair && (0xDC00..0xE000).contains(half))?;
    char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
}

fn hex(rest: &mut Chars<'_>, digits: u32) -> Option<u32> {
    (0..digits).try_fold(0, |number: u32, _| Some(number << 4 | rest.next()?.to_digit(16)?))
}
