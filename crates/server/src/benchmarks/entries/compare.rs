//! Two entries side by side, on a page and for programs.

use askama::Template;
use axum::response::Response;
use capeval_api::{
    ComparedEntry, ComparedMeasure, ComparedSet, ComparisonState, EntryComparison, EntryPair, SubmissionKind,
};
use capeval_tasks::Described;

use super::pairs::{self, ByMeasure, BySet, Choice, SideBySide, Test};
use super::records::SeenEntry;
use crate::accounts::Visitor;
use crate::app::App;
use crate::benchmarks::board::{self, rounded};
use crate::benchmarks::records::{Phase, Seen, SeenPhase};
use crate::fault;
use crate::fault::Fault;
use crate::web::route::{get, post};
use crate::web::{Access, Answer, Asked, Either, Page, Route, Scope, Visible, encode};

/// How entries are compared, in the words of the page.
const COMPARISON: &str = "Each measure is tested by paired randomisation with 10,000 exchanges, or by the exact permutation \
    test where there is one, corrected by Holm’s method over the measures of these references, at the level 0.05.";

/// The comparisons that one person may ask for in a minute.
const COMPARISONS: u32 = 20;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/b/{slug}/{phase}/compare", Access::Public, "Show two entries side by side", show)
            .and("/api/v1/phases/{id}/compare"),
        post(
            "/b/{slug}/{phase}/compare",
            Access::Person(Scope::Submit),
            "Have two entries compared",
            compare,
        )
        .and("/api/v1/phases/{id}/compare"),
    ]
}

#[derive(Template)]
#[template(path = "compare.html")]
struct ComparePage<'a> {
    page: &'a Page,
    seen: &'a Seen,
    phase: &'a Phase,
    choices: Vec<Choice>,
    /// What was chosen; empty for nothing.
    chosen: [&'a str; 2],
    /// The address of the comparison.
    here: String,
    problem: Option<String>,
    compared: Option<&'a SideBySide>,
}

impl ComparePage<'_> {
    fn shown(&self, value: f64, by: &ByMeasure) -> String {
        board::shown(value, &by.measure, self.phase.decimals)
    }

    /// A name of one of the two that tells them apart: that of the team, unless both have the same one.
    fn short<'s>(&'s self, compared: &'s SideBySide, place: &usize) -> &'s str {
        let [one, other] = &compared.entries;
        let entry = &compared.entries[*place];
        match entry.team_name.as_str() {
            _ if entry.submission.kind == SubmissionKind::Human => self.page.t("People"),
            team if team.is_empty() || one.team_name == other.team_name => &entry.submission.method,
            team => team,
        }
    }

    /// The score of one of the two, and its interval.
    fn score(&self, by: &ByMeasure, place: &usize) -> (String, String) {
        let Some((score, interval)) = by.scores[*place] else { return ("–".to_owned(), String::new()) };
        let interval =
            interval.map(|(low, high)| format!("{}–{}", self.shown(low, by), self.shown(high, by)));
        (self.shown(score, by), interval.unwrap_or_default())
    }

    fn difference(&self, by: &ByMeasure) -> String {
        let Some(difference) = difference(by, self.phase.decimals) else { return "–".to_owned() };
        let text = self.shown(difference, by);
        if text.starts_with(['-', '−']) { text } else { format!("+{text}") }
    }

    /// The p-value of a measure, corrected.
    fn p(&self, by: &ByMeasure) -> String {
        match by.test {
            None => String::new(),
            Some(test) if test.corrected < 0.0001 => "< 0.0001".to_owned(),
            Some(test) => format!("{:.4}", test.corrected),
        }
    }

    /// What the test of a measure says.
    fn verdict(&self, compared: &SideBySide, by: &ByMeasure) -> String {
        match (by.test, by.better()) {
            (None, _) => String::new(),
            (Some(_), None) => self.page.t("no significant difference").to_owned(),
            (Some(_), Some(better)) => self.page.t1("{} is better", self.short(compared, &better)),
        }
    }

    /// What the tests by a reference set come to, in sentences.
    fn summary(&self, compared: &SideBySide, by: &BySet) -> Vec<String> {
        let tested = by.measures.iter().filter(|by| by.test.is_some()).count();
        let better = |place| by.measures.iter().filter(|by| by.better() == Some(place)).count();
        let sentence = |place| {
            let name = self.short(compared, &place);
            self.page.t3("{} is significantly better by {} of {} measures.", name, better(place), tested)
        };
        if tested == 0 { Vec::new() } else { vec![sentence(0), sentence(1)] }
    }
}

/// How much higher the first score is than the second, of scores as they are shown.
fn difference(by: &ByMeasure, decimals: usize) -> Option<f64> {
    let round = |value| rounded(value, &by.measure, decimals);
    let [a, b] = by.scores;
    Some(round(round(a?.0) - round(b?.0)))
}

