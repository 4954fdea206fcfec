//! Requests to join a team: how often a person may send them, and how members answer.

use capeval_api::{JoinRequest, OwnRequest, RequestState};
use capeval_site::outbox;
use capeval_site::prelude::*;
use serde::Deserialize;
use serde_json::json;

use super::records as teams;
use crate::notes;
use crate::notifications::Recipient;

/// The days after which a request ends that no one has answered.
const DAYS: i64 = 14;

/// The days for which requests that have ended count, and are shown to the person.
const REMEMBERED: i64 = 30;

/// The most characters of a message.
const MESSAGE: usize = 500;

/// The most requests of a person that are open at once, of a person to one team in the remembered days, refusals by one
/// team, and refusals by all teams in the remembered days. Members get an email for each request.
const OPEN: i64 = 5;
const TO_ONE_TEAM: i64 = 3;
const REFUSALS_OF_ONE_TEAM: i64 = 2;
const REFUSALS: i64 = 5;

/// The number of attempts that a person has in a minute.
const PER_MINUTE: u32 = 6;

/// A request of the visitor.
pub struct OwnRequestId(String);

/// `{id}`
impl Subject for OwnRequestId {
    const KIND: &'static str = "request to join a team";

    async fn find(app: &App, names: &Names, visitor: Option<&Visitor>) -> Result<Self> {
        let (id, visitor) = (names.require("id")?, visitor.ok_or_else(Fault::not_found)?);
        let sql = "SELECT id FROM team_request WHERE id = $1 AND account = $2";
        app.store.fetch_optional(sql, args![id, &visitor.id]).await?.map(Self).ok_or_else(Fault::not_found)
    }

    fn standing(&self) -> Standing {
        Standing::Owns
    }
}

/// A row of a request.
#[derive(Deserialize)]
struct Row {
    id: String,
    team: String,
    name: String,
    message: String,
    state: RequestState,
    created_at: i64,
}

/// The requests of a person, newest first.
pub async fn of_person(store: &Store, account: &str) -> Result<Vec<OwnRequest>, Error> {
    let sql = "SELECT team_request.id AS id, team, team.name AS name, message, state, team_request.created_at AS created_at \
               FROM team_request JOIN team ON team.id = team_request.team WHERE account = $1 AND \
               (state = 'open' OR team_request.created_at > $2) ORDER BY team_request.id DESC LIMIT 50";
    let rows: Vec<Row> = store.fetch(sql, args![account, clock::now() - REMEMBERED * clock::DAY]).await?;
    let shown = |row: Row| OwnRequest {
        id: row.id,
        team: row.name,
        message: row.message,
        state: row.state.into(),
        created_at: clock::time(row.created_at),
        expires_at: clock::time(row.created_at + DAYS * clock::DAY),
    };
    Ok(rows.into_iter().map(shown).collect())
}

/// The open requests to the teams of a person, who may answer them.
pub(super) async fn to_answer(store: &Store, account: &str) -> Result<Vec<JoinRequest>, Error> {
    let sql = "SELECT team_request.id AS id, team_request.team AS team, account.name AS name, message, state, \
               team_request.created_at AS created_at FROM team_member AS own \
               JOIN team_request ON team_request.team = own.team JOIN account ON account.id = team_request.account \
               WHERE own.account = $1 AND state = 'open' AND account.disabled_at IS NULL ORDER BY team_request.id";
    let rows: Vec<Row> = store.fetch(sql, args![account]).await?;
    let shown = |row: Row| JoinRequest {
        id: row.id,
        team: row.team,
        person: row.name,
        message: row.message,
        created_at: clock::time(row.created_at),
        expires_at: clock::time(row.created_at + DAYS * clock::DAY),
    };
    Ok(rows.into_iter().map(shown).collect())
}

/// Keeps other requests of the same person from being made or answered at once.
async fn lock_person(tx: &mut Tx, account: &str) -> Result<(), Error> {
    tx.lock("account", account).await
}

