//! Teams in the database, and the rules of who may join them, leave them, and take part in a phase with them.

use capeval_api::Team;
use capeval_site::accounts::invitations::Invitation;
use capeval_site::accounts::{Role, invitations};
use capeval_site::prelude::*;
use serde_json::json;

use super::{names, requests};
use crate::settings::Phase;
use crate::{admission, board, notes, quota};

/// The most members of a team.
pub(super) const MEMBERS: i64 = 50;

/// The id of a team of the visitor.
pub struct OwnTeam(pub String);

/// `{id}`
impl Subject for OwnTeam {
    const KIND: &'static str = "team";

    async fn find(app: &App, names: &Names, visitor: Option<&Visitor>) -> Result<Self> {
        let (id, visitor) = (names.require("id")?, visitor.ok_or_else(Fault::not_found)?);
        let sql = "SELECT team FROM team_member WHERE team = $1 AND account = $2";
        let team = app.store.fetch_optional(sql, args![id, &visitor.id]).await?;
        team.map(Self).ok_or_else(Fault::not_found)
    }

    fn standing(&self) -> Standing {
        Standing::Owns
    }
}

/// An invitation to a team, which everyone who has its link may use.
pub struct InvitationToTeam {
    pub invitation: Invitation,
    pub secret: String,
    /// The id of the team.
    pub team: String,
    /// The name of the team.
    pub name: String,
}

/// `{secret}`
impl Subject for InvitationToTeam {
    const KIND: &'static str = "invitation to a team";

    async fn find(app: &App, names: &Names, _: Option<&Visitor>) -> Result<Self> {
        let secret = names.require("secret")?.to_owned();
        let invitation = invitations::find(&app.store, &secret).await?;
        let team = invitation.team.clone().ok_or_else(Fault::not_found)?;
        let name = app.store.fetch_optional("SELECT name FROM team WHERE id = $1", args![&team]).await?;
        Ok(Self { invitation, secret, team, name: name.ok_or_else(Fault::not_found)? })
    }

    fn standing(&self) -> Standing {
        Standing::Sees
    }
}

/// The teams of a person.
pub async fn of_person(store: &Store, account: &str) -> Result<Vec<Team>, Error> {
    let sql = "SELECT team.id, team.name, account.name FROM team_member AS own \
               JOIN team ON team.id = own.team JOIN team_member AS other ON other.team = team.id \
               JOIN account ON account.id = other.account WHERE own.account = $1 ORDER BY team.id, other.joined_at";
    let members: Vec<(String, String, String)> = store.fetch(sql, args![account]).await?;
    let mut teams: Vec<Team> = Vec::new();
    for (id, name, member) in members {
        match teams.last_mut().filter(|team| team.id == id) {
            Some(team) => team.members.push(member),
            None => teams.push(Team { id, name, members: vec![member] }),
        }
    }
    Ok(teams)
}

/// The ids and names of the teams that a person has made and is in, but for one.
pub(super) async fn made_by(
    store: &Store,
    account: &str,
    other: &str,
) -> Result<Vec<(String, String)>, Error> {
    let sql = "SELECT team.id, team.name FROM team_member JOIN team ON team.id = team_member.team \
               WHERE team_member.account = $1 AND team.created_by = $1 AND team.id <> $2 ORDER BY team.id";
    store.fetch(sql, args![account, other]).await
}

/// Makes a team with its maker as the only member.
async fn add(tx: &mut Tx, account: &str, name: &str) -> Result<String> {
    let name = names::checked(name)?;
    let (id, now) = (ids::new_id(), clock::now());
    if !tx.add_row("team", columns! { id: &id, name: &name, created_by: account, created_at: now }).await? {
        return Err(fault!(CONFLICT, "team-name", "The team name {} is already taken.", name));
    }
    names::claim(tx, &id, &name).await?;
    add_member(tx, &id, account).await?;
    Ok(id)
}

