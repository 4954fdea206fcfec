//! Reads values in the notation of JSON or Python, one after another: documents, lines, lines with commas, and lists
//! and dictionaries as `print` shows them.
//!
//! This reader is more tolerant than [`Json`](crate::json::Json) on purpose, and is used only if no strict reader of a
//! format could read the file. The code that looks for captions in its values checks them.

use crate::quoted::quoted;
use crate::table::Cell;

/// Deeper nesting is no value.
const MAX_DEPTH: u32 = 64;

/// The values of a text that consists of nothing else, apart from white space and commas between them.
pub(super) fn values(text: &str) -> Option<Vec<Cell<'static>>> {
    let mut reader = Reader { text, at: 0 };
    let mut values = Vec::new();
    loop {
        reader.space();
        while reader.take(',') || reader.take(';') {
            reader.space();
        }
        if reader.rest().is_empty() {
            return Some(values);
        }
        match reader.peek() {
            Some('{' | '[' | '(') => values.push(reader.value(MAX_DEPTH)?),
            // A text that was written as a string.
            Some('"') => {
                let inner = reader.string()?;
                values.extend(self::values(&inner).filter(|_| inner.starts_with(['{', '[']))?);
            }
            Some(c) if c.is_alphabetic() => {
                reader.bare_word()?;
                values.push(reader.call(MAX_DEPTH)?);
            }
            _ => return None,
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let is_next = self.peek() == Some(wanted);
        if is_next {
            self.at += wanted.len_utf8();
        }
        is_next
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn value(&mut self, levels: u32) -> Option<Cell<'static>> {
        let levels = levels.checked_sub(1)?;
        self.space();
        match self.peek()? {
            '{' => self.object(levels),
            '[' => self.list(']', levels),
            '(' => self.list(')', levels),
            '"' | '\'' => Some(Cell::Text(self.string()?.into())),
            _ => self.word(levels),
        }
    }

    /// The first value in the brackets after a name, as in `defaultdict(<class 'list'>, {1: "a dog"})` or `tensor(5)`.
    fn call(&mut self, levels: u32) -> Option<Cell<'static>> {
        if !self.take('(') {
            return None;
        }
        let mut value = None;
        loop {
            self.space();
            if self.take(')') {
                return value;
            }
            let is_value = self.peek()? != '<' && value.is_none();
            if is_value {
                value = Some(self.value(levels)?);
            } else {
                let rest = self.rest();
                self.at += rest.find([',', ')', '\n'])?;
            }
            self.space();
            if !self.take(',') && self.peek() != Some(')') {
                return None;
            }
        }
    }

    fn list(&mut self, end: char, levels: u32) -> Option<Cell<'static>> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.space();
            if self.take(end) {
                return Some(Cell::List(items));
            }
            items.push(self.value(levels)?);
            self.space();
            if !self.take(',') && self.peek() != Some(end) {
                return None;
            }
        }
    }

    fn object(&mut self, levels: u32) -> Option<Cell<'static>> {
        self.at += 1;
        let mut fields: Vec<(String, Cell<'static>)> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        loop {
            self.space();
            if self.take('}') {
                return Some(Cell::Object(fields));
            }
            let key = match self.peek()? {
                '"' | '\'' => self.string()?,
                _ => self.bare_word()?.to_owned(),
            };
            self.space();
            if !self.take(':') || !seen.insert(key.clone()) {
                return None;
            }
            fields.push((key, self.value(levels)?));
            self.space();
            if !self.take(',') && self.peek() != Some('}') {
                return None;
            }
        }
    }

    fn bare_word(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let length = rest.find(|c: char| !(c.is_alphanumeric() || "+-._".contains(c))).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).filter(|word| !word.is_empty())
    }

    /// Numbers, the names of truth values and of nothing, and what is within brackets after a name.
    fn word(&mut self, levels: u32) -> Option<Cell<'static>> {
        let start = self.at;
        let word = self.bare_word()?;
        if matches!(word, "b" | "u" | "r") && matches!(self.peek(), Some('"' | '\'')) {
            return Some(Cell::Text(self.string()?.into()));
        }
        if self.peek() == Some('(') {
            return self.call(levels);
        }
        Some(match word {
            "null" | "None" | "nan" | "NaN" => Cell::Null,
            "true" | "True" => Cell::Bool(true),
            "false" | "False" => Cell::Bool(false),
            number => match number.parse() {
                Ok(integer) => Cell::Integer(integer),
                Err(_) => match number.parse() {
                    Ok(number) => Cell::Number(number),
                    Err(_) => {
                        self.at = start;
                        return None;
                    }
                },
            },
        })
    }

    fn string(&mut self) -> Option<String> {
        let (string, rest) = quoted(self.rest())?;
        self.at = self.text.len() - rest.len();
        Some(string)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_lines_and_literals_are_values() {
        for text in [
            "{\"a\": 1}\n{\"a\": 2}",
            "{\"a\": 1},\n{\"a\": 2},\n",
            "{'a': 1}\n{'a': 2}",
            "{\n \"a\": 1\n}\n{\n \"a\": 2\n}",
        ] {
            let cell = |n| Cell::Object(vec![("a".to_owned(), Cell::Integer(n))]);
            assert_eq!(values(text), Some(vec![cell(1), cell(2)]), "{text}");
        }
        let text = r#"[{'a': "it's", 'b': None, 'c': True, 'd': (1, 2.5)}, ]"#;
        let list = Cell::List(vec![Cell::Integer(1), Cell::Number(2.5)]);
        let fields =
            [("a", Cell::Text("it's".into())), ("b", Cell::Null), ("c", Cell::Bool(true)), ("d", list)];
        let object = Cell::Object(fields.map(|(key, cell)| (key.to_owned(), cell)).into());
        assert_eq!(values(text), Some(vec![Cell::List(vec![object])]));
        assert_eq!(
            values("[\"\\ud83d\\ude00 \\u00e9\"]"),
            Some(vec![Cell::List(vec![Cell::Text("😀 é".into())])])
        );
    }

    #[test]
    fn other_texts_are_no_values() {
        for text in ["a dog", "{\"a\": 1", "[1 2]", "{\"a\": 1, \"a\": 2}", "{a dog}", &"[".repeat(100_000)] {
            assert_eq!(values(text), None);
        }
    }
}
