//! Benchmarks with hidden references, and collections of captions: accounts, uploads, quotas, scoring, boards.
//!
//! `main.rs` reads the command line; everything else is here, where tests can drive a whole server in their process.
//! Each folder is what a person would call a feature, with its pages, its API, its queries and its rules; `store` knows
//! none of them.
#![allow(missing_docs, reason = "no users outside of the workspace")]

pub mod accounts;
pub mod app;
pub mod audit;
pub mod backup;
pub mod benchmarks;
pub mod blobs;
#[cfg_attr(not(feature = "s3"), path = "bucket_disabled.rs")]
pub mod bucket;
mod clean_text;
pub mod clock;
pub mod collections;
pub mod commands;
mod connections;
mod counts;
mod demo;
mod doctor;
pub mod fault;
mod front;
pub mod health;
pub mod ids;
pub mod jobs;
mod labels;
pub mod named_files;
pub mod outbox;
mod personal_data;
pub mod reason;
pub mod request_id;
mod retryable;
pub mod serve;
pub mod settings;
mod space;
pub mod store;
#[cfg(debug_assertions)]
pub mod testing;
#[cfg_attr(not(feature = "otel"), path = "traces_disabled.rs")]
mod traces;
pub mod web;

use jobs::AnyWork;
use personal_data::PersonalData;

/// The kinds of work that jobs do.
pub const WORKS: &[AnyWork] = &[
    AnyWork::of::<accounts::deletion::FinishDeletion>(),
    AnyWork::of::<accounts::providers::ForgetAttempt>(),
    AnyWork::of::<accounts::links::SendPasswordLink>(),
    AnyWork::of::<benchmarks::scoring::PrepareSet>(),
    AnyWork::of::<benchmarks::scoring::ScoreSubmission>(),
    AnyWork::of::<benchmarks::scoring::CompareNeighbours>(),
    AnyWork::of::<benchmarks::entries::ComparePair>(),
    AnyWork::of::<benchmarks::entries::ContrastPair>(),
    AnyWork::of::<benchmarks::images::BuildImages>(),
    AnyWork::of::<benchmarks::dry_run::TryFile>(),
    AnyWork::of::<benchmarks::rescore::Rescore>(),
    AnyWork::of::<benchmarks::announcements::MailAnnouncement>(),
    AnyWork::of::<benchmarks::teams::requests::ExpireRequest>(),
    AnyWork::of::<benchmarks::judging::SampleCaptions>(),
    AnyWork::of::<collections::processing::ProcessPicture>(),
    AnyWork::of::<collections::processing::DiscardFile>(),
    AnyWork::of::<collections::import::removal::RemoveImport>(),
    AnyWork::of::<collections::release::build::BuildRelease>(),
    AnyWork::of::<collections::agreement::CorrelateCollection>(),
    AnyWork::of::<benchmarks::agreement::CorrelatePhase>(),
    AnyWork::of::<backup::nightly::NightlyBackup>(),
    AnyWork::of::<outbox::SendMessage>(),
];

/// The data that features keep about people.
pub const PERSONAL_DATA: &[&dyn PersonalData] =
    &[&benchmarks::OwnData, &collections::OwnData, &outbox::OwnData];
