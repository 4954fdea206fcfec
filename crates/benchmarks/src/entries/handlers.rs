//! Entries on pages and by the API.

use askama::Template;
use capeval_api::{BoardEntry, EntryScore, EntryScores, OtherScore, SubmissionKind, TeamSubmission};
use capeval_site::prelude::*;
use capeval_tasks::MeasureInfo;

use super::records::{self, Beside, Earlier, RankedScore, SeenEntry};
use crate::board::{self, rounded};
use crate::records::SeenBenchmark;
use crate::settings::Phase;
use crate::submissions::Submission;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/b/{slug}/{phase}/entries/{submission}", Access::Public, "Show an entry of a leaderboard", show)
            .and("/api/v1/phases/{id}/entries/{submission}"),
    ]
}

#[derive(Template)]
#[template(path = "entry.html")]
struct EntryPage<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    phase: &'a Phase,
    submission: &'a Submission,
    team_name: &'a str,
    is_own: bool,
    /// The page on which visitors outside its team can ask for a place.
    ask: Option<String>,
    boards: &'a [Beside],
    history: &'a [Earlier],
    /// The measure of the scores in the history.
    main: Option<MeasureInfo>,
}

impl EntryPage<'_> {
    fn score_text(&self, score: &f64, measure: &MeasureInfo) -> String {
        board::score_text(*score, measure, self.phase.decimals)
    }

    /// The difference from another score, with its sign.
    fn difference(&self, of: &RankedScore, other: &f64) -> String {
        let text = self.score_text(&(of.score - other), &of.measure);
        if text.starts_with('-') || text.starts_with('−') { text } else { format!("+{text}") }
    }

    /// The class of a score that is better or worse than another one, as shown.
    fn class(&self, of: &RankedScore, other: &f64) -> &'static str {
        if self.score_text(&of.score, &of.measure) == self.score_text(other, &of.measure) {
            return "";
        }
        match board::strength(Some(of.score), &of.measure) > board::strength(Some(*other), &of.measure) {
            true => "better",
            false => "worse",
        }
    }

    /// The measures by which it is ahead of the best of the others, and of people: how many of how many.
    fn ahead(&self, board: &Beside) -> ((usize, usize), (usize, usize)) {
        let count = |other: fn(&RankedScore) -> Option<f64>| {
            let compared: Vec<(&RankedScore, f64)> =
                board.scores.iter().filter_map(|of| Some((of, other(of)?))).collect();
            let ahead = compared.iter().filter(|(of, other)| self.class(of, other) == "better").count();
            (ahead, compared.len())
        };
        (count(|of| of.best.as_ref().map(|best| best.score)), count(|of| of.people))
    }
}

async fn show(app: App, page: Page, Visible(entry): Visible<SeenEntry>) -> Result<Answer<BoardEntry>> {
    let visitor = page.visitor.as_ref();
    let boards = records::beside(&app, &entry, visitor).await?;
    let history = records::history(&app.store, &entry).await?;
    let main = records::main_measure(&app.store, &entry.of).await?;
    let template = EntryPage {
        page: &page,
        seen: &entry.of.seen,
        phase: &entry.of.phase,
        submission: &entry.submission,
        team_name: &entry.team_name,
        is_own: entry.is_member || entry.of.seen.is_host,
        ask: (entry.submission.team.is_some() && !entry.is_member)
            .then(|| format!("/teams?team={}#ask", encode(&entry.team_name))),
        boards: &boards,
        history: &history,
        main: main.clone(),
    };
    page.shows(&template, || for_programs(&app, &entry, &boards, &history, main.as_ref()))
}

fn for_programs(
    app: &App,
    entry: &SeenEntry,
    boards: &[Beside],
    history: &[Earlier],
    main: Option<&MeasureInfo>,
) -> BoardEntry {
    let SeenEntry { of, submission, team_name, .. } = entry;
    let round = |score: f64, measure: &MeasureInfo| rounded(score, measure, of.phase.decimals);
    let score = |of: &RankedScore| EntryScore {
        measure: of.measure.key.clone(),
        label: of.measure.label.clone(),
        lower_is_better: of.measure.lower_is_better,
        score: round(of.score, &of.measure),
        interval: of.interval.map(|(low, high)| [low, high].map(|end| round(end, &of.measure))),
        rank: of.rank,
        best_other: of.best.as_ref().map(|best| OtherScore {
            submission: best.id.clone(),
            team: best.team.clone(),
            method: best.method.clone(),
            score: round(best.score, &of.measure),
        }),
        people: of.people.map(|people| round(people, &of.measure)),
    };
    let of_set = |board: &Beside| EntryScores {
        name: board.set.name.clone(),
        rank: board.rank,
        ranked: board.ranked,
        scores: board.scores.iter().map(score).collect(),
    };
    let earlier = |earlier: &Earlier| TeamSubmission {
        submission: earlier.id.clone(),
        method: earlier.method.clone(),
        submitted_at: clock::time(earlier.created_at),
        score: earlier.score.zip(main).map(|(score, main)| round(score, main)),
        is_on_board: earlier.is_on_board,
    };
    BoardEntry {
        benchmark: of.seen.benchmark.slug.clone(),
        phase: of.phase.slug.clone(),
        submission: submission.id.clone(),
        kind: submission.kind.into(),
        team: team_name.clone(),
        method: submission.method.clone(),
        about: submission.about_for_programs(&of.phase.columns),
        submitted_at: clock::time(submission.created_at),
        disqualified: submission.disqualified_for.clone(),
        reference_sets: boards.iter().map(of_set).collect(),
        history: history.iter().map(earlier).collect(),
        page: app.settings.url(&entry.address()),
    }
}
