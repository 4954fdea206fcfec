//! The parts of a table, and their encoding in a file.

use twox_hash::XxHash3_64;

/// The parts of a table, before the index for searching is built.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) n_images: u64,
    /// The words, sorted by their bytes, in sequence.
    pub(crate) text: String,
    /// The end of each word in `text`.
    pub(crate) word_ends: Vec<u32>,
    /// For each order, the end of its nodes; the first is the number of words.
    pub(crate) order_ends: Vec<u32>,
    /// The frequency of each node.
    pub(crate) frequencies: Vec<u32>,
    /// The keys of longer nodes, ascending.
    pub(crate) keys: Vec<u64>,
}

/// The prefix and the last word of a node as one number; numbers have the order of nodes.
pub(crate) fn key(prefix: u32, word: u32) -> u64 {
    u64::from(prefix) << 32 | u64::from(word)
}

/// The hash that serves as checksum and fingerprint.
pub(crate) fn hash(body: &[u8]) -> u64 {
    XxHash3_64::oneshot(body)
}

/// The part of the file after the checksum.
pub(crate) fn encode(parts: &Parts) -> Vec<u8> {
    let Parts { n_images, text, word_ends, order_ends, frequencies, keys } = parts;
    let mut out = Vec::with_capacity(text.len() + word_ends.len() + 4 * frequencies.len());
    put(&mut out, *n_images);
    put(&mut out, order_ends.len() as u64);
    put(&mut out, word_ends.len() as u64);
    let mut start = 0;
    for end in word_ends {
        put(&mut out, u64::from(end - start));
        start = *end;
    }
    out.extend_from_slice(text.as_bytes());
    for orders in order_ends.windows(2) {
        put(&mut out, u64::from(orders[1] - orders[0]));
    }
    for frequency in frequencies {
        put(&mut out, u64::from(*frequency));
    }
    let n_prefixes = order_ends.iter().rev().nth(1).copied().unwrap_or(0);
    let mut rest = keys.as_slice();
    for prefix in 0..n_prefixes {
        let n_children = rest.iter().take_while(|key| (**key >> 32) as u32 == prefix).count();
        put(&mut out, n_children as u64);
        rest = rest.get(n_children..).unwrap_or_default();
    }
    let mut before: Option<u64> = None;
    for key in keys {
        let word = u64::from(*key as u32);
        match before.filter(|before| before >> 32 == key >> 32) {
            Some(before) => put(&mut out, word - u64::from(before as u32) - 1),
            None => put(&mut out, word),
        }
        before = Some(*key);
    }
    out
}

/// Writes a number in LEB128.
pub(super) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
