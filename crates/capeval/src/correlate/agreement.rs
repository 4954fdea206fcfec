//! Coefficients of agreement between measures and ratings, with their intervals.

use capeval_report::{Agreement, Coefficient, Difference};
use capeval_stats::correlation::{self, Levels, Walk};
use capeval_stats::{Interval, Resampling, resample};
use rayon::prelude::*;

use super::points::Judgements;

/// How each measure agrees with the ratings; `higher` says whether more of it is better.
pub(super) fn of(
    judgements: &Judgements,
    values: &[Vec<f64>],
    higher: &[bool],
    resampling: Option<Resampling>,
) -> Vec<Agreement> {
    let ratings: Vec<f64> = judgements.points.iter().map(|point| point.rating).collect();
    let levels = Levels::new(&ratings);
    let prepared: Vec<Prepared<'_>> = values
        .iter()
        .zip(higher)
        .map(|(values, higher)| Prepared::new(judgements, values, (&ratings, &levels), *higher))
        .collect();
    let clusters: Vec<usize> =
        judgements.points.iter().map(|point| judgements.items[point.item].cluster).collect();
    let resampled: Option<Vec<Vec<f64>>> = resampling.map(|resampling| {
        (0..resampling.resamples)
            .into_par_iter()
            .map_init(
                || (vec![0_u32; judgements.n_images()], vec![0_u32; clusters.len()]),
                |(counts, weights), index| {
                    resample::draw(resampling.seed, index as u64, counts);
                    weights
                        .iter_mut()
                        .zip(&clusters)
                        .for_each(|(weight, cluster)| *weight = counts[*cluster]);
                    let values = prepared.iter().flat_map(|p| p.weighted(weights, counts));
                    values.map(|value| value.unwrap_or(f64::NAN)).collect()
                },
            )
            .collect()
    });
    prepared
        .iter()
        .enumerate()
        .map(|(m, prepared)| {
            let plain = prepared.plain();
            let coefficient = |c: usize| Coefficient {
                value: plain[c],
                interval: resampling.zip(resampled.as_ref()).map(|(resampling, resampled)| {
                    // A resample in which nothing varies says nothing.
                    let column = resampled.iter().map(|row| row[m * 5 + c]).filter(|value| !value.is_nan());
                    Interval::percentile(column.collect(), resampling.level)
                }),
            };
            Agreement {
                pearson: coefficient(0),
                spearman: coefficient(1),
                tau_b: coefficient(2),
                tau_c: coefficient(3),
                accuracy: coefficient(4),
                n_pairs: prepared.pairs.iter().map(|(_, n)| *n as usize).sum(),
            }
        })
        .collect()
}

/// A measure, ready to be correlated again and again.
struct Prepared<'a> {
    values: &'a [f64],
    ratings: &'a [f64],
    /// None where a value is no finite number.
    levels: Option<(Levels, Walk)>,
    rating_levels: &'a Levels,
    /// For each image, how many pairs the measure orders as people do, and how many people tell apart.
    pairs: Vec<(f64, f64)>,
}

impl<'a> Prepared<'a> {
    fn new(
        judgements: &Judgements,
        values: &'a [f64],
        (ratings, rating_levels): (&'a [f64], &'a Levels),
        higher: bool,
    ) -> Self {
        let is_finite = values.iter().all(|value| value.is_finite());
        let levels = is_finite.then(|| {
            let levels = Levels::new(values);
            let walk = Walk::new(&levels);
            (levels, walk)
        });
        let pairs = if is_finite { preferences(judgements, values, higher) } else { Vec::new() };
        Self { values, ratings, levels, rating_levels, pairs }
    }

    fn plain(&self) -> [Option<f64>; 5] {
        let Some((levels, walk)) = &self.levels else { return [None; 5] };
        let kendall = correlation::kendall(levels, self.rating_levels, walk, None);
        [
            correlation::pearson(self.values, self.ratings),
            correlation::spearman(levels, self.rating_levels, None),
            kendall.map(|k| k.tau_b),
            kendall.map(|k| k.tau_c),
            accuracy(self.pairs.iter().map(|(won, n)| (*won, *n, 1.0))),
        ]
    }

    fn weighted(&self, weights: &[u32], counts: &[u32]) -> [Option<f64>; 5] {
        let Some((levels, walk)) = &self.levels else { return [None; 5] };
        let kendall = correlation::kendall(levels, self.rating_levels, walk, Some(weights));
        [
            correlation::pearson_weighted(self.values, self.ratings, weights),
            correlation::spearman(levels, self.rating_levels, Some(weights)),
            kendall.map(|k| k.tau_b),
            kendall.map(|k| k.tau_c),
            accuracy(self.pairs.iter().zip(counts).map(|((won, n), count)| (*won, *n, f64::from(*count)))),
        ]
    }
}

fn accuracy(images: impl Iterator<Item = (f64, f64, f64)>) -> Option<f64> {
    let (won, n) = images.fold((0.0, 0.0), |(won, n), (w, m, count)| (won + count * w, n + count * m));
    (n > 0.0).then(|| won / n)
}

/// For each image, how many pairs of its items the measure orders as people do, and how many people tell apart.
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

/// How many pairs two lists order alike, equal scores counting half, and how many the first tells apart.
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
    let means: Vec<f64> = judgements.items.iter().map(super::points::Rated::mean).collect();
    let turned: Vec<Vec<f64>> = values
        .iter()
        .zip(higher)
        .map(|(values, higher)| {
            let scores = by_item(judgements, values).into_iter();
            scores.map(|score| if *higher { score } else { -score }).collect()
        })
        .collect();
    let with_people: Vec<Option<f64>> =
        turned.par_iter().map(|scores| correlation::pearson(scores, &means)).collect();
    let pairs: Vec<(usize, usize)> =
        (0..values.len()).flat_map(|a| (a + 1..values.len()).map(move |b| (a, b))).collect();
    let test = |(a, b): (usize, usize)| {
        let (r_a, r_b) = (with_people[a]?, with_people[b]?);
        let r_ab = correlation::pearson(&turned[a], &turned[b])?;
        let test = correlation::williams(r_a, r_b, r_ab, means.len())?;
        Some(Difference { a, b, r_a, r_b, r_ab, test })
    };
    pairs.into_par_iter().filter_map(test).collect()
}
