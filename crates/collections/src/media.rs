//! Pictures as files, for those who may see them: a picture that was reported or taken back is gone at once.

use axum::http::HeaderMap;
use axum::response::Response;
use capeval_api::ImageState;
use capeval_site::pictures;
use capeval_site::prelude::*;

use super::records::{self, Image, SeenCollection};
use super::reports;

pub(super) fn routes() -> Vec<Route> {
    let read = Access::Person(Scope::Read);
    vec![
        get("/media/{id}", read, "Download a picture", picture)
            .and("/api/v1/pictures/{id}")
            .sends(200, "image/*"),
        get("/media/{id}/small", read, "Show a small copy of a picture", small),
    ]
}

/// A picture that the visitor may look at.
struct SeenPicture {
    seen: SeenCollection,
    image: Image,
}

/// `{id}`
impl Subject for SeenPicture {
    const KIND: &'static str = "picture";

    async fn find(app: &App, names: &Names, visitor: Option<&Visitor>) -> Result<Self> {
        let image: Image = records::by_id(&app.store, names.require("id")?).await?;
        let collection = records::collection_of(&app.store, &image.collection).await?;
        let seen = records::collection(&app.store, &collection.slug, visitor).await?;
        let is_own = visitor.is_some_and(|visitor| image.uploader.as_ref() == Some(&visitor.id));
        match image.state {
            ImageState::Withdrawn => return Err(gone()),
            _ if seen.is_moderator => {}
            ImageState::Quarantined => return Err(gone()),
            _ if is_own => {}
            ImageState::Open | ImageState::Complete => {
                // What people have reported, they do not see again.
                if reports::has_reported(&app.store, &image.id, visitor).await? {
                    return Err(gone());
                }
            }
            ImageState::Processing | ImageState::Pending | ImageState::Rejected => {
                return Err(Fault::not_found());
            }
        }
        Ok(Self { seen, image })
    }

    fn standing(&self) -> Standing {
        self.seen.standing()
    }
}

async fn picture(
    app: App,
    Visible(SeenPicture { image, .. }): Visible<SeenPicture>,
    headers: HeaderMap,
) -> Result<Response> {
    pictures::send(&app, image.blob.as_ref(), image.media_type(), &headers).await
}

async fn small(
    app: App,
    Visible(SeenPicture { image, .. }): Visible<SeenPicture>,
    headers: HeaderMap,
) -> Result<Response> {
    pictures::send(&app, image.thumb.as_ref(), "image/jpeg", &headers).await
}

fn gone() -> Fault {
    fault!(GONE, "picture-gone", "This picture is no longer shown.")
}
