//! Submissions in the database, who may see them, and their scores.

use std::collections::{BTreeMap, HashMap};

use capeval_api::{FinalRule, SubmissionKind, SubmissionState};
use capeval_site::health::RowGauge;
use capeval_site::jobs::queue;
use capeval_site::jobs::queue::Wait;
use capeval_site::paging::BEYOND;
use capeval_site::prelude::*;
use capeval_site::{among, newest_first};
use indexmap::IndexMap;
use serde::Deserialize;

use crate::about::{About, Column, MethodDetails};
use crate::board;
use crate::records::{self, BoardKind, ReferenceSet, SeenBenchmark, SeenPhase};
use crate::settings::Phase;

/// The number of submissions by state, for Prometheus.
pub const GAUGE: RowGauge = RowGauge {
    name: "submissions",
    help: "Submissions to benchmarks",
    label: "state",
    sql: "SELECT state, COUNT(*) FROM submission WHERE kind = 'entry' GROUP BY state ORDER BY state",
};

#[derive(Clone, Debug, Deserialize)]
pub struct Submission {
    pub id: String,
    /// The id of the phase.
    pub phase: String,
    /// The id of the team; `None` for baselines and the human row.
    pub team: Option<String>,
    /// Whose captions it has.
    pub kind: SubmissionKind,
    pub method: String,
    /// The team's text about it.
    pub description: String,
    /// A link to more.
    pub link: String,
    pub method_details: MethodDetails,
    pub state: SubmissionState,
    /// The reason why it failed.
    pub reason: Option<String>,
    /// The hash of the captions.
    pub blob: Option<String>,
    /// The hash of the file as it was uploaded; `None` if it is not kept.
    pub upload: Option<String>,
    /// The name of the file; empty if it had none.
    pub file: String,
    /// The size of the upload in bytes.
    pub size: i64,
    /// The day whose quota it was counted in.
    pub charged_day: Option<String>,
    /// The reason why it does not rank.
    pub disqualified_for: Option<String>,
    /// When its team chose it for the private half.
    pub chosen_at: Option<i64>,
    pub created_at: i64,
    pub started_at: Option<i64>,
    pub finished_at: Option<i64>,
}

impl Submission {
    /// The hash of the file as it came, and a name for it; `None` if it is not kept.
    pub fn sent(&self) -> Option<(&str, String)> {
        // The captions of baselines are their files.
        let hash = match self.kind {
            SubmissionKind::Baseline => &self.blob,
            _ => &self.upload,
        };
        let name = match self.file.is_empty() {
            true => format!("captions-{}", self.id),
            false => self.file.clone(),
        };
        Some((hash.as_deref()?, name))
    }

    /// Returns true if its state can still change.
    pub fn is_open(&self) -> bool {
        self.state.is_open()
    }

    /// Its description, as a form sends it, with the columns that the phase has now.
    pub fn about(&self, columns: &[Column]) -> About {
        let Self { method, description, link, method_details, .. } = self.clone();
        let cells = method_details.cells(columns);
        let MethodDetails { authors, code, tags, .. } = method_details;
        let columns = cells.into_iter().map(|(key, cell)| (key, cell.to_string()));
        About {
            method,
            description,
            authors,
            link,
            code,
            tags: tags.join(", "),
            columns: columns.collect(),
            team: None,
        }
    }

    /// The same for programs.
    pub fn about_for_programs(&self, columns: &[Column]) -> capeval_api::About {
        let Self { description, link, method_details, .. } = self.clone();
        let columns = method_details.cells(columns);
        let MethodDetails { authors, code, tags, .. } = method_details;
        capeval_api::About { description, authors, link, code, tags, columns }
    }
}

/// The submission with this id, without asking who may see it.
pub async fn by_id(store: &Store, id: &str) -> Result<Submission> {
    let submission = store.fetch_optional("SELECT * FROM submission WHERE id = $1", args![id]).await?;
    submission.ok_or_else(Fault::not_found)
}

