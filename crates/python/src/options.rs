//! Deserializes keyword arguments of Python into the options of a task.

use std::fmt;

use capeval::choice::suggest;
use pyo3::PyErr;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, Expected, MapAccess, SeqAccess, Unexpected,
    Visitor,
};

use crate::error::{sentence, type_name, value};

/// The options in `given`; options that are left out have their defaults.
///
/// # Errors
/// `TypeError` for an unknown option or a value of a wrong type, `ValueError` for any other invalid value.
pub fn options<T: DeserializeOwned>(given: &Bound<'_, PyDict>) -> PyResult<T> {
    T::deserialize(Value(given.as_any().clone())).map_err(|Error(error)| error)
}

/// The exception to raise.
#[derive(Debug)]
struct Error(PyErr);

impl Error {
    /// The same exception with the name of the option in front of its message.
    fn of(self, py: Python<'_>, name: &str) -> Self {
        let message = format!("{name}: {}", self.0.value(py));
        Self(PyErr::from_type(self.0.get_type(py), message))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {}

impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(value(&message.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self(PyTypeError::new_err(format!("must be {}, not {found}", words(expected))))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self(PyValueError::new_err(format!("must be {}, not {found}", words(expected))))
    }

    fn unknown_field(name: &str, known: &'static [&'static str]) -> Self {
        let choices = suggest(name, known.iter().copied());
        Self(PyTypeError::new_err(sentence(&format!("there is no option '{name}'"), Some(&choices))))
    }
}

/// The expected values, in Python's terms.
fn words(expected: &dyn Expected) -> String {
    match expected.to_string().as_str() {
        "usize" | "u64" | "u32" => "a whole number that is not negative".to_owned(),
        "f64" => "a number".to_owned(),
        "a sequence" => "a list".to_owned(),
        other => other.to_owned(),
    }
}

impl From<PyErr> for Error {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

/// A Python object to deserialize: one of JSON's types, or anything that Python accepts as a number.
struct Value<'py>(Bound<'py, PyAny>);

impl<'de> Deserializer<'de> for Value<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let Self(object) = self;
        if object.is_none() {
            return visitor.visit_unit();
        }
        if object.is_instance_of::<PyBool>() {
            return visitor.visit_bool(object.is_truthy()?);
        }
        if let Ok(text) = object.cast::<PyString>() {
            return visitor.visit_str(text.to_str()?);
        }
        if let Ok(options) = object.cast::<PyDict>() {
            let entries: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)> = options.iter().collect();
            return visitor.visit_map(Entries { left: entries.into_iter(), value: None });
        }
        if object.is_instance_of::<PyFloat>() {
            return visitor.visit_f64(object.extract()?);
        }
        // `__index__`, to accept numpy's integers.
        if object.is_instance_of::<PyInt>() || object.hasattr("__index__")? {
            return match object.extract::<i64>() {
                Ok(number) => visitor.visit_i64(number),
                Err(_) => match object.extract::<u64>() {
                    Ok(number) => visitor.visit_u64(number),
                    Err(_) => Err(Error::invalid_value(Unexpected::Other(&object.to_string()), &visitor)),
                },
            };
        }
        if object.hasattr("__float__")? {
            return visitor.visit_f64(object.extract()?);
        }
        match object.try_iter() {
            Ok(items) => {
                let items = items.collect::<PyResult<Vec<Bound<'_, PyAny>>>>()?;
                visitor.visit_seq(Items(items.into_iter()))
            }
            Err(_) => Err(Error::invalid_type(Unexpected::Other(&type_name(&object)), &visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_none() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct Items<'py>(std::vec::IntoIter<Bound<'py, PyAny>>);

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.0.next().map(|item| seed.deserialize(Value(item))).transpose()
    }
}

struct Entries<'py> {
    left: std::vec::IntoIter<(Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    /// The value of the last key, with the key.
    value: Option<(String, Bound<'py, PyAny>)>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some((key, value)) = self.left.next() else { return Ok(None) };
        let name: String = key.extract()?;
        let found = seed.deserialize(StrDeserializer::<Error>::new(&name));
        self.value = Some((name, value));
        found.map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let Some((name, value)) = self.value.take() else { return Err(Error::custom("a key has no value")) };
        let py = value.py();
        seed.deserialize(Value(value.clone())).map_err(|error| error.of(py, &name))
    }
}
