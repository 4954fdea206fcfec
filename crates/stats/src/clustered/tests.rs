//! Resampled coefficients equal those of plain loops, bit for bit.

use super::kendall::WIDE;
use super::*;
use crate::picks::draw;
use crate::random::{Purpose, Stream};

/// `n` numbers below `levels`.
fn random(n: usize, levels: u32, index: u64) -> Vec<u32> {
    let mut values = Vec::with_capacity(n + levels as usize);
    let mut stream = Stream::new(77, Purpose::Other(1), index);
    while values.len() < n {
        stream.draws(levels, |value| values.push(value));
    }
    values.truncate(n);
    values
}

fn numbers(n: usize, levels: u32, index: u64) -> Vec<f64> {
    random(n, levels, index).into_iter().map(|value| (f64::from(value) + 0.3).sqrt() - 2.0).collect()
}

fn weights(n_clusters: usize, seed: u64) -> Vec<[f64; LANES]> {
    let mut weights = vec![[0.0; LANES]; n_clusters];
    let mut counts = vec![0; n_clusters];
    for lane in 0..LANES {
        draw(seed, lane as u64, &mut counts);
        weights.iter_mut().zip(&counts).for_each(|(weight, count)| weight[lane] = f64::from(*count));
    }
    weights
}

/// The bits of all coefficients.
fn bits(of: &Coefficients) -> [Option<u64>; 4] {
    let kendall = [of.kendall.map(|k| k.tau_b), of.kendall.map(|k| k.tau_c)];
    [of.pearson, of.spearman, kendall[0], kendall[1]].map(|value| value.map(f64::to_bits))
}

/// Kendall's coefficients alone, by passes over more resamples: those of `weights` and of others.
fn check_kendall(x: &[f64], y: &[f64], clusters: &[u32], weights: &[[f64; LANES]]) {
    let wide: Vec<[u32; WIDE]> = weights
        .iter()
        .map(|weights| std::array::from_fn(|k| weights[k % LANES] as u32 * (1 + k as u32 / LANES as u32)))
        .collect();
    let ratings = kendall::Ratings::new(y, clusters);
    let found = kendall::Scores::new(x, &ratings).drawn(&ratings.drawn(&wide));
    let levels = [x, y].map(Levels::new);
    let walk = Walk::new(&levels[0]);
    for (k, found) in found.iter().enumerate() {
        let weights: Vec<u32> = clusters.iter().map(|cluster| wide[*cluster as usize][k]).collect();
        assert_eq!(*found, correlation::kendall(&levels[0], &levels[1], &walk, Some(&weights)));
    }
}

/// Compares all lanes with a weight for each point, and returns the number of coefficients.
fn check(x: &[f64], y: &[f64], clusters: &[u32], weights: &[[f64; LANES]]) -> usize {
    let ratings = Ratings::new(y, clusters);
    let scores = Scores::new(x, &ratings);
    let drawn = ratings.drawn(weights);
    assert!(drawn.is_exact);
    let found = scores.drawn(&ratings, &drawn);
    for (lane, found) in found.iter().enumerate() {
        assert_eq!(bits(found), bits(&scores.weighted(&ratings, &drawn, lane)), "{} points", x.len());
    }
    check_kendall(x, y, clusters, weights);
    found.iter().flat_map(bits).flatten().count()
}

#[test]
fn resampled_coefficients_equal_plain_ones_bit_for_bit() {
    let mut index = 0;
    let mut next = || {
        index += 1;
        index
    };
    for n in [1, 2, 3, 40, 1_000] {
        for (x_levels, y_levels) in [(1, 4), (5, 1), (3, 2), (700, 4), (20, 16), (50, 17), (9_999, 400)] {
            for n_clusters in [1, 3, 130] {
                let (x, y) = (numbers(n, x_levels, next()), numbers(n, y_levels, next()));
                let clusters = random(n, n_clusters, next());
                let n_found = check(&x, &y, &clusters, &weights(n_clusters as usize, next()));
                if n == 1 || x_levels == 1 || y_levels == 1 {
                    assert_eq!(n_found, 0);
                } else if n == 1_000 {
                    assert_eq!(n_found, 4 * LANES);
                }
            }
        }
    }
}

#[test]
fn values_that_are_not_finite_change_no_bit_of_the_rest() {
    let clusters = random(60, 9, 1);
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::MAX, f64::MIN_POSITIVE] {
        let (mut x, mut y) = (numbers(60, 30, 2), numbers(60, 4, 3));
        x[7] = wrong;
        x[50] = wrong;
        assert!(check(&x, &y, &clusters, &weights(9, 4)) > 0);
        y[31] = wrong;
        assert!(check(&x, &y, &clusters, &weights(9, 5)) > 0);
    }
}

#[test]
fn empty_draws_and_empty_lists_have_no_coefficients() {
    assert_eq!(check(&[], &[], &[], &weights(0, 1)), 0);
    assert_eq!(check(&[], &[], &[], &weights(3, 1)), 0);
    assert_eq!(check(&[1.0, 2.0], &[1.0, 2.0], &[0, 0], &[[0.0; LANES]]), 0);
}

#[test]
fn more_points_than_exact_sums_can_hold_are_added_plainly() {
    let (x, y) = (numbers(200, 50, 1), numbers(200, 4, 2));
    let clusters = random(200, 2, 3);
    let weights = [[1e6, 3.0, 0.0, 1.0], [2.0, 1.0, 4e6, 0.0]];
    let ratings = Ratings::new(&y, &clusters);
    let scores = Scores::new(&x, &ratings);
    let drawn = ratings.drawn(&weights);
    assert!(!drawn.is_exact);
    check_kendall(&x, &y, &clusters, &weights);
    for (lane, found) in scores.drawn(&ratings, &drawn).iter().enumerate() {
        let weights: Vec<u32> = clusters.iter().map(|c| weights[*c as usize][lane] as u32).collect();
        let levels = [&x, &y].map(|values| Levels::new(values));
        assert_eq!(found.pearson, correlation::pearson_weighted(&x, &y, &weights));
        assert_eq!(found.spearman, correlation::spearman(&levels[0], &levels[1], Some(&weights)));
    }
}

/// The largest number of points, in two clusters with distant values, gives the largest sums.
#[test]
fn the_largest_sums_are_exact() {
    let clusters = [0, 0, 1, 1];
    let half = EXACT / 4.0;
    let weights = [[half; LANES], [half, half - 1.0, half - 3.0, 1.0]];
    for y in [[0.0, 1.0, 2.0, 3.0], [3.0, 2.0, 1.0, 0.0], [0.0, 0.0, 1.0, 2.0]] {
        assert_eq!(check(&[1.0, 2.0, 3.0, 4.0], &y, &clusters, &weights), 4 * LANES);
    }
}
