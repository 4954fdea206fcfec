//! A report as tables, and the lines below them.

use std::io::{self, Write};

use capeval_choice::{Dialect, counted};
use capeval_metric::{Direction, Signature};
use capeval_stats::Resampling;

use super::group_scores::{MARK_OF_DIFFERENCE, mark};
use super::{Lengths, Report, SystemReport};
use crate::explanations::explanations;
use crate::grid::{Align, Cell, Grid, Table};
use crate::number::{fixed, percent, range};
use crate::render::table::{total, write_grid, write_signatures};
use crate::{Measure, SourceReading, Style};

/// Writes measures as rows and systems as columns, or, if that is too wide, systems as rows. A star marks the best
/// score of each measure. Signatures and notices follow, and explanations of single scores, if any were requested.
pub(super) fn write_report(
    report: &Report,
    style: &Style,
    dialect: &dyn Dialect,
    out: &mut dyn Write,
) -> io::Result<()> {
    let side_by_side = Grid::by_measure(report, style.digits);
    let stacked = Grid::by_system_with_lengths(report, style.digits);
    let (wide, narrow) = (total(&side_by_side), total(&stacked));
    let fits = wide <= style.width || wide <= narrow;
    let grid =
        if fits && report.sorted_by.is_none() && report.ranking.is_none() { side_by_side } else { stacked };
    write_grid(&grid, style, out)?;
    writeln!(out)?;
    let star = if grid.has_best() { "* best score   " } else { "" };
    writeln!(out, "{}", style.fitted("", &format!("{star}{}", report.footer()), ""))?;
    for line in runs_line(report).into_iter().chain(resampling_line(report)) {
        writeln!(out, "{}", style.fitted("", &line, ""))?;
    }
    write_groups(report, style, out)?;
    write_signatures(&report.signature_lines(), &report.head.notes(dialect), style, out)?;
    if report.explained.is_empty() {
        return Ok(());
    }
    for line in report.head.readings.iter().filter_map(SourceReading::fit_in_words) {
        writeln!(out, "{}", style.fitted("", &line, ""))?;
    }
    writeln!(out)?;
    explanations(report, style, out)
}

/// Writes a table for each property that groups images, and what they mean.
fn write_groups(report: &Report, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for groups in &report.groups {
        let Table { grid, .. } = groups.table(report, style.digits);
        writeln!(out)?;
        write_grid(&grid, style, out)?;
        writeln!(out)?;
        writeln!(out, "{}", style.fitted("", &groups.legend(report.unit()), ""))?;
        if grid.has_best() {
            writeln!(out, "{}", style.fitted("", &format!("* {}", mark(report.unit())), ""))?;
        }
        if let Some(Table { title, grid }) = groups.differences(report, style.digits) {
            writeln!(out, "\n{}", title.unwrap_or_default())?;
            write_grid(&grid, style, out)?;
            if grid.has_best() {
                writeln!(out, "\n{}", style.fitted("", &format!("* {MARK_OF_DIFFERENCE}"), ""))?;
            }
        }
    }
    Ok(())
}

impl Grid {
    /// Systems as rows and measures as columns, as in papers.
    pub fn by_system(report: &Report, digits: usize) -> Self {
        let best = best(report, digits);
        let ranking = report.ranking.as_ref();
        let ranks = match ranking {
            Some(ranking) => Some(ranking.places.iter().map(|place| place.rank).collect()),
            None => report.sorted_by.map(|measure| ranks(report, measure)),
        };
        let mut columns = vec![("System".to_owned(), Align::Left)];
        columns.extend(ranks.iter().map(|_| ("Rank".to_owned(), Align::Right)));
        columns.extend(ranking.map(|ranking| (ranking.first_term().to_owned(), Align::Right)));
        columns.extend(report.head.measures.iter().map(|m| (m.short_label().to_owned(), Align::Right)));
        let with_images = differ(report);
        if with_images {
            columns.push((report.units(), Align::Right));
        }
        let rows = report.systems.iter().enumerate().map(|(s, system)| {
            let rank = ranks
                .iter()
                .filter_map(|ranks: &Vec<usize>| ranks.get(s))
                .map(|rank| rank.to_string().into());
            let deciding = ranking.map(|ranking| {
                let value = ranking.places.get(s).and_then(|place| place.values.first().copied().flatten());
                value
                    .map_or_else(String::new, |value| {
                        fixed(value, if value.fract() == 0.0 { 0 } else { digits })
                    })
                    .into()
            });
            let scores = report
                .head
                .measures
                .iter()
                .zip(&best)
                .enumerate()
                .map(|(k, (measure, best))| cell(measure, system, k, best.as_ref(), digits));
            let images = with_images.then(|| system.n_images.to_string().into());
            std::iter::once(system.name.as_str().into())
                .chain(rank)
                .chain(deciding)
                .chain(scores)
                .chain(images)
                .collect()
        });
        Self { columns, rows: rows.collect() }
    }

