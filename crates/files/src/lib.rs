//! Opens, maps, reads and writes files, and installs third-party data.
//!
//! This is the only library crate that opens files, for all front ends. It prints nothing and asks no questions. METEOR
//! and SPICE need tables that capeval may not distribute: they are compiled once from published packages into one file
//! each in the user's folder for data, which all front ends share.

mod bytes;
mod content;
mod error;
mod home;
mod mecab;
mod meteor;
mod pip;
mod spice;
mod spice_cache;
mod temporary;
mod write;

pub use bytes::{Bytes, STDIN, open, open_or_stdin, read, text};
pub use content::{
    ReferenceFile, are_few, captions, captions_in, check_fresh, frequencies, is_prepared, language_model,
    open_prepared, references, source,
};
pub use error::Error;
pub use home::{Home, Installed};
pub use mecab::provide_dictionary;
pub use meteor::MeteorHome;
pub use pip::{METEOR_PACKAGE, SPICE_PACKAGE, pythons};
pub use spice::SpiceHome;
pub use spice_cache::SpiceCache;
pub use temporary::remove_temporaries;
pub use write::{Target, is_same_file, write_whole};
