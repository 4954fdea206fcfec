//! Collections, pictures and captions in the database, and who may see them.

use capeval_api::ImageState;
use capeval_benchmarks::records::Visibility;
use capeval_site::oldest_first;
use capeval_site::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::rules::states::CaptionState;

pub use super::settings::{Collection, Goal};

capeval_choice::named! {
    /// The duty of a person in a collection.
    pub enum Duty ("duty") {
        Moderator = "moderator", "decides about contributions";
        Host = "host", "also changes the collection";
    }
}

/// A picture.
#[derive(Clone, Debug, Deserialize)]
pub struct Image {
    pub id: String,
    /// The id of the collection.
    pub collection: String,
    /// `None` once the uploader has had their data deleted.
    pub uploader: Option<String>,
    pub licence: String,
    /// The title of the game.
    pub game: String,
    pub platform: String,
    /// The hash of the file as it was uploaded, until it is processed.
    pub upload: Option<String>,
    /// The hash of the picture; `None` until it is processed.
    pub blob: Option<String>,
    /// The hash of the small picture.
    pub thumb: Option<String>,
    /// The media type of the picture.
    pub kind: Option<String>,
    #[serde(deserialize_with = "store::or_default")]
    pub width: i64,
    #[serde(deserialize_with = "store::or_default")]
    pub height: i64,
    /// A picture that is nearly the same.
    pub near: Option<String>,
    pub state: ImageState,
    /// The reason why it was rejected or withdrawn.
    pub reason: Option<String>,
}

impl Image {
    /// The media type of its file.
    pub fn media_type(&self) -> &'static str {
        if self.kind.as_deref() == Some("image/jpeg") { "image/jpeg" } else { "image/png" }
    }
}

/// A caption.
#[derive(Clone, Debug, Deserialize)]
pub struct Caption {
    pub id: String,
    /// The id of the collection.
    pub collection: String,
    /// The id of the picture.
    pub image: String,
    /// `None` once the author has had their data deleted.
    pub author: Option<String>,
    pub language: String,
    pub text: String,
    pub state: CaptionState,
    /// The state before it was quarantined.
    pub state_before: Option<CaptionState>,
    /// The reason why it was rejected or withdrawn.
    pub reason: Option<String>,
    /// Ratings that count.
    pub ratings: i64,
}

impl Caption {
    /// Returns true if the author may still edit it.
    pub fn is_editable(&self) -> bool {
        self.state.is_editable(self.ratings)
    }
}

/// A collection that the visitor may see, with what they are in it.
#[derive(Clone, Debug)]
pub struct SeenCollection {
    pub collection: Collection,
    /// True if the visitor runs it.
    pub is_host: bool,
    /// True if the visitor moderates it; hosts do.
    pub is_moderator: bool,
}

impl SeenCollection {
    /// The address of the page that is called `page` below that of the collection.
    pub fn address(&self, page: &str) -> String {
        format!("/c/{}/{page}", encode(&self.collection.slug))
    }

    /// The picture or the caption with this id, if it is in the collection.
    pub async fn contribution<T: Contribution>(&self, store: &Store, id: &str) -> Result<T> {
        let found: T = by_id(store, id).await?;
        if found.collection() == self.collection.id { Ok(found) } else { Err(Fault::not_found()) }
    }
}

/// `{slug}`
impl Subject for SeenCollection {
    const KIND: &'static str = "collection";

    async fn find(app: &App, names: &Names, visitor: Option<&Visitor>) -> Result<Self> {
        collection(&app.store, names.require("slug")?, visitor).await
    }

    fn standing(&self) -> Standing {
        match (self.is_host, self.is_moderator) {
            (true, _) => Standing::Hosts,
            (false, true) => Standing::Moderates,
            (false, false) => Standing::Sees,
        }
    }
}

/// A contribution of a person to a collection: a picture or a caption.
pub trait Contribution: DeserializeOwned + Send {
    const KIND: &'static str;

    /// Selects the one with the id `$1`.
    const BY_ID: &'static str;

    /// The id of its collection.
    fn collection(&self) -> &str;

    /// The account of who added it.
    fn contributor(&self) -> Option<&str>;
}

impl Contribution for Image {
    const KIND: &'static str = "picture";
    const BY_ID: &'static str = "SELECT * FROM image WHERE id = $1";

    fn collection(&self) -> &str {
        &self.collection
    }

