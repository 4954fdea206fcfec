//! The invariants between rows of benchmarks.

use capeval_site::invariants::{Invariant, REPORT};

use crate::board;

/// The remedy for what waits without a job.
const STUCK: &str = "a host can cancel it, or apply the benchmark's file again";

pub const ALL: &[Invariant] = &[
    Invariant::of(
        "a team has used as many submissions as it was charged for",
        // Who comes back with another account brings along what they had used.
        "SELECT 'phase ' || phase || ', team ' || team || ', day ' || day || ': ' || CAST(used AS TEXT) || ' used, ' \
         || CAST(charged AS TEXT) || ' charged' FROM (SELECT quota.*, (SELECT COUNT(*) FROM submission \
         WHERE submission.phase = quota.phase AND submission.team = quota.team AND kind = 'entry' AND refunded = 0 \
         AND quota.day IN ('*', charged_day)) AS charged FROM quota) AS counted WHERE used < charged OR used > charged \
         AND NOT EXISTS (SELECT 1 FROM entry_member JOIN former_address ON former_address.account = entry_member.account \
         WHERE entry_member.phase = counted.phase)",
        "grant the team what it lacks on the page of the phase for hosts",
    ),
    Invariant::of(
        "what a team was charged for is counted",
        "SELECT 'submission ' || id FROM submission WHERE kind = 'entry' AND refunded = 0 AND (charged_day IS NULL OR 2 <> \
         (SELECT COUNT(*) FROM quota WHERE quota.phase = submission.phase AND quota.team = submission.team \
         AND quota.day IN ('*', submission.charged_day)))",
        REPORT,
    ),
    Invariant::of(
        "a submission is given back if it was cancelled, and not if it has scores or waits for them",
        "SELECT 'submission ' || id || ' is ' || state FROM submission WHERE kind = 'entry' \
         AND (state = 'cancelled' AND refunded = 0 OR state IN ('queued', 'running', 'scored') AND refunded = 1)",
        "grant the team what it lacks on the page of the phase for hosts",
    ),
    Invariant::of(
        "a submission that waits for scores has one job, or is with a machine",
        // Baselines wait without a job for references.
        "SELECT 'submission ' || id || ' is ' || state FROM submission WHERE state IN ('queued', 'running') \
         AND (kind = 'entry' OR NOT EXISTS (SELECT 1 FROM reference_set WHERE reference_set.phase = submission.phase \
         AND reference_set.state <> 'ready')) AND 1 <> (SELECT COUNT(*) FROM job WHERE job.subject = submission.id \
         AND job.kind = 'score' AND job.state IN ('queued', 'running')) + (SELECT COUNT(*) FROM worker_task \
         WHERE worker_task.submission = submission.id AND is_rescored = 0 \
         AND worker_task.state IN ('waiting', 'claimed'))",
        STUCK,
    ),
    Invariant::of(
        "a submission has scores if it is scored, and none otherwise",
        "SELECT 'submission ' || id || ' is ' || state FROM submission WHERE (state = 'scored') <> EXISTS \
         (SELECT 1 FROM scored_by WHERE scored_by.submission = submission.id)",
        "score the phase again on its page for hosts",
    ),
    Invariant::of(
        "scores have the signatures of what gave them",
        "SELECT DISTINCT 'submission ' || submission || ', score set ' || score_set FROM score WHERE NOT EXISTS \
         (SELECT 1 FROM scored_by WHERE scored_by.score_set = score.score_set \
         AND scored_by.submission = score.submission)",
        "score the phase again on its page for hosts",
    ),
    Invariant::of(
        "a score set lacks as many submissions as are being scored for it",
        "SELECT 'score set ' || id || ' lacks ' || CAST(pending AS TEXT) FROM score_set WHERE reason IS NULL AND pending <> \
         (SELECT COUNT(*) FROM job WHERE kind = 'rescore' AND state IN ('queued', 'running') \
         AND subject LIKE score_set.id || '/%') + (SELECT COUNT(*) FROM worker_task \
         WHERE worker_task.score_set = score_set.id AND is_rescored = 1 AND state IN ('waiting', 'claimed'))",
        "score the phase again on its page for hosts once no submission waits",
    ),
    Invariant::found_by(
        "boards show the scores that are stored",
        board::wrong_rows,
        "pin a submission of the team and unpin it, or score the phase again",
    ),
    Invariant::of(
        "what is being prepared has a job",
        "SELECT 'reference set ' || id FROM reference_set WHERE state = 'preparing' AND NOT EXISTS (SELECT 1 FROM job \
         WHERE job.subject = reference_set.id AND kind = 'prepare' AND job.state IN ('queued', 'running')) \
         UNION ALL SELECT 'evaluation ' || id FROM evaluation WHERE state = 'preparing' AND NOT EXISTS (SELECT 1 FROM job \
         WHERE job.subject = evaluation.id AND kind = 'sample' AND job.state IN ('queued', 'running')) \
         UNION ALL SELECT 'dry run ' || id FROM dry_run WHERE state = 'queued' AND NOT EXISTS (SELECT 1 FROM job \
         WHERE job.subject = dry_run.id AND kind = 'dry-run' AND job.state IN ('queued', 'running'))",
        STUCK,
    ),
    Invariant::of(
        "a caption to judge counts its judgements",
        "SELECT 'caption to judge ' || id FROM evaluation_item \
         WHERE judged <> (SELECT COUNT(*) FROM judgement WHERE judgement.item = evaluation_item.id)",
        REPORT,
    ),
    Invariant::of(
        "who submits to a phase has entered it",
        "SELECT 'submission ' || id FROM submission WHERE kind = 'entry' AND NOT EXISTS (SELECT 1 FROM entry \
         WHERE entry.phase = submission.phase AND entry.team = submission.team) \
         UNION ALL SELECT 'phase ' || phase || ', account ' || account FROM entry_member WHERE NOT EXISTS \
         (SELECT 1 FROM entry WHERE entry.phase = entry_member.phase AND entry.team = entry_member.team)",
        REPORT,
    ),
    Invariant::of(
        "a team shows a submission of its own on a board",
        "SELECT 'phase ' || phase || ', team ' || team FROM entry WHERE pinned IS NOT NULL AND NOT EXISTS \
         (SELECT 1 FROM submission WHERE submission.id = entry.pinned AND submission.phase = entry.phase \
         AND submission.team = entry.team AND submission.state = 'scored')",
        "a member can pin another submission",
    ),
    Invariant::of(
        "no name of a team is free",
        "SELECT 'team ' || id FROM team WHERE NOT EXISTS (SELECT 1 FROM team_key WHERE team_key.team = team.id)",
        REPORT,
    ),
];
