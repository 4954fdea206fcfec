//! The rows of the boards of a phase, stored and changed with what they are made of. A board is read from them, however
//! many submissions there are.
//!
//! With 12,000 submissions, computing a board took a second. Each process keeps the rows of a few boards in memory,
//! with a number of the phase that every change raises. What stood for a team before is kept beside it as the progress
//! over time, which then shows nothing that the board did not.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use capeval_tasks::MeasureInfo;
use serde::Deserialize;

use super::order::{Candidate, Contender, Scores, past_of_team, standing_for_team};
use crate::args;
use crate::benchmarks::records::{self, Phase, ReferenceSet};
use crate::benchmarks::scoring;
use crate::fault::Fault;
use crate::store::{Error, Store, Tx};

/// Brings the boards of a phase up to date after a change of what a team has on them, and has new neighbours compared.
/// The empty team has the baselines and the row for people.
pub async fn changed(tx: &mut Tx, phase: &str, team: &str) -> Result<(), Fault> {
    let phase = records::phase_alone(tx, phase).await?;
    settle(tx, &phase, team).await?;
    scoring::compare_later(tx, &phase.id).await
}

/// The same after a change of what ranks, for all teams.
pub async fn all_changed(tx: &mut Tx, phase: &str) -> Result<(), Fault> {
    let phase = records::phase_alone(tx, phase).await?;
    let teams: Vec<String> =
        tx.fetch("SELECT team FROM entry WHERE phase = $1 ORDER BY team", args![&phase.id]).await?;
    for team in teams.iter().map(String::as_str).chain([""]) {
        settle(tx, &phase, team).await?;
    }
    scoring::compare_later(tx, &phase.id).await
}

/// Writes what stands for a team by each reference set, and what has stood before. Tests of a submission that no longer
/// stands anywhere are forgotten.
async fn settle(tx: &mut Tx, phase: &Phase, team: &str) -> Result<(), Error> {
    let Some(score_set) = &phase.score_set else { return Ok(()) };
    let before: Vec<String> = tx
        .fetch(
            "SELECT DISTINCT standing.submission FROM submission \
             JOIN standing ON standing.submission = submission.id \
             WHERE submission.phase = $1 AND COALESCE(submission.team, '') = $2 AND standing.is_past = 0",
            args![&phase.id, team],
        )
        .await?;
    let mut now: HashSet<String> = HashSet::new();
    tx.execute(
        "DELETE FROM standing WHERE submission IN \
         (SELECT id FROM submission WHERE phase = $1 AND COALESCE(team, '') = $2)",
        args![&phase.id, team],
    )
    .await?;
    for set in records::sets_in(tx, &phase.id).await? {
        let Some(main) = set.main_measure(phase) else { continue };
        let contenders: Vec<Contender> = tx
            .fetch(
                "SELECT submission.id AS id, submission.created_at AS created_at, score.value AS score, \
                 CAST(CASE WHEN entry.pinned = submission.id THEN 1 ELSE 0 END AS BIGINT) AS is_pinned \
                 FROM submission LEFT JOIN entry ON entry.phase = submission.phase AND entry.team = submission.team \
                 LEFT JOIN score ON score.score_set = $3 AND score.submission = submission.id \
                 AND score.reference_set = $4 AND score.metric = $5 \
                 WHERE submission.phase = $1 AND COALESCE(submission.team, '') = $2 \
                 AND submission.state = 'scored' AND submission.disqualified_at IS NULL \
                 AND EXISTS (SELECT 1 FROM score AS any_score WHERE any_score.score_set = $3 \
                 AND any_score.submission = submission.id AND any_score.reference_set = $4)",
                args![&phase.id, team, score_set, &set.id, &main.key],
            )
            .await?;
        let (standing, past) = match team {
            "" => (contenders, Vec::new()),
            _ => {
                let past = past_of_team(contenders.clone(), main);
                (standing_for_team(contenders, main).into_iter().collect(), past)
            }
        };
        for Contender { id, .. } in &standing {
            write(tx, score_set, &set.id, id, false).await?;
            now.insert(id.clone());
        }
        for Contender { id, .. } in past.iter().filter(|one| !standing.contains(one)) {
            write(tx, score_set, &set.id, id, true).await?;
        }
    }
    outdate(tx, &phase.id).await?;
    for id in before.iter().filter(|id| !now.contains(*id)) {
        tx.execute(
            "DELETE FROM comparison WHERE score_set = $1 AND (one = $2 OR other = $2)",
            args![score_set, id],
        )
        .await?;
    }
    Ok(())
}

/// Writes the row of a submission, which stands or has stood before.
async fn write(
    tx: &mut Tx,
    score_set: &str,
    set: &str,
    submission: &str,
    is_past: bool,
) -> Result<(), Error> {
    let scores = scores(tx, score_set, set, submission).await?;
    let scores = serde_json::to_string(&scores).map_err(|error| Error::Encode(error.into()))?;
    let sql = "INSERT INTO standing (reference_set, submission, scores, is_past) VALUES ($1, $2, $3, $4)";
    tx.execute(sql, args![set, submission, scores, is_past]).await.map(drop)
}

/// Has processes read again what stands on the boards of a phase.
pub async fn outdate(tx: &mut Tx, phase: &str) -> Result<(), Error> {
    tx.execute("UPDATE phase SET settled = settled + 1 WHERE id = $1", args![phase]).await.map(drop)
}

async fn scores(tx: &mut Tx, score_set: &str, set: &str, submission: &str) -> Result<Scores, Error> {
    #[derive(Deserialize)]
    struct Row {
        metric: String,
        value: f64,
        low: Option<f64>,
        high: Option<f64>,
    }
    let rows: Vec<Row> = tx
        .fetch(
            "SELECT metric, value, low, high FROM score \
             WHERE score_set = $1 AND submission = $2 AND reference_set = $3",
            args![score_set, submission, set],
        )
        .await?;
    Ok(rows.into_iter().map(|row| (row.metric, (row.value, row.low.zip(row.high)))).collect())
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
pub(super) async fn standing(store: &Store, set: &ReferenceSet) -> Result<Standing, Error> {
    rows(store, set, false).await
}

/// The same, and with what has stood before if asked.
async fn rows(store: &Store, set: &ReferenceSet, with_past: bool) -> Result<Standing, Error> {
    store
        .fetch(
            "SELECT submission.id AS id, submission.kind AS kind, submission.team AS team, \
             COALESCE(team.name, '') AS team_name, submission.method AS method, submission.link AS link, \
             submission.authors AS authors, submission.code AS code, submission.tags AS tags, \
             submission.details AS details, \
             submission.blob AS blob, submission.created_at AS created_at, standing.scores AS scores \
             FROM standing JOIN submission ON submission.id = standing.submission \
             LEFT JOIN team ON team.id = submission.team WHERE standing.reference_set = $1 AND standing.is_past <= $2",
            args![&set.id, with_past],
        )
        .await
        .map(|rows: Vec<Candidate>| rows.into_iter().map(Arc::new).collect())
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
        let rows = rows(store, set, with_past).await?;
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
    let pairs: Vec<(String, String, Option<f64>)> = store
        .fetch(
            "SELECT one, other, p FROM comparison WHERE score_set = $1 AND reference_set = $2 AND metric = $3",
            args![phase.score_set.as_deref().unwrap_or_default(), &set.id, metric],
        )
        .await?;
    Ok(pairs.into_iter().map(|(one, other, p)| ((one, other), p)).collect())
}
