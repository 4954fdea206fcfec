//! Two systems on the same images: p-values of resamples, exact tests of means, effect sizes.
//!
//! The p-value of the bootstrap is that of Moses and sacreBLEU, so numbers compare; where systems clearly differ, it is
//! about half of a two-sided one. Verdicts therefore go by randomisation, or by the exact permutation test where a
//! score is a mean and at most 40 images differ (both halves are counted out, then met in the middle).

use crate::distribution::heads_at_most;
use crate::exact::ExactSum;

/// Differences within this share of the larger one are equal up to rounding.
const TOLERANCE: f64 = 1e-12;

/// Up to this many differing images, all 2ⁿ exchanges are counted.
pub const MAX_EXACT: usize = 40;

/// The p-value of the paired bootstrap, as Moses and sacreBLEU define it: the share of resamples whose absolute
/// difference exceeds the mean absolute difference by more than the one observed, with one resample added to
/// both counts.
///
/// Where systems clearly differ, only resamples on the far side count, so this is about half of a two-sided p. If no
/// difference is observed the result is 1, where sacreBLEU gives its smallest p.
///
/// Source: Koehn (EMNLP 2004), as in sacreBLEU 2's `significance.py`.
pub fn bootstrap_p(differences: &[f64], observed: f64) -> f64 {
    if observed.is_nan() || differences.iter().any(|d| d.is_nan()) {
        return f64::NAN;
    }
    let observed = observed.abs();
    if observed == 0.0 {
        return 1.0;
    }
    let n = differences.len() as f64;
    let mean = differences.iter().map(|d| d.abs()).collect::<ExactSum>().value() / n;
    let beyond = differences.iter().filter(|d| d.abs() - mean > observed).count();
    (beyond as f64 + 1.0) / (n + 1.0)
}

/// The p-value of paired approximate randomisation: the share of exchanges whose absolute difference reaches the
/// one observed, with one exchange added to both counts. Scores have rounding errors in proportion to `scale`, so a
/// difference that falls short by no more than that counts as reaching it.
///
/// sacreBLEU counts only differences above the one observed. The two definitions differ where many exchanges give
/// exactly the observed difference, and for systems without any difference, where this one gives 1.
///
/// Source: Riezler and Maxwell (2005); Phipson and Smyth (2010) on adding one.
pub fn randomisation_p(differences: &[f64], observed: f64, scale: f64) -> f64 {
    if observed.is_nan() || differences.iter().any(|d| d.is_nan()) {
        return f64::NAN;
    }
    let bound = observed.abs() - 10.0 * TOLERANCE * scale;
    let reached = differences.iter().filter(|d| d.abs() >= bound).count();
    (reached as f64 + 1.0) / (differences.len() as f64 + 1.0)
}

/// The number of images on which a system is better than another, equal, and worse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Images on which it is better.
    pub wins: usize,
    /// Images on which both are equal up to rounding.
    pub ties: usize,
    /// Images on which it is worse.
    pub losses: usize,
}

impl Tally {
    /// Counts pairs of scores: the system's, and that of the one it is compared with.
    pub fn count(scores: impl IntoIterator<Item = (f64, f64)>, higher_is_better: bool) -> Self {
        let mut tally = Self::default();
        for (score, other) in scores {
            let close = (score - other).abs() <= TOLERANCE * score.abs().max(other.abs());
            if score == other || close {
                tally.ties += 1;
            } else if (score > other) == higher_is_better {
                tally.wins += 1;
            } else {
                tally.losses += 1;
            }
        }
        tally
    }

    /// The two-sided p-value of the exact sign test. Ties do not count.
    pub fn sign_p(&self) -> f64 {
        let few = self.wins.min(self.losses) as u64;
        let n = (self.wins + self.losses) as u64;
        (2.0 * heads_at_most(few, n)).min(1.0)
    }

    /// The probability that the system is better on a random image; ties count half.
    pub fn superiority(&self) -> f64 {
        let n = (self.wins + self.ties + self.losses) as f64;
        (self.wins as f64 + self.ties as f64 / 2.0) / n
    }
}

/// Cohen's d of paired `differences`: their mean over their standard deviation (n − 1); NaN where they do not
/// vary.
pub fn cohens_d(differences: &[f64]) -> f64 {
    let n = differences.len() as f64;
    let mean = differences.iter().copied().collect::<ExactSum>().value() / n;
    let squares = differences.iter().map(|d| (d - mean) * (d - mean)).collect::<ExactSum>().value();
    let deviation = (squares / (n - 1.0)).sqrt();
    // Differences that are equal up to rounding do not vary.
    if deviation > mean.abs() * TOLERANCE { mean / deviation } else { f64::NAN }
}

