//! The queue of a moderator: pictures to approve, reported things, captions whose ratings disagree, and requests to
//! remove pictures.

use std::collections::HashMap;

use capeval_api::ReportReason;
use capeval_site::prelude::*;
use capeval_site::{among, oldest_first};
use serde::Deserialize;

use crate::records::{Caption, Image};

/// A picture that waits, with what is said against it.
#[derive(Deserialize)]
pub(super) struct WaitingImage {
    pub image: Image,
    #[serde(rename = "uploader_name")]
    pub uploader: String,
    /// The source of the import, if it was imported.
    pub source: Option<String>,
    #[serde(skip)]
    pub reports: Vec<Objection>,
}

/// A caption that waits, with what is said against it.
pub(super) struct WaitingCaption {
    pub caption: Caption,
    pub grades: Vec<i64>,
    pub reports: Vec<Objection>,
}

#[derive(Deserialize)]
pub(super) struct Objection {
    /// The id of the thing.
    pub subject: String,
    pub reason: ReportReason,
    pub note: String,
}

/// A request to remove a picture.
#[derive(Deserialize)]
pub(super) struct RemovalRequest {
    pub id: String,
    #[serde(rename = "subject")]
    pub what: String,
    #[serde(rename = "note")]
    pub reason: String,
    pub contact: String,
    #[serde(rename = "created_at")]
    pub at: i64,
    /// The picture that it names.
    #[serde(skip)]
    pub image: Option<String>,
}

/// The number of things that wait for a moderator.
pub(crate) async fn waiting(store: &Store, collection: &str) -> Result<i64, Error> {
    const COUNT: &str = "SELECT (SELECT COUNT(*) FROM image WHERE collection = $1 AND state IN ('pending', 'quarantined')) \
        + (SELECT COUNT(*) FROM caption WHERE collection = $1 AND state IN ('split', 'quarantined')) \
        + (SELECT COUNT(DISTINCT subject) FROM report WHERE collection = $1 AND state = 'open' AND NOT EXISTS \
           (SELECT 1 FROM image WHERE image.id = report.subject AND image.state IN ('pending', 'quarantined', 'withdrawn')) \
           AND NOT EXISTS (SELECT 1 FROM caption WHERE caption.id = report.subject \
           AND caption.state IN ('split', 'quarantined', 'withdrawn')))";
    store.fetch_one(COUNT, args![collection]).await
}

/// The ids of the things of a kind that wait for a decision, and of those that someone has reported.
macro_rules! waiting {
    ($table:literal, $waits:literal, $is_shown:literal, $place:literal, $order:literal) => {
        concat!(
            "SELECT id FROM ", $table, " WHERE collection = $3 AND state IN ", $waits, " AND id ", $place,
            " UNION ALL SELECT subject FROM report WHERE collection = $3 AND kind = '", $table,
            "' AND state = 'open' AND NOT EXISTS (SELECT 1 FROM report AS earlier \
             WHERE earlier.subject = report.subject AND earlier.state = 'open' AND earlier.id < report.id) \
             AND EXISTS (SELECT 1 FROM ", $table, " WHERE id = report.subject AND state IN ", $is_shown,
            ") AND subject ", $place, " ORDER BY id ", $order, " LIMIT $2",
        )
    };
    ($table:literal, $waits:literal, $is_shown:literal) => {
        List {
            onward: waiting!($table, $waits, $is_shown, "> $1", ""),
            back: waiting!($table, $waits, $is_shown, "< $1", "DESC"),
            start: "",
        }
    };
}

/// The pictures that wait, the oldest first.
pub const IMAGES: List = waiting!("image", "('pending', 'quarantined')", "('open', 'complete')");

/// The captions that wait, the oldest first.
pub const CAPTIONS: List = waiting!("caption", "('split', 'quarantined')", "('submitted', 'accepted')");

