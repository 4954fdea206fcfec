//! Submitting a caption: the rules that it must keep, and the place of the picture that it takes.

use std::borrow::Cow;

use capeval_api::ImageState;
use capeval_site::prelude::*;
use serde_json::json;

use super::drafts;
use crate::records::Collection;
use crate::rules::lint::{self, Level, Rule};
use crate::rules::states::CaptionState;
use crate::rules::{acceptance, order, text};
use crate::slots::{self, Author};

/// The reason why a caption is refused.
pub enum Problem {
    /// It breaks a rule.
    Rule(Cow<'static, Rule>),
    /// Its author has written the same about another picture.
    Repeated,
}

impl Problem {
    /// Its name for programs.
    pub fn code(&self) -> &str {
        match self {
            Self::Rule(rule) => &rule.code,
            Self::Repeated => "repeated",
        }
    }

    /// The problem in words.
    pub fn text(&self, language: Language) -> &str {
        match self {
            Self::Rule(rule) => rule.text(language),
            Self::Repeated => language.t(say(
                "You have given another picture the same caption. Describe what is special about this one.",
            )),
        }
    }
}

/// The outcome for a caption.
pub enum Outcome {
    /// It waits for ratings, with this id.
    Taken(String),
    /// It is refused; the text is kept as a draft, as in the cases that follow.
    Refused(Vec<Problem>),
    /// The picture was taken away.
    Gone,
    /// Others have completed the picture.
    Full,
    /// The person has described it before.
    Again,
}

/// A caption as it is submitted.
pub struct SubmittedCaption<'a> {
    pub collection: &'a Collection,
    /// The id of the picture.
    pub image: &'a str,
    /// The language, one of those of the collection.
    pub language: &'a str,
    /// The text as it was typed.
    pub text: &'a str,
}

/// Checks a caption and adds it.
///
/// # Errors
/// If it is of the person's own picture and may not be, they submit too often, or the database fails.
pub async fn submit(app: &App, visitor: &Visitor, given: &SubmittedCaption<'_>) -> Result<Outcome> {
    let SubmittedCaption { collection, image, language, .. } = *given;
    let clean = text::clean(given.text);
    let (refusing, warning): (Vec<_>, Vec<_>) = lint::broken(&clean, language, &collection.shortest)
        .into_iter()
        .partition(|rule| rule.level == Level::Refuse);
    let problems: Vec<Problem> = refusing.into_iter().map(Problem::Rule).collect();
    if !problems.is_empty() {
        drafts::keep(&app.store, image, &visitor.id, given.text).await?;
        return Ok(Outcome::Refused(problems));
    }
    app.limits.take("captions", &visitor.id, app.settings.number(&crate::CAPTIONS_PER_MINUTE))?;
    let warnings = warning.iter().map(|rule| rule.code.as_str()).collect();
    let new = New { collection, image, language, text: &clean, warnings };
    let mut tx = app.store.begin().await?;
    let outcome = add(&mut tx, visitor, new).await?;
    if let Outcome::Taken(_) = outcome {
        tx.commit().await?;
    } else {
        drop(tx);
        let mut tx = app.store.begin().await?;
        slots::free(&mut tx, image, &visitor.id, i64::MAX).await?;
        drafts::save(&mut tx, image, &visitor.id, given.text).await?;
        tx.commit().await?;
    }
    Ok(outcome)
}

/// The number of captions that a person has submitted to a collection.
pub(super) async fn count(store: &Store, collection: &str, account: &str) -> Result<i64, Error> {
    let sql = "SELECT COUNT(*) FROM caption WHERE author = $1 AND collection = $2 AND state <> 'withdrawn'";
    store.fetch_one(sql, args![account, collection]).await
}

/// The language of the last caption that a person submitted to a collection.
pub(super) async fn last_language(
    store: &Store,
    collection: &str,
    account: &str,
) -> Result<Option<String>, Error> {
    let sql = "SELECT language FROM caption WHERE author = $1 AND collection = $2 ORDER BY id DESC LIMIT 1";
    store.fetch_optional(sql, args![account, collection]).await
}

/// Returns true if the person has written the same about another picture.
pub(crate) async fn is_repeated(
    tx: &mut Tx,
    collection: &Collection,
    author: &str,
    text: &str,
    image: &str,
) -> Result<bool, Error> {
    const SAME: &str = "SELECT 1 FROM caption WHERE collection = $1 AND text_norm = $2 AND author = $3 \
                        AND image <> $4 AND state <> 'withdrawn'";
    tx.exists(SAME, args![&collection.id, text::norm(text), author, image]).await
}

/// A new caption, which has been checked.
pub struct New<'a> {
    pub collection: &'a Collection,
    /// The id of the picture.
    pub image: &'a str,
    pub language: &'a str,
    /// The text, clean.
    pub text: &'a str,
    /// The codes of rules that warn.
    pub warnings: Vec<&'a str>,
}

/// Adds a caption in the place that its author has reserved, or in a free one.
///
/// # Errors
/// If it is of their own picture and may not be, their account has been disabled since then, or the database fails.
pub async fn add(tx: &mut Tx, visitor: &Visitor, new: New<'_>) -> Result<Outcome> {
    let author = visitor.id.as_str();
    let known = "SELECT 1 FROM caption WHERE image = $1 AND author = $2";
    // Captions that a person submits at once are compared in turn. The person is locked before the picture, as when
    // they rate.
    tx.lock("account", author).await?;
    let state = slots::lock(tx, new.image).await?;
    people::require_enabled(tx, author).await?;
    if is_repeated(tx, new.collection, author, new.text, new.image).await? {
        return Ok(Outcome::Refused(vec![Problem::Repeated]));
    }
    if tx.exists(known, args![new.image, author]).await? {
        return Ok(Outcome::Again);
    }
    if !state.is_some_and(ImageState::is_public) {
        return Ok(Outcome::Gone);
    }
    let uploader = "SELECT uploader FROM image WHERE id = $1";
    let uploader: Option<String> = tx.fetch_one(uploader, args![new.image]).await?;
    if uploader.as_deref() == Some(author) && !new.collection.own_pictures {
        return Err(fault! {
            CONFLICT, "own-picture", "In this collection, you cannot describe your own pictures."
        });
    }
    let by = Author { collection: new.collection, account: author, language: new.language };
    if !slots::fill(tx, by, new.image).await? {
        return Ok(Outcome::Full);
    }
    let id = insert(tx, Some(author), CaptionState::Submitted, &new).await?;
    tx.execute("DELETE FROM draft WHERE image = $1 AND account = $2", args![new.image, author]).await?;
    audit::note(tx, Some(author), "caption.add", &id, json!({ "image": new.image })).await?;
    Ok(Outcome::Taken(id))
}

/// Writes the row of a caption; its place is the caller's concern.
pub(crate) async fn insert(
    tx: &mut Tx,
    author: Option<&str>,
    state: CaptionState,
    new: &New<'_>,
) -> Result<String> {
    let counts = text::counts(new.text);
    let (id, now) = (ids::new_id(), clock::now());
    let row = columns! {
        id: &id, collection: &new.collection.id, image: new.image, author, language: new.language,
        script: text::script(new.text), text: new.text, text_norm: text::norm(new.text),
        characters: counts.characters, words: counts.words, warnings: json!(new.warnings).to_string(),
        state: state.name(), ratings: 0_i64, ratings_wanted: acceptance::RATINGS,
        shuffle: order::place(slots::random()?), created_at: now, changed_at: now,
        decided_at: (state == CaptionState::Accepted).then_some(now),
    };
    tx.insert_row("caption", row).await?;
    Ok(id)
}
