//! How do arrays lie in a file? Buffers over owned or mapped memory, and one checked container for all kinds of files.
//!
//! The crate knows no file by its content: prepared references and METEOR's resources name their sections themselves.

mod buffer;
mod container;

pub use buffer::{Buffer, SharedBytes};
pub use container::{Error, Format, Reader, Writer, reseal};
