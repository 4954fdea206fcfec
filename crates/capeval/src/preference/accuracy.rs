//! Accuracies by category, and their intervals.

use std::collections::BTreeMap;

use capeval_report::{Accuracy, Category, ChosenPair, Coefficient, Protocol, Voters};
use capeval_stats::{ExactSum, Interval, Resampling, resample};
use rayon::prelude::*;

use super::credit;
use super::pools::Judged;

/// What each measure gets for each pair.
pub(super) struct Credits<'j> {
    judged: &'j [Judged],
    /// The names of the categories, in order.
    names: Vec<&'j str>,
    /// Pair after pair, its category and its image.
    places: Vec<(usize, usize)>,
    n_images: usize,
    /// Draw after draw, measure after measure, pair after pair.
    values: &'j [Vec<Vec<[f64; 2]>>],
    /// The same, as what it counts.
    credits: Vec<Vec<Vec<Option<f64>>>>,
}

/// What was won of how much, by category.
type Sums = Vec<(f64, f64)>;

impl<'j> Credits<'j> {
    pub fn new(
        judged: &'j [Judged],
        values: &'j [Vec<Vec<[f64; 2]>>],
        higher: &[bool],
        protocol: &Protocol,
    ) -> Self {
        let mut names: BTreeMap<&str, usize> =
            judged.iter().map(|pair| (pair.category.as_str(), 0)).collect();
        names.values_mut().enumerate().for_each(|(k, place)| *place = k);
        let mut n_images = 0;
        let mut places: Vec<(usize, usize)> = Vec::with_capacity(judged.len());
        for (k, pair) in judged.iter().enumerate() {
            // Pairs are sorted by image.
            if k == 0 || judged[k - 1].image != pair.image {
                n_images += 1;
            }
            places.push((names.get(pair.category.as_str()).copied().unwrap_or(0), n_images - 1));
        }
        let of_measure = |(values, higher): (&Vec<[f64; 2]>, &bool)| {
            let pairs = judged.iter().zip(values);
            pairs.map(|(pair, scores)| credit(pair.votes, *scores, *higher, protocol)).collect()
        };
        let credits = values.iter().map(|draw| draw.iter().zip(higher).map(of_measure).collect()).collect();
        Self { judged, names: names.into_keys().collect(), places, n_images, values, credits }
    }

    /// How many images there are.
    pub fn n_images(&self) -> usize {
        self.n_images
    }

    /// How many numbers a resample comes to: per measure one for each category, their mean and all pairs.
    pub fn n_values(&self) -> usize {
        self.n_measures() * (self.names.len() + 2)
    }

    fn n_measures(&self) -> usize {
        self.credits.first().map_or(0, Vec::len)
    }

    /// Whether any pair counts.
    pub fn any(&self) -> bool {
        self.credits.iter().flatten().flatten().any(Option::is_some)
    }

    pub fn voters(&self, source: &str) -> Voters {
        let total = |pair: &Judged| pair.votes[0] + pair.votes[1];
        let share = |pair: &Judged| pair.votes[0].max(pair.votes[1]) / total(pair);
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

    /// What a measure wins of how much in each category.
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

    pub fn accuracies(&self, intervals: Option<Resampling>) -> Vec<Accuracy> {
        let counts: Vec<bool> = self.categories().iter().map(|category| category.n_counted > 0).collect();
        let resampled = intervals.map(|resampling| self.resampled(resampling, &counts));
        let n = self.names.len();
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
                        // A resample without a pair of the category says nothing.
                        let column = resampled.iter().map(|row| row[m * (n + 2) + c]);
                        Interval::percentile(
                            column.filter(|value| !value.is_nan()).collect(),
                            resampling.level,
                        )
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

    /// For each resample of the images, the rates of each measure.
    fn resampled(&self, resampling: Resampling, there: &[bool]) -> Vec<Vec<f64>> {
        let n = self.names.len();
        // Measure after measure and category after category, what each image wins of how much.
        let mut by_image = vec![(0.0, 0.0); self.n_measures() * n * self.n_images];
        for draw in &self.credits {
            for (m, credits) in draw.iter().enumerate() {
                for ((category, image), credit) in self.places.iter().zip(credits) {
                    if let Some(credit) = credit {
                        let (won, counted) = &mut by_image[(m * n + category) * self.n_images + image];
                        *won += credit;
                        *counted += 1.0;
                    }
                }
            }
        }
        (0..resampling.resamples)
            .into_par_iter()
            .map_init(
                || vec![0_u32; self.n_images],
                |counts, index| {
                    resample::draw(resampling.seed, index as u64, counts);
                    let sum = |images: &[(f64, f64)]| {
                        images.iter().zip(&*counts).fold((0.0, 0.0), |(won, n), ((w, m), count)| {
                            (won + f64::from(*count) * w, n + f64::from(*count) * m)
                        })
                    };
                    let sums: Sums = by_image.chunks_exact(self.n_images).map(sum).collect();
                    let values = sums.chunks_exact(n).flat_map(|sums| rates(sums, there));
                    values.map(|value| value.unwrap_or(f64::NAN)).collect()
                },
            )
            .collect()
    }

    /// The pairs with the means of their scores.
    pub fn pairs(&self) -> Vec<ChosenPair> {
        let n_draws = self.values.len() as f64;
        let pair = |(k, pair): (usize, &Judged)| {
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

/// The rate of each category, then their mean, then that of all. There is no mean where one of the categories that
/// count lacks its rate.
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
