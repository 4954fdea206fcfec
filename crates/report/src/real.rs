//! Real numbers in JSON, which every number survives: NaN is `null`, and infinities are texts, as in CSV.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The text of infinity.
const INFINITY: &str = "inf";
/// The text of negative infinity.
const NEGATIVE: &str = "-inf";

/// A number that is written as it is, `null` for NaN, and `"inf"` or `"-inf"`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Real(pub f64);

impl Serialize for Real {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for Real {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer).map(Self)
    }
}

/// For fields that are numbers.
pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match *value {
        f64::INFINITY => serializer.serialize_str(INFINITY),
        f64::NEG_INFINITY => serializer.serialize_str(NEGATIVE),
        // JSON has no NaN, so that this is `null`.
        value => serializer.serialize_f64(value),
    }
}

/// Reads what [`serialize`] writes.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    deserializer.deserialize_any(RealVisitor)
}

struct RealVisitor;

impl Visitor<'_> for RealVisitor {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number, null, {INFINITY:?} or {NEGATIVE:?}")
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<f64, E> {
        Ok(number)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<f64, E> {
        Ok(number as f64)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<f64, E> {
        Ok(number as f64)
    }

    fn visit_unit<E: Error>(self) -> Result<f64, E> {
        Ok(f64::NAN)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<f64, E> {
        match text {
            INFINITY => Ok(f64::INFINITY),
            NEGATIVE => Ok(f64::NEG_INFINITY),
            _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_read_as_it_was_written() {
        for number in [0.1 + 0.2, -0.0, 5e-324, f64::MAX, 3.0, -7.0, f64::INFINITY, f64::NEG_INFINITY] {
            let text = serde_json::to_string(&Real(number)).unwrap();
            let Real(read) = serde_json::from_str(&text).unwrap();
            assert_eq!(read.to_bits(), number.to_bits(), "{text}");
        }
        let text = serde_json::to_string(&Real(f64::NAN)).unwrap();
        assert_eq!(text, "null");
        assert!(serde_json::from_str::<Real>(&text).unwrap().0.is_nan());
        assert!(serde_json::from_str::<Real>("\"nan\"").is_err());
    }
}
