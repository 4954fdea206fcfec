//! Creates drafts from bundles of other sites: Codabench, CodaLab 1.5 and EvalAI.
//!
//! No program of a bundle is run. Its description becomes a plan, its pages become the rules, and its references become
//! files of the plan. The report names each field without a counterpart, with its line. The tree of the description
//! finds fields that no code reads, so none is dropped silently.

pub mod archive;
mod codalab;
mod dates;
mod draft;
mod evalai;
mod handlers;
mod html;
mod measures;
mod yaml;

use std::path::Path;

use anyhow::Context;

use self::archive::Bundle;
use self::draft::Draft;
use self::yaml::Node;
use crate::settings::Plan;
pub(super) use handlers::routes;

/// Reads a bundle, an archive or a folder, and writes a plan with its files into a new folder; returns the plan, and
/// what is to be said about it. An archive may unpack to `most` bytes.
///
/// # Errors
/// If it is no bundle, or the folder has files.
pub fn import(path: &Path, out: &Path, hosts: &[String], most: u64) -> anyhow::Result<(Plan, String)> {
    draft::require_new(out)?;
    let mut bundle = Bundle::open(path, most)?;
    let names: Vec<&str> = codalab::NAMES.into_iter().chain(evalai::NAMES).collect();
    let description = bundle.find_description(&names).with_context(|| path.display().to_string())?;
    let root = Node::parse(&bundle.text(&description)?).with_context(|| description.clone())?;
    let mut draft = Draft::begin(&bundle, out, hosts, most)?;
    let is_evalai = evalai::NAMES.iter().any(|name| description.to_ascii_lowercase().ends_with(name));
    let read = if is_evalai { evalai::read } else { codalab::read };
    let kind = read(&mut draft, &root).with_context(|| description.clone())?;
    draft.finish(out, &description, kind)
}

#[cfg(test)]
mod tests;
