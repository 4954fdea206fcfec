//! Numbers as text: rounded for people, in full for programs.

use capeval_stats::Resampling;
use serde::{Serialize, Serializer};

/// `value` with `digits` digits after the point; NaN is a dash, and a value that rounds to zero has no sign.
pub fn fixed(value: f64, digits: usize) -> String {
    match value {
        f64::INFINITY => "∞".to_owned(),
        f64::NEG_INFINITY => "-∞".to_owned(),
        _ if value.is_finite() => {
            let text = format!("{value:.digits$}");
            if is_zero(&text) { text.trim_start_matches('-').to_owned() } else { text }
        }
        _ => "–".to_owned(),
    }
}

/// Whether the text shows a zero.
pub(crate) fn is_zero(text: &str) -> bool {
    !text.contains(|c: char| c.is_ascii_digit() && c != '0')
}

/// The shortest text that parses to the same number, `inf` for infinity; empty for NaN.
pub(crate) fn full(value: f64) -> String {
    if value.is_nan() { String::new() } else { format!("{value:?}") }
}

/// `value` with at most `digits` significant digits and no trailing zeros; a dash if it is not finite.
pub fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-4..1e15).contains(&magnitude) {
        return format!("{value:.*e}", digits.saturating_sub(1));
    }
    let whole = if magnitude >= 1.0 { magnitude.log10().floor() as usize + 1 } else { 1 };
    let text = format!("{value:.*}", digits.saturating_sub(whole));
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A number that is serialised with at most five significant digits, or as `null` if it is not finite.
#[derive(Clone, Copy, Debug)]
pub struct Rounded(pub f64);

impl Serialize for Rounded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const WHOLE: f64 = 99_999.0;
        let Self(value) = *self;
        if !value.is_finite() {
            return serializer.serialize_unit();
        }
        let is_short = value.fract() == 0.0 && value.abs() <= WHOLE;
        let rounded = if is_short { value } else { five_digits(value) };
        if rounded.fract() == 0.0 && rounded.abs() < 1e15 {
            serializer.serialize_i64(rounded as i64)
        } else {
            serializer.serialize_f64(rounded)
        }
    }
}

/// The number that `significant(value, 5)` shows.
fn five_digits(value: f64) -> f64 {
    let by_text = || significant(value, 5).parse().unwrap_or(value);
    let scale = match value.abs() {
        size if size < 1e-4 => return by_text(),
        size if size < 10.0 => 1e4,
        size if size < 100.0 => 1e3,
        size if size < 1e3 => 1e2,
        size if size < 1e4 => 1e1,
        _ => return by_text(),
    };
    let scaled: f64 = value * scale;
    // Close to a half, the error of the product would decide.
    let is_close = (scaled.fract().abs() - 0.5).abs() < 1e-6;
    if is_close { by_text() } else { scaled.round() / scale }
}

/// The range of a measure, such as `0–10`.
pub(crate) fn range(min: f64, max: f64) -> String {
    if max.is_finite() { format!("{min}–{max}") } else { format!("{min}–∞") }
}

/// A share as a percentage: `95%`, `99.9%`.
pub(crate) fn percent(share: f64) -> String {
    let rounded = (share * 1e10).round() / 1e8;
    format!("{rounded}%")
}

/// What intervals by the bootstrap are, such as
/// `95% intervals, percentiles of 1000 bootstrap resamples of the images, seed 1`.
pub fn intervals_in_words(resampling: &Resampling) -> String {
    format!(
        "{} intervals, percentiles of {} of the images, seed {}",
        percent(resampling.level),
        counted(resampling.resamples, "bootstrap resample"),
        resampling.seed
    )
}

/// `1 image`, `2 images`.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_numbers_read_back() {
        for value in [0.0, 0.1 + 0.2, 1e-9, 2.3e-102, 9.999_999_999_999_998] {
            assert_eq!(full(value).parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
        assert_eq!(full(f64::NAN), "");
        assert_eq!(
            (full(f64::INFINITY).parse(), fixed(f64::INFINITY, 3)),
            (Ok(f64::INFINITY), "∞".to_owned())
        );
    }

    #[test]
    fn a_value_that_rounds_to_zero_has_no_sign() {
        let shown = [(-0.0004, 3), (-0.0006, 3), (-0.0, 1), (f64::NEG_INFINITY, 2)].map(|(x, n)| fixed(x, n));
        assert_eq!(shown, ["0.000", "-0.001", "0.0", "-∞"]);
    }

    #[test]
    fn percentages_show_no_rounding_noise() {
        assert_eq!([0.95, 0.999, 0.07, 1.0 / 3.0].map(percent), ["95%", "99.9%", "7%", "33.33333333%"]);
    }

    #[test]
    fn trailing_zeros_are_dropped() {
        let shown: Vec<String> =
            [0.0, 2.0, 0.5, 1.0 / 3.0, 12_345.6, 40_504.0, 1e-9, -1e-5, f64::NAN, 0.000_123_456]
                .map(|value| significant(value, 5))
                .into();
        let expected =
            ["0", "2", "0.5", "0.3333", "12346", "40504", "1.0000e-9", "-1.0000e-5", "–", "0.0001"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn rounding_by_arithmetic_is_rounding_by_text() {
        let mut state = 1_u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = (state >> 11) as f64 / (1_u64 << 53) as f64 * 10_f64.powi((state % 11) as i32 - 5);
            let ties = [value, (value * 2e4).round() / 2e4, (value * 2e3).round() / 2e3];
            for value in ties {
                let text: f64 = significant(value, 5).parse().unwrap();
                assert_eq!(five_digits(value).to_bits(), text.to_bits(), "{value:?}");
            }
        }
    }

    #[test]
    fn rounded_numbers_are_short() {
        let numbers = [0.0, -0.0, 2.0, 0.5, 1.0 / 3.0, -40_504.4, 1e-9, 1.23456e16, f64::NAN, f64::INFINITY];
        let shown = serde_json::to_string(&numbers.map(Rounded)).unwrap();
        assert_eq!(shown, "[0,0,2,0.5,0.3333,-40504,1e-9,1.2346e+16,null,null]");
    }

    #[test]
    fn ranges_show_both_ends() {
        assert_eq!(range(0.0, 10.0), "0–10");
        assert_eq!(range(0.0, f64::INFINITY), "0–∞");
    }
}
