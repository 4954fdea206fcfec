//! The settings of a collection: as a file, a form or a program gives them, and as they are stored. A field of a
//! collection is told here, in a migration, and in `templates/collections/settings.html`.

use std::fmt;

use capeval_api::{CollectionState, ReleaseAccess, Visibility};
use capeval_site::prelude::*;
use capeval_site::store::Columns;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;

use super::records::Duty;
use super::rules::lint::Shortest;
use super::slots;

/// Languages whose captions have rules.
pub const LANGUAGES: [&str; 2] = ["zh", "en"];

/// Licences that a collection may offer.
pub const LICENCES: [&str; 4] = ["CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "research-only"];

/// The questions of collections about games, and of collections that were made when all asked them.
pub const OF_GAMES: [&str; 2] = [say("Game title"), say("Platform")];

/// The address of a licence, if it has one.
pub fn address(licence: &str) -> Option<&'static str> {
    match licence {
        "CC0-1.0" => Some("https://creativecommons.org/publicdomain/zero/1.0/"),
        "CC-BY-4.0" => Some("https://creativecommons.org/licenses/by/4.0/"),
        "CC-BY-SA-4.0" => Some("https://creativecommons.org/licenses/by-sa/4.0/"),
        _ => None,
    }
}

/// The number of captions that each picture is to have, in a language or in all together, and the number of pictures
/// that are to have them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goal {
    /// Empty for all languages together.
    pub language: String,
    /// Accepted captions, by different people, of each picture.
    pub captions: u32,
    /// The number of complete pictures that is the goal, which progress shows; reaching it ends nothing.
    pub target: u32,
}

/// A collection as it is stored.
#[derive(Clone, Debug, Deserialize)]
pub struct Collection {
    pub id: String,
    pub slug: String,
    pub title: String,
    pub summary: String,
    pub guide: String,
    pub visibility: Visibility,
    pub state: CollectionState,
    #[serde(deserialize_with = "store::json")]
    pub languages: Vec<String>,
    #[serde(deserialize_with = "store::json")]
    pub licences: Vec<String>,
    #[serde(deserialize_with = "store::json")]
    pub goals: Vec<Goal>,
    pub approvals: u32,
    pub own_pictures: bool,
    pub releases: ReleaseAccess,
    #[serde(deserialize_with = "store::json")]
    pub details: Vec<String>,
    #[serde(deserialize_with = "store::json")]
    pub shortest: Shortest,
}

impl Collection {
    /// Returns true if each language is complete by itself.
    pub fn is_by_language(&self) -> bool {
        self.goals.iter().any(|goal| !goal.language.is_empty())
    }

    /// The captions that each picture is to have in all.
    pub fn captions(&self) -> u32 {
        self.goals.iter().map(|goal| goal.captions).sum()
    }

    /// The largest target.
    pub fn target(&self) -> u32 {
        self.goals.iter().map(|goal| goal.target).max().unwrap_or(0)
    }

    /// Refuses contributions if none can be made now.
    pub fn require_open(&self) -> Result<()> {
        self.refusal().map_or(Ok(()), Err)
    }

    /// The reason why nothing can be contributed now, if so.
    pub fn refusal(&self) -> Option<Fault> {
        match self.state {
            CollectionState::Open => None,
            CollectionState::Paused => Some(fault! {
                CONFLICT, "paused", "The hosts have paused this collection. Please come back later."
            }),
            CollectionState::Closed => {
                Some(fault!(CONFLICT, "collection-closed", "This collection has ended. Thank you!"))
            }
        }
    }
}

/// A language of captions: its name, or a table with numbers of its own.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(untagged)]
pub enum PlannedLanguage {
    Name(String),
    Own(LanguagePlan),
}

/// A language whose captions are counted by themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LanguagePlan {
    /// `zh` or `en`.
    pub language: String,
    /// The accepted captions in this language that each picture is to have; those of the collection if left out.
    pub captions: Option<u32>,
    /// The number of pictures with all captions in this language; that of the collection if left out.
    pub target: Option<u32>,
}

impl LanguagePlan {
    /// The captions as a field of a form has them.
    pub fn captions(&self) -> String {
        self.captions.map_or_else(String::new, |captions| captions.to_string())
    }

    /// The target as a field of a form has it.
    pub fn target(&self) -> String {
        self.target.map_or_else(String::new, |target| target.to_string())
    }
}

