//! Results as tables for a notebook, which shows HTML.

use std::io::{self, Write};

use askama::Template;
use capeval_choice::Dialect;

use crate::grid::Table;
use crate::study::Study;

/// The tables below their titles, then notices, and signatures that can be unfolded.
#[derive(Template)]
#[template(path = "notebook.html")]
struct Notebook {
    tables: Vec<Table>,
    notes: Vec<String>,
    signatures: Vec<String>,
}

/// Writes the tables of a result as HTML.
pub fn write_notebook(
    study: &dyn Study,
    digits: usize,
    dialect: &dyn Dialect,
    out: &mut dyn Write,
) -> io::Result<()> {
    let notes = study.head().notes(dialect);
    Notebook { tables: study.text_tables(digits), notes, signatures: study.signature_lines() }.write_into(out)
}
