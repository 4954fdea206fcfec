//! Do people agree with each other? Krippendorff's α for ordered ratings, and Fleiss' κ.

use crate::correlation::Levels;

/// Krippendorff's α of ratings on an ordered scale: 1 for full agreement, 0 for agreement by chance.
///
/// Each item is a list of any number of ratings; items with fewer than two say nothing about agreement and are left
/// out. `None` when no item has two ratings, or all ratings are equal.
///
/// Source: Krippendorff, *Content Analysis* (2004), chapter 11; the PyPI package `krippendorff` with
/// `level_of_measurement='ordinal'` gives the same.
pub fn krippendorff_ordinal<'r>(items: impl IntoIterator<Item = &'r [f64]>) -> Option<f64> {
    let items: Vec<&[f64]> = items.into_iter().filter(|ratings| ratings.len() >= 2).collect();
    let all: Vec<f64> = items.iter().flat_map(|ratings| ratings.iter().copied()).collect();
    let levels = Levels::new(&all);
    if levels.count < 2 {
        return None;
    }
    let mut totals = vec![0.0_f64; levels.count];
    levels.of.iter().for_each(|level| totals[*level as usize] += 1.0);
    // Positions on the scale: the ordinal distance of two levels is the number of ratings between their midpoints.
    let mut below = 0.0;
    let places: Vec<f64> = totals
        .iter()
        .map(|total| {
            below += total;
            below - total / 2.0
        })
        .collect();
    let mut observed = 0.0;
    let mut first = 0;
    for ratings in &items {
        let of = &levels.of[first..first + ratings.len()];
        first += ratings.len();
        let places = of.iter().map(|level| places[*level as usize]);
        observed += squared_distances(places.map(|place| (place, 1.0))) / (ratings.len() as f64 - 1.0);
    }
    let expected = squared_distances(places.iter().copied().zip(totals)) / (all.len() as f64 - 1.0);
    Some(1.0 - observed / expected)
}

/// The sum over all pairs of points of their squared distance, where each point counts as often as its weight.
fn squared_distances(points: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let (n, sum) = points.clone().fold((0.0, 0.0), |(n, sum), (at, w)| (n + w, sum + w * at));
    let mean = sum / n;
    n * points.map(|(at, w)| w * (at - mean) * (at - mean)).sum::<f64>()
}

/// Fleiss' κ of ratings treated as unordered categories.
///
/// `None` unless all items have the same number of ratings, at least two, and the ratings vary.
///
/// Source: Fleiss, *Measuring nominal scale agreement among many raters* (1971); `fleiss_kappa` of statsmodels
/// gives the same.
pub fn fleiss_kappa<'r>(items: impl IntoIterator<Item = &'r [f64]>) -> Option<f64> {
    let items: Vec<&[f64]> = items.into_iter().collect();
    let n_raters = items.first()?.len();
    if n_raters < 2 || items.iter().any(|ratings| ratings.len() != n_raters) {
        return None;
    }
    let all: Vec<f64> = items.iter().flat_map(|ratings| ratings.iter().copied()).collect();
    let levels = Levels::new(&all);
    let mut totals = vec![0_u64; levels.count];
    let mut agreeing = 0_u64;
    let mut counts = vec![0_u64; levels.count];
    for of in levels.of.chunks_exact(n_raters) {
        counts.fill(0);
        of.iter().for_each(|level| counts[*level as usize] += 1);
        agreeing += counts.iter().map(|count| count * count.saturating_sub(1)).sum::<u64>();
        totals.iter_mut().zip(&counts).for_each(|(total, count)| *total += count);
    }
    let n = all.len() as f64;
    let observed = agreeing as f64 / (n * (n_raters as f64 - 1.0));
    let expected: f64 = totals.iter().map(|total| (*total as f64 / n).powi(2)).sum();
    if levels.count < 2 { None } else { Some((observed - expected) / (1.0 - expected)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(rows: &[[f64; 3]]) -> Vec<&[f64]> {
        rows.iter().map(<[f64; 3]>::as_slice).collect()
    }

    const RATINGS: &[[f64; 3]] = &[
        [1.0, 1.0, 2.0],
        [3.0, 4.0, 4.0],
        [2.0, 2.0, 2.0],
        [1.0, 3.0, 2.0],
        [4.0, 4.0, 3.0],
        [1.0, 1.0, 1.0],
    ];

    /// PyPI krippendorff 0.9.0, `alpha(matrix.T, level_of_measurement='ordinal')`, the second with the two
    /// missing ratings as NaN; statsmodels 0.15.0, `fleiss_kappa(aggregate_raters(matrix)[0])`.
    #[test]
    fn agreement_equals_that_of_the_python_packages() {
        let alpha = krippendorff_ordinal(items(RATINGS)).unwrap();
        assert!((alpha - 0.7418518518518519).abs() < 1e-12, "{alpha}");
        let kappa = fleiss_kappa(items(RATINGS)).unwrap();
        assert!((kappa - 0.319327731092437).abs() < 1e-12, "{kappa}");
        let mut gaps = items(RATINGS);
        gaps[0] = &RATINGS[0][..1];
        gaps[1] = &RATINGS[1][..2];
        let alpha = krippendorff_ordinal(gaps.iter().copied()).unwrap();
        assert!((alpha - 0.7379558380729341).abs() < 1e-12, "{alpha}");
        assert_eq!(fleiss_kappa(gaps), None);
    }

    #[test]
    fn full_agreement_is_one_and_a_single_rating_is_none() {
        assert_eq!(krippendorff_ordinal(items(&[[1.0; 3], [2.0; 3]])), Some(1.0));
        assert_eq!(fleiss_kappa(items(&[[1.0; 3], [2.0; 3]])), Some(1.0));
        assert_eq!(krippendorff_ordinal(items(&[[1.0; 3], [1.0; 3]])), None);
        assert_eq!(fleiss_kappa(items(&[[1.0; 3]])), None);
        let single: [&[f64]; 2] = [&[1.0], &[2.0]];
        assert_eq!(krippendorff_ordinal(single), None);
        assert_eq!(fleiss_kappa(single), None);
        assert_eq!(fleiss_kappa(std::iter::empty()), None);
    }
}
