//! Numbers made of measures by formulas: they stand behind the metrics, with statistics of their own.

use capeval_choice::{Code, Derivation, Trend};
use capeval_evaluate::{MetricScores, SystemScores};
use capeval_metric::{AnyMetric, Direction, Part, Signature};
use capeval_report::{Measure, Notice};
use capeval_stats::Table;

use crate::Error;
use crate::measures::entries;

/// Numbers that are derived from the measures of metrics.
#[derive(Default)]
pub(crate) struct Derivations(Vec<DerivedMetric>);

/// A derived number as a metric, and the places of the metrics that it is made of.
struct DerivedMetric {
    metric: AnyMetric,
    members: Vec<usize>,
}

impl Derivations {
    /// Reads the formulas `texts` over the measures of `metrics`. Notices say which of them mix ranges.
    pub fn new(texts: &[String], metrics: &[AnyMetric]) -> Result<(Self, Vec<Notice>), Error> {
        let (entries, measures) = entries(metrics);
        let known: Vec<&str> = measures.iter().map(|measure| measure.key.as_str()).collect();
        let mut starts = entries.iter().scan(0, |next, entry| {
            let first = *next;
            *next += entry.n_measures;
            Some(first..*next)
        });
        let places: Vec<std::ops::Range<usize>> = starts.by_ref().collect();
        let (mut derived, mut read, mut notices) = (Vec::new(), Vec::<Derivation>::new(), Vec::new());
        for text in texts {
            let one = Derivation::parse(text, &known, &read)?;
            let names = one.formula.names();
            let is_named = |m: &usize| {
                measures[places[*m].clone()]
                    .iter()
                    .any(|measure| names.iter().any(|(_, name)| *name == measure.key))
            };
            let members: Vec<usize> = (0..metrics.len()).filter(is_named).collect();
            notices.extend(mixing(&one, &measures));
            let keys =
                |m: &usize| measures[places[*m].clone()].iter().map(|measure| measure.key.clone()).collect();
            let metric = AnyMetric::derived(
                members.iter().map(|m| metrics[*m].clone()).collect(),
                members.iter().map(keys).collect(),
                one.formula.clone(),
                part(
                    &one,
                    &measures,
                    members.iter().all(|m| metrics[*m].parts().iter().all(|part| part.has_interval)),
                ),
                Signature::new(&one.name).with("formula", &one.text),
            );
            derived.extend(metric.map(|metric| DerivedMetric { metric, members }));
            read.push(one);
        }
        Ok((Self(derived), notices))
    }

    /// The numbers as metrics.
    pub fn metrics(&self) -> impl Iterator<Item = AnyMetric> + '_ {
        self.0.iter().map(|derived| derived.metric.clone())
    }

    /// Adds the numbers to the scores of a system by the metrics.
    pub fn add(&self, scores: &mut SystemScores) {
        let derived: Vec<MetricScores> = self.0.iter().map(|derived| derived.scores(scores)).collect();
        scores.metrics.extend(derived);
    }
}

impl DerivedMetric {
    fn scores(&self, of: &SystemScores) -> MetricScores {
        let tables: Vec<&Table> = self.members.iter().map(|m| &of.metrics[*m].table).collect();
        let rows =
            (0..of.images.len()).flat_map(|row| tables.iter().flat_map(move |table| table.row(row)).copied());
        let table = Table::new(self.metric.about().columns.clone(), rows.collect());
        let mut corpus = vec![0.0; 1];
        self.metric.score_table(&table, &mut corpus);
        MetricScores {
            metric: self.metric.clone(),
            signature: self.metric.signature().clone(),
            notices: without_value(self.metric.signature().metric(), of, corpus[0]).into_iter().collect(),
            table,
            corpus,
        }
    }
}

/// A notice if the number `name` of a system has no finite value.
fn without_value(name: &str, of: &SystemScores, value: f64) -> Option<Notice> {
    let message = format!(
        "{name} of {} is {}: its formula divides by 0, or takes a mean of values that have none",
        of.name,
        if value.is_nan() { "no number" } else { "infinite" }
    );
    (!value.is_finite()).then(|| Notice::new(Code::NoValue, message).system(&*of.name))
}

/// The metrics that formulas make of the measures of others, as [`ScoreOptions::derive`](crate::ScoreOptions) has them.
///
/// # Errors
/// When a formula cannot be read, or names what no metric gives.
pub fn derived_metrics(formulas: &[String], metrics: &[AnyMetric]) -> Result<Vec<AnyMetric>, Error> {
    Derivations::new(formulas, metrics).map(|(derivations, _)| derivations.metrics().collect())
}

fn range_of<'m>(measures: &'m [Measure]) -> impl Fn(&str) -> (f64, f64) + 'm {
    move |name| {
        let measure = measures.iter().find(|measure| measure.key == name);
        measure.map_or((f64::NEG_INFINITY, f64::INFINITY), |measure| (measure.min, measure.max))
    }
}

/// The description of a derived number.
fn part(derivation: &Derivation, measures: &[Measure], has_interval: bool) -> Part {
    let range = range_of(measures);
    let trend = |name: &str| match measures.iter().find(|m| m.key == name).map(|m| m.direction) {
        Some(Direction::HigherIsBetter) => Trend::Rises,
        Some(Direction::LowerIsBetter) => Trend::Falls,
        Some(Direction::Neither) | None => Trend::Depends,
    };
    let (min, max) = derivation.formula.range(&range);
    let part = Part { min, max, has_interval, ..Part::score(&derivation.name, &derivation.name, 0.0..=1.0) };
    match derivation.trend.unwrap_or_else(|| derivation.formula.trend(&trend, &range)) {
        Trend::Rises => part,
        Trend::Falls => part.lower(),
        Trend::Stays | Trend::Depends => part.neither(),
    }
}

/// A notice about measures of different ranges in one sum or mean.
fn mixing(derivation: &Derivation, measures: &[Measure]) -> Option<Notice> {
    if !derivation.formula.mixes(&range_of(measures)) {
        return None;
    }
    let named: Vec<String> = measures
        .iter()
        .filter(|measure| derivation.formula.names().iter().any(|(_, name)| *name == measure.key))
        .map(|measure| format!("{} up to {}", measure.key, measure.max))
        .collect();
    let message = format!("{} adds values of different ranges: {}", derivation.name, named.join(", "));
    Some(Notice::new(Code::MixedRanges, message))
}
