//! How the files of a result were read, and how their captions were paired.

use capeval_choice::counted;
use capeval_corpus::Layout;
use serde::{Deserialize, Serialize};

/// A source of captions: how it was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceReading {
    /// The source, such as a path.
    pub file: String,
    /// The system that wrote the captions; `None` for references.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The format; `None` for captions in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The records, and the columns of ids and captions.
    #[serde(flatten)]
    pub layout: Layout,
    /// The number of captions.
    pub captions: usize,
    /// The pairs with the references; `None` for references.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairing: Option<Pairing>,
}

/// How the captions of a system were paired with references, and how well they fit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pairing {
    /// The rule.
    pub by: PairedBy,
    /// The number of images that were looked at; 0 if none were.
    pub images: usize,
    /// The words that captions share with their own references rather than with those of other images, in standard
    /// errors, if that is finite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t: Option<f64>,
}

capeval_choice::named! {
    /// The rule that paired captions and references.
    pub enum PairedBy ("rule of pairs") {
        Ids = "ids", "by ids";
        Position = "position", "by position";
    }
}

impl SourceReading {
    /// Returns true if captions are paired by their position.
    pub fn is_by_position(&self) -> bool {
        self.pairing.is_some_and(|pairing| pairing.by == PairedBy::Position)
    }

    /// How well the captions of a system fit their references, in a line; `None` if no one looked.
    pub fn fit_in_words(&self) -> Option<String> {
        let (system, pairing) = (self.system.as_ref()?, self.pairing?);
        let t = pairing.t?;
        let of = counted(pairing.images, "image");
        Some(format!(
            "{system} is paired {}; its captions fit their own references by t = {t:.1} over {of} (3 and more if they fit)",
            pairing.by.summary(),
        ))
    }
}
