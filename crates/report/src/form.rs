//! The forms that results are written in, and the results that can be written in each.

use std::io::{self, Write};

use capeval_choice::Dialect;

use crate::explained::explanations;
use crate::segments::segments;
use crate::{
    Comparison, Correlation, Preference, Report, Style, comparison, correlation, export, preference, render,
};

capeval_choice::named! {
    /// A form of a result.
    #[derive(Default)]
    pub enum Form ("form of results") {
        #[default]
        Table = "table", "for a person at a terminal";
        Json = "json", "one JSON object";
        Jsonl = "jsonl", "JSON Lines, one object per row";
        Csv = "csv", "comma-separated values";
        Markdown = "markdown", "a Markdown table";
        Latex = "latex", "a LaTeX table, for booktabs";
    }
}

/// A result that can be written in every [`Form`].
pub trait Written {
    /// Writes the result. The digits of `style` are for the forms for people; programs get every digit. Remedies of
    /// notices are in the words of `dialect`.
    ///
    /// # Errors
    /// When `out` does not take what is written.
    fn write(&self, form: Form, style: &Style, dialect: &dyn Dialect, out: &mut dyn Write) -> io::Result<()>;

    /// Writes what the result was computed from, a line of JSON each: images, rated captions, or pairs.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    fn write_rows(&self, out: &mut dyn Write) -> io::Result<()>;
}

impl Written for Report {
    /// The table is followed by the explanations of single scores, if any were asked for.
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

/// For results whose tables lie together in a module.
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
