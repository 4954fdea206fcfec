//! Results as HTML pages.
//!
//! A page is one file that needs no network: tables, charts and a browser of images. The templates are in `templates`,
//! the script and the style in `assets`; drawings, and the style that all pages share, are in `capeval_report::charts`.
//! The page's Content-Security-Policy allows only this script and these styles, and no connection except to the
//! pictures.
//!
//! Captions, scores and evidence are stored as deflated blocks of JSON that the page decompresses on demand: 5,000
//! images take 3 MB, 40,504 take 24 MB. Only the numbers of an explanation are stored; the tree around them is stored
//! once for all images that share it. Scores are explained while the page is written, 64 blocks of 128 images at a time
//! on all threads, so the memory for evidence does not grow with the page. Each block numbers its own shapes, so no
//! block waits for another.
//!
//! askama fills the templates: it escapes every value unless a template says `safe`, and an unknown field or a wrong
//! type does not compile. maud builds in a third of the time (5 seconds of one core to 18) but hides the markup in
//! Rust. The server's pages have a layout of their own, since a report must be one file without links and a site must
//! not be.

mod block;
mod data;
mod figures;
mod layout;
mod page;
mod profiles;
mod rated;

use std::io::{self, Write};
use std::sync::OnceLock;

use askama::Template;
use capeval_choice::{Dialect, counted};
use capeval_metric::Signature;
use capeval_report::charts::{Colour, Estimate};
use capeval_report::{
    Align, Comparison, Correlation, Form, Grid, Head, Labels, Preference, Report, Table, Tabulated,
    intervals_in_words,
};
use capeval_stats::Interval;

pub use crate::data::Advance;
use crate::data::Data;
use crate::figures::Charts;
pub use crate::figures::{Figure, Note, ratings as by_rating};
use crate::layout::Layout;
pub use crate::layout::policy;
pub use crate::page::{Page, Pictures};
use crate::profiles::{Profiles, profiles};
pub use crate::rated::{Rated, rated};

/// With more measures than this, the page has a row rather than a column for each of them.
const MANY_MEASURES: usize = 12;

#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage<'r> {
    layout: Layout<'r>,
    scores: Grid,
    notices: Vec<String>,
    signatures: Vec<String>,
    resampling: Option<String>,
    differences: Option<Differences>,
    intervals: Vec<Figure>,
    charts: Option<Charts<'r>>,
    profiles: Option<Profiles<'r>>,
    has_images: bool,
    data: Data<'r>,
}

/// The parts of a comparison besides its report.
struct Differences {
    figures: Vec<Figure>,
    tables: Vec<Table>,
    about: Vec<String>,
    /// The system and the baseline of the first pair.
    first: Option<(usize, usize)>,
}

#[derive(Template)]
#[template(path = "agreement.html")]
struct AgreementPage<'r> {
    layout: Layout<'r>,
    tables: Vec<Table>,
    about: Vec<String>,
    notices: Vec<String>,
    signatures: Vec<String>,
    sections: Vec<Section<'r>>,
}

impl<'r> AgreementPage<'r> {
    /// A page without tables and figures.
    fn new(
        title: &str,
        subtitle: String,
        head: &'r Head,
        signatures: &[Signature],
        page: &'r Page,
        dialect: &dyn Dialect,
    ) -> Self {
        Self {
            layout: Layout::new(page, title.to_owned(), &head.version, subtitle),
            tables: Vec::new(),
            about: Vec::new(),
            notices: head.notes(dialect),
            signatures: signatures.iter().map(ToString::to_string).collect(),
            sections: Vec::new(),
        }
    }
}

/// Figures under a heading; not shown if there are none.
struct Section<'r> {
    id: &'r str,
    title: &'r str,
    /// The systems that colours stand for, if any do, and the number of others.
    systems: Vec<String>,
    n_more: usize,
    /// A note below the systems.
    about: Option<&'r str>,
    figures: Vec<Figure>,
}

impl<'r> Section<'r> {
    /// Figures whose colours need no explanation.
    fn new(id: &'r str, title: &'r str, figures: Vec<Figure>) -> Self {
        Self { id, title, systems: Vec::new(), n_more: 0, about: None, figures }
    }
}

/// Writes the page of a report; `dialect` words the remedies of notices.
///
/// The page has charts if the systems have [`segments`](capeval_report::SystemReport::segments), and shows single
/// images if the report also has a [`gallery`](Report::gallery), whose scores are explained while the page is written:
/// `advance` is called with the number of images after some are done.
pub fn report(
    report: &Report,
    page: &Page,
    dialect: &dyn Dialect,
    advance: Advance<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let title = format!("Caption scores of {}", named(report));
    report_page(report, title, None, page, dialect, advance).write(out)
}

/// Writes the page of a report on the diversity of captions.
pub fn diversity(report: &Report, page: &Page, dialect: &dyn Dialect, out: &mut dyn Write) -> io::Result<()> {
    let title = format!("Diversity of the captions of {}", named(report));
    let intervals = figures::diversity(report, page.digits);
    ReportPage { intervals, ..report_page(report, title, None, page, dialect, &|_| ()) }.write(out)
}

/// The number of systems, without the human row.
fn n_systems(report: &Report) -> usize {
    report.gallery.as_ref().map_or(report.systems.len(), |gallery| gallery.systems.len())
}

/// The names of the systems, or their number if they are many.
fn named(report: &Report) -> String {
    let names: Vec<&str> =
        report.systems.iter().take(n_systems(report)).map(|system| system.name.as_str()).collect();
    match &names[..] {
        [one] => (*one).to_owned(),
        [a, b] => format!("{a} and {b}"),
        [a, b, c] => format!("{a}, {b} and {c}"),
        names => counted(names.len(), "system"),
    }
}

