//! Coefficients of all metrics on the same resamples of the images, from which intervals and differences are read.

use std::collections::HashMap;

use capeval::corpus::SegmentId;
use capeval::evaluate::{Progress, Stage};
use capeval::report::{Preference, json_float};
use capeval::stats::clustered::LANES;
use capeval::stats::clustered::kendall::{self, WIDE};
use capeval::stats::clustered::{Coefficients, Ratings, Scores};
use capeval::stats::correction::Correction;
use capeval::stats::correlation::Kendall;
use capeval::stats::distribution::student_two_sided;
use capeval::stats::{ExactSum, Interval, Matrix, Resampling, resample};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::coefficient::Coefficient;

/// The values of each resample: measure after measure, and for each of them the wanted values in order.
pub(crate) struct Resamples {
    values: Vec<f64>,
    n_measures: usize,
    /// The number of values of each measure.
    each: usize,
    n_images: usize,
}

/// The difference between two measures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contrast {
    /// The index of a measure.
    pub a: usize,
    /// The index of another.
    pub b: usize,
    /// The coefficient of the first minus that of the second, each as if higher scores were better.
    #[serde(with = "json_float")]
    pub difference: f64,
    /// The percentile interval of the difference over resamples.
    #[serde(with = "json_float")]
    pub interval: Interval,
    /// The p-value of Student's test with the standard error over resamples, and an image less as degrees of freedom.
    #[serde(with = "json_float")]
    pub p: f64,
    /// The same, corrected for all pairs of this benchmark by Holm's method.
    #[serde(with = "json_float")]
    pub p_corrected: f64,
}

/// Numbers images in order of first appearance.
pub(crate) fn clusters<'i>(images: impl Iterator<Item = &'i SegmentId>) -> (Vec<u32>, usize) {
    let mut numbers: HashMap<&SegmentId, u32> = HashMap::new();
    let clusters = images.map(|image| {
        let next = numbers.len() as u32;
        *numbers.entry(image).or_insert(next)
    });
    (clusters.collect(), numbers.len())
}

impl Resamples {
    /// Coefficients of scores with ratings. Images are drawn with all their points.
    pub fn of_ratings(
        ratings: &[f64],
        scores: &[Vec<f64>],
        (clusters, n_images): (&[u32], usize),
        wanted: &[Coefficient],
        resampling: Resampling,
        progress: &dyn Progress,
    ) -> Self {
        let (n_measures, each) = (scores.len(), wanted.len());
        let width = n_measures * each;
        progress.begin(Stage::Resampling, resampling.resamples);
        let heard = |n| progress.advance(n);
        let keep = |values: &mut [f64], m: usize, found: &[Coefficients]| {
            for (row, found) in values.chunks_exact_mut(width).zip(found) {
                for (place, coefficient) in row[m * each..].iter_mut().zip(wanted) {
                    *place = value(found, *coefficient).unwrap_or(f64::NAN);
                }
            }
        };
        let is_kendall = wanted.iter().all(|c| matches!(c, Coefficient::TauB | Coefficient::TauC));
        let values = if is_kendall {
            let ratings = kendall::Ratings::new(ratings, clusters);
            let prepared = prepared(scores, |scores| kendall::Scores::new(scores, &ratings));
            resample::draws(n_images, resampling, width, heard, |weights: &[[u32; WIDE]], values| {
                let drawn = ratings.drawn(weights);
                for (m, scores) in prepared.iter().enumerate() {
                    let found = scores.as_ref().map_or([None; WIDE], |scores| scores.drawn(&drawn));
                    let found = found.map(|kendall| Coefficients { kendall, ..Coefficients::default() });
                    keep(values, m, &found);
                }
            })
        } else {
            let ratings = Ratings::new(ratings, clusters);
            let prepared = prepared(scores, |scores| Scores::new(scores, &ratings));
            resample::draws(n_images, resampling, width, heard, |weights: &[[f64; LANES]], values| {
                let drawn = ratings.drawn(weights);
                for (m, scores) in prepared.iter().enumerate() {
                    let found = scores.as_ref().map(|scores| scores.drawn(&ratings, &drawn));
                    keep(values, m, &found.unwrap_or_default());
                }
            })
        };
        Self { values, n_measures, each, n_images }
    }

