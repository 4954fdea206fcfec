//! Tail probabilities of the distributions behind the tests.

use crate::beta::beta_regularised;

/// The two-sided p-value of Student's t with `freedom` degrees of freedom; `None` if `t` is NaN or `freedom` is less
/// than 1.
pub fn student_two_sided(t: f64, freedom: f64) -> Option<f64> {
    if t.is_nan() || freedom < 1.0 {
        return None;
    }
    if t.is_infinite() {
        return Some(0.0);
    }
    Some(beta_regularised(freedom / 2.0, 0.5, freedom / (freedom + t * t)))
}

/// The probability of at most `k` heads in `n` tosses of a fair coin.
pub fn heads_at_most(k: u64, n: u64) -> f64 {
    if k >= n {
        return 1.0;
    }
    beta_regularised((n - k) as f64, k as f64 + 1.0, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.stats.binom.cdf(k, n, 0.5)` and `2 * scipy.stats.t.sf(t, df)`, scipy 1.17.
    #[test]
    fn probabilities_equal_those_of_scipy() {
        for (k, n, expected) in HEADS {
            let p = heads_at_most(*k, *n);
            assert!((p - expected).abs() <= 1e-11 * expected, "{k} of {n}: {p}");
        }
        for (t, freedom, expected) in STUDENT {
            let p = student_two_sided(*t, *freedom).unwrap();
            assert!((p - expected).abs() <= 1e-10 * expected, "{t}, {freedom}: {p}");
        }
    }

    const HEADS: &[(u64, u64, f64)] = &[
        (1, 3, 0.5),
        (3, 10, 0.171875),
        (40, 100, 0.028443966820490444),
        (480, 1000, 0.10872414660207075),
        (2400, 5000, 0.002441824868758747),
        (19000, 40504, 7.84322098360049e-36),
    ];
    const STUDENT: &[(f64, f64, f64)] = &[
        (0.5, 1.0, 0.7048327646991335),
        (2.0, 3.0, 0.13932596855884305),
        (-1.96, 100.0, 0.05277890136622966),
        (3.5, 5661.0, 0.0004688414149267107),
        (12.0, 16989.0, 4.8327406959320176e-33),
    ];

    /// The exact probabilities of fewer heads than half; near half, the fraction needs ever more terms.
    #[test]
    fn many_tosses_are_summed_to_the_end() {
        for (n, expected) in [(1_000_000, 0.4996010578193341), (10_000_000, 0.4998738433770529)] {
            let p = heads_at_most(n / 2 - 1, n);
            assert!((p - expected).abs() <= 2e-9, "{n}: {p}");
        }
    }

    #[test]
    fn extremes_are_certain() {
        assert_eq!(heads_at_most(5, 5), 1.0);
        assert_eq!(heads_at_most(0, 0), 1.0);
        assert!((heads_at_most(0, 10) * 1024.0 - 1.0).abs() < 1e-12);
        assert_eq!(student_two_sided(0.0, 5.0), Some(1.0));
        assert_eq!(student_two_sided(f64::INFINITY, 5.0), Some(0.0));
        assert_eq!(student_two_sided(f64::NAN, 5.0), None);
    }
}
