//! Charts with two axes as inline SVG, coloured by the page's style.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::number::significant;
use askama::Template;

/// The number of series that have a colour of their own.
pub const COLOURS: usize = 8;

/// The number of squares along each axis of a scatter plot of many points.
pub const SQUARES: usize = 32;
/// The largest number of points that are drawn one by one.
const POINTS: usize = 400;

/// The numbers of days between labels, and the largest number of labels.
const DAYS: [i64; 10] = [1, 2, 3, 5, 7, 14, 28, 56, 91, 182];
const DAYS_LABELLED: i64 = 4;

/// The edges of the plot area.
const LEFT: f64 = 68.0;
const RIGHT: f64 = 446.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 228.0;

/// A drawing of data over two axes, as SVG.
#[derive(Template)]
#[template(path = "chart.svg")]
pub struct Chart {
    x: Axis,
    y: Axis,
    marks: Marks,
}

/// An axis of a chart with its range.
#[derive(Clone)]
pub struct Axis {
    /// The measured quantity.
    pub label: String,
    low: f64,
    high: f64,
    /// True if values are counts, so that ticks are whole numbers.
    is_whole: bool,
    /// The values to label; `None` labels round values.
    labelled: Option<Vec<(f64, String)>>,
}

/// The colour of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// The colour of the system with this number.
    System(usize),
    /// Grey.
    Muted,
}

/// A curve.
pub struct Series {
    /// The colour of the curve.
    pub colour: Colour,
    /// The points of the curve, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// A point that stands for something by itself.
pub struct Dot {
    /// Its place on both axes.
    pub at: (f64, f64),
    /// Its colour.
    pub colour: Colour,
    /// The text that a pointer over it shows.
    pub title: String,
}

/// The data of a chart, with CSS classes for the colours.
enum Marks {
    Curves(Vec<Curve>),
    Marked { lines: Vec<Curve>, dots: Vec<MarkedPoint> },
    Dots { class: String, at: Vec<(f64, f64)> },
    Squares { class: String, paths: Vec<Square> },
    Boxes { class: String, width: f64, boxes: Vec<Quartiles> },
    Sized(Vec<Path>),
}

/// A box of a box plot, in the coordinates of the drawing.
struct Quartiles {
    x: f64,
    /// The ends of the whiskers and of the box, and the median, from the bottom to the top.
    y: [f64; 5],
    n: usize,
}

/// Points whose areas are in proportion to counts, and the line through each run of neighbours.
struct Path {
    class: String,
    line: String,
    /// The position and radius of each point.
    dots: Vec<(f64, f64, f64)>,
}

/// The values of a group in a box plot.
pub struct Group {
    /// The position of the group on the horizontal axis.
    pub x: f64,
    /// The number of values.
    pub n: usize,
    /// The 5th, 25th, 50th, 75th and 95th percentile.
    pub percentiles: [f64; 5],
}

/// A mean of some values.
pub struct Mean {
    /// The place on the horizontal axis, a whole number.
    pub x: usize,
    /// The mean.
    pub value: f64,
    /// The number of values.
    pub n: usize,
}

struct Curve {
    class: String,
    line: String,
    /// The outline of the area below the curve; `None` if it is not tinted.
    area: Option<String>,
}

/// A point in the coordinates of the drawing.
struct MarkedPoint {
    class: String,
    x: f64,
    y: f64,
    title: String,
}

/// All squares of one shade.
struct Square {
    opacity: f64,
    path: String,
}

impl Colour {
    /// The CSS class.
    pub fn class(self) -> String {
        match self {
            Self::System(k) => format!("s{}", k % COLOURS),
            Self::Muted => "grey".to_owned(),
        }
    }
}

impl Axis {
    /// An axis from `low` to `high`, or to `low + 1` if `high` is not larger.
    pub fn new(label: impl Into<String>, (low, high): (f64, f64)) -> Self {
        Self {
            label: label.into(),
            low,
            high: if high > low { high } else { low + 1.0 },
            is_whole: false,
            labelled: None,
        }
    }

