//! Benchmarks: phases with hidden references, submissions within quotas, scores and boards.
#![allow(missing_docs, reason = "no users outside of the workspace")]

pub mod about;
pub mod admission;
pub mod agreement;
pub mod announcements;
mod appearance;
pub mod apply;
pub mod board;
pub mod bundles;
pub mod counts;
mod dry_run;
pub mod entries;
pub mod expected;
pub mod exports;
pub mod files;
pub mod halves;
mod host;
pub mod hosting;
pub mod images;
mod invariants;
pub mod judging;
mod notes;
pub mod notifications;
mod organise;
mod own_data;
mod pages;
mod pictures;
pub mod plan;
mod programs;
mod qualifying;
pub mod questions;
pub mod quota;
pub mod records;
pub mod rescore;
pub mod scoring;
pub mod settings;
pub mod source;
mod statistics;
pub mod submissions;
pub mod submit;
pub mod teams;
pub mod upload;
pub mod validation;
mod webhook_records;
mod webhooks;
mod when;
pub mod workers;

use capeval_api::Scope;
use capeval_site::feature::{Feature, Guide};
use capeval_site::jobs::AnyWork;
use capeval_site::settings::NumberSetting;
use capeval_site::web::language::say;
use capeval_site::web::{Access, MenuItem, Route};
use capeval_site::{file_columns, migrations};

#[cfg(fuzzing)]
pub use organise::of_fields;
pub use own_data::OwnData;

pub static CAPTIONS_MAX: NumberSetting = NumberSetting {
    name: "captions_max",
    default: 1_000_000,
    about: "largest number of captions in an upload",
};

pub static TEAMS_PER_PERSON: NumberSetting =
    NumberSetting { name: "teams_per_person", default: 20, about: "teams that a person may make, or be in" };

/// Benchmarks as a feature.
pub static FEATURE: Feature = Feature {
    migrations: migrations!(
        "benchmarks": "benchmarks" "admission" "teams" "submissions" "scores" "judging" "workers" "questions"
        "qualifying" "statistics"
    ),
    sentences: include_str!("../locales/zh.toml"),
    invariants: invariants::ALL,
    files: file_columns! {
        "submission" "blob" visible;
        "submission" "upload" visible;
        "image_result" "page" visible;
        "image_result" "lines" visible;
        "dry_run" "blob" visible;
        "given_values" "blob" visible;
        "phase_file" "blob" visible;
        "benchmark" "logo_hash" visible;
        "reference_set" "source_hash" hidden;
        "reference_set" "prepared_hash" hidden;
        "reference_set" "ids_hash" hidden;
        "phase" "vectors_hash" hidden;
        "phase" "public_ids_hash" hidden;
        "phase" "program_hash" hidden;
    },
    routes,
    works: &[
        AnyWork::of::<scoring::PrepareSet>(),
        AnyWork::of::<scoring::ScoreSubmission>(),
        AnyWork::of::<scoring::CompareNeighbours>(),
        AnyWork::of::<entries::ComparePair>(),
        AnyWork::of::<entries::ContrastPair>(),
        AnyWork::of::<images::BuildImages>(),
        AnyWork::of::<dry_run::TryFile>(),
        AnyWork::of::<rescore::Rescore>(),
        AnyWork::of::<announcements::MailAnnouncement>(),
        AnyWork::of::<teams::requests::ExpireRequest>(),
        AnyWork::of::<qualifying::OpenByRank>(),
        AnyWork::of::<judging::SampleCaptions>(),
        AnyWork::of::<agreement::CorrelatePhase>(),
    ],
    settings: &[&CAPTIONS_MAX, &TEAMS_PER_PERSON],
    personal_data: &[&OwnData],
    menu: &[
        MenuItem { address: "/", name: say("Benchmarks"), access: Access::Public, below: Some("/b/") },
        MenuItem {
            address: "/submissions",
            name: say("My submissions"),
            access: Access::Person(Scope::Read),
            below: None,
        },
        MenuItem { address: "/teams", name: say("Teams"), access: Access::Person(Scope::Read), below: None },
        MenuItem { address: "/host", name: say("Host"), access: Access::Host, below: None },
    ],
    done: &[
        ("published", say("The benchmark is published.")),
        ("asked", say("Your request has been sent.")),
        ("joined", say("You have joined the team.")),
        ("cancelled", say("Submission cancelled. It does not count against your quota.")),
        ("stopped", say("Submission cancelled. It does not count against its team's quota.")),
        ("rescoring", say("Rescoring has started. The leaderboard changes when all submissions are scored.")),
    ],
    guides: &[Guide {
        name: "submitting",
        title: say("Take part in a benchmark"),
        texts: [
            include_str!("../../../docs/guides/submitting.md"),
            include_str!("../../../docs/zh/submitting.md"),
        ],
    }],
    gauges: &[submissions::GAUGE],
    webhook: Some(webhook_records::ADDRESS),
    ..Feature::NONE
};

fn routes() -> Vec<Route> {
    let mut routes = pages::routes();
    routes.extend(board::routes());
    routes.extend(entries::routes());
    routes.extend(submit::routes());
    routes.extend(admission::routes());
    routes.extend(submissions::routes());
    routes.extend(images::routes());
    routes.extend(teams::routes());
    routes.extend(announcements::routes());
    routes.extend(questions::routes());
    routes.extend(qualifying::routes());
    routes.extend(appearance::routes());
    routes.extend(bundles::routes());
    routes.extend(statistics::routes());
    routes.extend(host::routes());
    routes.extend(organise::routes());
    routes.extend(dry_run::routes());
    routes.extend(hosting::routes());
    routes.extend(files::routes());
    routes.extend(exports::routes());
    routes.extend(judging::routes());
    routes.extend(webhooks::routes());
    routes.extend(workers::routes());
    routes
}
