//! The queue of a moderator: pictures to approve, reported things, captions whose ratings disagree, and requests to
//! remove pictures.

use capeval_api::ReportReason;
use capeval_site::args;
use capeval_site::store::{Error, Store};
use serde::Deserialize;

use crate::records::{Caption, Image};

/// The most of each kind.
const MOST: i64 = 50;

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
    pub why: String,
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

/// The pictures that wait.
pub(super) async fn images(store: &Store, collection: &str) -> Result<Vec<WaitingImage>, Error> {
    const IMAGES: &str = "SELECT image.*, COALESCE(account.name, '') AS uploader_name, import.name AS source \
        FROM image LEFT JOIN account ON account.id = image.uploader \
        LEFT JOIN import_item ON import_item.subject = image.id LEFT JOIN import ON import.id = import_item.import \
        WHERE image.collection = $1 \
        AND (image.state IN ('pending', 'quarantined') OR image.state IN ('open', 'complete') \
        AND image.id IN (SELECT subject FROM report WHERE collection = $1 AND state = 'open')) \
        ORDER BY image.id LIMIT $2";
    let mut images: Vec<WaitingImage> = store.fetch(IMAGES, args![collection, MOST]).await?;
    for waiting in &mut images {
        waiting.reports = objections(store, &waiting.image.id).await?;
    }
    Ok(images)
}

/// The captions that wait.
pub(super) async fn captions(store: &Store, collection: &str) -> Result<Vec<WaitingCaption>, Error> {
    const CAPTIONS: &str = "SELECT * FROM caption WHERE collection = $1 \
        AND (state IN ('split', 'quarantined') OR state IN ('submitted', 'accepted') \
        AND id IN (SELECT subject FROM report WHERE collection = $1 AND state = 'open')) ORDER BY id LIMIT $2";
    let mut captions = Vec::new();
    for caption in store.fetch::<Caption>(CAPTIONS, args![collection, MOST]).await? {
        let grades = "SELECT grade FROM rating WHERE caption = $1 ORDER BY created_at";
        captions.push(WaitingCaption {
            grades: store.fetch(grades, args![&caption.id]).await?,
            reports: objections(store, &caption.id).await?,
            caption,
        });
    }
    Ok(captions)
}

async fn objections(store: &Store, subject: &str) -> Result<Vec<Objection>, Error> {
    let sql = "SELECT reason, note FROM report WHERE subject = $1 AND state = 'open' ORDER BY id";
    store.fetch(sql, args![subject]).await
}

/// The requests that wait.
pub(super) async fn requests(store: &Store, collection: &str) -> Result<Vec<RemovalRequest>, Error> {
    const OPEN: &str = "SELECT * FROM report WHERE collection = $1 AND kind = 'takedown' AND state = 'open' \
                        ORDER BY id LIMIT $2";
    let mut requests: Vec<RemovalRequest> = store.fetch(OPEN, args![collection, MOST]).await?;
    for request in &mut requests {
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