    /// An axis that labels these values only, which must be ascending; with a margin at both ends.
    pub fn of_values(label: impl Into<String>, values: &[f64]) -> Self {
        let steps = values.windows(2).filter_map(|pair| Some(pair.last()? - pair.first()?));
        let margin = 0.6 * steps.fold(f64::INFINITY, f64::min).min(1.0);
        let ends =
            values.first().zip(values.last()).map_or((0.0, 1.0), |(low, high)| (low - margin, high + margin));
        let labelled = values.iter().map(|value| (*value, significant(*value, 3))).collect();
        Self { labelled: Some(labelled), ..Self::new(label, ends) }
    }

    /// An axis of days, numbered from any first one, that labels at most four of them by their names.
    pub fn of_days(
        label: impl Into<String>,
        (first, last): (i64, i64),
        name: impl Fn(i64) -> String,
    ) -> Self {
        let last = last.max(first + 1);
        let least = (last - first) / (DAYS_LABELLED - 1);
        let step = DAYS.into_iter().find(|step| *step >= least).unwrap_or(least);
        // From the last day, which matters most; not so near to the edges that labels would be cut off.
        let (low, high) = (first as f64, last as f64);
        let margin = 0.1 * (high - low);
        let days = (0..DAYS_LABELLED).map(|k| last - k * step).take_while(|day| *day >= first);
        let labelled = days.map(|day| (day as f64, name(day))).collect();
        Self { labelled: Some(labelled), ..Self::new(label, (low - margin, high + margin)) }
    }

    /// As [`new`](Self::new), but for counts.
    pub fn of_counts(label: impl Into<String>, range: (f64, f64)) -> Self {
        Self { is_whole: true, ..Self::new(label, range) }
    }

    /// The position of a value along the axis, 0 to 1.
    pub fn share(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Round values for at most `at_most` intervals, each as its position along the axis and its label.
    pub fn ticks(&self, at_most: f64) -> Vec<(f64, String)> {
        if let Some(values) = &self.labelled {
            return values.iter().map(|(value, label)| (self.share(*value), label.clone())).collect();
        }
        let least = (self.high - self.low) / at_most;
        let power = least.log10().floor();
        let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * 10_f64.powf(power));
        let fits = |step: &f64| *step >= least * (1.0 - 1e-9) && (!self.is_whole || step.fract() == 0.0);
        let step = steps.into_iter().find(fits).unwrap_or(if self.is_whole { 1.0 } else { least });
        // Large counts in thousands or millions, since longer labels would meet that of the axis.
        let (unit, suffix) = match self.high {
            high if self.is_whole && high >= 1e6 => (1e6, "M"),
            high if self.is_whole && high >= 1e4 => (1e3, "k"),
            _ => (1.0, ""),
        };
        let decimals = (0..9).find(|digits| {
            let scaled = step / unit * 10_f64.powi(*digits);
            (scaled - scaled.round()).abs() < 1e-6
        });
        let decimals = decimals.unwrap_or(9) as usize;
        let (first, last) = ((self.low / step - 1e-9).ceil(), (self.high / step + 1e-9).floor());
        let n = (last - first).clamp(0.0, 20.0) as usize;
        let ticks = (0..=n).map(|k| {
            let value = (first + k as f64) * step;
            // Zero gets no minus sign.
            let value = if value.abs() < step / 2.0 { 0.0 } else { value };
            let suffix = if value == 0.0 { "" } else { suffix };
            (self.share(value), format!("{:.decimals$}{suffix}", value / unit))
        });
        ticks.collect()
    }
}

impl Chart {
    /// Curves over a common axis; `tinted` shades the area below them.
    pub fn curves(x: Axis, y: Axis, series: &[Series], tinted: bool) -> Self {
        let curves = series.iter().map(|Series { colour, points }| {
            let line = path(&x, &y, points);
            let ends = points.first().zip(points.last()).filter(|_| tinted);
            let area = ends.map(|((first, _), (last, _))| {
                let [first, last] = [first, last].map(|end| place(&x, &y, *end, y.low).0);
                format!("{line}L{last:.1} {BOTTOM}L{first:.1} {BOTTOM}z")
            });
            Curve { class: colour.class(), line, area }
        });
        let marks = Marks::Curves(curves.collect());
        Self { x, y, marks }
    }

