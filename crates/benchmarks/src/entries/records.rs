//! Entries in the database, who may see them, and how they compare with others.

use capeval_api::{SubmissionKind, SubmissionState};
use capeval_site::among;
use capeval_site::prelude::*;
use capeval_tasks::MeasureInfo;
use serde::Deserialize;

use crate::board::{self, Board, BoardQuery, Candidate, Interval, Sight};
use crate::records::{self, ReferenceSet, SeenPhase};
use crate::submissions::{self, Submission};

/// The most rows of a history.
const MOST: i64 = 200;

/// A submission whose scores the visitor may see: it stands on a board that they see, or is their own.
#[derive(Clone, Debug)]
pub struct SeenEntry {
    pub of: SeenPhase,
    pub submission: Submission,
    /// Empty for baselines and people.
    pub team_name: String,
    /// True if the visitor is in its team.
    pub is_member: bool,
}

/// `{submission}` in a phase
impl Subject for SeenEntry {
    const KIND: &'static str = "entry";

    async fn find(app: &App, names: &Names, visitor: Option<&Visitor>) -> Result<Self> {
        let of = SeenPhase::find(app, names, visitor).await?;
        Self::with_id(app, of, names.require("submission")?, visitor).await
    }

    fn standing(&self) -> Standing {
        match (self.of.seen.is_host, self.is_member) {
            (true, _) => Standing::Hosts,
            (false, true) => Standing::Owns,
            (false, false) => Standing::Sees,
        }
    }
}

impl SeenEntry {
    /// The entry of a phase with this id.
    pub async fn with_id(app: &App, of: SeenPhase, id: &str, visitor: Option<&Visitor>) -> Result<Self> {
        let submission = submissions::by_id(&app.store, id).await?;
        if submission.phase != of.phase.id || submission.state != SubmissionState::Scored {
            return Err(Fault::not_found());
        }
        let is_member = submissions::is_member(&app.store, &submission, visitor).await?;
        let is_seen = match board::sight(&of.seen, &of.phase, visitor) {
            Sight::Nothing => false,
            Sight::Own => is_member,
            Sight::All => of.seen.is_host || is_member || stands(&app.store, &of, id).await?,
        };
        if !is_seen {
            return Err(Fault::not_found());
        }
        let team_name = submissions::team_name(&app.store, &submission).await?.unwrap_or_default();
        Ok(Self { of, submission, team_name, is_member })
    }

    /// The address of its page.
    pub fn address(&self) -> String {
        self.of.address(&format!("entries/{}", self.submission.id))
    }

    /// Its name, unless it is that of people.
    pub fn name(&self) -> String {
        board::entry_name(&self.team_name, &self.submission.method)
    }
}

/// Returns true if a submission stands on a board of its phase that people see, or has stood there.
async fn stands(store: &Store, of: &SeenPhase, id: &str) -> Result<bool, Error> {
    let sql = "SELECT reference_set FROM standing WHERE submission = $1";
    let by: Vec<String> = store.fetch(sql, args![id]).await?;
    Ok(records::sets(store, of).await?.iter().any(|set| by.contains(&set.id)))
}

/// The scores of an entry by a reference set, beside those of others.
pub struct Beside {
    pub set: ReferenceSet,
    /// The place on the board by the measure that ranks.
    pub rank: Option<usize>,
    /// The entries that have a place.
    pub ranked: usize,
    pub scores: Vec<RankedScore>,
}

/// A score, beside those of others by the same measure.
pub struct RankedScore {
    pub measure: MeasureInfo,
    pub score: f64,
    pub interval: Interval,
    /// The place by this measure.
    pub rank: Option<usize>,
    /// The best of the other entries.
    pub best: Option<Other>,
    /// The score of people.
    pub people: Option<f64>,
}

/// The score of another entry.
pub struct Other {
    pub id: String,
    pub team: String,
    pub method: String,
    pub score: f64,
}

/// The place of an entry on each board of its phase, as far as the visitor sees others on it.
pub async fn beside(app: &App, entry: &SeenEntry, visitor: Option<&Visitor>) -> Result<Vec<Beside>> {
    let SeenEntry { of, submission, .. } = entry;
    let scores = submissions::scores(&app.store, &of.phase, &submission.id).await?;
    let mut all = Vec::new();
    let sets = records::sets(&app.store, of).await?;
    for set in sets.iter().cloned() {
        let asked = BoardQuery { set: set.name.clone(), ..BoardQuery::default() };
        let Some(board) = board::board(app, of, &sets, visitor, &asked).await? else { continue };
        let own = board.rows.iter().find(|row| row.entry.id == submission.id);
        let measured = set.measures.iter().filter_map(|measure| {
            let (score, interval) = scores.get(&(set.id.clone(), measure.key.clone()))?;
            Some(against(&board, submission, measure, (*score, *interval)))
        });
        let measured: Vec<RankedScore> = measured.collect();
        if !measured.is_empty() {
            all.push(Beside {
                rank: own.and_then(|row| row.rank),
                ranked: board.rows.iter().filter(|row| row.rank.is_some()).count(),
                scores: measured,
                set,
            });
        }
    }
    Ok(all)
}

