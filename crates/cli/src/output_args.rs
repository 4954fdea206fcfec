//! Output options of results: the format, and the files of the result, of the items behind it, and of its page.
//!
//! The ending of the result's file names its format, also that of a page. A format that `--format` names otherwise is
//! refused, and an ending that names none leaves the default.

use std::path::Path;

use anyhow::Result;
use capeval::report::{Form, Study, Style, save, write};
use capeval_files::{STDIN, is_same_file};

use crate::fault::{Flags, fault};
use crate::html::{Html, Place};
use crate::invocation::this_run;
use crate::messages;
use crate::options;
use crate::output::Output;
use crate::progress::Bar;

/// Options for the output of a result.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Format of the result [default: that of the ending of --output, or for the terminal].
    #[arg(short, long, value_name = "FORMAT", value_parser = options::choices::<Form>())]
    format: Option<Form>,
    /// Write the result to this file; the ending .json, .jsonl, .csv, .md, .tex or .html names its format.
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Write the scores of every image to this file, as JSON Lines; `-` for standard output.
    #[arg(long, value_name = "FILE")]
    segments: Option<String>,
    /// Digits after the decimal point in table, markdown and latex; the other formats write all digits [default: 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=17))]
    digits: Option<u8>,
    /// Print scores times 100, as most papers do, with one digit unless --digits is set; csv, json and jsonl are
    /// unchanged.
    #[arg(long)]
    percent: bool,
    /// Save the result and the items behind it to this file, for `capeval show` and `capeval compare --reports`.
    #[arg(long, value_name = "FILE")]
    save: Option<String>,
    /// Write a page with tables and charts to this file; the page needs no network.
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
    /// Title of the page [default: what it shows].
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

/// The digits after the decimal point of scores.
const DIGITS: usize = 3;

/// The digits after the decimal point of scores that are multiplied by 100.
const DIGITS_OF_PERCENT: usize = 1;

/// The output files of a result, opened before any work is done.
pub struct ResultTarget {
    /// `None` if the result is the page.
    result: Option<Output>,
    segments: Option<Output>,
    save: Option<Output>,
    page: Option<Html>,
    form: Form,
    digits: Option<usize>,
    /// True to multiply scores by 100, except in formats for programs.
    percent: bool,
}

impl OutputArgs {
    /// The file of the page, if one is requested.
    pub fn html(&self) -> Option<&str> {
        self.html.as_deref().or_else(|| self.output.as_deref().filter(|path| is_page(path)))
    }

    /// The format of the result.
    fn form(&self) -> Form {
        let of_file = self.output.as_deref().and_then(|path| Form::of_ending(ending(path)));
        self.format.or(of_file).unwrap_or_default()
    }

    /// Refuses a format or a page beside a file whose ending names another.
    fn check(&self) -> Result<()> {
        if self.title.is_some() && self.html().is_none() {
            return Err(fault("--title is that of a page, and none is written", "pass --html FILE"));
        }
        let Some(output) = self.output.as_deref() else { return Ok(()) };
        let (is_page, of_file) = (is_page(output), Form::of_ending(ending(output)));
        if is_page && let Some(page) = &self.html {
            let what = match is_same_place(page, output) {
                true => format!("--html and --output cannot name the same file ({page})"),
                false => format!("--html and --output both name a page ({page}, {output})"),
            };
            return Err(fault(what, "leave out --output, or name a file with another ending"));
        }
        match self.format {
            Some(form) if is_page || of_file.is_some_and(|of_file| of_file != form) => Err(fault(
                format!("the ending of {output} names another format than --format {form}"),
                "leave out --format, or name a file with another ending",
            )),
            _ => Ok(()),
        }
    }

    /// Returns true if scores times 100 are requested.
    pub fn wants_percent(&self) -> bool {
        self.percent
    }

    /// Returns true if the result is a table for the terminal.
    pub fn is_for_people(&self) -> bool {
        self.form() == Form::Table && !self.output.as_deref().is_some_and(is_page)
    }

    /// Opens the output files, none of which may be among `inputs`.
    pub fn open(&self, inputs: &[&str]) -> Result<ResultTarget> {
        if inputs.iter().filter(|path| **path == STDIN).count() > 1 {
            return Err(fault("standard input (-) can be read only once", "give files for the others"));
        }
        self.check()?;
        let has_result = !self.output.as_deref().is_some_and(is_page);
        let result = has_result.then(|| Output::open(self.output.as_deref(), inputs)).transpose()?;
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
        let page = match has_result {
            true => self.open_file(&self.html, "--html", PAGE, inputs)?,
            false => Some(Output::open(self.output.as_deref(), inputs)?),
        };
        Ok(ResultTarget {
            result,
            segments,
            page: page.map(|output| Html::new(output, self.title.clone())),
            save: self.open_file(&self.save, "--save", SAVED, inputs)?,
            form: self.form(),
            digits: self.digits.map(usize::from),
            percent: self.percent,
        })
    }

