//! Tests that drive a whole site in their process, on SQLite and on PostgreSQL.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

mod accounts;
mod announcements;
mod apply;
mod away;
mod backup;
mod benchmarks;
mod boards;
mod cases;
mod client;
mod collections;
mod commands;
mod comparing;
mod deletion;
mod dense;
mod deploy;
mod disk;
mod entries;
mod halves;
mod hostile;
mod hosting;
mod images;
mod jobs;
mod judging;
mod kills;
mod life;
mod logs;
mod merging;
mod metrics;
mod moving;
mod openapi;
mod operation;
mod organise;
mod outbox;
mod paging;
mod processes;
mod providers;
mod queries;
mod races;
mod ratings;
mod real;
mod releases;
mod restarts;
mod routes;
#[cfg(feature = "s3")]
mod s3;
mod second_factor;
mod sentences;
mod settings;
mod strangers;
mod support;
mod tables;
mod team_requests;
#[cfg(feature = "otel")]
mod traces;
mod vectors;
