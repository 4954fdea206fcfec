//! Helpers that tests of several crates share: golden values, waiting, and skipping what a machine cannot test.
//!
//! Golden values are the results of the reference programs for the cases in `testdata/`. Tests of the engine and of the
//! command line read the same files through this crate, and the Python package's tests read them with `tomllib`. The
//! crate does not depend on the engine: a test computes [`Scores`] for a [`Case`] and calls [`Case::check`].
#![expect(clippy::unwrap_used, reason = "for tests, which fail by panicking")]
#![allow(missing_docs, reason = "no users outside of the workspace")]

pub mod chat;
mod compare;
#[cfg(unix)]
pub mod faults;
mod outside;
mod patience;
mod skip;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

pub use compare::Tolerance;
pub use outside::{FOLDER, installed, real, real_bytes, real_text};
pub use patience::{PATIENCE, PAUSE, ends, eventually};
pub use skip::{RECORD, REQUIRED, skip};

/// A file of `testdata/`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    group: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    tool: String,
    version: String,
    command: String,
    tolerance: Tolerance,
    case: Vec<Case>,
}

/// Segments, a metric for them, and the scores given by the reference program.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The property that the case demonstrates; several cases may have the same name.
    pub name: String,
    /// The metric with all settings, as users write it.
    pub metric: String,
    #[serde(default, rename = "about")]
    _about: String,
    segments: Option<String>,
    candidate: Option<String>,
    references: Option<Vec<String>>,
    /// Lines of WordNet's exception lists, for ROUGE-1.5.5.
    #[serde(default)]
    pub exceptions: Vec<String>,
    /// Stop words, for ROUGE-1.5.5.
    #[serde(default)]
    pub stop_words: Vec<String>,
    /// The scores of all segments together, by key such as `bleu-4`.
    #[serde(default)]
    pub corpus: BTreeMap<String, f64>,
    /// The scores of each segment. NaN means that the reference program gives no score.
    #[serde(default)]
    pub segment: BTreeMap<String, Vec<f64>>,
    #[serde(skip)]
    source: Source,
}

/// The origin of a case's numbers.
#[derive(Clone, Default)]
struct Source {
    file: String,
    program: String,
    tolerance: Tolerance,
}

/// Scores computed by capeval, by key.
#[derive(Default)]
pub struct Scores {
    corpus: BTreeMap<String, f64>,
    segment: BTreeMap<String, Vec<f64>>,
}

/// The input of a metric: one caption or a set of captions, and the references of the same image.
pub struct Segment {
    /// The candidate; for metrics of diversity, all captions of the image.
    pub captions: Vec<String>,
    pub references: Vec<String>,
}

/// A line of a file of segments, in the format that `oracle` uses.
#[derive(Deserialize)]
struct Row {
    hyp: Option<String>,
    captions: Option<Vec<String>>,
    refs: Vec<String>,
}

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// The names of all files, without `.toml`, sorted.
pub fn files() -> Vec<String> {
    let entries = std::fs::read_dir(testdata()).unwrap().map(|entry| entry.unwrap().path());
    let toml = entries.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    let mut names: Vec<String> =
        toml.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// All cases of a file.
///
/// # Panics
/// If the file is missing or damaged.
pub fn cases(file: &str) -> Vec<Case> {
    let path = testdata().join(file).with_extension("toml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file = format!("testdata/{file}.toml");
    let found: File = toml::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut cases = Vec::new();
    for group in found.group {
        assert!(
            !group.version.is_empty() && !group.command.is_empty(),
            "{file}: {} lacks provenance",
            group.tool
        );
        let program = format!("{} {}", group.tool, group.version);
        let source = Source { file: file.clone(), program, tolerance: group.tolerance };
        cases.extend(group.case.into_iter().map(|case| Case { source: source.clone(), ..case }));
    }
    cases
}

impl Case {
    /// The segments to score.
    ///
    /// # Panics
    /// If the case has neither a file of segments nor a candidate with references.
    pub fn segments(&self) -> Vec<Segment> {
        let Some(name) = &self.segments else {
            let (captions, references) =
                (vec![self.candidate.clone().unwrap()], self.references.clone().unwrap());
            return vec![Segment { captions, references }];
        };
        let text = std::fs::read_to_string(testdata().join(name).with_extension("jsonl")).unwrap();
        let rows = text.lines().map(|line| serde_json::from_str::<Row>(line).unwrap());
        rows.map(|row| Segment {
            captions: row.captions.unwrap_or_else(|| row.hyp.into_iter().collect()),
            references: row.refs,
        })
        .collect()
    }

    /// Returns true if the case needs METEOR's resources, which are not part of the project. They are SPICE's
    /// dictionary, too.
    pub fn needs_meteor(&self) -> bool {
        self.metric.split(':').next() == Some("meteor") || self.needs_spice()
    }

    /// Returns true if the case needs SPICE's grammar, which is not part of the project either.
    pub fn needs_spice(&self) -> bool {
        self.metric.split(':').next() == Some("spice")
    }
}
