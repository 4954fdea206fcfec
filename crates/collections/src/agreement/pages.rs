//! The page that shows how metrics agree with the ratings of a collection, and that of a phase which came of it.

use askama::Template;
use axum::response::{IntoResponse, Redirect, Response};
use capeval_benchmarks::agreement::{self as of_phases, CorrelatePhase, FoundAgreement};
use capeval_benchmarks::board::{Sight, short, sight};
use capeval_benchmarks::records::{self as benchmarks, SeenPhase};
use capeval_benchmarks::settings::Phase;
use capeval_report::charts::{self, Colour, Figure, Forest};
use capeval_site::prelude::*;
use capeval_site::web::Moderated;
use capeval_stats::Interval;
use capeval_tasks::{Agreement, DrawnFigure, Estimate, MeasureAgreement};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{CorrelateCollection, FoundFor};
use crate::records::SeenCollection;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        get(
            "/c/{slug}/agreement",
            Access::Public,
            "Show how metrics agree with the ratings of a collection",
            show,
        ),
        post("/c/{slug}/agreement", Access::Person(Scope::Submit), "Recalculate the agreement", refresh),
        get(
            "/b/{slug}/{phase}/agreement",
            Access::Public,
            "Show how metrics agree with the human evaluation of a phase",
            show_phase,
        ),
        post(
            "/b/{slug}/{phase}/agreement",
            Access::Host,
            "Recalculate the agreement of a phase",
            refresh_phase,
        ),
    ]
}

/// The coefficient that the chart shows, and by which the table is sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Coefficient {
    Pearson,
    Spearman,
    #[default]
    TauB,
    TauC,
    Accuracy,
}

/// The query of the page.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct AgreementQuery {
    /// The coefficient that the chart shows.
    by: Coefficient,
}

impl Coefficient {
    const ALL: [(Self, &'static str); 5] = [
        (Self::TauB, "tau-b"),
        (Self::TauC, "tau-c"),
        (Self::Pearson, "pearson"),
        (Self::Spearman, "spearman"),
        (Self::Accuracy, "accuracy"),
    ];

    fn name(self, page: &Page) -> &str {
        match self {
            Self::Pearson => "Pearson r",
            Self::Spearman => "Spearman ρ",
            Self::TauB => "Kendall τ-b",
            Self::TauC => "Kendall τ-c",
            Self::Accuracy => page.t("Pairwise accuracy"),
        }
    }

    fn of(self, measure: &MeasureAgreement) -> Estimate {
        match self {
            Self::Pearson => measure.pearson,
            Self::Spearman => measure.spearman,
            Self::TauB => measure.tau_b,
            Self::TauC => measure.tau_c,
            Self::Accuracy => measure.accuracy,
        }
    }

    /// The strength of a measure's agreement with people: a number that is higher the better.
    fn strength(self, measure: &MeasureAgreement) -> f64 {
        let (value, _) = self.of(measure).unwrap_or((f64::NEG_INFINITY, None));
        // Scores that count errors are turned before pairs are counted.
        if measure.lower_is_better && self != Self::Accuracy { -value } else { value }
    }

    /// The value of no agreement.
    fn none(self) -> f64 {
        if self == Self::Accuracy { 0.5 } else { 0.0 }
    }
}

/// The agreement in a language, with when it was calculated.
struct AgreementView {
    language: String,
    /// Its measures are sorted, that which agrees best first.
    agreement: Agreement,
    created_at: i64,
    by: Coefficient,
    /// The level of its headings.
    level: u8,
}

/// The labels in figures.
const LABELS: [&str; 4] =
    [say("human rating"), say("% of ratings"), say("% of captions"), say("rating, one point per rating")];

/// The digits of coefficients.
const DIGITS: usize = 3;

impl AgreementView {
    fn of(language: String, found: FoundAgreement, by: Coefficient, level: u8) -> Self {
        let mut agreement = found.result;
        agreement.measures.sort_by(|one, other| by.strength(other).total_cmp(&by.strength(one)));
        Self { language, agreement, created_at: found.created_at, by, level }
    }

    /// The language of the captions, in its own name.
    fn name(&self) -> &str {
        Language::of(&self.language).map_or(self.language.as_str(), |known| known.name())
    }

    /// The coefficients that can be chosen: name, address and whether it is shown.
    fn choices<'p>(&self, page: &'p Page) -> Vec<(&'p str, String, bool)> {
        let all = Coefficient::ALL.into_iter();
        all.map(|(one, key)| (one.name(page), format!("?by={key}"), one == self.by)).collect()
    }

