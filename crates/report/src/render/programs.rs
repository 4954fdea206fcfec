//! Results as JSON, JSON Lines and CSV, with all digits of every number.
//!
//! Every result writes `capeval`, `measures`, `signatures`, `notices` and `resampling` in the same form, and leaves out
//! those that it does not have. Each line and row is self-contained: it says how its numbers were computed.
//! `docs/reference/result.schema.json` describes the object.

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
use serde_json::{Value, json};

use crate::json_float::{self, Floats, JsonFloat};
use crate::number::full;
use crate::study::{Fields, Line, Study};
use crate::{Head, Notice};

/// The version of the object that [`whole`] makes: a greater one changes or leaves out keys of this one.
const VERSION: u32 = 1;

/// A result as one JSON object: its kind, and what all results have, between the first and the last fields of its own.
pub(crate) fn whole(study: &(impl Study + ?Sized)) -> Value {
    let head = study.head();
    let mut object = Fields::new();
    object.insert("result".to_owned(), json!(study.kind().name));
    object.insert("version".to_owned(), json!(VERSION));
    object.insert("capeval".to_owned(), json!(head.version));
    object.extend(head.run.as_ref().map(|run| ("run".to_owned(), json!(run))));
    object.extend(study.body());
    object.extend(resampling(head));
    object.insert("signatures".to_owned(), json!(by_metric(head, &study.signatures())));
    object.insert("notices".to_owned(), json!(head.notices));
    object.insert("measures".to_owned(), json!(head.measures));
    object.insert("metrics".to_owned(), json!(head.metrics));
    if !head.readings.is_empty() {
        object.insert("reading".to_owned(), json!(head.readings));
    }
    object.extend(study.tail());
    Value::Object(object)
}

/// Writes JSON, indented.
pub(crate) fn json(value: &Value, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}

/// Writes JSON Lines.
pub(crate) fn jsonl(study: &dyn Study, out: &mut dyn Write) -> io::Result<()> {
    let head = study.head();
    for Line { mut body, signatures, notices } in study.lines() {
        body.extend(resampling(head));
        body.extend(signatures.into_iter().map(|(name, signature)| (name.to_owned(), json!(signature))));
        body.insert("notices".to_owned(), json!(notices));
        body.insert("capeval".to_owned(), json!(head.version));
        line(&body, out)?;
    }
    Ok(())
}

/// Writes comma-separated values.
pub(crate) fn csv(study: &dyn Study, out: &mut dyn Write) -> io::Result<()> {
    let mut table = csv::WriterBuilder::new().flexible(true).from_writer(out);
    for row in std::iter::once(study.columns()).chain(study.rows()) {
        table.write_record(row).map_err(csv_fault)?;
    }
    table.flush()
}

/// Writes one object on a line.
pub fn line(object: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, object)?;
    out.write_all(b"\n")
}

/// The field that says how intervals were computed; none without intervals.
fn resampling(head: &Head) -> Option<(String, Value)> {
    Some(("resampling".to_owned(), json!(ResamplingMethod::new(head.resampling?))))
}

/// Signatures by metric.
pub(crate) fn by_metric<'r>(head: &'r Head, signatures: &[Signature]) -> Map<Cow<'r, str>, String> {
    let metrics = head.metrics.iter().map(|metric| Cow::Borrowed(&*metric.key));
    Map(metrics.zip(signatures.iter().map(ToString::to_string)).collect())
}

/// The signature of one metric, for a line that concerns it alone.
pub fn one_signature(signature: Option<&Signature>) -> Vec<(&'static str, String)> {
    signature.map(|signature| ("signature", signature.to_string())).into_iter().collect()
}

/// The columns that say how intervals were computed; none without intervals.
pub(crate) fn resampling_columns(resampling: Option<Resampling>) -> impl Iterator<Item = String> {
    resampling.map(|_| ["level", "resamples", "seed"].map(str::to_owned)).into_iter().flatten()
}

/// The fields of `resampling_columns`.
pub fn resampling_fields(resampling: Option<Resampling>) -> impl Iterator<Item = String> {
    let fields = resampling
        .map(|Resampling { resamples, seed, level }| [full(level), resamples.to_string(), seed.to_string()]);
    fields.into_iter().flatten()
}

/// A number with all digits; empty if there is none.
pub(crate) fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, full)
}

/// The ends of an interval with all digits; empty if there is none.
pub(crate) fn both_ends(interval: Option<Interval>) -> [String; 2] {
    [interval.map(|i| i.low), interval.map(|i| i.high)].map(number)
}

/// The codes of notices, separated by spaces.
pub fn codes<'r>(notices: impl IntoIterator<Item = &'r Notice>) -> String {
    notices.into_iter().map(|notice| notice.code.to_string()).collect::<Vec<_>>().join(" ")
}

/// The ends of an interval.
pub(crate) type Ends = [JsonFloat; 2];

/// The ends of an interval.
pub(crate) fn ends(interval: Interval) -> Ends {
    interval.json()
}

/// The computation of intervals.
#[derive(Serialize, Deserialize)]
pub(crate) struct ResamplingMethod {
    method: Cow<'static, str>,
    #[serde(with = "json_float")]
    level: f64,
    resamples: usize,
    seed: u64,
}

impl ResamplingMethod {
    pub fn new(Resampling { resamples, seed, level }: Resampling) -> Self {
        Self { method: Cow::Borrowed("percentile bootstrap"), level, resamples, seed }
    }

    pub fn resampling(&self) -> Resampling {
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
        struct PairsVisitor<K, V>(PhantomData<(K, V)>);

        impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for PairsVisitor<K, V> {
            type Value = Map<K, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Map<K, V>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = object.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Map(pairs))
            }
        }

        deserializer.deserialize_map(PairsVisitor(PhantomData))
    }
}
