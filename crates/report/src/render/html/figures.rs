//! Which charts a page shows: distributions, lengths, metric against metric, and people's ratings.

use std::io::{self, Write};

use capeval_stats::interval::quantile;

use super::charts::{Axes, COLOURS, Colour, Series, curves, scatter};
use super::markup::Escaped;
use crate::grid::short;
use crate::number::significant;
use crate::{Page, Report};

const BINS: usize = 30;
/// The most measures that are held against each other.
const MEASURES: usize = 5;

/// For each metric the measure that stands for it: BLEU's longest order, else the first.
pub(super) fn headlines(report: &Report) -> Vec<usize> {
    let mut first = 0;
    let mut chosen = Vec::new();
    for metric in &report.metrics {
        let is_bleu = metric.key == "bleu" || metric.key.starts_with("bleu:");
        if metric.n_measures > 0 {
            chosen.push(if is_bleu { first + metric.n_measures - 1 } else { first });
        }
        first += metric.n_measures;
    }
    chosen
}

/// The scores of one system for one measure, image by image.
fn values(report: &Report, system: usize, measure: usize) -> Vec<f64> {
    let segments = report.systems.get(system).and_then(|system| system.segments.as_ref());
    let n = report.measures.len().max(1);
    let rows = segments.map_or(&[][..], |segments| &segments.values);
    rows.chunks_exact(n).filter_map(|row| row.get(measure).copied()).collect()
}

/// Writes the section of charts; nothing if the report has no scores of single images.
pub(super) fn figures(report: &Report, page: &Page, out: &mut impl Write) -> io::Result<()> {
    let n_drawn = report.systems.len().min(COLOURS);
    if (0..n_drawn).all(|system| values(report, system, 0).is_empty()) {
        return Ok(());
    }
    writeln!(
        out,
        "<section id=\"charts\" aria-labelledby=\"h-charts\"><h2 id=\"h-charts\">Distributions</h2>"
    )?;
    legend(report, n_drawn, out)?;
    writeln!(out, "<div class=\"grid\">")?;
    for measure in headlines(report) {
        distribution(report, n_drawn, measure, out)?;
    }
    lengths(report, n_drawn, out)?;
    writeln!(out, "</div>")?;
    by_length(report, n_drawn, out)?;
    against_each_other(report, n_drawn, out)?;
    ratings(page, out)?;
    writeln!(out, "</section>")
}

fn legend(report: &Report, n_drawn: usize, out: &mut impl Write) -> io::Result<()> {
    write!(out, "<ul class=\"legend\">")?;
    for (k, system) in report.systems.iter().take(n_drawn).enumerate() {
        write!(out, "<li><span class=\"chip s{k}\"></span><bdi>{}</bdi></li>", Escaped(&system.name))?;
    }
    if report.systems.len() > n_drawn {
        write!(out, "<li>and {} more, which are not drawn</li>", report.systems.len() - n_drawn)?;
    }
    writeln!(out, "</ul>")
}

/// A drawing with its caption and, for those who do not see it, the same in words.
fn figure(out: &mut impl Write, title: &str, words: &str, svg: &str) -> io::Result<()> {
    writeln!(
        out,
        "<figure><figcaption>{}</figcaption><div role=\"img\" aria-label=\"{}\">{svg}</div></figure>",
        Escaped(title),
        Escaped(words)
    )
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.retain(|value| value.is_finite());
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// The range that nearly all values lie in.
fn span<'v>(all: impl Iterator<Item = &'v [f64]>) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for sorted in all.filter(|sorted| !sorted.is_empty()) {
        low = low.min(quantile(sorted, 0.0));
        high = high.max(quantile(sorted, 0.995));
    }
    if low.is_finite() && high > low { (low.min(0.0), high) } else { (0.0, 1.0) }
}

fn distribution(report: &Report, n_drawn: usize, measure: usize, out: &mut impl Write) -> io::Result<()> {
    let Some(described) = report.measures.get(measure) else { return Ok(()) };
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
    let axes = Axes {
        x: short(&described.label),
        y: "% of images",
        x_range: (low, high),
        y_range: (0.0, top(&series)),
    };
    // Tints of many systems on top of each other tell nothing.
    let filled = series.len() <= 2;
    figure(out, short(&described.label), &words, &curves(&axes, &series, filled)?)
}

fn top(series: &[Series]) -> f64 {
    let points = series.iter().flat_map(|series| &series.points);
    points.map(|(_, y)| *y).filter(|y| y.is_finite()).fold(0.0, f64::max) * 1.06
}

