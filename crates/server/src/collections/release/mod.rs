//! Releases of a collection: what is in one, its files, downloads, and its hidden split as a benchmark.

pub mod archive;
pub mod build;
pub mod card;
pub mod content;
pub mod files;
mod pages;
pub mod publish;
pub mod records;
pub mod selection;
pub mod split;

pub(super) use pages::routes;

/// The media type of archives.
const ZIP: &str = "application/zip";
