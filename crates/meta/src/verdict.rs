//! Compares a measured value with the published one, in the digits that were published.

use capeval::report::fixed;
use capeval::stats::Interval;
use serde::{Deserialize, Serialize};

use crate::registry::{Benchmark, KnownMismatch, PublishedValues};

/// A published value beside what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The name of the source.
    pub source: String,
    /// The value as it was printed.
    pub printed: String,
    /// The factor of the coefficient there.
    pub scale: u32,
    /// The verdict on the two.
    pub verdict: Verdict,
}

/// The verdict on a measured and a published value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Verdict {
    /// They have the same digits.
    Equal,
    /// The published value depends on chance, and lies within the interval; the difference.
    Within(String),
    /// They differ as is known of the real data; the difference, and why.
    Known(String, String),
    /// They differ.
    Differs(String),
    /// Nothing was measured.
    None,
}

impl Verdict {
    /// Returns true if the published value is met.
    pub fn is_met(&self) -> bool {
        !matches!(self, Self::Differs(_) | Self::None)
    }

    /// The verdict in data.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Within(_) => "within",
            Self::Known(..) => "known",
            Self::Differs(_) => "differs",
            Self::None => "none",
        }
    }

    /// The difference, in the digits that were published; empty if there is none.
    pub fn difference(&self) -> &str {
        match self {
            Self::Within(by) | Self::Known(by, _) | Self::Differs(by) => by,
            Self::Equal | Self::None => "",
        }
    }
}

/// The number of digits after the point.
fn digits(printed: &str) -> usize {
    printed.split_once('.').map_or(0, |(_, digits)| digits.len())
}

/// Compares what was measured with one published value.
pub(crate) fn compare(
    benchmark: &'static Benchmark,
    published: &'static PublishedValues,
    metric: &str,
    value: Option<f64>,
    interval: Option<Interval>,
) -> Option<Comparison> {
    let printed = published.values.get(metric)?;
    let scale = f64::from(published.scale);
    let verdict = match value {
        None => Verdict::None,
        Some(value) => {
            let known = benchmark.known.iter().find(|known| {
                let KnownMismatch { source, metric: of, coefficient, category, .. } = known;
                let is_same = *coefficient == published.coefficient && *category == published.category;
                *source == published.source && of == metric && is_same
            });
            verdict(printed, scale * value, known, |number| {
                published.by_chance && interval.is_some_and(|ends| ends.scaled(scale).contains(number))
            })
        }
    };
    let (source, printed) = (published.source.clone(), printed.clone());
    Some(Comparison { source, printed, scale: published.scale, verdict })
}

fn verdict(
    printed: &str,
    measured: f64,
    known: Option<&'static KnownMismatch>,
    is_within: impl Fn(f64) -> bool,
) -> Verdict {
    let digits = digits(printed);
    let shown = fixed(measured, digits);
    let number: f64 = printed.parse().unwrap_or(f64::NAN);
    if shown == printed || shown.parse() == Ok(number) {
        return Verdict::Equal;
    }
    let by = shown.parse().map_or(f64::NAN, |shown: f64| shown - number);
    let by = format!("{}{}", if by > 0.0 { "+" } else { "" }, fixed(by, digits));
    match known {
        Some(known) if known.measured == shown => Verdict::Known(by, known.why.clone()),
        _ if is_within(number) => Verdict::Within(by),
        _ => Verdict::Differs(by),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{benchmark, benchmarks};

    #[test]
    fn values_are_compared_in_the_digits_that_were_published() {
        let of = |printed: &str, measured: f64| verdict(printed, measured, None, |_| false);
        assert_eq!(of("43.9", 43.891), Verdict::Equal);
        assert_eq!(of("43.891", 43.8912), Verdict::Equal);
        assert_eq!(of("43.9", 43.849), Verdict::Differs("-0.1".into()));
        assert_eq!(of("22.2", 22.269), Verdict::Differs("+0.1".into()));
        assert_eq!(of("-0.279", -0.278), Verdict::Differs("+0.001".into()));
        assert_eq!((of("44", 44.4), of("0.0", -0.01)), (Verdict::Equal, Verdict::Equal));
        assert_eq!(of("1.0", f64::NAN).name(), "differs");
    }

    #[test]
    fn known_differences_and_chance_are_told_from_others() {
        let benchmark = benchmark("flickr8k-cf").unwrap();
        let clipscore = &benchmark.published[0];
        let found = |metric, value| compare(benchmark, clipscore, metric, Some(value), None).unwrap().verdict;
        assert!(matches!(found("meteor", 0.22269), Verdict::Known(by, _) if by == "+0.1"));
        assert_eq!(found("meteor", 0.224), Verdict::Differs("+0.2".into()));
        assert_eq!(found("cider-d", 0.24619), Verdict::Equal);
        assert_eq!(compare(benchmark, clipscore, "bleu-2", Some(0.1), None), None);
        assert!(!compare(benchmark, clipscore, "bleu-4", None, None).unwrap().verdict.is_met());
        let pascal = benchmarks().iter().find(|b| b.name == "pascal-50s").unwrap();
        let chance = |low: f64| {
            let interval = Some(Interval { low, high: 0.82 });
            compare(pascal, &pascal.published[0], "meteor", Some(0.8), interval).unwrap().verdict
        };
        let bleu = |published: &'static PublishedValues, value| {
            compare(pascal, published, "bleu-4", Some(value), None).unwrap().verdict
        };
        assert!(matches!(bleu(&pascal.published[0], 0.748), Verdict::Known(by, _) if by == "+2.2"));
        let hi =
            pascal.published.iter().find(|published| published.category.as_deref() == Some("HI")).unwrap();
        assert!(matches!(bleu(hi, 0.937), Verdict::Known(by, _) if by == "+3.1"));
        assert_eq!(bleu(hi, 0.748), Verdict::Differs("-15.8".into()));
        assert_eq!(chance(0.79), Verdict::Within("-0.1".into()));
        assert_eq!(chance(0.805), Verdict::Differs("-0.1".into()));
    }
}
