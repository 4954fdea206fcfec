//! Functions that loops over many numbers can be vectorised with.
#![expect(clippy::excessive_precision, reason = "coefficients as they were published")]

/// e to the power of x: 0 below −87, and as that of 88 above 88. Relative error below 2e-7.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // The polynomial of Cephes on half the logarithm of 2 to both sides, times a power of 2.
    let x = x.clamp(-87.3, 88.0);
    let n = (x * std::f32::consts::LOG2_E + 12_582_912.0) - 12_582_912.0;
    let r = x - n * 0.693_359_375;
    let r = r - n * -2.121_944_4e-4;
    let p = 1.987_569_2e-4;
    let p = p * r + 1.398_2e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 5.000_000_1e-1;
    let e = p * r * r + r + 1.0;
    e * f32::from_bits(((n as i32 + 127) as u32) << 23)
}

/// The error function: a quotient of polynomials between −4 and 4, outside of which it is 1. Error below 3e-7.
#[inline(always)]
pub(crate) fn erf(x: f32) -> f32 {
    let x = x.clamp(-4.0, 4.0);
    let s = x * x;
    let a = -2.726_142_3e-10;
    let a = a * s + 2.770_681_4e-8;
    let a = a * s - 2.101_024_1e-6;
    let a = a * s - 5.692_506_4e-5;
    let a = a * s - 7.349_906_4e-4;
    let a = a * s - 2.954_599_9e-3;
    let a = a * s - 1.609_603_3e-2;
    let b = -1.456_607_2e-5;
    let b = b * s - 2.133_740_6e-4;
    let b = b * s - 1.682_827_0e-3;
    let b = b * s - 7.373_329e-3;
    let b = b * s - 1.426_473_9e-2;
    x * a / b
}

/// The sum of a function of numbers, in eight parts whatever the processor is.
#[inline(always)]
pub(crate) fn sum(numbers: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let (eights, rest) = numbers.as_chunks::<8>();
    let mut parts = [0.0_f32; 8];
    for eight in eights {
        for (part, x) in parts.iter_mut().zip(eight) {
            *part += of(*x);
        }
    }
    let rest: f32 = rest.iter().map(|x| of(*x)).sum();
    parts.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_close() {
        for k in -8_700..8_800 {
            let x = k as f32 / 100.0;
            let true_one = f64::from(x).exp();
            assert!((f64::from(exp(x)) / true_one - 1.0).abs() < 2e-7, "{x}: {} {true_one}", exp(x));
        }
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(-200.0) < 1e-37 && exp(f32::INFINITY).is_finite());
    }

    #[test]
    fn the_error_function_is_close() {
        // From Python's math.erf.
        for (x, expected) in [
            (0.0, 0.0),
            (0.1, 0.112_462_916),
            (0.5, 0.520_499_878),
            (1.0, 0.842_700_793),
            (1.7, 0.983_790_459),
            (2.5, 0.999_593_048),
            (3.9, 0.999_999_965),
            (7.0, 1.0),
        ] {
            assert!((erf(x) - expected).abs() < 3e-7 && (erf(-x) + expected).abs() < 3e-7, "{x}: {}", erf(x));
        }
    }
}
