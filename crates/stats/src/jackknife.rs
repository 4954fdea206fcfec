//! Standard errors of any function of summed rows, from its values without each row; and Welch's test of two of them.
//!
//! For a mean, this is Welch's t-test: the jackknife's variance of a mean is that of its rows over their number.

use crate::distribution::student_two_sided;

/// The fewest rows of a test: fewer say too little of how they vary.
const FEWEST: usize = 5;

/// An estimate with its squared standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JackknifeEstimate {
    /// The value of all rows.
    pub value: f64,
    /// The squared standard error.
    pub variance: f64,
    /// The number of rows.
    pub n: usize,
}

impl JackknifeEstimate {
    /// The estimate with this value, which is `without` when each of the rows is left out.
    pub fn new(value: f64, without: impl ExactSizeIterator<Item = f64> + Clone) -> Self {
        let n = without.len();
        let mean = without.clone().sum::<f64>() / n as f64;
        let squares: f64 = without.map(|value| (value - mean).powi(2)).sum();
        Self { value, variance: squares * (n as f64 - 1.0) / n as f64, n }
    }

    /// The p-value of the t-test that the value is 0; `None` if it does not vary, or for fewer than five rows.
    pub fn t_test(self) -> Option<f64> {
        if self.n < FEWEST {
            return None;
        }
        student_two_sided(self.value / self.variance.sqrt(), self.n as f64 - 1.0)
    }

    /// The p-value of Welch's test that two estimates from different rows are of one value; `None` if neither varies,
    /// or for fewer than five rows of either.
    pub fn welch(self, other: Self) -> Option<f64> {
        if self.n.min(other.n) < FEWEST {
            return None;
        }
        let [a, b] = [self.variance, other.variance];
        let freedom =
            (a + b).powi(2) / (a.powi(2) / (self.n as f64 - 1.0) + b.powi(2) / (other.n as f64 - 1.0));
        student_two_sided((self.value - other.value) / (a + b).sqrt(), freedom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_mean(rows: &[f64]) -> JackknifeEstimate {
        let (sum, n) = (rows.iter().sum::<f64>(), rows.len() as f64);
        JackknifeEstimate::new(sum / n, rows.iter().map(|row| (sum - row) / (n - 1.0)))
    }

    /// `scipy.stats.ttest_ind(a, b, equal_var=False)` by the formulas of Welch (1947).
    #[test]
    fn for_means_it_is_welchs_t_test() {
        let (a, b) = ([1.0, 2.0, 4.0, 5.0, 3.0], [2.0, 3.0, 9.0, 4.0, 7.0]);
        let (mean_a, mean_b, var_a, var_b) = (3.0, 5.0, 10.0 / 4.0 / 5.0, 34.0 / 4.0 / 5.0);
        let estimate = of_mean(&a);
        assert!((estimate.variance - var_a).abs() < 1e-12 && estimate.value == mean_a);
        let freedom = (var_a + var_b) * (var_a + var_b) / (var_a * var_a / 4.0 + var_b * var_b / 4.0);
        let expected = student_two_sided((mean_a - mean_b) / (var_a + var_b).sqrt(), freedom).unwrap();
        assert!((estimate.welch(of_mean(&b)).unwrap() - expected).abs() < 1e-12);
        let paired = student_two_sided(mean_a / var_a.sqrt(), 4.0).unwrap();
        assert!((estimate.t_test().unwrap() - paired).abs() < 1e-12);
    }

    #[test]
    fn too_few_rows_and_equal_rows_have_no_test() {
        let (few, equal) = (of_mean(&[1.0, 2.0, 4.0, 5.0]), of_mean(&[1.0; 5]));
        assert_eq!(
            [few.welch(equal), few.t_test(), equal.welch(equal), equal.t_test()],
            [None, None, None, Some(0.0)]
        );
        assert_eq!(of_mean(&[1.0]).t_test(), None);
    }
}