/// Unlike what is derived for either of the two, this says what is wrong with a table.
impl<'de> Deserialize<'de> for PlannedLanguage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LanguageVisitor;
        impl<'de> Visitor<'de> for LanguageVisitor {
            type Value = PlannedLanguage;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a language such as `zh`, or a table with `language`, `captions` and `target`")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<PlannedLanguage, E> {
                Ok(PlannedLanguage::Name(name.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PlannedLanguage, A::Error> {
                LanguagePlan::deserialize(MapAccessDeserializer::new(map)).map(PlannedLanguage::Own)
            }
        }
        deserializer.deserialize_any(LanguageVisitor)
    }
}

impl PlannedLanguage {
    /// The tag of the language.
    pub fn name(&self) -> &str {
        match self {
            Self::Name(name) => name,
            Self::Own(LanguagePlan { language, .. }) => language,
        }
    }

    /// The numbers of its own, which it has from now on.
    pub fn own(&mut self) -> &mut LanguagePlan {
        if let Self::Name(name) = self {
            *self = Self::Own(LanguagePlan { language: std::mem::take(name), ..LanguagePlan::default() });
        }
        match self {
            Self::Own(own) => own,
            Self::Name(_) => unreachable!("a name has just become a table"),
        }
    }
}

/// The settings of a collection. Fields that are left out have their defaults.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "CollectionPlan", extend("required" = ["slug", "title"]))]
pub struct Plan {
    /// The name in addresses: lowercase letters, digits, hyphens.
    pub slug: String,
    pub title: String,
    /// Its subject, in a sentence or two.
    pub summary: String,
    /// Advice to contributors besides the rules for captions, in Markdown.
    pub guide: String,
    pub visibility: Visibility,
    pub state: CollectionState,
    /// The languages of captions: `zh`, `en`. If they are names, captions of all languages count together; if one is a
    /// table with numbers of its own, each language is complete by itself.
    pub languages: Vec<PlannedLanguage>,
    /// The licences that uploaders choose from.
    pub licences: Vec<String>,
    /// The accepted captions, by different people, that each picture is to have: in all, or in each language without a
    /// number of its own.
    pub captions: u32,
    /// The number of complete pictures that is the goal, in all or in each language without a number of its own.
    /// Progress shows it; reaching it ends nothing.
    pub target: u32,
    /// The approved pictures after which a contributor's pictures need no approval.
    pub approvals: u32,
    /// Let people describe their own pictures.
    pub own_pictures: bool,
    pub releases: ReleaseAccess,
    /// The questions about a picture, at most two, such as `Game title` and `Platform`. Pictures of one person that
    /// agree in the first answer stay in one split. If left out, they stay as they are.
    pub details: Option<Vec<String>>,
    /// The fewest words (`en`) or Chinese characters (`zh`) of a caption, from 2 to 100, by language; 8 words and 10
    /// characters if left out.
    pub shortest: Shortest,
    /// The email addresses of its hosts.
    pub hosts: Vec<String>,
    /// The email addresses of its moderators.
    pub moderators: Vec<String>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            slug: String::new(),
            title: String::new(),
            summary: String::new(),
            guide: String::new(),
            visibility: Visibility::Public,
            state: CollectionState::Open,
            languages: vec![PlannedLanguage::Name("zh".to_owned())],
            licences: vec!["CC-BY-4.0".to_owned()],
            captions: 5,
            target: 1_000,
            approvals: 10,
            own_pictures: false,
            releases: ReleaseAccess::Contributors,
            details: None,
            shortest: Shortest::new(),
            hosts: Vec::new(),
            moderators: Vec::new(),
        }
    }
}

impl From<Collection> for Plan {
    fn from(collection: Collection) -> Self {
        let own = |goal: &Goal| LanguagePlan {
            language: goal.language.clone(),
            captions: Some(goal.captions),
            target: Some(goal.target),
        };
        let languages = match collection.is_by_language() {
            true => collection.goals.iter().map(|goal| PlannedLanguage::Own(own(goal))).collect(),
            false => collection.languages.iter().cloned().map(PlannedLanguage::Name).collect(),
        };
        let most = collection.goals.iter().map(|goal| goal.captions).max();
        let target = collection.target();
        Self {
            slug: collection.slug,
            title: collection.title,
            summary: collection.summary,
            guide: collection.guide,
            visibility: collection.visibility,
            state: collection.state,
            captions: most.unwrap_or(0),
            target,
            languages,
            licences: collection.licences,
            approvals: collection.approvals,
            own_pictures: collection.own_pictures,
            releases: collection.releases,
            details: Some(collection.details),
            shortest: collection.shortest,
            hosts: Vec::new(),
            moderators: Vec::new(),
        }
    }
}

