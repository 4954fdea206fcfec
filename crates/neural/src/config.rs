//! The description of a model in `config.json` and the files beside it.

use capeval_choice::Refusal;
use serde_json::Value;

use crate::encoder::Activation;

/// The description of an encoder.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    pub width: usize,
    pub layers: usize,
    pub heads: usize,
    /// The width between the two products of a layer.
    pub inner: usize,
    pub activation: Activation,
    pub eps: f32,
    /// The number of places that have a vector.
    pub places: usize,
}

/// A file of JSON whose values have defaults.
pub(crate) struct Json<'j> {
    file: &'j str,
    value: &'j Value,
}

/// Reads a file of JSON.
pub(crate) fn parse(file: &str, bytes: &[u8]) -> Result<Value, Refusal> {
    serde_json::from_slice(bytes).map_err(|error| {
        Refusal::new(format!("no JSON: {error}")).with_remedy("download the file again").at(file)
    })
}

impl<'j> Json<'j> {
    pub fn new(file: &'j str, value: &'j Value) -> Self {
        Self { file, value }
    }

    /// The part under a key; all defaults if there is none.
    pub fn part(&self, key: &str) -> Self {
        Self { file: self.file, value: self.value.get(key).unwrap_or(&Value::Null) }
    }

    /// A whole number.
    pub fn count(&self, key: &str, default: usize) -> Result<usize, Refusal> {
        match self.value.get(key) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => {
                match value.as_u64().and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= 1 << 24) {
                    Some(n) => Ok(n),
                    None => Err(self.refuse(key, value, "a whole number")),
                }
            }
        }
    }

    /// A number.
    pub fn number(&self, key: &str, default: f64) -> Result<f64, Refusal> {
        match self.value.get(key) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => value.as_f64().ok_or_else(|| self.refuse(key, value, "a number")),
        }
    }

    /// Returns true if a key is true.
    pub fn flag(&self, key: &str) -> bool {
        self.value.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Returns true if a key has this value.
    pub fn is(&self, key: &str, value: bool) -> bool {
        self.value.get(key).and_then(Value::as_bool) == Some(value)
    }

    /// A text.
    pub fn text(&self, key: &str) -> Option<&'j str> {
        self.value.get(key).and_then(Value::as_str)
    }

    fn refuse(&self, key: &str, value: &Value, what: &str) -> Refusal {
        Refusal::new(format!("{key} is {value}, and not {what}"))
            .with_remedy("give the config.json that belongs to the weights")
            .at(self.file)
    }

    /// The activation between the products of a layer.
    pub fn activation(&self, key: &str, default: &str) -> Result<Activation, Refusal> {
        match self.text(key).unwrap_or(default) {
            "quick_gelu" => Ok(Activation::QuickGelu),
            "gelu" | "gelu_python" => Ok(Activation::Gelu),
            "relu" => Ok(Activation::Relu),
            other => Err(Refusal::new(format!(
                "{key} is {other}, and only gelu, quick_gelu and relu are computed"
            ))
            .with_remedy("make vectors with the model's own program, and give these")
            .at(self.file)),
        }
    }
}

impl Shape {
    /// Refuses what cannot be.
    pub fn check(self, file: &str) -> Result<Self, Refusal> {
        let is_possible =
            self.heads > 0 && self.width > 0 && self.width.is_multiple_of(self.heads) && self.layers <= 1_000;
        match is_possible {
            true => Ok(self),
            false => Err(Refusal::new(format!(
                "{} layers of {} heads over {} numbers are no model",
                self.layers, self.heads, self.width
            ))
            .with_remedy("give the config.json that belongs to the weights")
            .at(file)),
        }
    }
}
