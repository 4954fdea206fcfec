//! Correlation coefficients of points resampled in clusters, such as ratings by image, several resamples at a time.
//!
//! A resample changes only how often each cluster counts. So points are sorted once, points that no resample can
//! distinguish are merged, and [`LANES`] resamples share each pass. The sums behind Spearman's and Kendall's
//! coefficients are integers, exact in any order; Pearson's sums keep the order of the points. Every digit therefore
//! equals that of the functions in [`crate::correlation`] with one weight per point.

pub mod kendall;
mod lanes;
mod level_counts;

use crate::correlation::{self, Kendall, Levels, Walk};
use lanes::Lanes;
use level_counts::{Few, LevelCounts, Many};

/// The number of resamples that share a pass.
pub const LANES: usize = 4;

/// Up to this many points, the sums of Spearman's coefficient are integers that an `f64` holds exactly: four times the
/// variance of n ranks is at most n³ / 3, which stays below 2⁵³.
const EXACT: f64 = 300_000.0;

/// The ratings that lists of scores are compared with.
#[derive(Clone, Debug)]
pub struct Ratings<'a> {
    values: &'a [f64],
    clusters: &'a [u32],
    levels: Levels,
    sorted: SortedPoints,
}

/// The ratings under a group of resamples, shared by all lists of scores.
#[derive(Clone, Debug)]
pub struct DrawnRatings<'w> {
    weights: &'w [[f64; LANES]],
    n: Lanes,
    /// True if integer sums stay exact.
    is_exact: bool,
    mean: Lanes,
    variance: Lanes,
    margin: Margin,
    /// For each level, the number of points below it minus the number above it.
    places: Vec<Lanes>,
}

/// One list of scores, ready to be resampled.
#[derive(Clone, Debug)]
pub struct Scores<'a> {
    values: &'a [f64],
    levels: Levels,
    walk: Walk,
    sorted: SortedPoints,
}

/// Coefficients of scores and ratings; `None` where either is constant or not finite.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coefficients {
    /// Pearson's r.
    pub pearson: Option<f64>,
    /// Spearman's ρ.
    pub spearman: Option<f64>,
    /// Kendall's τ-b and τ-c.
    pub kendall: Option<Kendall>,
}

/// Points by level; points of one cluster that share both values are merged.
#[derive(Clone, Debug)]
struct SortedPoints {
    entries: Vec<Entry>,
    /// The end of each level among the points.
    ends: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    cluster: u32,
    /// The level of the rating.
    rating: u32,
    /// The number of points merged into this one.
    times: f64,
}

impl SortedPoints {
    fn new(of: &Levels, ratings: &Levels, clusters: &[u32]) -> Self {
        let places = of.of.iter().zip(&ratings.of).zip(clusters);
        let mut keys: Vec<[u32; 3]> = places.map(|((level, rating), c)| [*level, *c, *rating]).collect();
        keys.sort_unstable();
        let (mut entries, mut ends) = (Vec::new(), Vec::new());
        for level in keys.chunk_by(|a, b| a[0] == b[0]) {
            entries.extend(level.chunk_by(|a, b| a == b).map(|same| Entry {
                cluster: same[0][1],
                rating: same[0][2],
                times: same.len() as f64,
            }));
            ends.push(entries.len() as u32);
        }
        Self { entries, ends }
    }

    fn groups(&self) -> impl Iterator<Item = &[Entry]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| &self.entries[*start as usize..*end as usize])
    }
}

/// Sums over one list alone.
#[derive(Clone, Copy, Debug, Default)]
struct Margin {
    /// Four times the sum of squared deviations of the ranks from their mean.
    ranks: Lanes,
    /// The sum of the squared number of points of each level.
    squares: Lanes,
    /// The number of levels with at least one point.
    classes: Lanes,
}

