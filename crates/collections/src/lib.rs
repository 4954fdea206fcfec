//! Collections: people upload pictures, several others describe each, and others rate the captions.
//!
//! `rules` decides without a database; `slots` keeps the counters of pictures, on which all else relies.
#![allow(missing_docs, reason = "no users outside of the workspace")]

pub mod agreement;
mod api;
pub mod captioning;
pub mod contributions;
mod contributors;
mod guide;
mod host_pages;
pub mod import;
mod invariants;
mod media;
mod milestones;
pub mod moderation;
mod pages;
mod passes;
pub mod processing;
pub mod ratings;
pub mod records;
pub mod release;
mod report_pages;
mod reports;
pub mod rules;
pub mod settings;
mod similarity;
pub mod slots;
mod upload;

use capeval_site::feature::{Feature, Guide};
use capeval_site::jobs::AnyWork;
use capeval_site::settings::NumberSetting;
use capeval_site::web::assets::SCRIPT;
use capeval_site::web::language::say;
use capeval_site::web::{Access, MenuItem, Route};
use capeval_site::{file_columns, migrations};

pub use contributions::own_data::OwnData;
pub use moderation::decisions::Refusal;

pub static PICTURE_MIB: NumberSetting =
    NumberSetting { name: "picture_mib", default: 16, about: "largest picture of a collection in MiB" };

pub static PICTURES_PER_MINUTE: NumberSetting = NumberSetting {
    name: "pictures_per_minute",
    default: 60,
    about: "pictures uploaded per person per minute",
};

pub static CAPTIONS_PER_MINUTE: NumberSetting = NumberSetting {
    name: "captions_per_minute",
    default: 20,
    about: "captions and reports per person per minute",
};

/// Collections as a feature.
pub static FEATURE: Feature = Feature {
    migrations: migrations!(
        "collections": "collections" "pictures" "captions" "ratings" "reports" "releases" "imports"
    ),
    sentences: include_str!("../locales/zh.toml"),
    invariants: invariants::ALL,
    files: file_columns! {
        "image" "blob" visible;
        "image" "thumb" visible;
        "image" "upload" visible;
        "release_part" "blob" visible;
    },
    routes,
    works: &[
        AnyWork::of::<processing::ProcessPicture>(),
        AnyWork::of::<processing::DiscardFile>(),
        AnyWork::of::<import::removal::RemoveImport>(),
        AnyWork::of::<release::build::BuildRelease>(),
        AnyWork::of::<agreement::CorrelateCollection>(),
    ],
    settings: &[&PICTURE_MIB, &PICTURES_PER_MINUTE, &CAPTIONS_PER_MINUTE],
    personal_data: &[&OwnData],
    menu: &[MenuItem {
        address: "/collections",
        name: say("Collections"),
        access: Access::Public,
        below: Some("/c/"),
    }],
    done: &[
        ("uploaded", say("The pictures are uploaded.")),
        ("caption", say("Thank you! Here is the next picture.")),
        ("reported", say("Thank you. A moderator will review it, and you won't see it again.")),
    ],
    assets: &[
        ("caption.js", SCRIPT, include_str!("../assets/caption.js")),
        ("unsent.js", SCRIPT, include_str!("../assets/unsent.js")),
        ("upload.js", SCRIPT, include_str!("../assets/upload.js")),
    ],
    guides: &[Guide {
        name: "collections",
        title: say("Describe pictures and rate captions"),
        texts: [
            include_str!("../../../docs/guides/collections.md"),
            include_str!("../../../docs/zh/collections.md"),
        ],
    }],
    ..Feature::NONE
};

capeval_api::labels![
    rules::states::CaptionState,
    import::records::ImportState,
    rules::acceptance::Mistake,
    import::Reason,
    Refusal,
    release::records::ReleaseState,
];

fn routes() -> Vec<Route> {
    let mut routes = pages::routes();
    routes.extend(guide::routes());
    routes.extend(host_pages::routes());
    routes.extend(upload::routes());
    routes.extend(media::routes());
    routes.extend(captioning::routes());
    routes.extend(report_pages::routes());
    routes.extend(moderation::routes());
    routes.extend(contributions::routes());
    routes.extend(ratings::routes());
    routes.extend(release::routes());
    routes.extend(import::routes());
    routes.extend(agreement::pages::routes());
    routes.extend(api::routes());
    routes
}