async fn add_member(tx: &mut Tx, team: &str, account: &str) -> Result<(), Error> {
    tx.add_row("team_member", columns! { team, account, joined_at: clock::now() }).await.map(drop)
}

/// Makes a team, and returns its id.
pub async fn create(app: &App, visitor: &Visitor, name: &str) -> Result<String> {
    let mut tx = app.store.begin().await?;
    tx.lock("account", &visitor.id).await?;
    let most = app.settings.number(&crate::TEAMS_PER_PERSON);
    let made = "SELECT COUNT(*) FROM team WHERE created_by = $1";
    if tx.fetch_one::<i64>(made, args![&visitor.id]).await? >= i64::from(most) {
        return Err(fault!(CONFLICT, "teams", "You have made as many teams as this site allows: {}.", most));
    }
    let id = add(&mut tx, &visitor.id, name).await?;
    notes::note(&mut tx, Some(&visitor.id), "team.add", &id, json!({})).await?;
    tx.commit().await?;
    Ok(id)
}

/// Makes a link by which a person joins a team.
pub(super) async fn invite(app: &App, visitor: &Visitor, team: &str) -> Result<String> {
    let mut tx = app.store.begin().await?;
    require_room(&mut tx, team).await?;
    let path = invitations::add(&mut tx, Some(&visitor.id), Role::Member, Some(team)).await?;
    tx.commit().await?;
    Ok(app.settings.url(&path))
}

/// Takes a person out of a team that has entered no phase with them.
pub(super) async fn leave(app: &App, visitor: &Visitor, team: &str) -> Result<()> {
    let mut tx = app.store.begin().await?;
    lock(&mut tx, team).await?;
    // Leaving must not give a person a second quota of a phase.
    let entered = "SELECT 1 FROM entry_member WHERE team = $1 AND account = $2";
    if tx.exists(entered, args![team, &visitor.id]).await? {
        return Err(fault! {
            CONFLICT, "entered", "You cannot leave this team, because it takes part in a phase."
        });
    }
    let left = "DELETE FROM team_member WHERE team = $1 AND account = $2";
    if tx.execute(left, args![team, &visitor.id]).await? == 0 {
        return Err(Fault::not_found());
    }
    notes::note(&mut tx, Some(&visitor.id), "team.leave", team, json!({})).await?;
    Ok(tx.commit().await?)
}

/// Adds a person to the team that has invited them, and to the phases that it has entered.
pub(super) async fn join(app: &App, visitor: &Visitor, invited: &InvitationToTeam) -> Result<()> {
    let team = &invited.team;
    let mut tx = app.store.begin().await?;
    tx.lock("account", &visitor.id).await?;
    invitations::take(&mut tx, &invited.invitation, &visitor.id).await?;
    lock(&mut tx, team).await?;
    admit(&mut tx, app, team, &visitor.id).await?;
    notes::note(&mut tx, Some(&visitor.id), "team.join", team, json!({})).await?;
    Ok(tx.commit().await?)
}

/// Adds a person to a team, both of which are locked, and to the phases that it has entered.
///
/// # Errors
/// If the team is full, if the person is in too many teams, or takes part in one of the phases with another.
pub(super) async fn admit(tx: &mut Tx, app: &App, team: &str, account: &str) -> Result<()> {
    require_room(tx, team).await?;
    if !is_member(tx, team, account).await? {
        require_place(tx, app, account).await?;
    }
    add_member(tx, team, account).await?;
    for phase in phases(tx, team).await? {
        enter_member(tx, &phase, team, account).await?;
        admission::require_team_size(tx, &phase, team).await?;
    }
    requests::settle(tx, team, account).await?;
    Ok(())
}

/// Refuses another team to a person who is in as many as the site allows.
pub(super) async fn require_place(tx: &mut Tx, app: &App, account: &str) -> Result<()> {
    let most = app.settings.number(&crate::TEAMS_PER_PERSON);
    let teams: i64 =
        tx.fetch_one("SELECT COUNT(*) FROM team_member WHERE account = $1", args![account]).await?;
    if teams >= i64::from(most) {
        return Err(fault!(CONFLICT, "teams", "A person can be in at most {} teams on this site.", most));
    }
    Ok(())
}