impl Margin {
    /// Adds a level of `count` points; its place is the number of points below it minus the number above it.
    #[inline(always)]
    fn add(&mut self, count: Lanes, place: Lanes) {
        self.ranks = self.ranks + count * place * place;
        self.squares = self.squares + count * count;
        self.classes = self.classes + count.is_above_zero();
    }
}

impl<'a> Ratings<'a> {
    /// The rating of each point, which must not be NaN, and the cluster that it is drawn with.
    pub fn new(values: &'a [f64], clusters: &'a [u32]) -> Self {
        let levels = Levels::new(values);
        let sorted = SortedPoints::new(&levels, &levels, clusters);
        Self { values, clusters, levels, sorted }
    }

    /// The ratings under `weights`: how often each resample draws each cluster.
    ///
    /// # Panics
    /// When a cluster has no weight.
    pub fn drawn<'w>(&self, weights: &'w [[f64; LANES]]) -> DrawnRatings<'w> {
        let weight = |cluster: u32| Lanes(weights[cluster as usize]);
        let count = |group: &[Entry]| {
            let counts = group.iter().map(|entry| weight(entry.cluster) * Lanes::all(entry.times));
            counts.fold(Lanes::default(), |sum, count| sum + count)
        };
        let counts: Vec<Lanes> = self.sorted.groups().map(count).collect();
        let n = counts.iter().fold(Lanes::default(), |sum, count| sum + *count);
        let mut places = Vec::with_capacity(counts.len());
        let (mut margin, mut below) = (Margin::default(), Lanes::default());
        for count in counts {
            let place = below + below + count - n;
            margin.add(count, place);
            places.push(place);
            below = below + count;
        }
        let mut sum = Lanes::default();
        for (value, cluster) in self.values.iter().zip(self.clusters) {
            sum = sum + weight(*cluster) * Lanes::all(*value);
        }
        let mean = sum / n;
        let mut variance = Lanes::default();
        for (value, cluster) in self.values.iter().zip(self.clusters) {
            let off = Lanes::all(*value) - mean;
            variance = variance + weight(*cluster) * off * off;
        }
        let is_exact = n.0.iter().all(|n| *n <= EXACT);
        DrawnRatings { weights, n, is_exact, mean, variance, margin, places }
    }
}

impl<'a> Scores<'a> {
    /// The scores of the points that `ratings` rate; none may be NaN.
    pub fn new(values: &'a [f64], ratings: &Ratings<'_>) -> Self {
        let levels = Levels::new(values);
        let walk = Walk::new(&levels);
        let sorted = SortedPoints::new(&levels, &ratings.levels, ratings.clusters);
        Self { values, levels, walk, sorted }
    }

    /// The coefficients of all points, each counted once.
    pub fn plain(&self, ratings: &Ratings<'_>) -> Coefficients {
        Coefficients {
            pearson: correlation::pearson(self.values, ratings.values),
            spearman: correlation::spearman(&self.levels, &ratings.levels, None),
            kendall: correlation::kendall(&self.levels, &ratings.levels, &self.walk, None),
        }
    }

    /// The coefficients of each resample, equal to the last bit to those computed with a weight for each point.
    ///
    /// # Panics
    /// When `ratings` rate other points, or `drawn` was not made from `ratings`.
    pub fn drawn(&self, ratings: &Ratings<'_>, drawn: &DrawnRatings<'_>) -> [Coefficients; LANES] {
        if !drawn.is_exact {
            return std::array::from_fn(|lane| self.weighted(ratings, drawn, lane));
        }
        let n_levels = ratings.levels.count;
        let (difference, covariance, margin) = if n_levels <= Few::MAX {
            self.walk_along(drawn, Few::new(n_levels))
        } else {
            self.walk_along(drawn, Many::new(n_levels))
        };
        let (mean, [xy, xx]) = self.moments(ratings, drawn);
        std::array::from_fn(|k| {
            let n = drawn.n.0[k];
            // A place is twice the deviation of a rank from the mean rank.
            let ranks = [covariance, margin.ranks, drawn.margin.ranks].map(|sum| sum.0[k] * 0.25);
            Coefficients {
                pearson: correlation::pearson_of_sums(
                    n,
                    (mean.0[k], drawn.mean.0[k]),
                    [xy.0[k], xx.0[k], drawn.variance.0[k]],
                ),
                spearman: correlation::spearman_of_sums(ranks),
                kendall: kendall_of(difference.0[k], (&margin, &drawn.margin), n, k),
            }
        })
    }

