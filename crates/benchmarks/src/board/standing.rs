//! The rows of the boards of a phase, which are stored and change together with the data behind them. Boards are read
//! from these rows, however many submissions there are.
//!
//! With 12,000 submissions, computing a board took a second. Each process keeps the rows of a few boards in memory,
//! with a number of the phase that every change increases. Submissions that stood for a team before are kept beside the
//! rows as the progress over time, which then shows only what the board showed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use capeval_api::Half;
use capeval_site::among;
use capeval_site::prelude::*;
use capeval_tasks::MeasureInfo;
use futures_util::future::BoxFuture;
use serde::Deserialize;

use super::order::{Candidate, Contender, Scores, final_for_team, past_of_team, standing_for_team};
use super::ranks;
use crate::records::{self, ReferenceSet};
use crate::scoring;
use crate::settings::Phase;

/// Brings the boards of a phase up to date after a change of what a team has on them, and has new neighbours compared.
/// The empty team has the baselines and the row for people.
pub async fn changed(tx: &mut Tx, phase: &str, team: &str) -> Result<()> {
    let phase = records::phase_alone(tx, phase).await?;
    settle(tx, &phase, Some(team)).await?;
    scoring::compare_later(tx, &phase.id).await
}

/// The same after a change of what ranks, for all teams.
pub async fn all_changed(tx: &mut Tx, phase: &str) -> Result<()> {
    let phase = records::phase_alone(tx, phase).await?;
    settle(tx, &phase, None).await?;
    scoring::compare_later(tx, &phase.id).await
}

/// A statement about the submissions `$2` of one team, or of all.
macro_rules! of_teams {
    ($only:ident, $start:literal, $end:literal) => {
        match $only {
            Some(_) => concat!($start, " AND COALESCE(submission.team, '') = $2", $end),
            None => concat!($start, " AND $2 = '*'", $end),
        }
    };
}

/// A contender, and its team; empty for baselines and the row for people.
#[derive(Deserialize)]
struct TeamContender {
    team: String,
    contender: Contender,
}

/// Writes what stands for a team, or for each of all teams, by each reference set, and what has stood before: as many
/// statements for thousands of teams as for one. Tests of a submission that no longer stands anywhere are forgotten.
async fn settle(tx: &mut Tx, phase: &Phase, only: Option<&str>) -> Result<(), Error> {
    let Some(score_set) = &phase.score_set else { return Ok(()) };
    let team = only.unwrap_or("*");
    let before = of_teams!(
        only,
        "SELECT DISTINCT standing.submission FROM submission \
         JOIN standing ON standing.submission = submission.id \
         WHERE submission.phase = $1 AND standing.is_past = 0",
        ""
    );
    let before: Vec<String> = tx.fetch(before, args![&phase.id, team]).await?;
    let forget = of_teams!(
        only,
        "DELETE FROM standing WHERE submission IN (SELECT id FROM submission WHERE phase = $1",
        ")"
    );
    tx.execute(forget, args![&phase.id, team]).await?;
    let mut now: HashSet<String> = HashSet::new();
    for (set, rows) in standing_rows(tx, phase, score_set, only).await? {
        now.extend(rows.iter().filter(|row| !row.is_past).map(|row| row.submission.clone()));
        write(tx, &set, rows).await?;
    }
    outdate(tx, &phase.id).await?;
    let gone: Vec<&String> = before.iter().filter(|id| !now.contains(*id)).collect();
    if !gone.is_empty() {
        let sql = among!(
            tx,
            "DELETE FROM comparison WHERE score_set = $1 AND (one IN (",
            "$2",
            ") OR other IN (",
            "$2",
            "))"
        );
        tx.execute(sql, args![score_set, store::list(&gone)?]).await?;
    }
    Ok(())
}

/// A row of a board.
#[derive(Debug, PartialEq, Deserialize)]
struct StandingRow {
    submission: String,
    #[serde(deserialize_with = "store::json")]
    scores: Scores,
    is_past: bool,
}

