//! Results as tables for the terminal.

use std::io::{self, Write};

use capeval_choice::{Dialect, counted};
use capeval_metric::Signature;
use capeval_stats::Resampling;
use unicode_width::UnicodeWidthStr;

use super::Tabulated;
use crate::explained::explanations;
use crate::grid::{Align, Grid, Labels, Table, printable};
use crate::number::percent;
use crate::segments::segments;
use crate::wrap::wrapped;
use crate::{Form, Report};

/// The layout of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// The number of digits after the point.
    pub digits: usize,
    /// The width of the terminal in columns.
    pub width: usize,
    /// Whether to use the terminal's bold and dim.
    pub colour: bool,
    /// Whether to split what is wider: tables into bands of columns, other lines between words or settings. If not,
    /// lines may exceed the width.
    pub bands: bool,
}

impl Default for Style {
    /// Three digits, 100 columns, no colour, in bands.
    fn default() -> Self {
        Self { digits: 3, width: 100, colour: false, bands: true }
    }
}

impl Style {
    /// `head` and `text`, [`wrapped`] to the terminal if wider lines are to be split.
    pub(crate) fn fitted(&self, head: &str, text: &str, indent: &str) -> String {
        wrapped(head, text, indent, if self.bands { self.width } else { usize::MAX })
    }
}

/// The number of spaces between columns.
const GAP: usize = 3;

/// Writes each table below its title, then the lines below them, signatures and notices.
pub(crate) fn write(
    found: &impl Tabulated,
    style: &Style,
    dialect: &dyn Dialect,
    out: &mut dyn Write,
) -> io::Result<()> {
    let tables = found.text_tables(style.digits);
    for Table { title, grid } in &tables {
        if let Some(title) = title {
            writeln!(out, "{title}")?;
        }
        write_grid(grid, style, out)?;
        writeln!(out)?;
    }
    for line in found.legend(Form::Table, &tables) {
        write_wrapped("", &line, style, out)?;
    }
    write_signatures(found, style, dialect, out)
}

/// Writes measures as rows and systems as columns, or, if that is too wide, systems as rows. A star marks the best
/// score of each measure. Signatures and notices follow, and explanations of single scores, if any were requested.
fn write_report(
    report: &Report,
    style: &Style,
    dialect: &dyn Dialect,
    out: &mut dyn Write,
) -> io::Result<()> {
    let side_by_side = Grid::by_measure(report, style.digits);
    let stacked = Grid::by_system_with_lengths(report, style.digits);
    let (wide, narrow) = (total(&side_by_side), total(&stacked));
    let fits = wide <= style.width || wide <= narrow;
    let grid = if fits && report.sorted_by.is_none() { side_by_side } else { stacked };
    write_grid(&grid, style, out)?;
    writeln!(out)?;
    let star = if grid.has_best() { "* best score   " } else { "" };
    writeln!(out, "{}", style.fitted("", &format!("{star}{}", report.footer()), ""))?;
    if let Some(line) = resampling_line(report) {
        writeln!(out, "{}", style.fitted("", &line, ""))?;
    }
    write_signatures(report, style, dialect, out)?;
    if report.explained.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    explanations(report, style, out)
}

impl Tabulated for Report {
    fn tables(&self, digits: usize, _labels: Labels) -> Vec<Table> {
        vec![Table { title: None, grid: Grid::by_system(self, digits) }]
    }

    fn legend(&self, form: Form, tables: &[Table]) -> Vec<String> {
        let scored = if form == Form::Latex { self.scored() } else { self.footer() };
        let best = tables.iter().any(|table| table.grid.has_best()).then(|| "bold: best score".to_owned());
        [scored].into_iter().chain(best).chain(resampling_line(self)).collect()
    }

    fn signature_lines(&self) -> Vec<String> {
        self.signature_lines()
    }

    fn write_text(&self, style: &Style, dialect: &dyn Dialect, out: &mut dyn Write) -> io::Result<()> {
        write_report(self, style, dialect, out)
    }

    fn scale_to_percent(&mut self) {
        self.scale_to_percent();
    }

    fn write_items(&self, out: &mut dyn Write) -> io::Result<()> {
        segments(self, out)
    }
}

/// Writes signatures, and notices, each as `note: …`, wrapped between words.
fn write_signatures(
    found: &impl Tabulated,
    style: &Style,
    dialect: &dyn Dialect,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lines = found.signature_lines();
    if !lines.is_empty() {
        writeln!(out, "\n{}", paint(style, Paint::Dim, "signatures"))?;
    }
    for line in lines {
        writeln!(out, "{}", paint(style, Paint::Dim, &style.fitted("  ", &line, "    ")))?;
    }
    let notes = found.head().notes(dialect);
    if !notes.is_empty() {
        writeln!(out)?;
    }
    notes.iter().try_for_each(|note| write_wrapped("note: ", note, style, out))
}

/// The width of a grid in terminal columns.
fn total(grid: &Grid) -> usize {
    grid.widths().iter().map(|width| width + GAP).sum()
}

/// Writes a table. With [`Style::bands`], a table wider than the terminal is split into bands of columns, each of which
/// repeats the first column.
fn write_grid(grid: &Grid, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let grid = &grid.printable();
    let room = if style.bands { style.width } else { usize::MAX / 2 };
    for (k, band) in bands(&grid.widths(), room).into_iter().enumerate() {
        if k > 0 {
            writeln!(out)?;
        }
        write_band(grid, &band, style, out)?;
    }
    Ok(())
}

