//! A strict pull parser for JSON over borrowed text.
//!
//! The caller requests the next key or element and reads or skips its value; nothing is built in memory, and strings
//! without escapes are borrowed. The parser accepts what RFC 8259 accepts, within [`MAX_DEPTH`] levels. In skipped
//! values, it also accepts the `NaN`, `Infinity` and `-Infinity` that Python's `json` writes (results files contain
//! log-probabilities).
//!
//! It is our own because it is faster than a library where the whole run waits for it: it takes ids and captions from
//! COCO's `captions_val2014.json` at 1,560 MB/s on one core, where jiter 0.18 reaches 990 (best of 80 runs of each,
//! filling the same arrays). It also reports the position of every error.

use std::borrow::Cow;

use crate::error::{Error, ErrorKind, TRUNCATED};
use crate::{Remedy, SegmentId};

/// Deeper nesting than this inside one skipped value is an error.
pub(crate) const MAX_DEPTH: u32 = 126;

/// The reason why the text cannot be read, with the byte. Boxed, so that results without a fault stay small.
#[derive(Debug)]
pub(crate) struct Fault {
    pub at: usize,
    pub what: What,
    pub remedy: Option<Remedy>,
}

impl Fault {
    #[cold]
    pub fn err<T>(at: usize, what: What) -> Result<T> {
        Err(Box::new(Self { at, what, remedy: None }))
    }

    #[cold]
    pub fn with_remedy<T>(at: usize, what: What, remedy: Remedy) -> Result<T> {
        Err(Box::new(Self { at, what, remedy: Some(remedy) }))
    }

    /// The fault as an error about the file `name`, without a position.
    pub fn into_error(self, name: &str) -> Error {
        let (kind, message) = match self.what {
            What::Truncated => (ErrorKind::Syntax, format!("unexpected end of JSON ({TRUNCATED})")),
            What::Syntax(message) => (ErrorKind::Syntax, message.into_owned()),
            What::Escape(message) => (ErrorKind::Encoding, message.into()),
            What::Shape(message) => (ErrorKind::Shape, message),
            What::Id(message) => (ErrorKind::Id, message),
            What::Duplicate(message) => (ErrorKind::Duplicate, message),
        };
        self.remedy.into_iter().fold(Error::new(kind, name, message), Error::with_remedy)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The text ends too early.
    Truncated,
    /// The text violates JSON's rules.
    Syntax(Cow<'static, str>),
    /// An escape that is not a character.
    Escape(&'static str),
    /// Valid JSON, but not what was expected.
    Shape(String),
    /// A value that is not an id.
    Id(String),
    /// A duplicate key.
    Duplicate(String),
}

pub(crate) type Result<T> = std::result::Result<T, Box<Fault>>;

/// A JSON string as it is written, between its quotes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawStr<'a> {
    raw: &'a str,
    /// The start of `raw` in the text, times two, plus one if it has an escape. A separate `bool` would add padding,
    /// whose copies cost the hot path a quarter of its time.
    place: usize,
}

impl<'a> RawStr<'a> {
    #[inline]
    fn new(raw: &'a str, at: usize, escaped: bool) -> Self {
        Self { raw, place: at << 1 | usize::from(escaped) }
    }

    #[inline]
    fn escaped(&self) -> bool {
        self.place & 1 == 1
    }

    /// The start of the characters in the text, after the opening quote.
    #[inline]
    fn at(&self) -> usize {
        self.place >> 1
    }

    /// Appends the decoded characters of the string.
    #[inline]
    pub fn push_into(&self, target: &mut String) -> Result<()> {
        if self.escaped() {
            return self.unescape_into(target);
        }
        target.push_str(self.raw);
        Ok(())
    }

    /// The decoded characters of the string.
    pub fn decoded(&self) -> Result<Cow<'a, str>> {
        if !self.escaped() {
            return Ok(Cow::Borrowed(self.raw));
        }
        let mut text = String::with_capacity(self.raw.len());
        self.unescape_into(&mut text)?;
        Ok(Cow::Owned(text))
    }

    /// Returns true if the decoded string equals `text`.
    #[inline]
    pub fn is(&self, text: &str) -> bool {
        if self.escaped() { self.decoded().is_ok_and(|decoded| decoded == text) } else { self.raw == text }
    }

    /// The start of the string in the text, at its opening quote.
    pub fn start(&self) -> usize {
        self.at().saturating_sub(1)
    }

    #[cold]
    fn unescape_into(&self, target: &mut String) -> Result<()> {
        let mut rest = self.raw;
        while let Some((plain, escape)) = rest.split_once('\\') {
            target.push_str(plain);
            let at = self.at() + self.raw.len() - escape.len() - 1;
            let (character, length) = unescape(escape).or_else(|what| Fault::err(at, what))?;
            target.push(character);
            rest = escape.get(length..).unwrap_or_default();
        }
        target.push_str(rest);
        Ok(())
    }
}

/// The character of an escape, and the number of bytes of the escape after the backslash.
///
/// A lone surrogate is an error. Python's `json` keeps it in the string, but then pycocoevalcap stops with
/// `UnicodeEncodeError` when it writes the string for its tokenizer, so no reference program scores such a caption.
fn unescape(escape: &str) -> std::result::Result<(char, usize), What> {
    let simple = match escape.as_bytes().first() {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unescape_code(escape.get(1..).unwrap_or_default()),
        Some(_) => return Err(What::Syntax("unknown escape in a string".into())),
        None => return Err(What::Truncated),
    };
    Ok((simple, 1))
}

fn unescape_code(digits: &str) -> std::result::Result<(char, usize), What> {
    const LONE: What = What::Escape("an escaped surrogate without its partner is not a character");
    let first = hex(digits)?;
    if let Some(character) = char::from_u32(first) {
        return Ok((character, 5));
    }
    let Some(partner) = digits.get(4..).and_then(|rest| rest.strip_prefix("\\u")) else {
        return Err(LONE);
    };
    let second = hex(partner)?;
    if !(0xD800..0xDC00).contains(&first) || !(0xDC00..0xE000).contains(&second) {
        return Err(LONE);
    }
    let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    char::from_u32(code).map(|character| (character, 11)).ok_or(LONE)
}

fn hex(digits: &str) -> std::result::Result<u32, What> {
    let digits = digits.as_bytes().first_chunk::<4>().ok_or(What::Truncated)?;
    digits.iter().try_fold(0, |code, byte| {
        char::from(*byte)
            .to_digit(16)
            .map(|digit| code * 16 + digit)
            .ok_or(What::Syntax("expected four hexadecimal digits after \\u".into()))
    })
}

/// The kind of value that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Object,
    Array,
    String,
    Number,
    Other,
}

