//! The style and the script, which are part of the program; their addresses change with their content.

use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::route::{Access, Route, get};
use crate::fault::Fault;
use crate::ids;

/// Name, type and content.
const ASSETS: &[(&str, &str, &str)] = &[
    ("look.css", "text/css; charset=utf-8", capeval_report::charts::STYLE),
    ("site.css", "text/css; charset=utf-8", include_str!("../../assets/site.css")),
    ("site.js", "text/javascript; charset=utf-8", include_str!("../../assets/site.js")),
    ("caption.js", "text/javascript; charset=utf-8", include_str!("../../assets/caption.js")),
    ("unsent.js", "text/javascript; charset=utf-8", include_str!("../../assets/unsent.js")),
    ("upload.js", "text/javascript; charset=utf-8", include_str!("../../assets/upload.js")),
    ("hero.svg", "image/svg+xml", include_str!("../../assets/hero.svg")),
    ("icon.svg", "image/svg+xml", capeval_report::charts::MARK),
];

/// The routes of assets.
pub fn routes() -> Vec<Route> {
    vec![get("/assets/{version}/{name}", Access::Public, "A style sheet or script", serve)]
}

/// The address of an asset. It has a part of the content's hash, so browsers may keep the asset for a year.
pub fn address(name: &str) -> String {
    static VERSIONS: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
    let versions = VERSIONS
        .get_or_init(|| ASSETS.iter().map(|(_, _, content)| ids::digest(content)[..12].to_owned()).collect());
    let known = ASSETS.iter().zip(versions).find(|((known, ..), _)| *known == name);
    format!("/assets/{}/{name}", known.map_or("0", |(_, version)| version))
}

async fn serve(Path((_, name)): Path<(String, String)>) -> Result<Response, Fault> {
    let (_, kind, content) = ASSETS.iter().find(|(known, ..)| *known == name).ok_or_else(Fault::not_found)?;
    let headers =
        [(header::CONTENT_TYPE, *kind), (header::CACHE_CONTROL, "public, max-age=31536000, immutable")];
    Ok((headers, *content).into_response())
}
