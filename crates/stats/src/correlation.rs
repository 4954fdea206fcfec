//! Agreement of two lists of numbers: Pearson, Spearman, Kendall, and Williams' test.
//!
//! Every coefficient takes a weight per item, which says how often a resample drew it. Resamples need no sorting,
//! since values are replaced by their [`Levels`] once.

use serde::{Deserialize, Serialize};

use crate::exact::ExactSum;

/// A list of values, each replaced by its position among the distinct values.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// The position of each value among the distinct values, from 0.
    pub of: Vec<u32>,
    /// The number of distinct values.
    pub count: usize,
}

impl Levels {
    /// The levels of `values`, which must not be NaN; 0 and −0 are equal.
    pub fn new(values: &[f64]) -> Self {
        let mut order: Vec<u32> = (0..values.len() as u32).collect();
        let at = |k: &u32| values[*k as usize] + 0.0;
        order.sort_unstable_by(|a, b| at(a).total_cmp(&at(b)));
        let mut of = vec![0; values.len()];
        let mut count = 0;
        for (k, row) in order.iter().enumerate() {
            if k == 0 || at(row) != at(&order[k - 1]) {
                count += 1;
            }
            of[*row as usize] = count as u32 - 1;
        }
        Self { of, count }
    }

    /// The mean rank of each level, from 1, where each item counts as often as its weight.
    fn ranks(&self, weights: Option<&[u32]>) -> Vec<f64> {
        let mut counts = vec![0_u64; self.count];
        for (k, level) in self.of.iter().enumerate() {
            counts[*level as usize] += weight(weights, k);
        }
        let mut below = 0;
        counts
            .iter()
            .map(|count| {
                let rank = below as f64 + (*count as f64 + 1.0) / 2.0;
                below += count;
                rank
            })
            .collect()
    }
}

fn weight(weights: Option<&[u32]>, k: usize) -> u64 {
    weights.map_or(1, |weights| u64::from(weights[k]))
}

/// A list of values as deviations from their mean, for correlations with many others.
#[derive(Clone, Debug)]
pub struct CentredValues {
    deviations: Vec<f64>,
    squares: f64,
    is_constant: bool,
}

impl CentredValues {
    /// The deviations of `values`.
    pub fn new(values: &[f64]) -> Self {
        let mean = values.iter().copied().collect::<ExactSum>().value() / values.len() as f64;
        let deviations: Vec<f64> = values.iter().map(|value| value - mean).collect();
        let squares = products(&deviations, &deviations);
        Self { deviations, squares, is_constant: is_constant(values) }
    }

    /// Pearson's product-moment correlation with another list.
    ///
    /// `None` when a list has fewer than two items, is constant or holds a value that is not finite.
    pub fn pearson(&self, other: &Self) -> Option<f64> {
        if self.is_constant || other.is_constant {
            return None;
        }
        ratio(products(&self.deviations, &other.deviations), self.squares, other.squares)
    }
}

fn products(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).collect::<ExactSum>().value()
}

/// Pearson's product-moment correlation of `x` and `y`; as [`CentredValues::pearson`], for one pair of lists.
pub fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    CentredValues::new(x).pearson(&CentredValues::new(y))
}

fn is_constant(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[0] == pair[1])
}

/// Pearson's correlation where item k counts `weights[k]` times; like [`pearson`], but with plain sums.
pub fn pearson_weighted(x: &[f64], y: &[f64], weights: &[u32]) -> Option<f64> {
    let mut sums = [0.0; 3];
    for ((x, y), weight) in x.iter().zip(y).zip(weights) {
        let weight = f64::from(*weight);
        sums[0] += weight;
        sums[1] += weight * x;
        sums[2] += weight * y;
    }
    let [n, x_sum, y_sum] = sums;
    let (mean_x, mean_y) = (x_sum / n, y_sum / n);
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for ((x, y), weight) in x.iter().zip(y).zip(weights) {
        let (weight, dx, dy) = (f64::from(*weight), x - mean_x, y - mean_y);
        xy += weight * dx * dy;
        xx += weight * dx * dx;
        yy += weight * dy * dy;
    }
    pearson_of_sums(n, (mean_x, mean_y), [xy, xx, yy])
}

