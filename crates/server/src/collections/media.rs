//! Pictures as files, for those who may see them: a picture that was reported or taken back is gone at once.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::records::{self, Image};
use super::rules::states::ImageState;
use crate::accounts::Visitor;
use crate::app::App;
use crate::args;
use crate::fault;
use crate::fault::Fault;
use crate::web::route::get;
use crate::web::{Access, Person, Route, Scope};

pub(super) fn routes() -> Vec<Route> {
    let read = Access::Person(Scope::Read);
    vec![
        get("/media/{id}", read, "Show a picture", picture),
        get("/media/{id}/small", read, "Show a small copy of a picture", small),
    ]
}

/// What a browser may do with a picture that it shows by itself.
const POLICY: &str = "default-src 'none'; sandbox";

async fn picture(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    picture_of(&app, &visitor, &id, &headers).await
}

/// A picture as a file, if the visitor may see it.
///
/// # Errors
/// If there is none that the visitor may see.
pub(super) async fn picture_of(
    app: &App,
    visitor: &Visitor,
    id: &str,
    headers: &HeaderMap,
) -> Result<Response, Fault> {
    let image = visible(app, id, visitor).await?;
    let kind = if image.kind.as_deref() == Some("image/jpeg") { "image/jpeg" } else { "image/png" };
    send(app, image.blob, kind, headers).await
}

async fn small(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let image = visible(&app, &id, &visitor).await?;
    send(&app, image.thumb, "image/jpeg", &headers).await
}

/// The picture with this id.
///
/// # Errors
/// If there is none that the visitor may see; if it was taken away from everybody, that it is gone.
pub(super) async fn visible(app: &App, id: &str, visitor: &Visitor) -> Result<Image, Fault> {
    let image = records::image(&app.store, id).await?;
    let collection = records::collection_of(&app.store, &image.collection).await?;
    let seen = records::collection(&app.store, &collection.slug, Some(visitor)).await?;
    let is_own = image.uploader.as_ref() == Some(&visitor.id);
    match image.state {
        ImageState::Withdrawn => Err(gone()),
        _ if seen.is_moderator => Ok(image),
        ImageState::Quarantined => Err(gone()),
        ImageState::Open | ImageState::Complete if is_own => Ok(image),
        ImageState::Open | ImageState::Complete => {
            // What somebody has reported, they do not see again.
            let sql = "SELECT 1 AS one FROM report WHERE subject = $1 AND reporter = $2";
            match app.store.first(sql, args![id, &visitor.id]).await? {
                Some(_) => Err(gone()),
                None => Ok(image),
            }
        }
        ImageState::Processing | ImageState::Pending | ImageState::Rejected if is_own => Ok(image),
        ImageState::Processing | ImageState::Pending | ImageState::Rejected => Err(Fault::not_found()),
    }
}

fn gone() -> Fault {
    fault!(GONE, "picture-gone", "This picture is no longer shown.")
}

async fn send(
    app: &App,
    hash: Option<String>,
    kind: &'static str,
    headers: &HeaderMap,
) -> Result<Response, Fault> {
    let hash = hash.ok_or_else(Fault::not_found)?;
    let tag = format!("\"{hash}\"");
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let shared = [
        // Browsers ask again each time, so that a picture that is taken away is gone from them as well.
        (header::CACHE_CONTROL, "private, no-cache".to_owned()),
        (header::ETAG, tag.clone()),
        (header::CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin".to_owned()),
    ];
    if known == Some(tag.as_str()) {
        return Ok((StatusCode::NOT_MODIFIED, shared).into_response());
    }
    let blobs = app.blobs.clone();
    let bytes = tokio::task::spawn_blocking(move || blobs.read(&hash)).await??;
    Ok((shared, [(header::CONTENT_TYPE, kind)], bytes).into_response())
}
