//! Benchmarks with hidden references, and collections of captions: accounts, uploads, quotas, scoring, boards.
//!
//! `main.rs` reads the command line; everything else is here, so that tests can drive a whole server in their process.
//! Each folder is what a person would call a feature, with its pages, its API, its queries and its rules; `store` knows
//! none of them.

pub mod accounts;
pub mod app;
pub mod audit;
pub mod backup;
pub mod benchmarks;
pub mod blobs;
#[cfg_attr(not(feature = "s3"), path = "no_bucket.rs")]
pub mod bucket;
pub mod clock;
pub mod collections;
pub mod commands;
mod demo;
mod doctor;
pub mod fault;
mod health;
pub mod ids;
pub mod jobs;
pub mod outbox;
pub mod serve;
pub mod settings;
pub mod store;
pub mod web;

/// The kinds of work that jobs do.
pub const WORKS: &[jobs::Work] = &[
    accounts::deletion::WORK,
    benchmarks::scoring::PREPARE,
    benchmarks::scoring::SCORE,
    benchmarks::scoring::COMPARE,
    benchmarks::rescore::WORK,
    benchmarks::judging::WORK,
    collections::processing::WORK,
    collections::processing::DISCARD,
    collections::release::build::BUILD,
    collections::agreement::CORRELATE,
    collections::agreement::phase::CORRELATE,
    backup::nightly::WORK,
    outbox::WORK,
];
