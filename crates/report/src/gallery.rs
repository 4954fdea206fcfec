//! Single images as a page shows them: their texts, and how their scores were computed.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use capeval_corpus::SegmentId;

use crate::{Evidence, Shapes};

/// The images that a page shows one by one.
#[derive(Clone)]
pub struct Gallery {
    /// Every image that at least one system was scored on.
    pub ids: Vec<SegmentId>,
    /// The references of each image, before tokenisation.
    pub references: Vec<Vec<String>>,
    /// The captions of each system, in the report's order.
    pub systems: Vec<Captions>,
    /// The scores of each reference that the human row holds out, caption by caption, with one value per measure; empty
    /// without that row. It is in [`Report::systems`](crate::Report::systems), after those above.
    pub held_out: Vec<f64>,
    /// Explains the scores.
    pub explainer: Arc<dyn Explain>,
}

/// The captions of one system, in the order of its [`Segments`](crate::Segments).
#[derive(Clone, Debug, Default)]
pub struct Captions {
    /// The number of the system for [`Explain`], which stays if systems are sorted.
    pub system: usize,
    /// The image of each caption, as an index into [`Gallery::ids`].
    pub images: Vec<u32>,
    /// The captions, before tokenisation.
    pub texts: Vec<String>,
}

/// Explains the scores of images when a page is written: the evidence for all of them takes much more memory than what
/// it is computed from.
pub trait Explain: Send + Sync {
    /// For each system and metric, the evidence of each caption of `images`, in their order. The images are indices
    /// into [`Gallery::ids`].
    fn evidence(&self, images: Range<usize>, shapes: &mut Shapes) -> Vec<Vec<Vec<Evidence>>>;
}

impl Gallery {
    /// Returns true if there are captions or references, and not only scores that were given.
    pub fn has_texts(&self) -> bool {
        let mut captions = self.systems.iter().flat_map(|system| &system.texts);
        captions.any(|text| !text.is_empty()) || self.references.iter().any(|texts| !texts.is_empty())
    }
}

impl fmt::Debug for Gallery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gallery({} images of {} systems)", self.ids.len(), self.systems.len())
    }
}