    /// The same with the lengths of captions, if they are known.
    pub(crate) fn by_system_with_lengths(report: &Report, digits: usize) -> Self {
        let mut grid = Self::by_system(report, digits);
        if report.systems.iter().any(|system| system.lengths.is_some()) {
            grid.columns.extend(LENGTHS.map(|name| (name.to_owned(), Align::Right)));
            for (row, system) in grid.rows.iter_mut().zip(&report.systems) {
                row.extend(lengths_in_words(system.lengths.as_ref()).map(Cell::from));
            }
        }
        grid
    }

    /// Measures as rows, with their full labels and ranges, and systems as columns.
    pub fn by_measure(report: &Report, digits: usize) -> Self {
        let best = best(report, digits);
        let mut columns = vec![(String::new(), Align::Left), ("range".to_owned(), Align::Right)];
        columns.extend(report.systems.iter().map(|system| (system.name.clone(), Align::Right)));
        let mut rows: Vec<Vec<Cell>> = report
            .head
            .measures
            .iter()
            .zip(&best)
            .enumerate()
            .map(|(k, (measure, best))| {
                let scores =
                    report.systems.iter().map(|system| cell(measure, system, k, best.as_ref(), digits));
                let head = [measure.label.as_str().into(), range(measure.min, measure.max).into()];
                head.into_iter().chain(scores).collect()
            })
            .collect();
        if report.systems.iter().any(|system| system.lengths.is_some()) {
            let texts = report.systems.iter().map(|system| lengths_in_words(system.lengths.as_ref()));
            let texts: Vec<[String; 3]> = texts.collect();
            for (k, name) in LENGTHS.into_iter().enumerate() {
                let cells = texts.iter().map(|texts| texts[k].as_str().into());
                rows.push([name.into(), Cell::default()].into_iter().chain(cells).collect());
            }
        }
        if differ(report) {
            let images = report.systems.iter().map(|system| system.n_images.to_string().into());
            rows.push(
                [format!("{}s", report.unit()).into(), Cell::default()].into_iter().chain(images).collect(),
            );
        }
        Self { columns, rows }
    }
}

/// The rows of tables about lengths.
const LENGTHS: [&str; 3] = ["words", "reference words", "length ratio"];

/// The texts beside [`LENGTHS`]; empty without lengths.
fn lengths_in_words(lengths: Option<&Lengths>) -> [String; 3] {
    let length = |words: f64| fixed(words, if words.fract() == 0.0 { 0 } else { 1 });
    let text = |lengths: &Lengths| {
        [length(lengths.candidates), length(lengths.references), fixed(lengths.ratio(), 3)]
    };
    lengths.map_or_else(Default::default, text)
}

/// The cell with a system's score by measure number `k`.
fn cell(measure: &Measure, system: &SystemReport, k: usize, best: Option<&String>, digits: usize) -> Cell {
    let Some(score) = system.scores.get(k) else { return Cell::default() };
    let interval = system.interval(k).copied().filter(|interval| !interval.low.is_nan());
    let shown = |value: f64| fixed(value, measure.digits(digits));
    let cell = Cell::estimate(*score, interval, shown).deviating(system.deviation(k), shown);
    Cell { best: best == Some(&cell.text), ..cell }
}

/// The rank of each system by one measure; equal scores share a rank.
fn ranks(report: &Report, measure: usize) -> Vec<usize> {
    let lower = report.head.measures.get(measure).is_some_and(|m| m.direction == Direction::LowerIsBetter);
    let score = |system: &SystemReport| {
        let score = system.scores.get(measure).copied().filter(|score| !score.is_nan());
        score.map_or(f64::INFINITY, |score| if lower { score } else { -score })
    };
    let better = |system: &SystemReport| {
        report.systems.iter().filter(|other| score(other).total_cmp(&score(system)).is_lt()).count()
    };
    report.systems.iter().map(|system| better(system) + 1).collect()
}

/// Returns true if systems were scored on different numbers of images.
fn differ(report: &Report) -> bool {
    report.systems.windows(2).any(|pair| matches!(pair, [a, b] if a.n_images != b.n_images))
}

