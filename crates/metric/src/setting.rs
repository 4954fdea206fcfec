//! The settings of metrics: names, allowed values, and the values that a user gave.

use std::any::Any;
use std::fmt::{self, Display};
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;

use capeval_choice::{Refusal, Remedy, Task, UnknownName, nearest};
use capeval_text::ngrams::MAX_ORDER;
use capeval_text::{Stemmer, Tokenizer};

use crate::{Absences, AnyMetric, MetricKind, Resources};

/// The range of weights and deviations, within which squares and quotients are finite.
pub const POSITIVE: RangeInclusive<f64> = 1e-9..=1e9;

/// The setting for the tokenizer, which most metrics have.
pub const TOK: Setting = Setting::new("tok", "ptb", "tokenizer", Values::Tokenizer);

/// The setting for the length of the longest n-grams, which most metrics have.
pub const ORDER: Setting = Setting::count("n", "4", "longest n-grams", 1..=MAX_ORDER);

/// A setting of a metric.
pub struct Setting {
    /// The name that users type.
    pub name: &'static str,
    /// The default value. It is also allowed if it is not one of `values`, such as `all` for a number.
    pub default: &'static str,
    /// Its meaning in a few words; see [`meaning`](Self::meaning).
    pub summary: &'static str,
    /// The values that it takes.
    pub values: Values,
}

/// The values that a setting takes.
pub enum Values {
    /// One of these names.
    Choice(&'static [&'static str]),
    /// A whole number.
    Count(RangeInclusive<usize>),
    /// A number.
    Number(RangeInclusive<f64>),
    /// `yes` or `no`.
    YesNo,
    /// The name of a tokenizer.
    Tokenizer,
    /// `none` or the name of a stemmer.
    Stemmer,
    /// Any text that the metric can parse, whose syntax the words describe.
    Text(&'static str),
}

impl Setting {
    /// A setting of any kind.
    pub const fn new(
        name: &'static str,
        default: &'static str,
        summary: &'static str,
        values: Values,
    ) -> Self {
        Self { name, default, summary, values }
    }

    /// A setting that takes one of `names`, the names of an enum.
    pub const fn choice(
        name: &'static str,
        default: &'static str,
        summary: &'static str,
        names: &'static [&'static str],
    ) -> Self {
        Self::new(name, default, summary, Values::Choice(names))
    }

    /// A setting that takes a whole number in this range.
    pub const fn count(
        name: &'static str,
        default: &'static str,
        summary: &'static str,
        range: RangeInclusive<usize>,
    ) -> Self {
        Self::new(name, default, summary, Values::Count(range))
    }

    /// A setting that takes a number in this range.
    pub const fn number(
        name: &'static str,
        default: &'static str,
        summary: &'static str,
        range: RangeInclusive<f64>,
    ) -> Self {
        Self::new(name, default, summary, Values::Number(range))
    }

    /// `yes` or `no`.
    pub const fn yes_no(name: &'static str, default: &'static str, summary: &'static str) -> Self {
        Self::new(name, default, summary, Values::YesNo)
    }

    /// A setting that takes text of this syntax.
    pub const fn text(
        name: &'static str,
        default: &'static str,
        summary: &'static str,
        syntax: &'static str,
    ) -> Self {
        Self::new(name, default, summary, Values::Text(syntax))
    }

    /// Its meaning and the values that it takes, in one line.
    pub fn meaning(&self) -> String {
        let Self { summary, values, .. } = self;
        match values {
            Values::Tokenizer => (*summary).to_owned(),
            Values::Count(_) | Values::Number(_) if !self.has_word() => format!("{summary}, {values}"),
            Values::Count(_) | Values::Number(_) => format!("{summary}: {}, or {values}", self.default),
            _ => format!("{summary}: {values}"),
        }
    }

    /// Returns true if the values are numbers and the default is a word.
    fn has_word(&self) -> bool {
        match &self.values {
            Values::Count(_) | Values::Number(_) => self.default.parse::<f64>().is_err(),
            _ => false,
        }
    }

    /// Returns true if it takes `value`; true if only the metric can decide this.
    pub fn takes(&self, value: &str) -> bool {
        match &self.values {
            _ if value == self.default => true,
            Values::Count(range) => value.parse().is_ok_and(|n| range.contains(&n)),
            Values::Number(range) => value.parse().is_ok_and(|x| range.contains(&x)),
            Values::Tokenizer | Values::Text(_) => true,
            Values::Choice(_) | Values::YesNo | Values::Stemmer => self.values.names().contains(&value),
        }
    }
}

