//! Agreement with human ratings as JSON, JSON Lines and CSV, with a line or row per measure, and the points behind it.

use std::io::{self, Write};

use capeval_corpus::SegmentId;
use capeval_metric::Signature;
use capeval_stats::correlation::Williams;
use serde::Serialize;

use super::{Ends, Export, Line, Map, codes, ends, number, resampling_columns, resampling_fields};
use crate::{Agreement, Coefficient, Correlation, Difference, Head, Human, SystemAgreement};

impl Export for Correlation {
    fn head(&self) -> &Head {
        &self.head
    }

    fn head_mut(&mut self) -> &mut Head {
        &mut self.head
    }

    fn signatures(&self) -> Vec<Signature> {
        self.signatures.clone()
    }

    fn body(&self) -> impl Serialize {
        #[derive(Serialize)]
        struct Body<'r> {
            ratings: &'r Human,
            correlations: Map<&'r str, Coefficients<'r>>,
            williams: Vec<Tested<'r>>,
        }
        let coefficients = self.agreements.iter().enumerate();
        let coefficients = coefficients.map(|(m, agreement)| Coefficients::new(self, m, agreement));
        Body {
            ratings: &self.human,
            correlations: Map(self.head.keys().zip(coefficients).collect()),
            williams: self.differences.iter().map(|difference| Tested::new(self, difference)).collect(),
        }
    }

    fn tail(&self) -> impl Serialize {}

    fn lines(&self) -> impl Iterator<Item = Line<'_, impl Serialize>> {
        #[derive(Serialize)]
        struct Body<'r> {
            measure: &'r str,
            #[serde(flatten)]
            coefficients: Coefficients<'r>,
            williams: Vec<Tested<'r>>,
            ratings: &'r Human,
        }
        self.head.keys().zip(&self.agreements).enumerate().map(|(m, (measure, agreement))| {
            let tests = self.differences.iter().filter(|d| d.a == m || d.b == m);
            Line {
                body: Body {
                    measure,
                    coefficients: Coefficients::new(self, m, agreement),
                    williams: tests.map(|difference| Tested::new(self, difference)).collect(),
                    ratings: &self.human,
                },
                signatures: Map(self
                    .signature_of(m)
                    .map(|s| ("signature", s.to_string()))
                    .into_iter()
                    .collect()),
                notices: self.head.notices.iter().collect(),
            }
        })
    }

    fn columns(&self) -> Vec<String> {
        let is_resampled = self.head.resampling.is_some();
        let mut columns = ["measure", "points", "items", "images"].map(str::to_owned).to_vec();
        for key in ["pearson", "spearman", "tau_b", "tau_c", "accuracy"] {
            columns.push(key.to_owned());
            if is_resampled {
                columns.extend([format!("{key}_low"), format!("{key}_high")]);
            }
        }
        let rest = ["pairs", "krippendorff_alpha", "fleiss_kappa", "signature", "notices", "unit"];
        columns.extend(rest.map(str::to_owned));
        columns.extend(resampling_columns(self.head.resampling));
        if self.systems.is_some() {
            columns.push("systems".to_owned());
            let of_systems = ["pearson", "spearman", "tau_b", "accuracy"];
            columns.extend(of_systems.map(|name| format!("system_level_{name}")));
        }
        if !self.differences.is_empty() {
            columns.extend(["williams_r", "williams_df"].map(str::to_owned));
            let of = |key: &str| ["r", "t", "p"].map(|name| format!("{key}_williams_{name}"));
            columns.extend(self.head.keys().flat_map(of));
        }
        columns
    }

    fn rows(&self) -> impl Iterator<Item = Vec<String>> {
        self.head.keys().zip(&self.agreements).enumerate().map(|(m, (key, agreement))| {
            let human = &self.human;
            let mut row = vec![key.to_owned()];
            row.extend([human.n_points, human.n_items, human.n_images].map(|n| n.to_string()));
            for (_, coefficient) in agreement.coefficients() {
                row.push(number(coefficient.value));
                if self.head.resampling.is_some() {
                    let interval = coefficient.interval;
                    row.extend([interval.map(|i| i.low), interval.map(|i| i.high)].map(number));
                }
            }
            row.push(agreement.n_pairs.to_string());
            row.extend([human.krippendorff_alpha, human.fleiss_kappa].map(number));
            row.push(self.signature_of(m).map_or_else(String::new, ToString::to_string));
            row.extend([codes(&self.head.notices), human.unit.name().to_owned()]);
            row.extend(resampling_fields(self.head.resampling));
            if let Some(systems) = &self.systems {
                let system = systems.get(m);
                row.push(system.map_or_else(String::new, |s| s.n_systems.to_string()));
                let values = system.map_or([None; 4], |s| [s.pearson, s.spearman, s.tau_b, s.accuracy]);
                row.extend(values.map(number));
            }
            if !self.differences.is_empty() {
                row.extend(williams(self, m));
            }
            row
        })
    }
}

