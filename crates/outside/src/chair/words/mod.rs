//! The words of a caption as the programs of CHAIR read them.

mod punkt;
mod singular;
mod tagger;

pub use punkt::Punkt;
pub use singular::singular;
pub use tagger::{Tagger, part_of_speech};
