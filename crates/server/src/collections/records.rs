//! Collections, pictures and captions in the database, and who may see them.

use serde_json::{Value, json};

use super::rules::states::{CaptionState, CollectionState, ImageState};
use crate::accounts::Visitor;
use crate::args;
use crate::benchmarks::records::Visibility;
use crate::fault;
use crate::fault::Fault;
use crate::store::{Error, Row, Store};

capeval_choice::named! {
    /// Who may download releases.
    pub enum ReleaseAccess ("access to releases") {
        Contributors = "contributors", "people with accepted contributions";
        Everybody = "everybody", "everyone who can see the collection";
    }
}

/// A collection.
#[derive(Clone, Debug)]
pub struct Collection {
    /// The id.
    pub id: String,
    /// Its part of addresses.
    pub slug: String,
    /// The title.
    pub title: String,
    /// What it is about, in a sentence or two.
    pub summary: String,
    /// What contributors should know, in Markdown.
    pub guide: String,
    /// Who sees it.
    pub visibility: Visibility,
    /// Whether it takes contributions.
    pub state: CollectionState,
    /// The languages of captions.
    pub languages: Vec<String>,
    /// The licences that uploaders choose from.
    pub licences: Vec<String>,
    /// Accepted captions by different people for each picture.
    pub wanted: i64,
    /// Complete pictures that end the collection.
    pub target: i64,
    /// Approved pictures after which a person's pictures need no approval.
    pub approvals: i64,
    /// Whether people may describe their own pictures.
    pub own_pictures: bool,
    /// Who may download releases.
    pub releases: ReleaseAccess,
}

/// A picture.
#[derive(Clone, Debug)]
pub struct Image {
    /// The id.
    pub id: String,
    /// The id of the collection.
    pub collection: String,
    /// Who uploaded it.
    pub uploader: Option<String>,
    /// Its licence.
    pub licence: String,
    /// The title of the game.
    pub game: String,
    /// The platform.
    pub platform: String,
    /// The hash of the picture; `None` until it is processed.
    pub blob: Option<String>,
    /// The hash of the small picture.
    pub thumb: Option<String>,
    /// The media type of the picture.
    pub kind: Option<String>,
    /// The width in pixels.
    pub width: i64,
    /// The height in pixels.
    pub height: i64,
    /// A picture that is nearly the same.
    pub near: Option<String>,
    /// The group that stays together in splits.
    pub split_group: String,
    /// The state.
    pub state: ImageState,
    /// Why it was refused or withdrawn.
    pub reason: Option<String>,
    /// Accepted captions that are wanted.
    pub wanted: i64,
    /// Reservations, and captions that wait or are accepted.
    pub slots_taken: i64,
    /// Accepted captions.
    pub accepted: i64,
    /// When it was uploaded.
    pub created_at: i64,
}

/// A caption.
#[derive(Clone, Debug)]
pub struct Caption {
    /// The id.
    pub id: String,
    /// The id of the collection.
    pub collection: String,
    /// The id of the picture.
    pub image: String,
    /// Who wrote it.
    pub author: Option<String>,
    /// The language.
    pub language: String,
    /// `hans`, `hant`, `mixed`, or empty.
    pub script: String,
    /// The text.
    pub text: String,
    /// The state.
    pub state: CaptionState,
    /// Why it was rejected or withdrawn.
    pub reason: Option<String>,
    /// Ratings that count.
    pub ratings: i64,
    /// When it was handed in.
    pub created_at: i64,
}

impl Collection {
    fn of(row: &Row) -> Result<Self, Error> {
        let list = |column: &str| {
            let text: String = row.get(column)?;
            Ok::<Vec<String>, Error>(serde_json::from_str(&text).unwrap_or_default())
        };
        Ok(Self {
            id: row.get("id")?,
            slug: row.get("slug")?,
            title: row.get("title")?,
            summary: row.get("summary")?,
            guide: row.get("guide")?,
            visibility: row.get::<String>("visibility")?.parse().unwrap_or(Visibility::Hidden),
            state: row.get::<String>("state")?.parse().unwrap_or(CollectionState::Closed),
            languages: list("languages")?,
            licences: list("licences")?,
            wanted: row.get("wanted")?,
            target: row.get("target")?,
            approvals: row.get("approvals")?,
            own_pictures: row.flag("own_pictures")?,
            releases: row.get::<String>("releases")?.parse().unwrap_or(ReleaseAccess::Contributors),
        })
    }

