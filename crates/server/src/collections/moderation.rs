//! The queue of moderators: pictures to approve, reported things, captions whose ratings disagree, requests to take
//! pictures down.

use askama::Template;
use axum::extract::{Form, Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::json;

use super::processing;
use super::records::{self, Caption, Image, Seen};
use super::rules::reports::ReportReason;
use super::rules::states::CaptionState;
use super::slots;
use crate::accounts::Visitor;
use crate::app::App;
use crate::fault;
use crate::fault::Fault;
use crate::store::{Error, Row, Store, Tx};
use crate::web::language::say;
use crate::web::route::{get, post};
use crate::web::{Access, Page, Person, Route, Scope};
use crate::{args, audit, clock};

/// The most of each kind on a page.
const MOST: i64 = 50;

/// Why a picture is refused.
const REFUSALS: [(&str, &str); 5] = [
    ("personal-data", say("Personal data, such as player names or chat")),
    ("copyright", say("Copyright")),
    ("unsuitable", say("Unsuitable: offensive, or not a screenshot of a game")),
    ("quality", say("Nothing to describe: too dark, too small, or only menus")),
    ("duplicate", say("Nearly the same as another picture")),
];

pub(super) fn routes() -> Vec<Route> {
    let (read, submit) = (Access::Person(Scope::Read), Access::Person(Scope::Submit));
    vec![
        get("/c/{slug}/moderate", read, "List what waits for a moderator", show),
        post("/c/{slug}/moderate/images/{id}", submit, "Approve or reject a picture", decide_image),
        post("/c/{slug}/moderate/captions/{id}", submit, "Accept or reject a caption", decide_caption),
        post("/c/{slug}/moderate/reports/{id}", submit, "Close a request to remove a picture", close_request),
    ]
}

/// A picture that waits, with what is said against it.
struct Waiting {
    image: Image,
    uploader: String,
    reports: Vec<Objection>,
}

/// A caption that waits, with what is said against it.
struct Doubtful {
    caption: Caption,
    grades: Vec<i64>,
    reports: Vec<Objection>,
}

struct Objection {
    reason: &'static str,
    note: String,
}

struct Request {
    id: String,
    image: Option<String>,
    what: String,
    why: String,
    contact: String,
    at: i64,
}

#[derive(Template)]
#[template(path = "collections/moderate.html")]
struct Queue<'a> {
    page: &'a Page,
    seen: &'a Seen,
    requests: Vec<Request>,
    images: Vec<Waiting>,
    captions: Vec<Doubtful>,
    refusals: [(&'static str, &'static str); 5],
}

const IMAGES: &str = "SELECT image.*, COALESCE(account.name, '') AS uploader_name FROM image \
    LEFT JOIN account ON account.id = image.uploader WHERE image.collection = $1 \
    AND (image.state IN ('pending', 'quarantined') OR image.state IN ('open', 'complete') \
    AND image.id IN (SELECT subject FROM report WHERE collection = $1 AND state = 'open')) \
    ORDER BY image.id LIMIT $2";

const CAPTIONS: &str = "SELECT * FROM caption WHERE collection = $1 \
    AND (state IN ('split', 'quarantined') OR state IN ('submitted', 'accepted') \
    AND id IN (SELECT subject FROM report WHERE collection = $1 AND state = 'open')) ORDER BY id LIMIT $2";

/// How much waits for a moderator.
///
/// # Errors
/// If the database fails.
pub(super) async fn waiting(store: &Store, collection: &str) -> Result<i64, Error> {
    const COUNT: &str = "SELECT (SELECT COUNT(*) FROM image WHERE collection = $1 AND state IN ('pending', 'quarantined')) \
        + (SELECT COUNT(*) FROM caption WHERE collection = $1 AND state IN ('split', 'quarantined')) \
        + (SELECT COUNT(DISTINCT subject) FROM report WHERE collection = $1 AND state = 'open' AND NOT EXISTS \
           (SELECT 1 FROM image WHERE image.id = report.subject AND image.state IN ('pending', 'quarantined', 'withdrawn')) \
           AND NOT EXISTS (SELECT 1 FROM caption WHERE caption.id = report.subject \
           AND caption.state IN ('split', 'quarantined', 'withdrawn'))) AS n";
    store.first(COUNT, args![collection]).await?.map_or(Ok(0), |row| row.get("n"))
}

