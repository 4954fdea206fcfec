//! Results as LaTeX tables, for a paper.

use std::borrow::Cow;
use std::io::{self, Write};

use capeval_choice::Dialect;

use crate::Form;
use crate::grid::{Align, Cell, Grid, Labels, Table};
use crate::study::Study;

/// Writes a `tabular` for each table, which need the package `booktabs`, below its title as a comment. What has no
/// place in them is in comments before them: the lines below the tables, signatures and notices.
pub(crate) fn write(
    study: &dyn Study,
    digits: usize,
    dialect: &dyn Dialect,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (head, tables) = (study.head(), study.tables(digits, Labels::Short));
    writeln!(out, "% Written by capeval {}; needs \\usepackage{{booktabs}}.", head.version)?;
    let notes = head.notes(dialect).into_iter().map(|note| format!("note: {note}"));
    for line in study.legend(Form::Latex, &tables).into_iter().chain(study.signature_lines()).chain(notes) {
        comment(&line, out)?;
    }
    let foreign = foreign(&tables);
    if !foreign.is_empty() {
        comment(&format!("needs XeLaTeX or LuaLaTeX, and a font with these characters: {foreign}"), out)?;
    }
    for (k, Table { title, grid }) in tables.iter().enumerate() {
        if k > 0 {
            writeln!(out)?;
        }
        if let Some(title) = title {
            comment(title, out)?;
        }
        write_grid(&grid.printable(), out)?;
    }
    Ok(())
}

/// The letters in the cells of tables that pdfLaTeX knows neither itself nor by a command, each once.
fn foreign(tables: &[Table]) -> String {
    let grids = tables.iter().map(|table| table.grid.printable());
    let text = |grid: Grid| {
        let names = grid.columns.iter().map(|(name, _)| name.clone());
        let cells = grid.rows.iter().flatten().flat_map(|cell| [cell.text.clone(), cell.note.clone()]);
        names.chain(cells).map(|text| escaped(&text)).collect::<String>()
    };
    let mut found: Vec<char> = grids.flat_map(|grid| text(grid).chars().collect::<Vec<_>>()).collect();
    found.retain(|c| !c.is_ascii() && !is_latin(*c));
    found.sort_unstable();
    found.dedup();
    found.into_iter().collect()
}

/// Returns true for letters that LaTeX composes in every font encoding: those of Latin-1 and Latin Extended-A without
/// the Icelandic, Croatian and Sami ones that OT1 lacks.
fn is_latin(c: char) -> bool {
    matches!(c, 'À'..='ſ')
        && !matches!(
            c,
            'Ð' | 'ð'
                | 'Þ'
                | 'þ'
                | 'Đ'
                | 'đ'
                | 'Ŋ'
                | 'ŋ'
                | 'Ħ'
                | 'ħ'
                | 'Ŧ'
                | 'ŧ'
                | 'ĸ'
                | 'ŉ'
                | 'ſ'
                | 'Ŀ'
                | 'ŀ'
        )
        || matches!(c, '¡' | '¿')
}

fn comment(line: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "% {}", line.replace(['\n', '\r'], " "))
}

/// Writes a `tabular`.
fn write_grid(grid: &Grid, out: &mut dyn Write) -> io::Result<()> {
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

fn row(out: &mut dyn Write, cells: impl Iterator<Item = String>) -> io::Result<()> {
    let cells: Vec<String> = cells.collect();
    // After `\\` of the previous row, `[` would begin its optional argument, and `*` would forbid a page break.
    let guard = if cells.first().is_some_and(|cell| cell.starts_with(['[', '*'])) { "{}" } else { "" };
    writeln!(out, "{guard}{} \\\\", cells.join(" & "))
}

fn cell(cell: &Cell) -> String {
    let text = &in_words(&cell.text);
    let mut shown = match (cell.best, is_math(text)) {
        (false, false) => escaped(text),
        (true, false) => format!("\\textbf{{{}}}", escaped(text)),
        (false, true) => format!("${}$", math(text)),
        (true, true) => format!("$\\mathbf{{{}}}$", math(text)),
    };
    if !cell.note.is_empty() {
        let note = if is_math(&cell.note) { format!("${}$", math(&cell.note)) } else { escaped(&cell.note) };
        shown.push_str(&format!(" {{\\scriptsize {note}}}"));
    }
    shown
}

/// A text whose hyphen between two whole numbers, as in the bin 6-10, is a dash rather than a minus.
fn in_words(text: &str) -> Cow<'_, str> {
    let is_whole = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match text.split_once('-') {
        Some((low, high)) if is_whole(low) && is_whole(high) => format!("{low}–{high}").into(),
        _ => text.into(),
    }
}

/// Returns true if a text holds only numbers, with a sign that needs math mode: a minus, a plus, `<`, `≤` or `∞`.
fn is_math(text: &str) -> bool {
    let of_numbers = |c: char| c.is_ascii_digit() || " .,+-<≤∞±[]".contains(c);
    text.contains(['-', '+', '<', '≤', '∞', '±'])
        && text.contains(|c: char| c.is_ascii_digit() || c == '∞')
        && text.chars().all(of_numbers)
}

/// The text as it is written between dollar signs.
fn math(text: &str) -> String {
    text.replace('∞', "\\infty").replace('≤', "\\leq ").replace('±', "\\pm")
}

