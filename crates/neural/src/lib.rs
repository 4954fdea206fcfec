//! Vectors of texts and pictures from models in the folders of Hugging Face, on the CPU.
//!
//! A [`Model`] reads the files that a [`Source`] gives. Texts and pictures go through one encoder, as many at once as
//! fit, without padding; the bits of a vector depend on its text or picture alone.

mod clip;
mod config;
mod encoder;
mod functions;
mod mending;
mod model;
mod preparation;
mod product;
mod source;
mod text;
mod tokenizer;
mod weights;

pub use model::{Model, ModelPurpose, Tokens, products};
pub use preparation::PictureResize;
pub use source::{Source, weight_files};
pub use weights::from_f16;
