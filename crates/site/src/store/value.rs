//! Arguments and results of statements.

use serde::Serialize;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{ColumnIndex, Decode, Error, Postgres, Row as _, Sqlite, Type, ValueRef as _};

/// A parameter of a statement.
#[derive(Clone, Debug)]
pub enum Value {
    /// Text, or NULL of this type.
    Text(Option<String>),
    /// A whole number, or NULL of this type.
    Int(Option<i64>),
    /// A real number, or NULL of this type.
    Real(Option<f64>),
}

macro_rules! values {
    ($($type:ty => $variant:ident, $value:ident: $convert:expr;)*) => {$(
        impl From<$type> for Value {
            fn from($value: $type) -> Self {
                Self::$variant(Some($convert))
            }
        }

        impl From<Option<$type>> for Value {
            fn from(value: Option<$type>) -> Self {
                Self::$variant(value.map(|$value| $convert))
            }
        }
    )*};
}

values! {
    String => Text, text: storable(&text);
    &String => Text, text: storable(text);
    &str => Text, text: storable(text);
    i64 => Int, number: number;
    u32 => Int, number: i64::from(number);
    usize => Int, number: number as i64;
    bool => Int, flag: i64::from(flag);
    f64 => Real, number: number;
}

/// A list as one parameter, whose values `json_each` of SQLite and `json_array_elements` of PostgreSQL give.
pub fn list<T: Serialize + ?Sized>(values: &T) -> Result<String, Error> {
    serde_json::to_string(values).map_err(|error| Error::Encode(error.into()))
}

/// Text without the character 0, which PostgreSQL does not store, so backups fit both databases.
fn storable(text: &str) -> String {
    text.replace('\0', "")
}

/// A row of a query.
pub enum Row {
    /// Of SQLite.
    Sqlite(SqliteRow),
    /// Of PostgreSQL.
    Postgres(PgRow),
}

/// A type that columns have on both databases: `String`, `i64`, `f64`, and their options.
pub trait Column:
    for<'r> Decode<'r, Sqlite> + Type<Sqlite> + for<'r> Decode<'r, Postgres> + Type<Postgres>
{
}

impl<T> Column for T where
    T: for<'r> Decode<'r, Sqlite> + Type<Sqlite> + for<'r> Decode<'r, Postgres> + Type<Postgres>
{
}

impl Row {
    /// The value of a column.
    pub fn get<T: Column>(&self, column: &str) -> Result<T, Error> {
        match self {
            Self::Sqlite(row) => row.try_get(column),
            Self::Postgres(row) => row.try_get(column),
        }
    }

    /// The value of a column by its position.
    pub(super) fn get_nth<T: Column>(&self, column: usize) -> Result<T, Error> {
        match self {
            Self::Sqlite(row) => row.try_get(column),
            Self::Postgres(row) => row.try_get(column),
        }
    }

    /// Returns true if a column is NULL.
    pub(super) fn is_null<I: ColumnIndex<SqliteRow> + ColumnIndex<PgRow>>(
        &self,
        column: I,
    ) -> Result<bool, Error> {
        match self {
            Self::Sqlite(row) => Ok(row.try_get_raw(column)?.is_null()),
            Self::Postgres(row) => Ok(row.try_get_raw(column)?.is_null()),
        }
    }

    /// Returns true if a number is not 0; databases have no common type for that.
    pub fn flag(&self, column: &str) -> Result<bool, Error> {
        Ok(self.get::<i64>(column)? != 0)
    }
}
