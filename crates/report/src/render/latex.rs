//! A report as a LaTeX table, for a paper.

use std::io::{self, Write};

use crate::grid::{Align, Cell, Grid};
use crate::{Report, render};

/// Writes a `tabular` with systems as rows, which needs the package `booktabs`; the best score of each
/// measure is bold, signatures and notices are comments.
///
/// # Errors
/// When `out` does not take what is written.
pub fn latex(report: &Report, digits: usize, out: &mut impl Write) -> io::Result<()> {
    write_head(report, out)?;
    write_grid(&Grid::by_system(report, digits), out)
}

/// Writes signatures and notices as comments.
pub(crate) fn write_head(report: &Report, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "% Written by capeval {}; needs \\usepackage{{booktabs}}.", report.provenance.version)?;
    for line in render::table::signature_lines(report) {
        writeln!(out, "% {line}")?;
    }
    if let Some(line) = render::table::resampling_line(report) {
        writeln!(out, "% {line}")?;
    }
    for notice in &report.notices {
        writeln!(out, "% note: {}", notice.message.replace(['\n', '\r'], " "))?;
    }
    Ok(())
}

/// Writes a `tabular`.
pub(crate) fn write_grid(grid: &Grid, out: &mut impl Write) -> io::Result<()> {
    let spec: String = grid
        .columns
        .iter()
        .map(|(_, align)| match align {
            Align::Left => 'l',
            Align::Right => 'r',
        })
        .collect();
    writeln!(out, "\\begin{{tabular}}{{{spec}}}\n\\toprule")?;
    row(out, grid.columns.iter().map(|(name, _)| escaped(name)))?;
    writeln!(out, "\\midrule")?;
    for cells in &grid.rows {
        row(out, cells.iter().map(cell))?;
    }
    writeln!(out, "\\bottomrule\n\\end{{tabular}}")
}

fn row(out: &mut impl Write, cells: impl Iterator<Item = String>) -> io::Result<()> {
    let cells: Vec<String> = cells.collect();
    // After the line break before it, a bracket would be a length and a star a wish not to break the page.
    let guard = if cells.first().is_some_and(|cell| cell.starts_with(['[', '*'])) { "{}" } else { "" };
    writeln!(out, "{guard}{} \\\\", cells.join(" & "))
}

fn cell(cell: &Cell) -> String {
    let mut shown =
        if cell.best { format!("\\textbf{{{}}}", escaped(&cell.text)) } else { escaped(&cell.text) };
    if !cell.note.is_empty() {
        shown.push_str(&format!(" {{\\scriptsize {}}}", escaped(&cell.note)));
    }
    shown
}

/// Text without meaning to LaTeX.
fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut escaped, c| {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '\\' => escaped.push_str("\\textbackslash{}"),
            '–' => escaped.push_str("--"),
            '−' => escaped.push_str("$-$"),
            'ρ' => escaped.push_str("$\\rho$"),
            'τ' => escaped.push_str("$\\tau$"),
            '\n' | '\r' => escaped.push(' '),
            _ => escaped.push(c),
        }
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_brackets_is_no_argument_of_the_line_break() {
        let line = |cells: &[&str]| {
            let mut out = Vec::new();
            row(&mut out, cells.iter().map(|cell| escaped(cell))).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(line(&["[mine]", "0.5"]), "{}[mine] & 0.5 \\\\\n");
        assert_eq!(line(&["a_b & 5%", "[0.1, 0.2]"]), "a\\_b \\& 5\\% & [0.1, 0.2] \\\\\n");
    }
}
