//! Creates the list of the teams that may submit to a phase, and takes over the submissions that stand for them.

use capeval_api::SetState;
use capeval_site::prelude::*;
use serde_json::json;

use super::records::earlier;
use crate::records::{self as benchmarks, ReferenceSet};
use crate::scoring::ScoreSubmission;
use crate::settings::Phase;
use crate::{board, expected, notes};

/// How long to wait for scores before the next look, in milliseconds.
const PAUSE: i64 = 60_000;

/// Opens a phase by the ranks of an earlier one, once these are final.
pub struct OpenByRank;

/// What is to be done about a phase.
pub enum Step {
    Nothing,
    /// Another look at this time.
    Look(i64),
    Open(Box<Ranking>),
}

/// The ranks of an earlier phase.
pub struct Ranking {
    phase: String,
    earlier: Phase,
    /// The place, the team and the submission of each.
    rows: Vec<(usize, String, String)>,
    /// True if both phases have the same images, so that a file of one is one of the other.
    has_same_images: bool,
}

/// Has the phases of a benchmark that open by rank looked at again, after a change of dates.
pub async fn schedule(tx: &mut Tx, benchmark: &str) -> Result<(), Error> {
    let sql =
        "SELECT id FROM phase WHERE benchmark = $1 AND from_phase <> '' AND ranked_at IS NULL ORDER BY id";
    for phase in tx.fetch::<String>(sql, args![benchmark]).await? {
        jobs::add::<OpenByRank>(tx, &phase, Priority::Background).await?;
    }
    Ok(())
}

/// The time from which the ranks of `earlier` are final and `phase` may open; `None` if no date says so.
fn due(phase: &Phase, earlier: &Phase) -> Option<i64> {
    let first = phase.opens_at.or(earlier.closes_at)?;
    Some(first.max(earlier.closes_at.unwrap_or(0)).max(earlier.private_from().unwrap_or(0)))
}

/// Returns true if a phase has no scores yet, or if some are still being computed.
async fn awaits_scores(app: &App, phase: &Phase) -> Result<bool, Error> {
    let sql = "SELECT 1 FROM submission WHERE phase = $1 AND kind = 'entry' AND state IN ('queued', 'running') \
               UNION ALL SELECT 1 FROM score_set WHERE phase = $1 AND pending > 0";
    Ok(phase.score_set.is_none() || app.store.exists(sql, args![&phase.id]).await?)
}

async fn ranking(app: &App, phase: &Phase, earlier: Phase) -> Result<Ranking> {
    let sets = benchmarks::all_sets(&app.store, &earlier.id).await?;
    let own = benchmarks::all_sets(&app.store, &phase.id).await?;
    let most = usize::try_from(phase.top).ok().filter(|top| *top > 0).unwrap_or(usize::MAX);
    let rows = board::final_ranks(&app.store, &earlier, &sets).await?;
    let rows = rows.into_iter().filter(|(rank, ..)| *rank <= most).collect();
    let are_ready = |sets: &[ReferenceSet]| sets.iter().all(|set| set.state == SetState::Ready);
    let has_same_images = are_ready(&own) && are_ready(&sets) && {
        let (own, others) = (expected::of(app, &own).await?, expected::of(app, &sets).await?);
        own.are_those_of(&others)
    };
    Ok(Ranking { phase: phase.id.clone(), earlier, rows, has_same_images })
}

/// Makes the list now, whatever the dates say.
pub async fn open_now(app: &App, actor: &str, phase: &Phase) -> Result<()> {
    let Some(earlier) = earlier(&app.store, phase).await?.filter(|_| phase.awaits_ranks()) else {
        return Err(fault!(CONFLICT, "ranked", "It is decided already which teams may submit."));
    };
    if awaits_scores(app, &earlier).await? {
        return Err(awaiting_scores(&earlier));
    }
    let ranking = ranking(app, phase, earlier).await?;
    let mut tx = app.store.begin().await?;
    if !write(&mut tx, &ranking, Some(actor)).await? {
        return Err(awaiting_scores(&ranking.earlier));
    }
    Ok(app.commit(tx).await?)
}

fn awaiting_scores(earlier: &Phase) -> Fault {
    let title = earlier.title.clone();
    fault!(CONFLICT, "awaits-scores", "Submissions to the phase {} still wait for their scores.", title)
}