/// A position in a JSON text from which the next item is read.
///
/// Results of two words or more are returned through memory, and waiting for them took a third of the time of the hot
/// path. Functions that are called for each key and string are therefore always inlined (1.75 GB/s on COCO's captions,
/// against 1.2).
#[derive(Clone, Debug)]
pub(crate) struct Json<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Json<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The byte that will be read next.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The same text, read from byte `at` on.
    pub fn moved_to(&self, at: usize) -> Self {
        Self { text: self.text, at }
    }

    /// A fault at the next byte.
    #[cold]
    pub fn fault<T>(&self, what: What) -> Result<T> {
        Fault::err(self.at, what)
    }

    #[cold]
    fn syntax<T>(&self, expected: &'static str) -> Result<T> {
        match self.text.as_bytes().get(self.at) {
            None => self.fault(What::Truncated),
            Some(_) => self.fault(What::Syntax(expected.into())),
        }
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte that is not white space.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                byte => return byte,
            }
        }
    }

    /// The kind of the next value, which is not consumed.
    pub fn kind(&mut self) -> Result<ValueKind> {
        Ok(match self.peek() {
            Some(b'{') => ValueKind::Object,
            Some(b'[') => ValueKind::Array,
            Some(b'"') => ValueKind::String,
            Some(b'-' | b'0'..=b'9') => ValueKind::Number,
            Some(_) => ValueKind::Other,
            None => return self.fault(What::Truncated),
        })
    }

    /// Names the kind of the next value in an error: `a number`.
    #[cold]
    pub fn found(&mut self) -> &'static str {
        match self.peek() {
            Some(b'{') => "an object",
            Some(b'[') => "an array",
            Some(b'"') => "a string",
            Some(b'-' | b'0'..=b'9') => "a number",
            Some(b'n') => "null",
            Some(b't' | b'f') => "true or false",
            Some(b'N') => "NaN",
            Some(_) => "something else",
            None => "the end",
        }
    }

    /// Reads `open`; the error says that `expected` was expected.
    #[inline]
    pub fn open(&mut self, open: u8, expected: &str) -> Result<()> {
        if self.peek() == Some(open) {
            self.at += 1;
            return Ok(());
        }
        self.mismatch(expected)
    }

    #[cold]
    pub fn mismatch<T>(&mut self, expected: &str) -> Result<T> {
        let found = self.found();
        match self.byte() {
            None => self.fault(What::Truncated),
            Some(_) => self.fault(What::Shape(format!("expected {expected}, found {found}"))),
        }
    }

    /// Returns true if the next value is null or NaN, which stand for nothing.
    pub fn is_missing(&mut self) -> bool {
        matches!(self.peek(), Some(b'n' | b'N'))
    }

    /// Refuses the next value, which stands where a caption of an image is expected.
    #[cold]
    pub fn no_caption<T>(&mut self, expected: &str, id: Option<&SegmentId>) -> Result<T> {
        let found = self.found();
        if self.byte().is_none() {
            return self.fault(What::Truncated);
        }
        let whose = id.map(|id| format!(" for image {}", id.quoted())).unwrap_or_default();
        let remedy = match found {
            "an array" => "give each image one list of captions, without lists in it",
            "null" | "NaN" => "write its caption, or leave it out",
            _ => "write captions in quotes, and null where there is none",
        };
        let message = format!("expected {expected}, found {found}{whose}");
        Fault::with_remedy(self.at, What::Shape(message), Remedy::say(remedy))
    }

    /// Moves to the next key of an object whose `{` has been read; `None` after its `}`. The caller sets `first` to
    /// true before the first key and passes it to each call.
    #[inline(always)]
    pub fn next_key(&mut self, first: &mut bool) -> Result<Option<RawStr<'a>>> {
        match self.peek() {
            Some(b'}') => {
                self.at += 1;
                return Ok(None);
            }
            Some(b',') if !*first => self.at += 1,
            Some(b'"') if *first => {}
            _ if *first => return self.syntax("expected a key in quotes or '}'"),
            _ => return self.syntax("expected ',' or '}'"),
        }
        *first = false;
        if self.peek() != Some(b'"') {
            return self.syntax("expected a key in quotes");
        }
        let key = self.string()?;
        if self.peek() != Some(b':') {
            return self.syntax("expected ':' after a key");
        }
        self.at += 1;
        Ok(Some(key))
    }

    /// Moves to the next element of an array whose `[` has been read; false after its `]`.
    #[inline(always)]
    pub fn next_element(&mut self, first: &mut bool) -> Result<bool> {
        match self.peek() {
            Some(b']') => {
                self.at += 1;
                return Ok(false);
            }
            Some(b',') if !*first => self.at += 1,
            Some(_) if *first => {}
            _ => return self.syntax("expected ',' or ']'"),
        }
        *first = false;
        Ok(true)
    }

    /// Reads a string whose opening quote comes next.
    #[inline(always)]
    pub fn string(&mut self) -> Result<RawStr<'a>> {
        if self.peek() != Some(b'"') {
            return self.mismatch("a string");
        }
        let start = self.at + 1;
        let end = self.scan_string(start);
        if self.text.as_bytes().get(end) == Some(&b'"') {
            self.at = end + 1;
            let raw = self.text.get(start..end).unwrap_or_default();
            return Ok(RawStr::new(raw, start, false));
        }
        self.escaped_string(start, end)
    }

    /// The first quote, backslash or control character from `from` on.
    #[inline]
    fn scan_string(&self, from: usize) -> usize {
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        let mut at = from;
        let (blocks, _) = rest.as_chunks::<16>();
        for block in blocks {
            let word = u128::from_le_bytes(*block);
            let low = string_stops(word as u64);
            let high = string_stops((word >> 64) as u64);
            if low | high != 0 {
                let zeros = if low != 0 { low.trailing_zeros() } else { 64 + high.trailing_zeros() };
                return at + zeros as usize / 8;
            }
            at += 16;
        }
        let tail = self.text.as_bytes().get(at..).unwrap_or_default();
        let in_tail = tail.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
        at + in_tail.unwrap_or(tail.len())
    }

    /// Continues to read a string that has an escape or an error at `at`.
    #[cold]
    fn escaped_string(&mut self, start: usize, mut at: usize) -> Result<RawStr<'a>> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(at) {
                Some(b'"') => {
                    self.at = at + 1;
                    let raw = self.text.get(start..at).unwrap_or_default();
                    return Ok(RawStr::new(raw, start, true));
                }
                Some(b'\\') => {
                    let length = match bytes.get(at + 1) {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                        Some(b'u') => {
                            let digits = bytes.get(at + 2..).unwrap_or_default();
                            let wrong = digits.iter().take(4).position(|byte| !byte.is_ascii_hexdigit());
                            if let Some(wrong) = wrong {
                                let what = What::Syntax("expected four hexadecimal digits after \\u".into());
                                return Fault::err(at + 2 + wrong, what);
                            }
                            6
                        }
                        Some(_) => {
                            return Fault::err(at, What::Syntax("unknown escape in a string".into()));
                        }
                        None => 2,
                    };
                    at = self.scan_string((at + length).min(bytes.len()));
                }
                Some(_) => {
                    let what = What::Syntax("a control character in a string must be escaped".into());
                    return Fault::err(at, what);
                }
                None => return Fault::err(bytes.len(), What::Truncated),
            }
        }
    }

    /// Reads an image id: an integer within `i64`, or a string.
    #[inline(always)]
    pub fn id(&mut self) -> Result<SegmentId> {
        match self.peek() {
            Some(b'0'..=b'9' | b'-') => self.integer_id(),
            Some(b'"') => Ok(SegmentId::Text(self.string()?.decoded()?.into())),
            _ => {
                let found = self.found();
                match self.byte() {
                    None => self.fault(What::Truncated),
                    Some(b'[' | b'{') => self.mismatch("an image id, which is an integer or a string"),
                    Some(_) => self.fault(What::Id(format!(
                        "an image id must be an integer or a string, found {found}"
                    ))),
                }
            }
        }
    }

    #[inline]
    fn integer_id(&mut self) -> Result<SegmentId> {
        let bytes = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let mut value = 0_i64;
        let mut length = 0;
        while let Some(digit @ b'0'..=b'9') = bytes.get(length) {
            if length == 18 {
                break;
            }
            value = value * 10 + i64::from(digit - b'0');
            length += 1;
        }
        let plain = matches!(bytes.get(length), Some(b',' | b'}' | b' ' | b'\n' | b'\r' | b'\t'));
        let leading_zero = bytes.first() == Some(&b'0') && length > 1;
        if plain && length > 0 && !leading_zero {
            self.at += length;
            return Ok(SegmentId::Integer(value));
        }
        self.unusual_integer_id()
    }

    #[cold]
    fn unusual_integer_id(&mut self) -> Result<SegmentId> {
        let start = self.at;
        self.number()?;
        let number = self.text.get(start..self.at).unwrap_or_default();
        if let Ok(integer) = number.parse() {
            return Ok(SegmentId::Integer(integer));
        }
        if let Some(integer) = number.parse().ok().and_then(SegmentId::from_float) {
            return Ok(integer);
        }
        let integral = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let why = if integral { "does not fit into 64 bits" } else { "is not an integer" };
        let shown: String = number.chars().take(40).collect();
        let what = What::Id(format!("the image id {shown} {why}"));
        Fault::with_remedy(start, what, Remedy::say("write it as a string"))
    }

    /// Reads a number by JSON's grammar, without computing its value.
    fn number(&mut self) -> Result<()> {
        if self.byte() == Some(b'-') {
            self.at += 1;
            if self.byte() == Some(b'I') {
                return self.word("Infinity");
            }
        }
        match self.byte() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return self.syntax("expected a digit"),
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.some_digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.at += 1;
            }
            self.some_digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) {
        while let Some(b'0'..=b'9') = self.byte() {
            self.at += 1;
        }
    }

    fn some_digits(&mut self) -> Result<()> {
        match self.byte() {
            Some(b'0'..=b'9') => {
                self.digits();
                Ok(())
            }
            _ => self.syntax("expected a digit"),
        }
    }

    fn word(&mut self, word: &'static str) -> Result<()> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(());
        }
        if word.as_bytes().starts_with(rest) {
            self.at = self.text.len();
            return self.fault(What::Truncated);
        }
        self.syntax("expected a value")
    }

    /// Skips a value of any kind.
    pub fn skip(&mut self) -> Result<()> {
        // Bit d is set if the level d levels up is an object.
        let mut objects = 0_u128;
        let mut depth = 0;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.string()?;
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(open @ (b'{' | b'[')) => {
                    if depth == MAX_DEPTH {
                        return self.fault(What::Syntax("values are nested too deep".into()));
                    }
                    self.at += 1;
                    let is_object = open == b'{';
                    let close = if is_object { b'}' } else { b']' };
                    if self.peek() == Some(close) {
                        self.at += 1;
                    } else {
                        depth += 1;
                        objects = objects << 1 | u128::from(is_object);
                        if is_object {
                            self.skip_key()?;
                        }
                        continue;
                    }
                }
                Some(b't') => self.word("true")?,
                Some(b'f') => self.word("false")?,
                Some(b'n') => self.word("null")?,
                Some(b'N') => self.word("NaN")?,
                Some(b'I') => self.word("Infinity")?,
                _ => return self.syntax("expected a value"),
            }
            // A value has ended: close the levels that it completes, and find the next value.
            loop {
                if depth == 0 {
                    return Ok(());
                }
                let in_object = objects & 1 == 1;
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        if in_object {
                            self.skip_key()?;
                        }
                        break;
                    }
                    Some(b'}') if in_object => {}
                    Some(b']') if !in_object => {}
                    _ if in_object => return self.syntax("expected ',' or '}'"),
                    _ => return self.syntax("expected ',' or ']'"),
                }
                self.at += 1;
                depth -= 1;
                objects >>= 1;
            }
        }
    }

    #[inline]
    fn skip_key(&mut self) -> Result<()> {
        if self.peek() != Some(b'"') {
            return self.syntax("expected a key in quotes");
        }
        self.string()?;
        if self.peek() != Some(b':') {
            return self.syntax("expected ':' after a key");
        }
        self.at += 1;
        Ok(())
    }

    /// Reads a number or a word, as it is written.
    pub fn scalar(&mut self) -> Result<&'a str> {
        self.peek();
        let start = self.at;
        self.skip()?;
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    /// Reads the end of the text.
    pub fn end(&mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.syntax("expected the end of the file after the value"),
        }
    }
}

