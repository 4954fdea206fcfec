//! Agreement with human ratings as JSON, and the points behind it.

use std::io::{self, Write};

use capeval_corpus::SegmentId;
use capeval_stats::correlation::Williams;
use serde::Serialize;

use super::{Agreement, Coefficient, Correlation, Difference, SystemAgreement};
use crate::render::programs::{Ends, Map, ends, line, number};

/// A test from the side of a row's measure: its own r, the index of the other measure, r between the two, and t with
/// its sign.
struct TestSide {
    own: f64,
    other: usize,
    between: f64,
    t: f64,
    test: Williams,
}

/// The fields of Williams' tests of measure number `m`.
pub(super) fn williams(correlation: &Correlation, m: usize) -> Vec<String> {
    let tests = correlation.differences.iter().filter_map(|d| {
        let (own, other, t) = match (d.a == m, d.b == m) {
            (true, _) => (d.r_a, d.b, d.test.t),
            (_, true) => (d.r_b, d.a, -d.test.t),
            _ => return None,
        };
        Some(TestSide { own, other, between: d.r_ab, t, test: d.test })
    });
    let tests: Vec<TestSide> = tests.collect();
    let first = tests.first();
    let mut fields = [first.map(|side| side.own), first.map(|side| side.test.freedom)].map(number).to_vec();
    for other in 0..correlation.head.measures.len() {
        let side = tests.iter().find(|side| side.other == other);
        let values = side.map_or([None; 3], |side| [Some(side.between), Some(side.t), Some(side.test.p)]);
        fields.extend(values.map(number));
    }
    fields
}

/// Writes the points that the coefficients are computed from, one per line:
/// `{"system": …, "image_id": …, "caption": …, "rating": …, "ratings": […], "scores": {…}}`.
///
/// `system` and `caption` are left out if the ratings do not name them; `rating` is the value that was correlated, and
/// `ratings` holds all ratings of the caption.
pub(super) fn points(correlation: &Correlation, out: &mut dyn Write) -> io::Result<()> {
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
        line(&point, out)?;
    }
    Ok(())
}

#[derive(Serialize)]
pub(super) struct Coefficients<'r> {
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
    pub fn new(correlation: &'r Correlation, measure: usize, agreement: &Agreement) -> Self {
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
pub(super) struct WilliamsTest<'r> {
    a: &'r str,
    b: &'r str,
    r_a: f64,
    r_b: f64,
    r_ab: f64,
    t: f64,
    degrees_of_freedom: f64,
    p: f64,
}

impl<'r> WilliamsTest<'r> {
    pub fn new(correlation: &'r Correlation, Difference { a, b, r_a, r_b, r_ab, test }: &Difference) -> Self {
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