/// Characters with their commands in math mode.
const SYMBOLS: &[(char, &str)] = &[
    ('α', "\\alpha"),
    ('β', "\\beta"),
    ('κ', "\\kappa"),
    ('ρ', "\\rho"),
    ('σ', "\\sigma"),
    ('τ', "\\tau"),
    ('∞', "\\infty"),
    ('−', "-"),
    ('≈', "\\approx"),
    ('<', "<"),
    ('≤', "\\leq"),
    ('≥', "\\geq"),
    ('≠', "\\neq"),
    ('±', "\\pm"),
    ('×', "\\times"),
    ('÷', "\\div"),
    ('·', "\\cdot"),
    ('°', "^\\circ"),
    ('²', "^2"),
    ('³', "^3"),
    ('√', "\\surd"),
    ('→', "\\to"),
    ('←', "\\leftarrow"),
    ('↑', "\\uparrow"),
    ('↓', "\\downarrow"),
    ('•', "\\bullet"),
    ('★', "\\star"),
    ('✓', "\\surd"),
    ('Δ', "\\Delta"),
    ('Σ', "\\Sigma"),
    ('Ω', "\\Omega"),
    ('γ', "\\gamma"),
    ('δ', "\\delta"),
    ('ε', "\\varepsilon"),
    ('θ', "\\theta"),
    ('λ', "\\lambda"),
    ('μ', "\\mu"),
    ('µ', "\\mu"),
    ('π', "\\pi"),
    ('φ', "\\varphi"),
    ('χ', "\\chi"),
    ('ω', "\\omega"),
    ('>', ">"),
];

/// Text with everything escaped that LaTeX would interpret.
fn escaped(text: &str) -> String {
    // The letter of Kendall's coefficients is a subscript.
    for (name, symbol) in [("τ-b", "$\\tau_b$"), ("τ-c", "$\\tau_c$")] {
        if let Some((before, after)) = text.split_once(name) {
            return format!("{}{symbol}{}", escaped(before), escaped(after));
        }
    }
    text.chars().fold(String::with_capacity(text.len()), |mut escaped, c| {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '\\' => escaped.push_str("\\textbackslash{}"),
            // Two would become a dash.
            '-' if escaped.ends_with('-') => escaped.push_str("{}-"),
            '–' => escaped.push_str("--"),
            '—' => escaped.push_str("---"),
            '‘' => escaped.push('`'),
            '’' => escaped.push('\''),
            '“' => escaped.push_str("``"),
            '”' => escaped.push_str("''"),
            '…' => escaped.push_str("\\dots{}"),
            '§' => escaped.push_str("\\S{}"),
            '†' => escaped.push_str("\\dag{}"),
            '\u{a0}' | '\u{202f}' | '\u{2009}' => escaped.push('~'),
            '|' => escaped.push_str("\\textbar{}"),
            '"' => escaped.push_str("''"),
            '\n' | '\r' => escaped.push(' '),
            _ => match SYMBOLS.iter().find(|(symbol, _)| *symbol == c) {
                Some((_, name)) => escaped.push_str(&format!("${name}$")),
                None => escaped.push(c),
            },
        }
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_numbers_are_set_in_math_mode_and_names_are_not() {
        let shown = |text: &str, best: bool, note: &str| {
            cell(&Cell { text: text.to_owned(), best, note: note.to_owned() })
        };
        assert_eq!(shown("0.123", true, ""), "\\textbf{0.123}");
        assert_eq!(shown("-0.123", false, ""), "$-0.123$");
        assert_eq!(shown("+0.1", true, "[-0.2, +0.3]"), "$\\mathbf{+0.1}$ {\\scriptsize $[-0.2, +0.3]$}");
        assert_eq!(shown("0.1", false, "± 0.02 [-0.1, 0.2]"), "0.1 {\\scriptsize $\\pm 0.02 [-0.1, 0.2]$}");
        assert_eq!(shown("0.1", false, "[0.0, 0.2]"), "0.1 {\\scriptsize [0.0, 0.2]}");
        assert_eq!(
            (shown("∞", false, ""), shown("<0.0001", false, "")),
            ("$\\infty$".into(), "$<0.0001$".into())
        );
        assert_eq!(shown("-", false, ""), "-");
        assert_eq!(shown("a-1 <b>", false, ""), "a-1 $<$b$>$");
        assert_eq!(
            (shown("6-10", false, ""), shown("6-10", true, "")),
            ("6--10".into(), "\\textbf{6--10}".into())
        );
        assert_eq!(shown("a--b---c", true, ""), "\\textbf{a-{}-b-{}-{}-c}");
        assert_eq!(shown("Kendall τ-b, ρ of τ-c", false, ""), "Kendall $\\tau_b$, $\\rho$ of $\\tau_c$");
        assert_eq!(shown("n|2 \"x\"", false, ""), "n\\textbar{}2 ''x''");
    }

    #[test]
    fn characters_beyond_ascii_are_commands_or_letters_that_every_encoding_has_or_named() {
        let symbols: String = SYMBOLS.iter().map(|(symbol, _)| *symbol).collect();
        let ours = format!("{symbols}–—‘’“”…§†\u{a0}");
        assert!(escaped(&ours).is_ascii(), "{}", escaped(&ours));
        let of = |name: &str| {
            let cell = |text: &str| Cell { text: text.to_owned(), best: false, note: String::new() };
            let grid = Grid { columns: vec![(name.to_owned(), Align::Left)], rows: vec![vec![cell(name)]] };
            foreign(&[Table { title: None, grid }])
        };
        assert_eq!((of("Müller–Łódź ≤ ∞"), of("中文系统 ð")), (String::new(), "ð中文系统".to_owned()));
    }

    #[test]
    fn a_name_in_brackets_is_not_an_argument_of_the_line_break() {
        let line = |cells: &[&str]| {
            let mut out = Vec::new();
            row(&mut out, cells.iter().map(|cell| escaped(cell))).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(line(&["[mine]", "0.5"]), "{}[mine] & 0.5 \\\\\n");
        assert_eq!(line(&["a_b & 5%", "[0.1, 0.2]"]), "a\\_b \\& 5\\% & [0.1, 0.2] \\\\\n");
    }
}
