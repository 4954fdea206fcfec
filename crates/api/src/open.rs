//! Choices to which newer servers may add.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A choice, or the name of one that only a newer server knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Open<T> {
    Known(T),
    New(String),
}

impl<T: Copy> Open<T> {
    /// The choice, if this version knows it.
    pub fn known(&self) -> Option<T> {
        match self {
            Self::Known(choice) => Some(*choice),
            Self::New(_) => None,
        }
    }
}

impl<T> From<T> for Open<T> {
    fn from(choice: T) -> Self {
        Self::Known(choice)
    }
}

impl<T: PartialEq> PartialEq<T> for Open<T> {
    fn eq(&self, other: &T) -> bool {
        matches!(self, Self::Known(choice) if choice == other)
    }
}

impl<T: fmt::Display> fmt::Display for Open<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(choice) => choice.fmt(f),
            Self::New(name) => f.pad(name),
        }
    }
}

impl<T: fmt::Display> Serialize for Open<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, T: FromStr> Deserialize<'de> for Open<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Ok(name.parse().map_or_else(|_| Self::New(name), Self::Known))
    }
}

impl<T: JsonSchema> JsonSchema for Open<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<T>()
    }
}