/// A test from the side of a row's measure: its own r, the index of the other measure, r between the two, and t with
/// its sign.
struct Seen {
    own: f64,
    other: usize,
    between: f64,
    t: f64,
    test: Williams,
}

/// The fields of Williams' tests of measure number `m`.
fn williams(correlation: &Correlation, m: usize) -> Vec<String> {
    let tests = correlation.differences.iter().filter_map(|d| {
        let (own, other, t) = match (d.a == m, d.b == m) {
            (true, _) => (d.r_a, d.b, d.test.t),
            (_, true) => (d.r_b, d.a, -d.test.t),
            _ => return None,
        };
        Some(Seen { own, other, between: d.r_ab, t, test: d.test })
    });
    let tests: Vec<Seen> = tests.collect();
    let first = tests.first();
    let mut fields = [first.map(|seen| seen.own), first.map(|seen| seen.test.freedom)].map(number).to_vec();
    for other in 0..correlation.head.measures.len() {
        let seen = tests.iter().find(|seen| seen.other == other);
        let values = seen.map_or([None; 3], |seen| [Some(seen.between), Some(seen.t), Some(seen.test.p)]);
        fields.extend(values.map(number));
    }
    fields
}

/// Writes the points that the coefficients are computed from, one per line:
/// `{"system": …, "image_id": …, "caption": …, "rating": …, "ratings": […], "scores": {…}}`.
///
/// `system` and `caption` are left out if the ratings do not name them; `rating` is the value that was correlated, and
/// `ratings` holds all ratings of the caption.
pub(crate) fn points(correlation: &Correlation, out: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Point<'r> {
        #[serde(skip_serializing_if = "Option::is_none")]
        system: Option<&'r str>,
        image_id: &'r SegmentId,
        #[serde(skip_serializing_if = "Option::is_none")]
        caption: Option<&'r str>,
        rating: f64,
        ratings: &'r [f64],
        scores: Map<&'r str, f64>,
    }
    let points = &correlation.points;
    for (k, (image_id, rating)) in points.images.iter().zip(&points.ratings).enumerate() {
        let scores = points.scores.iter().map(|scores| scores.get(k).copied().unwrap_or(f64::NAN));
        let point = Point {
            system: points.systems.get(k).and_then(Option::as_deref),
            image_id,
            caption: points.captions.get(k).and_then(Option::as_deref),
            rating: *rating,
            ratings: points.item_ratings.get(k).map_or(&[], |ratings| ratings),
            scores: Map(correlation.head.keys().zip(scores).collect()),
        };
        super::line(&point, out)?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Coefficients<'r> {
    pearson: Option<f64>,
    spearman: Option<f64>,
    tau_b: Option<f64>,
    tau_c: Option<f64>,
    accuracy: Option<f64>,
    pairs: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals: Option<Map<&'static str, Option<Ends>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_level: Option<&'r SystemAgreement>,
}

impl<'r> Coefficients<'r> {
    fn new(correlation: &'r Correlation, measure: usize, agreement: &Agreement) -> Self {
        let intervals =
            || agreement.coefficients().map(|(key, c): (_, Coefficient)| (key, c.interval.map(ends)));
        Self {
            pearson: agreement.pearson.value,
            spearman: agreement.spearman.value,
            tau_b: agreement.tau_b.value,
            tau_c: agreement.tau_c.value,
            accuracy: agreement.accuracy.value,
            pairs: agreement.n_pairs,
            intervals: correlation.head.resampling.map(|_| Map(intervals().to_vec())),
            system_level: correlation.systems.as_ref().and_then(|systems| systems.get(measure)),
        }
    }
}

/// Williams' test as JSON.
#[derive(Serialize)]
struct Tested<'r> {
    a: &'r str,
    b: &'r str,
    r_a: f64,
    r_b: f64,
    r_ab: f64,
    t: f64,
    degrees_of_freedom: f64,
    p: f64,
}

impl<'r> Tested<'r> {
    fn new(correlation: &'r Correlation, Difference { a, b, r_a, r_b, r_ab, test }: &Difference) -> Self {
        let key = |m: usize| correlation.head.measures.get(m).map_or("", |measure| measure.key.as_str());
        Self {
            a: key(*a),
            b: key(*b),
            r_a: *r_a,
            r_b: *r_b,
            r_ab: *r_ab,
            t: test.t,
            degrees_of_freedom: test.freedom,
            p: test.p,
        }
    }
}
