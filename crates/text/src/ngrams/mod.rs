//! N-grams: those of an image's references, the number of images that contain each, and those that a
//! candidate shares.
//!
//! N-grams are never stored as lists of words. An n-gram is the pair (its first n − 1 words as an n-gram, its
//! last word), so one 64-bit key identifies an n-gram of any order exactly, whatever the size of the
//! vocabulary.

mod count;
mod index;
mod segment;

pub use count::{CountParts, LookUp, NgramCounts, Node, Query};
pub use index::{ImageNgrams, ReferenceLists, ReferenceNgrams, Shard};
pub use segment::{CandidateNgram, SegmentNgrams, Segments};

/// Means "no n-gram": the prefix of a single word, or the entry of an n-gram that no reference contains.
pub const NONE: u32 = u32::MAX;

/// The length of the longest n-grams that metrics may request.
pub const MAX_ORDER: usize = 9;

/// Packs an n-gram into one number: the prefix in the upper half, the last word in the lower half.
#[inline]
pub(crate) fn key(prefix: u32, symbol: crate::Symbol) -> u64 {
    u64::from(prefix) << 32 | u64::from(symbol.number())
}

/// Mixes a key without a random seed; the high bits are the well mixed ones.
#[inline]
pub(crate) fn mix(key: u64) -> u64 {
    let product = u128::from(key ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93_u128;
    (product >> 64) as u64 ^ product as u64
}
