//! Signatures, which name everything that can change a score in one line.

use std::fmt;
use std::str::FromStr;

/// The name of the metric in signatures of given scores.
const GIVEN: &str = "given";

/// The name and settings of a metric: two scores on the same references are comparable if their signatures are equal.
///
/// Prints as `cider-d|n:4|sigma:6|…`, and parses back from it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Signature {
    metric: String,
    settings: Vec<(String, String)>,
}

impl Signature {
    /// A signature of `metric` without settings.
    pub fn new(metric: &str) -> Self {
        Self { metric: metric.to_owned(), settings: Vec::new() }
    }

    /// Adds a setting; bars and line breaks in a value are replaced, so that the line stays one line.
    pub fn with(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.push(name, value);
        self
    }

    /// Adds a setting, in place.
    pub fn push(&mut self, name: &str, value: impl fmt::Display) {
        let value = value.to_string().replace(['|', '\n', '\r'], "_");
        self.settings.push((name.to_owned(), value));
    }

    /// Changes the value of the setting `name`, if it has been added.
    pub fn change(&mut self, name: &str, value: impl fmt::Display) {
        for (_, known) in self.settings.iter_mut().filter(|(known, _)| known == name) {
            *known = value.to_string();
        }
    }

    /// A signature of scores by `measure` that are given, and not computed.
    pub fn given(measure: &str) -> Self {
        Self::new(GIVEN).with("measure", measure)
    }

    /// Returns true if the scores are given, and not computed.
    pub fn is_given(&self) -> bool {
        self.metric == GIVEN
    }

    /// The metric's name.
    pub fn metric(&self) -> &str {
        &self.metric
    }

    /// The settings, in order.
    pub fn settings(&self) -> impl Iterator<Item = (&str, &str)> + '_ {
        self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The value of the setting `name`.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.settings().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.metric)?;
        self.settings.iter().try_for_each(|(name, value)| write!(f, "|{name}:{value}"))
    }
}

impl FromStr for Signature {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let mut fields = line.split('|');
        let metric =
            fields.next().filter(|name| !name.is_empty()).ok_or("a signature starts with a metric")?;
        let mut signature = Self::new(metric);
        for field in fields {
            let (name, value) = field
                .split_once(':')
                .ok_or_else(|| format!("'{field}' is not a setting of the form name:value"))?;
            signature.push(name, value);
        }
        Ok(signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_prints_parses_back() {
        let signature = Signature::new("cider-d").with("n", 4).with("sigma", 6.0).with("df", "a|b:c");
        assert_eq!(signature.to_string(), "cider-d|n:4|sigma:6|df:a_b:c");
        assert_eq!(signature.to_string().parse(), Ok(signature));
        assert!("".parse::<Signature>().is_err());
        assert!("bleu|n".parse::<Signature>().is_err());
    }
}
