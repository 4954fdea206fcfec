//! SPICE 1.0: the tuples of a scene graph that a candidate shares with its references.
//!
//! SPICE (Anderson et al. 2016) parses captions, turns their dependencies into objects, attributes and relations, and
//! compares those of a candidate with those of all references of the image. This crate is to give exactly the numbers
//! of the program `spice-1.0.jar` with Stanford CoreNLP 3.6.0.
#![allow(unexpected_cfgs, reason = "cargo-fuzz sets `fuzzing`")]

mod ahead;
mod cache;
mod caption;
mod dependencies;
mod enhance;
mod graph;
mod hash_order;
mod matching;
mod metric;
mod morphology;
mod network;
mod parser;
mod phrases;
mod recent;
mod resources;
mod scene;
mod stored;
#[cfg(any(test, fuzzing))]
pub mod testing;
mod tokens;
mod tree;
mod tuples;

pub use ahead::ParsesAhead;
pub use cache::ParseCache;
pub use caption::CaptionReader;
pub use dependencies::Dependencies;
pub use graph::{DependencyGraph, Edge, Relation, Word, WordId};
pub use matching::{Counts, Subset};
pub use metric::{Data, KIND, SYNSETS};
pub use morphology::lemma;
pub use parser::{Parse, Parser};
pub use phrases::{Phrases, Synonyms};
pub use resources::{Compiler, Grammar, Summary};
pub use scene::{Concept, Fact, Likeness, SceneGraph};
pub use tokens::sentences;
pub use tree::{NodeId, Tree};
pub use tuples::{Tuple, tuples};

/// The metrics of this family.
pub const KINDS: &[&capeval_metric::MetricKind] = &[&KIND];
