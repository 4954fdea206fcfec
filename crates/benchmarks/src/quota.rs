//! Quotas: a counter row for each team, phase and day, and one for all days, which only one statement increases.
//!
//! Quotas are counter rows: one conditional `INSERT … ON CONFLICT DO UPDATE SET used = used + 1 WHERE used < limit`,
//! and no row means refused, in one transaction with the submission. Counting rows first let up to 200 of 200
//! simultaneous submissions through a limit of 5, and so did one `INSERT … SELECT … WHERE count < 5` on PostgreSQL.

use std::collections::HashMap;

use capeval_site::among;
use capeval_site::prelude::*;

use super::settings::Phase;

/// The day under which all submissions are counted.
pub const ALL: &str = "*";

/// A team's use of its quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meter {
    /// Submissions today.
    pub used_today: i64,
    /// The limit today.
    pub per_day: i64,
    /// Submissions in all.
    pub used_in_total: i64,
    /// The limit in all.
    pub in_total: i64,
    /// The beginning of the next day.
    pub resets_at: i64,
}

impl Meter {
    /// The use of a team which has used nothing.
    pub fn unused(phase: &Phase, now: i64) -> Self {
        let (per_day, in_total, resets_at) = (phase.per_day, phase.in_total, clock::next_day(now));
        Self { used_today: 0, per_day, used_in_total: 0, in_total, resets_at }
    }

    /// The number of submissions that are left now.
    pub fn left(&self) -> i64 {
        (self.per_day - self.used_today).min(self.in_total - self.used_in_total).max(0)
    }

    /// The reason why nothing can be submitted now, if so.
    pub fn refusal(&self) -> Option<Fault> {
        if self.used_in_total >= self.in_total {
            return Some(total_used(self.in_total));
        }
        (self.used_today >= self.per_day).then(|| day_used(self.per_day, clock::now()))
    }
}

fn total_used(in_total: i64) -> Fault {
    fault! {
        TOO_MANY_REQUESTS, "total-used",
        "Your team has used all of its submissions to this phase: {}.", in_total
    }
}

fn day_used(per_day: i64, now: i64) -> Fault {
    let next = clock::next_day(now);
    let fault = fault! {
        TOO_MANY_REQUESTS, "day-used",
        "Your team has used all of its submissions for today: {}. The daily limit resets at {}.", per_day,
        clock::readable(next)
    };
    fault.retry_after((next - now) / 1000)
}

/// Counts a submission of today, and returns the day; nothing is counted if it would be one too many.
///
/// # Errors
/// If the quota is used up; roll the transaction back.
pub async fn take(tx: &mut Tx, phase: &Phase, team: &str) -> Result<String> {
    let now = clock::now();
    let day = clock::day(now);
    let per_day = phase.per_day + granted(tx, &phase.id, team, &day).await?;
    let in_total = phase.in_total + granted(tx, &phase.id, team, ALL).await?;
    if !raise(tx, &phase.id, team, ALL, in_total).await? {
        return Err(total_used(in_total));
    }
    if !raise(tx, &phase.id, team, &day, per_day).await? {
        return Err(day_used(per_day, now));
    }
    Ok(day)
}

/// Returns true if a team has used no more than it may, on each day and in all.
pub async fn fits(tx: &mut Tx, phase: &Phase, team: &str) -> Result<bool, Error> {
    let sql = "SELECT day, used FROM quota WHERE phase = $1 AND team = $2";
    for (day, used) in tx.fetch::<(String, i64)>(sql, args![&phase.id, team]).await? {
        let limit = if day == ALL { phase.in_total } else { phase.per_day };
        if used > limit + granted(tx, &phase.id, team, &day).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Raises a counter unless it has reached `limit`. One statement, so that no two requests see the same number.
async fn raise(tx: &mut Tx, phase: &str, team: &str, day: &str, limit: i64) -> Result<bool, Error> {
    if limit < 1 {
        return Ok(false);
    }
    let sql = "INSERT INTO quota (phase, team, day, used) VALUES ($1, $2, $3, 1) \
               ON CONFLICT (phase, team, day) DO UPDATE SET used = quota.used + 1 WHERE quota.used < $4";
    let raised = tx.execute(sql, args![phase, team, day, limit]).await?;
    Ok(raised == 1)
}

async fn granted(tx: &mut Tx, phase: &str, team: &str, day: &str) -> Result<i64, Error> {
    let sql = "SELECT CAST(COALESCE(SUM(extra), 0) AS BIGINT) FROM quota_grant \
               WHERE phase = $1 AND team = $2 AND day = $3";
    tx.fetch_one(sql, args![phase, team, day]).await
}

/// Counts for a team at least what another one has used, on each day and in all.
pub async fn bring(tx: &mut Tx, phase: &str, from: &str, team: &str) -> Result<(), Error> {
    let sql = "INSERT INTO quota (phase, team, day, used) SELECT phase, $3, day, used FROM quota \
               WHERE phase = $1 AND team = $2 \
               ON CONFLICT (phase, team, day) DO UPDATE \
               SET used = CASE WHEN quota.used < excluded.used THEN excluded.used ELSE quota.used END";
    tx.execute(sql, args![phase, from, team]).await.map(drop)
}

/// Gives a submission back that was counted on `day`.
pub async fn refund(tx: &mut Tx, phase: &str, team: &str, day: &str) -> Result<(), Error> {
    let sql =
        "UPDATE quota SET used = used - 1 WHERE phase = $1 AND team = $2 AND day IN ($3, $4) AND used > 0";
    tx.execute(sql, args![phase, team, day, ALL]).await.map(drop)
}

/// A team's use.
pub async fn meter(store: &Store, phase: &Phase, team: &str) -> Result<Meter, Error> {
    let mut meters = meters(store, phase, &[team]).await?;
    Ok(meters.remove(team).unwrap_or_else(|| Meter::unused(phase, clock::now())))
}

/// The use of teams, by their ids. Those that have used nothing and were granted nothing are left out.
pub async fn meters(store: &Store, phase: &Phase, teams: &[&str]) -> Result<HashMap<String, Meter>, Error> {
    let now = clock::now();
    let sql = among!(
        store,
        "SELECT team, day, used, CAST(0 AS BIGINT) FROM quota WHERE phase = $1 AND team IN (",
        "$2",
        ") AND day IN ($3, $4) UNION ALL SELECT team, day, CAST(0 AS BIGINT), extra FROM quota_grant \
         WHERE phase = $1 AND team IN (",
        "$2",
        ") AND day IN ($3, $4)"
    );
    let counted: Vec<(String, String, i64, i64)> =
        store.fetch(sql, args![&phase.id, store::list(teams)?, clock::day(now), ALL]).await?;
    let mut meters = HashMap::new();
    for (team, day, used, extra) in counted {
        let meter = meters.entry(team).or_insert_with(|| Meter::unused(phase, now));
        if day == ALL {
            meter.used_in_total += used;
            meter.in_total += extra;
        } else {
            meter.used_today += used;
            meter.per_day += extra;
        }
    }
    Ok(meters)
}