fn for_programs(app: &App, of: &SeenPhase, compared: &SideBySide, here: &str) -> EntryComparison {
    let entry = |entry: &SeenEntry| ComparedEntry {
        submission: entry.submission.id.clone(),
        kind: entry.submission.kind.into(),
        team: entry.team_name.clone(),
        method: entry.submission.method.clone(),
    };
    let round = |value: f64, measure: &Described| rounded(value, measure, of.phase.decimals);
    let measure = |by: &ByMeasure| ComparedMeasure {
        measure: by.measure.key.clone(),
        label: by.measure.label.clone(),
        lower_is_better: by.measure.lower_is_better,
        scores: by.scores.map(|score| score.map(|(score, _)| round(score, &by.measure))),
        intervals: by.scores.map(|score| {
            let (low, high) = score?.1?;
            Some([low, high].map(|end| round(end, &by.measure)))
        }),
        difference: difference(by, of.phase.decimals),
        p: by.test.map(|test| test.p),
        p_corrected: by.test.map(|test| test.corrected),
        differs: by.test.map(Test::differs),
    };
    let set = |by: &BySet| ComparedSet {
        name: by.set.name.clone(),
        measures: by.measures.iter().map(measure).collect(),
    };
    EntryComparison {
        benchmark: of.seen.benchmark.slug.clone(),
        phase: of.phase.slug.clone(),
        state: compared.state.into(),
        reason: compared.reason.clone().filter(|_| of.seen.is_host),
        entries: compared.entries.iter().map(entry).collect(),
        comparison: COMPARISON.to_owned(),
        reference_sets: compared.sets.iter().map(set).collect(),
        page: app.settings.url(here),
    }
}

/// The two entries that are asked for.
fn two(asked: &EntryPair) -> Result<[&str; 2], Fault> {
    match asked.entries.as_slice() {
        [a, b] if a != b && !a.is_empty() && !b.is_empty() => Ok([a, b]),
        _ => Err(fault!(UNPROCESSABLE_ENTITY, "pair", "Choose two different entries.")),
    }
}

/// The address of a comparison.
fn address(of: &SeenPhase, entries: [&str; 2]) -> String {
    let [a, b] = entries.map(encode);
    of.address(&format!("compare?entry={a}&entry={b}"))
}

async fn show(
    app: App,
    page: Page,
    Visible(of): Visible<SeenPhase>,
    Asked(asked): Asked<EntryPair>,
) -> Result<Either<Answer<EntryComparison>, Response>, Fault> {
    let visitor = page.visitor.as_ref();
    let (compared, problem, here) = match two(&asked) {
        Ok(ids) => {
            let entries = pairs::entries(&app, &of, ids, visitor).await?;
            let compared = pairs::side_by_side(&app, &of.phase, entries).await?;
            (Some(compared), None, address(&of, ids))
        }
        Err(fault) if page.is_program() => return Err(fault),
        // One that was chosen waits for the other; there is nothing wrong yet.
        Err(fault) => (None, (asked.entries.len() > 1).then(|| page.fault(&fault)), String::new()),
    };
    if let (Some(compared), true) = (&compared, page.is_program()) {
        return Ok(Either::One(Answer::json(&for_programs(&app, &of, compared, &here))));
    }
    let mut chosen = asked.entries.iter().filter(|id| !id.is_empty()).map(String::as_str);
    let template = ComparePage {
        page: &page,
        seen: &of.seen,
        phase: &of.phase,
        choices: pairs::choices(&app, &of, visitor, &asked.entries).await?,
        chosen: [chosen.next().unwrap_or_default(), chosen.next().unwrap_or_default()],
        here,
        problem,
        compared: compared.as_ref(),
    };
    Ok(Either::Other(page.show(&template)?))
}

/// Has two entries compared in a job, of which one person asks for a few in a minute.
async fn compare(
    app: App,
    page: Page,
    by: Visitor,
    Visible(of): Visible<SeenPhase>,
    Asked(asked): Asked<EntryPair>,
) -> Result<Answer<EntryComparison>, Fault> {
    let ids = two(&asked)?;
    let entries = pairs::entries(&app, &of, ids, Some(&by)).await?;
    app.limits.take("comparisons", &by.id, COMPARISONS)?;
    let compared = pairs::side_by_side(&app, &of.phase, entries.clone()).await?;
    pairs::compare(&app, &compared).await?;
    let compared = pairs::side_by_side(&app, &of.phase, entries).await?;
    let here = address(&of, ids);
    Ok(page.then(&here, &for_programs(&app, &of, &compared, &here)))
}

#[cfg(test)]
mod tests {
    use super::COMPARISON;

    #[test]
    fn the_comparison_has_the_same_words_everywhere() {
        let page = include_str!("../../../templates/compare.html");
        assert!(page.contains(&format!("page.t(\"{COMPARISON}\")")));
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(include_str!("../../../../../docs/submitting.md")).contains(COMPARISON));
    }
}
