//! The rule of a phase that opens by rank, and its list of teams in the database.

use anyhow::ensure;
use capeval_site::prelude::*;
use serde::Deserialize;

use crate::settings::{Phase, PhasePlan};

/// A team that may submit.
#[derive(Clone, Debug, Deserialize)]
pub struct Qualifier {
    /// The id of the team.
    pub team: String,
    pub name: String,
    /// Its place on the earlier board.
    pub rank: i64,
    /// What stood for it there.
    pub submission: String,
    pub method: String,
    /// Its copy in this phase.
    pub copy: Option<String>,
}

/// The teams that may submit to a phase, the first one first.
pub async fn list(store: &Store, phase: &str) -> Result<Vec<Qualifier>, Error> {
    let sql = "SELECT qualifier.team AS team, team.name AS name, rank, submission, submission.method AS method, copy \
               FROM qualifier JOIN team ON team.id = qualifier.team \
               JOIN submission ON submission.id = qualifier.submission \
               WHERE qualifier.phase = $1 ORDER BY rank, team.name";
    store.fetch(sql, args![phase]).await
}

/// The phase by whose ranks another one opens.
pub async fn earlier(store: &Store, phase: &Phase) -> Result<Option<Phase>, Error> {
    let sql = "SELECT * FROM phase WHERE benchmark = $1 AND slug = $2";
    store.fetch_optional(sql, args![&phase.benchmark, &phase.from_phase]).await
}

impl Phase {
    /// Returns true if it opens by rank, and its list of teams is not made yet.
    pub fn awaits_ranks(&self) -> bool {
        !self.from_phase.is_empty() && self.ranked_at.is_none()
    }

    /// The teams that may submit, in words; empty if all may.
    pub fn rank_words(&self, page: &Page) -> String {
        match (self.from_phase.as_str(), self.top) {
            ("", _) => String::new(),
            (from, 0) => page.t1("the teams on the leaderboard of the phase {}", from),
            (from, top) => page.t2("the first {} teams of the phase {}", top, from),
        }
    }
}

/// Refuses a team that the list of a phase does not have.
pub async fn require(tx: &mut Tx, phase: &Phase, team: &str) -> Result<()> {
    let known = "SELECT 1 FROM qualifier WHERE phase = $1 AND team = $2";
    match phase.from_phase.is_empty() || tx.exists(known, args![&phase.id, team]).await? {
        true => Ok(()),
        false => Err(not_ranked(phase)),
    }
}

/// The reason why a person cannot submit to a phase with any team, if so.
pub async fn refusal(store: &Store, phase: &Phase, account: &str) -> Result<Option<Fault>, Error> {
    let known = "SELECT 1 FROM qualifier JOIN team_member ON team_member.team = qualifier.team \
                 WHERE qualifier.phase = $1 AND team_member.account = $2 AND NOT EXISTS (SELECT 1 FROM entry_member \
                 WHERE entry_member.phase = $1 AND entry_member.account = $2 AND entry_member.team <> qualifier.team)";
    let is_open = phase.from_phase.is_empty() || store.exists(known, args![&phase.id, account]).await?;
    Ok((!is_open).then(|| not_ranked(phase)))
}

fn not_ranked(phase: &Phase) -> Fault {
    let from = phase.from_phase.as_str();
    match phase.top {
        0 => fault! {
            FORBIDDEN, "not-qualified",
            "Only teams that were on the leaderboard of the phase {} may submit to this one, and yours was not.",
            from
        },
        top => fault! {
            FORBIDDEN, "not-qualified",
            "Only the first {} teams of the phase {} may submit to this one, and yours is not among them.",
            top, from
        },
    }
}

/// Refuses a plan whose rule makes no sense.
pub fn check(plan: &PhasePlan) -> anyhow::Result<()> {
    ensure!(
        !plan.from().is_empty() || plan.top.is_none() && !plan.carry,
        reason!("top and carry need from, the phase whose leaderboard decides")
    );
    ensure!(plan.top != Some(0), reason!("top is a number of teams from 1"));
    Ok(())
}

/// Refuses a plan that names no earlier phase, or that changes who may submit to a phase after it has opened.
pub async fn require_kept(
    tx: &mut Tx,
    (benchmark, position): (&str, usize),
    known: Option<&Phase>,
    plan: &PhasePlan,
) -> anyhow::Result<()> {
    if let Some(known) = known {
        let rule = (known.from_phase.as_str(), known.top, known.carry);
        let is_same = rule == (plan.from(), i64::from(plan.top.unwrap_or(0)), plan.carry);
        let entered = "SELECT 1 FROM submission WHERE phase = $1 AND kind = 'entry'";
        ensure!(
            is_same || known.ranked_at.is_none() && !tx.exists(entered, args![&known.id]).await?,
            reason!("from, top and carry cannot change once it is decided which teams may submit")
        );
    }
    let earlier = "SELECT 1 FROM phase WHERE benchmark = $1 AND slug = $2 AND position < $3";
    ensure!(
        plan.from().is_empty() || tx.exists(earlier, args![benchmark, plan.from(), position]).await?,
        reason!("from is {}, which is no earlier phase of this benchmark", plan.from())
    );
    Ok(())
}
