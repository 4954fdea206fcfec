//! Floats in JSON, which every number survives: NaN is `null`, and infinities are texts, as in CSV.

use std::fmt;

use capeval_stats::Interval;
use serde::de::{DeserializeOwned, Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The text of infinity.
const INFINITY: &str = "inf";
/// The text of negative infinity.
const NEGATIVE: &str = "-inf";

/// A number that is written as it is, `null` for NaN, and `"inf"` or `"-inf"`.
#[derive(Clone, Copy, Debug)]
pub struct JsonFloat(pub f64);

impl Serialize for JsonFloat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            f64::INFINITY => serializer.serialize_str(INFINITY),
            f64::NEG_INFINITY => serializer.serialize_str(NEGATIVE),
            // JSON has no NaN, so that this is `null`.
            value => serializer.serialize_f64(value),
        }
    }
}

impl<'de> Deserialize<'de> for JsonFloat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FloatVisitor).map(Self)
    }
}

/// A type that consists of numbers, and its form in JSON. With `#[serde(with = "json_float")]`, a field of such a type
/// survives JSON whatever its numbers are.
pub trait Floats: Sized {
    /// The type in JSON.
    type Json: Serialize + DeserializeOwned;
    /// To JSON.
    fn json(&self) -> Self::Json;
    /// From JSON.
    fn of_json(json: Self::Json) -> Self;
}

impl Floats for f64 {
    type Json = JsonFloat;

    fn json(&self) -> JsonFloat {
        JsonFloat(*self)
    }

    fn of_json(JsonFloat(value): JsonFloat) -> Self {
        value
    }
}

impl Floats for Interval {
    type Json = [JsonFloat; 2];

    fn json(&self) -> Self::Json {
        [JsonFloat(self.low), JsonFloat(self.high)]
    }

    fn of_json([JsonFloat(low), JsonFloat(high)]: Self::Json) -> Self {
        Self { low, high }
    }
}

impl<T: Floats> Floats for [T; 2] {
    type Json = [T::Json; 2];

    fn json(&self) -> Self::Json {
        self.each_ref().map(T::json)
    }

    fn of_json(json: Self::Json) -> Self {
        json.map(T::of_json)
    }
}

impl<T: Floats> Floats for Option<T> {
    type Json = Option<T::Json>;

    fn json(&self) -> Self::Json {
        self.as_ref().map(T::json)
    }

    fn of_json(json: Self::Json) -> Self {
        json.map(T::of_json)
    }
}

impl<T: Floats> Floats for Vec<T> {
    type Json = Vec<T::Json>;

    fn json(&self) -> Self::Json {
        self.iter().map(T::json).collect()
    }

    fn of_json(json: Self::Json) -> Self {
        json.into_iter().map(T::of_json).collect()
    }
}

/// Writes numbers.
pub fn serialize<T: Floats, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    value.json().serialize(serializer)
}

/// Reads what [`serialize`] writes.
pub fn deserialize<'de, T: Floats, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::Json::deserialize(deserializer).map(T::of_json)
}

struct FloatVisitor;

impl Visitor<'_> for FloatVisitor {
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
            let text = serde_json::to_string(&JsonFloat(number)).unwrap();
            let JsonFloat(read) = serde_json::from_str(&text).unwrap();
            assert_eq!(read.to_bits(), number.to_bits(), "{text}");
        }
        let text = serde_json::to_string(&JsonFloat(f64::NAN)).unwrap();
        assert_eq!(text, "null");
        assert!(serde_json::from_str::<JsonFloat>(&text).unwrap().0.is_nan());
        assert!(serde_json::from_str::<JsonFloat>("\"nan\"").is_err());
    }

    #[test]
    fn so_is_whatever_consists_of_numbers() {
        let numbers = vec![Some([f64::INFINITY, 0.5]), None];
        let text = serde_json::to_string(&numbers.json()).unwrap();
        assert_eq!(text, "[[\"inf\",0.5],null]");
        assert_eq!(Vec::<Option<[f64; 2]>>::of_json(serde_json::from_str(&text).unwrap()), numbers);
    }
}
