//! Rows as types: a struct with `#[derive(Deserialize)]` is read from the columns that have the names of its fields.
//!
//! Numbers serve as truth values, names as enums of `named!`, and [`json`] reads a column with JSON. A field that is a
//! struct takes its own fields from the same row. Tuples and single values are read by position.
//!
//! serde does this, since sqlx's own derive comes with a crate of macros for which sqlx's core, both drivers and SQLite
//! are compiled a second time.

use std::fmt::Display;
use std::slice;

use serde::de::value::StringDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Error as _, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};

use super::Error;
use super::value::{Column, Row};

/// The type of a row.
pub trait Record: DeserializeOwned {}

impl<T: DeserializeOwned> Record for T {}

impl Row {
    /// The row as a type.
    pub fn read<T: Record>(&self) -> Result<T, Error> {
        T::deserialize(Cell { row: self, column: Place::Number(0) }).map_err(|Unreadable(error)| error)
    }
}

/// Reads a column with JSON, for `#[serde(deserialize_with = "json")]`; NULL is the default.
pub fn json<'de, T: DeserializeOwned + Default, D: Deserializer<'de>>(column: D) -> Result<T, D::Error> {
    let text = Option::<String>::deserialize(column)?;
    text.map_or_else(|| Ok(T::default()), |text| serde_json::from_str(&text).map_err(D::Error::custom))
}

/// Reads NULL as the default, for `#[serde(deserialize_with = "or_default")]`.
pub fn or_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    column: D,
) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(column)?.unwrap_or_default())
}

/// The reason why a row cannot be read as a type.
#[derive(Debug)]
struct Unreadable(Error);

impl Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Unreadable {}

impl serde::de::Error for Unreadable {
    fn custom<T: Display>(message: T) -> Self {
        Self(Error::Decode(message.to_string().into()))
    }
}

#[derive(Clone, Copy)]
enum Place {
    Name(&'static str),
    Number(usize),
}

/// A column of a row; or the row itself, for a struct.
#[derive(Clone, Copy)]
struct Cell<'r> {
    row: &'r Row,
    column: Place,
}

impl Cell<'_> {
    fn get<T: Column>(self) -> Result<T, Unreadable> {
        match self.column {
            Place::Name(name) => self.row.get(name),
            Place::Number(number) => self.row.get_nth(number),
        }
        .map_err(Unreadable)
    }

    fn is_null(self) -> Result<bool, Unreadable> {
        match self.column {
            Place::Name(name) => self.row.is_null(name),
            Place::Number(number) => self.row.is_null(number),
        }
        .map_err(Unreadable)
    }
}

macro_rules! cells {
    ($($method:ident: $type:ty => $visit:ident;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
            visitor.$visit(self.get::<$type>()?)
        }
    )*};
}