    /// Why nothing can be contributed now, if so.
    pub fn is_closed(&self) -> Option<Fault> {
        match self.state {
            CollectionState::Open => None,
            CollectionState::Paused => Some(fault!(
                CONFLICT,
                "paused",
                "The hosts have paused this collection. Please come back later."
            )),
            CollectionState::Closed => {
                Some(fault!(CONFLICT, "collection-closed", "This collection has ended. Thank you!"))
            }
        }
    }
}

impl Image {
    /// A picture from a row with all columns.
    ///
    /// # Errors
    /// If a column is missing.
    pub fn of(row: &Row) -> Result<Self, Error> {
        let number = |column: &str| Ok::<i64, Error>(row.get::<Option<i64>>(column)?.unwrap_or(0));
        Ok(Self {
            id: row.get("id")?,
            collection: row.get("collection")?,
            uploader: row.get("uploader")?,
            licence: row.get("licence")?,
            game: row.get("game")?,
            platform: row.get("platform")?,
            blob: row.get("blob")?,
            thumb: row.get("thumb")?,
            kind: row.get("kind")?,
            width: number("width")?,
            height: number("height")?,
            near: row.get("near")?,
            split_group: row.get("split_group")?,
            state: row.get::<String>("state")?.parse().unwrap_or(ImageState::Quarantined),
            reason: row.get("reason")?,
            wanted: row.get("wanted")?,
            slots_taken: row.get("slots_taken")?,
            accepted: row.get("accepted")?,
            created_at: row.get("created_at")?,
        })
    }
}

impl Caption {
    /// A caption from a row with all columns.
    ///
    /// # Errors
    /// If a column is missing.
    pub fn of(row: &Row) -> Result<Self, Error> {
        Ok(Self {
            id: row.get("id")?,
            collection: row.get("collection")?,
            image: row.get("image")?,
            author: row.get("author")?,
            language: row.get("language")?,
            script: row.get("script")?,
            text: row.get("text")?,
            state: row.get::<String>("state")?.parse().unwrap_or(CaptionState::Quarantined),
            reason: row.get("reason")?,
            ratings: row.get("ratings")?,
            created_at: row.get("created_at")?,
        })
    }
}

impl Caption {
    /// Whether the author may still edit it.
    pub fn is_editable(&self) -> bool {
        self.state.is_editable(self.ratings)
    }
}

/// A collection that the visitor may see, with what they are in it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The collection.
    pub collection: Collection,
    /// Whether the visitor runs it.
    pub is_host: bool,
    /// Whether the visitor moderates it; hosts do.
    pub is_moderator: bool,
}

/// All collections that the visitor may see, newest first.
///
/// # Errors
/// If the database fails.
pub async fn visible(store: &Store, visitor: Option<&Visitor>) -> Result<Vec<Seen>, Error> {
    let rows = store.all("SELECT * FROM collection ORDER BY id DESC", args![]).await?;
    let mut seen = Vec::new();
    for row in &rows {
        seen.extend(see(store, Collection::of(row)?, visitor).await?);
    }
    Ok(seen)
}

async fn see(
    store: &Store,
    collection: Collection,
    visitor: Option<&Visitor>,
) -> Result<Option<Seen>, Error> {
    let duty = duty(store, &collection.id, visitor).await?;
    let is_host = duty.as_deref() == Some("host");
    let is_moderator = duty.is_some();
    let is_visible = match collection.visibility {
        Visibility::Public => true,
        Visibility::Registered => visitor.is_some(),
        Visibility::Hidden => false,
    };
    Ok((is_visible || is_moderator).then_some(Seen { collection, is_host, is_moderator }))
}

/// What a visitor does for a collection: `host`, also for administrators, or `moderator`.
async fn duty(store: &Store, collection: &str, visitor: Option<&Visitor>) -> Result<Option<String>, Error> {
    let Some(visitor) = visitor else { return Ok(None) };
    if visitor.is_admin() {
        return Ok(Some("host".to_owned()));
    }
    let sql = "SELECT duty FROM collection_staff WHERE collection = $1 AND account = $2";
    let row = store.first(sql, args![collection, &visitor.id]).await?;
    let duty: Option<String> = row.map(|row| row.get("duty")).transpose()?;
    // A host of the collection who is not a host of the site moderates.
    Ok(duty.map(|duty| if visitor.is_host() { duty } else { "moderator".to_owned() }))
}