    fn contributor(&self) -> Option<&str> {
        self.uploader.as_deref()
    }
}

impl Contribution for Caption {
    const KIND: &'static str = "caption";
    const BY_ID: &'static str = "SELECT * FROM caption WHERE id = $1";

    fn collection(&self) -> &str {
        &self.collection
    }

    fn contributor(&self) -> Option<&str> {
        self.author.as_deref()
    }
}

/// A picture or a caption in a collection, for what moderators do with it.
pub struct CollectionItem<T> {
    pub seen: SeenCollection,
    pub thing: T,
}

/// `{slug}` and `{id}`
impl<T: Contribution> Subject for CollectionItem<T> {
    const KIND: &'static str = T::KIND;

    async fn find(app: &App, names: &Names, visitor: Option<&Visitor>) -> Result<Self> {
        let seen = SeenCollection::find(app, names, visitor).await?;
        let thing = seen.contribution(&app.store, names.require("id")?).await?;
        Ok(Self { seen, thing })
    }

    fn standing(&self) -> Standing {
        self.seen.standing()
    }
}

/// The same for what contributors do with their own, and no one else.
pub struct Mine<T> {
    pub of: CollectionItem<T>,
    is_mine: bool,
}

/// `{slug}` and `{id}`
impl<T: Contribution> Subject for Mine<T> {
    const KIND: &'static str = T::KIND;

    async fn find(app: &App, names: &Names, visitor: Option<&Visitor>) -> Result<Self> {
        let of = CollectionItem::<T>::find(app, names, visitor).await?;
        let is_mine = visitor.is_some_and(|visitor| of.thing.contributor() == Some(&visitor.id));
        Ok(Self { of, is_mine })
    }

    fn standing(&self) -> Standing {
        if self.is_mine { Standing::Owns } else { Standing::Sees }
    }
}

/// All collections that the visitor may see, newest first.
pub async fn visible(store: &Store, visitor: Option<&Visitor>) -> Result<Vec<SeenCollection>, Error> {
    let mut seen = Vec::new();
    for collection in store.fetch("SELECT * FROM collection ORDER BY id DESC", args![]).await? {
        seen.extend(see(store, collection, visitor).await?);
    }
    Ok(seen)
}

async fn see(
    store: &Store,
    collection: Collection,
    visitor: Option<&Visitor>,
) -> Result<Option<SeenCollection>, Error> {
    let duty = duty(store, &collection.id, visitor).await?;
    let is_visible = match collection.visibility {
        Visibility::Public => true,
        Visibility::Registered => visitor.is_some(),
        Visibility::Hidden => false,
    };
    let (is_host, is_moderator) = (duty == Some(Duty::Host), duty.is_some());
    Ok((is_visible || is_moderator).then_some(SeenCollection { collection, is_host, is_moderator }))
}

/// The duty of a visitor in a collection; administrators are hosts of all.
async fn duty(store: &Store, collection: &str, visitor: Option<&Visitor>) -> Result<Option<Duty>, Error> {
    let Some(visitor) = visitor else { return Ok(None) };
    if visitor.is_admin() {
        return Ok(Some(Duty::Host));
    }
    let sql = "SELECT duty FROM collection_staff WHERE collection = $1 AND account = $2";
    let duty: Option<Duty> = store.fetch_optional(sql, args![collection, &visitor.id]).await?;
    // A host of the collection who is not a host of the site moderates.
    Ok(duty.map(|duty| if visitor.is_host() { duty } else { Duty::Moderator }))
}

/// The collection with this slug, if the visitor may see it.
pub async fn collection(store: &Store, slug: &str, visitor: Option<&Visitor>) -> Result<SeenCollection> {
    let collection = by_slug(store, slug).await?.ok_or_else(Fault::not_found)?;
    see(store, collection, visitor).await?.ok_or_else(Fault::not_found)
}

/// The collection with this slug, for any visitor.
pub async fn by_slug(store: &Store, slug: &str) -> Result<Option<Collection>, Error> {
    store.fetch_optional("SELECT * FROM collection WHERE slug = $1", args![slug]).await
}

/// The collection with this id, for any visitor.
pub async fn collection_of(store: &Store, id: &str) -> Result<Collection> {
    let sql = "SELECT * FROM collection WHERE id = $1";
    store.fetch_optional(sql, args![id]).await?.ok_or_else(Fault::not_found)
}