/// The p-value of the exact permutation test of a mean: the share of all 2ⁿ ways to exchange the two systems' scores
/// image by image whose difference reaches the one observed.
///
/// `None` when more than [`MAX_EXACT`] images differ. The sums of each half of the images are enumerated and then
/// merged in sorted order: 2·2^(n/2) sums instead of 2ⁿ.
pub fn permutation_p(differences: &[f64]) -> Option<f64> {
    if differences.iter().any(|d| !d.is_finite()) {
        return None;
    }
    let differing: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    if differing.len() > MAX_EXACT {
        return None;
    }
    let observed = differing.iter().copied().collect::<ExactSum>().value().abs();
    let scale = differing.iter().map(|d| d.abs()).sum::<f64>();
    let bound = observed - TOLERANCE * scale;
    if bound <= 0.0 {
        return Some(1.0);
    }
    let (left, right) = differing.split_at(differing.len() / 2);
    let (left, right) = (signed_sums(left), signed_sums(right));
    // Signs are symmetric: as many exchanges are below −observed as above observed.
    let mut first = right.len();
    let mut above = 0_u64;
    for sum in &left {
        // Both lists ascend, so the first partner that lifts the sum to the bound moves down.
        while first > 0 && sum + right[first - 1] >= bound {
            first -= 1;
        }
        above += (right.len() - first) as u64;
    }
    Some((2.0 * above as f64 / 2.0_f64.powi(differing.len() as i32)).min(1.0))
}

/// The sums of `values` under all choices of signs, ascending.
fn signed_sums(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for value in values {
        sums = sums.iter().flat_map(|sum| [sum + value, sum - value]).collect();
    }
    sums.sort_unstable_by(f64::total_cmp);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bootstrap_p_counts_as_sacrebleu_does() {
        // |d| = 1, 2, 3, 6: mean 3; only the last exceeds it by more than 2, and none by more than 3.
        assert_eq!(bootstrap_p(&[-1.0, 2.0, 3.0, 6.0], 2.0), 2.0 / 5.0);
        assert_eq!(bootstrap_p(&[-1.0, 2.0, 3.0, 6.0], 3.0), 1.0 / 5.0);
        assert_eq!(bootstrap_p(&[0.0; 9], 0.0), 1.0);
        assert!(bootstrap_p(&[f64::NAN], 1.0).is_nan());
    }

    #[test]
    fn randomisation_p_counts_what_reaches_the_observed() {
        assert_eq!(randomisation_p(&[0.1, -0.5, 0.3 - 0.1 + 0.3, 0.7], 0.5, 1.0), 4.0 / 5.0);
        assert_eq!(randomisation_p(&[0.0; 9], 0.0, 1.0), 1.0);
    }

    /// `scipy.stats.permutation_test((d,), np.sum, permutation_type='samples', n_resamples=np.inf)` and
    /// `scipy.stats.binomtest`, scipy 1.17.
    #[test]
    fn exact_tests_equal_those_of_scipy() {
        let differences = [0.3, -0.1, 0.25, 0.6, 0.05, -0.2, 0.4, 0.15, 0.0, 0.35];
        let p = permutation_p(&differences).unwrap();
        assert!((p - 0.0546875).abs() < 1e-15, "{p}");
        let tally = Tally::count(differences.iter().map(|d| (*d, 0.0)), true);
        assert_eq!(tally, Tally { wins: 7, ties: 1, losses: 2 });
        assert!((tally.sign_p() - 0.1796875).abs() < 1e-14, "{}", tally.sign_p());
    }

    #[test]
    fn merging_two_halves_counts_what_one_list_counts() {
        let values: Vec<f64> = (1..=14).map(|k| f64::from(k).sqrt().sin()).collect();
        let observed = values.iter().sum::<f64>().abs();
        let reached = (0..1_u32 << 14).filter(|signs| {
            let signed = values.iter().enumerate().map(|(k, v)| if signs >> k & 1 == 1 { -v } else { *v });
            signed.sum::<f64>().abs() >= observed - 1e-12
        });
        assert_eq!(permutation_p(&values), Some(reached.count() as f64 / f64::from(1 << 14)));
    }

    #[test]
    fn equal_systems_differ_by_chance() {
        assert_eq!(permutation_p(&[0.0; 100]), Some(1.0));
        assert_eq!(permutation_p(&[1.0, -1.0]), Some(1.0));
        assert_eq!(permutation_p(&[1.0; 41]), None);
        assert_eq!(permutation_p(&[1.0; 40]), Some(2.0 / 2.0_f64.powi(40)));
        assert_eq!(Tally::count([(1.0, 1.0)], true).sign_p(), 1.0);
    }

    #[test]
    fn lower_scores_win_where_lower_is_better() {
        let tally = Tally::count([(0.1, 0.2), (0.3, 0.1 + 0.2), (0.5, 0.4)], false);
        assert_eq!(tally, Tally { wins: 1, ties: 1, losses: 1 });
        assert_eq!(tally.superiority(), 0.5);
    }

    #[test]
    fn effect_sizes_divide_by_the_scatter() {
        assert!((cohens_d(&[1.0, 2.0, 3.0]) - 2.0).abs() < 1e-15);
        assert!(cohens_d(&[0.1, 0.1, 0.1]).is_nan());
        assert!(cohens_d(&[1.0]).is_nan());
    }
}
