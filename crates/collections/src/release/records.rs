//! Releases in the database, and who may download them.

use capeval_api::ReleaseAccess;
use capeval_site::prelude::*;
use serde::Deserialize;

use super::selection::Parameters;
use super::split::Split;
use crate::records::SeenCollection;

capeval_choice::named! {
    /// The state of a release; only a ready one can be downloaded.
    pub enum ReleaseState ("state of a release") {
        Preparing = "preparing", "being prepared";
        Ready = "ready", "ready";
        Failed = "failed", "failed";
        Retired = "retired", "no longer available";
    }
}

/// A release.
#[derive(Clone, Debug, Deserialize)]
pub struct Release {
    pub id: String,
    pub number: i64,
    pub title: String,
    pub state: ReleaseState,
    /// The reason why it failed.
    pub reason: Option<String>,
    card: Option<String>,
    card_zh: Option<String>,
    #[serde(deserialize_with = "store::or_default")]
    pub images: i64,
    #[serde(deserialize_with = "store::or_default")]
    pub captions: i64,
    pub created_at: i64,
    #[serde(deserialize_with = "store::json")]
    parameters: Parameters,
}

impl Release {
    /// The data card.
    pub fn card_in(&self, language: Language) -> &str {
        let own = match language {
            Language::English => &self.card,
            Language::Chinese => &self.card_zh,
        };
        own.as_deref().unwrap_or_default()
    }

    /// The split whose captions are kept back.
    pub fn withheld(&self) -> Option<Split> {
        self.parameters.withheld
    }
}

/// A release of a collection that the visitor may see.
pub struct SeenRelease {
    pub seen: SeenCollection,
    pub release: Release,
}

/// `{slug}` and `{number}`
impl Subject for SeenRelease {
    const KIND: &'static str = "release";

    async fn find(app: &App, names: &Names, visitor: Option<&Visitor>) -> Result<Self> {
        let number: i64 = names.number("number")?;
        let seen = SeenCollection::find(app, names, visitor).await?;
        let sql = "SELECT * FROM release WHERE collection = $1 AND number = $2";
        let release = app.store.fetch_optional(sql, args![&seen.collection.id, number]).await?;
        Ok(Self { seen, release: release.ok_or_else(Fault::not_found)? })
    }

    fn standing(&self) -> Standing {
        self.seen.standing()
    }
}

/// An archive of a release.
#[derive(Deserialize)]
pub struct Part {
    pub position: i64,
    pub name: String,
    /// The hash of its content.
    pub blob: String,
    /// In bytes.
    pub size: i64,
}

impl Part {
    /// The size in MiB.
    pub fn mib(&self) -> String {
        format!("{:.1}", self.size as f64 / f64::from(1 << 20))
    }
}

/// A phase of a benchmark that came of a release.
#[derive(Deserialize)]
pub struct ReleasePhase {
    pub slug: String,
    pub phase: String,
    pub title: String,
}

/// The releases of a collection, newest first.
pub async fn releases(store: &Store, collection: &str) -> Result<Vec<Release>, Error> {
    store.fetch("SELECT * FROM release WHERE collection = $1 ORDER BY number DESC", args![collection]).await
}

/// The archives of a release.
pub async fn parts(store: &Store, release: &str) -> Result<Vec<Part>, Error> {
    store.fetch("SELECT * FROM release_part WHERE release = $1 ORDER BY position", args![release]).await
}

/// The archive with this name.
pub async fn part(store: &Store, release: &str, name: &str) -> Result<Part> {
    let sql = "SELECT * FROM release_part WHERE release = $1 AND name = $2";
    store.fetch_optional(sql, args![release, name]).await?.ok_or_else(Fault::not_found)
}

/// The phases that came of a release.
pub async fn published(store: &Store, release: &str) -> Result<Vec<ReleasePhase>, Error> {
    const PUBLISHED: &str = "SELECT benchmark.slug, benchmark.title, phase.slug AS phase FROM publication \
        JOIN phase ON phase.id = publication.phase JOIN benchmark ON benchmark.id = phase.benchmark \
        WHERE publication.release = $1 ORDER BY publication.created_at";
    store.fetch(PUBLISHED, args![release]).await
}

/// Returns true if a visitor may download releases: hosts, moderators, and people of whom a picture or caption was
/// accepted; or everyone, if the collection says so.
pub async fn may_download(
    store: &Store,
    seen: &SeenCollection,
    visitor: Option<&Visitor>,
) -> Result<bool, Error> {
    if seen.is_moderator || seen.collection.releases == ReleaseAccess::Everyone {
        return Ok(true);
    }
    let Some(visitor) = visitor else { return Ok(false) };
    let sql = "SELECT 1 WHERE EXISTS (SELECT 1 FROM caption WHERE author = $2 AND collection = $1 \
               AND state = 'accepted') OR EXISTS (SELECT 1 FROM image WHERE uploader = $2 AND collection = $1 \
               AND state IN ('open', 'complete'))";
    store.exists(sql, args![&seen.collection.id, &visitor.id]).await
}

/// Notes that an archive was downloaded.
pub async fn note_download(
    store: &Store,
    release: &str,
    part: &Part,
    visitor: Option<&Visitor>,
) -> Result<(), Error> {
    let sql = "INSERT INTO download (id, release, part, account, created_at) VALUES ($1, $2, $3, $4, $5)";
    let account = visitor.map(|visitor| visitor.id.clone());
    store.execute(sql, args![ids::new_id(), release, part.position, account, clock::now()]).await.map(drop)
}
