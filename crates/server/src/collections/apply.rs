//! Makes a collection from a description, or brings it up to date with it.

use serde::Deserialize;
use serde_json::json;

use super::records::ReleaseAccess;
use super::rules::states::CollectionState;
use super::slots;
use crate::accounts::people;
use crate::app::App;
use crate::benchmarks::records::Visibility;
use crate::fault;
use crate::fault::Fault;
use crate::store::Tx;
use crate::{args, audit, clock, ids};

/// Languages whose captions have rules.
pub const LANGUAGES: [&str; 2] = ["zh", "en"];

/// Licences that a collection may offer, with their addresses.
pub const LICENCES: [(&str, &str); 4] = [
    ("CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
    ("CC-BY-4.0", "https://creativecommons.org/licenses/by/4.0/"),
    ("CC-BY-SA-4.0", "https://creativecommons.org/licenses/by-sa/4.0/"),
    ("research-only", ""),
];

/// A collection as a file or a form describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The part of its addresses: small letters, digits, hyphens.
    pub slug: String,
    /// The title.
    pub title: String,
    /// What it is about, in a sentence or two.
    #[serde(default)]
    pub summary: String,
    /// What contributors should know beyond the rules for captions, in Markdown.
    #[serde(default)]
    pub guide: String,
    /// Who sees it.
    #[serde(default = "public")]
    pub visibility: Visibility,
    /// Whether it takes contributions.
    #[serde(default = "open")]
    pub state: CollectionState,
    /// The languages of captions: `zh`, `en`.
    #[serde(default = "chinese")]
    pub languages: Vec<String>,
    /// The licences that uploaders choose from.
    #[serde(default = "licences")]
    pub licences: Vec<String>,
    /// Accepted captions by different people for each picture.
    #[serde(default = "five")]
    pub captions: u32,
    /// Complete pictures that end the collection.
    #[serde(default = "thousand")]
    pub target: u32,
    /// Approved pictures after which a person's pictures need no approval.
    #[serde(default = "ten")]
    pub approvals: u32,
    /// Whether people may describe their own pictures.
    #[serde(default)]
    pub own_pictures: bool,
    /// Who may download releases.
    #[serde(default = "contributors")]
    pub releases: ReleaseAccess,
    /// The mail addresses of its hosts.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// The mail addresses of its moderators.
    #[serde(default)]
    pub moderators: Vec<String>,
}

impl Plan {
    /// Whether a language or a licence is among those of the collection.
    pub fn has(&self, name: &str) -> bool {
        self.languages.iter().chain(&self.licences).any(|known| known == name)
    }
}

fn public() -> Visibility {
    Visibility::Public
}
fn open() -> CollectionState {
    CollectionState::Open
}
fn chinese() -> Vec<String> {
    vec!["zh".to_owned()]
}
fn licences() -> Vec<String> {
    vec!["CC-BY-4.0".to_owned()]
}
fn five() -> u32 {
    5
}
fn ten() -> u32 {
    10
}
fn thousand() -> u32 {
    1_000
}
fn contributors() -> ReleaseAccess {
    ReleaseAccess::Contributors
}