/// Pearson's correlation from the sums of products of the deviations of `n` items from their means.
pub(crate) fn pearson_of_sums(n: f64, (mean_x, mean_y): (f64, f64), [xy, xx, yy]: [f64; 3]) -> Option<f64> {
    // A list that is constant up to rounding has no correlation.
    let scale = |mean: f64| n * mean * mean * 1e-24;
    if xx <= scale(mean_x) || yy <= scale(mean_y) { None } else { ratio(xy, xx, yy) }
}

fn ratio(xy: f64, xx: f64, yy: f64) -> Option<f64> {
    // One root rounds once, so that full agreement is exactly 1; two roots stay in range where the product does not.
    let product = xx * yy;
    let r = if product.is_normal() { xy / product.sqrt() } else { xy / xx.sqrt() / yy.sqrt() };
    r.is_finite().then(|| r.clamp(-1.0, 1.0))
}

/// Spearman's ρ: Pearson's correlation of the ranks, where equal values share their mean rank. `weights` as for
/// [`kendall`].
///
/// `None` when a list has fewer than two distinct values.
pub fn spearman(x: &Levels, y: &Levels, weights: Option<&[u32]>) -> Option<f64> {
    let (ranks_x, ranks_y) = (x.ranks(weights), y.ranks(weights));
    let n: u64 = (0..x.of.len()).map(|k| weight(weights, k)).sum();
    let mean = (n as f64 + 1.0) / 2.0;
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (k, (level_x, level_y)) in x.of.iter().zip(&y.of).enumerate() {
        let weight = weight(weights, k) as f64;
        let (dx, dy) = (ranks_x[*level_x as usize] - mean, ranks_y[*level_y as usize] - mean);
        xy += weight * dx * dy;
        xx += weight * dx * dx;
        yy += weight * dy * dy;
    }
    spearman_of_sums([xy, xx, yy])
}

/// Spearman's ρ from the sums of products of the ranks' deviations from their mean.
pub(crate) fn spearman_of_sums([xy, xx, yy]: [f64; 3]) -> Option<f64> {
    if xx == 0.0 || yy == 0.0 { None } else { ratio(xy, xx, yy) }
}

/// Kendall's two coefficients that account for ties.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kendall {
    /// τ-b: concordant minus discordant pairs, over the geometric mean of the numbers of pairs that are
    /// not tied in either list.
    pub tau_b: f64,
    /// τ-c (Stuart's): concordant minus discordant pairs, over the largest possible number with that few distinct
    /// values.
    pub tau_c: f64,
}

impl Kendall {
    /// From concordant minus discordant pairs, the untied pairs of each list, the number of items, and the smaller
    /// number of distinct values.
    pub(crate) fn of_counts(
        difference: f64,
        (untied_x, untied_y): (f64, f64),
        total: f64,
        classes: f64,
    ) -> Option<Self> {
        if classes < 2.0 {
            return None;
        }
        let tau_b = difference / untied_x.sqrt() / untied_y.sqrt();
        let tau_c = 2.0 * difference / (total.powi(2) * (classes - 1.0) / classes);
        Some(Self { tau_b: tau_b.clamp(-1.0, 1.0), tau_c: tau_c.clamp(-1.0, 1.0) })
    }
}

/// The order in which [`kendall`] visits items.
#[derive(Clone, Debug)]
pub struct Walk {
    /// The items by level of x.
    order: Vec<u32>,
}

impl Walk {
    /// The items by level of `x`.
    pub fn new(x: &Levels) -> Self {
        let mut order: Vec<u32> = (0..x.of.len() as u32).collect();
        order.sort_by_key(|k| x.of[*k as usize]);
        Self { order }
    }
}