impl<'de> Deserializer<'de> for Cell<'_> {
    type Error = Unreadable;

    cells! {
        deserialize_i8: i64 => visit_i64;
        deserialize_i16: i64 => visit_i64;
        deserialize_i32: i64 => visit_i64;
        deserialize_i64: i64 => visit_i64;
        deserialize_u8: i64 => visit_i64;
        deserialize_u16: i64 => visit_i64;
        deserialize_u32: i64 => visit_i64;
        deserialize_u64: i64 => visit_i64;
        deserialize_f32: f64 => visit_f64;
        deserialize_f64: f64 => visit_f64;
        deserialize_char: String => visit_string;
        deserialize_str: String => visit_string;
        deserialize_string: String => visit_string;
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        // The two databases have no common type for it.
        visitor.visit_bool(self.get::<i64>()? != 0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        if self.is_null()? { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        let name: StringDeserializer<Unreadable> = self.get::<String>()?.into_deserializer();
        visitor.visit_enum(name)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_map(Fields { row: self.row, left: fields.iter(), field: "" })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_seq(TupleColumns { row: self.row, next: 0, length })
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unreadable> {
        Err(Unreadable::custom(
            "a column is a text or a number; JSON in it needs `json`, a part of the row a struct",
        ))
    }

    forward_to_deserialize_any! { bytes byte_buf unit unit_struct seq tuple_struct map identifier ignored_any }
}

/// The columns of a struct.
struct Fields<'r> {
    row: &'r Row,
    left: slice::Iter<'static, &'static str>,
    field: &'static str,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Unreadable;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Unreadable> {
        let Some(field) = self.left.next() else { return Ok(None) };
        self.field = field;
        seed.deserialize((*field).into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Unreadable> {
        let cell = Cell { row: self.row, column: Place::Name(self.field) };
        seed.deserialize(cell).map_err(|Unreadable(error)| match error {
            Error::Decode(source) => Unreadable(Error::ColumnDecode { index: self.field.to_owned(), source }),
            other => Unreadable(other),
        })
    }
}

/// The columns of a tuple.
struct TupleColumns<'r> {
    row: &'r Row,
    next: usize,
    length: usize,
}

impl<'de> SeqAccess<'de> for TupleColumns<'_> {
    type Error = Unreadable;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Unreadable> {
        if self.next == self.length {
            return Ok(None);
        }
        self.next += 1;
        seed.deserialize(Cell { row: self.row, column: Place::Number(self.next - 1) }).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Schema, Store};
    use super::*;
    use crate::args;

    capeval_choice::named! {
        /// Of a test.
        enum Colour ("colour") {
            Red = "red", "like tomatoes";
            Green = "green", "like peas";
        }
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Fruit {
        name: String,
        colour: Colour,
        is_ripe: bool,
        weight: Option<u32>,
        #[serde(deserialize_with = "json")]
        notes: Vec<String>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Sale {
        fruit: Fruit,
        price: f64,
    }

    #[tokio::test]
    async fn rows_are_types() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open("", folder.path(), 1, &Schema::new(Vec::new())).await.unwrap();
        let sold = "SELECT 'pear' AS name, 'green' AS colour, 1 AS is_ripe, NULL AS weight, '[\"sweet\"]' AS notes, \
                    0.5 AS price, 7 AS more";
        let fruit = Fruit {
            name: "pear".to_owned(),
            colour: Colour::Green,
            is_ripe: true,
            weight: None,
            notes: vec!["sweet".to_owned()],
        };
        assert_eq!(store.fetch_one::<Sale>(sold, args![]).await.unwrap(), Sale { fruit, price: 0.5 });
        let pairs: Vec<(String, Option<i64>)> =
            store.fetch("SELECT 'a', 1 UNION ALL SELECT 'b', NULL ORDER BY 1", args![]).await.unwrap();
        assert_eq!(pairs, [("a".to_owned(), Some(1)), ("b".to_owned(), None)]);
        assert_eq!(store.fetch_optional::<i64>("SELECT 1 WHERE 1 = 2", args![]).await.unwrap(), None);
        assert!(matches!(
            store.fetch_one::<i64>("SELECT 1 WHERE 1 = 2", args![]).await,
            Err(Error::RowNotFound)
        ));
        assert!(store.exists("SELECT 1", args![]).await.unwrap());
    }

    #[tokio::test]
    async fn a_row_that_does_not_fit_is_an_error_which_names_the_column() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open("", folder.path(), 1, &Schema::new(Vec::new())).await.unwrap();
        for (sql, words) in [
            (
                "SELECT 'pear' AS name, 'blue' AS colour, 1 AS is_ripe, 1 AS weight, '[]' AS notes",
                ["colour", "unknown colour \"blue\""],
            ),
            (
                "SELECT 'pear' AS name, 'red' AS colour, 1 AS is_ripe, -1 AS weight, '[]' AS notes",
                ["weight", "-1"],
            ),
            (
                "SELECT 'pear' AS name, 'red' AS colour, 1 AS is_ripe, 1 AS weight, '{}' AS notes",
                ["notes", "expected a sequence"],
            ),
            ("SELECT 'pear' AS name, 'red' AS colour, 1 AS is_ripe, '[]' AS notes", ["weight", "no column"]),
        ] {
            let error = store.fetch_one::<Fruit>(sql, args![]).await.unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
    }
}
