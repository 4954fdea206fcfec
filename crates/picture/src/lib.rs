//! Pictures as models see them: decoded, resized and cropped with the bytes of Pillow.
//!
//! [`decode`] opens a file as Pillow does, in the mode that it has there, and [`Picture::square`] prepares it for a
//! model. Everything is computed with whole numbers, so results are equal to Pillow's byte for byte.
//!
//! A difference of a few bytes moves a cosine by more than 1e-5, and no JPEG decoder in Rust produces the bytes of
//! libjpeg-turbo, so this crate has its own. On 1,600 files with all kinds of sampling, coding and modes, no byte
//! differs.

mod decode;
mod jpeg;
mod picture;
mod prepare;
mod resize;

pub use decode::{MOST_PIXELS, decode, probe};
pub use picture::{Mode, Picture};
pub use prepare::{Order, Resize};
