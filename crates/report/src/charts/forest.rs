//! Forest plots as inline SVG: a row for each estimate, with its name, its point and interval, and its value.

use askama::Template;
use capeval_stats::Interval;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::chart::{Axis, Colour};
use crate::number::fixed;

/// The ends of a row.
const LEFT: f64 = 8.0;
const RIGHT: f64 = 452.0;
/// The height of a row.
const ROW: usize = 26;
/// The width of a Latin letter, half of that of a Chinese character, and the gap between names, the axis and values.
const LETTER: f64 = 8.6;
const GAP: f64 = 18.0;
/// The largest width of a name that is drawn, in letters.
const NAME: usize = 20;

/// An estimate with its interval.
#[derive(Debug)]
pub struct Estimate {
    /// The estimated quantity.
    pub name: String,
    /// The estimate; not drawn if it is not finite.
    pub value: f64,
    /// Its interval.
    pub interval: Option<Interval>,
    /// The colour.
    pub colour: Colour,
}

/// A forest plot.
#[derive(Template)]
#[template(path = "forest.svg")]
pub struct Forest {
    axis: Axis,
    /// The ends of the axis, between names and values.
    left: f64,
    right: f64,
    height: usize,
    /// The place of the line of no effect, if it is within the axis.
    line: Option<f64>,
    rows: Vec<Row>,
}

struct Row {
    class: String,
    name: String,
    value: String,
    /// The value with its interval.
    words: String,
    at: Option<f64>,
    interval: Option<(f64, f64)>,
}

impl Forest {
    /// Estimates below each other, with a line at `none`, the value of no effect.
    pub fn new(label: &str, estimates: &[Estimate], none: Option<f64>, digits: usize) -> Self {
        let ends = estimates.iter().flat_map(|one| {
            let interval = one.interval.map_or([one.value; 2], |interval| [interval.low, interval.high]);
            [one.value, interval[0], interval[1]]
        });
        let ends = ends.chain(none).filter(|end| end.is_finite());
        let (low, high) =
            ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(end), high.max(end)));
        let size = low.abs().max(high.abs());
        let margin = match high - low {
            spread if spread > 1e-6 * size => 0.04 * spread,
            // Equal values are in the middle of an axis that is as long as its labels are readable.
            _ if size > 0.0 => 0.1 * size,
            _ => 0.5,
        };
        let axis = Axis::new(label, if low.is_finite() { (low - margin, high + margin) } else { (0.0, 1.0) });
        let names: Vec<String> = estimates.iter().map(|one| shortened(&one.name)).collect();
        let values: Vec<String> = estimates.iter().map(|one| fixed(one.value, digits)).collect();
        let width = |texts: &[String]| {
            let letters = texts.iter().map(|text| text.width()).max().unwrap_or_default();
            LETTER * letters.min(NAME) as f64
        };
        let (left, right) = (LEFT + width(&names) + GAP, RIGHT - width(&values) - GAP);
        let place = |value: f64| left + (right - left) * axis.share(value);
        let rows = estimates.iter().zip(names).zip(values).map(|((one, name), value)| {
            let interval =
                one.interval.filter(|interval| interval.low.is_finite() && interval.high.is_finite());
            let words = match interval {
                Some(Interval { low, high }) => {
                    format!("{}: {value} [{}, {}]", one.name, fixed(low, digits), fixed(high, digits))
                }
                None => format!("{}: {value}", one.name),
            };
            Row {
                class: one.colour.class(),
                name,
                value,
                words,
                at: one.value.is_finite().then(|| place(one.value)),
                interval: interval.map(|interval| (place(interval.low), place(interval.high))),
            }
        });
        let rows: Vec<Row> = rows.collect();
        Self { height: ROW * rows.len() + 56, line: none.map(place), left, right, rows, axis }
    }
}

/// The name, without its middle if it is too long for the drawing.
fn shortened(name: &str) -> String {
    if name.width() <= NAME {
        return name.to_owned();
    }
    let within = |letters: &mut dyn Iterator<Item = char>, most: usize| -> Vec<char> {
        let mut width = 0;
        let mut fits = |letter: &char| {
            width += letter.width().unwrap_or(0);
            width <= most
        };
        letters.take_while(|letter| fits(letter)).collect()
    };
    let head = within(&mut name.chars(), NAME / 2);
    let tail = within(&mut name.chars().rev(), NAME / 2 - 1);
    head.into_iter().chain(['…']).chain(tail.into_iter().rev()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(name: &str, value: f64, low: f64, high: f64) -> Estimate {
        Estimate {
            name: name.into(),
            value,
            interval: Some(Interval { low, high }),
            colour: Colour::System(1),
        }
    }

    #[test]
    fn intervals_are_drawn_on_one_axis() {
        let rows = [estimate("<a>", 0.0, -1.0, 1.0), estimate(&"long".repeat(20), 2.0, 1.0, 3.0)];
        let svg = Forest::new("difference", &rows, Some(0.0), 2).to_string();
        assert!(svg.contains("0.00 [-1.00, 1.00]") && svg.contains("2.00 [1.00, 3.00]"), "{svg}");
        assert!(svg.contains(">&lt;a&gt;</text>") && svg.contains(">longlonglo…glonglong"), "{svg}");
        assert_eq!(svg.matches("class=\"zero\"").count(), 1);
        assert_eq!(svg.matches("class=\"forest s1\"").count(), 2);
    }

    #[test]
    fn wide_letters_take_twice_the_room() {
        let start = |name: &str| {
            let svg = Forest::new("x", &[estimate(name, 0.0, -1.0, 1.0)], None, 2).to_string();
            svg.split("<path d=\"M").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().to_owned()
        };
        assert_eq!(start("验证集一"), start("eight or"));
        assert_eq!(shortened("在验证集上得分最高的系统名称"), "在验证集上…系统名称");
    }

    #[test]
    fn equal_values_are_in_the_middle_of_a_readable_axis() {
        let labels = |values: [f64; 2]| -> Vec<String> {
            let row = |value| Estimate { interval: None, ..estimate("a", value, 0.0, 0.0) };
            let svg = Forest::new("x", &values.map(row), None, 3).to_string();
            let middle = svg.split("<text x=\"").last().and_then(|label| label.split('"').next()).unwrap();
            assert_eq!(svg.matches(&format!("<circle cx=\"{middle}\"")).count(), 2, "{svg}");
            let ticks = svg.split("class=\"rule\"").skip(1);
            ticks.filter_map(|tick| Some(tick.split(['>', '<']).nth(3)?.to_owned())).collect()
        };
        assert_eq!(labels([5000.0; 2]), ["4500", "4750", "5000", "5250", "5500"]);
        assert_eq!(labels([0.3, 0.1 + 0.2]), ["0.28", "0.30", "0.32"]);
        assert_eq!(labels([0.0; 2]), ["-0.4", "-0.2", "0.0", "0.2", "0.4"]);
        assert_eq!(labels([1e17; 2]).len(), 3);
    }

    #[test]
    fn an_estimate_that_is_not_finite_has_no_point() {
        let rows = [Estimate { interval: None, ..estimate("a", f64::NAN, 0.0, 0.0) }];
        let svg = Forest::new("x", &rows, None, 3).to_string();
        assert!(svg.contains(">–</text>") && !svg.contains("<circle"), "{svg}");
    }
}
