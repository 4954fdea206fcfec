//! Sums without rounding errors.

/// A sum of finite numbers that is rounded once, at the end.
///
/// The result does not depend on the order of the terms, so threads, shards and the order of images change no digit. It
/// equals Python's `math.fsum`; numpy's pairwise `mean`, which the reference programs use, may differ from it in the
/// last place.
///
/// Source: Shewchuk, *Adaptive Precision Floating-Point Arithmetic* (1997): partial sums that do not
/// overlap. Infinities and NaN add as usual.
#[derive(Clone, Debug, Default)]
pub struct ExactSum {
    /// Non-overlapping, of increasing magnitude.
    partials: Vec<f64>,
    special: f64,
}

impl ExactSum {
    /// Adds `x`.
    pub fn add(&mut self, x: f64) {
        if !x.is_finite() {
            self.special += x;
            return;
        }
        let mut x = x;
        let mut kept = 0;
        for k in 0..self.partials.len() {
            let y = self.partials[k];
            let (large, small) = if x.abs() < y.abs() { (y, x) } else { (x, y) };
            let sum = large + small;
            let rest = small - (sum - large);
            if rest != 0.0 {
                self.partials[kept] = rest;
                kept += 1;
            }
            x = sum;
        }
        self.partials.truncate(kept);
        if x.is_finite() {
            self.partials.push(x);
        } else {
            self.special += x;
            self.partials.clear();
        }
    }

    /// Numbers whose exact sum is this sum: adding them to another sum merges both without rounding.
    pub fn parts(&self) -> impl Iterator<Item = f64> + '_ {
        let special = (self.special != 0.0 || self.special.is_nan()).then_some(self.special);
        self.partials.iter().copied().chain(special)
    }

    /// The sum of the terms but those of `other`, which are among them; `None` if one of them, or a sum on the way, is
    /// no finite number.
    pub fn without(&self, other: &Self) -> Option<Self> {
        let is_finite = |sum: &Self| sum.special == 0.0;
        let mut rest = self.clone();
        rest.extend(other.partials.iter().map(|part| -part));
        (is_finite(self) && is_finite(other) && is_finite(&rest)).then_some(rest)
    }

    /// The sum, correctly rounded to nearest, ties to even.
    pub fn value(&self) -> f64 {
        if self.special != 0.0 || self.special.is_nan() {
            return self.special;
        }
        let mut rest = self.partials.iter().rev();
        let Some(mut high) = rest.next().copied() else { return 0.0 };
        while let Some(y) = rest.next() {
            let sum = high + y;
            let low = y - (sum - high);
            high = sum;
            if low != 0.0 {
                // A remainder of exactly half a unit rounds by the sign of the next lower partial sum.
                if let Some(below) = rest.next()
                    && (low < 0.0) == (*below < 0.0)
                {
                    let twice = low * 2.0;
                    let up = high + twice;
                    if twice == up - high {
                        high = up;
                    }
                }
                break;
            }
        }
        high
    }
}

impl Extend<f64> for ExactSum {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, values: I) {
        for value in values {
            self.add(value);
        }
    }
}

impl FromIterator<f64> for ExactSum {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut sum = Self::default();
        sum.extend(values);
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_summands_that_cancel_leave_the_small_ones() {
        assert_eq!([1e16, 1.0, -1e16, 1.0].into_iter().collect::<ExactSum>().value(), 2.0);
        assert_eq!(std::iter::repeat_n(0.1, 10).collect::<ExactSum>().value(), 1.0);
    }

    /// Values of CPython's `math.fsum` (3.11), from its own test suite's kind of cases.
    #[test]
    fn half_units_round_as_in_fsum() {
        let sum = |values: &[f64]| values.iter().copied().collect::<ExactSum>().value();
        assert_eq!(sum(&[1.0, f64::EPSILON / 2.0]), 1.0);
        assert_eq!(sum(&[1.0, f64::EPSILON / 2.0, 1e-200]), 1.0 + f64::EPSILON);
        assert_eq!(sum(&[1.0, f64::EPSILON / 2.0, -1e-200]), 1.0);
        assert_eq!(sum(&[]), 0.0);
    }

    #[test]
    fn infinities_and_nan_pass_through() {
        let sum = |values: &[f64]| values.iter().copied().collect::<ExactSum>().value();
        assert_eq!(sum(&[1.0, f64::INFINITY]), f64::INFINITY);
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert_eq!(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
    }

    #[test]
    fn terms_are_taken_out_as_if_they_had_never_been_added() {
        let values: Vec<f64> =
            (0..2_000).map(|k| (f64::from(k) * 0.7).sin() * 10f64.powi(k % 40 - 20)).collect();
        let sum = |keep: &dyn Fn(usize) -> bool| {
            (0..values.len()).filter(|k| keep(*k)).map(|k| values[k]).collect::<ExactSum>()
        };
        for step in [1, 2, 3, 7, 1_000] {
            let rest = sum(&|_| true).without(&sum(&|k| k % step == 0)).unwrap();
            assert_eq!(rest.value().to_bits(), sum(&|k| k % step != 0).value().to_bits(), "{step}");
        }
        let infinite: ExactSum = [1.0, f64::INFINITY].into_iter().collect();
        let large: ExactSum = [f64::MAX, f64::MAX, 1.0].into_iter().collect();
        assert!([&infinite, &large].iter().all(|sum| sum.without(&ExactSum::default()).is_none()));
    }

    #[test]
    fn parts_carry_the_whole_sum() {
        for values in [&[1e300, 1.0, 1e-300, 0.1][..], &[f64::INFINITY, 1.0], &[f64::NAN], &[]] {
            let (first, second) = values.split_at(values.len() / 2);
            let mut merged: ExactSum = second.iter().copied().collect();
            merged.extend(first.iter().copied().collect::<ExactSum>().parts());
            let whole: ExactSum = values.iter().copied().collect();
            assert_eq!(merged.value().to_bits(), whole.value().to_bits(), "{values:?}");
        }
    }

    #[test]
    fn order_changes_no_digit() {
        let values: Vec<f64> = (0..5_000).map(|k| ((k * 7919 % 5_000) as f64).sqrt().sin() * 1e3).collect();
        let forwards = values.iter().copied().collect::<ExactSum>().value();
        let backwards = values.iter().rev().copied().collect::<ExactSum>().value();
        assert_eq!(forwards.to_bits(), backwards.to_bits());
    }
}