/// Kendall's τ-b and τ-c of two lists, in n log m steps for n items and m levels of y.
///
/// With `weights`, item k counts `weights[k]` times. `None` when a list has fewer than two distinct values.
pub fn kendall(x: &Levels, y: &Levels, walk: &Walk, weights: Option<&[u32]>) -> Option<Kendall> {
    let mut seen = Counts::new(y.count);
    let mut here: Vec<(u32, u64)> = Vec::new();
    let (mut total, mut tied_x, mut tied_both) = (0_u64, 0_u64, 0_u64);
    let (mut concordant, mut discordant) = (0_u64, 0_u64);
    let mut classes_x = 0_u64;
    for group in walk.order.chunk_by(|a, b| x.of[*a as usize] == x.of[*b as usize]) {
        here.clear();
        here.extend(group.iter().filter_map(|k| {
            let weight = weight(weights, *k as usize);
            (weight > 0).then(|| (y.of[*k as usize], weight))
        }));
        if here.is_empty() {
            continue;
        }
        classes_x += 1;
        let mut in_group = 0;
        for (level, weight) in &here {
            let (below, same) = seen.below_and_at(*level);
            concordant += weight * below;
            discordant += weight * (total - below - same);
            in_group += weight;
        }
        tied_x += pairs(in_group);
        here.sort_unstable();
        for level in here.chunk_by(|a, b| a.0 == b.0) {
            tied_both += pairs(level.iter().map(|(_, weight)| weight).sum());
        }
        for (level, weight) in &here {
            seen.add(*level, *weight);
        }
        total += in_group;
    }
    let (tied_y, classes_y) = seen.ties();
    debug_assert!(concordant + discordant + tied_x + tied_y - tied_both == pairs(total));
    let (untied_x, untied_y) = (pairs(total) - tied_x, pairs(total) - tied_y);
    let difference = concordant as f64 - discordant as f64;
    let untied = (untied_x as f64, untied_y as f64);
    Kendall::of_counts(difference, untied, total as f64, classes_x.min(classes_y) as f64)
}

fn pairs(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}

/// Counts by level with fast sums over the levels below one: a Fenwick tree.
struct Counts {
    tree: Vec<u64>,
    plain: Vec<u64>,
}

/// Up to this many levels, a plain sum is faster than a tree.
const FEW: usize = 16;

impl Counts {
    fn new(levels: usize) -> Self {
        Self { tree: if levels > FEW { vec![0; levels + 1] } else { Vec::new() }, plain: vec![0; levels] }
    }

    fn add(&mut self, level: u32, weight: u64) {
        self.plain[level as usize] += weight;
        let mut at = level as usize + 1;
        while at < self.tree.len() {
            self.tree[at] += weight;
            at += at & at.wrapping_neg();
        }
    }

    fn below_and_at(&self, level: u32) -> (u64, u64) {
        let level = level as usize;
        let same = self.plain[level];
        if self.tree.is_empty() {
            return (self.plain[..level].iter().sum(), same);
        }
        let (mut below, mut at) = (0, level);
        while at > 0 {
            below += self.tree[at];
            at &= at - 1;
        }
        (below, same)
    }

    /// The number of pairs of equal level, and the number of levels seen.
    fn ties(&self) -> (u64, u64) {
        let seen = self.plain.iter().filter(|count| **count > 0);
        (self.plain.iter().map(|count| pairs(*count)).sum(), seen.count() as u64)
    }
}

/// The result of Williams' test of two correlations that share a variable.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Williams {
    /// Student's t; positive where the first correlation is larger.
    pub t: f64,
    /// The degrees of freedom: the number of items minus three.
    pub freedom: f64,
    /// The two-sided p-value.
    pub p: f64,
}

