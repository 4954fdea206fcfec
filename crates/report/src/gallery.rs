//! Single images as a page shows them: their texts, and how their scores were computed.

use capeval_corpus::SegmentId;

use crate::Evidence;

/// The images that a page shows one by one.
#[derive(Clone, Debug, Default)]
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
}

/// The captions of one system, in the order of its [`Segments`](crate::Segments).
#[derive(Clone, Debug, Default)]
pub struct Captions {
    /// The image of each caption, as an index into [`Gallery::ids`].
    pub images: Vec<u32>,
    /// The captions, before tokenisation.
    pub texts: Vec<String>,
    /// For each metric of the report, the evidence of each caption.
    pub evidence: Vec<Vec<Evidence>>,
}
