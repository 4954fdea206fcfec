//! The charts of a page: distributions, lengths, metric against metric, and human ratings.

use capeval_report::{Correlation, Gallery, Report, significant};
use capeval_stats::interval::quantile;

use crate::chart::{Axis, COLOURS, Chart, Colour, Series};

const BINS: usize = 30;
/// The largest number of measures that are plotted against each other.
const MEASURES: usize = 5;

/// The charts of a report.
pub(crate) struct Charts<'r> {
    /// The systems that are drawn.
    pub systems: Vec<&'r str>,
    /// The number of systems that are not drawn, for lack of colours.
    pub n_more: usize,
    /// The distributions of scores and of caption lengths.
    pub distributions: Vec<Figure>,
    /// Mean scores by caption length; `None` if captions are not known.
    pub by_length: Option<Vec<Figure>>,
    /// For each system, metric against metric; empty if there is only one metric.
    pub scatters: Vec<Vec<Figure>>,
}

/// A chart with its caption and a description for screen readers.
pub(crate) struct Figure {
    /// The caption.
    pub title: String,
    /// The description of the chart.
    pub words: String,
    /// The chart.
    pub chart: Chart,
}

/// The measure that represents each metric: the highest order if the metric has one measure per order, like BLEU, or
/// else its first measure.
pub(crate) fn headlines(report: &Report) -> Vec<usize> {
    let mut first = 0;
    let mut chosen = Vec::new();
    for metric in &report.head.metrics {
        let measures = report.head.measures.get(first..first + metric.n_measures).unwrap_or_default();
        let mut orders = measures.iter().map(|measure| {
            let name = measure.key.split(':').next().unwrap_or_default();
            name.rsplit_once('-').and_then(|(_, order)| order.parse().ok())
        });
        let by_order = (1..=metric.n_measures).all(|order| orders.next() == Some(Some(order)));
        if metric.n_measures > 0 {
            chosen.push(if by_order { first + metric.n_measures - 1 } else { first });
        }
        first += metric.n_measures;
    }
    chosen
}

/// The scores of one system for one measure, image by image.
fn values(report: &Report, system: usize, measure: usize) -> Vec<f64> {
    let segments = report.systems.get(system).and_then(|system| system.segments.as_ref());
    let n = report.head.measures.len().max(1);
    let rows = segments.map_or(&[][..], |segments| &segments.values);
    rows.chunks_exact(n).filter_map(|row| row.get(measure).copied()).collect()
}

/// The charts of a report; `None` if the report has no scores of single images.
pub(crate) fn charts(report: &Report) -> Option<Charts<'_>> {
    let n_drawn = report.systems.len().min(COLOURS);
    if (0..n_drawn).all(|system| values(report, system, 0).is_empty()) {
        return None;
    }
    let gallery = report.gallery.as_ref();
    let distributions = headlines(report).into_iter().filter_map(|m| distribution(report, n_drawn, m));
    Some(Charts {
        systems: report.systems.iter().take(n_drawn).map(|system| system.name.as_str()).collect(),
        n_more: report.systems.len() - n_drawn,
        distributions: distributions
            .chain(gallery.map(|gallery| lengths(report, gallery, n_drawn)))
            .collect(),
        by_length: gallery.map(|gallery| by_length(report, gallery, n_drawn)),
        scatters: scatters(report, n_drawn),
    })
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.retain(|value| value.is_finite());
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// The range of the values up to the 99.5th percentile, with 0 included.
fn span<'v>(all: impl Iterator<Item = &'v [f64]>) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for sorted in all.filter(|sorted| !sorted.is_empty()) {
        low = low.min(quantile(sorted, 0.0));
        high = high.max(quantile(sorted, 0.995));
    }
    if low.is_finite() && high > low { (low.min(0.0), high) } else { (0.0, 1.0) }
}

