//! Standard errors of any function of summed rows, from its values without each row; and Welch's test of two of them.
//!
//! For a mean, this is Welch's t-test: the jackknife's variance of a mean is that of its rows over their number.

use crate::distribution::student_two_sided;

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
    /// The estimate with this value, which is `without` when each of the rows is left out; `None` for fewer than two
    /// rows.
    pub fn new(value: f64, without: &[f64]) -> Option<Self> {
        let n = without.len();
        if n < 2 {
            return None;
        }
        let mean = without.iter().sum::<f64>() / n as f64;
        let squares: f64 = without.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self { value, variance: squares * (n as f64 - 1.0) / n as f64, n })
    }

    /// The p-value of the t-test that the value is 0; `None` if it does not vary.
    pub fn t_test(self) -> Option<f64> {
        student_two_sided(self.value / self.variance.sqrt(), self.n as f64 - 1.0)
    }

    /// The p-value of Welch's test that two estimates from different rows are of one value; `None` if neither varies.
    pub fn welch(self, other: Self) -> Option<f64> {
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
        let without: Vec<f64> = rows.iter().map(|row| (sum - row) / (n - 1.0)).collect();
        JackknifeEstimate::new(sum / n, &without).unwrap()
    }

    /// `scipy.stats.ttest_ind(a, b, equal_var=False)` by the formulas of Welch (1947).
    #[test]
    fn for_means_it_is_welchs_t_test() {
        let (a, b) = ([1.0, 2.0, 4.0, 5.0], [2.0, 3.0, 9.0]);
        let (mean_a, mean_b) = (3.0, 14.0 / 3.0);
        let (var_a, var_b) = (10.0 / 3.0 / 4.0, (64.0 / 9.0 + 25.0 / 9.0 + 169.0 / 9.0) / 2.0 / 3.0);
        let estimate = of_mean(&a);
        assert!((estimate.variance - var_a).abs() < 1e-12 && estimate.value == mean_a);
        let freedom = (var_a + var_b) * (var_a + var_b) / (var_a * var_a / 3.0 + var_b * var_b / 2.0);
        let expected = student_two_sided((mean_a - mean_b) / (var_a + var_b).sqrt(), freedom).unwrap();
        assert!((estimate.welch(of_mean(&b)).unwrap() - expected).abs() < 1e-12);
        let paired = student_two_sided(mean_a / var_a.sqrt(), 3.0).unwrap();
        assert!((estimate.t_test().unwrap() - paired).abs() < 1e-12);
    }

    #[test]
    fn too_few_rows_and_equal_rows_have_no_test() {
        assert_eq!(JackknifeEstimate::new(1.0, &[1.0]), None);
        assert_eq!(of_mean(&[1.0, 1.0]).welch(of_mean(&[1.0, 1.0])), None);
    }
}
