//! Teams: made by people, joined by links, and entered into phases, where each person is in one team only.

use askama::Template;
use axum::extract::{Form, Json, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::merging;
use super::records::Phase;
use crate::accounts::invitations::Invitation;
use crate::accounts::{Role, Visitor, invitations, people};
use crate::app::App;
use crate::collections::agreement::phase as agreement;
use crate::fault;
use crate::fault::Fault;
use crate::store::{Error, Store, Tx};
use crate::web::route::{get, post};
use crate::web::{Access, Field, Page, Person, Route, Scope, Signed};
use crate::{args, audit, clock, ids};

/// The most members of a team.
pub(super) const MEMBERS: i64 = 50;

pub(super) fn routes() -> Vec<Route> {
    let (read, submit) = (Access::Person(Scope::Read), Access::Person(Scope::Submit));
    vec![
        get("/teams", read, "List your teams", list),
        post("/teams", submit, "Create a team", make),
        post("/teams/{id}/invite", submit, "Create an invitation link to a team", invite),
        post("/teams/{id}/leave", submit, "Leave a team", leave),
        get("/teams/join/{secret}", read, "Show an invitation to a team", join_form),
        post("/teams/join/{secret}", submit, "Accept an invitation to a team", join),
        get("/api/v1/teams", read, "List your teams and their members", list_as_json),
        post("/api/v1/teams", submit, "Create a team", make_as_json).takes([Field::text("name")]),
        post("/api/v1/teams/{id}/invites", submit, "Create an invitation link to a team", invite_as_json),
    ]
}

/// A team.
#[derive(Clone, Debug, Serialize)]
pub struct Team {
    /// The id.
    pub id: String,
    /// The name on boards.
    pub name: String,
    /// The names of its members.
    pub members: Vec<String>,
}

/// The teams of a person.
///
/// # Errors
/// If the database fails.
pub async fn of_person(store: &Store, account: &str) -> Result<Vec<Team>, Error> {
    let rows = store
        .all(
            "SELECT team.id AS id, team.name AS name, account.name AS member FROM team_member AS own \
             JOIN team ON team.id = own.team JOIN team_member AS other ON other.team = team.id \
             JOIN account ON account.id = other.account WHERE own.account = $1 ORDER BY team.id, other.joined_at",
            args![account],
        )
        .await?;
    let mut teams: Vec<Team> = Vec::new();
    for row in &rows {
        let id: String = row.get("id")?;
        if teams.last().is_none_or(|team| team.id != id) {
            teams.push(Team { id, name: row.get("name")?, members: Vec::new() });
        }
        if let Some(team) = teams.last_mut() {
            team.members.push(row.get("member")?);
        }
    }
    Ok(teams)
}

/// Makes a team with its maker as the only member.
///
/// # Errors
/// If the name is not one, or taken.
pub async fn add(tx: &mut Tx, account: &str, name: &str) -> Result<String, Fault> {
    let name = people::name(name)?;
    let (id, now) = (ids::new_id(), clock::now());
    let added = tx
        .execute(
            "INSERT INTO team (id, name, created_by, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO NOTHING",
            args![&id, &name, account, now],
        )
        .await?;
    if added == 0 {
        return Err(fault!(CONFLICT, "team-name", "The team name {} is already taken.", name));
    }
    add_member(tx, &id, account).await?;
    Ok(id)
}

async fn add_member(tx: &mut Tx, team: &str, account: &str) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO team_member (team, account, joined_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        args![team, account, clock::now()],
    )
    .await
    .map(drop)
}

/// Keeps a team as it is until the transaction ends, so that nobody joins or leaves while it enters a phase.
pub(super) async fn lock(tx: &mut Tx, team: &str) -> Result<(), Error> {
    let sql =
        tx.pick("SELECT id FROM team WHERE id = $1", "SELECT id FROM team WHERE id = $1 FOR NO KEY UPDATE");
    tx.first(sql, args![team]).await.map(drop)
}

async fn require_room(tx: &mut Tx, team: &str) -> Result<(), Fault> {
    let count = tx.first("SELECT COUNT(*) AS n FROM team_member WHERE team = $1", args![team]).await?;
    if count.map_or(Ok(0), |row| row.get::<i64>("n"))? >= MEMBERS {
        return Err(fault!(CONFLICT, "team-full", "A team has at most {} members.", MEMBERS));
    }
    Ok(())
}