impl Plan {
    /// The settings of a collection, with its hosts and moderators.
    pub async fn of(store: &Store, collection: Collection) -> Result<Self> {
        const STAFF: &str = "SELECT collection_staff.duty, account.email FROM collection_staff \
             JOIN account ON account.id = collection_staff.account WHERE collection = $1 ORDER BY account.email";
        let staff: Vec<(Duty, String)> = store.fetch(STAFF, args![&collection.id]).await?;
        let mut plan = Self::from(collection);
        for (duty, email) in staff {
            match duty {
                Duty::Host => plan.hosts.push(email),
                Duty::Moderator => plan.moderators.push(email),
            }
        }
        Ok(plan)
    }

    /// Returns true if a language or a licence is among those of the collection.
    pub fn has(&self, name: &str) -> bool {
        self.languages.iter().any(|known| known.name() == name)
            || self.licences.iter().any(|known| known == name)
    }

    /// The fewest words or characters of captions in a language, if the collection has a number of its own.
    pub fn shortest(&self, language: &str) -> Option<u32> {
        self.shortest.get(language).copied()
    }

    /// The plan of a language alone.
    pub fn own(&self, name: &str) -> Option<&LanguagePlan> {
        self.languages.iter().find_map(|known| match known {
            PlannedLanguage::Own(own) if own.language == name => Some(own),
            PlannedLanguage::Own(_) | PlannedLanguage::Name(_) => None,
        })
    }

    /// The goals: one for each language, or one for all.
    pub fn goals(&self) -> Vec<Goal> {
        let goal = |language: &str, captions: Option<u32>, target: Option<u32>| Goal {
            language: language.to_owned(),
            captions: captions.unwrap_or(self.captions),
            target: target.unwrap_or(self.target),
        };
        if self.languages.iter().all(|language| matches!(language, PlannedLanguage::Name(_))) {
            return vec![goal("", None, None)];
        }
        let of = |language: &PlannedLanguage| match language {
            PlannedLanguage::Name(name) => goal(name, None, None),
            PlannedLanguage::Own(LanguagePlan { language, captions, target }) => {
                goal(language, *captions, *target)
            }
        };
        self.languages.iter().map(of).collect()
    }

    /// The tags of the languages.
    fn names(&self) -> Vec<&str> {
        self.languages.iter().map(PlannedLanguage::name).collect()
    }

    /// The same with texts and lists as people type them into a form: browsers end lines with `\r\n`, a field has
    /// several addresses, and the field that says that nothing is ticked is empty.
    pub fn typed(mut self) -> Self {
        for text in [&mut self.slug, &mut self.title, &mut self.summary, &mut self.guide] {
            *text = text.trim().replace("\r\n", "\n");
        }
        self.languages.retain(|language| !language.name().is_empty());
        for list in [&mut self.hosts, &mut self.moderators, &mut self.licences] {
            *list = list.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect();
        }
        if let Some(details) = &mut self.details {
            *details =
                details.iter().flat_map(|text| text.lines()).map(|line| line.trim().to_owned()).collect();
            details.retain(|detail| !detail.is_empty());
        }
        self
    }

    /// The columns that store it; what it leaves out stays as it is.
    fn columns(&self) -> Result<Columns> {
        let mut columns = columns! {
            title: people::name(&self.title)?,
            summary: &self.summary,
            guide: &self.guide,
            visibility: self.visibility.name(),
            state: self.state.name(),
            languages: store::list(&self.names())?,
            licences: store::list(&self.licences)?,
            goals: store::list(&self.goals())?,
            approvals: self.approvals,
            own_pictures: self.own_pictures,
            releases: self.releases.name(),
            shortest: store::list(&self.shortest)?,
        };
        if let Some(details) = &self.details {
            columns.extend(columns! { details: store::list(details)? });
        }
        Ok(columns)
    }

