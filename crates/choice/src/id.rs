//! Image ids, kept as the user gives them.

use std::fmt;

use serde::de::{self, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The user's own name of an image (or sound, or line): kept as given.
///
/// Integers order before texts. In formats without types (CSV cells, keys of a JSON object, Flickr tokens)
/// [`SegmentId::from_untyped`] decides which of the two an id is.
///
/// ```
/// use capeval_choice::SegmentId;
///
/// assert_eq!(SegmentId::from_untyped("391895"), SegmentId::Integer(391895));
/// assert_eq!(SegmentId::from_untyped("0042"), SegmentId::from("0042"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SegmentId {
    /// A whole number, as COCO's image ids are.
    Integer(i64),
    /// Any other name, such as a file name.
    Text(Box<str>),
}

impl SegmentId {
    /// Reads an id that came without a type: a canonical decimal integer (no leading zero or plus sign, no
    /// `-0`, within `i64`) becomes an integer, also with `.0` after it, as pandas writes integers in a column with
    /// gaps; all else stays text.
    pub fn from_untyped(text: &str) -> Self {
        match Self::integer(text.strip_suffix(".0").unwrap_or(text)) {
            Some(integer) => Self::Integer(integer),
            None => Self::Text(text.into()),
        }
    }

    /// The integer that a float equals, up to 2^53, beyond which floats skip integers.
    ///
    /// ```
    /// use capeval_choice::SegmentId;
    ///
    /// assert_eq!(SegmentId::from_float(391895.0), Some(SegmentId::Integer(391895)));
    /// assert_eq!(SegmentId::from_float(0.5), None);
    /// ```
    pub fn from_float(number: f64) -> Option<Self> {
        const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;
        (number.fract() == 0.0 && number.abs() <= EXACT).then_some(Self::Integer(number as i64))
    }

    /// The integer that `text` is the canonical decimal form of.
    pub fn integer(text: &str) -> Option<i64> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let canonical = match digits.as_bytes() {
            [b'0'] => !negative,
            [b'1'..=b'9', rest @ ..] => rest.len() < 19 && rest.iter().all(u8::is_ascii_digit),
            _ => false,
        };
        if canonical { text.parse().ok() } else { None }
    }

    /// Displays the id so that `1` and `"1"` differ; long texts are shortened.
    ///
    /// ```
    /// use capeval_choice::SegmentId;
    ///
    /// assert_eq!(SegmentId::from("1").quoted().to_string(), "\"1\"");
    /// assert_eq!(SegmentId::from(1).quoted().to_string(), "1");
    /// ```
    pub fn quoted(&self) -> impl fmt::Display + '_ {
        QuotedId(self)
    }
}

struct QuotedId<'a>(&'a SegmentId);

/// Longer ids are cut here when shown inside a sentence, in characters.
const SHOWN_CHARS: usize = 80;

impl fmt::Display for QuotedId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            SegmentId::Integer(integer) => integer.fmt(f),
            SegmentId::Text(text) => match text.char_indices().nth(SHOWN_CHARS) {
                Some((end, _)) => write!(f, "{:?}…", text.get(..end).unwrap_or_default()),
                None => write!(f, "{text:?}"),
            },
        }
    }
}

impl fmt::Display for SegmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(integer) => integer.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// A JSON number or a JSON string.
impl Serialize for SegmentId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Integer(integer) => serializer.serialize_i64(*integer),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// Reads a JSON number or a JSON string as it is.
impl<'de> Deserialize<'de> for SegmentId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdVisitor)
    }
}

struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = SegmentId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id, a string or a whole number of 64 bits")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<SegmentId, E> {
        Ok(SegmentId::from(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<SegmentId, E> {
        i64::try_from(number)
            .map(SegmentId::from)
            .map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<SegmentId, E> {
        SegmentId::from_float(number).ok_or_else(|| E::invalid_value(Unexpected::Float(number), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<SegmentId, E> {
        Ok(SegmentId::from(text))
    }
}

impl From<i64> for SegmentId {
    fn from(integer: i64) -> Self {
        Self::Integer(integer)
    }
}

impl From<&str> for SegmentId {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for SegmentId {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_integers_lose_their_quotes() {
        for text in ["0", "7", "-7", "391895", "9223372036854775807", "-9223372036854775808"] {
            let id = SegmentId::from_untyped(text);
            assert!(matches!(id, SegmentId::Integer(_)), "{text}");
            assert_eq!(id.to_string(), text);
            assert_eq!(SegmentId::from_untyped(&format!("{text}.0")), id);
        }
        for text in [
            "",
            "-",
            "-0",
            "00",
            "07",
            "+7",
            "07.0",
            "7.00",
            "7.5",
            ".0",
            " 7",
            "1e3",
            "9223372036854775808",
            "٣",
            "a.jpg",
        ] {
            assert_eq!(SegmentId::from_untyped(text), SegmentId::from(text), "{text}");
        }
    }

    #[test]
    fn ids_serialise_as_they_were_given() {
        let ids = [SegmentId::from(7), SegmentId::from("7")];
        assert_eq!(serde_json::to_string(&ids).unwrap(), r#"[7,"7"]"#);
    }

    #[test]
    fn an_id_takes_sixteen_bytes() {
        assert_eq!(size_of::<SegmentId>(), 16);
    }

    #[test]
    fn a_long_id_is_shortened_when_shown() {
        let shown = SegmentId::from("é".repeat(1000)).quoted().to_string();
        assert_eq!(shown.chars().count(), SHOWN_CHARS + 3);
    }
}
