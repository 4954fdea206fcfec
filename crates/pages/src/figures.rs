//! The figures of a page: intervals, distributions, lengths, metric against metric, and scores by human rating.

use std::fmt;

use capeval_choice::counted;
use capeval_report::charts::{Axis, COLOURS, Chart, Colour, Forest, Group, Mean, SQUARES, Series};
use capeval_report::{Correlation, Estimates, Gallery, Report, significant};
use capeval_stats::interval::quantile;
use serde::Serialize;

const BINS: usize = 30;

/// The smallest number of bins of a histogram.
const FEWEST_BINS: usize = 8;
/// The largest number of measures that are plotted against each other.
const MEASURES: usize = 5;
/// Axes end at this quantile of the scores, so that a few far values do not squeeze all others; figures say what is
/// beyond.
pub(crate) const SHOWN: f64 = 0.995;
/// The largest number of different ratings that have a box each.
const GRADES: usize = 15;

/// The figures of a report about single images.
pub(crate) struct Charts<'r> {
    /// The systems that are drawn.
    pub systems: Vec<&'r str>,
    /// The number of systems that are not drawn, for lack of colours.
    pub n_more: usize,
    /// True if cumulative distributions have a line of people, in grey.
    pub has_human: bool,
    /// The distributions of scores and of caption lengths.
    pub distributions: Vec<Figure>,
    /// The cumulative distributions of scores.
    pub cumulative: Vec<Figure>,
    /// Mean scores by caption length; empty if captions are not known.
    pub by_length: Vec<Figure>,
    /// For each system, metric against metric; empty if there is only one metric.
    pub scatters: Vec<Vec<Figure>>,
}

/// A drawing with its caption, notes, and a description for screen readers.
pub struct Figure {
    /// The caption.
    pub title: String,
    /// The description of the drawing.
    pub words: String,
    /// The way it was computed, and the values it leaves out.
    pub notes: Vec<Note>,
    /// The ranges of its bars or squares, for the script; `None` if they are not known images.
    pub(crate) cells: Option<String>,
    /// The drawing.
    pub svg: String,
}

impl Figure {
    /// The figure as HTML, without notes that are said of all figures.
    pub(crate) fn html(&self, common: &[&Note]) -> String {
        let notes = self.notes.iter().filter(|note| !common.contains(note));
        let notes: Vec<String> = notes.map(ToString::to_string).collect();
        let Self { title, words, cells, svg, .. } = self;
        capeval_report::charts::Figure { title, words, svg, notes: &notes, cells: cells.as_deref() }
            .to_string()
    }
}

/// The notes that all of several figures have.
pub(crate) fn common_notes(figures: &[Figure]) -> Vec<&Note> {
    let Some((first, others)) = figures.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Vec::new();
    };
    let is_common = |note: &&Note| others.iter().all(|figure| figure.notes.contains(note));
    first.notes.iter().filter(is_common).collect()
}

/// A note below a drawing.
#[derive(PartialEq)]
pub enum Note {
    /// Anything, in words.
    Text(String),
    /// The values beyond the end of an axis.
    Beyond {
        /// The number of values.
        n: usize,
        /// The end of the axis.
        from: String,
        /// The largest value.
        to: String,
        /// The noun for each of them.
        noun: &'static str,
        /// The place where they are drawn, or that they are not.
        place: &'static str,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Beyond { n, from, to, noun, place } => {
                write!(f, "{} from {from} to {to} {place}", counted(*n, noun))
            }
        }
    }
}

/// The bars or squares of a figure.
#[derive(Serialize)]
struct Cells<'r> {
    x: Bins<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<Bins<'r>>,
    /// The number of the system, unless the figure shows all of them.
    system: Option<usize>,
}

/// A range in equal parts; the last one has no upper end.
#[derive(Clone, Copy, Serialize)]
struct Bins<'r> {
    /// The key of the measure, or `words`.
    of: &'r str,
    low: f64,
    high: f64,
    n: usize,
}

impl Cells<'_> {
    /// The ranges as JSON, if the page shows images.
    fn of(&self, report: &Report) -> Option<String> {
        report.gallery.as_ref().and_then(|_| serde_json::to_string(self).ok())
    }
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