    /// Accuracies: the mean over categories, and that of each category. Images are drawn with all their pairs.
    pub fn of_pairs(
        found: &Preference,
        (clusters, n_images): (&[u32], usize),
        resampling: Resampling,
        progress: &dyn Progress,
    ) -> Self {
        let (n_measures, n) = (found.head.measures.len(), found.categories.len());
        // Measure after measure and category after category: the credit of each image, then the maximum credit.
        let mut by_image = vec![vec![0.0; n_images]; n_measures * n * 2];
        for (pair, image) in found.pairs.iter().zip(clusters) {
            for (m, right) in pair.right.iter().enumerate() {
                let first = (m * n + pair.category) * 2;
                if let (Some(right), Some([credit, most])) = (right, by_image.get_mut(first..first + 2)) {
                    credit[*image as usize] += right;
                    most[*image as usize] += 1.0;
                }
            }
        }
        let counts: Vec<bool> = found.categories.iter().map(|category| category.n_counted > 0).collect();
        progress.begin(Stage::Resampling, resampling.resamples);
        let heard = |n| progress.advance(n);
        let each = n + 1;
        let values = resample::bootstrap(
            &Matrix::from_columns(&by_image),
            resampling,
            n_measures * each,
            heard,
            |sums, values| {
                for (sums, values) in sums.chunks_exact(n * 2).zip(values.chunks_exact_mut(each)) {
                    for (value, sums) in values[1..].iter_mut().zip(sums.chunks_exact(2)) {
                        *value = sums[0] / sums[1];
                    }
                    let there = values[1..].iter().zip(&counts).filter(|(_, counts)| **counts);
                    let there: Vec<f64> = there.map(|(value, _)| *value).collect();
                    let n = there.len() as f64;
                    values[0] = there.into_iter().collect::<ExactSum>().value() / n;
                }
            },
        );
        Self { values, n_measures, each, n_images }
    }

    /// The values of one measure, without resamples in which it has none.
    fn column(&self, measure: usize, of: usize) -> impl Iterator<Item = f64> {
        self.values
            .iter()
            .skip(measure * self.each + of)
            .step_by((self.n_measures * self.each).max(1))
            .copied()
    }

    /// The interval of value number `of` of a measure.
    pub fn interval(&self, measure: usize, of: usize, level: f64) -> Option<Interval> {
        let values: Vec<f64> = self.column(measure, of).filter(|value| !value.is_nan()).collect();
        (!values.is_empty()).then(|| Interval::percentile(values, level))
    }

    /// The differences of all pairs of measures by their first value; `plain` are the coefficients themselves, and
    /// `signs` are -1 for measures of which lower is better.
    pub fn contrasts(&self, plain: &[Option<f64>], signs: &[f64], level: f64) -> Vec<Contrast> {
        let columns: Vec<Vec<f64>> = (0..self.n_measures).map(|m| self.column(m, 0).collect()).collect();
        let pairs: Vec<(usize, usize)> =
            (0..self.n_measures).flat_map(|a| (a + 1..self.n_measures).map(move |b| (a, b))).collect();
        let contrast = |(a, b): (usize, usize)| {
            let difference = signs[a] * plain[a]? - signs[b] * plain[b]?;
            let both = columns[a].iter().zip(&columns[b]).map(|(x, y)| signs[a] * x - signs[b] * y);
            let both: Vec<f64> = both.filter(|d| !d.is_nan()).collect();
            let p = self.p(difference, &both)?;
            Some(Contrast {
                a,
                b,
                difference,
                interval: Interval::percentile(both, level),
                p,
                p_corrected: p,
            })
        };
        let mut contrasts: Vec<Contrast> = pairs.into_par_iter().filter_map(contrast).collect();
        let p: Vec<f64> = contrasts.iter().map(|contrast| contrast.p).collect();
        for (contrast, p) in contrasts.iter_mut().zip(Correction::Holm.adjust(&p)) {
            contrast.p_corrected = p;
        }
        contrasts
    }

    /// The p-value of a difference whose resamples are these.
    fn p(&self, difference: f64, resamples: &[f64]) -> Option<f64> {
        let n = resamples.len() as f64;
        if resamples.len() < 2 || self.n_images < 2 {
            return None;
        }
        let mean = resamples.iter().copied().collect::<ExactSum>().value() / n;
        let squares = resamples.iter().map(|d| (d - mean) * (d - mean)).collect::<ExactSum>().value();
        let error = (squares / (n - 1.0)).sqrt();
        if error == 0.0 {
            return Some(if difference == 0.0 { 1.0 } else { 0.0 });
        }
        student_two_sided(difference / error, (self.n_images - 1) as f64)
    }
}