/// A score beside those of what stands on a board. Where only own rows are seen, there are no others.
fn against(
    board: &Board,
    submission: &Submission,
    measure: &MeasureInfo,
    (score, interval): (f64, Interval),
) -> RankedScore {
    let rows = board.rows.iter().filter(|_| !board.is_own).map(|row| &row.entry);
    let is_other = |entry: &Candidate| {
        entry.kind == SubmissionKind::Entry
            && entry.id != submission.id
            && (entry.team.is_none() || entry.team != submission.team)
    };
    let strength = |score: f64| board::strength(Some(score), measure);
    let (mut best, mut people, mut above) = (None::<Other>, None, 0);
    for entry in rows {
        let Some(found) = entry.score(measure) else { continue };
        if entry.kind == SubmissionKind::Human && entry.id != submission.id {
            people = Some(found);
        }
        if !is_other(entry) {
            continue;
        }
        above += usize::from(strength(found) > strength(score));
        if best.as_ref().is_none_or(|best| strength(found) > strength(best.score)) {
            best = Some(Other {
                id: entry.id.clone(),
                team: entry.team_name.clone(),
                method: entry.method.clone(),
                score: found,
            });
        }
    }
    let is_ranked = board.rows.iter().any(|row| row.entry.id == submission.id && row.rank.is_some());
    let rank = is_ranked.then_some(above + 1);
    RankedScore { measure: measure.clone(), score, interval, rank, best, people }
}

/// A submission of a team to a phase.
#[derive(Deserialize)]
pub struct Earlier {
    pub id: String,
    pub method: String,
    pub created_at: i64,
    /// By the measure and the reference set that rank.
    pub score: Option<f64>,
    pub is_on_board: bool,
}

/// The scored submissions of the team of an entry, newest first: all for its members and hosts, and those that have
/// stood on boards for others.
pub async fn history(store: &Store, entry: &SeenEntry) -> Result<Vec<Earlier>, Error> {
    let SeenEntry { of: SeenPhase { seen, phase }, submission, is_member, .. } = entry;
    let Some(team) = &submission.team else { return Ok(Vec::new()) };
    let sets = records::sets(store, &entry.of).await?;
    let set = phase.main_of(&sets);
    let main = set.and_then(|set| set.main_measure(phase));
    let shown: Vec<&String> = sets.iter().map(|set| &set.id).collect();
    store
        .fetch(
            among!(store, "SELECT submission.id AS id, submission.method AS method, submission.created_at AS created_at, \
             score.value AS score, CAST(CASE WHEN EXISTS (SELECT 1 FROM standing \
             WHERE standing.submission = submission.id AND standing.is_past = 0 AND standing.reference_set IN (", "$8", ")) \
             THEN 1 ELSE 0 END AS BIGINT) AS is_on_board FROM submission LEFT JOIN score ON score.submission = submission.id AND score.score_set = $3 \
             AND score.reference_set = $4 AND score.metric = $5 \
             WHERE submission.phase = $1 AND COALESCE(submission.team, '') = $2 AND submission.state = 'scored' \
             AND ($6 = 1 OR EXISTS (SELECT 1 FROM standing WHERE standing.submission = submission.id \
             AND standing.reference_set IN (", "$8", "))) ORDER BY submission.id DESC LIMIT $7"),
            args![
                &phase.id,
                team,
                phase.score_set.as_deref().unwrap_or_default(),
                set.map_or("", |set| set.id.as_str()),
                main.map_or("", |main| main.key.as_str()),
                seen.is_host || *is_member,
                MOST,
                store::list(&shown)?
            ],
        )
        .await
}

/// The measure that ranks in a phase, for the scores of a history.
pub async fn main_measure(store: &Store, of: &SeenPhase) -> Result<Option<MeasureInfo>, Error> {
    let sets = records::sets(store, of).await?;
    Ok(of.phase.main_of(&sets).and_then(|set| set.main_measure(&of.phase)).cloned())
}