    /// The questions about a picture, one per line.
    pub fn details(&self) -> String {
        self.details.iter().flatten().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

/// The refusal of a slug that another collection has.
fn taken(plan: &Plan) -> Fault {
    fault!(CONFLICT, "slug-taken", "A collection with the address {} already exists.", &plan.slug)
}

/// Creates or changes a collection; returns whether it is new. Nothing is changed if anything is wrong, or if the
/// collection is not the actor's.
pub async fn apply(app: &App, plan: &Plan, slug: Slug, actor: Option<&str>) -> Result<bool> {
    const RUNS: &str = "SELECT 1 FROM account WHERE id = $1 AND (role = 'admin' OR EXISTS \
        (SELECT 1 FROM collection_staff WHERE collection = $2 AND account = $1 AND duty = 'host'))";
    check(plan)?;
    let mut tx = app.store.begin().await?;
    let known = tx.pick(
        "SELECT * FROM collection WHERE slug = $1",
        "SELECT * FROM collection WHERE slug = $1 FOR NO KEY UPDATE",
    );
    let known: Option<Collection> = tx.fetch_optional(known, args![&plan.slug]).await?;
    if let Some(known) = &known {
        if slug == Slug::Unused {
            return Err(taken(plan));
        }
        if let Some(actor) = actor
            && !tx.exists(RUNS, args![actor, &known.id]).await?
        {
            return Err(Fault::not_found());
        }
    }
    let goals = plan.goals();
    let before = known.as_ref().map(|known| known.goals.clone());
    let id = known.map_or_else(ids::new_id, |known| known.id);
    let is_changed = before.as_ref().is_some_and(|before| *before != goals);
    if is_changed {
        slots::lock_all(&mut tx, &id).await?;
    }
    if before.is_some() {
        tx.change_row("collection", &id, plan.columns()?).await?;
    } else {
        let new = columns! { id: &id, slug: &plan.slug, created_at: clock::now() };
        // Someone else may have created it since it was looked for.
        if !tx.add_row("collection", [new, plan.columns()?].concat()).await? {
            return Err(taken(plan));
        }
    }
    if is_changed {
        slots::set_goals(&mut tx, &id, &goals).await?;
    }
    // Lists are complete: people who are on neither lose their duty.
    tx.execute("DELETE FROM collection_staff WHERE collection = $1", args![&id]).await?;
    for (duty, emails) in [(Duty::Moderator, &plan.moderators), (Duty::Host, &plan.hosts)] {
        for email in emails {
            add_staff(&mut tx, &id, email, duty).await?;
        }
    }
    let detail = json!({ "slug": plan.slug, "goals": goals, "goals_before": before });
    audit::note(&mut tx, actor, "collection.apply", &id, detail).await?;
    tx.commit().await?;
    Ok(before.is_none())
}

async fn add_staff(tx: &mut Tx, collection: &str, email: &str, duty: Duty) -> Result<()> {
    let sql = "SELECT id FROM account WHERE email = $1";
    let account: Option<String> = tx.fetch_optional(sql, args![email.trim().to_lowercase()]).await?;
    let Some(account) = account else {
        return Err(fault!(UNPROCESSABLE_ENTITY, "staff", "No account has the email address {}.", email));
    };
    let sql = "INSERT INTO collection_staff (collection, account, duty) VALUES ($1, $2, $3) \
               ON CONFLICT (collection, account) DO UPDATE SET duty = excluded.duty";
    tx.execute(sql, args![collection, account, duty.name()]).await?;
    Ok(())
}

fn check(plan: &Plan) -> Result<()> {
    if !clean_text::is_key(&plan.slug, 60) || plan.slug == "new" {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "slug",
            "`{}` cannot be part of an address. Use lowercase letters, digits and hyphens.", &plan.slug
        });
    }
    people::name(&plan.title)?;
    let goals = plan.goals();
    if goals.iter().any(|goal| !(1..=100).contains(&goal.captions) || goal.target < 1) {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "numbers",
            "Ask for 1 to 100 captions of each picture, and for at least 1 picture."
        });
    }
    if plan.shortest.values().any(|least| !(2..=100).contains(least)) {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "numbers",
            "Ask for 2 to 100 words or Chinese characters of a caption at least."
        });
    }
    let is_short = |detail: &String| !detail.is_empty() && detail.chars().count() <= 80;
    if plan.details.iter().any(|details| details.len() > 2 || !details.iter().all(is_short)) {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "details",
            "Ask for at most two things about a picture, in at most 80 characters each."
        });
    }
    if plan.languages.is_empty() || plan.licences.is_empty() {
        return Err(fault!(UNPROCESSABLE_ENTITY, "choices", "Choose at least one language and one licence."));
    }
    let names = plan.names();
    let unknown_language = names
        .iter()
        .copied()
        .chain(plan.shortest.keys().map(String::as_str))
        .find(|given| !LANGUAGES.contains(given));
    let unknown_licence = plan.licences.iter().map(String::as_str).find(|given| !LICENCES.contains(given));
    if let Some(unknown) = unknown_language.or(unknown_licence) {
        let known = LANGUAGES.iter().chain(&LICENCES).copied().collect::<Vec<_>>().join(", ");
        return Err(fault!(UNPROCESSABLE_ENTITY, "choice", "`{}` is not one of {}.", unknown, known));
    }
    if let Some((_, twice)) = names.iter().enumerate().find(|(k, name)| names[..*k].contains(name)) {
        return Err(fault!(UNPROCESSABLE_ENTITY, "choices", "The language {} is named twice.", twice));
    }
    if let Some(other) = plan.shortest.keys().find(|language| !names.contains(&language.as_str())) {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "choice",
            "shortest has a number for {}, which is not a language of this collection.", other
        });
    }
    Ok(())
}
