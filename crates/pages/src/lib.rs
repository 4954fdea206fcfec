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
mod rating_figures;
mod timelines;

use std::io::{self, Write};
use std::sync::OnceLock;

use askama::Template;
use capeval_choice::Dialect;
use capeval_report::{
    Align, Comparison, Correlation, Details, Form, Grid, Labels, Report, Study, Table, intervals_in_words,
};

pub use crate::data::Advance;
use crate::data::Data;
use crate::figures::Charts;
pub use crate::figures::{Figure, Note, ratings as by_rating};
use crate::layout::Layout;
pub use crate::layout::policy;
pub use crate::page::{Page, Pictures};
use crate::profiles::{Profiles, profiles};
pub use crate::rating_figures::{RatingFigures, rated};
use crate::timelines::TimelineData;

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
    groups: Vec<Table>,
    about_groups: Vec<String>,
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
}

impl ReportPage<'_> {
    fn write(self, out: &mut dyn Write) -> io::Result<()> {
        self.write_into(out).map_err(|error| self.data.failure.into_inner().unwrap_or(error))
    }
}

#[derive(Template)]
#[template(path = "tables.html")]
struct TablesPage<'r> {
    layout: Layout<'r>,
    heading: &'static str,
    tables: Vec<Table>,
    about: Vec<String>,
    notices: Vec<String>,
    signatures: Vec<String>,
    sections: Vec<Section<'r>>,
    /// The events of videos, if the page shows any.
    timelines: Option<TimelineData<'r>>,
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

/// Writes the page of a result; `dialect` words the remedies of notices.
///
/// The page of a report has charts if the systems have [`segments`](capeval_report::SystemReport::segments), and shows
/// single images if the report also has a [`gallery`](Report::gallery), whose scores are explained while the page is
/// written: `advance` is called with the number of images after some are done.
pub fn write(
    study: &dyn Study,
    page: &Page,
    dialect: &dyn Dialect,
    advance: Advance<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    match study.details() {
        Details::Scores(report, comparison) => {
            report_page(report, comparison, page, dialect, advance).write(out)
        }
        Details::Ratings(correlation) => {
            let more = ratings(correlation);
            tables_page(study, more.into(), page, dialect).write_into(out)
        }
        Details::None | Details::Events(_) => tables_page(study, Vec::new(), page, dialect).write_into(out),
    }
}

/// The number of images that a page of the result shows.
pub fn n_images(study: &dyn Study) -> usize {
    let gallery = study.details().report().and_then(|report| report.gallery.as_ref());
    gallery.map_or(0, |gallery| gallery.ids.len())
}

/// The drawings of a result's estimates.
fn forests(study: &dyn Study, digits: usize) -> Vec<Figure> {
    study.estimates(digits).iter().map(figures::forest).collect()
}

/// A page of tables and estimates, with further sections.
fn tables_page<'r>(
    study: &'r dyn Study,
    more: Vec<Section<'r>>,
    page: &'r Page,
    dialect: &dyn Dialect,
) -> TablesPage<'r> {
    let (headings, tables) = (study.headings(), study.tables(page.digits, Labels::Short));
    let estimates = Section::new("intervals", headings.estimates, forests(study, page.digits));
    TablesPage {
        layout: Layout::new(page, headings.title, &study.head().version, headings.subtitle),
        heading: headings.tables,
        about: study.legend(Form::Markdown, &tables),
        tables,
        notices: study.head().notes(dialect),
        signatures: study.signature_lines(),
        sections: std::iter::once(estimates).chain(more).collect(),
        timelines: match study.details() {
            Details::Events(timelines) => Some(TimelineData { timelines, compress: page.compress }),
            Details::None | Details::Scores(..) | Details::Ratings(_) => None,
        },
    }
}

/// The scores for each rating, and the distributions of ratings and scores.
fn ratings(correlation: &Correlation) -> [Section<'_>; 2] {
    let RatingFigures { systems, n_more, has_references, figures } = rated(correlation);
    [
        Section::new("ratings", "Scores and human ratings", figures::ratings(correlation)),
        Section {
            systems,
            n_more,
            about: has_references.then_some("Grey: human, captions that people wrote."),
            ..Section::new("charts", "Cumulative distributions", figures)
        },
    ]
}

/// The page of a report, with the differences of a comparison below the scores.
fn report_page<'r>(
    report: &'r Report,
    comparison: Option<&Comparison>,
    page: &'r Page,
    dialect: &dyn Dialect,
    advance: Advance<'r>,
) -> ReportPage<'r> {
    let headings = comparison.map_or_else(|| report.headings(), Study::headings);
    // Many measures are easier to read as rows than as columns.
    let is_long = report.head.measures.len() > MANY_MEASURES.max(report.systems.len());
    let scores =
        if is_long { Grid::by_measure(report, page.digits) } else { Grid::by_system(report, page.digits) };
    // The scores of a single system cannot be compared.
    let has_intervals = report.head.resampling.is_some() && report.systems.len() > 1;
    let are_drawn = has_intervals || !report.profiles.is_empty() || !report.groups.is_empty();
    ReportPage {
        layout: Layout::new(page, headings.title, &report.head.version, headings.subtitle),
        scores,
        notices: report.head.notes(dialect),
        signatures: report.signature_lines(),
        resampling: report
            .head
            .resampling
            .as_ref()
            .map(|resampling| intervals_in_words(resampling, report.unit())),
        groups: report.tables_of_groups(page.digits),
        about_groups: report.legend_of_groups("bold"),
        intervals: if are_drawn { forests(report, page.digits) } else { Vec::new() },
        charts: figures::charts(report),
        profiles: profiles(report),
        has_images: report.gallery.is_some(),
        data: Data {
            report,
            page,
            difference: comparison
                .and_then(|comparison| comparison.pairs.first())
                .map(|pair| (pair.system, pair.baseline)),
            advance,
            failure: OnceLock::new(),
        },
        differences: comparison.map(|comparison| Differences::new(comparison, page.digits)),
    }
}

impl Differences {
    fn new(comparison: &Comparison, digits: usize) -> Self {
        let name = |system: usize| comparison.report.systems.get(system).map_or("", |s| s.name.as_str());
        let titles = comparison
            .pairs
            .iter()
            .map(|pair| format!("{} against {}", name(pair.system), name(pair.baseline)));
        let tables = titles.zip(comparison.pair_tables(digits, Labels::Short));
        let tables = tables.map(|(title, table)| Table { title: Some(title), ..table });
        Self { figures: forests(comparison, digits), tables: tables.collect(), about: comparison.about() }
    }
}