/// The figures of a report; `None` if the report has no scores of single images.
pub(crate) fn charts(report: &Report) -> Option<Charts<'_>> {
    let gallery = report.gallery.as_ref();
    let texts = gallery.filter(|gallery| gallery.has_texts());
    let n_systems = report.n_systems();
    let n_drawn = n_systems.min(COLOURS);
    if (0..n_drawn).all(|system| values(report, system, 0).is_empty()) {
        return None;
    }
    let headlines = headlines(report);
    let distributions = headlines.iter().filter_map(|m| distribution(report, n_drawn, *m));
    let cumulative = headlines.iter().filter_map(|m| cumulative_scores(report, n_drawn, *m));
    Some(Charts {
        systems: report.systems.iter().take(n_drawn).map(|system| system.name.as_str()).collect(),
        n_more: n_systems - n_drawn,
        has_human: gallery.is_some_and(|gallery| !gallery.held_out.is_empty()),
        distributions: distributions.chain(texts.map(|gallery| lengths(report, gallery, n_drawn))).collect(),
        cumulative: cumulative.collect(),
        by_length: texts.map_or_else(Vec::new, |gallery| by_length(report, gallery, n_drawn)),
        scatters: scatters(report, n_drawn),
    })
}

/// Estimates with their intervals as a forest plot.
pub(crate) fn forest(Estimates { title, label, rows, none, digits, note }: &Estimates) -> Figure {
    let said = rows.iter().map(|row| {
        let interval = row.interval.map_or_else(String::new, |ends| {
            format!(", from {} to {}", significant(ends.low, 3), significant(ends.high, 3))
        });
        format!(" {}: {}{interval}.", row.name, significant(row.value, 3))
    });
    Figure {
        words: format!("{title}.{}", said.collect::<String>()),
        title: title.clone(),
        notes: vec![Note::Text(note.clone())],
        cells: None,
        svg: Forest::new(label, rows, *none, *digits).to_string(),
    }
}

pub(crate) fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.retain(|value| value.is_finite());
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// The range of the values up to the quantile [`SHOWN`], with 0 included; up to the largest value if that is not far.
fn span<'v>(all: impl Iterator<Item = &'v [f64]>) -> (f64, f64) {
    let (mut low, mut high, mut most) = (f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY);
    for sorted in all.filter(|sorted| !sorted.is_empty()) {
        low = low.min(quantile(sorted, 0.0));
        high = high.max(quantile(sorted, SHOWN));
        most = most.max(quantile(sorted, 1.0));
    }
    let low = low.min(0.0);
    let high = if most - low <= 1.25 * (high - low) { most } else { high };
    if low.is_finite() && high > low { (low, high) } else { (0.0, 1.0) }
}

/// The values beyond the end of an axis, if any.
fn beyond<'v>(
    all: impl Iterator<Item = &'v [f64]>,
    high: f64,
    noun: &'static str,
    place: &'static str,
) -> Option<Note> {
    let (mut n, mut most) = (0, high);
    for sorted in all {
        n += sorted.len() - sorted.partition_point(|value| *value <= high);
        most = sorted.last().copied().unwrap_or(most).max(most);
    }
    let [from, to] = [high, most].map(|end| significant(end, 3));
    (n > 0).then_some(Note::Beyond { n, from, to, noun, place })
}

/// The number of bins for a number of values, by Rice's rule, so that a bin has some of them.
fn bins_for(n_values: usize) -> usize {
    ((2.0 * (n_values as f64).cbrt()).ceil() as usize).clamp(FEWEST_BINS, BINS)
}

