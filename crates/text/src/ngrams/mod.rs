//! N-grams: which ones an image's references hold, how many images hold each, and what a candidate shares.
//!
//! An n-gram is never spelt out. It is the pair (its first n − 1 words as an n-gram, its last word), so
//! any order costs one 64-bit key, exactly, whatever the size of the vocabulary.

mod count;
mod index;
mod segment;

pub use count::{LookUp, NgramCounts, Node, PARTS, Part, Query};
pub use index::{ImageNgrams, ReferenceNgrams, Shard};
pub use segment::{CandidateNgram, SegmentNgrams, Segments};

/// Where there is no n-gram: the prefix of a single word, the entry of an n-gram that no reference holds.
pub const NONE: u32 = u32::MAX;

/// The longest n-grams that metrics may ask for.
pub const MAX_ORDER: usize = 9;

/// An n-gram as one number: prefix above, last word below.
#[inline]
pub(crate) fn key(prefix: u32, symbol: crate::Symbol) -> u64 {
    u64::from(prefix) << 32 | u64::from(symbol.number())
}

/// A fixed mixing of a key: reproducible, and good in its high bits.
#[inline]
pub(crate) fn mix(key: u64) -> u64 {
    let product = u128::from(key ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93_u128;
    (product >> 64) as u64 ^ product as u64
}
