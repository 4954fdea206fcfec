//! Rounds to five decimals, as C's `printf` does.

/// The number that `%.5f` prints: the number with five decimals nearest to the exact value of `x`; ties go to the even
/// one.
///
/// Numbers outside 0 to 1 are returned unchanged.
pub(super) fn to_five_decimals(x: f64) -> f64 {
    if !(0.0..=1.0).contains(&x) {
        return x;
    }
    let bits = x.to_bits();
    let exponent = bits >> 52;
    let mantissa = u128::from(bits & ((1 << 52) - 1) | u64::from(exponent > 0) << 52);
    // x = mantissa / 2^shift.
    let shift = 1075 - exponent.max(1);
    if shift > 100 {
        return 0.0;
    }
    let scaled = mantissa * 100_000;
    let (whole, rest, half) = (scaled >> shift, scaled & ((1 << shift) - 1), 1 << (shift - 1));
    let up = rest > half || (rest == half && whole & 1 == 1);
    (whole as u64 + u64::from(up)) as f64 / 1e5
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rounding_equals_that_of_printing(x in 0.0..=1.0_f64, a in 0_u32..2_000, b in 1_u32..2_000) {
            for x in [x, f64::from(a.min(b)) / f64::from(b), x * 1e-9, x * 1e-300, f64::from_bits(u64::from(a))] {
                prop_assert_eq!(to_five_decimals(x), format!("{x:.5}").parse::<f64>().unwrap());
            }
        }
    }

    /// `printf("%.5f")` of glibc 2.36.
    #[test]
    fn ties_go_to_the_even_decimal() {
        assert_eq!([1.0 / 64.0, 3.0 / 64.0, 0.0, 1.0].map(to_five_decimals), [0.01562, 0.04688, 0.0, 1.0]);
    }
}
