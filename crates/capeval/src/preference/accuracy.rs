//! Accuracies by category, and their intervals.

use std::collections::{BTreeSet, HashMap};

use capeval_corpus::{Ids, SegmentId};
use capeval_evaluate::{Progress, Stage};
use capeval_report::{Accuracy, Category, ChosenPair, Coefficient, Protocol, Voters};
use capeval_stats::{ExactSum, Interval, Matrix, Resampling, resample};

use super::credit;
use super::pools::JudgedPair;
use crate::Error;
use crate::restrict::normal;

/// The credit of each measure for each pair.
pub(super) struct Credits<'j> {
    judged: &'j [JudgedPair],
    /// The names of the categories, in order.
    names: Vec<&'j str>,
    /// The category and the image of each pair.
    places: Vec<(usize, usize)>,
    n_images: usize,
    /// The scores: draw after draw, measure after measure, pair after pair.
    values: &'j [Vec<Vec<[f64; 2]>>],
    /// The credits, in the same order as `values`.
    credits: Vec<Vec<Vec<Option<f64>>>>,
}

/// The number of values per resample: for each measure, one for each category, their mean, and all pairs.
fn n_values(n_measures: usize, n_categories: usize) -> usize {
    n_measures * (n_categories + 2)
}

/// Checks that the resamples of `n_measures` measures fit in memory.
pub(super) fn check(resampling: &Resampling, judged: &[JudgedPair], n_measures: usize) -> Result<(), Error> {
    let categories: BTreeSet<&str> = judged.iter().map(|pair| pair.category.as_str()).collect();
    Ok(resampling.check_values(n_values(n_measures, categories.len()))?)
}

/// The credit and the maximum credit, by category.
type Sums = Vec<(f64, f64)>;

