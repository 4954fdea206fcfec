//! A feature: all that a part of the site adds to it, as one value. The base goes through the features and names none.

use std::sync::OnceLock;

use crate::health::RowGauge;
use crate::invariants::Invariant;
use crate::jobs::AnyWork;
use crate::named_files::FileColumn;
use crate::personal_data::PersonalData;
use crate::settings::NumberSetting;
use crate::store::{Migration, Schema};
use crate::web::{Asset, MenuItem, Route};

/// The features of a program, each after those whose tables its own refer to.
pub type Features = &'static [&'static Feature];

/// All that a part of the site adds to it. What it keeps while the program runs is a [part](crate::app::App::part).
pub struct Feature {
    /// The scripts that make its tables, oldest first.
    pub migrations: &'static [Migration],
    /// The columns that name files.
    pub files: &'static [FileColumn],
    /// What holds between its rows.
    pub invariants: &'static [Invariant],
    pub routes: fn() -> Vec<Route>,
    /// The kinds of work that its jobs do.
    pub works: &'static [AnyWork],
    pub settings: &'static [&'static NumberSetting],
    /// The data that it keeps about people.
    pub personal_data: &'static [&'static dyn PersonalData],
    /// Its sentences in Chinese, each with the English one as key, in tables.
    pub sentences: &'static str,
    /// Its links at the top of pages.
    pub menu: &'static [MenuItem],
    /// The sentences for `?done=` in an address.
    pub done: &'static [(&'static str, &'static str)],
    /// Its scripts.
    pub assets: &'static [Asset],
    /// Its documentation for the people of the site.
    pub guides: &'static [Guide],
    /// Its counts of rows for Prometheus.
    pub gauges: &'static [RowGauge],
    /// The statement that selects address and secret of its webhook with the id `$1`, if it has any.
    pub webhook: Option<&'static str>,
}

impl Feature {
    /// A feature that adds nothing.
    pub const NONE: Self = Self {
        migrations: &[],
        files: &[],
        invariants: &[],
        routes: Vec::new,
        works: &[],
        settings: &[],
        personal_data: &[],
        sentences: "",
        menu: &[],
        done: &[],
        assets: &[],
        guides: &[],
        gauges: &[],
        webhook: None,
    };
}

/// A page of documentation.
pub struct Guide {
    /// Its part of the address.
    pub name: &'static str,
    /// Its title, marked by [`say`](crate::web::language::say).
    pub title: &'static str,
    /// Its text in English and in Chinese, in Markdown.
    pub texts: [&'static str; 2],
}

static JOINED: OnceLock<Features> = OnceLock::new();

/// Makes these the features of the program, if it has none yet.
pub fn join(features: Features) {
    JOINED.get_or_init(|| features);
}

/// The base alone, in tests of single modules.
static ALONE: Features = &[&crate::BASE];

/// The features of the program, for what every page needs: sentences, assets, the menu. The base alone if none were
/// joined.
pub fn joined() -> Features {
    JOINED.get().copied().unwrap_or(ALONE)
}

/// The routes of features, each with one address.
pub fn routes(features: Features) -> Vec<Route> {
    features.iter().flat_map(|feature| (feature.routes)()).flat_map(Route::split).collect()
}

/// The kinds of work of features.
pub fn works(features: Features) -> Vec<AnyWork> {
    features.iter().flat_map(|feature| feature.works.iter().copied()).collect()
}

/// The tables of features.
pub fn schema(features: Features) -> Schema {
    Schema::new(features.iter().flat_map(|feature| feature.migrations.iter().copied()).collect())
}
