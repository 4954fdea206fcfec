//! Coefficients of agreement between measures and ratings, with their intervals.

use capeval_evaluate::{Progress, Stage};
use capeval_report::{Agreement, Coefficient, Difference};
use capeval_stats::clustered::LANES;
use capeval_stats::clustered::{Coefficients, DrawnRatings, Ratings, Scores};
use capeval_stats::correlation::{self, CentredValues};
use capeval_stats::{Interval, Resampling, resample};
use rayon::prelude::*;

use super::points::Judgements;

/// The number of coefficients per measure.
const EACH: usize = 5;

/// The number of values per resample of `n_measures`.
pub(super) fn n_values(n_measures: usize) -> usize {
    n_measures * EACH
}

/// The agreement of each measure with the ratings; `higher` says whether higher is better. `progress` is notified of
/// each resample.
pub(super) fn of(
    judgements: &Judgements,
    values: &[Vec<f64>],
    higher: &[bool],
    resampling: Option<Resampling>,
    progress: &dyn Progress,
) -> Vec<Agreement> {
    let ratings: Vec<f64> = judgements.points.iter().map(|point| point.rating).collect();
    let clusters: Vec<u32> =
        judgements.points.iter().map(|point| judgements.items[point.item].cluster as u32).collect();
    let ratings = Ratings::new(&ratings, &clusters);
    let prepared: Vec<Option<OrderedPairs<'_>>> = values
        .par_iter()
        .zip(higher)
        .map(|(values, higher)| OrderedPairs::new(judgements, values, &ratings, *higher))
        .collect();
    let n_values = n_values(prepared.len());
    let resampled = resampling.map(|resampling| {
        progress.begin(Stage::Resampling, resampling.resamples);
        let heard = |n| progress.advance(n);
        let score = |weights: &[[f64; LANES]], values: &mut [f64]| {
            let drawn = ratings.drawn(weights);
            for (m, prepared) in prepared.iter().enumerate() {
                let of_lanes = match prepared {
                    Some(prepared) => prepared.drawn(&ratings, &drawn, weights),
                    None => [[None; EACH]; LANES],
                };
                for (row, found) in values.chunks_exact_mut(n_values).zip(of_lanes) {
                    let place = row.iter_mut().skip(m * EACH);
                    place.zip(found).for_each(|(place, value)| *place = value.unwrap_or(f64::NAN));
                }
            }
        };
        resample::draws(judgements.n_images(), resampling, n_values, heard, score)
    });
    let agreement = |(m, prepared): (usize, &Option<OrderedPairs<'_>>)| {
        let plain = prepared.as_ref().map_or([None; EACH], |prepared| prepared.plain(&ratings));
        let coefficient = |c: usize| Coefficient {
            value: plain[c],
            interval: resampling.zip(resampled.as_ref()).map(|(resampling, resampled)| {
                // A coefficient is undefined in a resample in which nothing varies.
                let column = resampled.iter().skip(m * EACH + c).step_by(n_values);
                let column = column.copied().filter(|value| !value.is_nan());
                Interval::percentile(column.collect(), resampling.level)
            }),
        };
        Agreement {
            pearson: coefficient(0),
            spearman: coefficient(1),
            tau_b: coefficient(2),
            tau_c: coefficient(3),
            accuracy: coefficient(4),
            n_pairs: prepared.iter().flat_map(|p| &p.pairs).map(|(_, n)| *n as usize).sum(),
        }
    };
    prepared.par_iter().enumerate().map(agreement).collect()
}

/// A measure, prepared for many correlations.
struct OrderedPairs<'a> {
    scores: Scores<'a>,
    /// For each image, the number of pairs that the measure orders as people do, and of pairs that people order.
    pairs: Vec<(f64, f64)>,
}

impl<'a> OrderedPairs<'a> {
    /// `None` if a value is not finite.
    fn new(judgements: &Judgements, values: &'a [f64], ratings: &Ratings<'_>, higher: bool) -> Option<Self> {
        values.iter().all(|value| value.is_finite()).then(|| Self {
            scores: Scores::new(values, ratings),
            pairs: preferences(judgements, values, higher),
        })
    }