fn distribution(report: &Report, n_drawn: usize, measure: usize) -> Option<Figure> {
    let described = report.head.measures.get(measure)?;
    let all: Vec<Vec<f64>> = (0..n_drawn).map(|s| sorted(values(report, s, measure))).collect();
    let (low, high) = span(all.iter().map(Vec::as_slice));
    let n_bins = bins_for(all.iter().map(Vec::len).max().unwrap_or_default());
    let width = (high - low) / n_bins as f64;
    let mut series = Vec::new();
    let mut words = format!("Distribution of {} over {}s.", described.label, report.unit());
    for (s, values) in all.iter().enumerate().filter(|(_, values)| !values.is_empty()) {
        let mut counts = vec![0_usize; n_bins];
        for value in values {
            let bin = (((value - low) / width).max(0.0) as usize).min(n_bins - 1);
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
    let (x, y) =
        (Axis::new(title, (low, high)), Axis::new(format!("% of {}s", report.unit()), (0.0, top(&series))));
    let cells = Cells { x: Bins { of: &described.key, low, high, n: n_bins }, y: None, system: None };
    Some(Figure {
        title: title.to_owned(),
        words,
        notes: beyond(all.iter().map(Vec::as_slice), high, "score", "are in the last bar")
            .into_iter()
            .collect(),
        cells: cells.of(report),
        // Overlapping tints of many systems would not be readable.
        svg: Chart::curves(x, y, &series, series.len() <= 2).to_string(),
    })
}

pub(crate) fn top(series: &[Series]) -> f64 {
    let points = series.iter().flat_map(|series| &series.points);
    points.map(|(_, y)| *y).filter(|y| y.is_finite()).fold(0.0, f64::max) * 1.06
}

/// The share of captions with at most each score; people's line is that of each reference held out against the others
/// of its image.
fn cumulative_scores(report: &Report, n_drawn: usize, measure: usize) -> Option<Figure> {
    let described = report.head.measures.get(measure)?;
    let systems = report.systems.iter().take(n_drawn).enumerate();
    let mut all: Vec<(Colour, &str, Vec<f64>)> = systems
        .map(|(s, system)| (Colour::System(s), system.name.as_str(), sorted(values(report, s, measure))))
        .collect();
    if let Some(gallery) = report.gallery.as_ref().filter(|gallery| !gallery.held_out.is_empty()) {
        let rows = gallery.held_out.chunks_exact(report.head.measures.len().max(1));
        let held_out = rows.filter_map(|row| row.get(measure).copied()).collect();
        all.push((Colour::Muted, "human", sorted(held_out)));
    }
    let what = format!("Share of captions with at most each {}", described.label);
    cumulative(described.short_label(), &what, "% of captions", all)
}

/// Cumulative distributions of groups of sorted values.
pub(crate) fn cumulative(
    label: &str,
    what: &str,
    unit: &str,
    all: Vec<(Colour, &str, Vec<f64>)>,
) -> Option<Figure> {
    let (low, high) = span(all.iter().map(|(_, _, values)| values.as_slice()));
    let mut words = format!("{what}.");
    let mut series = Vec::new();
    for (colour, name, values) in all.iter().filter(|(_, _, values)| !values.is_empty()) {
        let mut points = vec![(low, 0.0)];
        for (k, value) in values.iter().enumerate() {
            // Of equal values the last one counts; a few hundred steps are as fine as the drawing.
            let is_last = values.get(k + 1) != Some(value);
            let share = 100.0 * (k + 1) as f64 / values.len() as f64;
            let is_far =
                points.last().is_none_or(|(_, before)| share - before >= 0.25 || k + 1 == values.len());
            if is_last && is_far && *value <= high {
                points.extend(points.last().map(|(_, before)| (*value, *before)));
                points.push((*value, share));
            }
        }
        points.extend(points.last().map(|(_, share)| (high, *share)));
        series.push(Series { colour: *colour, points });
        words.push_str(&format!(" {name}: half are at most {}.", significant(quantile(values, 0.5), 3)));
    }
    if series.is_empty() {
        return None;
    }
    let (x, y) = (Axis::new(label, (low, high)), Axis::new(unit, (0.0, 100.0)));
    let slices = all.iter().map(|(_, _, values)| values.as_slice());
    Some(Figure {
        title: label.to_owned(),
        words,
        notes: beyond(slices, high, "value", "are beyond the axis").into_iter().collect(),
        cells: None,
        svg: Chart::curves(x, y, &series, false).to_string(),
    })
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
    let unit = match gallery.references.iter().any(|texts| !texts.is_empty()) {
        true => "words per caption; references in grey",
        false => "words per caption",
    };
    let x = Axis::of_counts(unit, (-0.5, high + 0.5));
    let y = Axis::new("% of captions", (0.0, top(&series)));
    let slices = all.iter().map(|(_, _, values)| values.as_slice());
    Figure {
        title: "Length".to_owned(),
        words,
        notes: beyond(slices, high, "caption", "words are beyond the axis").into_iter().collect(),
        cells: by_words(report, (0.0, high), None),
        svg: Chart::curves(x, y, &series, false).to_string(),
    }
}

/// A cell for each number of words.
fn by_words(report: &Report, (low, high): (f64, f64), system: Option<usize>) -> Option<String> {
    let n = (high - low) as usize + 1;
    // Lengths are whole, so a cell from n - ½ to n + ½ holds those of n.
    Cells { x: Bins { of: "words", low: low - 0.5, high: high + 0.5, n }, y: None, system }.of(report)
}

/// The mean score of captions of each length.
fn by_length(report: &Report, gallery: &Gallery, n_drawn: usize) -> Vec<Figure> {
    let lengths: Vec<Vec<usize>> = gallery
        .systems
        .iter()
        .take(n_drawn)
        .map(|captions| captions.texts.iter().map(|text| n_words(text)).collect())
        .collect();
    let of_all: Vec<Vec<f64>> =
        lengths.iter().map(|lengths| sorted(lengths.iter().map(|n| *n as f64).collect())).collect();
    let (_, high) = span(of_all.iter().map(Vec::as_slice));
    let high = high.ceil();
    let measures = headlines(report).into_iter().take(MEASURES);
    let figures = measures.filter_map(|measure| {
        let described = report.head.measures.get(measure)?;
        let mut series = Vec::new();
        for (s, lengths) in lengths.iter().enumerate() {
            let scores = values(report, s, measure);
            let mut sums = vec![(0.0, 0_usize); high as usize + 1];
            for (n, score) in lengths.iter().zip(&scores).filter(|(_, score)| score.is_finite()) {
                if let Some((sum, count)) = sums.get_mut(*n) {
                    (*sum, *count) = (*sum + score, *count + 1);
                }
            }
            let means = sums.iter().enumerate().filter(|(_, (_, n))| *n > 0);
            let means: Vec<Mean> =
                means.map(|(x, (sum, n))| Mean { x, value: sum / *n as f64, n: *n }).collect();
            if !means.is_empty() {
                series.push((Colour::System(s), means));
            }
        }
        let means = || series.iter().flat_map(|(_, means)| means);
        let (low, most) =
            (means().map(|mean| mean.x).min()? as f64, means().map(|mean| mean.value).fold(0.0, f64::max));
        let last = means().map(|mean| mean.x).max()? as f64;
        let least = means().map(|mean| mean.value).fold(0.0, f64::min);
        let x = Axis::of_counts("words in the candidate", (low - 0.5, last + 0.5));
        let y = Axis::new(described.short_label(), (least, 1.06 * most));
        let slices = of_all.iter().map(Vec::as_slice);
        let note = "the area of a point is in proportion to the number of captions".to_owned();
        Some(Figure {
            title: described.short_label().to_owned(),
            words: format!("Mean {} of candidates of {low} to {last} words.", described.label),
            notes: std::iter::once(Note::Text(note))
                .chain(beyond(slices, high, "caption", "words are beyond the axis"))
                .collect(),
            cells: by_words(report, (low, last), None),
            svg: Chart::means(x, y, &series).to_string(),
        })
    });
    figures.collect()
}

/// An axis whose range fits the values.
fn axis(label: &str, values: impl Iterator<Item = f64>) -> (Axis, (f64, f64)) {
    let ends = span([&*sorted(values.collect())].into_iter());
    (Axis::new(label, ends), ends)
}

/// The points with finite coordinates.
fn finite(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    points.filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
}

/// The number of points beyond the axes, and the place where they are drawn.
fn at_edges(points: &[(f64, f64)], (_, right): (f64, f64), (_, top): (f64, f64)) -> Option<Note> {
    let n = points.iter().filter(|(x, y)| *x > right || *y > top).count();
    (n > 0).then(|| Note::Text(format!("{} beyond the axes, drawn at the edge", counted(n, "point"))))
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
            let (x, across) = axis(a.short_label(), xs.iter().copied());
            let (y, up) = axis(b.short_label(), ys.iter().copied());
            let points = finite(xs.into_iter().zip(ys));
            let bins = |of, (low, high)| Bins { of, low, high, n: SQUARES };
            Some(Figure {
                title: format!("{} – {}", a.short_label(), b.short_label()),
                words: format!(
                    "{} against {} for {} of {name}; darker squares hold more of them.",
                    b.label,
                    a.label,
                    counted(points.len(), report.unit())
                ),
                notes: at_edges(&points, across, up).into_iter().collect(),
                cells: Cells { x: bins(&a.key, across), y: Some(bins(&b.key, up)), system: Some(s) }
                    .of(report),
                svg: Chart::scatter(x, y, &points, Colour::System(s)).to_string(),
            })
        });
        figures.collect()
    };
    let systems = report.systems.iter().take(n_drawn).map(|system| system.name.as_str());
    systems.enumerate().map(of_system).collect()
}

