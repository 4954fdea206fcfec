//! Agreement with people as JSON and CSV for programs.

use std::io::{self, Write};

use serde::Serialize;

use super::{Coefficient, Correlation, Difference};
use crate::number::full;
use crate::render::{
    self,
    json::{Map, SerialMeasure, SerialNotice, SerialResampling},
};

/// Writes one JSON object, with every number in full: `correlations` (a map from measure to its coefficients) and
/// `williams` (the test of each pair of measures) beside what [`json`](crate::json) writes of measures, signatures,
/// resampling and notices.
///
/// # Errors
/// When `out` does not take what is written.
pub fn json(correlation: &Correlation, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Whole::new(correlation))?;
    out.write_all(b"\n")
}

/// Writes one line per measure: the object that [`json`](fn@json) puts into `correlations`, with Williams' tests of the
/// measure against others, its signature, and the notices.
///
/// # Errors
/// When `out` does not take what is written.
pub fn jsonl(correlation: &Correlation, out: &mut impl Write) -> io::Result<()> {
    let whole = Whole::new(correlation);
    for (m, (measure, coefficients)) in whole.correlations.0.iter().enumerate() {
        let williams = correlation.differences.iter().filter(|d| d.a == m || d.b == m);
        let line = Line {
            measure,
            coefficients,
            williams: williams.map(|difference| SerialDifference::new(correlation, difference)).collect(),
            ratings: &whole.ratings,
            resampling: correlation.resampling.map(SerialResampling::new),
            signature: correlation.signature_of(m).map(ToString::to_string),
            notices: &whole.notices,
            capeval: &correlation.version,
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes a header and one row per measure, each with its own signature. Coefficients of whole systems stand in
/// columns that begin with `system_level_`; what Williams' test says of the row's measure against another one, KEY, in
/// `KEY_williams_r` (Pearson's r between the two), `KEY_williams_t` (above 0 where the row's measure agrees better) and
/// `KEY_williams_p`, beside `williams_r` (its own r with the mean ratings) and `williams_df`.
///
/// # Errors
/// When `out` does not take what is written.
pub fn csv(correlation: &Correlation, out: &mut impl Write) -> io::Result<()> {
    let mut header: Vec<String> = ["measure", "points", "items", "images"].map(str::to_owned).to_vec();
    for key in ["pearson", "spearman", "tau_b", "tau_c", "accuracy"] {
        header.push(key.to_owned());
        if correlation.resampling.is_some() {
            header.extend([format!("{key}_low"), format!("{key}_high")]);
        }
    }
    header.extend(["pairs", "krippendorff_alpha", "fleiss_kappa", "signature", "notices"].map(str::to_owned));
    header.push("unit".to_owned());
    if correlation.resampling.is_some() {
        header.extend(render::csv::RESAMPLING.map(str::to_owned));
    }
    if correlation.systems.is_some() {
        header.push("systems".to_owned());
        header.extend(SYSTEM_LEVEL.map(|name| format!("system_level_{name}")));
    }
    if !correlation.differences.is_empty() {
        header.extend(["williams_r", "williams_df"].map(str::to_owned));
        let of = |key: &str| ["r", "t", "p"].map(|name| format!("{key}_williams_{name}"));
        header.extend(correlation.measures.iter().flat_map(|measure| of(&measure.key)));
    }
    render::csv::row(out, header.into_iter())?;
    for m in 0..correlation.measures.len() {
        render::csv::row(out, fields(correlation, m).into_iter())?;
    }
    Ok(())
}

/// The names of the coefficients of whole systems.
const SYSTEM_LEVEL: [&str; 4] = ["pearson", "spearman", "tau_b", "accuracy"];

/// The row of the measure number `m`.
fn fields(correlation: &Correlation, m: usize) -> Vec<String> {
    let human = &correlation.human;
    let number = |value: Option<f64>| value.map_or_else(String::new, full);
    let mut fields: Vec<String> =
        correlation.measures.get(m).map(|measure| measure.key.clone()).into_iter().collect();
    fields.extend([human.n_points, human.n_items, human.n_images].map(|n| n.to_string()));
    let Some(agreement) = correlation.agreements.get(m) else { return fields };
    for (_, coefficient) in agreement.coefficients() {
        fields.push(number(coefficient.value));
        if correlation.resampling.is_some() {
            let interval = coefficient.interval;
            fields.extend([number(interval.map(|i| i.low)), number(interval.map(|i| i.high))]);
        }
    }
    fields.push(agreement.n_pairs.to_string());
    fields.extend([human.krippendorff_alpha, human.fleiss_kappa].map(number));
    fields.push(correlation.signature_of(m).map_or_else(String::new, ToString::to_string));
    let codes: Vec<&str> = correlation.notices.iter().map(|notice| notice.code.as_str()).collect();
    fields.extend([codes.join(" "), human.unit.name().to_owned()]);
    fields.extend(correlation.resampling.map(render::csv::resampling).into_iter().flatten());
    if let Some(systems) = &correlation.systems {
        let system = systems.get(m);
        fields.push(system.map_or_else(String::new, |s| s.n_systems.to_string()));
        let values = system.map_or([None; 4], |s| [s.pearson, s.spearman, s.tau_b, s.accuracy]);
        fields.extend(values.map(number));
    }
    if !correlation.differences.is_empty() {
        // Each test as the row's measure sees it: its own r, the other measure, r between them, t and p.
        let tests = correlation.differences.iter().filter_map(|d| match (d.a == m, d.b == m) {
            (true, _) => Some((d.r_a, d.b, d.r_ab, d.test.t, d.test)),
            (_, true) => Some((d.r_b, d.a, d.r_ab, -d.test.t, d.test)),
            _ => None,
        });
        let tests: Vec<_> = tests.collect();
        fields.push(number(tests.first().map(|(own, ..)| *own)));
        fields.push(number(tests.first().map(|(.., test)| test.freedom)));
        for other in 0..correlation.measures.len() {
            let test = tests.iter().find(|(_, with, ..)| *with == other);
            let values = test.map_or([None; 3], |(_, _, r, t, test)| [Some(*r), Some(*t), Some(test.p)]);
            fields.extend(values.map(number));
        }
    }
    fields
}

/// Writes the points behind the coefficients, one line each, with the keys of [`segments`](crate::segments):
/// `{"system": …, "image_id": …, "caption": …, "rating": …, "ratings": […], "scores": {…}}`.
///
/// `system` and `caption` are left out where the ratings do not tell them; `rating` is what was correlated, `ratings`
/// holds all ratings of that caption.
///
/// # Errors
/// When `out` does not take what is written.
pub fn points(correlation: &Correlation, out: &mut impl Write) -> io::Result<()> {
    let points = &correlation.points;
    for (k, (image, rating)) in points.images.iter().zip(&points.ratings).enumerate() {
        let scores = points.scores.iter().map(|scores| scores.get(k).copied().unwrap_or(f64::NAN));
        let keys = correlation.measures.iter().map(|measure| measure.key.as_str());
        let line = SerialPoint {
            system: points.systems.get(k).and_then(Option::as_deref),
            image_id: image,
            caption: points.captions.get(k).and_then(Option::as_deref),
            rating: *rating,
            ratings: points.item_ratings.get(k).map_or(&[], |ratings| ratings),
            scores: Map(keys.zip(scores).collect()),
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

#[derive(Serialize)]
struct SerialPoint<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<&'r str>,
    image_id: &'r capeval_corpus::SegmentId,
    #[serde(skip_serializing_if = "Option::is_none")]
    caption: Option<&'r str>,
    rating: f64,
    ratings: &'r [f64],
    scores: Map<&'r str, f64>,
}

#[derive(Serialize)]
struct Whole<'r> {
    capeval: &'r str,
    ratings: Ratings<'r>,
    correlations: Map<&'r str, Coefficients>,
    williams: Vec<SerialDifference<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resampling: Option<SerialResampling>,
    signatures: Map<&'r str, String>,
    notices: Vec<SerialNotice<'r>>,
    measures: Vec<SerialMeasure<'r>>,
}

#[derive(Serialize)]
struct Line<'r> {
    measure: &'r str,
    #[serde(flatten)]
    coefficients: &'r Coefficients,
    williams: Vec<SerialDifference<'r>>,
    ratings: &'r Ratings<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resampling: Option<SerialResampling>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
    notices: &'r [SerialNotice<'r>],
    capeval: &'r str,
}

#[derive(Serialize)]
struct Ratings<'r> {
    file: &'r str,
    images: usize,
    items: usize,
    ratings: usize,
    points: usize,
    unit: &'static str,
    scale: [f64; 2],
    krippendorff_alpha: Option<f64>,
    fleiss_kappa: Option<f64>,
}

#[derive(Serialize)]
struct Coefficients {
    pearson: Option<f64>,
    spearman: Option<f64>,
    tau_b: Option<f64>,
    tau_c: Option<f64>,
    accuracy: Option<f64>,
    pairs: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals: Option<Map<&'static str, Option<[f64; 2]>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_level: Option<Systems>,
}

#[derive(Serialize)]
struct Systems {
    systems: usize,
    pearson: Option<f64>,
    spearman: Option<f64>,
    tau_b: Option<f64>,
    accuracy: Option<f64>,
}

#[derive(Serialize)]
struct SerialDifference<'r> {
    a: &'r str,
    b: &'r str,
    r_a: f64,
    r_b: f64,
    r_ab: f64,
    t: f64,
    degrees_of_freedom: f64,
    p: f64,
}

