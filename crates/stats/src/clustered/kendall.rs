//! Kendall's coefficients alone, of more resamples at a time.
//!
//! All sums are whole numbers, so that they fit into narrower lanes than those of the other coefficients, and every
//! digit equals that of [`crate::correlation::kendall`] with one weight per point. Concordant minus discordant pairs
//! are twice the concordant ones and the pairs that only the scores tie, minus all pairs that the ratings do not tie.
//! So each point asks only how many points of lower ratings stand before it, and a point with a score of its own asks
//! once.

use std::array::from_fn;

use super::SortedPoints;
use crate::correlation::{Kendall, Levels};

/// The number of resamples that share a pass.
pub const WIDE: usize = 16;

/// A count for each resample.
type Counts = [u32; WIDE];
/// A whole number for each resample, such as one of pairs, which an `f64` holds exactly up to 2⁵³.
type Sums = [f64; WIDE];

/// The ratings that lists of scores are compared with.
#[derive(Clone, Debug)]
pub struct Ratings<'a> {
    clusters: &'a [u32],
    levels: Levels,
    sorted: SortedPoints,
    /// True if levels are counted from the highest one, because fewer points are above than below others.
    is_turned: bool,
}

/// The ratings under a group of resamples, shared by all lists of scores.
#[derive(Clone, Debug)]
pub struct DrawnRatings<'w> {
    weights: &'w [Counts],
    n: Counts,
    margin: Margin,
}

/// One list of scores, ready to be resampled.
#[derive(Clone, Debug)]
pub struct Scores {
    /// The points by score; points of one cluster that share both values are merged.
    points: Vec<Point>,
    /// The end of each score among the points.
    ends: Vec<u32>,
    /// By cluster, the points with a score of their own: their number, and the sum of their squared times.
    alone: Vec<(u32, f64)>,
    n_levels: usize,
    is_turned: bool,
}

#[derive(Clone, Copy, Debug)]
struct Point {
    cluster: u32,
    /// The level of the rating.
    level: u32,
    /// The number of points merged into this one.
    times: u32,
}

/// Sums over one list alone.
#[derive(Clone, Debug, Default)]
struct Margin {
    /// The sum of the squared number of points of each level.
    squares: Sums,
    /// The number of levels with at least one point.
    classes: Counts,
}

impl Margin {
    /// Adds a level of `count` points.
    fn add(&mut self, count: &Counts) {
        add_products(&mut self.squares, count, count);
        for (class, count) in self.classes.iter_mut().zip(count) {
            *class += u32::from(*count > 0);
        }
    }

    /// The pairs of `n` points that are not tied.
    fn untied(&self, n: f64, k: usize) -> f64 {
        (n * n - self.squares[k]) / 2.0
    }
}

impl<'a> Ratings<'a> {
    /// The rating of each point, which must not be NaN, and the cluster that it is drawn with.
    pub fn new(values: &[f64], clusters: &'a [u32]) -> Self {
        let levels = Levels::new(values);
        let sorted = SortedPoints::new(&levels, &levels, clusters);
        let below: usize = levels.of.iter().map(|level| *level as usize).sum();
        let is_turned = 2 * below < levels.of.len() * levels.count.saturating_sub(1);
        Self { clusters, levels, sorted, is_turned }
    }

    /// The ratings under `weights`: how often each resample draws each cluster.
    ///
    /// # Panics
    /// When a cluster has no weight.
    pub fn drawn<'w>(&self, weights: &'w [Counts]) -> DrawnRatings<'w> {
        let (mut n, mut margin) = ([0; WIDE], Margin::default());
        for group in self.sorted.groups() {
            let mut count = [0; WIDE];
            for entry in group {
                add(&mut count, times(&weights[entry.cluster as usize], entry.times as u32, &mut [0; WIDE]));
            }
            margin.add(&count);
            add(&mut n, &count);
        }
        DrawnRatings { weights, n, margin }
    }
}

impl Scores {
    /// The scores of the points that `ratings` rate; none may be NaN.
    pub fn new(values: &[f64], ratings: &Ratings<'_>) -> Self {
        let SortedPoints { entries, ends } =
            SortedPoints::new(&Levels::new(values), &ratings.levels, ratings.clusters);
        let n_levels = ratings.levels.count;
        let level = |rating: u32| if ratings.is_turned { n_levels as u32 - 1 - rating } else { rating };
        let points: Vec<Point> = entries
            .iter()
            .map(|entry| Point {
                cluster: entry.cluster,
                level: level(entry.rating),
                times: entry.times as u32,
            })
            .collect();
        let n_clusters = ratings.clusters.iter().max().map_or(0, |last| *last as usize + 1);
        let mut scores =
            Self { points, ends, alone: vec![(0, 0.0); n_clusters], n_levels, is_turned: ratings.is_turned };
        let alone: Vec<Point> =
            scores.groups().filter(|group| group.len() == 1).map(|group| group[0]).collect();
        for Point { cluster, times, .. } in alone {
            let (n, squares) = &mut scores.alone[cluster as usize];
            *n += 1;
            *squares += f64::from(times) * f64::from(times);
        }
        scores
    }

