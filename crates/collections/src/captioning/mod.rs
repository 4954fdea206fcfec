//! Describing pictures: one after another, each reserved for a while, and nothing typed is lost.

pub(super) mod drafts;
mod pages;
pub(super) mod skips;
pub mod submit;

use capeval_site::prelude::*;

use super::records::Collection;
use super::slots::{self, Assignment, Author};

pub(super) use pages::routes;

/// The language of a caption: the one that was chosen, or for which its picture is reserved, or that of the person's
/// last caption, or else that of the page.
pub(super) async fn language(
    store: &Store,
    collection: &Collection,
    account: &str,
    page: &Page,
    chosen: &str,
) -> Result<String, Error> {
    if !chosen.is_empty() || collection.languages.len() < 2 {
        return Ok(usual(collection, page, chosen));
    }
    let remembered = match collection.is_by_language() {
        true => slots::reserved_in(store, &collection.id, account).await?,
        false => submit::last_language(store, &collection.id, account).await?,
    };
    Ok(usual(collection, page, remembered.as_deref().unwrap_or_default()))
}

/// The picture that a person describes now, if there is one, and the language: the one that was chosen, or else, if
/// each is complete by itself, the first that has a picture for them.
pub(super) async fn next(
    app: &App,
    collection: &Collection,
    account: &str,
    page: &Page,
    (chosen, hint): (&str, Option<&str>),
) -> Result<(String, Option<Assignment>)> {
    let first = language(&app.store, collection, account, page, chosen).await?;
    let author = |language| Author { collection, account, language };
    let found = slots::next(app, author(&first), hint).await?;
    if found.is_none() && chosen.is_empty() && collection.is_by_language() {
        for other in collection.languages.iter().filter(|other| **other != first) {
            if let Some(found) = slots::next(app, author(other), None).await? {
                return Ok((other.clone(), Some(found)));
            }
        }
    }
    Ok((first, found))
}

/// The language that was chosen, or else that of the page, if the collection has it.
fn usual(collection: &Collection, page: &Page, chosen: &str) -> String {
    let has = |wanted: &str| collection.languages.iter().find(|language| *language == wanted);
    let known = has(chosen).or_else(|| has(page.tag())).or(collection.languages.first());
    known.map_or_else(|| page.tag().to_owned(), String::clone)
}