/// Writes the page of a comparison: the [page of its report](report()), with the differences below the scores.
pub fn comparison(
    comparison: &Comparison,
    page: &Page,
    dialect: &dyn Dialect,
    advance: Advance<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = |system: usize| comparison.report.systems.get(system).map_or("", |s| s.name.as_str());
    let titles =
        comparison.pairs.iter().map(|pair| format!("{} against {}", name(pair.system), name(pair.baseline)));
    let tables = titles
        .zip(comparison.tables(page.digits, Labels::Short))
        .map(|(title, table)| Table { title: Some(title), ..table });
    let figures = figures::differences(comparison, page.digits);
    let differences = Differences {
        figures,
        tables: tables.collect(),
        about: comparison.about(),
        first: comparison.pairs.first().map(|pair| (pair.system, pair.baseline)),
    };
    let title = format!("Comparison of {}", named(&comparison.report));
    report_page(&comparison.report, title, Some(differences), page, dialect, advance).write(out)
}

/// Writes the page of a correlation: its tables, the coefficients as forest plots, the scores for each rating, and the
/// distributions of ratings and scores.
pub fn correlation(
    found: &Correlation,
    page: &Page,
    dialect: &dyn Dialect,
    out: &mut dyn Write,
) -> io::Result<()> {
    let human = &found.human;
    let subtitle = format!("{} · {}", human.source, counted(human.n_ratings, "rating"));
    let Rated { systems, n_more, has_references, figures } = rated(found);
    let sections = [
        Section::new("intervals", "Coefficients", figures::agreements(found, page.digits)),
        Section::new("ratings", "Scores and human ratings", figures::ratings(found)),
        Section {
            systems,
            n_more,
            about: has_references.then_some("Grey: human, captions that people wrote."),
            ..Section::new("charts", "Cumulative distributions", figures)
        },
    ];
    let title = "Agreement of metrics with human ratings";
    let page = AgreementPage {
        tables: found.tables(page.digits, Labels::Short),
        about: found.about(),
        sections: sections.into(),
        ..AgreementPage::new(title, subtitle, &found.head, &found.signatures, page, dialect)
    };
    page.write_into(out)
}

/// Writes the page of preferences: their table, and the accuracies as forest plots.
pub fn preference(
    found: &Preference,
    page: &Page,
    dialect: &dyn Dialect,
    out: &mut dyn Write,
) -> io::Result<()> {
    let voters = &found.voters;
    let subtitle = format!("{} · {}", voters.source, counted(voters.n_pairs, "pair"));
    let figures = figures::accuracies(found, page.digits);
    let title = "Agreement of metrics with human preferences";
    let page = AgreementPage {
        tables: found.tables(page.digits, Labels::Short),
        about: found.about(),
        sections: vec![Section::new("intervals", "Accuracies", figures)],
        ..AgreementPage::new(title, subtitle, &found.head, &found.signatures, page, dialect)
    };
    page.write_into(out)
}

/// Estimates with their intervals, which a page shows as a forest plot.
pub struct Estimates {
    /// The caption.
    pub title: String,
    /// The name of the axis.
    pub label: String,
    /// The estimates: name, value and interval.
    pub rows: Vec<(String, f64, Option<Interval>)>,
    /// The value of no effect, at which there is a line.
    pub none: Option<f64>,
    /// The note below it.
    pub note: String,
}

/// Writes the page of any result: its tables, and estimates as forest plots.
pub fn tabulated<R: Tabulated>(
    found: &R,
    (title, subtitle): (&str, String),
    estimates: Vec<Estimates>,
    page: &Page,
    dialect: &dyn Dialect,
    out: &mut dyn Write,
) -> io::Result<()> {
    let tables = found.tables(page.digits, Labels::Short);
    let figure = |Estimates { title, label, rows, none, note }| {
        let colour = |(name, value, interval)| Estimate { name, value, interval, colour: Colour::System(0) };
        let rows = rows.into_iter().map(colour).collect();
        figures::forest(&title, &label, rows, none, page.digits, note)
    };
    let figures = estimates.into_iter().map(figure).collect();
    let page = AgreementPage {
        about: found.legend(Form::Markdown, &tables),
        tables,
        signatures: found.signature_lines(),
        sections: vec![Section::new("intervals", "Intervals", figures)],
        ..AgreementPage::new(title, subtitle, found.head(), &[], page, dialect)
    };
    page.write_into(out)
}

fn report_page<'r>(
    report: &'r Report,
    title: String,
    differences: Option<Differences>,
    page: &'r Page,
    dialect: &dyn Dialect,
    advance: Advance<'r>,
) -> ReportPage<'r> {
    let subtitle = format!("{} · {}", counted(n_systems(report), "system"), report.footer());
    // Many measures are easier to read as rows than as columns.
    let is_long = report.head.measures.len() > MANY_MEASURES.max(report.systems.len());
    let scores =
        if is_long { Grid::by_measure(report, page.digits) } else { Grid::by_system(report, page.digits) };
    ReportPage {
        layout: Layout::new(page, title, &report.head.version, subtitle),
        scores,
        notices: report.head.notes(dialect),
        signatures: report.signature_lines(),
        resampling: report.head.resampling.as_ref().map(intervals_in_words),
        intervals: figures::intervals(report, page.digits),
        charts: figures::charts(report),
        profiles: profiles(report),
        has_images: report.gallery.is_some(),
        data: Data {
            report,
            page,
            difference: differences.as_ref().and_then(|differences| differences.first),
            advance,
            failure: OnceLock::new(),
        },
        differences,
    }
}

impl ReportPage<'_> {
    fn write(self, out: &mut dyn Write) -> io::Result<()> {
        self.write_into(out).map_err(|error| self.data.failure.into_inner().unwrap_or(error))
    }
}