/// The requests that wait, the oldest first.
pub const REQUESTS: List = oldest_first!(
    "SELECT * FROM report WHERE collection = $3 AND kind = 'takedown' AND state = 'open'",
    "id"
);

/// A page of the pictures that wait.
pub(super) async fn images(store: &Store, collection: &str, at: At) -> Result<Rows<WaitingImage>, Error> {
    let ids: Rows<String> = IMAGES.page(store, at, args![collection], String::as_str).await?;
    let sql = among!(
        store,
        "SELECT image.*, COALESCE(account.name, '') AS uploader_name, import.name AS source \
         FROM image LEFT JOIN account ON account.id = image.uploader \
         LEFT JOIN import_item ON import_item.subject = image.id LEFT JOIN import ON import.id = import_item.import \
         WHERE image.id IN (",
        "$1",
        ") ORDER BY image.id"
    );
    let mut images: Vec<WaitingImage> = store.fetch(sql, args![store::list(&ids.rows)?]).await?;
    let mut reports = objections(store, &ids.rows).await?;
    for waiting in &mut images {
        waiting.reports = reports.remove(&waiting.image.id).unwrap_or_default();
    }
    Ok(ids.with(images))
}

/// A page of the captions that wait.
pub(super) async fn captions(store: &Store, collection: &str, at: At) -> Result<Rows<WaitingCaption>, Error> {
    let ids: Rows<String> = CAPTIONS.page(store, at, args![collection], String::as_str).await?;
    let list = || store::list(&ids.rows);
    let sql = among!(store, "SELECT * FROM caption WHERE id IN (", "$1", ") ORDER BY id");
    let captions: Vec<Caption> = store.fetch(sql, args![list()?]).await?;
    let sql =
        among!(store, "SELECT caption, grade FROM rating WHERE caption IN (", "$1", ") ORDER BY created_at");
    let mut grades: HashMap<String, Vec<i64>> = HashMap::new();
    for (caption, grade) in store.fetch::<(String, i64)>(sql, args![list()?]).await? {
        grades.entry(caption).or_default().push(grade);
    }
    let mut reports = objections(store, &ids.rows).await?;
    let waiting = |caption: Caption| WaitingCaption {
        grades: grades.remove(&caption.id).unwrap_or_default(),
        reports: reports.remove(&caption.id).unwrap_or_default(),
        caption,
    };
    let waiting = captions.into_iter().map(waiting).collect();
    Ok(ids.with(waiting))
}

/// What people say against things, by their ids.
async fn objections(store: &Store, ids: &[String]) -> Result<HashMap<String, Vec<Objection>>, Error> {
    let sql = among!(
        store,
        "SELECT subject, reason, note FROM report WHERE state = 'open' AND subject IN (",
        "$1",
        ") ORDER BY id"
    );
    let mut of: HashMap<String, Vec<Objection>> = HashMap::new();
    for objection in store.fetch::<Objection>(sql, args![store::list(ids)?]).await? {
        of.entry(objection.subject.clone()).or_default().push(objection);
    }
    Ok(of)
}

/// A page of the requests that wait.
pub(super) async fn requests(store: &Store, collection: &str, at: At) -> Result<Rows<RemovalRequest>, Error> {
    let mut requests = REQUESTS.page(store, at, args![collection], |of: &RemovalRequest| &of.id).await?;
    for request in &mut requests.rows {
        request.image = named_in(store, collection, &request.what).await?;
    }
    Ok(requests)
}

/// The picture of the collection whose address, or id, is in a text.
async fn named_in(store: &Store, collection: &str, text: &str) -> Result<Option<String>, Error> {
    let parts = text.split(|c: char| !c.is_ascii_hexdigit() && c != '-').filter(|part| part.len() == 36);
    for id in parts {
        let sql = "SELECT 1 FROM image WHERE id = $1 AND collection = $2 AND state <> 'withdrawn'";
        if store.exists(sql, args![id, collection]).await? {
            return Ok(Some(id.to_owned()));
        }
    }
    Ok(None)
}
