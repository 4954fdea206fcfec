//! Merges a team into another: its members, its submissions, and the used quotas of both.

use capeval_site::accounts::invitations;
use capeval_site::prelude::*;
use serde_json::json;

use super::records::{self as teams, InvitationToTeam, MEMBERS};
use super::requests;
use crate::{admission, board, notes, quota, records};

/// Merges the team `from`, which the visitor has made, into the team that has invited them. Both must fit into the
/// quota of every phase, as if one team had made all of their submissions.
///
/// # Errors
/// If they do not, if the visitor did not make the team, if a person would be in two teams of a phase, if a submission
/// still waits for its scores, or if the invitation was used.
pub async fn merge(app: &App, visitor: &Visitor, invited: &InvitationToTeam, from: &str) -> Result<()> {
    let into = invited.team.as_str();
    if from == into {
        return Err(fault!(CONFLICT, "same-team", "This invitation is to the same team."));
    }
    let mut tx = app.store.begin().await?;
    // Phases before teams, as submissions take them.
    let phases = entered(&mut tx, from, into).await?;
    for phase in &phases {
        records::phase_alone(&mut tx, phase).await?;
    }
    invitations::take(&mut tx, &invited.invitation, &visitor.id).await?;
    for team in [from.min(into), from.max(into)] {
        teams::lock(&mut tx, team).await?;
    }
    if !teams::is_member(&mut tx, from, &visitor.id).await? {
        return Err(Fault::not_found());
    }
    // No other member, nor a program, moves all of them, since that cannot be undone.
    let made = "SELECT 1 FROM team WHERE id = $1 AND created_by = $2";
    if !tx.exists(made, args![from, &visitor.id]).await? {
        return Err(fault! {
            CONFLICT, "not-maker",
            "Only the member who created a team can merge it, by opening the link in a browser."
        });
    }
    if entered(&mut tx, from, into).await? != phases {
        return Err(fault! {
            CONFLICT, "merging", "One of the teams has just entered a phase. Please try again."
        });
    }
    let sql = "INSERT INTO team_member (team, account, joined_at) \
               SELECT CAST($1 AS TEXT), account, CAST($2 AS BIGINT) FROM team_member WHERE team = $3 ON CONFLICT DO NOTHING";
    tx.execute(sql, args![into, clock::now(), from]).await?;
    let members = teams::members(&mut tx, into).await?;
    if members.len() as i64 > MEMBERS {
        return Err(fault!(CONFLICT, "team-full", "A team has at most {} members.", MEMBERS));
    }
    for phase in &phases {
        merge_in_phase(&mut tx, phase, from, into).await?;
        for member in &members {
            teams::enter_member(&mut tx, phase, into, member).await?;
        }
        admission::require_team_size(&mut tx, phase, into).await?;
    }
    for sql in [
        "UPDATE qualifier SET team = $2 WHERE team = $1 AND NOT EXISTS (SELECT 1 FROM qualifier AS own \
         WHERE own.phase = qualifier.phase AND own.team = $2)",
        "DELETE FROM qualifier WHERE team = $1 AND team <> $2",
    ] {
        tx.execute(sql, args![from, into]).await?;
    }
    tx.execute("DELETE FROM team_member WHERE team = $1", args![from]).await?;
    tx.execute("DELETE FROM invitation WHERE team = $1 AND used_at IS NULL", args![from]).await?;
    requests::end_all(&mut tx, from).await?;
    notes::note(&mut tx, Some(&visitor.id), "team.merge", into, json!({ "from": from })).await?;
    Ok(app.commit(tx).await?)
}

/// The phases that one of two teams has entered.
async fn entered(tx: &mut Tx, one: &str, other: &str) -> Result<Vec<String>> {
    let sql = "SELECT DISTINCT phase FROM entry WHERE team IN ($1, $2) ORDER BY phase";
    Ok(tx.fetch(sql, args![one, other]).await?)
}

async fn merge_in_phase(tx: &mut Tx, phase: &str, from: &str, into: &str) -> Result<()> {
    let phase = &records::phase_alone(tx, phase).await?;
    // A job that ends gives back what the team has used that it began with.
    let open =
        "SELECT 1 FROM submission WHERE phase = $1 AND team IN ($2, $3) AND state IN ('queued', 'running')";
    if tx.exists(open, args![&phase.id, from, into]).await? {
        return Err(fault! {
            CONFLICT, "still-scoring",
            "A submission of one of the teams is still being scored. Please try again later."
        });
    }
    let twice = "SELECT 1 FROM submission AS one JOIN submission AS other \
                 ON other.phase = one.phase AND other.blob = one.blob AND other.team = $3 AND other.state = 'scored' \
                 WHERE one.phase = $1 AND one.team = $2 AND one.state = 'scored'";
    if tx.exists(twice, args![&phase.id, from, into]).await? {
        return Err(fault! {
            CONFLICT, "same-captions",
            "Both teams have submitted the same captions, which one team can do only once."
        });
    }
    for sql in [
        "INSERT INTO entry (phase, team, pinned, created_at) \
         SELECT phase, CAST($3 AS TEXT), pinned, created_at FROM entry WHERE phase = $1 AND team = $2 \
         ON CONFLICT (phase, team) DO UPDATE SET pinned = COALESCE(entry.pinned, excluded.pinned)",
        "DELETE FROM entry WHERE phase = $1 AND team = $2 AND team <> $3",
        "UPDATE entry_member SET team = $3 WHERE phase = $1 AND team = $2",
        // Of two requests with the same key, each was that of one team.
        "UPDATE submission SET team = $3, idempotency_key = NULL WHERE phase = $1 AND team = $2",
        "UPDATE quota_grant SET team = $3 WHERE phase = $1 AND team = $2",
        "INSERT INTO quota (phase, team, day, used) \
         SELECT phase, CAST($3 AS TEXT), day, used FROM quota WHERE phase = $1 AND team = $2 \
         ON CONFLICT (phase, team, day) DO UPDATE SET used = quota.used + excluded.used",
        "DELETE FROM quota WHERE phase = $1 AND team = $2 AND team <> $3",
    ] {
        tx.execute(sql, args![&phase.id, from, into]).await?;
    }
    if !quota::fits(tx, phase, into).await? {
        return Err(fault! {
            CONFLICT, "merged-quota",
            "Together, the teams have made more submissions to the phase {} than one team is allowed.",
            phase.title.clone()
        });
    }
    let chosen = "SELECT COUNT(*) FROM submission WHERE phase = $1 AND team = $2 AND chosen_at IS NOT NULL";
    if tx.fetch_one::<i64>(chosen, args![&phase.id, into]).await? > phase.most_chosen {
        return Err(fault! {
            CONFLICT, "merged-choice",
            "Together, the teams have chosen more submissions of the phase {} than one team may. Give up some first.",
            phase.title.clone()
        });
    }
    board::forget_agreement(tx, &phase.id).await?;
    board::changed(tx, &phase.id, into).await
}