/// Williams' test of whether `r_a` and `r_b`, the correlations of two metrics with the same ratings of `n`
/// items, differ, where the metrics correlate with each other by `r_ab`.
///
/// `None` with fewer than four items, or where the two metrics are so nearly proportional, or explain the ratings so
/// fully, that only rounding is left to test.
///
/// Source: Williams, *Regression Analysis* (1959), as given by Steiger (1980); for metrics, Graham and Baldwin
/// (EMNLP 2014).
pub fn williams(r_a: f64, r_b: f64, r_ab: f64, n: usize) -> Option<Williams> {
    let freedom = n as f64 - 3.0;
    if freedom < 1.0 {
        return None;
    }
    let determinant = 1.0 - r_a * r_a - r_b * r_b - r_ab * r_ab + 2.0 * r_a * r_b * r_ab;
    let mean = (r_a + r_b) / 2.0;
    let spread = 2.0 * determinant.max(0.0) * (n as f64 - 1.0) / freedom + mean * mean * (1.0 - r_ab).powi(3);
    // A rounding error divided by a rounding error could come out as significant as any number.
    let is_clear = |value: f64| value > 1e-12;
    if !is_clear(1.0 - r_ab) || !is_clear(spread) {
        return None;
    }
    let t = (r_a - r_b) * ((n as f64 - 1.0) * (1.0 + r_ab) / spread).sqrt();
    let p = crate::distribution::student_two_sided(t, freedom)?;
    Some(Williams { t, freedom, p })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    fn random(n: usize, levels: u32, index: u64) -> Vec<f64> {
        let mut values = Vec::new();
        let mut stream = Stream::new(9, Purpose::Other(0), index);
        while values.len() < n {
            stream.draws(levels, |value| values.push(f64::from(value)));
        }
        values.truncate(n);
        values
    }

    /// Pair by pair, straight from the definitions.
    fn slowly(x: &[f64], y: &[f64]) -> Option<Kendall> {
        let (mut difference, mut untied_x, mut untied_y) = (0.0_f64, 0.0_f64, 0.0_f64);
        for a in 0..x.len() {
            for b in 0..a {
                let sign = |d: f64| if d == 0.0 { 0.0 } else { d.signum() };
                let (dx, dy) = (sign(x[a] - x[b]), sign(y[a] - y[b]));
                difference += dx * dy;
                untied_x += dx.abs();
                untied_y += dy.abs();
            }
        }
        let classes = Levels::new(x).count.min(Levels::new(y).count) as f64;
        let n = x.len() as f64;
        (classes >= 2.0).then(|| Kendall {
            tau_b: difference / (untied_x * untied_y).sqrt(),
            tau_c: 2.0 * difference * classes / (n * n * (classes - 1.0)),
        })
    }

    fn quickly(x: &[f64], y: &[f64]) -> Option<Kendall> {
        let (x, y) = (Levels::new(x), Levels::new(y));
        kendall(&x, &y, &Walk::new(&x), None)
    }

    #[test]
    fn kendall_equals_the_count_of_all_pairs() {
        for (index, levels) in [1, 2, 3, 5, 15, 17, 40, 1000].into_iter().enumerate() {
            for n in [2, 3, 10, 97] {
                let x = random(n, levels, 2 * index as u64);
                let y = random(n, 1 + levels / 2, 2 * index as u64 + 1);
                for (x, y) in [(&x, &y), (&y, &x)] {
                    match (quickly(x, y), slowly(x, y)) {
                        (Some(a), Some(b)) => {
                            assert!((a.tau_b - b.tau_b).abs() < 1e-14 && (a.tau_c - b.tau_c).abs() < 1e-14);
                        }
                        (a, b) => assert_eq!(a, b),
                    }
                }
            }
        }
    }

    #[test]
    fn an_item_of_weight_two_counts_as_two_items() {
        let (x, y) = (random(50, 20, 1), random(50, 6, 2));
        let weights: Vec<u32> = (0..50).map(|k| k % 4).collect();
        let repeat = |values: &[f64]| -> Vec<f64> {
            values.iter().zip(&weights).flat_map(|(x, w)| std::iter::repeat_n(*x, *w as usize)).collect()
        };
        let (long_x, long_y) = (repeat(&x), repeat(&y));
        let (levels_x, levels_y) = (Levels::new(&x), Levels::new(&y));
        let close = |a: Option<f64>, b: Option<f64>| (a.unwrap() - b.unwrap()).abs() < 1e-14;
        let weighted = kendall(&levels_x, &levels_y, &Walk::new(&levels_x), Some(&weights));
        assert_eq!(weighted, quickly(&long_x, &long_y));
        assert!(close(
            spearman(&levels_x, &levels_y, Some(&weights)),
            spearman(&Levels::new(&long_x), &Levels::new(&long_y), None)
        ));
        assert!(close(pearson_weighted(&x, &y, &weights), pearson(&long_x, &long_y)));
    }

    #[test]
    fn a_constant_list_has_no_correlation() {
        let (constant, rising) = (vec![0.1; 9], (0..9).map(f64::from).collect::<Vec<_>>());
        let (levels, rising_levels) = (Levels::new(&constant), Levels::new(&rising));
        assert_eq!(pearson(&constant, &rising), None);
        assert_eq!(pearson_weighted(&constant, &rising, &[3; 9]), None);
        assert_eq!(spearman(&levels, &rising_levels, None), None);
        assert_eq!(quickly(&constant, &rising), None);
        assert_eq!(pearson(&[], &[]), None);
        assert_eq!(quickly(&[1.0], &[2.0]), None);
    }

    #[test]
    fn zeros_of_either_sign_are_equal() {
        assert_eq!(Levels::new(&[0.0, -0.0, 1.0]), Levels { of: vec![0, 0, 1], count: 2 });
    }

    #[test]
    fn rising_lists_agree_fully() {
        let rising: Vec<f64> = (0..100).map(f64::from).collect();
        let falling: Vec<f64> = rising.iter().map(|x| -x).collect();
        let levels = Levels::new(&rising);
        assert_eq!(pearson(&rising, &rising), Some(1.0));
        assert_eq!(spearman(&levels, &levels, None), Some(1.0));
        assert_eq!(quickly(&rising, &falling).map(|k| k.tau_b), Some(-1.0));
    }

    /// The example of Steiger (1980), case A: n = 103, correlations 0.4 and 0.5 with the third variable, 0.1
    /// between them. By hand: determinant 0.62, spread 2·0.62·102/100 + 0.45²·0.9³ = 1.4124225,
    /// t = −0.1·√(102·1.1/1.4124225) = −0.8912799; p by scipy 1.17, `2 * scipy.stats.t.sf(0.8912799047605414, 100)`.
    #[test]
    fn williams_equals_an_example_worked_by_hand() {
        let test = williams(0.4, 0.5, 0.1, 103).unwrap();
        assert!((test.t + 0.891_279_904_760_541_4).abs() < 1e-14, "{}", test.t);
        assert_eq!(test.freedom, 100.0);
        assert!((test.p - 0.3749185174912553).abs() < 1e-12, "{}", test.p);
        assert_eq!(williams(0.4, 0.5, 0.1, 3), None);
    }

    /// Rounding of the last bit differs where logarithms come from another library than the C library's.
    #[test]
    fn williams_gives_the_same_bits_in_every_build() {
        for ([r_a, r_b, r_ab], n, t, p) in [
            ([0.5, 0.2, 0.6], 4, 0x3fd9_03c0_1a3f_71dd, 0x3fe8_68d6_0321_a3af),
            ([0.5, 0.1, 0.6], 20, 0x4001_bd24_475a_86f4, 0x3fa4_be78_4133_4b34),
            ([0.4, 0.8, 0.2], 103, 0xc014_2611_43a8_85f2, 0x3ec1_9ca5_22ce_fef5),
            ([0.2, 0.3, 0.4], 1000, 0xc008_2add_765e_b177, 0x3f65_2b99_2193_83af),
        ] {
            let test = williams(r_a, r_b, r_ab, n).unwrap();
            assert_eq!((test.t.to_bits(), test.p.to_bits()), (t, p), "{r_a} {r_b} {r_ab} {n}: {test:?}");
        }
    }

    #[test]
    fn metrics_that_are_equal_up_to_scale_have_no_test() {
        let (ratings, scores) = (random(200, 50, 5), random(200, 1000, 6));
        for scale in [3.0, 0.1, 1e-3, 7.0 / 9.0, -0.1] {
            let scaled: Vec<f64> = scores.iter().map(|score| score * scale + 0.3).collect();
            let r = |x: &[f64], y: &[f64]| pearson(x, y).unwrap();
            let (a, b, ab) = (r(&scores, &ratings), r(&scaled, &ratings), r(&scores, &scaled));
            assert_eq!(williams(a, b, ab, 200), None, "{scale}: {a} {b} {ab}");
        }
        assert_eq!(williams(0.3, 0.3 + 1e-16, 1.0 - 2.3e-16, 5822), None);
        assert_eq!(williams(0.3, 0.300_000_000_000_000_1, 1.0, 5822), None);
        // Metrics that differ but correlate equally with the ratings show no difference.
        assert_eq!(williams(0.3, 0.3, 0.5, 100).unwrap().p, 1.0);
    }
}
