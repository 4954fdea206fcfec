//! Reads a time as people and clients write it, in UTC unless it states another zone.

use std::borrow::Cow;
use std::fmt;

use capeval_site::clock;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::value::Datetime;

/// A time, in UTC unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct When(pub i64);

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&clock::exact(self.0))
    }
}

impl Serialize for When {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for When {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = When;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a date such as 2027-01-10 or 2027-01-10T12:00:00Z")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<When, E> {
                let time = clock::parse(text).map(When);
                time.ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }

            // A date of TOML.
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<When, A::Error> {
                let date = Datetime::deserialize(MapAccessDeserializer::new(map))?;
                self.visit_str(&date.to_string())
            }
        }
        deserializer.deserialize_any(Text)
    }
}

impl JsonSchema for When {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "When".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}