    /// Opens a file beside the result, which `option` names and standard output cannot take.
    fn open_file(
        &self,
        path: &Option<String>,
        option: &str,
        (what, remedy): (&str, &'static str),
        inputs: &[&str],
    ) -> Result<Option<Output>> {
        let Some(path) = path else { return Ok(None) };
        if path == STDIN {
            return Err(fault(format!("{what} to standard output"), remedy));
        }
        let file = Output::open(Some(path), inputs)?;
        let html = self.html.as_ref().filter(|_| option != "--html");
        let others = [(&self.output, "--output"), (&self.segments, "--segments")];
        let others = others.into_iter().filter_map(|(path, flag)| Some((path.as_ref()?, flag)));
        for (other, flag) in others.chain(html.map(|path| (path, "--html"))) {
            if is_same_place(path, other) {
                return Err(fault(
                    format!("{option} and {flag} cannot name the same file ({path})"),
                    "use another name for one of them",
                ));
            }
        }
        Ok(Some(file))
    }
}

/// The ending of a file's name.
fn ending(path: &str) -> &str {
    Path::new(path).extension().and_then(|ending| ending.to_str()).unwrap_or_default()
}

/// Returns true if the ending of a file's name is that of a page.
fn is_page(path: &str) -> bool {
    matches!(ending(path).to_ascii_lowercase().as_str(), "html" | "htm")
}

/// The files that cannot be standard output, and what to do.
const PAGE: (&str, &str) = ("a page cannot be written", "name a file that a browser can open");
const SAVED: (&str, &str) = ("a report cannot be saved", "name a file, or pass --format json");

/// Returns true if two paths are the same file; `-` is standard output.
fn is_same_place(a: &str, b: &str) -> bool {
    a == b && a == STDIN || is_same_file(a, b)
}

impl ResultTarget {
    /// The same, with pictures on the page.
    pub fn with_pictures(self, places: Vec<Place>, embedded: bool) -> Self {
        Self { page: self.page.map(|page| page.with_pictures(places, embedded)), ..self }
    }

    /// Returns true if a file of items is requested, which is not a saved result.
    pub fn wants_segments(&self) -> bool {
        self.segments.is_some()
    }

    /// Returns true if the items behind the result are written, such as the scores of every image.
    pub fn wants_items(&self) -> bool {
        self.segments.is_some() || self.save.is_some()
    }

    /// Returns true if a saved result is requested.
    pub fn saves(&self) -> bool {
        self.save.is_some()
    }

    /// Returns true if a page is requested.
    pub fn has_page(&self) -> bool {
        self.page.is_some()
    }

    /// Writes the result, its page, the items behind it, and what `capeval show` reads, as far as they are requested.
    pub fn write(self, study: &mut dyn Study, bar: Bar) -> Result<()> {
        study.head_mut().run = Some(this_run());
        self.write_again(study, bar)
    }

    /// As [`ResultTarget::write`], for a result of an earlier run.
    pub fn write_again(self, study: &mut dyn Study, bar: Bar) -> Result<()> {
        let of_percent = |study: &dyn Study| study.head().in_percent.then_some(DIGITS_OF_PERCENT);
        if let Some(page) = self.page {
            let digits = self.digits.or_else(|| of_percent(study)).unwrap_or(DIGITS);
            page.write(study, digits, &bar)?;
        }
        drop(bar);
        if let Some(file) = self.save {
            file.write(|out| save(study, out))?;
        }
        if let Some(segments) = self.segments {
            segments.write(|out| study.write_items(out))?;
        }
        let Some(result) = self.result else { return Ok(()) };
        if self.form.is_for_people() {
            if self.percent {
                study.scale_to_percent();
            }
            if messages::is_quiet() {
                study.silence();
            }
        }
        let digits = self.digits.or_else(|| of_percent(study)).unwrap_or(DIGITS);
        let style = Style { digits, ..style(&result) };
        result.write(|out| write(study, self.form, &style, &Flags::Usual, out))
    }
}

/// How text is laid out where `output` is seen.
fn style(output: &Output) -> Style {
    match output.width() {
        Some(width) => Style { width, colour: messages::is_coloured(true), ..Style::default() },
        // Lines for files and other programs are not split.
        None => Style { bands: false, colour: messages::is_coloured(false), ..Style::default() },
    }
}