/// The scores of each measure for each human rating, or against human ratings if there are many different ones.
pub fn ratings(found: &Correlation) -> Vec<Figure> {
    let unit = found.human.unit.name();
    let label = format!("rating, one point per {unit}");
    let mut grades = sorted(found.points.ratings.clone());
    grades.dedup();
    let measures = found.head.measures.iter().zip(&found.agreements).zip(&found.points.scores);
    let figures = measures.map(|((measure, agreement), scores)| {
        let points = finite(found.points.ratings.iter().copied().zip(scores.iter().copied()));
        let tau = agreement.tau_b.value.map_or_else(String::new, |tau| format!(" · Kendall's τ-b {tau:.3}"));
        let title = format!("{}{tau}", measure.label);
        if grades.len() <= GRADES {
            return by_grade(title, &measure.label, &label, &grades, &points);
        }
        let (x, across) = axis(&label, points.iter().map(|(x, _)| *x));
        let (y, up) = axis(&measure.label, points.iter().map(|(_, y)| *y));
        Figure {
            words: format!("{} against {label}, {} points{tau}.", measure.label, points.len()),
            title,
            notes: at_edges(&points, across, up).into_iter().collect(),
            cells: None,
            svg: Chart::scatter(x, y, &points, Colour::System(0)).to_string(),
        }
    });
    figures.collect()
}

