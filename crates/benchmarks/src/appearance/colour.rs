//! The colour of a benchmark, which marks its pages and must be visible on light and dark ones.

use anyhow::{Context, ensure};
use capeval_site::reason;

/// The contrast that drawings need (WCAG 2.2, 1.4.11). The colour is that of lines; letters keep those of the site.
const LEAST: f64 = 3.0;

/// The background of light pages, and that of dark ones.
const LIGHT: &str = "#fcfcfa";
const DARK: &str = "#15171b";

/// The colour in small letters; empty for none.
///
/// # Errors
/// If it is no colour, or can hardly be seen on some pages.
pub fn checked(text: &str) -> anyhow::Result<String> {
    let colour = text.trim().to_ascii_lowercase();
    if colour.is_empty() {
        return Ok(colour);
    }
    let own =
        luminance(&colour).with_context(|| reason!("accent: `{}` is no colour such as #2c63c7", text))?;
    let on = |ground| contrast(own, luminance(ground).unwrap_or_default());
    let (light, dark) = (on(LIGHT), on(DARK));
    ensure!(
        light >= LEAST,
        reason!(
            "accent: {} has a contrast of {} on light pages, and needs 3: take a darker one",
            colour,
            tenths(light)
        )
    );
    ensure!(
        dark >= LEAST,
        reason!(
            "accent: {} has a contrast of {} on dark pages, and needs 3: take a lighter one",
            colour,
            tenths(dark)
        )
    );
    Ok(colour)
}

/// A contrast with one decimal, rounded down, so that 2.99 does not look like enough.
fn tenths(contrast: f64) -> String {
    format!("{:.1}", (contrast * 10.0).floor() / 10.0)
}

/// The relative luminance of a colour such as `#2c63c7`; `None` if it is none.
fn luminance(colour: &str) -> Option<f64> {
    let digits = colour.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let all = u32::from_str_radix(digits, 16)
        .ok()
        .filter(|_| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
    let part = |shift: u32| {
        let share = f64::from((all >> shift) & 0xff) / 255.0;
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    Some(0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0))
}

fn contrast(a: f64, b: f64) -> f64 {
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_is_seen_on_light_and_on_dark_pages() {
        assert_eq!(contrast(1.0, 0.0).to_string(), "21");
        for colour in ["#2C63C7", "#b9540f", "#14795a", "#9b4db5", " #c0392b"] {
            assert_eq!(checked(colour).unwrap(), colour.trim().to_lowercase());
        }
        for (colour, words) in [
            ("#ffee00", "on light pages"),
            ("#ffffff", "1.0 on light pages"),
            ("#000080", "on dark pages"),
            ("#000", "is no colour"),
            ("#+12345", "is no colour"),
            ("red; } body { display: none", "is no colour"),
        ] {
            let refused = checked(colour).unwrap_err().to_string();
            assert!(refused.contains(words), "{colour}: {refused}");
        }
    }

    #[test]
    fn the_backgrounds_are_those_of_the_style() {
        for colour in [LIGHT, DARK] {
            assert!(capeval_report::charts::STYLE.contains(&format!("--paper: {colour};")), "{colour}");
        }
    }
}