async fn show(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path(slug): Path<String>,
) -> Result<Response, Fault> {
    let seen = records::moderated(&app.store, &slug, &visitor).await?;
    let (store, id) = (&app.store, &seen.collection.id);
    let mut images = Vec::new();
    for row in &store.all(IMAGES, args![id, MOST]).await? {
        let image = Image::of(row)?;
        let reports = objections(store, &page, &image.id).await?;
        images.push(Waiting { uploader: row.get("uploader_name")?, reports, image });
    }
    let mut captions = Vec::new();
    for row in &store.all(CAPTIONS, args![id, MOST]).await? {
        let caption = Caption::of(row)?;
        let grades = "SELECT grade FROM rating WHERE caption = $1 ORDER BY created_at";
        let grades = store.all(grades, args![&caption.id]).await?;
        captions.push(Doubtful {
            grades: grades.iter().map(|row| row.get("grade")).collect::<Result<_, _>>()?,
            reports: objections(store, &page, &caption.id).await?,
            caption,
        });
    }
    let requests = requests(store, id).await?;
    page.show(&Queue { page: &page, seen: &seen, requests, images, captions, refusals: REFUSALS })
}

async fn objections(store: &Store, page: &Page, subject: &str) -> Result<Vec<Objection>, Error> {
    let sql = "SELECT reason, note FROM report WHERE subject = $1 AND state = 'open' ORDER BY id";
    let read = |row: &Row| {
        let reason: ReportReason = row.get::<String>("reason")?.parse().unwrap_or(ReportReason::Other);
        Ok(Objection { reason: page.choice(&reason), note: row.get("note")? })
    };
    store.all(sql, args![subject]).await?.iter().map(read).collect()
}

async fn requests(store: &Store, collection: &str) -> Result<Vec<Request>, Error> {
    const OPEN: &str = "SELECT * FROM report WHERE collection = $1 AND kind = 'takedown' AND state = 'open' \
                        ORDER BY id LIMIT $2";
    let mut requests = Vec::new();
    for row in &store.all(OPEN, args![collection, MOST]).await? {
        let what: String = row.get("subject")?;
        requests.push(Request {
            id: row.get("id")?,
            image: named_in(store, collection, &what).await?,
            what,
            why: row.get("note")?,
            contact: row.get("contact")?,
            at: row.get("created_at")?,
        });
    }
    Ok(requests)
}

/// The picture of the collection whose address, or id, is in a text.
async fn named_in(store: &Store, collection: &str, text: &str) -> Result<Option<String>, Error> {
    let parts = text.split(|c: char| !c.is_ascii_hexdigit() && c != '-').filter(|part| part.len() == 36);
    for id in parts {
        let sql = "SELECT id FROM image WHERE id = $1 AND collection = $2 AND state <> 'withdrawn'";
        if store.first(sql, args![id, collection]).await?.is_some() {
            return Ok(Some(id.to_owned()));
        }
    }
    Ok(None)
}

#[derive(Deserialize)]
struct Decision {
    action: String,
    #[serde(default)]
    reason: String,
}

impl Decision {
    /// Whether the thing stays.
    fn stays(&self) -> Result<bool, Fault> {
        match self.action.as_str() {
            "approve" => Ok(true),
            "refuse" => Ok(false),
            _ => Err(Fault::not_found()),
        }
    }
}

/// Refuses to let people decide about another collection, or about what is theirs, unless they are its hosts.
fn require_foreign(
    seen: &Seen,
    visitor: &Visitor,
    collection: &str,
    owner: Option<&String>,
) -> Result<(), Fault> {
    if collection != seen.collection.id {
        return Err(Fault::not_found());
    }
    if owner == Some(&visitor.id) && !seen.is_host {
        return Err(fault!(CONFLICT, "own", "Another moderator reviews what is yours."));
    }
    Ok(())
}

async fn decide_image(
    State(app): State<App>,
    Person(visitor): Person,
    Path((slug, id)): Path<(String, String)>,
    Form(given): Form<Decision>,
) -> Result<Response, Fault> {
    let seen = records::moderated(&app.store, &slug, &visitor).await?;
    let image = records::image(&app.store, &id).await?;
    require_foreign(&seen, &visitor, &image.collection, image.uploader.as_ref())?;
    let stays = given.stays()?;
    let mut tx = app.store.begin().await?;
    slots::lock(&mut tx, &id).await?;
    if stays {
        let waits = "SELECT state FROM image WHERE id = $1 AND state IN ('pending', 'quarantined')";
        if tx.first(waits, args![&id]).await?.is_some() {
            processing::approve(&mut tx, &id, Some(&visitor.id)).await?;
        }
    } else {
        let reason = REFUSALS.iter().find(|(name, _)| *name == given.reason).ok_or_else(Fault::not_found)?;
        take_away(&mut tx, &image, "rejected", Some(reason.1)).await?;
    }
    close_reports(&mut tx, &id, &visitor.id, stays).await?;
    let detail = json!({ "action": given.action, "reason": given.reason });
    audit::note(&mut tx, Some(&visitor.id), "image.decide", &id, detail).await?;
    tx.commit().await?;
    app.wake.notify();
    Ok(Redirect::to(&format!("/c/{slug}/moderate?done=saved")).into_response())
}

