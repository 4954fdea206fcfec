//! Requests to join a team, on the page of teams and by the API.

use axum::extract::Path;
use capeval_api::{CreatedRequest, NewRequest, OwnRequests};
use capeval_site::prelude::*;

use super::handlers::show;
use super::records::OwnTeam;
use super::requests::{self, OwnRequestId};

pub(super) fn routes() -> Vec<Route> {
    let (read, submit) = (Access::Person(Scope::Read), Access::Person(Scope::Submit));
    vec![
        get("/api/v1/me/team-requests", read, "List your requests to join teams", list),
        post("/teams/requests", submit, "Ask to join a team", ask).and("/api/v1/me/team-requests"),
        post("/teams/requests/{id}/withdraw", submit, "Withdraw a request to join a team", withdraw)
            .and("/api/v1/me/team-requests/{id}/withdraw"),
        post(
            "/teams/{id}/requests/{request}/accept",
            submit,
            "Accept a request to join your team",
            decide::<true>,
        )
        .and("/api/v1/teams/{id}/requests/{request}/accept"),
        post(
            "/teams/{id}/requests/{request}/refuse",
            submit,
            "Refuse a request to join your team",
            decide::<false>,
        )
        .and("/api/v1/teams/{id}/requests/{request}/refuse"),
    ]
}

async fn list(app: App, by: Visitor) -> Result<Answer<OwnRequests>> {
    Ok(Answer::json(&OwnRequests { requests: requests::of_person(&app.store, &by.id).await? }))
}

async fn ask(
    app: App,
    page: Page,
    by: Visitor,
    Body(new): Body<NewRequest>,
) -> Result<Created<CreatedRequest>> {
    match requests::ask(&app, &by, &new.team, &new.message).await {
        Ok(id) => Ok(page.then("/teams?done=asked", &CreatedRequest { id })),
        Err(fault) => Ok(show(&app, &page.refused(fault)?, &by, None).await?.into()),
    }
}

async fn withdraw(app: App, page: Page, by: Visitor, Own(request): Own<OwnRequestId>) -> Result<NoContent> {
    answer(&app, &page, &by, requests::withdraw(&app, &by, &request).await).await
}

/// Accepts or refuses a request.
async fn decide<const IS_ACCEPTED: bool>(
    app: App,
    page: Page,
    by: Visitor,
    Own(OwnTeam(team)): Own<OwnTeam>,
    Path((_, request)): Path<(String, String)>,
) -> Result<NoContent> {
    let outcome = match IS_ACCEPTED {
        true => requests::accept(&app, &by, &team, &request).await,
        false => requests::refuse(&app, &by, &team, &request).await,
    };
    answer(&app, &page, &by, outcome).await
}

/// The page of teams, with what was wrong with an answer.
async fn answer(app: &App, page: &Page, by: &Visitor, outcome: Result<()>) -> Result<NoContent> {
    match outcome {
        Ok(()) => Ok(page.then("/teams?done=saved", &())),
        Err(fault) if fault.status == axum::http::StatusCode::CONFLICT => {
            Ok(show(app, &page.refused(fault)?, by, None).await?.into())
        }
        Err(fault) => Err(fault),
    }
}
