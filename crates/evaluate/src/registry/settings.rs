//! What may be set of a metric, and what a user did set.

use std::fmt;
use std::sync::Arc;

use capeval_lexical::Case;
use capeval_lexical::frequencies::DocumentFrequencies;
use capeval_text::{Stemmer, Tokenizer};

use super::Resources;

/// Something about a metric that may be set.
pub struct Setting {
    /// The name that users type.
    pub name: &'static str,
    /// The value when nothing is said.
    pub default: &'static str,
    /// What it means and which values it takes.
    pub summary: &'static str,
}

pub(crate) const TOK: Setting = Setting { name: "tok", default: "ptb", summary: "tokenizer" };
pub(crate) const ORDER: Setting = Setting { name: "n", default: "4", summary: "longest n-grams, 1 to 9" };

/// The least number that a weight may be: below it, squares and quotients are none any more.
pub(super) const LEAST: f64 = 1e-9;
/// The greatest, above which they are none.
pub(super) const MOST: f64 = 1e9;

/// What a metric's settings are given as, by name.
pub(crate) type Given<'s> = Vec<(&'s str, &'s str)>;

/// Finds the metric that `spec` names among `kinds`, and what is set for it.
pub(crate) fn parse<'s>(
    spec: &'s str,
    common: &[(&'s str, &'s str)],
    kinds: &[(&str, &[Setting])],
) -> Result<(usize, Given<'s>), SettingError> {
    let mut fields = spec.split(':');
    let name = fields.next().unwrap_or_default();
    let at = kinds.iter().position(|(known, _)| *known == name).ok_or_else(|| {
        let known: Vec<&str> = kinds.iter().map(|(known, _)| *known).collect();
        SettingError(format!("no metric is called '{name}'; choose from {}", known.join(", ")))
    })?;
    let takes = |name: &str| kinds[at].1.iter().any(|known| known.name == name);
    let mut given: Given<'s> = Vec::new();
    for field in fields {
        let (setting, value) = field.split_once('=').ok_or_else(|| {
            SettingError(format!("'{field}' in '{spec}' is no setting of the form name=value"))
        })?;
        if !takes(setting) {
            let known: Vec<&str> = kinds[at].1.iter().map(|known| known.name).collect();
            return Err(SettingError(format!(
                "{name} has no setting '{setting}'; it has {}",
                known.join(", ")
            )));
        }
        if let Some((_, earlier)) = given.iter().find(|(known, _)| *known == setting) {
            return Err(SettingError(format!(
                "{name} has {setting} set twice, to {earlier} and to {value}; give it once"
            )));
        }
        given.push((setting, value));
    }
    given.extend(common.iter().copied().filter(|(name, _)| takes(name)));
    Ok((at, given))
}

/// What was set for one metric.
pub(crate) struct Settings<'s> {
    pub(crate) metric: &'s str,
    pub(crate) given: &'s [(&'s str, &'s str)],
    pub(crate) table: Option<&'s Arc<DocumentFrequencies>>,
    pub(crate) resources: &'s Resources,
}

impl Settings<'_> {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.given.iter().find(|(given, _)| *given == name).map(|(_, value)| *value)
    }

    pub(super) fn refuse(&self, name: &str, value: &str, wanted: &str) -> SettingError {
        SettingError(format!("{}: '{value}' will not do for {name}; give {wanted}", self.metric))
    }

    pub(crate) fn tokenizer(&self) -> Result<Tokenizer, SettingError> {
        self.tokenizer_or(TOK.default)
    }

    /// The stemmer, `none` unless said otherwise.
    pub(super) fn stemmer(&self) -> Result<Option<Stemmer>, SettingError> {
        match self.get("stem") {
            None | Some("none") => Ok(None),
            Some(name) => Stemmer::from_name(name).map(Some).ok_or_else(|| {
                let known: Vec<&str> = Stemmer::ALL.iter().map(|stemmer| stemmer.name()).collect();
                self.refuse("stem", name, &format!("none or {}", known.join(" or ")))
            }),
        }
    }

    pub(super) fn tokenizer_or(&self, default: &str) -> Result<Tokenizer, SettingError> {
        self.get("tok").unwrap_or(default).parse().map_err(|e| SettingError(format!("{}: {e}", self.metric)))
    }

    pub(crate) fn order<M>(
        &self,
        metric: M,
        with_order: fn(M, usize) -> Option<M>,
    ) -> Result<M, SettingError> {
        let Some(value) = self.get("n") else { return Ok(metric) };
        let order = value.parse().ok().and_then(|n| with_order(metric, n));
        order.ok_or_else(|| self.refuse("n", value, "a whole number from 1 to 9"))
    }

    /// A number in the range whose squares and quotients are numbers too.
    pub(super) fn positive(&self, name: &str, default: f64) -> Result<f64, SettingError> {
        let Some(value) = self.get(name) else { return Ok(default) };
        match value.parse::<f64>() {
            Ok(number) if (LEAST..=MOST).contains(&number) => Ok(number),
            _ => Err(self.refuse(name, value, "a number from 1e-9 to 1e9")),
        }
    }

    /// A whole number from 1 to `most`, or nothing where that is said in so many words.
    pub(super) fn count(
        &self,
        name: &str,
        nothing: &str,
        most: usize,
    ) -> Result<Option<usize>, SettingError> {
        match self.get(name) {
            None => Ok(None),
            Some(value) if value == nothing && !nothing.is_empty() => Ok(None),
            Some(value) => match value.parse() {
                Ok(n) if (1..=most).contains(&n) => Ok(Some(n)),
                _ => Err(self.refuse(name, value, &format!("a whole number from 1 to {most}"))),
            },
        }
    }

    pub(super) fn resource<T>(
        &self,
        name: &str,
        resource: &Option<Arc<T>>,
        what: &str,
    ) -> Result<Arc<T>, SettingError> {
        resource.clone().ok_or_else(|| {
            SettingError(format!(
                "{}: {name} needs {what}, which are not part of this program; give the folder of a ROUGE-1.5.5 \
                 with --rouge-data",
                self.metric
            ))
        })
    }

    pub(super) fn whole(&self, name: &str, default: usize) -> Result<usize, SettingError> {
        let Some(value) = self.get(name) else { return Ok(default) };
        value.parse().map_err(|_| self.refuse(name, value, "a whole number"))
    }

    pub(super) fn yes(&self, name: &str) -> Result<bool, SettingError> {
        self.yes_or(name, false)
    }

    pub(super) fn yes_or(&self, name: &str, default: bool) -> Result<bool, SettingError> {
        self.choice(name, &[("yes", true), ("no", false)], default)
    }

    pub(super) fn case(&self, default: Case) -> Result<Case, SettingError> {
        self.choice("case", &[("mixed", Case::Mixed), ("lc", Case::Lower)], default)
    }

    pub(super) fn choice<T: Clone>(
        &self,
        name: &str,
        choices: &[(&str, T)],
        default: T,
    ) -> Result<T, SettingError> {
        let Some(value) = self.get(name) else { return Ok(default) };
        let found = choices.iter().find(|(known, _)| *known == value).map(|(_, choice)| choice.clone());
        let known: Vec<&str> = choices.iter().map(|(known, _)| *known).collect();
        found.ok_or_else(|| self.refuse(name, value, &known.join(" or ")))
    }
}

/// A metric or setting that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError(pub(super) String);

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingError {}
