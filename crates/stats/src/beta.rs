//! The regularised incomplete beta function, on which tail probabilities rest.

/// A factor as near to 1 as this no longer changes a product.
const CONVERGED: f64 = f64::EPSILON / 2.0;

/// More terms than 10¹² tosses need: their number grows with the square root of `a` and `b`.
const MOST_TERMS: u32 = 1_000_000;

/// The probability that a variable of the beta distribution with the parameters `a` and `b`, each at least 0.5, is at
/// most `x`, a number from 0 to 1.
///
/// The continued fraction is 8.17.22 of the Digital Library of Mathematical Functions (<https://dlmf.nist.gov/8.17>).
/// It converges fast below the mean; above it, 8.17.4 takes `1 - x` instead.
pub(crate) fn beta_regularised(a: f64, b: f64, x: f64) -> f64 {
    // `1 - x` has no digits left.
    if 1.0 - x <= 1e-15 {
        return 1.0;
    }
    let factor = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        factor * fraction(a, b, x) / a
    } else {
        1.0 - factor * fraction(b, a, 1.0 - x) / b
    }
}

/// The continued fraction, from its front: Lentz's algorithm in the form of Thompson and Barnett, *Coulomb and Bessel
/// Functions of Complex Arguments and Order* (1986), whose `c` and `d` are the quotients of successive numerators and
/// denominators.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let not_0 = |value: f64| if value.abs() < 1e-290 { 1e-290 } else { value };
    let (mut c, mut d) = (1.0, 1.0 / not_0(1.0 - (a + b) * x / (a + 1.0)));
    let mut value = d;
    let mut step = |coefficient: f64| {
        d = 1.0 / not_0(1.0 + coefficient * d);
        c = not_0(1.0 + coefficient / c);
        (c, d)
    };
    for m in 1..MOST_TERMS {
        let m = f64::from(m);
        let (c, d) = step(m * (b - m) * x / ((a - 1.0 + 2.0 * m) * (a + 2.0 * m)));
        value = value * d * c;
        let (c, d) = step(-(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 1.0 + 2.0 * m)));
        value *= d * c;
        if (d * c - 1.0).abs() <= CONVERGED {
            break;
        }
    }
    value
}

/// The logarithm of the gamma function from 0.5 on: Lanczos' approximation with the coefficients of Pugh, *An Analysis
/// of the Lanczos Gamma Approximation* (2004), page 116.
fn ln_gamma(x: f64) -> f64 {
    const SHIFT: f64 = 10.900511;
    const COEFFICIENTS: [f64; 11] = [
        2.4857408913875355e-5,
        1.0514237858172197,
        -3.4568709722201625,
        4.512277094668948,
        -2.9828522532357664,
        1.056397115771267,
        -0.19542877319164587,
        0.01709705434044412,
        -0.0005719261174043057,
        4.633994733599057e-6,
        -2.7199490848860772e-9,
    ];
    /// The logarithm of 2 √(e / π).
    const SCALE: f64 = 0.6207822376352452;
    let [first, others @ ..] = COEFFICIENTS;
    let sum = others.iter().zip(0..).fold(first, |sum, (d, k)| sum + d / (x + f64::from(k)));
    sum.ln() + SCALE + (x - 0.5) * ((x - 0.5 + SHIFT) / std::f64::consts::E).ln()
}
