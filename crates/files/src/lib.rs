//! Where are files, what is in them, and how are they written? Opening, mapping, unpacking, writing, installing.
//!
//! The one library crate that opens files, for the program, the Python package and a server alike. It prints nothing
//! and asks nobody. METEOR needs tables that are not ours to ship: they are compiled once from the published package
//! into one file in the user's folder for data, so that what one front end installs the other finds.

mod bytes;
mod content;
mod error;
mod meteor;
mod pip;
mod temporary;
mod write;

pub use bytes::{Bytes, STDIN, open, open_or_stdin, read, text};
pub use content::{
    captions, captions_in, check_fresh, frequencies, is_prepared, language_model, open_prepared, prepared,
    source,
};
pub use error::Error;
pub use meteor::{Installed, MeteorHome};
pub use pip::{METEOR_PACKAGE, pythons};
pub use temporary::remove_temporaries;
pub use write::{Target, is_same_file, write_whole};