/// Asks the members of the team with this name, and returns the id of the request.
pub(super) async fn ask(app: &App, by: &Visitor, name: &str, message: &str) -> Result<String> {
    app.limits.take("team-requests", &by.id, PER_MINUTE)?;
    let is_text = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let message = message.replace("\r\n", "\n").chars().filter(is_text).collect::<String>().trim().to_owned();
    if message.chars().count() > MESSAGE {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "message", "The message can have at most {} characters.", MESSAGE
        });
    }
    let mut tx = app.store.begin().await?;
    lock_person(&mut tx, &by.id).await?;
    people::require_enabled(&mut tx, &by.id).await?;
    let name = super::names::composed(name);
    let sql = "SELECT id FROM team WHERE name = $1 AND EXISTS (SELECT 1 FROM team_member WHERE team_member.team = team.id)";
    let team: Option<String> = tx.fetch_optional(sql, args![&name]).await?;
    let team = team.ok_or_else(|| {
        fault!(UNPROCESSABLE_ENTITY, "no-team", "There is no team called {}.", name.clone())
    })?;
    if teams::is_member(&mut tx, &team, &by.id).await? {
        return Err(fault!(CONFLICT, "member", "You are a member of this team."));
    }
    teams::require_place(&mut tx, app, &by.id).await?;
    require_patience(&mut tx, &by.id, &team).await?;
    let (id, now) = (ids::new_id(), clock::now());
    let row = columns! { id: &id, team: &team, account: &by.id, message, state: "open", created_at: now };
    tx.insert_row("team_request", row).await?;
    jobs::add_at::<ExpireRequest>(&mut tx, &id, Priority::Background, now + DAYS * clock::DAY).await?;
    notes::note(&mut tx, Some(&by.id), "team.request", &team, json!({ "request": id })).await?;
    let sql = "SELECT account.id, account.email, account.language FROM team_member \
               JOIN account ON account.id = team_member.account \
               WHERE team_member.team = $1 AND account.disabled_at IS NULL ORDER BY account.id";
    // The message is only on the page: no one writes to others in the name of the site.
    for member in tx.fetch::<Recipient>(sql, args![&team]).await? {
        let subject = say("{} asks to join {}");
        let body = say("Any member can accept or refuse the request here:");
        tell(&mut tx, app, &member, (subject, &[&by.name, &name]), body).await?;
    }
    app.commit(tx).await?;
    Ok(id)
}

/// Sends an email about a request, with a link to the page of teams.
async fn tell(
    tx: &mut Tx,
    app: &App,
    Recipient { email, language, .. }: &Recipient,
    (subject, arguments): (&str, &[&str]),
    sentence: &str,
) -> Result<()> {
    let body = format!("{}\n\n{}\n", language.t(sentence), app.settings.url("/teams"));
    Ok(outbox::mail(tx, app, email, &language.fill(subject, arguments), &body).await?)
}

/// Refuses a request of someone who asks too often.
async fn require_patience(tx: &mut Tx, account: &str, team: &str) -> Result<()> {
    let open = "SELECT 1 FROM team_request WHERE account = $1 AND team = $2 AND state = 'open'";
    if tx.exists(open, args![account, team]).await? {
        return Err(fault!(CONFLICT, "asked", "You have already asked this team."));
    }
    let since = clock::now() - REMEMBERED * clock::DAY;
    let counts = "SELECT COUNT(CASE WHEN state = 'open' THEN 1 END), \
                  COUNT(CASE WHEN team = $2 AND created_at > $3 THEN 1 END), \
                  COUNT(CASE WHEN team = $2 AND state = 'refused' THEN 1 END), \
                  COUNT(CASE WHEN state = 'refused' AND ended_at > $3 THEN 1 END) FROM team_request WHERE account = $1";
    let (open, to_team, refused_by_team, refused): (i64, i64, i64, i64) =
        tx.fetch_one(counts, args![account, team, since]).await?;
    if refused_by_team >= REFUSALS_OF_ONE_TEAM || to_team >= TO_ONE_TEAM {
        return Err(fault!(CONFLICT, "no-more", "You cannot ask this team again."));
    }
    if open >= OPEN {
        return Err(fault! {
            CONFLICT, "open-requests",
            "You have {} open requests, the most at a time. Withdraw one, or wait for an answer.", OPEN
        });
    }
    if refused >= REFUSALS {
        return Err(fault! {
            CONFLICT, "refused-often",
            "Teams have refused {} of your requests within {} days. You can ask again later.", REFUSALS,
            REMEMBERED
        });
    }
    Ok(())
}

/// The fault of a request that no longer waits.
fn answered() -> Fault {
    fault!(CONFLICT, "answered", "This request has been answered or withdrawn, or has expired.")
}

/// The person who made a request to a team.
async fn asker(tx: &mut Tx, team: &str, request: &str) -> Result<String> {
    let sql = "SELECT account FROM team_request WHERE id = $1 AND team = $2";
    tx.fetch_optional(sql, args![request, team]).await?.ok_or_else(Fault::not_found)
}

/// Ends an open request.
async fn end(tx: &mut Tx, request: &str, state: RequestState) -> Result<()> {
    let sql = "UPDATE team_request SET state = $1, ended_at = $2 WHERE id = $3 AND state = 'open'";
    match tx.execute(sql, args![state.name(), clock::now(), request]).await? {
        0 => Err(answered()),
        _ => Ok(()),
    }
}