/// Makes or changes a collection; returns whether it is new. Nothing is changed if anything is wrong.
///
/// # Errors
/// If the plan is not valid, or a mail address has no account.
pub async fn apply(app: &App, plan: &Plan, actor: Option<&str>) -> Result<bool, Fault> {
    check(plan)?;
    let mut tx = app.store.begin().await?;
    let known = tx.first("SELECT id, wanted FROM collection WHERE slug = $1", args![&plan.slug]).await?;
    let before: Option<i64> = known.as_ref().map(|row| row.get("wanted")).transpose()?;
    let id: String = known.map_or_else(|| Ok(ids::new_id()), |row| row.get("id"))?;
    let wanted = i64::from(plan.captions);
    tx.execute(
        "INSERT INTO collection (id, slug, title, summary, guide, visibility, state, languages, licences, wanted, \
         target, approvals, own_pictures, releases, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) \
         ON CONFLICT (id) DO UPDATE SET title = excluded.title, summary = excluded.summary, guide = excluded.guide, \
         visibility = excluded.visibility, state = excluded.state, languages = excluded.languages, \
         licences = excluded.licences, target = excluded.target, approvals = excluded.approvals, \
         own_pictures = excluded.own_pictures, releases = excluded.releases",
        args![
            &id,
            &plan.slug,
            people::name(&plan.title)?,
            &plan.summary,
            &plan.guide,
            plan.visibility.name(),
            plan.state.name(),
            serde_json::to_string(&plan.languages)?,
            serde_json::to_string(&plan.licences)?,
            wanted,
            plan.target,
            plan.approvals,
            plan.own_pictures,
            plan.releases.name(),
            clock::now()
        ],
    )
    .await?;
    if before.is_some_and(|before| before != wanted) {
        slots::set_wanted(&mut tx, &id, wanted).await?;
    }
    // Lists are complete: whoever is not on one has no duty any more.
    tx.execute("DELETE FROM collection_staff WHERE collection = $1", args![&id]).await?;
    for (duty, emails) in [("moderator", &plan.moderators), ("host", &plan.hosts)] {
        for email in emails {
            add_staff(&mut tx, &id, email, duty).await?;
        }
    }
    let detail = json!({ "slug": plan.slug, "captions": plan.captions, "captions_before": before });
    audit::note(&mut tx, actor, "collection.apply", &id, detail).await?;
    tx.commit().await?;
    Ok(before.is_none())
}

async fn add_staff(tx: &mut Tx, collection: &str, email: &str, duty: &'static str) -> Result<(), Fault> {
    let sql = "SELECT id FROM account WHERE email = $1";
    let account: String = match tx.first(sql, args![email.trim().to_lowercase()]).await? {
        Some(row) => row.get("id")?,
        None => {
            return Err(fault!(UNPROCESSABLE_ENTITY, "staff", "No account has the email address {}.", email));
        }
    };
    tx.execute(
        "INSERT INTO collection_staff (collection, account, duty) VALUES ($1, $2, $3) \
         ON CONFLICT (collection, account) DO UPDATE SET duty = excluded.duty",
        args![collection, account, duty],
    )
    .await?;
    Ok(())
}

fn check(plan: &Plan) -> Result<(), Fault> {
    let is_plain =
        plan.slug.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !is_plain || plan.slug.is_empty() || plan.slug.len() > 60 || plan.slug == "new" {
        return Err(fault!(
            UNPROCESSABLE_ENTITY,
            "slug",
            "`{}` cannot be part of an address. Use lowercase letters, digits and hyphens.",
            &plan.slug
        ));
    }
    people::name(&plan.title)?;
    if !(1..=100).contains(&plan.captions) || plan.target < 1 {
        return Err(fault!(
            UNPROCESSABLE_ENTITY,
            "numbers",
            "Ask for 1 to 100 captions of each picture, and for at least 1 picture."
        ));
    }
    if plan.languages.is_empty() || plan.licences.is_empty() {
        return Err(fault!(UNPROCESSABLE_ENTITY, "choices", "Choose at least one language and one licence."));
    }
    let licences = LICENCES.map(|(name, _)| name);
    let unknown_language = plan.languages.iter().find(|given| !LANGUAGES.contains(&given.as_str()));
    let unknown_licence = plan.licences.iter().find(|given| !licences.contains(&given.as_str()));
    if let Some(unknown) = unknown_language.or(unknown_licence) {
        let known = LANGUAGES.iter().chain(&licences).copied().collect::<Vec<_>>().join(", ");
        return Err(fault!(UNPROCESSABLE_ENTITY, "choice", "`{}` is not one of {}.", unknown, known));
    }
    Ok(())
}
