//! Caption files, ids and alignment.
//!
//! [`read()`] turns a file of any format into [`Captions`]; [`merge()`] merges several files of references.
//! [`GroupedCaptions`] groups captions by image, and [`align()`] pairs each image with its candidate under a [`Policy`]
//! for mismatches.
//!
//! This crate opens no files and prints nothing: readers take bytes with a display name, and return what a user should
//! know as a [`Notice`].
//!
//! ```
//! use capeval_corpus::{GroupedCaptions, Ids, Policy, ReadOptions, align, read};
//!
//! let references = r#"[{"image_id": 1, "caption": "a cat"}, {"image_id": 1, "caption": "one cat"}]"#;
//! let references = read(references.as_bytes(), "refs.json", &ReadOptions::references())?;
//! let candidates = read(&br#"{"1": "the cat"}"#[..], "hyps.json", &ReadOptions::candidates())?;
//!
//! let references = GroupedCaptions::new(references, Ids::AsGiven)?;
//! let aligned = align(references.index(), &candidates, &Policy::default())?;
//! assert_eq!((aligned.pairs[0].image, aligned.pairs[0].candidate), (0, Some(0)));
//! assert_eq!(references.texts(0).collect::<Vec<_>>(), ["a cat", "one cat"]);
//! # Ok::<(), capeval_corpus::Error>(())
//! ```

mod align;
mod captions;
mod error;
mod format;
mod formats;
mod group_file;
mod head;
mod input;
mod json;
mod keys;
mod merge;
mod notice;
mod options;
mod picture_names;
mod policy;
pub mod probabilities;
mod quoted;
pub mod ratings;
mod read;
mod reading;
pub mod rouge_xml;
mod rows;
pub mod scores;
mod sniff;
mod table;
mod unpack;
mod utf16;
mod vectors;
mod write;
mod written_list;
mod zstd;

pub use align::{
    AlignedScores, Alignment, ExtraLines, GroupedCaptions, ImageIndex, OtherIds, Pair, align, align_by,
    align_scores, titles,
};
pub use capeval_choice::{Notice, Remedy, Role, SegmentId, UnknownName};
pub use captions::Captions;
pub use error::{Error, ErrorKind, Position};
pub use format::Format;
pub use group_file::{GroupFile, GroupedIds};
pub use head::is_binary;
pub use input::{text, unpack};
pub use keys::{KeyGathering, KeyName, Keys, Opposite, Standing, agree, identify};
pub use merge::merge;
pub use options::ReadOptions;
pub use picture_names::read_picture_names;
pub use policy::{Duplicate, Empty, Ids, Missing, Policy, Surplus};
pub use read::{read, read_bytes};
pub use reading::{
    Because, Fit, Layout, Mispairing, Order, ReadColumns, both_sides, fit, fit_some, refuse_open,
    understand_columns, understand_value,
};
pub use rows::{Row, Rows, read_rows};
pub use table::{CaptionColumns, Cell, names_image_ids};
pub use unpack::{Member, members, unpacked_name};
pub use vectors::{VectorTable, read_vectors};
pub use write::{csv_fault, write};
pub use written_list::written_list;
