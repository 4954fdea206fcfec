//! Releases of a collection: what is in one, its files, downloads, and its hidden split as a benchmark.
//!
//! A release is rows first and files second. One transaction decides its content, with numbers and splits that are
//! never used again; a job writes the archives from these rows, uncompressed, in a fixed order and with fixed times, so
//! the same rows give the same bytes. Groups of pictures are assigned to splits in the order of a hash, each to the
//! split that lacks most pictures: a hash alone left small collections without a test split. Released pictures keep
//! their split, since a picture that moved from test to train would leak.

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