/// Measures, ready to be resampled; `None` if a score is not finite.
fn prepared<'s, T: Send>(scores: &'s [Vec<f64>], prepare: impl Fn(&'s [f64]) -> T + Sync) -> Vec<Option<T>> {
    let is_finite = |scores: &[f64]| scores.iter().all(|score| score.is_finite());
    scores.par_iter().map(|scores| is_finite(scores).then(|| prepare(scores))).collect()
}

fn value(found: &Coefficients, coefficient: Coefficient) -> Option<f64> {
    match coefficient {
        Coefficient::Pearson => found.pearson,
        Coefficient::Spearman => found.spearman,
        Coefficient::TauB => found.kendall.map(|Kendall { tau_b, .. }| tau_b),
        Coefficient::TauC => found.kendall.map(|Kendall { tau_c, .. }| tau_c),
        Coefficient::Accuracy => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratings(n: usize) -> (Vec<f64>, Vec<u32>) {
        ((0..n).map(|k| (k * 7 % 5) as f64).collect(), (0..n).map(|k| (k / 3) as u32).collect())
    }

    fn resampled(scores: &[Vec<f64>], wanted: &[Coefficient]) -> Resamples {
        let (ratings, clusters) = ratings(90);
        let plan = Resampling { resamples: 200, ..Resampling::default() };
        Resamples::of_ratings(&ratings, scores, (&clusters, 30), wanted, plan, &())
    }

    fn noisy(noise: f64) -> Vec<f64> {
        let (ratings, _) = ratings(90);
        ratings.iter().enumerate().map(|(k, r)| r + noise * ((k * 37 % 23) as f64 / 23.0 - 0.5)).collect()
    }

    #[test]
    fn kendall_alone_and_all_coefficients_draw_the_same() {
        let scores = [noisy(2.0), noisy(9.0)];
        let alone = resampled(&scores, &[Coefficient::TauC]);
        let all = resampled(&scores, &[Coefficient::TauC, Coefficient::Pearson]);
        assert_eq!(alone.interval(1, 0, 0.95), all.interval(1, 0, 0.95));
        assert_ne!(alone.interval(0, 0, 0.95), all.interval(0, 1, 0.95));
    }

    #[test]
    fn clear_differences_are_significant_and_equal_measures_do_not_differ() {
        let scores = [noisy(0.5), noisy(30.0), noisy(0.5), noisy(30.0).iter().map(|x| -x).collect()];
        let found = resampled(&scores, &[Coefficient::TauB]);
        let (of_ratings, _) = ratings(90);
        let plain: Vec<Option<f64>> = scores
            .iter()
            .map(|scores| {
                let levels = [scores, &of_ratings].map(|v| capeval::stats::correlation::Levels::new(v));
                let walk = capeval::stats::correlation::Walk::new(&levels[0]);
                capeval::stats::correlation::kendall(&levels[0], &levels[1], &walk, None).map(|k| k.tau_b)
            })
            .collect();
        let contrasts = found.contrasts(&plain, &[1.0, 1.0, 1.0, -1.0], 0.95);
        let of = |a: usize, b: usize| contrasts.iter().find(|c| (c.a, c.b) == (a, b)).unwrap();
        assert!(of(0, 1).p_corrected < 0.001 && of(0, 1).interval.low > 0.0, "{:?}", of(0, 1));
        assert_eq!((of(0, 2).difference, of(0, 2).p), (0.0, 1.0));
        // An error rate with the opposite sign agrees as well.
        assert_eq!((of(1, 3).difference, of(1, 3).p), (0.0, 1.0));
        assert!(contrasts.iter().all(|c| c.p_corrected >= c.p));
    }

    #[test]
    fn scores_that_are_not_finite_have_no_interval() {
        let mut wrong = noisy(1.0);
        wrong[3] = f64::NAN;
        let found = resampled(&[wrong, noisy(1.0)], &[Coefficient::TauC]);
        assert_eq!(found.interval(0, 0, 0.95), None);
        assert!(found.interval(1, 0, 0.95).is_some());
        assert!(found.contrasts(&[None, Some(0.5)], &[1.0; 2], 0.95).is_empty());
    }

    #[test]
    fn nothing_to_draw_does_not_panic() {
        let plan = Resampling { resamples: 3, ..Resampling::default() };
        let found = Resamples::of_ratings(&[], &[], (&[], 0), &[Coefficient::TauC], plan, &());
        assert_eq!(found.interval(0, 0, 0.95), None);
    }
}
