//! Metrics on benchmarks as JSON, and the items behind them.

use std::io::{self, Write};

use capeval::choice::Notice;
use capeval::corpus::SegmentId;
use capeval::report::{Map, line};
use capeval::stats::Interval;
use serde::Serialize;

use crate::result::{MeasureResult, MetaReport, Outcome, PairTests, Value};
use crate::verdict::Comparison;

/// The ends of an interval.
type Ends = [f64; 2];

fn ends(interval: Interval) -> Ends {
    [interval.low, interval.high]
}

/// The results on a benchmark.
#[derive(Serialize)]
pub(crate) struct OfBenchmark<'r> {
    title: &'r str,
    task: crate::registry::Task,
    coefficient: &'static str,
    reading: Option<&'r str>,
    files: &'r [String],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    subset: bool,
    points: usize,
    images: usize,
    measures: Map<&'r str, OfMeasure<'r>>,
    differences: Vec<Difference<'r>>,
    signatures: Map<&'r str, String>,
    notices: &'r [Notice],
}

impl<'r> OfBenchmark<'r> {
    pub fn new(outcome: &'r Outcome) -> Self {
        let signatures = outcome.metrics.iter().zip(&outcome.signatures);
        Self {
            title: &outcome.benchmark.title,
            task: outcome.benchmark.task,
            coefficient: outcome.benchmark.coefficient.name(),
            reading: outcome.reading.as_deref(),
            files: &outcome.files,
            subset: outcome.is_subset,
            points: outcome.n_points,
            images: outcome.n_images,
            measures: Map(outcome
                .measured
                .iter()
                .map(|m| (m.measure.key.as_str(), OfMeasure::new(m)))
                .collect()),
            differences: outcome
                .contrasts
                .iter()
                .map(|contrast| Difference::new(outcome, contrast))
                .collect(),
            signatures: Map(signatures.map(|(metric, s)| (metric.key.as_str(), s.to_string())).collect()),
            notices: &outcome.notices,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct OfMeasure<'r> {
    values: Vec<OfValue<'r>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    letters: &'r str,
}

impl<'r> OfMeasure<'r> {
    pub fn new(measured: &'r MeasureResult) -> Self {
        Self { values: measured.values.iter().map(OfValue::new).collect(), letters: &measured.letters }
    }
}

#[derive(Serialize)]
struct OfValue<'r> {
    coefficient: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<&'r str>,
    value: Option<f64>,
    interval: Option<Ends>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    published: Vec<OfSource<'r>>,
}

impl<'r> OfValue<'r> {
    fn new(value: &'r Value) -> Self {
        Self {
            coefficient: value.coefficient.name(),
            category: value.category.as_deref(),
            value: value.value,
            interval: value.interval.map(ends),
            published: value.published.iter().map(OfSource::new).collect(),
        }
    }
}

#[derive(Serialize)]
struct OfSource<'r> {
    source: &'r str,
    /// As text, since its digits count.
    value: &'r str,
    scale: u32,
    verdict: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    difference: &'r str,
}

impl<'r> OfSource<'r> {
    fn new(comparison: &'r Comparison) -> Self {
        Self {
            source: &comparison.source,
            value: &comparison.printed,
            scale: comparison.scale,
            verdict: comparison.verdict.name(),
            difference: comparison.verdict.difference(),
        }
    }
}

#[derive(Serialize)]
struct Difference<'r> {
    a: &'r str,
    b: &'r str,
    difference: f64,
    interval: Ends,
    p: f64,
    p_holm: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    williams: Option<Williams>,
}

#[derive(Serialize)]
struct Williams {
    t: f64,
    p: f64,
}

impl<'r> Difference<'r> {
    fn new(outcome: &'r Outcome, contrasted: &PairTests) -> Self {
        let PairTests { contrast, williams } = contrasted;
        let key = |m: usize| outcome.measured.get(m).map_or("", |measured| measured.measure.key.as_str());
        Self {
            a: key(contrast.a),
            b: key(contrast.b),
            difference: contrast.difference,
            interval: ends(contrast.interval),
            p: contrast.p,
            p_holm: contrast.p_corrected,
            williams: williams.map(|test| Williams { t: test.t, p: test.p }),
        }
    }
}

/// Writes every point and every pair with its scores, as JSON Lines.
pub(crate) fn items(report: &MetaReport, out: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct RatedCaption<'r> {
        benchmark: &'r str,
        image_id: &'r SegmentId,
        #[serde(skip_serializing_if = "Option::is_none")]
        system: Option<&'r str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        caption: Option<&'r str>,
        rating: f64,
        scores: Map<&'r str, f64>,
    }
    #[derive(Serialize)]
    struct PairItem<'r> {
        benchmark: &'r str,
        image_id: &'r SegmentId,
        captions: &'r [String; 2],
        votes: [f64; 2],
        scores: Map<&'r str, [f64; 2]>,
    }
    for outcome in &report.outcomes {
        let benchmark = outcome.benchmark.name.as_str();
        let keys = || outcome.measured.iter().map(|measured| measured.measure.key.as_str());
        if let Some(points) = &outcome.points {
            for (k, image_id) in points.images.iter().enumerate() {
                let scores = keys().zip(&points.scores).map(|(key, scores)| (key, scores[k]));
                let rated = RatedCaption {
                    benchmark,
                    image_id,
                    system: points.systems[k].as_deref(),
                    caption: points.captions[k].as_deref(),
                    rating: points.ratings[k],
                    scores: Map(scores.collect()),
                };
                line(&rated, out)?;
            }
        }
        for pair in outcome.pairs.iter().flatten() {
            let scores = Map(keys().zip(pair.scores.iter().copied()).collect());
            let item = PairItem {
                benchmark,
                image_id: &pair.image,
                captions: &pair.captions,
                votes: pair.votes,
                scores,
            };
            line(&item, out)?;
        }
    }
    Ok(())
}
