//! Output formats, and the results that can be written in each of them.

use std::io::{self, Write};

use capeval_choice::Dialect;

use crate::render::{self, Tabulated};
use crate::{Run, Style, export};

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

impl Form {
    /// Returns true if people read it, and not programs: numbers are rounded.
    pub fn is_for_people(self) -> bool {
        matches!(self, Self::Table | Self::Markdown | Self::Latex)
    }
}

/// A result that can be written in every [`Form`].
pub trait Written {
    /// Writes the result. The digits of `style` apply to tables, Markdown and LaTeX; the other forms have every digit.
    /// `dialect` words the remedies of notices.
    fn write(&self, form: Form, style: &Style, dialect: &dyn Dialect, out: &mut dyn Write) -> io::Result<()>;

    /// Multiplies by 100 what tables, Markdown and LaTeX show and papers print so. A notice says so.
    fn scale_to_percent(&mut self);

    /// Leaves the notices out.
    fn drop_notices(&mut self);

    /// Says which run of a program made the result.
    fn set_run(&mut self, run: Run);

    /// Writes the items behind the result as JSON Lines: images, rated captions or pairs.
    fn write_rows(&self, out: &mut dyn Write) -> io::Result<()>;
}

impl<R: Tabulated> Written for R {
    fn write(&self, form: Form, style: &Style, dialect: &dyn Dialect, out: &mut dyn Write) -> io::Result<()> {
        match form {
            Form::Table => self.write_text(style, dialect, out),
            Form::Markdown => render::markdown::write(self, style.digits, dialect, out),
            Form::Latex => render::latex::write(self, style.digits, dialect, out),
            Form::Json => export::json(self, out),
            Form::Jsonl => export::jsonl(self, out),
            Form::Csv => export::csv(self, out),
        }
    }

    fn scale_to_percent(&mut self) {
        Tabulated::scale_to_percent(self);
    }

    fn drop_notices(&mut self) {
        self.head_mut().notices.clear();
    }

    fn set_run(&mut self, run: Run) {
        self.head_mut().run = Some(run);
    }

    fn write_rows(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_items(out)
    }
}
