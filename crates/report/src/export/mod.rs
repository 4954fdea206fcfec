//! Results as JSON, JSON Lines and CSV, with all digits of every number.
//!
//! Every result writes `capeval`, `measures`, `signatures`, `notices` and `resampling` in the same form, and leaves out
//! those that it does not have. Each line and row is self-contained: it says how its numbers were computed.

mod comparison;
mod correlation;
mod preference;
mod report;
mod saved;

pub(crate) use correlation::points;
pub(crate) use preference::pairs;
pub use saved::Saved;

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use std::marker::PhantomData;

use capeval_corpus::csv_fault;
use capeval_metric::Signature;
use capeval_stats::{Interval, Resampling};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::number::full;
use crate::real::{self, Real};
use crate::{Head, Measure, MetricEntry, Notice, Run};

/// The contents of a result's JSON, JSON Lines and CSV.
pub trait Export {
    /// The fields that all results share.
    fn head(&self) -> &Head;
    /// The same, to be changed.
    fn head_mut(&mut self) -> &mut Head;
    /// One signature per metric.
    fn signatures(&self) -> Vec<Signature>;
    /// The first fields of the JSON object.
    fn body(&self) -> impl Serialize;
    /// The last fields of the JSON object.
    fn tail(&self) -> impl Serialize;
    /// The lines of JSON Lines.
    fn lines(&self) -> impl Iterator<Item = Line<'_, impl Serialize>>;
    /// The columns of CSV.
    fn columns(&self) -> Vec<String>;
    /// The rows of CSV, without the line of column names.
    fn rows(&self) -> impl Iterator<Item = Vec<String>>;
}

/// A line of JSON Lines.
pub struct Line<'r, B> {
    /// The first fields.
    pub body: B,
    /// The signatures of the metric behind it.
    pub signatures: Map<&'static str, String>,
    /// The notices that concern it.
    pub notices: Vec<&'r Notice>,
}

/// A result as one JSON object: what is written, and what is read again.
#[derive(Serialize, Deserialize)]
struct Whole<'r, B, T> {
    capeval: Cow<'r, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<Cow<'r, Run>>,
    #[serde(flatten)]
    body: B,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resampling: Option<Resampled>,
    signatures: Map<Cow<'r, str>, String>,
    notices: Cow<'r, [Notice]>,
    measures: Cow<'r, [Measure]>,
    metrics: Cow<'r, [MetricEntry]>,
    #[serde(flatten)]
    tail: T,
}

impl<'r, B, T> Whole<'r, B, T> {
    /// The object with the fields of `head`, and `body` and `tail` around them.
    fn new(head: &'r Head, of_metrics: &[Signature], body: B, tail: T) -> Self {
        Self {
            capeval: Cow::Borrowed(&head.version),
            run: head.run.as_ref().map(Cow::Borrowed),
            body,
            resampling: head.resampling.map(Resampled::new),
            signatures: signatures(head, of_metrics),
            notices: Cow::Borrowed(&head.notices),
            measures: Cow::Borrowed(&head.measures),
            metrics: Cow::Borrowed(&head.metrics),
            tail,
        }
    }
}

/// Writes one JSON object, indented.
pub(crate) fn json(found: &impl Export, out: &mut dyn Write) -> io::Result<()> {
    let whole = Whole::new(found.head(), &found.signatures(), found.body(), found.tail());
    serde_json::to_writer_pretty(&mut *out, &whole)?;
    out.write_all(b"\n")
}

/// Writes JSON Lines.
pub(crate) fn jsonl(found: &impl Export, out: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Whole<'r, B> {
        #[serde(flatten)]
        body: B,
        #[serde(skip_serializing_if = "Option::is_none")]
        resampling: Option<Resampled>,
        #[serde(flatten)]
        signatures: Map<&'static str, String>,
        notices: Vec<&'r Notice>,
        capeval: &'r str,
    }
    let head = found.head();
    for Line { body, signatures, notices } in found.lines() {
        let resampling = head.resampling.map(Resampled::new);
        line(&Whole { body, resampling, signatures, notices, capeval: &head.version }, out)?;
    }
    Ok(())
}

/// Writes one object per line.
pub(crate) fn line(object: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, object)?;
    out.write_all(b"\n")
}

/// Writes comma-separated values.
pub(crate) fn csv(found: &impl Export, out: &mut dyn Write) -> io::Result<()> {
    let mut table = csv::WriterBuilder::new().flexible(true).from_writer(out);
    for row in std::iter::once(found.columns()).chain(found.rows()) {
        table.write_record(row).map_err(csv_fault)?;
    }
    table.flush()
}

/// Signatures by metric.
fn signatures<'r>(head: &'r Head, signatures: &[Signature]) -> Map<Cow<'r, str>, String> {
    let metrics = head.metrics.iter().map(|metric| Cow::Borrowed(&*metric.key));
    Map(metrics.zip(signatures.iter().map(ToString::to_string)).collect())
}

/// The columns that say how intervals were computed; none without intervals.
fn resampling_columns(resampling: Option<Resampling>) -> impl Iterator<Item = String> {
    resampling.map(|_| ["level", "resamples", "seed"].map(str::to_owned)).into_iter().flatten()
}

/// The fields of [`resampling_columns`].
fn resampling_fields(resampling: Option<Resampling>) -> impl Iterator<Item = String> {
    let fields = resampling
        .map(|Resampling { resamples, seed, level }| [full(level), resamples.to_string(), seed.to_string()]);
    fields.into_iter().flatten()
}

/// A number with all digits; empty if there is none.
fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, full)
}

/// The codes of notices, separated by spaces.
fn codes<'r>(notices: impl IntoIterator<Item = &'r Notice>) -> String {
    notices.into_iter().map(|notice| notice.code.to_string()).collect::<Vec<_>>().join(" ")
}

/// The ends of an interval.
type Ends = [Real; 2];

/// The ends of an interval.
fn ends(interval: Interval) -> Ends {
    [interval.low, interval.high].map(Real)
}

/// The computation of intervals.
#[derive(Serialize, Deserialize)]
struct Resampled {
    method: Cow<'static, str>,
    #[serde(with = "real")]
    level: f64,
    resamples: usize,
    seed: u64,
}

impl Resampled {
    fn new(Resampling { resamples, seed, level }: Resampling) -> Self {
        Self { method: Cow::Borrowed("percentile bootstrap"), level, resamples, seed }
    }

    fn resampling(&self) -> Resampling {
        Resampling { resamples: self.resamples, seed: self.seed, level: self.level }
    }
}

/// Key-value pairs as a JSON object, in their order.
pub struct Map<K, V>(pub Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Map<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Map<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs<K, V>(PhantomData<(K, V)>);

        impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for Pairs<K, V> {
            type Value = Map<K, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut found: A) -> Result<Map<K, V>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = found.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Map(pairs))
            }
        }

        deserializer.deserialize_map(Pairs(PhantomData))
    }
}
