//! Reads numbers, strips text and reads JSON as Python does, where reference programs rely on it.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// The value of a decimal digit of any script, as `\d` and `float` know them.
pub fn digit(c: char) -> Option<u32> {
    let is_digit = |c: char| c.general_category() == GeneralCategory::DecimalNumber;
    if c.is_ascii() {
        return c.to_digit(10);
    }
    if !is_digit(c) {
        return None;
    }
    // Digits lie in runs of ten or several tens, each of which begins with 0.
    let mut first = u32::from(c);
    while char::from_u32(first - 1).is_some_and(is_digit) {
        first -= 1;
    }
    Some((u32::from(c) - first) % 10)
}

/// Returns true if `str.strip` removes a character.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// `str.strip`.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `float` of a text.
pub fn float(text: &str) -> Option<f64> {
    let text = strip(text);
    let plain: String =
        text.chars().map(|c| digit(c).and_then(|digit| char::from_digit(digit, 10)).unwrap_or(c)).collect();
    let bytes = plain.as_bytes();
    // An underscore stands between two digits.
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let underscores = plain.match_indices('_');
    if underscores.into_iter().any(|(at, _)| at == 0 || !is_digit(at - 1) || !is_digit(at + 1)) {
        return None;
    }
    // Rust's grammar is the same: signs, inf, infinity and nan in any case, and exponents.
    plain.replace('_', "").parse().ok()
}

/// A value of JSON, as far as it matters what it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Text(String),
    /// A number, or a truth value.
    Number(f64),
    /// A whole number that is no float, since it is too large.
    Huge,
    /// Nothing, or a list.
    Other,
}

/// The reason why a text is no object of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// `json.JSONDecodeError`.
    Decode,
    /// Another error, which ends programs that expect the first.
    Other,
}

/// The greatest number of digits that `int` reads.
const MOST_DIGITS: usize = 4300;

/// The depth at which Python gives up, about.
const DEEPEST: usize = 900;

/// `json.loads` of an object: its keys and values, in order, of which the last with a key counts.
pub fn loads(text: &str) -> Result<Vec<(String, Json)>, Fault> {
    let mut reader = Reader { rest: text };
    let object = reader.object()?;
    reader.spaces();
    if reader.rest.is_empty() { Ok(object) } else { Err(Fault::Decode) }
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn take(&mut self, mark: &str) -> bool {
        self.rest.strip_prefix(mark).inspect(|rest| self.rest = rest).is_some()
    }

    fn expect(&mut self, mark: &str) -> Result<(), Fault> {
        if self.take(mark) { Ok(()) } else { Err(Fault::Decode) }
    }

    fn object(&mut self) -> Result<Vec<(String, Json)>, Fault> {
        let mut all = Vec::new();
        self.spaces();
        self.expect("{")?;
        self.spaces();
        if self.take("}") {
            return Ok(all);
        }
        loop {
            self.spaces();
            self.expect("\"")?;
            let key = self.string()?;
            self.spaces();
            self.expect(":")?;
            self.spaces();
            all.push((key, self.value(0)?));
            self.spaces();
            if self.take("}") {
                return Ok(all);
            }
            self.expect(",")?;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, Fault> {
        if depth > DEEPEST {
            return Err(Fault::Other);
        }
        let words = [
            ("null", Json::Other),
            ("true", Json::Number(1.0)),
            ("false", Json::Number(0.0)),
            ("NaN", Json::Number(f64::NAN)),
            ("Infinity", Json::Number(f64::INFINITY)),
            ("-Infinity", Json::Number(f64::NEG_INFINITY)),
        ];
        if self.take("\"") {
            return self.string().map(Json::Text);
        }
        if self.take("[") {
            return self.list(depth);
        }
        match words.into_iter().find(|(word, _)| self.take(word)) {
            Some((_, value)) => Ok(value),
            None => self.number(),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Json, Fault> {
        self.spaces();
        if self.take("]") {
            return Ok(Json::Other);
        }
        loop {
            self.spaces();
            self.value(depth + 1)?;
            self.spaces();
            if self.take("]") {
                return Ok(Json::Other);
            }
            self.expect(",")?;
        }
    }

    /// A string behind its first quotation mark.
    fn string(&mut self) -> Result<String, Fault> {
        let mut text = String::new();
        // Halves of characters, which may be alone in Python's strings.
        let mut half: Option<u32> = None;
        loop {
            let c = self.rest.chars().next().ok_or(Fault::Decode)?;
            self.rest = &self.rest[c.len_utf8()..];
            let c = match c {
                '"' => {
                    if half.is_some() {
                        text.push('\u{fffd}');
                    }
                    return Ok(text);
                }
                '\0'..='\x1f' => return Err(Fault::Decode),
                '\\' => match self.escape()? {
                    Ok(c) => c,
                    Err(unit) => {
                        if let (Some(high), 0xdc00..) = (half, unit) {
                            let code = 0x1_0000 + ((high & 0x3ff) << 10) + (unit & 0x3ff);
                            text.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                            half = None;
                        } else {
                            if half.is_some() || unit >= 0xdc00 {
                                text.push('\u{fffd}');
                            }
                            half = (unit < 0xdc00).then_some(unit);
                        }
                        continue;
                    }
                },
                c => c,
            };
            if half.take().is_some() {
                text.push('\u{fffd}');
            }
            text.push(c);
        }
    }

    /// The meaning of a backslash: a character, or half of one.
    fn escape(&mut self) -> Result<Result<char, u32>, Fault> {
        let c = self.rest.chars().next().ok_or(Fault::Decode)?;
        self.rest = &self.rest[c.len_utf8()..];
        let plain = match c {
            '"' | '\\' | '/' => c,
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let digits =
                    self.rest.get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
                let code =
                    digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).ok_or(Fault::Decode)?;
                self.rest = &self.rest[4..];
                return Ok(char::from_u32(code).ok_or(code));
            }
            _ => return Err(Fault::Decode),
        };
        Ok(Ok(plain))
    }

    fn number(&mut self) -> Result<Json, Fault> {
        let bytes = self.rest.as_bytes();
        let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let sign = usize::from(bytes.first() == Some(&b'-'));
        let whole = match bytes.get(sign) {
            Some(b'0') => 1,
            Some(b'1'..=b'9') => digits(sign),
            _ => return Err(Fault::Decode),
        };
        let mut end = sign + whole;
        let mut is_whole = true;
        if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
            is_whole = false;
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let n = digits(end + 1 + sign);
            if n > 0 {
                end += 1 + sign + n;
                is_whole = false;
            }
        }
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        if is_whole && whole > MOST_DIGITS {
            return Err(Fault::Other);
        }
        let value: f64 = number.parse().map_err(|_| Fault::Decode)?;
        Ok(if is_whole && value.is_infinite() { Json::Huge } else { Json::Number(value) })
    }
}
