//! The style and the script, which are part of the program; their addresses change with their content.

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::route::{Access, Route, get};
use crate::fault::{Fault, Result};
use crate::{feature, ids};

/// Name, type and content of what pages load.
pub type Asset = (&'static str, &'static str, &'static str);

/// The type of scripts.
pub const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The assets of all pages.
pub const ASSETS: &[Asset] = &[
    ("look.css", "text/css; charset=utf-8", capeval_report::charts::STYLE),
    ("site.css", "text/css; charset=utf-8", include_str!("../../assets/site.css")),
    ("site.js", SCRIPT, include_str!("../../assets/site.js")),
    ("icon.svg", "image/svg+xml", capeval_report::charts::MARK),
];

/// The routes of assets.
pub fn routes() -> Vec<Route> {
    vec![get("/assets/{version}/{name}", Access::Public, "A style sheet or script", serve)]
}

/// The address of an asset. It has a part of the content's hash, so browsers may keep the asset for a year.
pub fn address(name: &str) -> String {
    static VERSIONS: LazyLock<HashMap<&str, String>> = LazyLock::new(|| {
        assets().map(|(name, _, content)| (*name, ids::digest(content)[..12].to_owned())).collect()
    });
    format!("/assets/{}/{name}", VERSIONS.get(name).map_or("0", String::as_str))
}

fn assets() -> impl Iterator<Item = &'static Asset> {
    feature::joined().iter().flat_map(|feature| feature.assets)
}

async fn serve(Path((_, name)): Path<(String, String)>) -> Result<Response> {
    let (_, kind, content) = assets().find(|(known, ..)| *known == name).ok_or_else(Fault::not_found)?;
    let headers =
        [(header::CONTENT_TYPE, *kind), (header::CACHE_CONTROL, "public, max-age=31536000, immutable")];
    Ok((headers, *content).into_response())
}