/// A submission of the visitor's team, or to a phase that they run.
#[derive(Clone, Debug)]
pub struct SeenSubmission {
    pub seen: SeenBenchmark,
    pub phase: Phase,
    pub submission: Submission,
    /// True if the visitor is in its team.
    pub is_member: bool,
}

/// `{id}`
impl Subject for SeenSubmission {
    const KIND: &'static str = "submission";

    async fn find(app: &App, names: &Names, visitor: Option<&Visitor>) -> Result<Self> {
        let visitor = visitor.ok_or_else(Fault::not_found)?;
        Self::of(&app.store, names.require("id")?, visitor).await
    }

    fn standing(&self) -> Standing {
        if self.seen.is_host { Standing::Hosts } else { Standing::Owns }
    }
}

impl SeenSubmission {
    /// The submission with this id.
    pub async fn of(store: &Store, id: &str, visitor: &Visitor) -> Result<Self> {
        let submission = by_id(store, id).await?;
        let (seen, phase) = records::phase_by_id(store, &submission.phase, Some(visitor)).await?;
        let is_member = is_member(store, &submission, Some(visitor)).await?;
        let found = Self { seen, phase, submission, is_member };
        if is_member || found.seen.is_host { Ok(found) } else { Err(Fault::not_found()) }
    }

    /// Refuses the token of a host that is only for submissions of their own, where the submission is not.
    pub fn require_change(&self, visitor: &Visitor) -> Result<()> {
        if visitor.has(Scope::Host) || self.is_member {
            return Ok(());
        }
        Err(fault!(FORBIDDEN, "scope", "This token lacks the required scope."))
    }

    /// Its phase.
    pub fn seen_phase(&self) -> SeenPhase {
        SeenPhase { seen: self.seen.clone(), phase: self.phase.clone() }
    }

    /// Returns true if the visitor may see its scores now.
    pub fn shows_scores(&self) -> bool {
        shows_scores(&self.seen, &self.phase)
    }

    /// Itself for programs.
    pub async fn to_api(&self, app: &App) -> Result<capeval_api::Submission, Error> {
        let Self { phase, submission, .. } = self;
        let sets = records::sets(&app.store, &self.seen_phase()).await?;
        let scores = match self.shows_scores() && submission.state == SubmissionState::Scored {
            true => Some(scores(&app.store, phase, &submission.id).await?),
            false => None,
        };
        let wait = match submission.is_open() {
            true => queue::wait(&app.store, &submission.id, app.settings.workers).await?,
            false => None,
        };
        Ok(for_programs(app, phase, submission, &sets, scores.as_ref(), wait))
    }
}

/// Returns true if a visitor is in the team of a submission.
pub async fn is_member(
    store: &Store,
    submission: &Submission,
    visitor: Option<&Visitor>,
) -> Result<bool, Error> {
    let (Some(team), Some(visitor)) = (&submission.team, visitor) else { return Ok(false) };
    let sql = "SELECT 1 FROM team_member WHERE team = $1 AND account = $2";
    store.exists(sql, args![team, &visitor.id]).await
}

/// Returns true if the team of a submission may see its scores now.
fn shows_scores(seen: &SeenBenchmark, phase: &Phase) -> bool {
    seen.is_host || phase.is_revealed() || phase.board != BoardKind::Hidden
}

/// The standing of a submission by what ranks its phase.
#[derive(Clone, Default)]
pub struct ListedScore {
    /// The address of its phase.
    pub address: String,
    /// The measure, and the score as it is shown; empty if there is none, or it is hidden.
    pub measure: String,
    pub score: String,
    /// The place, and the number of places, if it stands on the board.
    pub place: Option<(usize, usize)>,
    /// The nearest entry above it on the board.
    pub above: Option<String>,
}

