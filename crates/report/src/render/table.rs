//! Results as tables for the terminal.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use crate::grid::{Align, Grid, Table, printable};
use crate::wrap::wrapped;

/// The layout of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// The number of digits after the point.
    pub digits: usize,
    /// The width of the terminal in columns.
    pub width: usize,
    /// True to use the terminal's bold and dim.
    pub colour: bool,
    /// True to split wider tables into bands of columns, and other lines between words or settings; otherwise, lines
    /// may exceed the width.
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

/// The parts of a result that the terminal shows.
pub struct Text {
    /// The tables with their titles.
    pub tables: Vec<Table>,
    /// The lines below them.
    pub legend: Vec<String>,
    /// The signatures.
    pub signatures: Vec<String>,
    /// The notices.
    pub notes: Vec<String>,
}

/// Writes each table below its title, then the lines below them, signatures and notices.
pub(crate) fn write(text: &Text, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for Table { title, grid } in &text.tables {
        if let Some(title) = title {
            writeln!(out, "{title}")?;
        }
        write_grid(grid, style, out)?;
        writeln!(out)?;
    }
    for line in &text.legend {
        write_wrapped("", line, style, out)?;
    }
    write_signatures(&text.signatures, &text.notes, style, out)
}

/// Writes signatures, and notices, each as `note: …`, wrapped between words.
pub(crate) fn write_signatures(
    lines: &[String],
    notes: &[String],
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    if !lines.is_empty() {
        writeln!(out, "\n{}", paint(style, Paint::Dim, "signatures"))?;
    }
    for line in lines {
        writeln!(out, "{}", paint(style, Paint::Dim, &style.fitted("  ", line, "    ")))?;
    }
    if !notes.is_empty() {
        writeln!(out)?;
    }
    notes.iter().try_for_each(|note| write_wrapped("note: ", note, style, out))
}

/// The width of a grid in terminal columns.
pub(crate) fn total(grid: &Grid) -> usize {
    grid.widths().iter().map(|width| width + GAP).sum()
}

/// Writes a table. With [`Style::bands`], a table wider than the terminal is split into bands of columns, each of which
/// repeats the first column.
pub(crate) fn write_grid(grid: &Grid, style: &Style, out: &mut dyn Write) -> io::Result<()> {
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