impl Values {
    /// The allowed names; empty if the values are not a fixed set of names.
    pub fn names(&self) -> Vec<&'static str> {
        match self {
            Self::Choice(names) => names.to_vec(),
            Self::YesNo => vec!["yes", "no"],
            Self::Stemmer => std::iter::once("none").chain(Stemmer::NAMES.iter().copied()).collect(),
            Self::Count(_) | Self::Number(_) | Self::Tokenizer | Self::Text(_) => Vec::new(),
        }
    }
}

/// Displays the values for people: `yes or no`, `1 to 9`.
impl Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(range) => write!(f, "{} to {}", range.start(), range.end()),
            Self::Number(range) => write!(f, "{} to {}", Short(*range.start()), Short(*range.end())),
            Self::Tokenizer => f.write_str("the name of a tokenizer"),
            Self::Text(syntax) => f.write_str(syntax),
            Self::Choice(_) | Self::YesNo | Self::Stemmer => match &self.names()[..] {
                [] => Ok(()),
                [one] => f.write_str(one),
                [others @ .., last] => write!(f, "{} or {last}", others.join(", ")),
            },
        }
    }
}

/// Displays a number, with a power of ten if it is long.
struct Short(f64);

impl Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(number) = self;
        if *number == 0.0 || (1e-3..1e6).contains(&number.abs()) {
            write!(f, "{number}")
        } else {
            write!(f, "{number:e}")
        }
    }
}

/// The settings of one metric, as given or by default.
pub struct Settings<'s> {
    metric: &'static str,
    known: &'static [Setting],
    given: Vec<(&'s str, &'s str)>,
    resources: &'s Resources,
}

impl<'s> Settings<'s> {
    /// The settings in `spec`, such as `n=2` in `bleu:n=2`, and then those of `common` that the metric has.
    pub fn read(
        metric: &'static str,
        known: &'static [Setting],
        spec: &'s str,
        common: &[(&'s str, &'s str)],
        resources: &'s Resources,
    ) -> Result<Self, Refusal> {
        let find = |name: &str| known.iter().find(|setting| setting.name == name);
        let mut settings = Self { metric, known, given: Vec::new(), resources };
        for field in spec.split(':').skip(1) {
            let Some((name, value)) = field.split_once('=') else {
                let message = format!("'{field}' in '{spec}' does not set anything");
                return Err(Refusal::new(message).with_remedy(Remedy::say("write settings as name=value")));
            };
            if find(name).is_none() {
                let choices = known.iter().map(|setting| setting.name).collect();
                let unknown = UnknownName { what: "setting", given: name.to_owned(), choices };
                let message = format!("{metric} has no setting '{name}'");
                return Err(Refusal::new(message).with_remedy(unknown.remedy()));
            }
            if let Some(earlier) = settings.given(name) {
                let message = format!("{metric} has {name} set twice, to {earlier} and to {value}");
                return Err(Refusal::new(message).with_remedy(Remedy::say("set it once")));
            }
            settings.given.push((name, value));
        }
        settings.given.extend(common.iter().copied().filter(|(name, _)| find(name).is_some()));
        for (name, value) in &settings.given {
            if find(name).is_some_and(|setting| !setting.takes(value)) {
                return Err(settings.refuse(name, value));
            }
        }
        Ok(settings)
    }