/// The collection with this slug.
///
/// # Errors
/// If there is none that the visitor may see.
pub async fn collection(store: &Store, slug: &str, visitor: Option<&Visitor>) -> Result<Seen, Fault> {
    let row = store.first("SELECT * FROM collection WHERE slug = $1", args![slug]).await?;
    let collection = row.as_ref().map(Collection::of).transpose()?.ok_or_else(Fault::not_found)?;
    see(store, collection, visitor).await?.ok_or_else(Fault::not_found)
}

/// The collection with this slug, for its moderators.
///
/// # Errors
/// If there is none that the visitor moderates.
pub async fn moderated(store: &Store, slug: &str, visitor: &Visitor) -> Result<Seen, Fault> {
    let seen = collection(store, slug, Some(visitor)).await?;
    if seen.is_moderator { Ok(seen) } else { Err(Fault::not_found()) }
}

/// The collection with this slug, for its hosts.
///
/// # Errors
/// If there is none that the visitor runs.
pub async fn hosted(store: &Store, slug: &str, visitor: &Visitor) -> Result<Seen, Fault> {
    let seen = collection(store, slug, Some(visitor)).await?;
    if seen.is_host { Ok(seen) } else { Err(Fault::not_found()) }
}

/// The collection with this id, whoever asks.
///
/// # Errors
/// If there is none.
pub async fn collection_of(store: &Store, id: &str) -> Result<Collection, Fault> {
    let row = store.first("SELECT * FROM collection WHERE id = $1", args![id]).await?;
    row.as_ref().map(Collection::of).transpose()?.ok_or_else(Fault::not_found)
}

/// The picture with this id, whoever asks.
///
/// # Errors
/// If there is none.
pub async fn image(store: &Store, id: &str) -> Result<Image, Fault> {
    let row = store.first("SELECT * FROM image WHERE id = $1", args![id]).await?;
    row.as_ref().map(Image::of).transpose()?.ok_or_else(Fault::not_found)
}

/// The caption with this id, whoever asks.
///
/// # Errors
/// If there is none.
pub async fn caption(store: &Store, id: &str) -> Result<Caption, Fault> {
    let row = store.first("SELECT * FROM caption WHERE id = $1", args![id]).await?;
    row.as_ref().map(Caption::of).transpose()?.ok_or_else(Fault::not_found)
}

/// How far a collection is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Pictures that may be described, with the complete ones.
    pub pictures: i64,
    /// Pictures with all captions.
    pub complete: i64,
    /// Accepted captions of these pictures.
    pub accepted: i64,
    /// Captions that wait for ratings.
    pub waiting: i64,
}

/// How far a collection is.
///
/// # Errors
/// If the database fails.
pub async fn progress(store: &Store, collection: &str) -> Result<Progress, Error> {
    // The words about the state are those of an index, which has all that is counted.
    const COUNT: &str = "SELECT COUNT(*) AS n, CAST(COALESCE(SUM(accepted), 0) AS BIGINT) AS accepted, \
         COUNT(CASE WHEN state = 'complete' THEN 1 END) AS complete FROM image \
         WHERE collection = $1 AND state IN ('open', 'complete')";
    let mut progress = Progress::default();
    if let Some(row) = store.first(COUNT, args![collection]).await? {
        progress.pictures = row.get("n")?;
        progress.complete = row.get("complete")?;
        progress.accepted = row.get("accepted")?;
    }
    let waiting = "SELECT COUNT(*) AS n FROM caption WHERE collection = $1 AND state = 'submitted'";
    progress.waiting = store.first(waiting, args![collection]).await?.map_or(Ok(0), |row| row.get("n"))?;
    Ok(progress)
}

/// A collection for programs.
pub fn as_json(collection: &Collection, progress: &Progress) -> Value {
    json!({
        "slug": collection.slug, "title": collection.title, "summary": collection.summary,
        "state": collection.state, "languages": collection.languages, "licences": collection.licences,
        "captions_per_picture": collection.wanted, "target": collection.target, "releases": collection.releases,
        "pictures": progress.pictures, "complete": progress.complete, "accepted_captions": progress.accepted,
        "waiting_captions": progress.waiting,
    })
}