impl<'j> Credits<'j> {
    /// `names` are all categories, in order.
    pub fn new(
        (judged, names): (&'j [JudgedPair], &[&'j str]),
        values: &'j [Vec<Vec<[f64; 2]>>],
        higher: &[bool],
        protocol: &Protocol,
        ids: Ids,
    ) -> Self {
        let mut images: HashMap<SegmentId, usize> = HashMap::new();
        let places = judged.iter().map(|pair| {
            let next = images.len();
            let image = *images.entry(normal(&pair.image, ids)).or_insert(next);
            (names.binary_search(&pair.category.as_str()).unwrap_or(0), image)
        });
        let places = places.collect();
        let n_images = images.len();
        let of_measure = |(values, higher): (&Vec<[f64; 2]>, &bool)| {
            let pairs = judged.iter().zip(values);
            pairs.map(|(pair, scores)| credit(pair.votes, *scores, *higher, protocol)).collect()
        };
        let credits = values.iter().map(|draw| draw.iter().zip(higher).map(of_measure).collect()).collect();
        Self { judged, names: names.to_vec(), places, n_images, values, credits }
    }

    /// The number of images.
    pub fn n_images(&self) -> usize {
        self.n_images
    }

    /// The categories whose pairs describe so few images that resamples often contain none of them, with their numbers
    /// of images; empty if all pairs are of one category.
    pub fn rare(&self, few: usize) -> Vec<(&'j str, usize)> {
        let images_of = |c: usize| {
            let images: BTreeSet<usize> =
                self.places.iter().filter(|place| place.0 == c).map(|place| place.1).collect();
            images.len()
        };
        let categories = self.names.iter().enumerate().map(|(c, name)| (*name, images_of(c)));
        categories.filter(|(_, n)| *n < few && self.names.len() > 1).collect()
    }

    fn n_measures(&self) -> usize {
        self.credits.first().map_or(0, Vec::len)
    }

    /// Returns true if any pair counts.
    pub fn any(&self) -> bool {
        self.credits.iter().flatten().flatten().any(Option::is_some)
    }

    pub fn voters(&self, source: &str) -> Voters {
        let total = |pair: &JudgedPair| pair.votes[0] + pair.votes[1];
        let share = |pair: &JudgedPair| pair.votes[0].max(pair.votes[1]) / total(pair);
        Voters {
            source: source.to_owned(),
            n_images: self.n_images,
            n_pairs: self.judged.len(),
            n_tied: self.judged.iter().filter(|pair| pair.votes[0] == pair.votes[1]).count(),
            n_votes: self.judged.iter().map(total).collect::<ExactSum>().value(),
            majority: self.judged.iter().map(share).collect::<ExactSum>().value() / self.judged.len() as f64,
        }
    }

    pub fn categories(&self) -> Vec<Category> {
        let counts = |pair: usize| {
            let first = self.credits.first().and_then(|draw| draw.first());
            first.and_then(|credits| credits.get(pair)).is_some_and(Option::is_some)
        };
        let of = |c: usize| (0..self.judged.len()).filter(move |pair| self.places[*pair].0 == c);
        self.names
            .iter()
            .enumerate()
            .map(|(c, name)| Category {
                name: (*name).to_owned(),
                n_pairs: of(c).count(),
                n_counted: of(c).filter(|pair| counts(*pair)).count(),
            })
            .collect()
    }

    /// The credit and the maximum credit of a measure in each category.
    fn sums(&self, of: &[Option<f64>]) -> Sums {
        let mut sums = vec![(0.0, 0.0); self.names.len()];
        for ((category, _), credit) in self.places.iter().zip(of) {
            if let Some(credit) = credit {
                sums[*category].0 += credit;
                sums[*category].1 += 1.0;
            }
        }
        sums
    }

    /// The accuracy of each measure. `progress` is notified of each resample.
    pub fn accuracies(&self, intervals: Option<Resampling>, progress: &dyn Progress) -> Vec<Accuracy> {
        let counts: Vec<bool> = self.categories().iter().map(|category| category.n_counted > 0).collect();
        let resampled = intervals.map(|resampling| self.resampled(resampling, &counts, progress));
        let n = self.names.len();
        let each = n_values(self.n_measures(), n);
        (0..self.n_measures())
            .map(|m| {
                let draws: Vec<Sums> = self.credits.iter().map(|draw| self.sums(&draw[m])).collect();
                let mut sums = vec![(0.0, 0.0); n];
                for draw in &draws {
                    for ((won, counted), (w, c)) in sums.iter_mut().zip(draw) {
                        *won += w;
                        *counted += c;
                    }
                }
                let values = rates(&sums, &counts);
                let coefficient = |c: usize| Coefficient {
                    value: values[c],
                    interval: intervals.zip(resampled.as_ref()).map(|(resampling, resampled)| {
                        // A resample without pairs of the category has no rate.
                        let column = resampled.iter().skip(m * (n + 2) + c).step_by(each).copied();
                        let column = column.filter(|value| !value.is_nan());
                        Interval::percentile(column.collect(), resampling.level)
                    }),
                };
                Accuracy {
                    by_category: (0..n).map(coefficient).collect(),
                    mean: coefficient(n),
                    all: coefficient(n + 1),
                    by_draw: draws.iter().map(|draw| rates(draw, &counts)[n]).collect(),
                    tied: self.tied(m),
                }
            })
            .collect()
    }

    /// The share of counted pairs and draws in which a measure prefers neither.
    fn tied(&self, m: usize) -> f64 {
        let (mut tied, mut n) = (0_u64, 0_u64);
        for (credits, values) in self.credits.iter().zip(self.values) {
            for (_, [a, b]) in credits[m].iter().zip(&values[m]).filter(|(credit, _)| credit.is_some()) {
                tied += u64::from(!(a > b || b > a));
                n += 1;
            }
        }
        if n == 0 { 0.0 } else { tied as f64 / n as f64 }
    }

    /// For each resample of the images, the rates of each measure. `progress` is notified of each resample.
    fn resampled(&self, resampling: Resampling, there: &[bool], progress: &dyn Progress) -> Vec<f64> {
        let n = self.names.len();
        // Measure after measure and category after category: the credit of each image, then the maximum credit.
        let mut by_image = vec![vec![0.0; self.n_images]; self.n_measures() * n * 2];
        for draw in &self.credits {
            for (m, credits) in draw.iter().enumerate() {
                for ((category, image), credit) in self.places.iter().zip(credits) {
                    if let Some(credit) = credit {
                        let first = (m * n + category) * 2;
                        by_image[first][*image] += credit;
                        by_image[first + 1][*image] += 1.0;
                    }
                }
            }
        }
        progress.begin(Stage::Resampling, resampling.resamples);
        let heard = |n| progress.advance(n);
        let matrix = Matrix::from_columns(&by_image);
        resample::bootstrap(&matrix, resampling, n_values(self.n_measures(), n), heard, |sums, values| {
            for (sums, values) in sums.chunks_exact(n * 2).zip(values.chunks_exact_mut(n + 2)) {
                let sums: Sums = sums.chunks_exact(2).map(|sums| (sums[0], sums[1])).collect();
                let found = values.iter_mut().zip(rates(&sums, there));
                found.for_each(|(place, value)| *place = value.unwrap_or(f64::NAN));
            }
        })
    }

    /// The pairs with the means of their scores.
    pub fn pairs(&self) -> Vec<ChosenPair> {
        let n_draws = self.values.len() as f64;
        let pair = |(k, pair): (usize, &JudgedPair)| {
            let mean = |m: usize, side: usize| {
                self.values.iter().map(|draw| draw[m][k][side]).collect::<ExactSum>().value() / n_draws
            };
            let right = |m: usize| {
                let of_draws: Option<Vec<f64>> = self.credits.iter().map(|draw| draw[m][k]).collect();
                of_draws.map(|credits| credits.iter().sum::<f64>() / n_draws)
            };
            ChosenPair {
                image: pair.image.clone(),
                category: self.places[k].0,
                captions: pair.captions.clone(),
                votes: pair.votes,
                scores: (0..self.n_measures()).map(|m| [mean(m, 0), mean(m, 1)]).collect(),
                right: (0..self.n_measures()).map(right).collect(),
            }
        };
        self.judged.iter().enumerate().map(pair).collect()
    }
}

/// The rate of each category, then their mean, then that of all pairs. There is no mean if a category that counts has
/// no rate.
fn rates(sums: &[(f64, f64)], counts: &[bool]) -> Vec<Option<f64>> {
    let rate = |(won, n): (f64, f64)| (n > 0.0).then(|| won / n);
    let mut rates: Vec<Option<f64>> = sums.iter().copied().map(rate).collect();
    let there = rates.iter().zip(counts).filter(|(_, counts)| **counts).map(|(rate, _)| *rate);
    let there: Option<Vec<f64>> = there.collect();
    let mean = there
        .and_then(|there| rate((there.iter().copied().collect::<ExactSum>().value(), there.len() as f64)));
    let all = sums.iter().fold((0.0, 0.0), |(won, n), (w, m)| (won + w, n + m));
    rates.extend([mean, rate(all)]);
    rates
}