/// What should stand for a team, or for each of all teams, by each reference set, and what should have stood before.
async fn standing_rows(
    tx: &mut Tx,
    phase: &Phase,
    score_set: &str,
    only: Option<&str>,
) -> Result<Vec<(String, Vec<StandingRow>)>, Error> {
    let team = only.unwrap_or("*");
    let contenders = of_teams!(
        only,
        "SELECT submission.id AS id, COALESCE(submission.team, '') AS team, \
         submission.created_at AS created_at, score.value AS score, \
         CAST(CASE WHEN entry.pinned = submission.id THEN 1 ELSE 0 END AS BIGINT) AS is_pinned, \
         CAST(CASE WHEN submission.chosen_at IS NULL THEN 0 ELSE 1 END AS BIGINT) AS is_chosen \
         FROM submission LEFT JOIN entry ON entry.phase = submission.phase AND entry.team = submission.team \
         LEFT JOIN score ON score.score_set = $3 AND score.submission = submission.id \
         AND score.reference_set = $4 AND score.metric = $5 \
         WHERE submission.phase = $1 AND submission.state = 'scored' AND submission.disqualified_at IS NULL \
         AND EXISTS (SELECT 1 FROM score AS any_score WHERE any_score.score_set = $3 \
         AND any_score.submission = submission.id AND any_score.reference_set = $4)",
        " ORDER BY submission.id"
    );
    let mut sets = records::all_sets_in(tx, &phase.id).await?;
    // What stands on a private half may follow from what stands on the public one.
    sets.sort_by_key(|set| set.half == Some(Half::Private));
    let (mut public, mut all) = (HashMap::new(), Vec::new());
    for set in sets {
        let Some(main) = set.main_measure(phase) else { continue };
        let rows: Vec<TeamContender> =
            tx.fetch(contenders, args![&phase.id, team, score_set, &set.id, &main.key]).await?;
        let mut of_teams: BTreeMap<String, Vec<Contender>> = BTreeMap::new();
        for TeamContender { team, contender } in rows {
            of_teams.entry(team).or_default().push(contender);
        }
        let settled = stand(phase, &set, main, of_teams, &mut public);
        let ids: Vec<&String> = settled.iter().map(|(id, _)| id).collect();
        let mut scores = scores(tx, score_set, &set.id, &ids).await?;
        let row = |(submission, is_past): (String, bool)| StandingRow {
            scores: scores.remove(&submission).unwrap_or_default(),
            submission,
            is_past,
        };
        all.push((set.id, settled.into_iter().map(row).collect()));
    }
    Ok(all)
}

/// Finds the rows of boards that are not as scores, pins and choices make them.
pub fn wrong_rows(tx: &mut Tx) -> BoxFuture<'_, Result<Vec<String>, Error>> {
    Box::pin(async move {
        let mut wrong = Vec::new();
        let phases = "SELECT * FROM phase WHERE score_set IS NOT NULL ORDER BY id";
        for phase in tx.fetch::<Phase>(phases, args![]).await? {
            let score_set = phase.score_set.as_deref().unwrap_or_default();
            for (set, rows) in standing_rows(tx, &phase, score_set, None).await? {
                let stored = "SELECT submission, scores, is_past FROM standing WHERE reference_set = $1";
                let stored: Vec<StandingRow> = tx.fetch(stored, args![&set]).await?;
                let mut stored: HashMap<String, StandingRow> =
                    stored.into_iter().map(|row| (row.submission.clone(), row)).collect();
                for mut row in rows {
                    let text = store::list(&row.scores)?;
                    // As the stored ones were read.
                    row.scores = serde_json::from_str(&text).map_err(|error| Error::Decode(error.into()))?;
                    if stored.remove(&row.submission).as_ref() != Some(&row) {
                        wrong.push(format!("submission {}, reference set {set}", row.submission));
                    }
                }
                let surplus = stored.keys();
                wrong.extend(surplus.map(|id| format!("submission {id}, reference set {set}: no place")));
            }
        }
        Ok(wrong)
    })
}

/// The ids of the submissions that stand for teams by a reference set, and of those that have stood before, which are
/// so marked. What stands on public halves is kept in `public`, by the name of the references and the team.
fn stand(
    phase: &Phase,
    set: &ReferenceSet,
    main: &MeasureInfo,
    of_teams: BTreeMap<String, Vec<Contender>>,
    public: &mut HashMap<(String, String), String>,
) -> Vec<(String, bool)> {
    let mut settled = Vec::new();
    for (team, contenders) in of_teams {
        if team.is_empty() {
            settled.extend(contenders.into_iter().map(|one| (one.id, false)));
            continue;
        }
        let key = (set.whole().to_owned(), team);
        if set.half == Some(Half::Private) {
            let last = final_for_team(phase.final_rule, contenders, main, public.get(&key));
            settled.extend(last.map(|one| (one.id, false)));
            continue;
        }
        let past = past_of_team(contenders.clone(), main);
        let standing = standing_for_team(contenders, main).map(|one| one.id);
        let past = past.into_iter().filter(|one| Some(&one.id) != standing.as_ref());
        settled.extend(past.map(|one| (one.id, true)));
        if let Some(id) = standing {
            settled.push((id.clone(), false));
            public.insert(key, id);
        }
    }
    settled
}

/// Writes rows by a reference set.
async fn write(tx: &mut Tx, set: &str, rows: Vec<StandingRow>) -> Result<(), Error> {
    let row = |row: StandingRow| Ok((row.submission, store::list(&row.scores)?, i64::from(row.is_past)));
    let rows = rows.into_iter().map(row).collect::<Result<Vec<_>, Error>>()?;
    let sql = tx.pick(
        "INSERT INTO standing (reference_set, submission, scores, is_past) SELECT $1, json_extract(value, '$[0]'), \
         json_extract(value, '$[1]'), json_extract(value, '$[2]') FROM json_each($2)",
        "INSERT INTO standing (reference_set, submission, scores, is_past) SELECT $1, value ->> 0, value ->> 1, \
         CAST(value ->> 2 AS BIGINT) FROM json_array_elements(CAST($2 AS JSON))",
    );
    tx.execute(sql, args![set, store::list(&rows)?]).await.map(drop)
}

