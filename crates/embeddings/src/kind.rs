//! The metrics that compare vectors, by name, with all their settings.

use std::sync::Arc;

use capeval::Outside;
use capeval::metric::{Part, Resources, Setting, Settings};
use capeval_choice::Refusal;

use crate::given::Given;
use crate::metrics::{bert_score, clip_score, fluency, retrieval, self_similarity, sentence};

/// A function that builds a metric, under the name that the user typed, from its settings and what was given.
type Build = fn(&str, &Settings<'_>, &Given) -> Result<Arc<dyn Outside>, Refusal>;

/// The entry of a metric that compares vectors. Command line, documentation and Python read these.
pub struct EmbeddingKind {
    /// The name that users type.
    pub name: &'static str,
    /// What it rewards, in one line.
    pub summary: &'static str,
    /// The paper that published it.
    pub paper: &'static str,
    /// The program whose scores it reproduces.
    pub program: &'static str,
    /// What it needs, in words: `a model of CLIP, or vectors of pictures and texts`.
    pub needs: &'static str,
    /// Its settings.
    pub settings: &'static [Setting],
    /// The scores that it computes.
    pub parts: fn() -> Vec<Part>,
    /// Builds it.
    pub(crate) build: Build,
}

/// The metrics, in the order of lists.
pub const KINDS: &[&EmbeddingKind] = &[
    &clip_score::CLIP_S,
    &clip_score::REF_CLIP_S,
    &clip_score::PAC_S,
    &clip_score::REF_PAC_S,
    &bert_score::KIND,
    &sentence::KIND,
    &fluency::FENSE,
    &fluency::FER,
    &retrieval::RECALL,
    &retrieval::MEDIAN_RANK,
    &self_similarity::KIND,
];

/// The kind of a metric with settings, such as `clip-s:variant=paper`; `None` if it compares no vectors. Case does not
/// matter, and `_` is `-`.
pub fn kind(spec: &str) -> Option<&'static EmbeddingKind> {
    let name = spec.split(':').next().unwrap_or_default().to_ascii_lowercase().replace('_', "-");
    KINDS.iter().copied().find(|kind| kind.name == name)
}

/// Builds those of the metrics that compare vectors, under the names that the user typed.
pub fn build(names: &[String], given: &Given) -> Result<Vec<Arc<dyn Outside>>, Refusal> {
    let mut built: Vec<Arc<dyn Outside>> = Vec::new();
    let resources = Resources::default();
    for spec in names {
        let Some(kind) = kind(spec) else { continue };
        if built.iter().any(|known| known.name() == spec) {
            continue;
        }
        let settings = Settings::read(kind.name, kind.settings, spec, &[], &resources)?;
        built.push((kind.build)(spec, &settings, given).map_err(|refusal| refusal.at(kind.name))?);
    }
    given.refuse_unused()?;
    Ok(built)
}