    /// The points of each score, in ascending order.
    fn groups(&self) -> impl Iterator<Item = &[Point]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| &self.points[*start as usize..*end as usize])
    }

    /// The coefficients of each resample; `None` where scores or ratings are constant.
    ///
    /// # Panics
    /// When `drawn` was not made from the ratings of these scores.
    pub fn drawn(&self, drawn: &DrawnRatings<'_>) -> [Option<Kendall>; WIDE] {
        let (concordant, margin) = match self.n_levels <= Few::MAX {
            true => self.walk(drawn.weights, Few::new(self.n_levels)),
            false => self.walk(drawn.weights, Many::new(self.n_levels)),
        };
        from_fn(|k| {
            let n = f64::from(drawn.n[k]);
            let [untied_x, untied_y] = [&margin, &drawn.margin].map(|margin| margin.untied(n, k));
            let difference = concordant[k] - untied_y;
            let difference = if self.is_turned { -difference } else { difference };
            let classes = margin.classes[k].min(drawn.margin.classes[k]);
            Kendall::of_counts(difference, (untied_x, untied_y), n, f64::from(classes))
        })
    }

    /// Twice the concordant pairs and the pairs that only the scores tie, and the sums over the scores alone.
    fn walk(&self, weights: &[Counts], mut seen: impl LevelCounts) -> (Sums, Margin) {
        let (mut alone, mut tied) = ([0.0; WIDE], [0.0; WIDE]);
        let mut margin = Margin::default();
        let (mut product, mut below) = ([0; WIDE], [0; WIDE]);
        for group in self.groups() {
            if let [point] = group {
                let weight = times(&weights[point.cluster as usize], point.times, &mut product);
                add_products(&mut alone, weight, seen.below(point.level, &mut below));
                seen.add(point.level, weight);
                continue;
            }
            let mut count = [0; WIDE];
            for point in group {
                let weight = times(&weights[point.cluster as usize], point.times, &mut product);
                add_products(&mut tied, weight, seen.below(point.level, &mut below));
                add(&mut count, weight);
            }
            margin.add(&count);
            for point in group {
                let weight = times(&weights[point.cluster as usize], point.times, &mut product);
                seen.add(point.level, weight);
            }
            for point in group {
                let weight = times(&weights[point.cluster as usize], point.times, &mut product);
                add_products(&mut tied, weight, seen.below(point.level, &mut below));
            }
        }
        for ((n, squares), weight) in self.alone.iter().zip(weights) {
            for (sum, weight) in margin.squares.iter_mut().zip(weight) {
                let weight = f64::from(*weight as i32);
                *sum += weight * weight * squares;
            }
            for (class, weight) in margin.classes.iter_mut().zip(weight) {
                *class += u32::from(*weight > 0) * n;
            }
        }
        (from_fn(|k| 2.0 * alone[k] + tied[k]), margin)
    }
}

/// The number of points of each level that a pass has seen so far.
trait LevelCounts {
    /// The number of points seen below a level; `sum` is room for it.
    fn below<'s>(&'s self, level: u32, sum: &'s mut Counts) -> &'s Counts;
    /// Counts `n` points of a level.
    fn add(&mut self, level: u32, n: &Counts);
}

/// For few levels: the number of points seen below each.
struct Few {
    below: [Counts; Self::MAX],
    levels: usize,
}

impl Few {
    /// Up to this many levels a plain sum is faster than a tree.
    const MAX: usize = 16;

    fn new(levels: usize) -> Self {
        Self { below: [[0; WIDE]; Self::MAX], levels }
    }
}

impl LevelCounts for Few {
    #[inline(always)]
    fn below<'s>(&'s self, level: u32, _: &'s mut Counts) -> &'s Counts {
        &self.below[level as usize]
    }

    #[inline(always)]
    fn add(&mut self, level: u32, n: &Counts) {
        for below in &mut self.below[level as usize + 1..self.levels] {
            add(below, n);
        }
    }
}

/// For many levels: a Fenwick tree.
struct Many(Vec<Counts>);

impl Many {
    fn new(levels: usize) -> Self {
        Self(vec![[0; WIDE]; levels + 1])
    }
}

impl LevelCounts for Many {
    #[inline]
    fn below<'s>(&'s self, level: u32, sum: &'s mut Counts) -> &'s Counts {
        let mut at = level as usize;
        sum.fill(0);
        while at > 0 {
            add(sum, &self.0[at]);
            at &= at - 1;
        }
        sum
    }

    #[inline]
    fn add(&mut self, level: u32, n: &Counts) {
        let mut at = level as usize + 1;
        while let Some(count) = self.0.get_mut(at) {
            add(count, n);
            at += at & at.wrapping_neg();
        }
    }
}

#[inline(always)]
fn add(sums: &mut Counts, counts: &Counts) {
    for (sum, count) in sums.iter_mut().zip(counts) {
        *sum += count;
    }
}

/// Counts stay below 2³¹, and the processor turns signed numbers into floating-point ones.
#[inline(always)]
fn add_products(sums: &mut Sums, a: &Counts, b: &Counts) {
    for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
        *sum += f64::from(*a as i32) * f64::from(*b as i32);
    }
}

/// `n` times a weight; `product` is room for it.
#[inline(always)]
fn times<'w>(weight: &'w Counts, n: u32, product: &'w mut Counts) -> &'w Counts {
    if n == 1 {
        return weight;
    }
    for (product, weight) in product.iter_mut().zip(weight) {
        *product = weight * n;
    }
    product
}