/// Has processes read again what stands on the boards of a phase.
pub async fn outdate(tx: &mut Tx, phase: &str) -> Result<(), Error> {
    tx.execute("UPDATE phase SET settled = settled + 1 WHERE id = $1", args![phase]).await.map(drop)
}

/// The scores of submissions by a reference set.
async fn scores(
    tx: &mut Tx,
    score_set: &str,
    set: &str,
    submissions: &[&String],
) -> Result<HashMap<String, Scores>, Error> {
    #[derive(Deserialize)]
    struct Row {
        submission: String,
        metric: String,
        value: f64,
        low: Option<f64>,
        high: Option<f64>,
    }
    let sql = among!(
        tx,
        "SELECT submission, metric, value, low, high FROM score WHERE score_set = $1 AND reference_set = $2 \
         AND submission IN (",
        "$3",
        ")"
    );
    let rows: Vec<Row> = tx.fetch(sql, args![score_set, set, store::list(&submissions)?]).await?;
    let mut scores: HashMap<String, Scores> = HashMap::new();
    for Row { submission, metric, value, low, high } in rows {
        scores.entry(submission).or_default().insert(metric, (value, low.zip(high)));
    }
    Ok(scores)
}

impl ReferenceSet {
    /// The measure that ranks, or the first that the set has.
    pub fn main_measure(&self, phase: &Phase) -> Option<&MeasureInfo> {
        self.measures.iter().find(|measure| measure.key == phase.main_metric).or(self.measures.first())
    }
}

/// The rows of a board, in no order.
type Standing = Vec<Arc<Candidate>>;

/// The rows of the board of a phase by a reference set.
pub(super) async fn standing(store: &Store, phase: &Phase, set: &ReferenceSet) -> Result<Standing, Error> {
    rows(store, phase, set, false).await
}

/// The same, and with what has stood before if asked, which takes no rank from others and has none.
async fn rows(store: &Store, phase: &Phase, set: &ReferenceSet, with_past: bool) -> Result<Standing, Error> {
    let sql = "SELECT submission.id AS id, submission.kind AS kind, submission.team AS team, \
               COALESCE(team.name, '') AS team_name, submission.method AS method, submission.link AS link, \
               submission.authors AS authors, submission.code AS code, submission.tags AS tags, \
               submission.details AS details, submission.blob AS blob, submission.created_at AS created_at, \
               standing.scores AS scores FROM standing JOIN submission ON submission.id = standing.submission \
               LEFT JOIN team ON team.id = submission.team \
               WHERE standing.reference_set = $1 AND standing.is_past <= $2";
    let mut rows: Vec<Candidate> = store.fetch(sql, args![&set.id, with_past]).await?;
    if !with_past {
        ranks::add(&mut rows, phase, set);
    }
    Ok(rows.into_iter().map(Arc::new).collect())
}

/// The number of reference sets of which is kept what stands.
const KEPT: usize = 32;

/// The rows by a few reference sets, with the number that their phase had when they were read.
#[derive(Default)]
pub struct StandingCache(Mutex<HashMap<(String, bool), (i64, Standing)>>);

impl StandingCache {
    /// The rows by a reference set of `phase`, which are read again if any process has changed it since.
    pub(super) async fn standing(
        &self,
        store: &Store,
        phase: &Phase,
        set: &ReferenceSet,
    ) -> Result<Standing, Error> {
        self.rows(store, phase, set, false).await
    }

    /// The same with what has stood before.
    pub(super) async fn stood(
        &self,
        store: &Store,
        phase: &Phase,
        set: &ReferenceSet,
    ) -> Result<Standing, Error> {
        self.rows(store, phase, set, true).await
    }

    async fn rows(
        &self,
        store: &Store,
        phase: &Phase,
        set: &ReferenceSet,
        with_past: bool,
    ) -> Result<Standing, Error> {
        let key = (set.id.clone(), with_past);
        let known = {
            let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.get(&key).filter(|(number, _)| *number == phase.settled).map(|(_, rows)| rows.clone())
        };
        if let Some(rows) = known {
            return Ok(rows);
        }
        let rows = rows(store, phase, set, with_past).await?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(key, (phase.settled, rows.clone()));
        Ok(rows)
    }
}

/// The p-values of pairs of submissions by a measure, the smaller id first; `None` where there is no test.
pub(super) async fn compared(
    store: &Store,
    phase: &Phase,
    set: &ReferenceSet,
    metric: &str,
) -> Result<HashMap<(String, String), Option<f64>>, Error> {
    let sql =
        "SELECT one, other, p FROM comparison WHERE score_set = $1 AND reference_set = $2 AND metric = $3";
    let pairs: Vec<(String, String, Option<f64>)> =
        store.fetch(sql, args![phase.score_set.as_deref().unwrap_or_default(), &set.id, metric]).await?;
    Ok(pairs.into_iter().map(|(one, other, p)| ((one, other), p)).collect())
}