    /// The measure that agrees best with people, and those from which its interval does not set it apart.
    fn verdict(&self, page: &Page) -> Option<String> {
        let (best, others) = self.agreement.measures.split_first()?;
        let (value, interval) = self.by.of(best)?;
        let name = self.by.name(page);
        let Some((low, high)) = interval else {
            return Some(page.t2(
                "{} agrees best with people: {}.",
                &best.label,
                format!("{name} {value:.3}"),
            ));
        };
        let found = format!("{name} {value:.3} [{low:.3}, {high:.3}]");
        let overlaps = |other: &&MeasureAgreement| {
            self.by.of(other).and_then(|(_, interval)| interval).is_some_and(|(from, to)| {
                // The ends of what counts errors are on the other side of zero.
                let turned =
                    other.lower_is_better != best.lower_is_better && self.by != Coefficient::Accuracy;
                let (from, to) = if turned { (-to, -from) } else { (from, to) };
                from <= high && low <= to
            })
        };
        let near: Vec<&str> = others.iter().filter(overlaps).map(|other| short(&other.label)).collect();
        let best = page.t2("{} agrees best with people: {}.", short(&best.label), found);
        let more = match near.is_empty() {
            _ if (low..=high).contains(&self.by.none()) => page.t1(
                "Its interval includes {}, as if by chance: these ratings are too few to tell.",
                self.by.none(),
            ),
            true => page.t("No other metric has an interval that overlaps with this one.").to_owned(),
            false => page.t1("Its interval overlaps with those of {}.", page.list(&near)),
        };
        let gap = if best.ends_with('。') { "" } else { " " };
        Some(format!("{best}{gap}{more}"))
    }

    /// The coefficients of all measures with their intervals.
    fn chart(&self, page: &Page) -> String {
        let rows = self.agreement.measures.iter().filter_map(|measure| {
            let (value, interval) = self.by.of(measure)?;
            let interval = interval.map(|(low, high)| Interval { low, high });
            let name = short(&measure.label).to_owned();
            Some(charts::Estimate { name, value, interval, colour: Colour::System(0) })
        });
        let rows: Vec<charts::Estimate> = rows.collect();
        let name = self.by.name(page);
        let said = rows.iter().map(|row| {
            let interval = row.interval.map_or(String::new(), |Interval { low, high }| {
                format!(" [{low:.DIGITS$}, {high:.DIGITS$}]")
            });
            format!("; {} {:.DIGITS$}{interval}", row.name, row.value)
        });
        let words = format!("{name}{}", said.collect::<String>());
        let svg = Forest::new(name, &rows, Some(self.by.none()), DIGITS).to_string();
        Figure::new("", &words, &svg).to_string()
    }

    /// A figure, with its words in the language of the page.
    fn figure(&self, page: &Page, drawn: &DrawnFigure, title: &str, words: &str) -> String {
        let svg = LABELS.iter().fold(drawn.svg.clone(), |svg, label| {
            svg.replace(&format!(">{label}<"), &format!(">{}<", page.language.t(label)))
        });
        let notes: Vec<String> = self.beyond(page, drawn).into_iter().collect();
        Figure { notes: &notes, ..Figure::new(title, words, &svg) }.to_string()
    }

    /// The distributions; the first is that of grades.
    fn distributions(&self, page: &Page) -> Vec<String> {
        let figures = self.agreement.figures.iter().enumerate();
        let drawn = figures.map(|(k, drawn)| {
            let title = if k == 0 { page.t("Grades") } else { &drawn.title };
            self.figure(page, drawn, title, &self.words(page, drawn))
        });
        drawn.collect()
    }

    /// The scores for each grade.
    fn by_grade(&self, page: &Page) -> Vec<String> {
        let drawn = self.agreement.by_grade.iter().map(|drawn| {
            let measure = drawn.title.split(" · ").next().unwrap_or_default();
            let words = match page.language {
                Language::English => drawn.words.clone(),
                _ => page.t1("Scores by {} of the captions with each grade", measure),
            };
            self.figure(page, drawn, measure, &words)
        });
        drawn.collect()
    }

    /// The content of a drawing in words, for who does not see it.
    fn words(&self, page: &Page, figure: &DrawnFigure) -> String {
        if page.language == Language::English {
            return figure.words.clone();
        }
        let people = page.language.t("People");
        let lines: Vec<&str> = self.agreement.systems.iter().map(String::as_str).chain([people]).collect();
        page.t2("Cumulative distribution of {}: {}", page.language.t(&figure.title), lines.join(", "))
    }

    /// The values beyond the axis of a drawing.
    fn beyond(&self, page: &Page, figure: &DrawnFigure) -> Option<String> {
        let beyond = figure.beyond.as_ref()?;
        Some(page.t3("Values beyond the axis: {} (from {} to {})", beyond.n, &beyond.from, &beyond.to))
    }