/// The standing of the scored ones of some submissions, by their ids. The number of queries depends on that of their
/// phases.
pub async fn listed_scores(
    app: &App,
    visitor: &Visitor,
    rows: &[ListedSubmission],
) -> Result<HashMap<String, ListedScore>> {
    let mut by_phase: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for ListedSubmission { submission, .. } in rows {
        if submission.state == SubmissionState::Scored {
            by_phase.entry(&submission.phase).or_default().push(&submission.id);
        }
    }
    let mut listed = HashMap::new();
    for (phase, ids) in by_phase {
        let of = match records::phase_by_id(&app.store, phase, Some(visitor)).await {
            Ok((seen, phase)) => SeenPhase { seen, phase },
            // It has been hidden since then.
            Err(fault) if fault.code == "not-found" => continue,
            Err(fault) => return Err(fault),
        };
        let sets = records::sets(&app.store, &of).await?;
        let board = board::board(app, &of, &sets, Some(visitor), &board::BoardQuery::default()).await?;
        let main = of.phase.main_of(&sets).and_then(|set| Some((set, set.main_measure(&of.phase)?)));
        let mut scores = match shows_scores(&of.seen, &of.phase) {
            true => scores_of(&app.store, &of.phase, &ids).await?,
            false => HashMap::new(),
        };
        for id in ids {
            let mut one = ListedScore { address: of.address(""), ..ListedScore::default() };
            if let (Some((set, measure)), Some(scores)) = (main, scores.remove(id))
                && let Some((score, _)) = scores.get(&(set.id.clone(), measure.key.clone()))
            {
                one.measure = board::short(&measure.label).to_owned();
                one.score = board::score_text(*score, measure, of.phase.decimals);
            }
            let row = board
                .as_ref()
                .and_then(|board| Some((board, board.rows.iter().find(|row| row.entry.id == *id)?)));
            if let Some((board, row)) = row {
                one.place = row.rank.map(|rank| (rank, board.n_ranked));
                one.above = row.above.as_ref().filter(|_| !board.is_own).map(|above| above.id.clone());
            }
            listed.insert(id.to_owned(), one);
        }
    }
    Ok(listed)
}

/// A submission in a list of those of several phases.
#[derive(Deserialize)]
pub struct ListedSubmission {
    pub submission: Submission,
    pub benchmark_title: String,
    pub phase_title: String,
    pub team_name: String,
    /// The rule of its phase for the private half, when the phase closes, and when a host has stopped it.
    pub final_rule: FinalRule,
    pub closes_at: Option<i64>,
    pub frozen_at: Option<i64>,
}

impl ListedSubmission {
    /// Returns true if its team may choose it for the private half, or has done so.
    pub fn has_choice(&self) -> bool {
        self.final_rule == FinalRule::Chosen && self.submission.state == SubmissionState::Scored
    }

    /// Returns true if its team can still choose.
    pub fn is_undecided(&self) -> bool {
        self.has_choice() && self.frozen_at.is_none() && self.closes_at.is_none_or(|time| time > clock::now())
    }
}

macro_rules! of_person {
    ($is_beyond:literal, $is_within:literal, $edge:literal, $order:literal) => {
        // No more rows are read of each team than are shown of all. The order of the tables is that of reading them.
        concat!(
            "SELECT submission.*, benchmark.title AS benchmark_title, phase.title AS phase_title, \
             phase.final_rule AS final_rule, phase.closes_at AS closes_at, phase.frozen_at AS frozen_at, \
             team.name AS team_name FROM team_member CROSS JOIN submission JOIN team ON team.id = submission.team \
             JOIN phase ON phase.id = submission.phase JOIN benchmark ON benchmark.id = phase.benchmark \
             WHERE team_member.account = $3 AND submission.team = team_member.team AND submission.id ",
            $is_beyond,
            " $1 AND submission.id ",
            $is_within,
            " COALESCE((SELECT own.id FROM submission AS own WHERE own.team = team_member.team AND own.id ",
            $is_beyond,
            " $1 ORDER BY own.id ",
            $order,
            " LIMIT 1 OFFSET $2 - 1), '",
            $edge,
            "') ORDER BY submission.id ",
            $order,
            " LIMIT $2"
        )
    };
}

/// The submissions of all teams of a person.
pub const OF_PERSON: List = List {
    onward: of_person!("<", ">=", "", "DESC"),
    back: of_person!(">", "<=", "g", "ASC"),
    start: BEYOND,
};