pub(super) async fn is_member(tx: &mut Tx, team: &str, account: &str) -> Result<bool, Error> {
    let row = tx
        .first("SELECT 1 AS one FROM team_member WHERE team = $1 AND account = $2", args![team, account])
        .await?;
    Ok(row.is_some())
}

/// The team with which a person takes part in a phase.
///
/// # Errors
/// If the database fails.
pub async fn in_phase(store: &Store, phase: &str, account: &str) -> Result<Option<Team>, Error> {
    let row = store
        .first(
            "SELECT team.id AS id, team.name AS name FROM entry_member JOIN team ON team.id = entry_member.team \
             WHERE entry_member.phase = $1 AND entry_member.account = $2",
            args![phase, account],
        )
        .await?;
    row.map(|row| Ok(Team { id: row.get("id")?, name: row.get("name")?, members: Vec::new() })).transpose()
}

/// Enters a person into a phase, with the team that was chosen, or else with their only team, or a new one of their
/// own. Who takes part already stays in their team.
///
/// # Errors
/// If they chose another team than the one they take part with, or a team of which a member takes part with another, or
/// their account was disabled meanwhile.
pub async fn enter(
    tx: &mut Tx,
    phase: &Phase,
    visitor: &Visitor,
    chosen: Option<&str>,
) -> Result<String, Fault> {
    // Two first submissions of a person at once must not make two teams.
    let account = tx.pick(
        "SELECT id FROM account WHERE id = $1",
        "SELECT id FROM account WHERE id = $1 FOR NO KEY UPDATE",
    );
    tx.first(account, args![&visitor.id]).await?;
    people::require_enabled(tx, &visitor.id).await?;
    let own = tx
        .first(
            "SELECT team FROM entry_member WHERE phase = $1 AND account = $2",
            args![&phase.id, &visitor.id],
        )
        .await?;
    if let Some(row) = own {
        let team: String = row.get("team")?;
        if chosen.is_some_and(|chosen| chosen != team) {
            return Err(fault!(
                CONFLICT,
                "other-team",
                "You already take part in this phase with another team."
            ));
        }
        return Ok(team);
    }
    let team = match chosen {
        Some(team) => team.to_owned(),
        None => {
            let teams =
                tx.all("SELECT team FROM team_member WHERE account = $1 LIMIT 2", args![&visitor.id]).await?;
            match &teams[..] {
                [] => add_own(tx, visitor).await?,
                [only] => only.get("team")?,
                _ => {
                    return Err(fault!(
                        UNPROCESSABLE_ENTITY,
                        "choose-team",
                        "You are in several teams. Choose one."
                    ));
                }
            }
        }
    };
    lock(tx, &team).await?;
    if !is_member(tx, &team, &visitor.id).await? {
        return Err(Fault::not_found());
    }
    tx.execute(
        "INSERT INTO entry (phase, team, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        args![&phase.id, &team, clock::now()],
    )
    .await?;
    for member in members(tx, &team).await? {
        enter_member(tx, &phase.id, &team, &member).await?;
    }
    audit::note(tx, Some(&visitor.id), "phase.enter", &phase.id, json!({ "team": team })).await?;
    Ok(team)
}

/// The accounts of a team.
pub(super) async fn members(tx: &mut Tx, team: &str) -> Result<Vec<String>, Error> {
    let sql = "SELECT account FROM team_member WHERE team = $1 ORDER BY account";
    tx.all(sql, args![team]).await?.iter().map(|row| row.get("account")).collect()
}

pub(super) async fn enter_member(tx: &mut Tx, phase: &str, team: &str, account: &str) -> Result<(), Fault> {
    let entered = tx
        .execute(
            "INSERT INTO entry_member (phase, account, team) VALUES ($1, $2, $3) \
             ON CONFLICT (phase, account) DO UPDATE SET team = entry_member.team WHERE entry_member.team = $3",
            args![phase, account, team],
        )
        .await?;
    if entered == 0 {
        return Err(fault!(
            CONFLICT,
            "member-elsewhere",
            "A member already takes part in a phase with another team."
        ));
    }
    Ok(())
}