    /// Progress: what holds from each point until the next one, as steps to the right edge, and points that stand for
    /// something by themselves.
    pub fn progress(x: Axis, y: Axis, held: &[Series], dots: &[Dot]) -> Self {
        let lines = held.iter().map(|Series { colour, points }| {
            let mut steps: Vec<(f64, f64)> = Vec::with_capacity(2 * points.len());
            for (at, value) in points {
                steps.extend(steps.last().map(|(_, before)| (*at, *before)));
                steps.push((*at, *value));
            }
            steps.extend(points.last().map(|(_, value)| (x.high, *value)));
            Curve { class: colour.class(), line: path(&x, &y, &steps), area: None }
        });
        let lines = lines.collect();
        let dots = dots.iter().map(|Dot { at, colour, title }| {
            let (x, y) = place(&x, &y, at.0, at.1);
            MarkedPoint { class: colour.class(), x, y, title: title.clone() }
        });
        let marks = Marks::Marked { lines, dots: dots.collect() };
        Self { x, y, marks }
    }

    /// Box plots: for each group a box from the first to the third quartile, a line at the median, and whiskers.
    pub fn boxes(x: Axis, y: Axis, groups: &[Group], colour: Colour) -> Self {
        let boxes = groups.iter().map(|group| {
            let y = group.percentiles.map(|value| place(&x, &y, group.x, value).1);
            Quartiles { x: LEFT + (RIGHT - LEFT) * x.share(group.x), y, n: group.n }
        });
        let boxes = boxes.collect();
        let width = (0.5 * (RIGHT - LEFT) / groups.len().max(1) as f64).min(60.0);
        Self { marks: Marks::Boxes { class: colour.class(), width, boxes }, x, y }
    }

    /// Means as points whose areas are in proportion to the numbers of values; a line joins those at neighbouring
    /// places.
    pub fn means(x: Axis, y: Axis, series: &[(Colour, Vec<Mean>)]) -> Self {
        let most = series.iter().flat_map(|(_, means)| means).map(|mean| mean.n).max().unwrap_or(1);
        let paths = series.iter().map(|(colour, means)| {
            let mut path = Path { class: colour.class(), line: String::new(), dots: Vec::new() };
            let mut before = None;
            for mean in means {
                let (at, value) = place(&x, &y, mean.x as f64, mean.value);
                let joined = before.is_some_and(|before: usize| before + 1 == mean.x);
                push(&mut path.line, if joined { 'L' } else { 'M' }, at, value);
                path.dots.push((at, value, (7.0 * (mean.n as f64 / most as f64).sqrt()).max(1.2)));
                before = Some(mean.x);
            }
            path
        });
        let marks = Marks::Sized(paths.collect());
        Self { x, y, marks }
    }