    fn plain(&self, ratings: &Ratings<'_>) -> [Option<f64>; EACH] {
        let once = self.pairs.iter().map(|(won, n)| (*won, *n, 1.0));
        row(&self.scores.plain(ratings), accuracy(once))
    }

    fn drawn(
        &self,
        ratings: &Ratings<'_>,
        drawn: &DrawnRatings<'_>,
        weights: &[[f64; LANES]],
    ) -> [[Option<f64>; EACH]; LANES] {
        let found = self.scores.drawn(ratings, drawn);
        std::array::from_fn(|lane| {
            let images = self.pairs.iter().zip(weights);
            row(&found[lane], accuracy(images.map(|((won, n), weights)| (*won, *n, weights[lane]))))
        })
    }
}

fn row(found: &Coefficients, accuracy: Option<f64>) -> [Option<f64>; EACH] {
    let (tau_b, tau_c) = (found.kendall.map(|k| k.tau_b), found.kendall.map(|k| k.tau_c));
    [found.pearson, found.spearman, tau_b, tau_c, accuracy]
}

fn accuracy(images: impl Iterator<Item = (f64, f64, f64)>) -> Option<f64> {
    let (won, n) = images.fold((0.0, 0.0), |(won, n), (w, m, count)| (won + count * w, n + count * m));
    (n > 0.0).then(|| won / n)
}

/// For each image, the number of pairs of items that the measure orders as people do, and of pairs that people order.
fn preferences(judgements: &Judgements, values: &[f64], higher: bool) -> Vec<(f64, f64)> {
    let scores = by_item(judgements, values);
    let rated: Vec<(usize, f64, f64)> = judgements
        .items
        .iter()
        .zip(scores)
        .map(|(item, score)| (item.cluster, item.mean(), if higher { score } else { -score }))
        .collect();
    let of_image = rated.chunk_by(|a, b| a.0 == b.0);
    of_image.map(|items| ordered_alike(items.iter().map(|(_, mean, score)| (*mean, *score)))).collect()
}

/// The number of pairs that two lists order alike, with equal scores counting half, and of pairs that the first orders.
pub(super) fn ordered_alike(items: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let (mut won, mut n) = (0.0, 0.0);
    for (k, (mean, score)) in items.clone().enumerate() {
        for (other_mean, other_score) in items.clone().take(k) {
            if mean == other_mean {
                continue;
            }
            n += 1.0;
            if score == other_score {
                won += 0.5;
            } else if (score > other_score) == (mean > other_mean) {
                won += 1.0;
            }
        }
    }
    (won, n)
}

/// The score of each item, which all its points share.
fn by_item(judgements: &Judgements, values: &[f64]) -> Vec<f64> {
    let mut scores = vec![f64::NAN; judgements.items.len()];
    for (point, value) in judgements.points.iter().zip(values) {
        scores[point.item] = *value;
    }
    scores
}

/// Williams' test of each pair of measures, over items and their mean ratings.
pub(super) fn differences(judgements: &Judgements, values: &[Vec<f64>], higher: &[bool]) -> Vec<Difference> {
    let means: Vec<f64> = judgements.items.iter().map(super::points::RatedPoint::mean).collect();
    let people = CentredValues::new(&means);
    let turned: Vec<CentredValues> = values
        .par_iter()
        .zip(higher)
        .map(|(values, higher)| {
            let scores = by_item(judgements, values).into_iter();
            let turned: Vec<f64> = scores.map(|score| if *higher { score } else { -score }).collect();
            CentredValues::new(&turned)
        })
        .collect();
    let with_people: Vec<Option<f64>> = turned.par_iter().map(|scores| scores.pearson(&people)).collect();
    let pairs: Vec<(usize, usize)> =
        (0..values.len()).flat_map(|a| (a + 1..values.len()).map(move |b| (a, b))).collect();
    let test = |(a, b): (usize, usize)| {
        let (r_a, r_b) = (with_people[a]?, with_people[b]?);
        let r_ab = turned[a].pearson(&turned[b])?;
        let test = correlation::williams(r_a, r_b, r_ab, means.len())?;
        Some(Difference { a, b, r_a, r_b, r_ab, test })
    };
    pairs.into_par_iter().filter_map(test).collect()
}
