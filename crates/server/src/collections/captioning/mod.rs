//! Describing pictures: one after another, each reserved for a while, and nothing typed is lost.

pub(super) mod drafts;
mod pages;
pub(super) mod skips;
pub(crate) mod submit;

use super::records::Collection;
use crate::web::Page;

pub(super) use pages::routes;

/// The language of a caption: the one that was chosen, or else that of the page, if the collection has it.
pub(super) fn language(collection: &Collection, page: &Page, chosen: &str) -> String {
    let has = |wanted: &str| collection.languages.iter().find(|language| *language == wanted);
    let known = has(chosen).or_else(|| has(page.tag())).or(collection.languages.first());
    known.map_or_else(|| page.tag().to_owned(), String::clone)
}