/// The submissions of all teams of a person, newest first.
pub async fn of_person(store: &Store, account: &str, at: At) -> Result<Rows<ListedSubmission>, Error> {
    OF_PERSON.page(store, at, args![account], |listed: &ListedSubmission| &listed.submission.id).await
}

/// The submissions of the team with which a person takes part in a phase.
pub const IN_PHASE: List = newest_first!(
    "SELECT submission.* FROM submission WHERE submission.phase = $3 \
     AND submission.team = (SELECT team FROM entry_member WHERE phase = $3 AND account = $4)",
    "submission.id"
);

/// The number of submissions in each state, as sentences of the table of languages.
pub type States = BTreeMap<&'static str, i64>;

/// The states of the submissions to each phase.
pub async fn states_by_phase(store: &Store) -> Result<HashMap<String, States>, Error> {
    let sql = "SELECT phase, state, COUNT(*) FROM submission GROUP BY phase, state";
    let mut by_phase: HashMap<String, States> = HashMap::new();
    for (phase, state, n) in store.fetch::<(String, SubmissionState, i64)>(sql, args![]).await? {
        by_phase.entry(phase).or_default().insert(state.summary(), n);
    }
    Ok(by_phase)
}

/// The name of the team of a submission; `None` for baselines and people.
pub async fn team_name(store: &Store, submission: &Submission) -> Result<Option<String>, Error> {
    store.fetch_optional("SELECT name FROM team WHERE id = $1", args![submission.team.as_deref()]).await
}

/// Returns true if a submission is the one that its team shows on the board.
pub async fn is_pinned(store: &Store, submission: &Submission) -> Result<bool, Error> {
    let sql = "SELECT 1 FROM entry WHERE phase = $1 AND pinned = $2";
    store.exists(sql, args![&submission.phase, &submission.id]).await
}

/// The number of submissions that the team of a submission has chosen for the private half.
pub async fn count_chosen(store: &Store, submission: &Submission) -> Result<i64, Error> {
    let sql = "SELECT COUNT(*) FROM submission WHERE phase = $1 AND team = $2 AND chosen_at IS NOT NULL";
    store.fetch_one(sql, args![&submission.phase, submission.team.as_deref()]).await
}

/// The scores of a submission: by the id of the reference set and the key of the measure, the value and the interval.
pub type Scores = HashMap<(String, String), (f64, Option<(f64, f64)>)>;

#[derive(Deserialize)]
struct Score {
    submission: String,
    reference_set: String,
    metric: String,
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
}

/// The scores of each submission.
fn by_submission(scores: Vec<Score>) -> HashMap<String, Scores> {
    let mut by_submission: HashMap<String, Scores> = HashMap::new();
    for Score { submission, reference_set, metric, value, low, high } in scores {
        by_submission.entry(submission).or_default().insert((reference_set, metric), (value, low.zip(high)));
    }
    by_submission
}

/// The scores of a submission in the score set that boards show.
pub async fn scores(store: &Store, phase: &Phase, submission: &str) -> Result<Scores, Error> {
    let set = phase.score_set.as_deref().unwrap_or_default();
    let sql = "SELECT * FROM score WHERE score_set = $1 AND submission = $2";
    let mut scores = by_submission(store.fetch(sql, args![set, submission]).await?);
    Ok(scores.remove(submission).unwrap_or_default())
}

/// The same for several submissions, by their ids.
async fn scores_of(
    store: &Store,
    phase: &Phase,
    submissions: &[&str],
) -> Result<HashMap<String, Scores>, Error> {
    let set = phase.score_set.as_deref().unwrap_or_default();
    let sql = among!(store, "SELECT * FROM score WHERE score_set = $1 AND submission IN (", "$2", ")");
    Ok(by_submission(store.fetch(sql, args![set, store::list(submissions)?]).await?))
}

