//! Single images as a page shows them: texts, and how their scores came to be.

use capeval_corpus::SegmentId;

use crate::Evidence;

/// The images that a page lets its reader look through.
#[derive(Clone, Debug, Default)]
pub struct Gallery {
    /// Every image that some system was scored on.
    pub ids: Vec<SegmentId>,
    /// Each image's references as given.
    pub references: Vec<Vec<String>>,
    /// What each system of the report wrote, in the report's order.
    pub systems: Vec<Captions>,
}

/// What one system wrote, caption by caption in the order of its [`Segments`](crate::Segments).
#[derive(Clone, Debug, Default)]
pub struct Captions {
    /// The image of each caption, as an index into [`Gallery::ids`].
    pub images: Vec<u32>,
    /// The captions as given.
    pub texts: Vec<String>,
    /// For each metric of the report, what a page keeps of each caption's explanation.
    pub evidence: Vec<Vec<Evidence>>,
}