    /// A scatter plot: single points, or, if there are many, squares shaded by the number of points in each.
    pub fn scatter(x: Axis, y: Axis, points: &[(f64, f64)], colour: Colour) -> Self {
        let class = colour.class();
        if points.len() <= POINTS {
            let at = points.iter().map(|(at, value)| place(&x, &y, *at, *value)).collect();
            return Self { x, y, marks: Marks::Dots { class, at } };
        }
        let square = |share: f64| (share * SQUARES as f64).min(SQUARES as f64 - 1.0) as usize;
        let mut counts = vec![0_u32; SQUARES * SQUARES];
        for (at, value) in points {
            counts[square(y.share(*value)) * SQUARES + square(x.share(*at))] += 1;
        }
        let most = counts.iter().copied().max().unwrap_or(1).max(1);
        let mut shades: BTreeMap<u32, String> = BTreeMap::new();
        for (k, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let share = f64::from(*count).ln_1p() / f64::from(most).ln_1p();
            let path = shades.entry((12.0 + 88.0 * share).round() as u32).or_default();
            let (column, row) = (k % SQUARES, SQUARES - 1 - k / SQUARES);
            // Writing to a string cannot fail.
            let _ = write!(path, "M{column} {row}h1v1h-1z");
        }
        let paths = shades
            .into_iter()
            .map(|(percent, path)| Square { opacity: f64::from(percent) / 100.0, path })
            .collect();
        Self { x, y, marks: Marks::Squares { class, paths } }
    }
}

/// The coordinates of a point in the drawing.
fn place(x: &Axis, y: &Axis, at: f64, value: f64) -> (f64, f64) {
    (LEFT + (RIGHT - LEFT) * x.share(at), BOTTOM - (BOTTOM - TOP) * y.share(value))
}

/// A line through points.
fn path(x: &Axis, y: &Axis, points: &[(f64, f64)]) -> String {
    let mut line = String::new();
    for (k, (at, value)) in points.iter().enumerate() {
        let (at, value) = place(x, y, *at, *value);
        push(&mut line, if k == 0 { 'M' } else { 'L' }, at, value);
    }
    line
}

fn push(path: &mut String, command: char, x: f64, y: f64) {
    // Writing to a string cannot fail.
    let _ = write!(path, "{command}{x:.1} {y:.1}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis() -> Axis {
        Axis::new("<label>", (0.0, 1.0))
    }

    #[test]
    fn charts_take_their_colours_from_the_page() {
        let series = [Series { colour: Colour::System(1), points: vec![(0.0, 0.0), (1.0, 1.0)] }];
        let svg = Chart::curves(axis(), axis(), &series, true).to_string();
        assert!(svg.starts_with("<svg viewBox=\"0 0 460 280\" aria-hidden=\"true\""), "{svg}");
        assert!(svg.contains("<path class=\"line s1\" d=\"M68.0 228.0L446.0 8.0\"/>"), "{svg}");
        assert!(svg.contains("d=\"M68.0 228.0L446.0 8.0L446.0 228L68.0 228z\""), "{svg}");
        assert!(!svg.contains("style="), "the page's policy allows no style attribute: {svg}");
        assert!(svg.contains("&lt;label&gt;") && !svg.contains("<label>"), "{svg}");
    }

    #[test]
    fn progress_is_steps_with_a_point_for_each_event() {
        let held = [Series { colour: Colour::Muted, points: vec![(0.0, 0.0), (0.5, 1.0)] }];
        let dot = |at, title: &str| Dot { at, colour: Colour::System(0), title: title.into() };
        let dots = [dot((0.0, 0.0), "<first>"), dot((0.5, 1.0), "second")];
        let svg = Chart::progress(axis(), axis(), &held, &dots).to_string();
        assert!(
            svg.contains("<path class=\"line grey\" d=\"M68.0 228.0L257.0 228.0L257.0 8.0L446.0 8.0\"/>"),
            "{svg}"
        );
        assert!(svg.contains("<title>&lt;first&gt;</title></circle>"), "{svg}");
        assert_eq!(svg.matches("<circle class=\"marked s0\"").count(), 2);
    }

    #[test]
    fn days_are_labelled_by_name_from_the_last_one() {
        let labels = |first, last| -> Vec<String> {
            let axis = Axis::of_days("", (first, last), |day| format!("day {day}"));
            axis.ticks(6.0).into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(labels(0, 30), ["day 30", "day 16", "day 2"]);
        assert_eq!(labels(5, 5), ["day 6", "day 5"]);
        assert_eq!(labels(0, 4_000).len(), 4);
    }

    #[test]
    fn many_points_are_drawn_as_squares() {
        let points: Vec<(f64, f64)> =
            (0..50_000).map(|k| (f64::from(k % 211) / 211.0, f64::from(k % 97) / 97.0)).collect();
        let svg = Chart::scatter(axis(), axis(), &points, Colour::System(0)).to_string();
        assert!(svg.len() < 20_000, "{}", svg.len());
    }

    #[test]
    fn labels_are_round_and_few() {
        let labels = |low, high, at_most| -> Vec<String> {
            Axis::new("", (low, high)).ticks(at_most).into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(labels(0.0, 1.0, 5.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(-0.3, 0.3, 6.0), ["-0.3", "-0.2", "-0.1", "0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(labels(0.0, 23.0, 5.0), ["0", "5", "10", "15", "20"]);
        assert_eq!(labels(3.0, 3.0, 5.0), ["3.0", "3.2", "3.4", "3.6", "3.8", "4.0"]);
        assert_eq!(labels(0.0, 1.2e-3, 5.0), ["0.00000", "0.00025", "0.00050", "0.00075", "0.00100"]);
        assert_eq!(labels(0.0, 1e300, 5.0).len(), 6);
        let counts = |low, high| -> Vec<String> {
            Axis::of_counts("", (low, high)).ticks(4.0).into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(counts(5.0, 8.0), ["5", "6", "7", "8"]);
        assert_eq!(counts(0.0, 18_377.0), ["0", "5k", "10k", "15k"]);
        assert_eq!(counts(0.0, 2_100_000.0), ["0", "1M", "2M"]);
    }
}