/// Writes the list of a phase; `false` if it has one, or if the ranks have changed since they were read.
async fn write(tx: &mut Tx, ranking: &Ranking, actor: Option<&str>) -> Result<bool> {
    let Ranking { phase, earlier, rows, has_same_images } = ranking;
    for id in [phase.min(&earlier.id), phase.max(&earlier.id)] {
        tx.lock("phase", id).await?;
    }
    let phase = benchmarks::phase_alone(tx, phase).await?;
    let now = benchmarks::phase_alone(tx, &earlier.id).await?;
    if !phase.awaits_ranks() || now.settled != earlier.settled {
        return Ok(false);
    }
    let takes_over = phase.carry && *has_same_images;
    for (rank, team, submission) in rows {
        let copy =
            if takes_over { take_over(tx, &phase, &earlier.id, team, submission).await? } else { None };
        let row = columns! { phase: &phase.id, team, rank: *rank, submission, copy };
        tx.insert_row("qualifier", row).await?;
    }
    tx.change_row("phase", &phase.id, columns! { ranked_at: clock::now() }).await?;
    let detail = json!({ "from": earlier.slug, "teams": rows.len(), "carried": takes_over });
    notes::note(tx, actor, "phase.rank", &phase.id, detail).await?;
    Ok(true)
}

/// Copies a submission of a team into a phase, where it counts in no quota, and has it scored; returns its id.
async fn take_over(
    tx: &mut Tx,
    phase: &Phase,
    earlier: &str,
    team: &str,
    submission: &str,
) -> Result<Option<String>> {
    let (id, now) = (ids::new_id(), clock::now());
    tx.add_row("entry", columns! { phase: &phase.id, team, created_at: now }).await?;
    let members = "INSERT INTO entry_member (phase, account, team) SELECT CAST($1 AS TEXT), account, team \
                   FROM entry_member WHERE phase = $2 AND team = $3 ON CONFLICT DO NOTHING";
    tx.execute(members, args![&phase.id, earlier, team]).await?;
    let sql = "INSERT INTO submission (id, phase, team, account, kind, method, description, link, authors, code, \
               tags, details, state, blob, size, refunded, created_at, file, upload) SELECT CAST($1 AS TEXT), CAST($2 \
               AS TEXT), team, account, kind, method, description, link, authors, code, tags, details, 'queued', \
               blob, size, 0, CAST($3 AS BIGINT), file, upload FROM submission WHERE id = $4 ON CONFLICT DO NOTHING";
    let copied = tx.execute(sql, args![&id, &phase.id, now, submission]).await?;
    if copied == 0 {
        return Ok(None);
    }
    // Otherwise its job begins with the references.
    if phase.score_set.is_some() {
        jobs::add::<ScoreSubmission>(tx, &id, Priority::Background).await?;
    }
    Ok(Some(id))
}

impl Work for OpenByRank {
    const KIND: &'static str = "open-by-rank";
    const LANE: Lane = Lane::Errands;
    type Subject = String;
    type Output = Step;

    async fn run(app: &App, job: &Job) -> Result<Step, Failure> {
        let sql = "SELECT * FROM phase WHERE id = $1";
        let phase: Option<Phase> = app.store.fetch_optional(sql, args![&job.subject]).await?;
        let Some(phase) = phase.filter(Phase::awaits_ranks) else { return Ok(Step::Nothing) };
        let Some(earlier) = earlier(&app.store, &phase).await? else { return Ok(Step::Nothing) };
        let now = clock::now();
        match due(&phase, &earlier) {
            None => Ok(Step::Nothing),
            Some(due) if due > now => Ok(Step::Look(due)),
            Some(_) if awaits_scores(app, &earlier).await? => Ok(Step::Look(now + PAUSE)),
            Some(_) => Ok(Step::Open(Box::new(ranking(app, &phase, earlier).await?))),
        }
    }

    async fn finish(_: &App, tx: &mut Tx, job: &Job, outcome: Result<Step, String>) -> Result<()> {
        match outcome {
            Ok(Step::Nothing) => {}
            Ok(Step::Look(at)) => {
                jobs::add_at::<Self>(tx, &job.subject, Priority::Background, at).await?;
            }
            Ok(Step::Open(ranking)) => {
                if !write(tx, &ranking, None).await? {
                    let next = clock::now() + PAUSE;
                    jobs::add_at::<Self>(tx, &job.subject, Priority::Background, next).await?;
                }
            }
            Err(reason) => {
                tracing::error!(phase = job.subject, reason, "a phase does not open by rank");
            }
        }
        Ok(())
    }
}