/// Takes the person who asked into the team, and into the phases that it has entered.
pub(super) async fn accept(app: &App, by: &Visitor, team: &str, request: &str) -> Result<()> {
    let mut tx = app.store.begin().await?;
    let asker = asker(&mut tx, team, request).await?;
    // The person before the team, as when they enter a phase.
    lock_person(&mut tx, &asker).await?;
    teams::lock(&mut tx, team).await?;
    require_member(&mut tx, team, by).await?;
    end(&mut tx, request, RequestState::Accepted).await?;
    if !people::is_enabled(&mut tx, &asker).await? {
        return Err(answered());
    }
    teams::admit(&mut tx, app, team, &asker).await?;
    let detail = json!({ "request": request, "account": asker });
    notes::note(&mut tx, Some(&by.id), "team.request-accept", team, detail).await?;
    tell_asker(&mut tx, app, team, &asker, say("You are now a member of the team {}")).await?;
    Ok(app.commit(tx).await?)
}

/// Refuses a request.
pub(super) async fn refuse(app: &App, by: &Visitor, team: &str, request: &str) -> Result<()> {
    let mut tx = app.store.begin().await?;
    let asker = asker(&mut tx, team, request).await?;
    require_member(&mut tx, team, by).await?;
    end(&mut tx, request, RequestState::Refused).await?;
    notes::note(&mut tx, Some(&by.id), "team.request-refuse", team, json!({ "request": request })).await?;
    tell_asker(&mut tx, app, team, &asker, say("The team {} has refused your request")).await?;
    Ok(app.commit(tx).await?)
}

async fn require_member(tx: &mut Tx, team: &str, by: &Visitor) -> Result<()> {
    if teams::is_member(tx, team, &by.id).await? { Ok(()) } else { Err(Fault::not_found()) }
}

async fn tell_asker(tx: &mut Tx, app: &App, team: &str, asker: &str, subject: &'static str) -> Result<()> {
    let Some(asker) = Recipient::of(tx, asker).await? else { return Ok(()) };
    let name = tx.fetch_optional::<String>("SELECT name FROM team WHERE id = $1", args![team]).await?;
    let Some(name) = name else { return Ok(()) };
    tell(tx, app, &asker, (subject, &[&name]), say("Your teams and requests:")).await
}

/// Takes the visitor's request back.
pub(super) async fn withdraw(app: &App, by: &Visitor, OwnRequestId(request): &OwnRequestId) -> Result<()> {
    let mut tx = app.store.begin().await?;
    end(&mut tx, request, RequestState::Withdrawn).await?;
    notes::note(&mut tx, Some(&by.id), "team.request-withdraw", request, json!({})).await?;
    Ok(tx.commit().await?)
}

/// Ends the open request of a person who has joined the team, by a link for instance.
pub(super) async fn settle(tx: &mut Tx, team: &str, account: &str) -> Result<(), Error> {
    let sql = "UPDATE team_request SET state = 'accepted', ended_at = $1 \
               WHERE team = $2 AND account = $3 AND state = 'open'";
    tx.execute(sql, args![clock::now(), team, account]).await.map(drop)
}

/// Ends the requests to a team that has no members any more.
pub(super) async fn end_all(tx: &mut Tx, team: &str) -> Result<(), Error> {
    let sql = "UPDATE team_request SET state = 'expired', ended_at = $1 WHERE team = $2 AND state = 'open'";
    tx.execute(sql, args![clock::now(), team]).await.map(drop)
}

/// Forgets the requests of a person.
pub async fn forget(tx: &mut Tx, account: &str) -> Result<(), Error> {
    tx.execute("DELETE FROM team_request WHERE account = $1", args![account]).await.map(drop)
}

/// Ends a request that no one has answered.
pub struct ExpireRequest;

impl Work for ExpireRequest {
    const KIND: &'static str = "team-request";
    const LANE: Lane = Lane::Errands;
    type Subject = String;
    type Output = ();

    async fn run(_: &App, _: &Job) -> Result<(), Failure> {
        Ok(())
    }

    async fn finish(app: &App, tx: &mut Tx, job: &Job, _: Result<(), String>) -> Result<()> {
        let sql = "UPDATE team_request SET state = 'expired', ended_at = $1 WHERE id = $2 AND state = 'open' \
                   RETURNING team, account";
        let ended: Option<(String, String)> =
            tx.fetch_optional(sql, args![clock::now(), &job.subject]).await?;
        let Some((team, account)) = ended else { return Ok(()) };
        tell_asker(tx, app, &team, &account, say("The team {} has not answered your request")).await
    }
}