/// The picture or the caption with this id, for any visitor.
pub async fn by_id<T: Contribution>(store: &Store, id: &str) -> Result<T> {
    store.fetch_optional(T::BY_ID, args![id]).await?.ok_or_else(Fault::not_found)
}

/// The pictures that a person may describe or has described, but for those that they have reported.
pub const PICTURES: List = oldest_first!(
    "SELECT * FROM image WHERE collection = $3 AND state IN ('open', 'complete') \
     AND NOT EXISTS (SELECT 1 FROM report WHERE report.subject = image.id AND report.reporter = $4)",
    "id"
);

/// The progress of a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Pictures that may be described, with the complete ones.
    pub pictures: i64,
    /// Pictures with all captions.
    pub complete: i64,
    /// Captions that wait for ratings.
    pub waiting: i64,
    /// The progress of each goal, in the order of the collection.
    pub goals: Vec<GoalProgress>,
}

/// The progress of a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalProgress {
    pub goal: Goal,
    /// Pictures with all its captions.
    pub complete: i64,
    /// Accepted captions of the pictures that may be described.
    pub accepted: i64,
}

impl GoalProgress {
    /// The name of its language.
    pub fn name(&self) -> &str {
        name_of(&self.goal.language)
    }
}

impl Progress {
    /// The captions that a goal wants of all pictures.
    pub fn wanted(&self, goal: &Goal) -> i64 {
        self.pictures * i64::from(goal.captions)
    }

    /// Accepted captions.
    pub fn accepted(&self) -> i64 {
        self.goals.iter().map(|goal| goal.accepted).sum()
    }
}

/// The name of a language in itself.
pub fn name_of(language: &str) -> &str {
    match Language::of(language) {
        Some(known) => known.name(),
        None => language,
    }
}

/// The progress of a collection.
pub async fn progress(store: &Store, collection: &Collection) -> Result<Progress, Error> {
    // The words about pictures are those of indexes, which have all that is counted.
    const COUNT: &str = "SELECT COUNT(*), COUNT(CASE WHEN state = 'complete' THEN 1 END) FROM image \
         WHERE collection = $1 AND state IN ('open', 'complete')";
    const BY_GOAL: &str = "SELECT language, COUNT(CASE WHEN accepted >= wanted THEN 1 END), \
         CAST(SUM(accepted) AS BIGINT) FROM image_slots WHERE collection = $1 AND is_shown > 0 GROUP BY language";
    let id = &collection.id;
    let (pictures, complete) = store.fetch_one(COUNT, args![id]).await?;
    let waiting = "SELECT COUNT(*) FROM caption WHERE collection = $1 AND state = 'submitted'";
    let waiting = store.fetch_one(waiting, args![id]).await?;
    let counts: Vec<(String, i64, i64)> = store.fetch(BY_GOAL, args![id]).await?;
    let goals = collection.goals.iter().map(|goal| {
        let of = counts.iter().find(|(language, ..)| *language == goal.language);
        let (complete, accepted) = of.map_or((0, 0), |(_, complete, accepted)| (*complete, *accepted));
        GoalProgress { goal: goal.clone(), complete, accepted }
    });
    Ok(Progress { pictures, complete, waiting, goals: goals.collect() })
}

/// A collection and its progress, for programs.
pub fn for_programs(collection: &Collection, progress: &Progress) -> capeval_api::Collection {
    capeval_api::Collection {
        slug: collection.slug.clone(),
        title: collection.title.clone(),
        summary: collection.summary.clone(),
        state: collection.state.into(),
        languages: collection.languages.clone(),
        licences: collection.licences.clone(),
        captions_per_picture: collection.captions(),
        target: collection.target(),
        goals: match collection.is_by_language() {
            true => progress.goals.iter().map(goal_for_programs).collect(),
            false => Vec::new(),
        },
        releases: collection.releases.into(),
        pictures: progress.pictures,
        complete: progress.complete,
        accepted_captions: progress.accepted(),
        waiting_captions: progress.waiting,
    }
}

fn goal_for_programs(progress: &GoalProgress) -> capeval_api::LanguageGoal {
    let GoalProgress { goal, complete, accepted } = progress;
    capeval_api::LanguageGoal {
        language: goal.language.clone(),
        captions_per_picture: goal.captions,
        target: goal.target,
        complete: *complete,
        accepted_captions: *accepted,
    }
}