/// Sets the high bit of each byte that ends a plain run of a string: a quote, a backslash or a control character.
/// Bits above the lowest one set may be false.
#[inline]
fn string_stops(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    const QUOTES: u64 = u64::from_ne_bytes([b'"'; 8]);
    const BACKSLASHES: u64 = u64::from_ne_bytes([b'\\'; 8]);
    const BLANKS: u64 = u64::from_ne_bytes([b' '; 8]);
    let quotes = word ^ QUOTES;
    let backslashes = word ^ BACKSLASHES;
    let quotes = quotes.wrapping_sub(ONES) & !quotes;
    let backslashes = backslashes.wrapping_sub(ONES) & !backslashes;
    let controls = word.wrapping_sub(BLANKS) & !word;
    (quotes | backslashes | controls) & HIGHS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    use super::*;

    fn skips(text: &str) -> Result<()> {
        let mut json = Json::new(text);
        json.skip()?;
        json.end()
    }

    fn decode(text: &str) -> Result<String> {
        let mut json = Json::new(text);
        let decoded = json.string()?.decoded()?.into_owned();
        json.end()?;
        Ok(decoded)
    }

    fn id(text: &str) -> Result<SegmentId> {
        let mut json = Json::new(text);
        let id = json.id()?;
        json.end()?;
        Ok(id)
    }

    /// Text near JSON: its own characters, words and awkward strings in any order.
    fn near_json() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => "[\\[\\]{}:,\" \n]",
            2 => "-?[0-9]{0,3}(\\.[0-9]{0,2})?([eE][+-]?[0-9]{0,2})?",
            2 => "\"[a-zé😀]{0,12}\"",
            1 => "\"(\\\\[\"\\\\/bfnrtux]|\\\\u[0-9a-fD8]{4}|[ -~]){0,4}\"",
            1 => Just("true".to_owned()),
            1 => Just("null".to_owned()),
            1 => Just("{\"a\": [1, {}], \"b\": \"c\"}".to_owned()),
            1 => "\\PC",
            1 => "[\u{0}-\u{1f}]",
        ];
        proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    fn json_value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            ".{0,40}".prop_map(Into::into),
        ];
        leaf.prop_recursive(6, 60, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                proptest::collection::hash_map(".{0,12}", inner, 0..6)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn what_serde_json_accepts_is_accepted_and_no_more(text in near_json()) {
            let theirs = serde_json::from_str::<IgnoredAny>(&text);
            prop_assert_eq!(skips(&text).is_ok(), theirs.is_ok(), "{:?} {:?}", text, theirs);
        }

        #[test]
        fn what_serde_json_writes_is_accepted(value in json_value(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            prop_assert!(skips(&text.unwrap()).is_ok());
        }

        #[test]
        fn a_truncated_value_is_called_truncated(value in json_value(), cut in any::<prop::sample::Index>()) {
            let text = serde_json::json!([value]).to_string();
            let mut end = cut.index(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let fault = skips(&text[..end]).unwrap_err();
            prop_assert_eq!(fault.what, What::Truncated, "{:?}", &text[..end]);
        }

        #[test]
        fn strings_decode_as_in_serde_json(text in "\"(\\\\[\"\\\\/bfnrtu]|\\\\u[0-9a-fA-F]{4}|\\\\ud83d\\\\ude00|.){0,12}\"") {
            let theirs = serde_json::from_str::<String>(&text);
            match (decode(&text), theirs) {
                (Ok(ours), Ok(theirs)) => prop_assert_eq!(ours, theirs),
                (ours, theirs) => prop_assert!(ours.is_err() && theirs.is_err(), "{} {:?} {:?}", text, ours, theirs),
            }
        }

        #[test]
        fn integer_ids_are_those_of_serde_json(text in "-?[0-9]{1,21}(\\.0|e1)?") {
            prop_assert_eq!(id(&text).ok(), serde_json::from_str(&text).ok());
        }

        #[test]
        fn the_scan_stops_where_a_plain_search_does(text in "[ -~é\u{0}\u{1f}\u{7f}😀]{0,80}", from in 0_usize..20) {
            let bytes = text.as_bytes();
            let from = from.min(bytes.len());
            let stop = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
            let expected = bytes[from..].iter().position(stop).map_or(bytes.len(), |at| from + at);
            prop_assert_eq!(Json::new(&text).scan_string(from), expected);
        }
    }

    #[test]
    fn python_floats_are_skipped() {
        for text in ["NaN", "Infinity", "-Infinity", r#"{"score": [NaN, -Infinity, 1e5]}"#] {
            assert!(skips(text).is_ok(), "{text}");
        }
        assert!(skips("-NaN").is_err());
    }

    #[test]
    fn nesting_has_a_limit_and_no_recursion() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(skips(&nested(MAX_DEPTH as usize)).is_ok());
        assert!(skips(&nested(MAX_DEPTH as usize + 2)).is_err());
        assert!(skips(&"[".repeat(1_000_000)).is_err());
        let objects = "{\"a\":".repeat(MAX_DEPTH as usize) + "1" + &"}".repeat(MAX_DEPTH as usize);
        assert!(skips(&objects).is_ok());
    }

    #[test]
    fn a_lone_surrogate_is_an_error_at_its_escape() {
        let fault = decode(r#""ab\ud83d cd""#).unwrap_err();
        assert_eq!(fault.at, 3);
        assert!(matches!(fault.what, What::Escape(_)));
        assert!(skips(r#""\ud83d""#).is_ok());
        assert_eq!(decode(r#""\ud83d\ude00""#).unwrap(), "😀");
        assert!(decode(r#""\ude00\ud83d""#).is_err());
        assert!(decode(r#""\ud83d\u0041""#).is_err());
    }

    #[test]
    fn a_fractional_or_huge_id_is_refused_by_name() {
        for (text, why) in [
            ("1.5", "is not an integer"),
            ("1e-3", "is not an integer"),
            ("1e300", "is not an integer"),
            ("9223372036854775808", "does not fit into 64 bits"),
        ] {
            let What::Id(message) = id(text).unwrap_err().what else { panic!("{text}") };
            assert_eq!(message, format!("the image id {text} {why}"));
        }
        for (text, integer) in [("1.0", 1), ("1e3", 1000), ("-7.0", -7), ("-0.0", 0)] {
            assert_eq!(id(text).unwrap(), SegmentId::Integer(integer), "{text}");
        }
        assert_eq!(id("-9223372036854775808").unwrap(), SegmentId::Integer(i64::MIN));
        assert_eq!(id("9223372036854775807 ").unwrap(), SegmentId::Integer(i64::MAX));
    }
}
