//! N-grams: those of an image's references, the number of images that contain each, and those that a
//! candidate shares.
//!
//! N-grams are never stored as lists of words. An n-gram is the pair (its first n − 1 words as an n-gram, its
//! last word), so one 64-bit key identifies an n-gram of any order exactly, whatever the size of the
//! vocabulary.
//!
//! Within an image, n-grams are numbered locally, so comparing one candidate stays in the nearest cache. To count
//! document frequencies, keys are dealt into parts by hash, and each part is counted in a table that fits the cache of
//! one core: on COCO val2014 this takes a third of the time of one hash map, and both cores work. Each order from
//! bigrams on takes a round. With at most 65,536 words, the key of up to four words is the words themselves, 16 bits
//! each.
//!
//! Each thread indexes at most 1,024 lists of references at a time, and only the keys of one order are in memory
//! together: with those of all orders, a million images took 900 MB more for counting than for all else, and two thirds
//! of the time went into fresh memory. What is kept is two bytes for each place at which an n-gram begins: the number
//! of images. N-grams of one image are dropped once counted, since they weigh as much as n-grams of none, and longer
//! ones that contain them are not counted at all.

mod count;
mod index;
mod parts;
mod repeats;
mod segment;

pub use count::{CountParts, LookUp, NgramCounts, Node, Occurrences, Query};
pub use index::{ImageNgrams, ReferenceLists, ReferenceNgrams};
pub use repeats::Repeats;
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
