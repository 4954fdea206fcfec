//! Output options of reports: the format, the file, and the file of image scores.

use anyhow::Result;
use capeval::report::{Comparison, Form, Report, Style, Written};
use capeval_files::{STDIN, is_same_file};

use crate::fault::{Flags, fault};
use crate::invocation::this_run;
use crate::messages;
use crate::options;
use crate::output::Output;

/// Options for the output of a report.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Format of the report.
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = options::choices::<Form>())]
    format: Form,
    /// Write the report to this file.
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Write the scores of every image to this file, as JSON Lines; `-` for standard output.
    #[arg(long, value_name = "FILE")]
    segments: Option<String>,
    /// Digits after the decimal point in table, markdown and latex; the other formats write all digits [default: 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=17))]
    digits: Option<u8>,
    /// Print scores times 100, as most papers do, with one digit unless --digits is given; csv, json and jsonl stay as
    /// they are.
    #[arg(long)]
    percent: bool,
}

/// An option to keep a report for later.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub struct SaveArgs {
    /// Save the report with the scores of every image to this file, for `capeval show` and `capeval compare --reports`.
    #[arg(long, value_name = "FILE")]
    save: Option<String>,
}

impl SaveArgs {
    /// Opens the file, which may not be among `inputs`.
    pub fn open(&self, inputs: &[&str], output: &OutputArgs) -> Result<Save> {
        let Some(path) = &self.save else { return Ok(Save(None)) };
        if path == STDIN {
            return Err(fault(
                "a report cannot be saved to standard output",
                "name a file, or pass --format json",
            ));
        }
        output.check_other(path, "--save")?;
        Ok(Save(Some(Output::open(Some(path), inputs)?)))
    }
}

/// The file in which a report is kept, opened before any work is done.
pub struct Save(Option<Output>);

impl Save {
    /// Returns true if a report is to be kept, for which the scores of images are needed.
    pub fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Saves the report.
    pub fn report(self, report: &mut Report) -> Result<()> {
        report.set_run(this_run());
        self.0.map_or(Ok(()), |file| file.write(|out| report.save(out)))
    }

    /// Saves the comparison.
    pub fn comparison(self, comparison: &mut Comparison) -> Result<()> {
        comparison.set_run(this_run());
        self.0.map_or(Ok(()), |file| file.write(|out| comparison.save(out)))
    }
}

/// The digits after the decimal point of scores.
const DIGITS: usize = 3;

/// The digits after the decimal point of scores that are multiplied by 100.
const DIGITS_OF_PERCENT: usize = 1;

/// The output files of a report, opened before any work is done.
pub struct Target {
    report: Output,
    segments: Option<Output>,
    form: Form,
    style: Style,
    /// Whether to multiply by 100 what is not for programs.
    in_percent: bool,
}

impl OutputArgs {
    /// The number of digits after the decimal point on pages.
    pub fn digits(&self) -> usize {
        self.digits.map_or(DIGITS, usize::from)
    }

    /// The number of digits after the decimal point on pages with scores times 100.
    pub fn digits_of_percent(&self) -> usize {
        self.digits.map_or(DIGITS_OF_PERCENT, usize::from)
    }

    /// Returns true if scores times 100 are requested.
    pub fn wants_percent(&self) -> bool {
        self.percent
    }

    /// Returns true if the report is a table for the terminal.
    pub fn is_for_people(&self) -> bool {
        self.format == Form::Table
    }

    /// Opens the output files, none of which may be among `inputs`.
    pub fn open(&self, inputs: &[&str]) -> Result<Target> {
        self.open_as(inputs, self.percent)
    }

    /// As [`OutputArgs::open`], with scores times 100 whether or not they are requested.
    pub fn open_in_percent(&self, inputs: &[&str]) -> Result<Target> {
        self.open_as(inputs, true)
    }

    fn open_as(&self, inputs: &[&str], percent: bool) -> Result<Target> {
        if inputs.iter().filter(|path| **path == STDIN).count() > 1 {
            return Err(fault("standard input (-) can be read only once", "give files for the others"));
        }
        let report = Output::open(self.output.as_deref(), inputs)?;
        let segments = self.segments.as_deref();
        let place = self.output.as_deref().unwrap_or(STDIN);
        if segments.is_some_and(|path| is_same_place(path, place)) {
            let place = if place == STDIN { "standard output" } else { place };
            return Err(fault(
                format!("report and segments cannot be written to the same place ({place})"),
                "pass --segments FILE or --output FILE with another file",
            ));
        }
        let segments = segments.map(|path| Output::open(Some(path), inputs)).transpose()?;
        let in_percent = percent && self.format.is_for_people();
        let style = self.style(&report, in_percent);
        Ok(Target { report, segments, form: self.format, style, in_percent })
    }

    /// Refuses a page, or what `option` names, with the same path as the report or the segments.
    pub fn check_other(&self, path: &str, option: &str) -> Result<()> {
        for (other, flag) in [(&self.output, "--output"), (&self.segments, "--segments")] {
            if other.as_deref().is_some_and(|other| is_same_place(path, other)) {
                return Err(fault(
                    format!("{option} and {flag} cannot name the same file ({path})"),
                    "use another name for one of them",
                ));
            }
        }
        Ok(())
    }

    fn style(&self, output: &Output, in_percent: bool) -> Style {
        let digits = self.digits.map_or(if in_percent { DIGITS_OF_PERCENT } else { DIGITS }, usize::from);
        let standard = Style { digits, ..Style::default() };
        match output.width() {
            Some(width) => Style { width, colour: messages::is_coloured(true), ..standard },
            // Lines for files and other programs are not split.
            None => Style { bands: false, colour: messages::is_coloured(false), ..standard },
        }
    }
}

/// Returns true if two paths are the same file; `-` is standard output.
fn is_same_place(a: &str, b: &str) -> bool {
    a == b && a == STDIN || is_same_file(a, b)
}

impl Target {
    /// Returns true if the scores of every image are requested.
    pub fn wants_segments(&self) -> bool {
        self.segments.is_some()
    }

    /// Writes the report, and the scores of every image if requested.
    pub fn write(self, found: &mut impl Written) -> Result<()> {
        found.set_run(this_run());
        self.write_again(found)
    }

    /// As [`Target::write`], for a report of an earlier run.
    pub fn write_again(self, found: &mut impl Written) -> Result<()> {
        if let Some(segments) = self.segments {
            segments.write(|out| found.write_rows(out))?;
        }
        if self.in_percent {
            found.scale_to_percent();
        }
        if messages::is_quiet() && self.form.is_for_people() {
            found.drop_notices();
        }
        self.report.write(|out| found.write(self.form, &self.style, &Flags::Usual, out))
    }
}
