//! Each invariant is told when a row breaks it, with the row.

use std::collections::BTreeSet;

use capeval_server::FEATURES;
use capeval_site::{args, invariants};

use crate::strangers::World;
use crate::support::{Database, breaches, on_both};

on_both! { each_invariant_is_told_when_a_row_breaks_it }

/// Statements that damage rows, and what is told of them.
const DAMAGES: &[(&[&str], &str)] = &[
    (
        &["UPDATE job SET finished_at = NULL WHERE id = (SELECT MAX(id) FROM job WHERE state = 'done')"],
        "is done",
    ),
    (&["UPDATE job SET state = 'running', started_at = NULL, finished_at = NULL"], "job "),
    (
        &["INSERT INTO outbox (id, kind, target, subject, body, attempt, run_after, created_at) \
           VALUES ('lost', 'mail', 'ada@example.org', '', '', 0, 0, 0)"],
        "message lost",
    ),
    (&["UPDATE quota SET used = used + 1 WHERE day = '*'"], "day *: 2 used, 1 charged"),
    (&["UPDATE quota SET used = used - 1 WHERE day <> '*'"], ": 0 used, 1 charged"),
    (&["DELETE FROM quota WHERE day <> '*'"], "submission "),
    (&["UPDATE submission SET refunded = 1 WHERE kind = 'entry'"], "is scored"),
    (&["UPDATE submission SET state = 'queued' WHERE kind = 'entry'"], "is queued"),
    (&["UPDATE submission SET state = 'running' WHERE kind = 'human'"], "is running"),
    (&["UPDATE submission SET state = 'failed' WHERE kind = 'baseline'"], "is failed"),
    (&["DELETE FROM scored_by"], ", score set "),
    (&["UPDATE score_set SET pending = 3"], " lacks 3"),
    (&["UPDATE score SET value = value + 1"], ", reference set "),
    (&["DELETE FROM standing"], ", reference set "),
    (&["UPDATE submission SET disqualified_at = 1"], ": no place"),
    (&["UPDATE reference_set SET state = 'preparing'"], "reference set "),
    (&["UPDATE evaluation SET state = 'preparing'"], "evaluation "),
    (&["UPDATE dry_run SET state = 'queued'"], "dry run "),
    (&["UPDATE evaluation_item SET judged = judged + 1"], "caption to judge "),
    (&["DELETE FROM entry"], ", account "),
    (&["UPDATE entry SET pinned = 'nothing'"], ", team "),
    (&["DELETE FROM team_key"], "team "),
    (&["UPDATE image_slots SET taken = taken + 1"], "taken"),
    (&["UPDATE image_slots SET accepted = 0"], "0 accepted"),
    (&["UPDATE image SET state = 'open' WHERE state = 'complete'"], "is open"),
    (&["UPDATE image_slots SET is_shown = 0"], "is complete"),
    (&["DELETE FROM image_slots"], "is complete"),
    (&["UPDATE caption SET ratings = ratings + 1"], "caption "),
    (&["UPDATE image SET thumb = NULL"], "is pending"),
    (&["UPDATE image SET state = 'processing' WHERE state = 'pending'"], "picture "),
    (&["UPDATE release SET state = 'preparing'"], "release "),
    (&["DELETE FROM release_part"], "release "),
    (&["UPDATE release SET captions = captions + 1"], "release "),
    (&["UPDATE coco_id SET number = number + 100"], ", caption "),
    (&["UPDATE caption SET state = 'quarantined' WHERE state = 'submitted'"], "caption "),
];

/// What only the file of SQLite lets through.
const DAMAGED_FILE: (&[&str], &str) = (
    &[
        "PRAGMA defer_foreign_keys = ON",
        "INSERT INTO session (token_hash, account, created_at, expires_at) VALUES ('x', 'absent', 0, 0)",
    ],
    "session refers to a row of account that is not there",
);

async fn each_invariant_is_told_when_a_row_breaks_it(database: Database) {
    let world = World::new(database).await;
    let app = &world.site.app;
    assert_eq!(breaches(app).await, Vec::<String>::new());
    let mut told = BTreeSet::new();
    let of_sqlite = (database == Database::Sqlite).then_some(&DAMAGED_FILE);
    for (statements, words) in DAMAGES.iter().chain(of_sqlite) {
        // Nothing is committed.
        let mut tx = app.store.begin().await.unwrap();
        for sql in *statements {
            tx.execute(sql, args![]).await.unwrap();
        }
        let broken = invariants::breaches(&mut tx, FEATURES).await.unwrap();
        let is_told = broken.iter().any(|breach| breach.by.iter().any(|text| text.contains(words)));
        let all: Vec<(&str, &Vec<String>)> =
            broken.iter().map(|breach| (breach.invariant.holds, &breach.by)).collect();
        assert!(is_told, "{statements:?}: {all:?}");
        told.extend(all.iter().map(|(holds, _)| *holds));
    }
    let known = invariants::all(FEATURES).map(|invariant| invariant.holds);
    let mut untold: Vec<&str> = known.filter(|holds| !told.contains(holds)).collect();
    untold.retain(|holds| database == Database::Sqlite || !holds.contains("file of the database"));
    assert_eq!(untold, Vec::<&str>::new());
    assert_eq!(breaches(app).await, Vec::<String>::new());
}