/// A team named after its only member, with a number if there is one of that name.
async fn add_own(tx: &mut Tx, visitor: &Visitor) -> Result<String, Fault> {
    let [name, numbered] = names_of_own(&visitor.name, &visitor.id);
    let taken = tx.first("SELECT 1 AS one FROM team WHERE name = $1", args![&name]).await?.is_some();
    add(tx, &visitor.id, if taken { &numbered } else { &name }).await
}

/// The names that a team of one person gets: their own, and that with a number.
pub(super) fn names_of_own(name: &str, account: &str) -> [String; 2] {
    let short: String = name.chars().take(70).collect();
    [name.to_owned(), format!("{short} {}", &account[account.len().saturating_sub(6)..])]
}

/// Takes its name from a team that a person has made and that has no members.
///
/// # Errors
/// If the database fails.
pub(super) async fn take_name(tx: &mut Tx, account: &str, name: &str) -> Result<(), Error> {
    let renamed = tx
        .first(
            "UPDATE team SET name = 'Team ' || id WHERE created_by = $1 AND name = $2 \
             AND NOT EXISTS (SELECT 1 FROM team_member WHERE team_member.team = team.id) RETURNING id",
            args![account, name],
        )
        .await?;
    let Some(team) = renamed else { return Ok(()) };
    let team: String = team.get("id")?;
    for entry in tx.all("SELECT phase FROM entry WHERE team = $1", args![team]).await? {
        agreement::forget(tx, &entry.get::<String>("phase")?).await?;
    }
    Ok(())
}

#[derive(Template)]
#[template(path = "teams.html")]
struct Teams<'a> {
    page: &'a Page,
    teams: Vec<Team>,
    link: Option<String>,
    problem: Option<String>,
}

async fn list(signed: Signed) -> Result<Response, Fault> {
    show(&signed, None, None).await
}

async fn show(
    Signed { app, page, visitor }: &Signed,
    link: Option<String>,
    problem: Option<&Fault>,
) -> Result<Response, Fault> {
    let teams = of_person(&app.store, &visitor.id).await?;
    let shown = page.show(&Teams { page, teams, link, problem: problem.map(|fault| page.fault(fault)) })?;
    Ok((problem.map_or(StatusCode::OK, |fault| fault.status), shown).into_response())
}

#[derive(Deserialize)]
struct NewTeam {
    name: String,
}

async fn make_team(app: &App, visitor: &Visitor, name: &str) -> Result<String, Fault> {
    let mut tx = app.store.begin().await?;
    let id = add(&mut tx, &visitor.id, name).await?;
    audit::note(&mut tx, Some(&visitor.id), "team.add", &id, json!({})).await?;
    tx.commit().await?;
    Ok(id)
}

async fn make(signed: Signed, Form(given): Form<NewTeam>) -> Result<Response, Fault> {
    match make_team(&signed.app, &signed.visitor, &given.name).await {
        Ok(_) => Ok(Redirect::to("/teams?done=saved").into_response()),
        Err(fault) => show(&signed, None, Some(&fault)).await,
    }
}

async fn make_invitation(app: &App, visitor: &Visitor, team: &str) -> Result<String, Fault> {
    let mut tx = app.store.begin().await?;
    if !is_member(&mut tx, team, &visitor.id).await? {
        return Err(Fault::not_found());
    }
    require_room(&mut tx, team).await?;
    let path = invitations::add(&mut tx, Some(&visitor.id), Role::Member, Some(team)).await?;
    tx.commit().await?;
    Ok(app.settings.url(&path))
}

async fn invite(signed: Signed, Path(id): Path<String>) -> Result<Response, Fault> {
    let link = make_invitation(&signed.app, &signed.visitor, &id).await?;
    show(&signed, Some(link), None).await
}

async fn leave(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let mut tx = app.store.begin().await?;
    lock(&mut tx, &id).await?;
    if !is_member(&mut tx, &id, &visitor.id).await? {
        return Err(Fault::not_found());
    }
    // Whoever has taken part in a phase stays in it, so that nobody gets a second quota by leaving.
    let entered = tx
        .first("SELECT 1 AS one FROM entry_member WHERE team = $1 AND account = $2", args![&id, &visitor.id])
        .await?;
    if entered.is_some() {
        return Err(fault!(
            CONFLICT,
            "entered",
            "You cannot leave this team, because it takes part in a phase."
        ));
    }
    tx.execute("DELETE FROM team_member WHERE team = $1 AND account = $2", args![&id, &visitor.id]).await?;
    audit::note(&mut tx, Some(&visitor.id), "team.leave", &id, json!({})).await?;
    tx.commit().await?;
    Ok(Redirect::to("/teams?done=saved").into_response())
}

