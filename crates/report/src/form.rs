//! Output formats, and the results that can be written in each of them.

use std::io::{self, Write};

use capeval_choice::Dialect;

use crate::explained::explanations;
use crate::segments::segments;
use crate::{
    Comparison, Correlation, Preference, Report, Style, comparison, correlation, export, preference, render,
};

capeval_choice::named! {
    /// An output format.
    #[derive(Default)]
    pub enum Form ("output format") {
        #[default]
        Table = "table", "a table for the terminal";
        Json = "json", "one JSON object";
        Jsonl = "jsonl", "JSON Lines, one object per row";
        Csv = "csv", "comma-separated values";
        Markdown = "markdown", "a Markdown table";
        Latex = "latex", "a LaTeX table, for booktabs";
    }
}

/// A result that can be written in every [`Form`].
pub trait Written {
    /// Writes the result. The digits of `style` apply to tables, Markdown and LaTeX; the other forms have every digit.
    /// `dialect` words the remedies of notices.
    ///
    /// # Errors
    /// If writing to `out` fails.
    fn write(&self, form: Form, style: &Style, dialect: &dyn Dialect, out: &mut dyn Write) -> io::Result<()>;

    /// Writes the items behind the result as JSON Lines: images, rated captions or pairs.
    ///
    /// # Errors
    /// If writing to `out` fails.
    fn write_rows(&self, out: &mut dyn Write) -> io::Result<()>;
}

impl Written for Report {
    /// Explanations of single scores follow the table, if any were requested.
    fn write(&self, form: Form, style: &Style, dialect: &dyn Dialect, out: &mut dyn Write) -> io::Result<()> {
        match form {
            Form::Table => {
                render::table::table(self, style, dialect, out)?;
                if self.explained.is_empty() {
                    return Ok(());
                }
                writeln!(out)?;
                explanations(self, style, out)
            }
            Form::Markdown => render::markdown::markdown(self, style.digits, dialect, out),
            Form::Latex => render::latex::latex(self, style.digits, dialect, out),
            Form::Json => export::json(self, out),
            Form::Jsonl => export::jsonl(self, out),
            Form::Csv => export::csv(self, out),
        }
    }

    fn write_rows(&self, out: &mut dyn Write) -> io::Result<()> {
        segments(self, out)
    }
}

/// Implements [`Written`] for a result whose tables are in one module.
macro_rules! written {
    ($result:ty, $module:ident, |$found:ident, $out:ident| $rows:expr) => {
        impl Written for $result {
            fn write(
                &self,
                form: Form,
                style: &Style,
                dialect: &dyn Dialect,
                out: &mut dyn Write,
            ) -> io::Result<()> {
                match form {
                    Form::Table => $module::table(self, style, dialect, out),
                    Form::Markdown => $module::markdown(self, style.digits, dialect, out),
                    Form::Latex => $module::latex(self, style.digits, dialect, out),
                    Form::Json => export::json(self, out),
                    Form::Jsonl => export::jsonl(self, out),
                    Form::Csv => export::csv(self, out),
                }
            }

            fn write_rows(&self, $out: &mut dyn Write) -> io::Result<()> {
                let $found = self;
                $rows
            }
        }
    };
}

written!(Comparison, comparison, |found, out| segments(&found.report, out));
written!(Correlation, correlation, |found, out| export::points(found, out));
written!(Preference, preference, |found, out| export::pairs(found, out));