/// The best score of each measure as it is printed, so that equal-looking scores are all marked; `None` where all
/// scores look equal, where no score is better than another, or where systems were scored on different images.
fn best(report: &Report, digits: usize) -> Vec<Option<String>> {
    if !report.same_images {
        return vec![None; report.head.measures.len()];
    }
    report
        .head
        .measures
        .iter()
        .enumerate()
        .map(|(k, measure)| {
            let scores = report.systems.iter().filter_map(|system| system.scores.get(k).copied());
            let better = match measure.direction {
                Direction::HigherIsBetter => f64::max,
                Direction::LowerIsBetter => f64::min,
                Direction::Neither => return None,
            };
            let digits = measure.digits(digits);
            let best = fixed(scores.clone().reduce(better)?, digits);
            scores.map(|score| fixed(score, digits)).any(|shown| shown != best).then_some(best)
        })
        .collect()
}

impl Report {
    /// The numbers of images and references, and the version of capeval, in one line.
    pub fn footer(&self) -> String {
        format!("{} (capeval {})", self.scored(), self.head.version)
    }

    /// The numbers of images and references, in one line.
    pub(crate) fn scored(&self) -> String {
        let by_position = match self.head.readings.iter().any(SourceReading::is_by_position) {
            true => ", paired by position",
            false => "",
        };
        match self.systems.first() {
            Some(first) if self.same_images && first.n_references == 0 => counted(first.n_images, "segment"),
            Some(first) if self.same_images => {
                let images = counted(first.n_images, self.unit());
                format!("{images}, {}{by_position}", counted(first.n_references, "reference"))
            }
            _ => format!("the systems were scored on different {}s", self.unit()),
        }
    }

    /// The signatures: one line per metric if all systems share it, else one line per group of systems.
    pub fn signature_lines(&self) -> Vec<String> {
        signature_lines(self)
    }
}

/// The meaning of the deviations, in one line; `None` if there are none.
pub(crate) fn runs_line(report: &Report) -> Option<String> {
    let mut numbers: Vec<usize> =
        report.systems.iter().filter_map(|system| Some(system.runs.as_ref()?.n)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let of = match numbers[..] {
        [] => return None,
        [n] => format!("{n} runs"),
        [least, .., most] => format!("{least} to {most} runs"),
    };
    Some(format!("±: standard deviation over {of} of a system, whose mean is before it"))
}

/// The meaning of the intervals, in one line; `None` if there are none.
pub(super) fn resampling_line(report: &Report) -> Option<String> {
    let Resampling { resamples, seed, level } = report.head.resampling?;
    Some(format!(
        "[low, high]: {} confidence intervals, percentiles of {} of the {}s, seed {seed}",
        percent(level),
        counted(resamples, "bootstrap resample"),
        report.unit(),
    ))
}

/// The signatures: one line per metric if all systems share it, else one line per group of systems.
fn signature_lines(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    for m in 0..report.head.metrics.len() {
        let mut groups: Vec<(&Signature, Vec<&str>)> = Vec::new();
        for system in &report.systems {
            let Some(signature) = system.signatures.get(m) else { continue };
            match groups.iter_mut().find(|(known, _)| *known == signature) {
                Some((_, names)) => names.push(&system.name),
                None => groups.push((signature, vec![&system.name])),
            }
        }
        match &groups[..] {
            [(signature, _)] => lines.push(signature.to_string()),
            groups => {
                lines.extend(
                    groups.iter().map(|(signature, names)| format!("{}: {signature}", listed(names))),
                );
            }
        }
    }
    lines.extend(reference_lines(report));
    lines
}

/// The references, in the form of a signature: one line if all systems share them, else one line per group of systems.
fn reference_lines(report: &Report) -> Vec<String> {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for system in &report.systems {
        let Some(hash) = &system.reference_hash else { continue };
        let line = Signature::new("references")
            .with(&format!("{}s", report.unit()), system.n_images)
            .with("captions", system.n_references)
            .with("hash", hash)
            .to_string();
        match groups.iter_mut().find(|(known, _)| *known == line) {
            Some((_, names)) => names.push(&system.name),
            None => groups.push((line, vec![&system.name])),
        }
    }
    match groups.len() {
        0 | 1 => groups.into_iter().map(|(line, _)| line).collect(),
        _ => groups.iter().map(|(line, names)| format!("{}: {line}", listed(names))).collect(),
    }
}

/// The first few names, and the number of others.
fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<&str> = names.iter().take(SHOWN).copied().collect();
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => shown.join(", "),
        Some(more) => format!("{} and {more} more", shown.join(", ")),
    }
}
