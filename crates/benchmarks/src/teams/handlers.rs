//! Teams on pages and by the API: a person's teams, invitations to them, and how people join or leave.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use capeval_api::{CreatedTeam, JoinRequest, NewTeam, OwnRequest, RequestState, Team, TeamInvitation, Teams};
use capeval_site::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

use super::records::{InvitationToTeam, OwnTeam};
use super::{merging, records, requests};

pub(super) fn routes() -> Vec<Route> {
    let (read, submit) = (Access::Person(Scope::Read), Access::Person(Scope::Submit));
    vec![
        get("/teams", read, "List your teams and their members", list).and("/api/v1/teams"),
        post("/teams", submit, "Create a team", create).and("/api/v1/teams"),
        post("/teams/{id}/invite", submit, "Create an invitation link to a team", invite)
            .and("/api/v1/teams/{id}/invites"),
        post("/teams/{id}/leave", submit, "Leave a team", leave),
        get("/teams/join/{secret}", read, "Show an invitation to a team", invitation),
        post("/teams/join/{secret}", submit, "Accept an invitation to a team", join),
    ]
}

#[derive(Template)]
#[template(path = "teams.html")]
struct TeamsPage<'a> {
    page: &'a Page,
    teams: &'a [Team],
    /// Requests that wait for an answer of the visitor or of another member.
    requests: &'a [JoinRequest],
    /// Requests of the visitor to other teams.
    own: &'a [OwnRequest],
    /// The name of a team that the visitor may want to join.
    team: &'a str,
    link: Option<String>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct TeamQuery {
    /// The name of a team, for the form to ask its members.
    team: String,
}

async fn list(
    app: App,
    page: Page,
    by: Visitor,
    UrlQuery(TeamQuery { team }): UrlQuery<TeamQuery>,
) -> Result<Answer<Teams>> {
    let (store, id) = (&app.store, &by.id);
    let (teams, requests) = (records::of_person(store, id).await?, requests::to_answer(store, id).await?);
    let own = requests::of_person(store, id).await?;
    let template =
        TeamsPage { page: &page, teams: &teams, requests: &requests, own: &own, team: &team, link: None };
    page.shows(&template, || Teams { teams: teams.clone(), requests: Some(requests.clone()) })
}

/// The page of one's teams after something was tried.
pub(super) async fn show(app: &App, page: &Page, by: &Visitor, link: Option<String>) -> Result<Response> {
    let teams = records::of_person(&app.store, &by.id).await?;
    let requests = requests::to_answer(&app.store, &by.id).await?;
    let own = requests::of_person(&app.store, &by.id).await?;
    page.show(&TeamsPage { page, teams: &teams, requests: &requests, own: &own, team: "", link })
}

async fn create(
    app: App,
    page: Page,
    by: Visitor,
    Body(team): Body<NewTeam>,
) -> Result<Created<CreatedTeam>> {
    match records::create(&app, &by, &team.name).await {
        Ok(id) => Ok(page.then("/teams?done=saved", &CreatedTeam { id })),
        Err(fault) => Ok(show(&app, &page.refused(fault)?, &by, None).await?.into()),
    }
}

async fn invite(
    app: App,
    page: Page,
    by: Visitor,
    Own(OwnTeam(team)): Own<OwnTeam>,
) -> Result<Created<TeamInvitation>> {
    let link = records::invite(&app, &by, &team).await?;
    Ok(match page.is_program() {
        true => Answer::json(&TeamInvitation { link }),
        false => show(&app, &page, &by, Some(link)).await?.into(),
    })
}

async fn leave(app: App, by: Visitor, Own(OwnTeam(team)): Own<OwnTeam>) -> Result<Redirect> {
    records::leave(&app, &by, &team).await?;
    Ok(Redirect::to("/teams?done=saved"))
}

#[derive(Template)]
#[template(path = "team-join.html")]
struct JoinTeam<'a> {
    page: &'a Page,
    invited: &'a InvitationToTeam,
    /// The ids and names of other teams that the visitor has made, which they may bring along.
    own: Vec<(String, String)>,
}

async fn invitation(
    app: App,
    page: Page,
    by: Visitor,
    Visible(invited): Visible<InvitationToTeam>,
) -> Result<Response> {
    show_invitation(&app, &page, &by, &invited).await
}

async fn show_invitation(
    app: &App,
    page: &Page,
    by: &Visitor,
    invited: &InvitationToTeam,
) -> Result<Response> {
    let own = records::made_by(&app.store, &by.id, &invited.team).await?;
    page.show(&JoinTeam { page, invited, own })
}

#[derive(Deserialize, JsonSchema)]
struct Along {
    /// The team to bring along; empty for none.
    #[serde(default)]
    team: String,
}

async fn join(
    app: App,
    page: Page,
    by: Visitor,
    Visible(invited): Visible<InvitationToTeam>,
    Body(along): Body<Along>,
) -> Result<Response> {
    let joined = match along.team.as_str() {
        "" => records::join(&app, &by, &invited).await,
        team => merging::merge(&app, &by, &invited, team).await,
    };
    match joined {
        Ok(()) => Ok(Redirect::to("/teams?done=joined").into_response()),
        Err(fault) if fault.status == StatusCode::CONFLICT => {
            show_invitation(&app, &page.refused(fault)?, &by, &invited).await
        }
        Err(fault) => Err(fault),
    }
}
