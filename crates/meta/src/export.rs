//! Metrics on benchmarks as JSON, JSON Lines with a line for each benchmark and measure, and CSV with a row for each
//! value.

use std::io::{self, Write};

use capeval::choice::Notice;
use capeval::corpus::SegmentId;
use capeval::metric::Signature;
use capeval::report::{Export, Head, Line, Map};
use capeval::stats::Interval;
use serde::Serialize;

use crate::result::{Contrasted, Measured, MetaReport, Outcome, Value};
use crate::verdict::Comparison;

impl Export for MetaReport {
    fn head(&self) -> &Head {
        &self.head
    }

    fn head_mut(&mut self) -> &mut Head {
        &mut self.head
    }

    /// Signatures are those of each benchmark, since they say how many images there are.
    fn signatures(&self) -> Vec<Signature> {
        Vec::new()
    }

    fn body(&self) -> impl Serialize {
        #[derive(Serialize)]
        struct Body<'r> {
            benchmarks: Map<&'r str, Found<'r>>,
        }
        Body {
            benchmarks: Map(self
                .outcomes
                .iter()
                .map(|o| (o.benchmark.name.as_str(), Found::new(o)))
                .collect()),
        }
    }

    fn tail(&self) -> impl Serialize {}

    fn lines(&self) -> impl Iterator<Item = Line<'_, impl Serialize>> {
        #[derive(Serialize)]
        struct Body<'r> {
            benchmark: &'r str,
            measure: &'r str,
            #[serde(flatten)]
            of: OfMeasure<'r>,
            files: &'r [String],
            points: usize,
            images: usize,
        }
        self.outcomes.iter().flat_map(|outcome| {
            outcome.measured.iter().enumerate().map(move |(m, measured)| Line {
                body: Body {
                    benchmark: &outcome.benchmark.name,
                    measure: &measured.measure.key,
                    of: OfMeasure::new(measured),
                    files: &outcome.files,
                    points: outcome.n_points,
                    images: outcome.n_images,
                },
                signatures: Map(signature(outcome, m)
                    .map(|s| ("signature", s.to_string()))
                    .into_iter()
                    .collect()),
                notices: outcome.notices.iter().collect(),
            })
        })
    }

    fn columns(&self) -> Vec<String> {
        let columns = "benchmark,measure,coefficient,category,value,low,high,letters,published,scale,source,verdict,\
                       difference,points,images,signature,notices,level,resamples,seed";
        columns.split(',').map(|name| name.trim().to_owned()).collect()
    }

    /// For each benchmark, measure and coefficient, a row for each published value, or one without any.
    fn rows(&self) -> impl Iterator<Item = Vec<String>> {
        let mut rows = Vec::new();
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        for outcome in &self.outcomes {
            for (m, measured) in outcome.measured.iter().enumerate() {
                for value in &measured.values {
                    let all: Vec<Option<&Comparison>> = match value.published.is_empty() {
                        true => vec![None],
                        false => value.published.iter().map(Some).collect(),
                    };
                    for comparison in all {
                        let mut row = vec![
                            outcome.benchmark.name.clone(),
                            measured.measure.key.clone(),
                            value.coefficient.name().to_owned(),
                            value.category.clone().unwrap_or_default(),
                            number(value.value),
                            number(value.interval.map(|ends| ends.low)),
                            number(value.interval.map(|ends| ends.high)),
                            measured.letters.clone(),
                        ];
                        row.extend(comparison.map_or_else(
                            || vec![String::new(); 5],
                            |comparison| {
                                vec![
                                    comparison.printed.to_owned(),
                                    comparison.scale.to_string(),
                                    comparison.source.to_owned(),
                                    comparison.verdict.name().to_owned(),
                                    comparison.verdict.difference().to_owned(),
                                ]
                            },
                        ));
                        row.extend([outcome.n_points, outcome.n_images].map(|n| n.to_string()));
                        row.push(signature(outcome, m).map_or_else(String::new, ToString::to_string));
                        row.push(codes(&outcome.notices));
                        if let Some(plan) = self.head.resampling {
                            row.extend([
                                plan.level.to_string(),
                                plan.resamples.to_string(),
                                plan.seed.to_string(),
                            ]);
                        }
                        rows.push(row);
                    }
                }
            }
        }
        rows.into_iter()
    }
}

/// The codes of notices, separated by spaces.
fn codes(notices: &[Notice]) -> String {
    notices.iter().map(|notice| notice.code.to_string()).collect::<Vec<_>>().join(" ")
}

/// The signature of the metric that a measure belongs to.
fn signature(outcome: &Outcome, measure: usize) -> Option<&Signature> {
    let mut first = 0;
    for (metric, signature) in outcome.metrics.iter().zip(&outcome.signatures) {
        first += metric.n_measures;
        if measure < first {
            return Some(signature);
        }
    }
    None
}

/// The ends of an interval.
type Ends = [f64; 2];

fn ends(interval: Interval) -> Ends {
    [interval.low, interval.high]
}

/// The results on a benchmark.
#[derive(Serialize)]
struct Found<'r> {
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

impl<'r> Found<'r> {
    fn new(outcome: &'r Outcome) -> Self {
        let signatures = outcome.metrics.iter().zip(&outcome.signatures);
        Self {
            title: &outcome.benchmark.title,
            task: outcome.benchmark.task,
            coefficient: outcome.benchmark.coefficient.name(),
            reading: outcome.reading.map(|reading| reading.name.as_str()),
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
struct OfMeasure<'r> {
    values: Vec<OfValue<'r>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    letters: &'r str,
}

impl<'r> OfMeasure<'r> {
    fn new(measured: &'r Measured) -> Self {
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
            source: comparison.source,
            value: comparison.printed,
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
    fn new(outcome: &'r Outcome, contrasted: &Contrasted) -> Self {
        let Contrasted { contrast, williams } = contrasted;
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
    struct Rated<'r> {
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
    struct Chosen<'r> {
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
                let rated = Rated {
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
            let chosen = Chosen {
                benchmark,
                image_id: &pair.image,
                captions: &pair.captions,
                votes: pair.votes,
                scores,
            };
            line(&chosen, out)?;
        }
    }
    Ok(())
}

fn line(object: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, object)?;
    out.write_all(b"\n")
}
