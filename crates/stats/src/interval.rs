//! Intervals and quantiles of resampled values.

/// A closed interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// The percentile interval of `values` at `level`, such as 0.95: it leaves out equal shares of the values
    /// on both sides. Both ends are NaN if there are no values or one of them is NaN.
    pub fn percentile(mut values: Vec<f64>, level: f64) -> Self {
        if values.iter().any(|value| value.is_nan()) {
            return Self { low: f64::NAN, high: f64::NAN };
        }
        values.sort_unstable_by(f64::total_cmp);
        let outside = (1.0 - level) / 2.0;
        Self { low: quantile(&values, outside), high: quantile(&values, 1.0 - outside) }
    }

    /// The interval of values that are `factor` times as large; `factor` is above 0.
    pub fn scaled(self, factor: f64) -> Self {
        Self { low: self.low * factor, high: self.high * factor }
    }

    /// Returns true if `value` lies within.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// The quantile at `share` (0 to 1) of the ascending `sorted`, interpolated linearly like
/// numpy's `quantile`; NaN if there are no values.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = share.clamp(0.0, 1.0) * last as f64;
    let below = (at.floor() as usize).min(last);
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    let part = at - below as f64;
    if part == 0.0 || low == high { low } else { low + (high - low) * part }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `numpy.quantile([1, 2, 4, 8], q)`, numpy 2.
    #[test]
    fn quantiles_equal_those_of_numpy() {
        let values = [1.0, 2.0, 4.0, 8.0];
        for (share, expected) in [(0.0, 1.0), (0.1, 1.3), (0.5, 3.0), (0.9, 6.8), (1.0, 8.0)] {
            assert!((quantile(&values, share) - expected).abs() < 1e-12, "{share}");
        }
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn intervals_leave_out_equal_shares() {
        let values: Vec<f64> = (0..=1000).rev().map(f64::from).collect();
        let interval = Interval::percentile(values, 0.9);
        assert!((interval.low - 50.0).abs() < 1e-9 && (interval.high - 950.0).abs() < 1e-9);
        assert!(interval.contains(50.5) && !interval.contains(951.0));
    }

    #[test]
    fn infinities_are_ends_and_nan_is_none() {
        let infinite = Interval::percentile(vec![1.0, f64::INFINITY, f64::INFINITY, f64::INFINITY], 0.5);
        assert_eq!(infinite.high, f64::INFINITY);
        assert!(Interval::percentile(vec![1.0, f64::NAN], 0.5).low.is_nan());
    }
}
