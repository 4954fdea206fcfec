//! How a report is written: its format, its file, and the scores of every image beside it.

use anyhow::Result;
use capeval::report::{Form, Style, Written};
use capeval_files::{STDIN, is_same_file};

use crate::fault::{Flags, fault};
use crate::options;
use crate::output::Output;

/// How a report is written.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub struct Shown {
    /// How the report is written: a table for a person at a terminal, one JSON object, JSON Lines with an object per
    /// row, comma-separated values, or a table for Markdown or for LaTeX with booktabs.
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = options::choices(Form::ALL, Form::name))]
    format: Form,
    /// Write the report to this file.
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Write the scores of every image to this file, as JSON Lines; `-` for standard output.
    #[arg(long, value_name = "FILE")]
    segments: Option<String>,
    /// Digits after the point in table, markdown and latex; the other formats write all.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=17))]
    digits: u8,
}

/// Where a report goes; ready before any work is done.
pub struct Target {
    report: Output,
    segments: Option<Output>,
    form: Form,
    style: Style,
}

impl Shown {
    /// How many digits after the point people see.
    pub fn digits(&self) -> usize {
        usize::from(self.digits)
    }

    /// Whether the report is a table for a person.
    pub fn is_for_people(&self) -> bool {
        self.format == Form::Table
    }

    /// Opens the files that the report goes to, none of which may be among `inputs`.
    ///
    /// # Errors
    /// When a file cannot be written, or report and segments would go to the same place.
    pub fn open(&self, inputs: &[&str]) -> Result<Target> {
        let report = Output::open(self.output.as_deref(), inputs)?;
        let segments = self.segments.as_deref();
        let place = self.output.as_deref().unwrap_or(STDIN);
        if segments.is_some_and(|path| is_same_place(path, place)) {
            let place = if place == STDIN { "standard output" } else { place };
            return Err(fault(
                format!("report and segments cannot go to the same place ({place})"),
                "pass --segments FILE or --output FILE with another file",
            ));
        }
        let segments = segments.map(|path| Output::open(Some(path), inputs)).transpose()?;
        let style = self.style(&report);
        Ok(Target { report, segments, form: self.format, style })
    }

    /// Refuses a page that would go where the report or the segments go.
    ///
    /// # Errors
    /// When it would.
    pub fn check_page(&self, page: &str) -> Result<()> {
        for (other, flag) in [(&self.output, "--output"), (&self.segments, "--segments")] {
            if other.as_deref().is_some_and(|other| is_same_place(page, other)) {
                return Err(fault(
                    format!("--html and {flag} cannot go to the same file ({page})"),
                    "give one of them another name",
                ));
            }
        }
        Ok(())
    }

    fn style(&self, output: &Output) -> Style {
        let standard = Style { digits: usize::from(self.digits), ..Style::default() };
        if output.is_terminal() {
            let width = console::Term::stdout()
                .size_checked()
                .map_or(standard.width, |(_, columns)| usize::from(columns));
            let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
            Style { width, colour, ..standard }
        } else {
            // What goes to a file or a program keeps its lines whole.
            Style { bands: false, ..standard }
        }
    }
}

/// Whether what is written to two paths would be mixed up; `-` is standard output.
fn is_same_place(a: &str, b: &str) -> bool {
    a == b && a == STDIN || is_same_file(a, b)
}

impl Target {
    /// Whether the scores of every image are asked for.
    pub fn wants_segments(&self) -> bool {
        self.segments.is_some()
    }

    /// Writes the result, and what stands behind it.
    ///
    /// # Errors
    /// When a target does not take what is written.
    pub fn write(self, found: &impl Written) -> Result<()> {
        if let Some(segments) = self.segments {
            segments.write(|out| found.write_rows(out))?;
        }
        self.report.write(|out| found.write(self.form, &self.style, &Flags::Usual, out))
    }
}