/// Takes a picture away for good: its files go, and nobody describes it any more.
///
/// # Errors
/// If the database fails.
pub(super) async fn take_away(
    tx: &mut Tx,
    image: &Image,
    state: &'static str,
    reason: Option<&str>,
) -> Result<(), Error> {
    slots::lock(tx, &image.id).await?;
    let row = tx.first("SELECT upload, blob, thumb FROM image WHERE id = $1", args![&image.id]).await?;
    tx.execute(
        "UPDATE image SET state = $1, reason = $2, blob = NULL, thumb = NULL, upload = NULL WHERE id = $3",
        args![state, reason, &image.id],
    )
    .await?;
    for column in ["upload", "blob", "thumb"] {
        let hash: Option<String> = row.as_ref().map_or(Ok(None), |row| row.get(column))?;
        if let Some(hash) = hash {
            processing::discard(tx, &hash).await?;
        }
    }
    tx.execute("DELETE FROM image_band WHERE image = $1", args![&image.id]).await.map(drop)
}

async fn decide_caption(
    State(app): State<App>,
    Person(visitor): Person,
    Path((slug, id)): Path<(String, String)>,
    Form(given): Form<Decision>,
) -> Result<Response, Fault> {
    let seen = records::moderated(&app.store, &slug, &visitor).await?;
    let caption = records::caption(&app.store, &id).await?;
    require_foreign(&seen, &visitor, &caption.collection, caption.author.as_ref())?;
    let stays = given.stays()?;
    let mut tx = app.store.begin().await?;
    let to = match (stays, caption.state) {
        (false, _) => CaptionState::Rejected,
        (true, CaptionState::Quarantined) => before(&mut tx, &id).await?,
        (true, CaptionState::Split) => CaptionState::Accepted,
        (true, state) => state,
    };
    if to != caption.state {
        let reason = (!stays).then_some(say("A moderator has refused it."));
        if !slots::change_caption(&mut tx, &id, caption.state, to, reason).await? {
            return Err(fault!(CONFLICT, "changed", "This has already been reviewed."));
        }
    }
    close_reports(&mut tx, &id, &visitor.id, stays).await?;
    audit::note(&mut tx, Some(&visitor.id), "caption.decide", &id, json!({ "action": given.action })).await?;
    tx.commit().await?;
    Ok(Redirect::to(&format!("/c/{slug}/moderate?done=saved")).into_response())
}

/// The state that a reported caption had before.
async fn before(tx: &mut Tx, caption: &str) -> Result<CaptionState, Error> {
    let row = tx.first("SELECT state_before FROM caption WHERE id = $1", args![caption]).await?;
    let before: Option<String> = row.map_or(Ok(None), |row| row.get("state_before"))?;
    Ok(before.and_then(|state| state.parse().ok()).unwrap_or(CaptionState::Accepted))
}

/// Closes the reports of a thing: refused if it stays, upheld if it goes.
async fn close_reports(tx: &mut Tx, subject: &str, by: &str, stays: bool) -> Result<(), Error> {
    let state = if stays { "refused" } else { "upheld" };
    tx.execute(
        "UPDATE report SET state = $1, decided_by = $2, decided_at = $3 WHERE subject = $4 AND state = 'open'",
        args![state, by, clock::now(), subject],
    )
    .await
    .map(drop)
}

async fn close_request(
    State(app): State<App>,
    Person(visitor): Person,
    Path((slug, id)): Path<(String, String)>,
    Form(given): Form<Decision>,
) -> Result<Response, Fault> {
    let seen = records::moderated(&app.store, &slug, &visitor).await?;
    let state = if given.stays()? { "refused" } else { "upheld" };
    let mut tx = app.store.begin().await?;
    let closed = tx
        .execute(
            "UPDATE report SET state = $1, decided_by = $2, decided_at = $3 \
             WHERE id = $4 AND collection = $5 AND kind = 'takedown' AND state = 'open'",
            args![state, &visitor.id, clock::now(), &id, &seen.collection.id],
        )
        .await?;
    if closed == 0 {
        return Err(Fault::not_found());
    }
    audit::note(&mut tx, Some(&visitor.id), "takedown.decide", &id, json!({ "state": state })).await?;
    tx.commit().await?;
    Ok(Redirect::to(&format!("/c/{slug}/moderate?done=saved")).into_response())
}
