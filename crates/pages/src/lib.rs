//! Results as HTML pages.
//!
//! A page is one file that needs no network: tables, charts and a browser of images. The templates are in `templates`,
//! the script and the style in `assets`. The page's Content-Security-Policy allows only this script and style, and no
//! connection except to the pictures.

mod block;
mod chart;
mod data;
mod escape;
mod figures;
mod layout;
mod page;

use std::io::{self, Write};

use askama::Template;
use capeval_choice::Dialect;
use capeval_report::{Align, Comparison, Correlation, Grid, Labels, Report, Table, counted};

use crate::data::Data;
use crate::figures::{Charts, Figure};
use crate::layout::Layout;
pub use crate::page::{Page, Pictures};

/// With more measures than this, the page has a row rather than a column for each of them.
const MANY_MEASURES: usize = 12;

#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage<'r> {
    layout: Layout<'r>,
    scores: Grid,
    notices: Vec<String>,
    signatures: Vec<String>,
    differences: Option<Differences>,
    charts: Option<Charts<'r>>,
    has_images: bool,
    data: Data<'r>,
}

/// The parts of a comparison besides its report.
struct Differences {
    tables: Vec<Table>,
    about: Vec<String>,
}

#[derive(Template)]
#[template(path = "agreement.html")]
struct AgreementPage<'r> {
    layout: Layout<'r>,
    tables: Vec<Table>,
    about: Vec<String>,
    notices: Vec<String>,
    signatures: Vec<String>,
    ratings: Vec<Figure>,
}

/// Writes the page of a report; `dialect` words the remedies of notices.
///
/// The page has charts if the systems have [`segments`](capeval_report::SystemReport::segments), and shows single
/// images if the report also has a [`gallery`](Report::gallery).
///
/// # Errors
/// If writing to `out` fails.
pub fn report(report: &Report, page: &Page, dialect: &dyn Dialect, out: &mut dyn Write) -> io::Result<()> {
    report_page(report, None, page, dialect).write_into(out)
}

/// Writes the page of a comparison: the page of its report, with the differences below the scores.
///
/// # Errors
/// If writing to `out` fails.
pub fn comparison(
    comparison: &Comparison,
    page: &Page,
    dialect: &dyn Dialect,
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = |system: usize| comparison.report.systems.get(system).map_or("", |s| s.name.as_str());
    let titles =
        comparison.pairs.iter().map(|pair| format!("{} against {}", name(pair.system), name(pair.baseline)));
    let tables = titles
        .zip(comparison.tables(page.digits, Labels::Short))
        .map(|(title, table)| Table { title: Some(title), ..table });
    let differences = Differences { tables: tables.collect(), about: comparison.about() };
    report_page(&comparison.report, Some(differences), page, dialect).write_into(out)
}

/// Writes the page of a correlation: its tables, and a chart of scores against ratings for each measure.
///
/// # Errors
/// If writing to `out` fails.
pub fn correlation(
    found: &Correlation,
    page: &Page,
    dialect: &dyn Dialect,
    out: &mut dyn Write,
) -> io::Result<()> {
    let human = &found.human;
    let subtitle = format!("{} · {}", human.source, counted(human.n_ratings, "rating"));
    let page = AgreementPage {
        layout: Layout::new(page, &found.head.version, subtitle),
        tables: found.tables(page.digits, Labels::Short),
        about: found.about(),
        notices: found.head.notes(dialect),
        signatures: found.signatures.iter().map(ToString::to_string).collect(),
        ratings: figures::ratings(found),
    };
    page.write_into(out)
}

fn report_page<'r>(
    report: &'r Report,
    differences: Option<Differences>,
    page: &'r Page,
    dialect: &dyn Dialect,
) -> ReportPage<'r> {
    let subtitle = format!("{} · {}", counted(report.systems.len(), "system"), report.footer());
    // Many measures are easier to read as rows than as columns.
    let is_long = report.head.measures.len() > MANY_MEASURES.max(report.systems.len());
    let scores =
        if is_long { Grid::by_measure(report, page.digits) } else { Grid::by_system(report, page.digits) };
    ReportPage {
        layout: Layout::new(page, &report.head.version, subtitle),
        scores,
        notices: report.head.notes(dialect),
        signatures: report.signature_lines(),
        differences,
        charts: figures::charts(report),
        has_images: report.gallery.is_some(),
        data: Data { report, page },
    }
}
