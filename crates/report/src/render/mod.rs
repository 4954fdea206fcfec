//! Results as text, Markdown and LaTeX: tables, with lines below them.

pub(crate) mod latex;
pub(crate) mod markdown;
pub(crate) mod table;

use std::io::{self, Write};

use capeval_choice::{Code, Dialect, Notice};

use crate::export::Export;
use crate::{Form, Labels, Style, Table};

/// What text, Markdown and LaTeX show of a result.
pub trait Tabulated: Export + Sized {
    /// The tables with their titles.
    fn tables(&self, digits: usize, labels: Labels) -> Vec<Table>;

    /// The tables for the terminal.
    fn text_tables(&self, digits: usize) -> Vec<Table> {
        self.tables(digits, Labels::Full)
    }

    /// The lines below `tables`: what was scored, and how to read them.
    fn legend(&self, form: Form, tables: &[Table]) -> Vec<String>;

    /// The signatures, a line for each.
    fn signature_lines(&self) -> Vec<String> {
        self.signatures().iter().map(ToString::to_string).collect()
    }

    /// Writes the result for the terminal.
    fn write_text(&self, style: &Style, dialect: &dyn Dialect, out: &mut dyn Write) -> io::Result<()> {
        table::write(self, style, dialect, out)
    }

    /// As [`Written::scale_to_percent`](crate::Written::scale_to_percent).
    fn scale_to_percent(&mut self);

    /// Writes the items behind the result as JSON Lines.
    fn write_items(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// The notice that `what`, as shown in tables, is multiplied by 100.
pub fn in_percent(what: &str) -> Notice {
    Notice::new(Code::Percent, format!("{what} are multiplied by 100"))
}