/// Keeps a team as it is until the transaction ends: while it enters a phase, no member joins or leaves. Who also locks
/// a person does that first.
pub(super) async fn lock(tx: &mut Tx, team: &str) -> Result<(), Error> {
    tx.lock("team", team).await
}

async fn require_room(tx: &mut Tx, team: &str) -> Result<()> {
    let members: i64 = tx.fetch_one("SELECT COUNT(*) FROM team_member WHERE team = $1", args![team]).await?;
    if members >= MEMBERS {
        return Err(fault!(CONFLICT, "team-full", "A team has at most {} members.", MEMBERS));
    }
    Ok(())
}

pub(super) async fn is_member(tx: &mut Tx, team: &str, account: &str) -> Result<bool, Error> {
    tx.exists("SELECT 1 FROM team_member WHERE team = $1 AND account = $2", args![team, account]).await
}

/// The id and the name of the team with which a person takes part in a phase.
pub async fn in_phase(store: &Store, phase: &str, account: &str) -> Result<Option<(String, String)>, Error> {
    let sql = "SELECT team.id, team.name FROM entry_member JOIN team ON team.id = entry_member.team \
               WHERE entry_member.phase = $1 AND entry_member.account = $2";
    store.fetch_optional(sql, args![phase, account]).await
}

/// Enters a person into a phase, with the team that was chosen, or else with their only team, or a new one of their
/// own. Who takes part already stays in their team.
///
/// # Errors
/// If they chose another team than the one they take part with, or a team of which a member takes part with another, or
/// their account has been disabled.
pub async fn enter(tx: &mut Tx, phase: &Phase, visitor: &Visitor, chosen: Option<&str>) -> Result<String> {
    // Two first submissions of a person at once must not make two teams.
    tx.lock("account", &visitor.id).await?;
    people::require_enabled(tx, &visitor.id).await?;
    let own = "SELECT team FROM entry_member WHERE phase = $1 AND account = $2";
    if let Some(team) = tx.fetch_optional::<String>(own, args![&phase.id, &visitor.id]).await? {
        if chosen.is_some_and(|chosen| chosen != team) {
            return Err(fault! {
                CONFLICT, "other-team", "You already take part in this phase with another team."
            });
        }
        return Ok(team);
    }
    let team = match chosen {
        Some(team) => team.to_owned(),
        None => only_team(tx, visitor).await?,
    };
    lock(tx, &team).await?;
    if !is_member(tx, &team, &visitor.id).await? {
        let called = "SELECT team.id FROM team JOIN team_member ON team_member.team = team.id \
                      WHERE team.name = $1 AND team_member.account = $2";
        let id: Option<String> = tx.fetch_optional(called, args![&team, &visitor.id]).await?;
        return Err(id.map_or_else(Fault::not_found, |id| {
            fault! {
                UNPROCESSABLE_ENTITY, "team-id", "{} is the name of a team. Give its id instead: {}", team, id
            }
        }));
    }
    tx.add_row("entry", columns! { phase: &phase.id, team: &team, created_at: clock::now() }).await?;
    for member in members(tx, &team).await? {
        enter_member(tx, &phase.id, &team, &member).await?;
    }
    admission::require_team_size(tx, &phase.id, &team).await?;
    notes::note(tx, Some(&visitor.id), "phase.enter", &phase.id, json!({ "team": team })).await?;
    Ok(team)
}

/// The only team of a person, which is made if they have none.
async fn only_team(tx: &mut Tx, visitor: &Visitor) -> Result<String> {
    let sql = "SELECT team FROM team_member WHERE account = $1 LIMIT 2";
    let mut teams: Vec<String> = tx.fetch(sql, args![&visitor.id]).await?;
    match (teams.pop(), teams.is_empty()) {
        (None, _) => add_own(tx, visitor).await,
        (Some(only), true) => Ok(only),
        (Some(_), false) => {
            Err(fault!(UNPROCESSABLE_ENTITY, "choose-team", "You are in several teams. Choose one."))
        }
    }
}