/// The indices of the columns of each band.
fn bands(widths: &[usize], room: usize) -> Vec<Vec<usize>> {
    let taken = |band: &[usize]| band.iter().map(|column| widths[*column] + GAP).sum::<usize>();
    let mut bands = vec![Vec::new()];
    for column in 0..widths.len() {
        if let Some(band) = bands.last_mut() {
            band.push(column);
            // The star of a best score is in the gap after the last column.
            if band.len() > 2 && taken(band) > room + GAP - 1 {
                band.pop();
                bands.push(vec![0, column]);
            }
        }
    }
    bands
}

fn write_band(grid: &Grid, band: &[usize], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let widths = grid.widths();
    let mut line = String::new();
    let columns =
        || band.iter().filter_map(|column| Some((grid.columns.get(*column)?, widths.get(*column)?)));
    for ((name, align), width) in columns() {
        pad(&mut line, name, name.width(), *width, *align);
        line.push_str(&" ".repeat(GAP));
    }
    writeln!(out, "{}", paint(style, Paint::Bold, line.trim_end()))?;
    let rule: usize = columns().map(|(_, width)| width + GAP).sum::<usize>().saturating_sub(GAP - 1);
    writeln!(out, "{}", paint(style, Paint::Dim, &"─".repeat(rule)))?;
    for row in &grid.rows {
        line.clear();
        let cells = band.iter().filter_map(|column| row.get(*column));
        for (cell, ((_, align), width)) in cells.zip(columns()) {
            let mut painted =
                if cell.best { paint(style, Paint::Bold, &cell.text) } else { cell.text.clone() };
            if !cell.note.is_empty() {
                painted = format!("{painted} {}", paint(style, Paint::Dim, &cell.note));
            }
            pad(&mut line, &painted, cell.width(), *width, *align);
            line.push(if cell.best { '*' } else { ' ' });
            line.push_str(&" ".repeat(GAP - 1));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn pad(line: &mut String, painted: &str, taken: usize, width: usize, align: Align) {
    let spaces = " ".repeat(width.saturating_sub(taken));
    match align {
        Align::Left => line.extend([painted, &spaces]),
        Align::Right => line.extend([&spaces, painted]),
    }
}

impl Report {
    /// The numbers of images and references, and the version of capeval, in one line.
    pub fn footer(&self) -> String {
        format!("{} (capeval {})", self.scored(), self.head.version)
    }

    /// The numbers of images and references, in one line.
    pub(crate) fn scored(&self) -> String {
        match self.systems.first() {
            Some(first) if self.same_images && first.n_references == 0 => counted(first.n_images, "segment"),
            Some(first) if self.same_images => {
                format!("{}, {}", counted(first.n_images, "image"), counted(first.n_references, "reference"))
            }
            _ => "the systems were scored on different images".to_owned(),
        }
    }

    /// The signatures: one line per metric if all systems share it, else one line per group of systems.
    pub fn signature_lines(&self) -> Vec<String> {
        signature_lines(self)
    }
}

/// What the intervals mean, in one line; `None` if there are none.
fn resampling_line(report: &Report) -> Option<String> {
    let Resampling { resamples, seed, level } = report.head.resampling?;
    Some(format!(
        "[low, high]: {} confidence intervals, percentiles of {} of the images, seed {seed}",
        percent(level),
        counted(resamples, "bootstrap resample"),
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
            .with("images", system.n_images)
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

/// Writes a bold head and a text, wrapped between words.
pub(crate) fn write_wrapped(head: &str, text: &str, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let words: Vec<String> = text.split_whitespace().map(printable).collect();
    let bold = if head.is_empty() { String::new() } else { paint(style, Paint::Bold, head) };
    writeln!(out, "{}", wrapped(&bold, &words.join(" "), &" ".repeat(head.len()), style.width))
}

#[derive(Clone, Copy)]
enum Paint {
    Bold,
    Dim,
}

fn paint(style: &Style, paint: Paint, text: &str) -> String {
    let code = match paint {
        Paint::Bold => 1,
        Paint::Dim => 2,
    };
    if style.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Cell;

    #[test]
    fn a_table_wider_than_the_terminal_is_split_into_bands_that_repeat_the_first_column() {
        assert_eq!(bands(&[5, 5, 5], 22), [vec![0, 1, 2]]);
        assert_eq!(bands(&[5, 5, 5, 5], 22), [vec![0, 1, 2], vec![0, 3]]);
        assert_eq!(bands(&[5, 99, 5], 22), [vec![0, 1], vec![0, 2]], "every band has a column of its own");
        assert_eq!(bands(&[5], 1), [vec![0]]);

        let columns = ["name", "first", "second"].map(|name| (name.to_owned(), Align::Left));
        let row = ["a", "1", "2"].map(Cell::from);
        let grid = Grid { columns: columns.to_vec(), rows: vec![row.to_vec()] };
        let mut out = Vec::new();
        write_grid(&grid, &Style { width: 14, ..Style::default() }, &mut out).unwrap();
        let lines = String::from_utf8(out).unwrap();
        let rules = lines.replace('─', "");
        assert_eq!(rules, "name   first\n\na      1\n\nname   second\n\na      2\n");
    }
}
