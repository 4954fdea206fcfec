//! The parts that all pages share: the head with its policy, one script and one style.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use capeval_report::charts::MARK;
use sha2::{Digest, Sha256};

use crate::{Page, Pictures};

/// The style of all pages, after the one that sites share.
pub(crate) const STYLE: &str = include_str!("../assets/page.css");
pub(crate) use capeval_report::charts::STYLE as LOOK;

/// The script of all pages.
pub(crate) const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../assets/data.js"),
    include_str!("../assets/words.js"),
    include_str!("../assets/scene.js"),
    include_str!("../assets/tree.js"),
    include_str!("../assets/list.js"),
    include_str!("../assets/address.js"),
    include_str!("../assets/pictures.js"),
    include_str!("../assets/image.js"),
    include_str!("../assets/chart.js"),
    include_str!("../assets/browser.js"),
    include_str!("../assets/timeline.js"),
    include_str!("../assets/videos.js"),
    include_str!("../assets/page.js"),
    "})();\n"
);

/// The data of `layout.html`.
pub(crate) struct Layout<'r> {
    /// The heading.
    pub title: Cow<'r, str>,
    /// The line below it.
    pub subtitle: String,
    /// The version of capeval.
    pub version: &'r str,
    /// The mark, as an address.
    pub icon: String,
    /// The Content-Security-Policy: what the page may run and load, which is this script, these styles and pictures.
    pub policy: String,
}

impl<'r> Layout<'r> {
    /// `title` is the heading of a page without one of its own.
    pub fn new(page: &'r Page, title: String, version: &'r str, subtitle: String) -> Self {
        let policy = policy(page);
        let given = page.title.as_deref().filter(|title| !title.trim().is_empty());
        let title = given.map_or(Cow::Owned(title), Cow::Borrowed);
        let icon = format!("data:image/svg+xml;base64,{}", BASE64.encode(MARK));
        Self { title, subtitle, version, icon, policy }
    }
}

/// The Content-Security-Policy of a page with these settings: its script, its styles and its pictures. The page states
/// it itself; a site that sends it can state it, too.
pub fn policy(page: &Page) -> String {
    format!(
        "default-src 'none'; script-src {}; style-src {} {}; img-src data:{}; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(LOOK),
        hash(STYLE),
        page.pictures.as_ref().map(Pictures::source).unwrap_or_default()
    )
}

/// The hash by which the policy identifies a script or style.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", BASE64.encode(Sha256::digest(text)))
}
