//! The words of a caption as the programs of CHAIR read them.

mod classes;
mod punkt;
mod singular;
mod tagger;
mod treebank;
mod wordnet;

pub use punkt::Punkt;
pub use singular::singular;
pub use tagger::{Tagger, part_of_speech};
pub use treebank::tokenize;
pub use wordnet::{FILES, WordNet};