fn n_words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// How long captions and references are, in words.
fn lengths(report: &Report, n_drawn: usize, out: &mut impl Write) -> io::Result<()> {
    let Some(gallery) = &report.gallery else { return Ok(()) };
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
    let y_range = (0.0, top(&series));
    let axes = Axes {
        x: "words per caption; references in grey",
        y: "% of captions",
        x_range: (0.0, high),
        y_range,
    };
    figure(out, "Length", &words, &curves(&axes, &series, false)?)
}

/// The mean score of captions of each length.
fn by_length(report: &Report, n_drawn: usize, out: &mut impl Write) -> io::Result<()> {
    let Some(gallery) = &report.gallery else { return Ok(()) };
    writeln!(out, "<h3>Mean score by length</h3><div class=\"grid\">")?;
    for measure in headlines(report).into_iter().take(MEASURES) {
        let Some(described) = report.measures.get(measure) else { continue };
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
            // Means of a handful of captions say more of the captions than of the length.
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
            continue;
        }
        let xs = series.iter().flat_map(|series| &series.points).map(|(x, _)| *x);
        let x_range = (xs.clone().fold(f64::INFINITY, f64::min), xs.fold(0.0, f64::max));
        let axes = Axes {
            x: "words in the candidate",
            y: short(&described.label),
            x_range,
            y_range: (0.0, top(&series)),
        };
        let words =
            format!("Mean {} of candidates of {} to {} words.", described.label, x_range.0, x_range.1);
        figure(out, short(&described.label), &words, &curves(&axes, &series, false)?)?;
    }
    writeln!(out, "</div>")
}

/// The points that can be drawn.
fn finite(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    points.filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
}

/// Each metric against each other, system by system; the page shows one system at a time.
fn against_each_other(report: &Report, n_drawn: usize, out: &mut impl Write) -> io::Result<()> {
    let measures: Vec<usize> = headlines(report).into_iter().take(MEASURES).collect();
    if measures.len() < 2 {
        return Ok(());
    }
    writeln!(out, "<h3>Metric against metric</h3><div id=\"scatters\">")?;
    for (s, system) in report.systems.iter().take(n_drawn).enumerate() {
        let name = Escaped(&system.name);
        writeln!(out, "<div class=\"grid\" data-system=\"{s}\"><h4><bdi>{name}</bdi></h4>")?;
        for (k, x) in measures.iter().enumerate() {
            for y in &measures[k + 1..] {
                let (xs, ys) = (values(report, s, *x), values(report, s, *y));
                let ranges = [&xs, &ys].map(|values| span([&*sorted(values.clone())].into_iter()));
                let (Some(a), Some(b)) = (report.measures.get(*x), report.measures.get(*y)) else { continue };
                let axes =
                    Axes { x: short(&a.label), y: short(&b.label), x_range: ranges[0], y_range: ranges[1] };
                let points = finite(xs.into_iter().zip(ys));
                let svg = scatter(&axes, &points, Colour::System(s))?;
                let title = format!("{} – {}", short(&a.label), short(&b.label));
                let words = format!(
                    "{} against {} for {} images of {}; darker squares hold more images.",
                    b.label,
                    a.label,
                    points.len(),
                    system.name
                );
                figure(out, &title, &words, &svg)?;
            }
        }
        writeln!(out, "</div>")?;
    }
    writeln!(out, "</div>")
}

/// Scores against people's ratings, where there are any.
pub(super) fn ratings(page: &Page, out: &mut impl Write) -> io::Result<()> {
    if page.ratings.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h3 id=\"h-ratings\">Scores and people’s ratings</h3><div class=\"grid\">")?;
    for plot in &page.ratings {
        let points = finite(plot.points.iter().copied());
        let (xs, ys): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        let axes = Axes {
            x: &plot.ratings,
            y: &plot.scores,
            x_range: span([&*sorted(xs)].into_iter()),
            y_range: span([&*sorted(ys)].into_iter()),
        };
        let svg = scatter(&axes, &points, Colour::System(0))?;
        let title = format!("{} · {}", plot.scores, plot.summary);
        let words = format!(
            "{} against {} for {} captions. {}",
            plot.scores,
            plot.ratings,
            points.len(),
            plot.summary
        );
        figure(out, &title, &words, &svg)?;
    }
    writeln!(out, "</div>")
}