fn key(correlation: &Correlation, measure: usize) -> &str {
    correlation.measures.get(measure).map_or("", |measure| measure.key.as_str())
}

impl<'r> SerialDifference<'r> {
    fn new(correlation: &'r Correlation, Difference { a, b, r_a, r_b, r_ab, test }: &Difference) -> Self {
        Self {
            a: key(correlation, *a),
            b: key(correlation, *b),
            r_a: *r_a,
            r_b: *r_b,
            r_ab: *r_ab,
            t: test.t,
            degrees_of_freedom: test.freedom,
            p: test.p,
        }
    }
}

impl<'r> Whole<'r> {
    fn new(correlation: &'r Correlation) -> Self {
        let human = &correlation.human;
        let coefficients = correlation.agreements.iter().enumerate().map(|(m, agreement)| {
            let ends = |c: Coefficient| c.interval.map(|interval| [interval.low, interval.high]);
            let systems = correlation.systems.as_ref().and_then(|systems| systems.get(m));
            let coefficients = Coefficients {
                pearson: agreement.pearson.value,
                spearman: agreement.spearman.value,
                tau_b: agreement.tau_b.value,
                tau_c: agreement.tau_c.value,
                accuracy: agreement.accuracy.value,
                pairs: agreement.n_pairs,
                intervals: correlation
                    .resampling
                    .map(|_| Map(agreement.coefficients().map(|(key, c)| (key, ends(c))).to_vec())),
                system_level: systems.map(|s| Systems {
                    systems: s.n_systems,
                    pearson: s.pearson,
                    spearman: s.spearman,
                    tau_b: s.tau_b,
                    accuracy: s.accuracy,
                }),
            };
            (key(correlation, m), coefficients)
        });
        Self {
            capeval: &correlation.version,
            ratings: Ratings {
                file: &human.source,
                images: human.n_images,
                items: human.n_items,
                ratings: human.n_ratings,
                points: human.n_points,
                unit: human.unit.name(),
                scale: [human.scale.low, human.scale.high],
                krippendorff_alpha: human.krippendorff_alpha,
                fleiss_kappa: human.fleiss_kappa,
            },
            correlations: Map(coefficients.collect()),
            williams: correlation.differences.iter().map(|d| SerialDifference::new(correlation, d)).collect(),
            resampling: correlation.resampling.map(SerialResampling::new),
            signatures: render::json::signatures(&correlation.metrics, &correlation.signatures),
            notices: correlation.notices.iter().map(render::json::notice).collect(),
            measures: render::json::measures(&correlation.measures),
        }
    }
}
