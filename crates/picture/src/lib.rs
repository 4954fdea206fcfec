//! Pictures as models see them: decoded, resized and cropped with the bytes of Pillow.
//!
//! [`decode`] opens a file as Pillow does, in the mode that it has there, and [`Picture::square`] prepares it for a
//! model. Everything is computed with whole numbers, so results are equal to Pillow's byte for byte.

mod decode;
mod jpeg;
mod picture;
mod prepare;
mod resize;

pub use decode::{MOST_PIXELS, decode, probe};
pub use picture::{Mode, Picture};
pub use prepare::Order;
