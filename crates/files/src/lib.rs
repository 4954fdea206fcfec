//! Opens, maps, reads and writes files, and installs third-party data.
//!
//! This is the only library crate that opens files, for all front ends. It prints nothing and asks no questions. Some
//! metrics need data that capeval may not distribute ([`DATA`]): they are compiled once from published packages into
//! one file each in the user's folder for data ([`Home`]), which all front ends share. [`MetricData::open`] turns
//! them and the files that a person names ([`DataFiles`]) into the resources of metrics.

mod bytes;
mod cache_files;
mod content;
mod data;
mod download;
mod error;
mod fetch;
mod folder;
mod group_sources;
mod hash;
mod home;
mod lines;
mod mecab;
mod metric_data;
mod nltk;
mod path;
mod pictures;
mod ranges;
mod score_cache;
mod spice_cache;
mod temporary;
mod write;

pub use bytes::{Bytes, STDIN, open, open_or_stdin, read};
pub use cache_files::CacheFiles;
pub use content::{
    ReferenceFile, are_few, both_sides, captions, captions_in, check_fresh, frequencies, is_prepared, kit,
    language_model, open_prepared, references, result, source, text,
};
pub use data::{Bundle, DATA, DataKind, DataNeed, DataSource, Package, Progress, plan, pythons};
pub use error::Error;
pub use fetch::allow_network;
pub use folder::files_in;
pub use group_sources::GroupSources;
pub use home::{Home, Installation, OpenData, cache_folder};
pub use lines::Lines;
pub use mecab::provide_dictionary;
pub use metric_data::{AbsentData, Caches, DataFiles, MetricData, NO_CACHE};
pub use nltk::NltkData;
pub use path::expanded;
pub use pictures::{PictureFiles, PicturePlaces, files_of_images, picture_file, with_id};
pub use score_cache::{SavedCache, size as score_cache_size, usual_folder as score_cache};
pub use spice_cache::{parses_ahead, usual_path as spice_cache};
pub use temporary::end_early;
pub use write::{Target, is_same_file, write_both, write_whole};
