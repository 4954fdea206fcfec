//! News of a benchmark as a JSON Feed: announcements, and entries that took the lead.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use capeval_site::prelude::*;
use serde_json::{Value, json};

use crate::records::{self, SeenBenchmark, SeenPhase};
use crate::{announcements, board};

pub const KIND: &str = "application/feed+json";

/// The most items of each kind.
const MOST: usize = 50;

pub async fn show(app: App, Visible(seen): Visible<SeenBenchmark>) -> Result<Response> {
    let benchmark = seen.benchmark.clone();
    // Readers of feeds are not signed in: they get what everyone sees.
    let seen = SeenBenchmark { is_host: false, ..seen };
    let path = format!("/b/{}", benchmark.slug);
    let mut items: Vec<(i64, Value)> = Vec::new();
    let at = At::start(MOST);
    let told = announcements::records::page(&app.store, &benchmark.id, (false, None), at).await?;
    for one in told.rows {
        let address = app.settings.url(&format!("{path}/announcements#{}", one.id));
        items.push((
            one.created_at,
            json!({
                "id": address,
                "url": address,
                "title": one.title,
                "content_html": one.html(),
                "date_published": clock::iso(one.created_at),
                "tags": ["announcement"],
            }),
        ));
    }
    for phase in records::phases(&app.store, &benchmark.id).await? {
        let of = SeenPhase { seen: seen.clone(), phase };
        let leaders = board::leaders(&app, &of).await?;
        for leader in leaders.into_iter().rev().take(MOST) {
            let address = app.settings.url(&of.address(&format!("entries/{}", leader.entry.id)));
            items.push((leader.entry.created_at, json!({
                "id": address,
                "url": address,
                "title": format!("{}: {} leads with {} {}", of.phase.title, leader.entry.name(), leader.measure, leader.score),
                "content_text": format!("{} {} in {}.", leader.measure, leader.score, of.phase.title),
                "date_published": clock::iso(leader.entry.created_at),
                "tags": ["leader"],
            })));
        }
    }
    items.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    let feed = json!({
        "version": "https://jsonfeed.org/version/1.1",
        "title": benchmark.title,
        "description": benchmark.summary,
        "home_page_url": app.settings.url(&path),
        "feed_url": app.settings.url(&format!("{path}/feed.json")),
        "items": items.into_iter().map(|(_, item)| item).collect::<Vec<_>>(),
    });
    Ok(([(header::CONTENT_TYPE, KIND)], serde_json::to_string(&feed)?).into_response())
}