    /// The grades with their numbers and shares in percent, best first.
    fn grades(&self) -> Vec<(usize, usize, String)> {
        let all: usize = self.agreement.grades.iter().sum();
        let grades = self.agreement.grades.iter().enumerate().rev();
        grades.map(|(k, n)| (k + 1, *n, format!("{:.1}", 100.0 * *n as f64 / all.max(1) as f64))).collect()
    }

    fn alpha(&self) -> String {
        self.agreement.alpha.map_or_else(|| "–".to_owned(), |alpha| format!("{alpha:.DIGITS$}"))
    }

    /// The measures with their coefficients and intervals, and whether they are what is sorted by.
    fn rows(&self) -> Vec<(&str, Vec<Cell>)> {
        let cell = |measure: &MeasureAgreement, one: Coefficient| {
            let (value, interval) = match one.of(measure) {
                None => ("–".to_owned(), String::new()),
                Some((value, None)) => (format!("{value:.DIGITS$}"), String::new()),
                Some((value, Some((low, high)))) => {
                    (format!("{value:.DIGITS$}"), format!("[{low:.DIGITS$}, {high:.DIGITS$}]"))
                }
            };
            (value, interval, one == self.by)
        };
        let measures = self.agreement.measures.iter();
        measures
            .map(|of| (of.label.as_str(), Coefficient::ALL.iter().map(|(one, _)| cell(of, *one)).collect()))
            .collect()
    }
}

/// A coefficient as it is written, its interval, and whether the table is sorted by it.
type Cell = (String, String, bool);

#[derive(Template)]
#[template(path = "collections/agreement.html")]
struct AgreementPage<'a> {
    page: &'a Page,
    seen: &'a SeenCollection,
    shown: Vec<AgreementView>,
    is_waiting: bool,
    /// The reason why the last job failed, for moderators.
    failure: Option<String>,
}

async fn show(
    app: App,
    page: Page,
    Visible(seen): Visible<SeenCollection>,
    UrlQuery(AgreementQuery { by }): UrlQuery<AgreementQuery>,
) -> Result<Response> {
    let id = &seen.collection.id;
    let found = super::found_for(&app.store, id).await?;
    let (is_waiting, failure) =
        jobs::progress::<CorrelateCollection>(&mut app.store.snapshot().await?, id).await?;
    let failure = failure.filter(|_| seen.is_moderator);
    let level = if found.len() > 1 { 3 } else { 2 };
    let shown = found
        .into_iter()
        .map(|FoundFor { language, found }| AgreementView::of(language, found, by, level))
        .collect();
    page.show(&AgreementPage { page: &page, seen: &seen, shown, is_waiting, failure })
}

async fn refresh(app: App, Moderated(seen): Moderated<SeenCollection>) -> Result<Redirect> {
    super::refresh(&app, &seen.collection.id).await?;
    Ok(Redirect::to(&seen.address("agreement")))
}

#[derive(Template)]
#[template(path = "phase-agreement.html")]
struct PhaseAgreement<'a> {
    page: &'a Page,
    seen: &'a benchmarks::SeenBenchmark,
    phase: &'a Phase,
    shown: Vec<AgreementView>,
    is_waiting: bool,
    is_judged: bool,
    /// The reason why the last job failed, for hosts.
    failure: Option<String>,
    least: usize,
}

/// Shows people's ratings of the captions of a phase's systems. A phase that came of a release, and whose captions have
/// not been judged, has the ratings of its references: those of the collection.
async fn show_phase(
    app: App,
    page: Page,
    Visible(SeenPhase { seen, phase }): Visible<SeenPhase>,
    UrlQuery(AgreementQuery { by }): UrlQuery<AgreementQuery>,
) -> Result<Response> {
    let is_judged = of_phases::is_judged(&app.store, &phase).await?;
    if !is_judged && let Some(slug) = super::collection_of(&app.store, &phase.id).await? {
        return Ok(Redirect::to(&format!("/c/{slug}/agreement")).into_response());
    }
    // People who do not see the scores of all systems do not see what they agree with.
    if sight(&seen, &phase, page.visitor.as_ref()) != Sight::All {
        return Err(Fault::not_found());
    }
    let found = of_phases::found_for(&app.store, &phase).await?;
    let (is_waiting, failure) =
        jobs::progress::<CorrelatePhase>(&mut app.store.snapshot().await?, &phase.id).await?;
    let failure = failure.filter(|_| seen.is_host);
    page.show(&PhaseAgreement {
        page: &page,
        seen: &seen,
        phase: &phase,
        shown: found.into_iter().map(|found| AgreementView::of(String::new(), found, by, 2)).collect(),
        is_waiting,
        is_judged,
        failure,
        least: of_phases::IMAGES,
    })
}

async fn refresh_phase(app: App, Hosted(of): Hosted<SeenPhase>) -> Result<Redirect> {
    of_phases::refresh(&app, &of.phase).await?;
    Ok(Redirect::to(&of.address("agreement")))
}