    /// Concordant minus discordant pairs, the sum of products of places, and the sums over the scores alone.
    fn walk_along(&self, drawn: &DrawnRatings<'_>, mut seen: impl LevelCounts) -> (Lanes, Lanes, Margin) {
        let (mut difference, mut covariance) = (Lanes::default(), Lanes::default());
        let (mut margin, mut below) = (Margin::default(), Lanes::default());
        for group in self.sorted.groups() {
            let (mut count, mut places) = (Lanes::default(), Lanes::default());
            for entry in group {
                let weight = Lanes(drawn.weights[entry.cluster as usize]) * Lanes::all(entry.times);
                count = count + weight;
                places = places + weight * drawn.places[entry.rating as usize];
                difference = difference + weight * seen.below_less_above(entry.rating);
            }
            for entry in group {
                let weight = Lanes(drawn.weights[entry.cluster as usize]) * Lanes::all(entry.times);
                seen.add(entry.rating, weight);
            }
            let place = below + below + count - drawn.n;
            covariance = covariance + place * places;
            margin.add(count, place);
            below = below + count;
        }
        (difference, covariance, margin)
    }

    /// The mean of the scores, and the sums of products of their deviations with those of the ratings and with
    /// themselves, added point by point.
    fn moments(&self, ratings: &Ratings<'_>, drawn: &DrawnRatings<'_>) -> (Lanes, [Lanes; 2]) {
        let weight = |cluster: u32| Lanes(drawn.weights[cluster as usize]);
        let mut sum = Lanes::default();
        for (value, cluster) in self.values.iter().zip(ratings.clusters) {
            sum = sum + weight(*cluster) * Lanes::all(*value);
        }
        let mean = sum / drawn.n;
        let (mut xy, mut xx) = (Lanes::default(), Lanes::default());
        for ((x, y), cluster) in self.values.iter().zip(ratings.values).zip(ratings.clusters) {
            let (dx, dy) = (Lanes::all(*x) - mean, Lanes::all(*y) - drawn.mean);
            let weighted = weight(*cluster) * dx;
            xy = xy + weighted * dy;
            xx = xx + weighted * dx;
        }
        (mean, [xy, xx])
    }

    /// One resample with a weight for each point.
    fn weighted(&self, ratings: &Ratings<'_>, drawn: &DrawnRatings<'_>, lane: usize) -> Coefficients {
        let weight = |cluster: &u32| drawn.weights[*cluster as usize][lane] as u32;
        let weights: Vec<u32> = ratings.clusters.iter().map(weight).collect();
        Coefficients {
            pearson: correlation::pearson_weighted(self.values, ratings.values, &weights),
            spearman: correlation::spearman(&self.levels, &ratings.levels, Some(&weights)),
            kendall: correlation::kendall(&self.levels, &ratings.levels, &self.walk, Some(&weights)),
        }
    }
}

/// Kendall's coefficients of one lane, from concordant minus discordant pairs and both margins.
fn kendall_of(difference: f64, (x, y): (&Margin, &Margin), n: f64, lane: usize) -> Option<Kendall> {
    let untied = |margin: &Margin| (n * n - margin.squares.0[lane]) / 2.0;
    let classes = x.classes.0[lane].min(y.classes.0[lane]);
    Kendall::of_counts(difference, (untied(x), untied(y)), n, classes)
}

#[cfg(test)]
mod tests;