#[derive(Template)]
#[template(path = "team-join.html")]
struct JoinTeam<'a> {
    page: &'a Page,
    team: &'a str,
    action: &'a str,
    /// The ids and names of other teams that the visitor has made, which they may bring along.
    own: Vec<(String, String)>,
    problem: Option<String>,
}

async fn join_form(signed: Signed, Path(secret): Path<String>) -> Result<Response, Fault> {
    show_invitation(&signed, &secret, None).await
}

async fn show_invitation(
    Signed { app, page, visitor }: &Signed,
    secret: &str,
    problem: Option<&Fault>,
) -> Result<Response, Fault> {
    let invitation = invitations::find(&app.store, secret).await?;
    let team = invitation.team.ok_or_else(Fault::not_found)?;
    let row = app.store.first("SELECT name FROM team WHERE id = $1", args![&team]).await?;
    let name: String = row.ok_or_else(Fault::not_found)?.get("name")?;
    let rows = app
        .store
        .all(
            "SELECT team.id, team.name FROM team_member JOIN team ON team.id = team_member.team \
             WHERE team_member.account = $1 AND team.created_by = $1 AND team.id <> $2 ORDER BY team.id",
            args![&visitor.id, &team],
        )
        .await?;
    let own: Result<_, Error> = rows.iter().map(|row| Ok((row.get("id")?, row.get("name")?))).collect();
    let action = &format!("/teams/join/{secret}");
    let problem_text = problem.map(|fault| page.fault(fault));
    let shown = page.show(&JoinTeam { page, team: &name, action, own: own?, problem: problem_text })?;
    Ok((problem.map_or(StatusCode::OK, |fault| fault.status), shown).into_response())
}

#[derive(Deserialize)]
struct Along {
    /// The team to bring along; empty for none.
    #[serde(default)]
    team: String,
}

async fn join(
    signed: Signed,
    Path(secret): Path<String>,
    Form(along): Form<Along>,
) -> Result<Response, Fault> {
    let Signed { app, visitor, .. } = &signed;
    let invitation = invitations::find(&app.store, &secret).await?;
    let joined = match along.team.as_str() {
        "" => join_alone(app, visitor, &invitation).await,
        team => merging::merge(app, visitor, &invitation, team).await,
    };
    match joined {
        Ok(()) => Ok(Redirect::to("/teams?done=joined").into_response()),
        Err(fault) if fault.status == StatusCode::CONFLICT => {
            show_invitation(&signed, &secret, Some(&fault)).await
        }
        Err(fault) => Err(fault),
    }
}

async fn join_alone(app: &App, visitor: &Visitor, invitation: &Invitation) -> Result<(), Fault> {
    let team = invitation.team.clone().ok_or_else(Fault::not_found)?;
    let mut tx = app.store.begin().await?;
    invitations::take(&mut tx, invitation, &visitor.id).await?;
    lock(&mut tx, &team).await?;
    require_room(&mut tx, &team).await?;
    add_member(&mut tx, &team, &visitor.id).await?;
    for entry in tx.all("SELECT phase FROM entry WHERE team = $1", args![&team]).await? {
        enter_member(&mut tx, &entry.get::<String>("phase")?, &team, &visitor.id).await?;
    }
    audit::note(&mut tx, Some(&visitor.id), "team.join", &team, json!({})).await?;
    tx.commit().await?;
    Ok(())
}

async fn list_as_json(State(app): State<App>, Person(visitor): Person) -> Result<Response, Fault> {
    Ok(Json(json!({ "teams": of_person(&app.store, &visitor.id).await? })).into_response())
}

async fn make_as_json(
    State(app): State<App>,
    Person(visitor): Person,
    Json(given): Json<NewTeam>,
) -> Result<Response, Fault> {
    let id = make_team(&app, &visitor, &given.name).await?;
    Ok((StatusCode::CREATED, Json(json!({ "id": id }))).into_response())
}

async fn invite_as_json(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let link = make_invitation(&app, &visitor, &id).await?;
    Ok((StatusCode::CREATED, Json(json!({ "link": link }))).into_response())
}
