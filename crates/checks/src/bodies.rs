//! No body of a request or an answer of the server makes its type panic, and what is read can be written again.

use capeval_api as api;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn survives<T: DeserializeOwned + Serialize>(bytes: &[u8]) {
    let Ok(body) = serde_json::from_slice::<T>(bytes) else { return };
    let written = serde_json::to_value(&body).expect("a body is JSON");
    let again: T = serde_json::from_value(written.clone()).expect("the written body can be read");
    assert_eq!(serde_json::to_value(&again).expect("a body is JSON"), written);
}

pub fn check(bytes: &[u8]) {
    survives::<api::NewToken>(bytes);
    survives::<api::AccountLink>(bytes);
    survives::<api::NewAnnouncement>(bytes);
    survives::<api::NewCaption>(bytes);
    survives::<api::NewRating>(bytes);
    survives::<api::NewReport>(bytes);
    survives::<api::NewTeam>(bytes);
    survives::<api::NewRequest>(bytes);
    survives::<api::NewWebhook>(bytes);
    survives::<api::AboutChange>(bytes);
    survives::<api::Grant>(bytes);
    survives::<api::Limits>(bytes);
    survives::<api::Reason>(bytes);
    survives::<api::Board>(bytes);
    survives::<api::Submission>(bytes);
    survives::<api::Benchmark>(bytes);
    survives::<api::Collection>(bytes);
    survives::<api::Problem>(bytes);
    survives::<api::EntryComparison>(bytes);
    survives::<api::ComparedImages>(bytes);
    survives::<api::NewQuestion>(bytes);
    survives::<api::NewQuestionAnswer>(bytes);
    survives::<api::NewClaim>(bytes);
    survives::<api::NewParticipation>(bytes);
    survives::<api::QuestionChange>(bytes);
    survives::<api::AcceptedTerms>(bytes);
    survives::<api::GivenScores>(bytes);
    survives::<api::GivenFailure>(bytes);
    survives::<api::Entries>(bytes);
    survives::<api::Statistics>(bytes);
    survives::<api::JudgedSystem>(bytes);
}
