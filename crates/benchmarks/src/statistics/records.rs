//! The statistics of a benchmark by day in the database.

use std::collections::BTreeMap;

use capeval_api::{ProblemKind, StatisticsCount, StatisticsDay, SubmissionState};
use capeval_site::prelude::*;

/// What a visit is counted as.
pub const VISIT: &str = "visit";

/// What a file is counted as that cannot be read at all.
pub const UNREADABLE: &str = "unreadable";

/// The most reasons of failures that are listed.
const REASONS: i64 = 20;

/// The numbers from a day on, by the number of the day; days on which nothing happened are left out.
pub async fn days(store: &Store, benchmark: &str, from: i64) -> Result<BTreeMap<i64, StatisticsDay>, Error> {
    let mut days: BTreeMap<i64, StatisticsDay> = BTreeMap::new();
    let of = |day: i64| StatisticsDay { day: clock::day(day * clock::DAY), ..StatisticsDay::default() };
    let tallies = "SELECT day, what, n FROM tally WHERE benchmark = $1 AND day >= $2";
    for (day, what, n) in store.fetch::<(i64, String, i64)>(tallies, args![benchmark, from]).await? {
        let counted = days.entry(day).or_insert_with(|| of(day));
        // A file with several kinds of problems is counted once for each.
        *(if what == VISIT { &mut counted.visits } else { &mut counted.refused }) += n;
    }
    for (sql, field) in [
        (
            "SELECT participant.created_at / 86400000, COUNT(*) FROM participant \
             WHERE benchmark = $1 AND participant.created_at >= $2 * 86400000 GROUP BY 1",
            (|day| &mut day.people) as fn(&mut StatisticsDay) -> &mut i64,
        ),
        (
            "SELECT entry.created_at / 86400000, COUNT(*) FROM entry JOIN phase ON phase.id = entry.phase \
             WHERE benchmark = $1 AND entry.created_at >= $2 * 86400000 GROUP BY 1",
            |day| &mut day.teams,
        ),
    ] {
        for (day, n) in store.fetch::<(i64, i64)>(sql, args![benchmark, from]).await? {
            *field(days.entry(day).or_insert_with(|| of(day))) += n;
        }
    }
    let submissions = "SELECT submission.created_at / 86400000, state, COUNT(*) FROM submission \
                       JOIN phase ON phase.id = submission.phase WHERE benchmark = $1 AND kind = 'entry' \
                       AND submission.created_at >= $2 * 86400000 GROUP BY 1, 2";
    let submissions: Vec<(i64, SubmissionState, i64)> =
        store.fetch(submissions, args![benchmark, from]).await?;
    for (day, state, n) in submissions {
        let counted = days.entry(day).or_insert_with(|| of(day));
        counted.submissions += n;
        match state {
            SubmissionState::Scored => counted.scored += n,
            SubmissionState::Failed => counted.failed += n,
            _ => {}
        }
    }
    Ok(days)
}

/// The reasons of failures with their numbers, and the kinds of problems of files that were refused.
pub async fn failures(
    store: &Store,
    benchmark: &str,
) -> Result<(Vec<StatisticsCount>, Vec<StatisticsCount>), Error> {
    let failed = "SELECT COALESCE(submission.reason, '') AS what, COUNT(*) AS n FROM submission \
                  JOIN phase ON phase.id = submission.phase WHERE benchmark = $1 AND kind = 'entry' \
                  AND state = 'failed' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT $2";
    let failed: Vec<(String, i64)> = store.fetch(failed, args![benchmark, REASONS]).await?;
    let refused = "SELECT what, CAST(SUM(n) AS BIGINT) FROM tally WHERE benchmark = $1 AND what <> 'visit' \
                   GROUP BY what ORDER BY 2 DESC, 1";
    let refused: Vec<(String, i64)> = store.fetch(refused, args![benchmark]).await?;
    let each = |(what, n)| StatisticsCount { what, n };
    Ok((failed.into_iter().map(each).collect(), refused.into_iter().map(each).collect()))
}

/// A kind of problem in words.
pub fn in_words(what: &str) -> &'static str {
    match what.parse::<ProblemKind>() {
        Ok(kind) => kind.summary(),
        Err(_) => say("Files that cannot be read"),
    }
}