    /// Builds another metric with those of the settings given that it has, and the same resources.
    pub fn build(&self, kind: &MetricKind) -> Result<AnyMetric, Refusal> {
        kind.build_for(self.metric, &self.given, self.resources)
    }

    /// The data of this type; `None` if there are none.
    pub fn resource<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.resources.get()
    }

    /// The value given for `name`; `None` for the default.
    pub fn given(&self, name: &str) -> Option<&'s str> {
        self.given.iter().find(|(given, _)| *given == name).map(|(_, value)| *value)
    }

    fn known(&self, name: &str) -> Option<&'static Setting> {
        self.known.iter().find(|setting| setting.name == name)
    }

    /// The value of `name`, as given or by default.
    pub fn text(&self, name: &str) -> &'s str {
        self.given(name).or_else(|| self.known(name).map(|setting| setting.default)).unwrap_or_default()
    }

    /// The value of `name` as a number or as one of an enum's names.
    pub fn get<T: FromStr>(&self, name: &str) -> Result<T, Refusal> {
        let text = self.text(name);
        text.parse().map_err(|_| self.refuse(name, text))
    }

    /// As [`get`](Self::get), but `None` if the value is the setting's default, such as `all`.
    pub fn beside_default<T: FromStr>(&self, name: &str) -> Result<Option<T>, Refusal> {
        let is_default = self.known(name).is_some_and(|setting| setting.default == self.text(name));
        if is_default { Ok(None) } else { self.get(name).map(Some) }
    }

    /// Returns true if the value of `name` is `yes`.
    pub fn yes(&self, name: &str) -> bool {
        self.text(name) == "yes"
    }

    /// The tokenizer.
    pub fn tokenizer(&self) -> Result<Tokenizer, Refusal> {
        self.text(TOK.name).parse().map_err(|refusal: Refusal| self.error(refusal))
    }

    /// The stemmer that `stem` names; `None` for `none`.
    pub fn stemmer(&self) -> Result<Option<Stemmer>, Refusal> {
        if self.text("stem") == "none" { Ok(None) } else { self.get("stem").map(Some) }
    }

    /// `metric` with n-grams of the length that `n` sets.
    pub fn order<M>(&self, metric: M, with_order: fn(M, usize) -> Option<M>) -> Result<M, Refusal> {
        with_order(metric, self.get(ORDER.name)?)
            .ok_or_else(|| self.refuse(ORDER.name, self.text(ORDER.name)))
    }

    /// The error that `name` does not take `value`.
    pub fn refuse(&self, name: &str, value: &str) -> Refusal {
        let Some(setting) = self.known(name) else { return self.error(format!("{name} cannot be {value}")) };
        let wanted = match &setting.values {
            Values::Count(_) => format!("a whole number from {}", setting.values),
            Values::Number(_) => format!("a number from {}", setting.values),
            values => values.to_string(),
        };
        let word = if setting.has_word() { format!("{}, or ", setting.default) } else { String::new() };
        let error = self.error(format!("{name} takes {word}{wanted}, not '{value}'"));
        match nearest(value, setting.values.names()) {
            Some(name) => error.with_remedy(Remedy::say(format!("did you mean {name}?"))),
            None => error,
        }
    }

    /// The error that the installed data called `name` are missing; `what` describes them.
    pub fn not_installed(&self, name: &'static str, what: &str) -> Refusal {
        let absences = self.resource::<Absences>();
        let known = absences.as_ref().and_then(|absences| absences.0.get(name).cloned());
        self.error(known.unwrap_or_else(|| format!("{what} are not installed")))
            .with_remedy(Remedy::run(Task::Install(name)))
    }

    /// An error whose message begins with the name of this metric.
    pub fn error(&self, refusal: impl Into<Refusal>) -> Refusal {
        refusal.into().at(self.metric)
    }
}
