//! The captions of one system.

use capeval_text::Texts;

/// The captions of one system.
#[derive(Clone)]
pub struct System {
    /// The name of the system.
    pub name: String,
    /// The images that it describes, as ascending indices into the references.
    pub images: Vec<u32>,
    /// One caption per image.
    pub texts: Texts,
}