/// The signatures of the scores of a submission by these reference sets in the score set that boards show, one for each
/// metric.
pub async fn signatures(
    store: &Store,
    phase: &Phase,
    submission: &str,
    sets: &[ReferenceSet],
) -> Result<Vec<String>, Error> {
    #[derive(Deserialize)]
    struct SignatureRow {
        #[serde(deserialize_with = "store::json")]
        signatures: HashMap<String, Vec<String>>,
    }
    let sql = "SELECT signatures FROM scored_by WHERE score_set = $1 AND submission = $2";
    let signed: Option<SignatureRow> =
        store.fetch_optional(sql, args![phase.score_set.as_deref().unwrap_or_default(), submission]).await?;
    let mut by_set = signed.map(|signed| signed.signatures).unwrap_or_default();
    Ok(sets.iter().flat_map(|set| by_set.remove(&set.id).unwrap_or_default()).collect())
}

/// A submission for programs, as it is now.
pub async fn api_submission(app: &App, visitor: &Visitor, id: &str) -> Result<capeval_api::Submission> {
    Ok(SeenSubmission::of(&app.store, id, visitor).await?.to_api(app).await?)
}

/// The submissions of the team with which a person takes part in a phase, for programs. The number of queries does not
/// depend on how many there are.
pub async fn api_submissions(
    app: &App,
    visitor: &Visitor,
    of: &SeenPhase,
    at: At,
) -> Result<capeval_api::Submissions, Error> {
    let SeenPhase { seen, phase } = of;
    let store = &app.store;
    let args = args![&phase.id, &visitor.id];
    let Rows { rows, after, .. } = IN_PHASE.page(store, at, args, |one: &Submission| &one.id).await?;
    let ids: Vec<&str> = rows.iter().map(|one| one.id.as_str()).collect();
    let sets = records::sets(store, of).await?;
    let scores = match shows_scores(seen, phase) {
        true => scores_of(store, phase, &ids).await?,
        false => HashMap::new(),
    };
    let open: Vec<&str> = rows.iter().filter(|one| one.is_open()).map(|one| one.id.as_str()).collect();
    let waits = queue::waits(store, &open, app.settings.workers).await?;
    let shown = rows.iter().map(|one| {
        let scores = scores.get(&one.id).filter(|_| one.state == SubmissionState::Scored);
        for_programs(app, phase, one, &sets, scores, waits.get(&one.id).copied())
    });
    Ok(capeval_api::Submissions { submissions: shown.collect(), next: after })
}

fn for_programs(
    app: &App,
    phase: &Phase,
    submission: &Submission,
    sets: &[ReferenceSet],
    scores: Option<&Scores>,
    wait: Option<Wait>,
) -> capeval_api::Submission {
    let of_set = |set: &ReferenceSet| {
        let scored = set.measures.iter().filter_map(|measure| {
            let (value, _) = scores?.get(&(set.id.clone(), measure.key.clone()))?;
            Some((measure.key.clone(), board::rounded(*value, measure, phase.decimals)))
        });
        (set.name.clone(), scored.collect::<IndexMap<_, _>>())
    };
    let by_set: capeval_api::Scores =
        sets.iter().map(of_set).filter(|(_, scores)| !scores.is_empty()).collect();
    capeval_api::Submission {
        id: submission.id.clone(),
        phase: phase.id.clone(),
        team: submission.team.clone(),
        method: submission.method.clone(),
        about: submission.about_for_programs(&phase.columns),
        state: submission.state.into(),
        reason: submission.reason.as_deref().map(|reason| app.public_reason(reason)),
        created_at: clock::time(submission.created_at),
        finished_at: submission.finished_at.map(clock::time),
        ahead: wait.map(|wait| wait.ahead),
        seconds: wait.map(|wait| wait.seconds),
        disqualified: submission.disqualified_for.clone(),
        is_chosen: submission.chosen_at.is_some(),
        scores: Some(by_set).filter(|scores| !scores.is_empty()),
        page: app.settings.url(&format!("/submissions/{}", submission.id)),
        file: submission.sent().map(|_| app.settings.url(&format!("/submissions/{}/file", submission.id))),
    }
}
