//! Tests that drive a whole site in their process, on SQLite and on PostgreSQL.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

mod accounts;
mod apply;
mod backup;
mod benchmarks;
mod collections;
mod commands;
mod hostile;
mod jobs;
mod kills;
mod life;
mod outbox;
mod ratings;
mod real;
mod releases;
mod routes;
mod support;
