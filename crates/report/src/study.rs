//! A result, from which all its formats, its file and its page are made.

use std::any::Any;
use std::fmt;
use std::io::{self, Write};

use capeval_choice::{Dialect, Notice, Refusal};
use capeval_metric::Signature;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::charts::Estimate;
use crate::render::table::Text;
use crate::render::{latex, markdown, programs, table};
use crate::{Comparison, Correlation, Form, Head, Kind, Labels, RankRule, Report, Style, Table, Timelines};

/// A result.
///
/// A type that implements it has every [`Form`] by [`write()`], a file by its [`Kind`], and a page of HTML. If front
/// ends list its kind, they read it again and show it.
pub trait Study: Any + fmt::Debug + Send + Sync {
    /// The kind of result.
    fn kind(&self) -> &'static Kind;
    /// The fields that all results share.
    fn head(&self) -> &Head;
    /// The same, to be changed.
    fn head_mut(&mut self) -> &mut Head;

    /// Drops notices and remarks, for people who want results alone.
    fn silence(&mut self) {
        self.head_mut().notices.clear();
    }

    /// The headings of its page.
    fn headings(&self) -> Headings;

    /// The tables with their titles.
    fn tables(&self, digits: usize, labels: Labels) -> Vec<Table>;

    /// The tables for the terminal.
    fn text_tables(&self, digits: usize) -> Vec<Table> {
        self.tables(digits, Labels::Full)
    }

    /// The lines below `tables`: what was scored, and how to read them.
    fn legend(&self, form: Form, tables: &[Table]) -> Vec<String>;

    /// One signature per metric.
    fn signatures(&self) -> Vec<Signature>;

    /// The signatures, a line for each.
    fn signature_lines(&self) -> Vec<String> {
        self.signatures().iter().map(ToString::to_string).collect()
    }

    /// Writes the result for the terminal.
    fn write_text(&self, style: &Style, dialect: &dyn Dialect, out: &mut dyn Write) -> io::Result<()> {
        let tables = self.text_tables(style.digits);
        let legend = self.legend(Form::Table, &tables);
        let notes = self.head().notes(dialect);
        table::write(&Text { tables, legend, signatures: self.signature_lines(), notes }, style, out)
    }

    /// Multiplies by 100 what tables, Markdown and LaTeX show and papers print so. A notice says so.
    fn scale_to_percent(&mut self);

    /// The numbers with their intervals, for drawings.
    fn estimates(&self, digits: usize) -> Vec<Estimates>;

    /// The parts of a page besides tables and estimates.
    fn details(&self) -> Details<'_> {
        Details::None
    }

    /// The first fields of the JSON object.
    fn body(&self) -> Fields;

    /// The last fields of the JSON object.
    fn tail(&self) -> Fields {
        Fields::new()
    }

    /// The JSON.
    fn json(&self) -> Value {
        programs::whole(self)
    }

    /// The lines of JSON Lines.
    fn lines(&self) -> Vec<Line<'_>>;

    /// The columns of CSV.
    fn columns(&self) -> Vec<String>;

    /// The rows of CSV, without the line of column names.
    fn rows(&self) -> Vec<Vec<String>>;

    /// Writes the items behind the result as JSON Lines: images, rated captions or pairs.
    fn write_items(&self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Sorts systems by the measure `key`, best first; `None` if there are no systems, or no such measure.
    fn sort_by(&mut self, _key: &str) -> Option<()> {
        None
    }

    /// The scores of systems, to be changed; `None` if the result has none.
    fn report_mut(&mut self) -> Option<&mut Report> {
        None
    }

    /// Ranks systems by a rule over several measures; `None` if there are no systems.
    fn rank_by(&mut self, _rule: &RankRule) -> Option<()> {
        None
    }

    /// Checks that the parts of a result that was read belong together, so that nothing that reads it can fail.
    fn check(&self) -> Result<(), Refusal>;
}

/// The kind of a result, and the place of its [`Head`], within `impl Study`: `study_head!(KIND, head);`.
#[macro_export]
macro_rules! study_head {
    ($kind:path, $($head:ident).+) => {
        fn kind(&self) -> &'static $crate::Kind {
            &$kind
        }

        fn head(&self) -> &$crate::Head {
            &self.$($head).+
        }

        fn head_mut(&mut self) -> &mut $crate::Head {
            &mut self.$($head).+
        }
    };
}

/// The headings of a page.
#[derive(Clone, Debug)]
pub struct Headings {
    /// The heading of the page, unless a user sets another.
    pub title: String,
    /// The line below it.
    pub subtitle: String,
    /// The heading of the tables.
    pub tables: &'static str,
    /// The heading of the estimates.
    pub estimates: &'static str,
}

/// Numbers with their intervals, which pages show as a forest plot.
#[derive(Debug)]
pub struct Estimates {
    /// The caption.
    pub title: String,
    /// The name of the axis.
    pub label: String,
    /// The estimates.
    pub rows: Vec<Estimate>,
    /// The value of no effect, at which there is a line.
    pub none: Option<f64>,
    /// The number of digits after the point.
    pub digits: usize,
    /// The note below it.
    pub note: String,
}

/// The parts of a page besides tables and estimates.
#[derive(Clone, Copy, Debug)]
pub enum Details<'r> {
    /// Nothing.
    None,
    /// The scores of systems: distributions, images, and what captions look like; and how systems differ.
    Scores(&'r Report, Option<&'r Comparison>),
    /// Rated captions.
    Ratings(&'r Correlation),
    /// Events of videos.
    Events(&'r Timelines),
}

impl<'r> Details<'r> {
    /// The scores of systems, if the result has any.
    pub fn report(self) -> Option<&'r Report> {
        match self {
            Self::Scores(report, _) => Some(report),
            Self::None | Self::Ratings(_) | Self::Events(_) => None,
        }
    }
}

/// The fields of a JSON object, in their order.
pub type Fields = Map<String, Value>;

/// The fields of what is serialised as an object.
pub fn fields(object: &impl Serialize) -> Fields {
    match serde_json::to_value(object) {
        Ok(Value::Object(fields)) => fields,
        _ => Fields::new(),
    }
}

/// A line of JSON Lines.
pub struct Line<'r> {
    /// The first fields.
    pub body: Fields,
    /// The signatures of the metrics behind it.
    pub signatures: Vec<(&'static str, String)>,
    /// The notices that concern it.
    pub notices: Vec<&'r Notice>,
}

/// Writes a result. The digits of `style` apply to tables, Markdown and LaTeX; the other forms have every digit.
/// `dialect` words the remedies of notices.
pub fn write(
    study: &dyn Study,
    form: Form,
    style: &Style,
    dialect: &dyn Dialect,
    out: &mut dyn Write,
) -> io::Result<()> {
    match form {
        Form::Table => study.write_text(style, dialect, out),
        Form::Markdown => markdown::write(study, style.digits, dialect, out),
        Form::Latex => latex::write(study, style.digits, dialect, out),
        Form::Json => programs::json(&study.json(), out),
        Form::Jsonl => programs::jsonl(study, out),
        Form::Csv => programs::csv(study, out),
    }
}