/// The distribution of scores for each rating.
fn by_grade(title: String, measure: &str, label: &str, grades: &[f64], points: &[(f64, f64)]) -> Figure {
    let mut words = format!("{measure} by {label}.");
    let mut groups = Vec::new();
    for grade in grades {
        let scores =
            sorted(points.iter().filter(|(rating, _)| rating == grade).map(|(_, score)| *score).collect());
        if scores.is_empty() {
            continue;
        }
        let percentiles = [0.05, 0.25, 0.5, 0.75, 0.95].map(|q| quantile(&scores, q));
        let [_, from, median, to, _] = percentiles.map(|value| significant(value, 3));
        words.push_str(&format!(
            " {}: {}, median {median}, middle half from {from} to {to}.",
            significant(*grade, 3),
            counted(scores.len(), "point")
        ));
        groups.push(Group { x: *grade, n: scores.len(), percentiles });
    }
    let ends = || groups.iter().flat_map(|group| group.percentiles);
    let (low, high) = (ends().fold(0.0, f64::min), ends().fold(0.0, f64::max));
    // The numbers of points are above the boxes.
    let y = Axis::new(measure, (low, low + 1.12 * (high - low)));
    Figure {
        title,
        words,
        notes: vec![Note::Text(
            "box: middle half, line: median, whiskers: 5% to 95%; above: number of points".to_owned(),
        )],
        cells: None,
        svg: Chart::boxes(Axis::of_values(label, grades), y, &groups, Colour::System(0)).to_string(),
    }
}
