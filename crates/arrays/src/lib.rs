//! Arrays in files: buffers over owned or mapped memory, and a checked container for all kinds of files.
//!
//! The crate does not define the content of files: prepared references, and the resources of METEOR and SPICE, lay out
//! their own sections.

mod buffer;
mod container;
mod keyed;
mod pieces;

pub use buffer::{Buffer, SharedBytes};
pub use container::{Error, Format, Reader, Writer, reseal};
pub use keyed::{Key, KeyedRows, key_of_hash};
pub use pieces::Parts;