fn distribution(report: &Report, n_drawn: usize, measure: usize) -> Option<Figure> {
    let described = report.head.measures.get(measure)?;
    let all: Vec<Vec<f64>> = (0..n_drawn).map(|s| sorted(values(report, s, measure))).collect();
    let (low, high) = span(all.iter().map(Vec::as_slice));
    let width = (high - low) / BINS as f64;
    let mut series = Vec::new();
    let mut words = format!("Distribution of {} over images.", described.label);
    for (s, values) in all.iter().enumerate().filter(|(_, values)| !values.is_empty()) {
        let mut counts = [0_usize; BINS];
        for value in values {
            let bin = (((value - low) / width).max(0.0) as usize).min(BINS - 1);
            counts[bin] += 1;
        }
        let mut points = vec![(low, 0.0)];
        for (bin, count) in counts.iter().enumerate() {
            let share = 100.0 * *count as f64 / values.len() as f64;
            points.extend([0, 1].map(|side| (low + width * (bin + side) as f64, share)));
        }
        points.push((high, 0.0));
        series.push(Series { colour: Colour::System(s), points });
        let shown = |q: f64| significant(quantile(values, q), 3);
        let name = report.systems.get(s).map_or("", |system| &system.name);
        words.push_str(&format!(
            " {name}: median {}, middle half from {} to {}.",
            shown(0.5),
            shown(0.25),
            shown(0.75)
        ));
    }
    let title = described.short_label();
    let (x, y) = (Axis::new(title, (low, high)), Axis::new("% of images", (0.0, top(&series))));
    // Overlapping tints of many systems would not be readable.
    let chart = Chart::curves(x, y, &series, series.len() <= 2);
    Some(Figure { title: title.to_owned(), words, chart })
}

fn top(series: &[Series]) -> f64 {
    let points = series.iter().flat_map(|series| &series.points);
    points.map(|(_, y)| *y).filter(|y| y.is_finite()).fold(0.0, f64::max) * 1.06
}

fn n_words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// The distribution of caption and reference lengths, in words.
fn lengths(report: &Report, gallery: &Gallery, n_drawn: usize) -> Figure {
    let references: Vec<f64> = gallery.references.iter().flatten().map(|text| n_words(text) as f64).collect();
    let mut all = vec![(Colour::Muted, "the references", sorted(references))];
    for (s, (captions, system)) in gallery.systems.iter().zip(&report.systems).take(n_drawn).enumerate() {
        let lengths = captions.texts.iter().map(|text| n_words(text) as f64).collect();
        all.push((Colour::System(s), &system.name, sorted(lengths)));
    }
    let (_, high) = span(all.iter().map(|(_, _, values)| values.as_slice()));
    let high = high.max(8.0).ceil();
    let mut words = String::from("Words per caption.");
    let mut series = Vec::new();
    for (colour, name, values) in all.iter().filter(|(_, _, values)| !values.is_empty()) {
        let share = |n: usize| {
            let from = values.partition_point(|value| *value < n as f64);
            let to = values.partition_point(|value| *value <= n as f64);
            100.0 * (to - from) as f64 / values.len() as f64
        };
        let points = (0..=high as usize).map(|n| (n as f64, share(n))).collect();
        series.push(Series { colour: *colour, points });
        words.push_str(&format!(" Median of {name}: {}.", significant(quantile(values, 0.5), 3)));
    }
    let x = Axis::of_counts("words per caption; references in grey", (0.0, high));
    let y = Axis::new("% of captions", (0.0, top(&series)));
    Figure { title: "Length".to_owned(), words, chart: Chart::curves(x, y, &series, false) }
}

