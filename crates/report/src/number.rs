//! Numbers as text: rounded for people, in full for programs.

use capeval_choice::counted;
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

/// Returns true if the text shows a zero.
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
pub struct RoundedNumber(pub f64);

impl Serialize for RoundedNumber {
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

impl RoundedNumber {
    /// Adds the number as JSON; the same number as when it is serialised, in less time.
    pub(crate) fn push(self, out: &mut Vec<u8>) {
        let Self(value) = self;
        let size = value.abs();
        let decimals = match size {
            size if size <= 99_999.0 && f64::from(size as u32) == size => 0,
            size if size < 1e-4 => return self.push_small(out),
            size if size < 10.0 => 4,
            size if size < 100.0 => 3,
            size if size < 1e3 => 2,
            size if size < 1e4 => 1,
            _ => return self.push_any(out),
        };
        match rounded(size * f64::from(10_u32.pow(decimals))) {
            Some(digits) => {
                if value < 0.0 && digits > 0 {
                    out.push(b'-');
                }
                push_decimal(out, digits, decimals as usize);
            }
            None => self.push_any(out),
        }
    }

    /// Adds a number below 1e-4 in scientific notation.
    fn push_small(self, out: &mut Vec<u8>) {
        let Self(value) = self;
        let exponent = value.abs().log10().floor();
        let scaled = value.abs() * 10_f64.powi(4 - exponent as i32);
        match rounded(scaled) {
            Some(digits @ 10_000..100_000) => {
                if value < 0.0 {
                    out.push(b'-');
                }
                push_decimal(out, digits, 4);
                out.extend_from_slice(b"e-");
                push_digits(out, -exponent as u32);
            }
            _ => self.push_any(out),
        }
    }

    fn push_any(self, out: &mut Vec<u8>) {
        serde_json::to_writer(out, &self).expect("a number has a JSON form");
    }
}

/// The nearest whole number; `None` if the error of a product would decide which it is.
fn rounded(scaled: f64) -> Option<u32> {
    let below = scaled as u32;
    let rest = scaled - f64::from(below);
    (0.0..1.0).contains(&rest).then_some(())?;
    (!is_close_to_half(rest)).then_some(below + u32::from(rest > 0.5))
}

/// Adds the digits of a whole number.
pub(crate) fn push_digits(out: &mut Vec<u8>, number: u32) {
    if number < 10 {
        out.push(b'0' + number as u8);
    } else {
        push_decimal(out, number, 0);
    }
}

/// Adds a number of which the last `decimals` digits follow the point, without zeros at its end.
fn push_decimal(out: &mut Vec<u8>, mut digits: u32, mut decimals: usize) {
    while decimals > 0 && digits.is_multiple_of(10) {
        (digits, decimals) = (digits / 10, decimals - 1);
    }
    // From its end, a number of ten digits and a point.
    let mut text = [0; 11];
    let mut n = 0;
    let mut put = |byte| {
        text[n] = byte;
        n += 1;
    };
    for place in 0.. {
        if digits == 0 && place > decimals {
            break;
        }
        if place == decimals && place > 0 {
            put(b'.');
        }
        put(b'0' + (digits % 10) as u8);
        digits /= 10;
    }
    let start = out.len();
    // All of it, since copying a part is a call.
    out.extend_from_slice(&text);
    out.truncate(start + n);
    out[start..].reverse();
}

/// Returns true if the error of a product would decide the rounding.
fn is_close_to_half(scaled: f64) -> bool {
    (scaled.fract().abs() - 0.5).abs() < 1e-6
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
    if is_close_to_half(scaled) { by_text() } else { scaled.round() / scale }
}

/// The range of a measure, such as `0–10`; empty if nothing bounds it.
pub(crate) fn range(min: f64, max: f64) -> String {
    let end = |bound: f64| if bound.is_finite() { bound.to_string() } else { fixed(bound, 0) };
    match min.is_finite() || max.is_finite() {
        true => format!("{}–{}", end(min), end(max)),
        false => String::new(),
    }
}

/// A share as a percentage: `95%`, `99.9%`.
pub(crate) fn percent(share: f64) -> String {
    let rounded = (share * 1e10).round() / 1e8;
    format!("{rounded}%")
}

/// A description of intervals by the bootstrap, such as `95% intervals, percentiles of 1000 bootstrap resamples of the
/// images, seed 1`; `unit` is what is drawn, such as `image`.
pub fn intervals_in_words(resampling: &Resampling, unit: &str) -> String {
    format!(
        "{} intervals, percentiles of {} of the {unit}s, seed {}",
        percent(resampling.level),
        counted(resampling.resamples, "bootstrap resample"),
        resampling.seed
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_numbers_read_back() {
        for value in [0.0, 0.1 + 0.2, 1e-9, 2.3e-102, 9.999_999_999_999_998] {
            assert_eq!(full(value).parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
        assert_eq!([1.0, 2.3e-102].map(full), ["1.0", "2.3e-102"]);
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
        let shown = serde_json::to_string(&numbers.map(RoundedNumber)).unwrap();
        assert_eq!(shown, "[0,0,2,0.5,0.3333,-40504,1e-9,1.2346e+16,null,null]");
        let pushed = numbers.map(pushed).join(",");
        assert_eq!(format!("[{pushed}]"), shown);
    }

    fn pushed(value: f64) -> String {
        let mut text = Vec::new();
        RoundedNumber(value).push(&mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn pushed_numbers_are_those_that_are_serialised() {
        let mut state = 1_u64;
        for _ in 0..100_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = (state >> 11) as f64 / (1_u64 << 53) as f64 * 10_f64.powi((state % 29) as i32 - 22);
            let sign = if state & (1 << 40) == 0 { 1.0 } else { -1.0 };
            for value in [value, (value * 2e4).round() / 2e4, value.round()] {
                let value = sign * value;
                let text = pushed(value);
                let serialised = serde_json::to_string(&RoundedNumber(value)).unwrap();
                assert!(text.len() <= serialised.len() && text.len() <= 12, "{text} for {serialised}");
                assert_eq!(text.parse::<f64>().unwrap(), serialised.parse::<f64>().unwrap(), "{value:?}");
            }
        }
        let small = [5e-324, -1.5e-310, 9.999_96e-5, 0.000_099_999_9, 99_999.5, 9_999.96];
        for value in small {
            let serialised = serde_json::to_string(&RoundedNumber(value)).unwrap();
            assert_eq!(
                pushed(value).parse::<f64>().unwrap(),
                serialised.parse::<f64>().unwrap(),
                "{value:?}"
            );
        }
    }

    #[test]
    fn ranges_show_both_ends() {
        assert_eq!(range(0.0, 10.0), "0–10");
        assert_eq!(range(0.0, f64::INFINITY), "0–∞");
        assert_eq!(range(f64::NEG_INFINITY, f64::INFINITY), "");
    }
}
