//! A report as Markdown, for a README or an issue.

use std::io::{self, Write};

use crate::grid::{Align, Cell, Grid};
use crate::{Report, render};

/// Writes a table with systems as rows, the best score of each measure in bold, then signatures and
/// notices.
///
/// # Errors
/// When `out` does not take what is written.
pub fn markdown(report: &Report, digits: usize, out: &mut impl Write) -> io::Result<()> {
    write_grid(&Grid::by_system(report, digits), out)?;
    writeln!(out, "\n{}", render::table::footer(report))?;
    if let Some(line) = render::table::resampling_line(report) {
        writeln!(out, "\n{}", escaped(&line))?;
    }
    write_signatures(report, out)
}

/// Writes a table.
pub(crate) fn write_grid(grid: &Grid, out: &mut impl Write) -> io::Result<()> {
    let names = grid.columns.iter().map(|(name, _)| escaped(name));
    row(out, names)?;
    row(out, grid.columns.iter().map(|(_, align)| rule(*align).to_owned()))?;
    for cells in &grid.rows {
        row(out, cells.iter().map(cell))?;
    }
    Ok(())
}

/// Writes signatures and notices.
pub(crate) fn write_signatures(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let signatures = render::table::signature_lines(report);
    writeln!(out)?;
    for line in signatures {
        writeln!(out, "- `{line}`")?;
    }
    if !report.notices.is_empty() {
        writeln!(out)?;
    }
    for notice in &report.notices {
        writeln!(out, "> note: {}", escaped(&notice.message))?;
    }
    Ok(())
}

fn row(out: &mut impl Write, cells: impl Iterator<Item = String>) -> io::Result<()> {
    let cells: Vec<String> = cells.collect();
    writeln!(out, "| {} |", cells.join(" | "))
}

fn rule(align: Align) -> &'static str {
    match align {
        Align::Left => ":--",
        Align::Right => "--:",
    }
}

fn cell(cell: &Cell) -> String {
    let mut shown = if cell.best { format!("**{}**", escaped(&cell.text)) } else { escaped(&cell.text) };
    if !cell.note.is_empty() {
        shown.push(' ');
        shown.push_str(&escaped(&cell.note));
    }
    shown
}

/// Text without meaning to Markdown.
pub(crate) fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut escaped, c| {
        if matches!(c, '|' | '*' | '_' | '`' | '[' | ']' | '<' | '>' | '\\') {
            escaped.push('\\');
        }
        escaped.push(if c == '\n' || c == '\r' { ' ' } else { c });
        escaped
    })
}
