//! Results as Markdown, for a README or an issue.

use std::io::{self, Write};

use capeval_choice::Dialect;

use crate::Form;
use crate::grid::{Align, Cell, Grid, Labels, Table};
use crate::study::Study;

/// Writes each table below its title, then the lines below them, signatures and notices.
pub(crate) fn write(
    study: &dyn Study,
    digits: usize,
    dialect: &dyn Dialect,
    out: &mut dyn Write,
) -> io::Result<()> {
    let tables = study.tables(digits, Labels::Short);
    for (k, Table { title, grid }) in tables.iter().enumerate() {
        if k > 0 {
            writeln!(out)?;
        }
        if let Some(title) = title {
            writeln!(out, "{}\n", escaped(title))?;
        }
        write_grid(grid, out)?;
    }
    let legend = study.legend(Form::Markdown, &tables);
    write_notes(&legend, &study.signature_lines(), &study.head().notes(dialect), out)
}

/// Writes a table.
fn write_grid(grid: &Grid, out: &mut dyn Write) -> io::Result<()> {
    let grid = &grid.printable();
    let names = grid.columns.iter().map(|(name, _)| escaped(name));
    row(out, names)?;
    row(out, grid.columns.iter().map(|(_, align)| rule(*align).to_owned()))?;
    for cells in &grid.rows {
        row(out, cells.iter().map(cell))?;
    }
    Ok(())
}

/// Writes each line of `legend` as a paragraph, signatures as a list and notices as quotations.
fn write_notes(
    legend: &[String],
    signatures: &[String],
    notes: &[String],
    out: &mut dyn Write,
) -> io::Result<()> {
    for line in legend {
        writeln!(out, "\n{}", escaped(line))?;
    }
    if !signatures.is_empty() {
        writeln!(out)?;
    }
    for line in signatures {
        writeln!(out, "- {}", code(line))?;
    }
    for (k, note) in notes.iter().enumerate() {
        // Without an empty line in between, Markdown would join two notices into one paragraph.
        let gap = if k == 0 { "" } else { ">" };
        writeln!(out, "{gap}\n> note: {}", escaped(note))?;
    }
    Ok(())
}

/// A line as inline code, even if it contains a backtick.
fn code(line: &str) -> String {
    let line = line.replace(['\n', '\r'], " ");
    if line.contains('`') { format!("`` {line} ``") } else { format!("`{line}`") }
}

fn row(out: &mut dyn Write, cells: impl Iterator<Item = String>) -> io::Result<()> {
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

/// Text with everything escaped that Markdown would interpret.
fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut escaped, c| {
        if matches!(c, '|' | '*' | '_' | '`' | '[' | ']' | '<' | '>' | '\\') {
            escaped.push('\\');
        }
        escaped.push(if c == '\n' || c == '\r' { ' ' } else { c });
        escaped
    })
}
