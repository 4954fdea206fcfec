//! The participants of a benchmark as its hosts see them: what they accepted, and the requests that wait for an answer.

use askama::Template;
use axum::extract::Path;
use capeval_api::{AdmissionAnswer, Open, Participant, Participants, RequestState};
use capeval_site::prelude::*;

use super::requests;
use crate::records::SeenBenchmark;

pub(super) fn routes() -> Vec<Route> {
    let host = Access::Host;
    vec![
        get("/b/{slug}/participants", host, "List the people of a benchmark and what they accepted", list)
            .and("/api/v1/host/benchmarks/{slug}/participants"),
        post("/b/{slug}/participants/{id}/approve", host, "Approve a person", decide::<true>)
            .and("/api/v1/host/benchmarks/{slug}/participants/{id}/approve"),
        post(
            "/b/{slug}/participants/{id}/reject",
            host,
            "Refuse a person, also one who was approved",
            decide::<false>,
        )
        .and("/api/v1/host/benchmarks/{slug}/participants/{id}/reject"),
    ]
}

#[derive(Template)]
#[template(path = "participants.html")]
struct ParticipantsPage<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    people: &'a Rows<Participant>,
}

impl ParticipantsPage<'_> {
    /// The beginning of the addresses of other parts of the list.
    fn list(&self) -> String {
        self.seen.benchmark.address("participants?")
    }

    fn is(&self, person: &Participant, state: RequestState) -> bool {
        person.request.as_ref().and_then(Open::known) == Some(state)
    }
}

async fn list(app: App, page: Page, seen: Hosted<SeenBenchmark>, at: At) -> Result<Answer<Participants>> {
    let people = requests::page(&app.store, &seen.benchmark.id, at).await?;
    let template = ParticipantsPage { page: &page, seen: &seen, people: &people };
    page.shows(&template, || Participants { participants: people.rows.clone(), next: people.after.clone() })
}

async fn decide<const IS_ACCEPTED: bool>(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(seen): Hosted<SeenBenchmark>,
    Path((_, id)): Path<(String, String)>,
    Body(AdmissionAnswer { message }): Body<AdmissionAnswer>,
) -> Result<NoContent> {
    let state = if IS_ACCEPTED { RequestState::Accepted } else { RequestState::Refused };
    requests::answer(&app, &by, &seen.benchmark.id, &id, (state, &message)).await?;
    Ok(page.then(&seen.benchmark.address("participants?done=saved"), &()))
}