/// The accounts of a team.
pub(super) async fn members(tx: &mut Tx, team: &str) -> Result<Vec<String>, Error> {
    tx.fetch("SELECT account FROM team_member WHERE team = $1 ORDER BY account", args![team]).await
}

/// The phases that a team has entered.
async fn phases(tx: &mut Tx, team: &str) -> Result<Vec<String>, Error> {
    tx.fetch("SELECT phase FROM entry WHERE team = $1", args![team]).await
}

pub(super) async fn enter_member(tx: &mut Tx, phase: &str, team: &str, account: &str) -> Result<()> {
    let known = "SELECT 1 FROM entry_member WHERE phase = $1 AND account = $2";
    let is_new = !tx.exists(known, args![phase, account]).await?;
    let sql = "INSERT INTO entry_member (phase, account, team) VALUES ($1, $2, $3) \
               ON CONFLICT (phase, account) DO UPDATE SET team = entry_member.team WHERE entry_member.team = $3";
    let entered = tx.execute(sql, args![phase, account, team]).await?;
    if entered == 0 {
        return Err(fault! {
            CONFLICT, "member-elsewhere", "A member already takes part in a phase with another team."
        });
    }
    if is_new {
        bring_quotas(tx, phase, team, account).await?;
    }
    Ok(())
}

/// Counts for a team what the address of a new member has used of its quota before, with other accounts.
async fn bring_quotas(tx: &mut Tx, phase: &str, team: &str, account: &str) -> Result<(), Error> {
    let email: String = tx.fetch_one("SELECT email FROM account WHERE id = $1", args![account]).await?;
    let sql = "SELECT former_address.account, former_address.hash, entry_member.team FROM entry_member \
               JOIN former_address ON former_address.account = entry_member.account WHERE entry_member.phase = $1 \
               AND entry_member.team <> $2 ORDER BY former_address.account, former_address.hash";
    let others: Vec<(String, String, String)> = tx.fetch(sql, args![phase, team]).await?;
    for (earlier, hash, from) in others {
        if people::address_hash(&earlier, &email) == hash {
            quota::bring(tx, phase, &from, team).await?;
        }
    }
    Ok(())
}

/// A team named after its only member, with a number if there is one of that name.
async fn add_own(tx: &mut Tx, visitor: &Visitor) -> Result<String> {
    let [name, numbered] = names_of_own(&visitor.name, &visitor.id);
    let name = if names::is_free(tx, &name).await? { name } else { numbered };
    add(tx, &visitor.id, &name).await
}

/// The names that a team of one person gets: their own, or `Team`, and that with a number.
pub fn names_of_own(name: &str, account: &str) -> [String; 2] {
    let number = &account[account.len().saturating_sub(6)..];
    match names::of_person(name) {
        Some(name) => [name.clone(), format!("{} {number}", name.chars().take(70).collect::<String>())],
        None => [format!("Team {number}"), format!("Team {account}")],
    }
}

/// Takes its name from a team that a person has made and that has no members.
pub async fn take_name(tx: &mut Tx, account: &str, name: &str) -> Result<()> {
    let sql = "UPDATE team SET name = 'Team ' || id WHERE created_by = $1 AND name = $2 \
               AND NOT EXISTS (SELECT 1 FROM team_member WHERE team_member.team = team.id) RETURNING id";
    let Some(team) = tx.fetch_optional::<String>(sql, args![account, name]).await? else { return Ok(()) };
    names::claim(tx, &team, &format!("Team {team}")).await?;
    for phase in phases(tx, &team).await? {
        board::forget_agreement(tx, &phase).await?;
        board::outdate(tx, &phase).await?;
    }
    Ok(())
}