/// The mean score of captions of each length.
fn by_length(report: &Report, gallery: &Gallery, n_drawn: usize) -> Vec<Figure> {
    let measures = headlines(report).into_iter().take(MEASURES);
    let figures = measures.filter_map(|measure| {
        let described = report.head.measures.get(measure)?;
        let mut series = Vec::new();
        for (s, captions) in gallery.systems.iter().take(n_drawn).enumerate() {
            let scores = values(report, s, measure);
            let mut sums: Vec<(f64, usize)> = Vec::new();
            let finite = captions.texts.iter().zip(&scores).filter(|(_, score)| score.is_finite());
            for (text, score) in finite {
                let n = n_words(text).min(60);
                if sums.len() <= n {
                    sums.resize(n + 1, (0.0, 0));
                }
                sums[n] = (sums[n].0 + score, sums[n].1 + 1);
            }
            // The mean of only a few captions depends more on these captions than on their length.
            let enough = (scores.len() / 500).max(3);
            let points: Vec<(f64, f64)> = sums
                .iter()
                .enumerate()
                .filter(|(_, (_, count))| *count >= enough)
                .map(|(n, (sum, count))| (n as f64, sum / *count as f64))
                .collect();
            if points.len() > 1 {
                series.push(Series { colour: Colour::System(s), points });
            }
        }
        if series.is_empty() {
            return None;
        }
        let xs = series.iter().flat_map(|series| &series.points).map(|(x, _)| *x);
        let (low, high) = (xs.clone().fold(f64::INFINITY, f64::min), xs.fold(0.0, f64::max));
        let x = Axis::of_counts("words in the candidate", (low, high));
        let y = Axis::new(described.short_label(), (0.0, top(&series)));
        Some(Figure {
            title: described.short_label().to_owned(),
            words: format!("Mean {} of candidates of {low} to {high} words.", described.label),
            chart: Chart::curves(x, y, &series, false),
        })
    });
    figures.collect()
}

/// An axis whose range fits the values.
fn axis(label: &str, values: impl Iterator<Item = f64>) -> Axis {
    Axis::new(label, span([&*sorted(values.collect())].into_iter()))
}

/// The points with finite coordinates.
fn finite(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    points.filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
}

/// Every metric against every other, for each system; the page shows one system at a time.
fn scatters(report: &Report, n_drawn: usize) -> Vec<Vec<Figure>> {
    let measures: Vec<usize> = headlines(report).into_iter().take(MEASURES).collect();
    if measures.len() < 2 {
        return Vec::new();
    }
    let pairs = || {
        let each = measures.iter().enumerate();
        each.flat_map(|(k, x)| measures[k + 1..].iter().map(|y| (*x, *y)))
    };
    let of_system = |(s, name): (usize, &str)| {
        let figures = pairs().filter_map(|(x, y)| {
            let (a, b) = (report.head.measures.get(x)?, report.head.measures.get(y)?);
            let (xs, ys) = (values(report, s, x), values(report, s, y));
            let axes = (axis(a.short_label(), xs.iter().copied()), axis(b.short_label(), ys.iter().copied()));
            let points = finite(xs.into_iter().zip(ys));
            Some(Figure {
                title: format!("{} – {}", a.short_label(), b.short_label()),
                words: format!(
                    "{} against {} for {} images of {name}; darker squares hold more images.",
                    b.label,
                    a.label,
                    points.len()
                ),
                chart: Chart::scatter(axes.0, axes.1, &points, Colour::System(s)),
            })
        });
        figures.collect()
    };
    let systems = report.systems.iter().take(n_drawn).map(|system| system.name.as_str());
    systems.enumerate().map(of_system).collect()
}

/// The scores of each measure against human ratings.
pub(crate) fn ratings(found: &Correlation) -> Vec<Figure> {
    let ratings = format!("rating, one point per {}", found.human.unit.name());
    let measures = found.head.measures.iter().zip(&found.agreements).zip(&found.points.scores);
    let figures = measures.map(|((measure, agreement), scores)| {
        let label = &measure.label;
        let points = finite(found.points.ratings.iter().copied().zip(scores.iter().copied()));
        let x = axis(&ratings, points.iter().map(|(x, _)| *x));
        let y = axis(label, points.iter().map(|(_, y)| *y));
        let summary = agreement.tau_b.value.map_or_else(String::new, |tau| format!("Kendall's τ-b {tau:.3}"));
        Figure {
            title: format!("{label} · {summary}"),
            words: format!("{label} against {ratings}, {} points. {summary}", points.len()),
            chart: Chart::scatter(x, y, &points, Colour::System(0)),
        }
    });
    figures.collect()
}
