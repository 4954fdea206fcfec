//! The search structure of a table: from an n-gram to those that extend it by one word.
//!
//! The extensions of an n-gram are stored together, so that a search touches one cache line per word: up to eight of
//! them in sequence, more as a separate open-addressing table. Each n-gram stores the position of its extensions.
//! N-grams of the highest order have none; they are stored separately, since they are the most numerous.

use super::encoding::Parts;

/// Up to this many extensions are searched linearly.
const LINEAR: usize = 8;
/// Set in the length of a region if it contains n-grams of the highest order.
const AMONG_LAST: u32 = 1 << 31;
/// No word has this number.
const VACANT: u32 = u32::MAX;

/// An n-gram of a table, as the position of its extensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Node {
    start: u32,
    len: u32,
}

/// An n-gram that may have extensions.
#[derive(Clone, Copy)]
struct Inner {
    word: u32,
    frequency: u32,
    node: Node,
}

/// An n-gram of the highest order.
#[derive(Clone, Copy)]
struct Last {
    word: u32,
    frequency: u32,
}

trait Entry: Copy {
    const EMPTY: Self;
    fn new(word: u32, frequency: u32) -> Self;
    fn word(&self) -> u32;
}

impl Entry for Inner {
    const EMPTY: Self = Self { word: VACANT, frequency: 0, node: Node { start: 0, len: 0 } };

    fn new(word: u32, frequency: u32) -> Self {
        Self { word, frequency, node: Node::default() }
    }

    #[inline]
    fn word(&self) -> u32 {
        self.word
    }
}

impl Entry for Last {
    const EMPTY: Self = Self { word: VACANT, frequency: 0 };

    fn new(word: u32, frequency: u32) -> Self {
        Self { word, frequency }
    }

    #[inline]
    fn word(&self) -> u32 {
        self.word
    }
}

/// All n-grams, arranged for searching.
#[derive(Clone, Default)]
pub(crate) struct Index {
    n_words: usize,
    /// First the single words by number.
    inner: Vec<Inner>,
    last: Vec<Last>,
}

impl Index {
    pub(crate) fn new(parts: &Parts) -> Self {
        let n_words = parts.word_ends.len();
        let mut words = (0..).zip(&parts.frequencies).take(n_words);
        let mut index = Self {
            n_words,
            inner: words.by_ref().map(|(word, frequency)| Inner::new(word, *frequency)).collect(),
            last: Vec::new(),
        };
        // The positions of the nodes of one order.
        let mut places: Vec<u32> = (0..).take(n_words).collect();
        let mut first_prefix = 0;
        for (n, bounds) in parts.order_ends.windows(2).enumerate() {
            let &[start, end] = bounds else { continue };
            let longer = start as usize - n_words..end as usize - n_words;
            let keys = parts.keys.get(longer).unwrap_or_default();
            let frequencies = parts.frequencies.get(start as usize..end as usize).unwrap_or_default();
            let is_last = n + 2 == parts.order_ends.len();
            let mut next_places = Vec::with_capacity(if is_last { 0 } else { keys.len() });
            if is_last {
                index.last.reserve_exact(keys.len() + keys.len() / 8);
            } else {
                index.inner.reserve(keys.len() + keys.len() / 4);
            }
            let mut done = 0;
            for siblings in keys.chunk_by(|a, b| a >> 32 == b >> 32) {
                let frequencies = frequencies.get(done..done + siblings.len()).unwrap_or_default();
                done += siblings.len();
                let node = if is_last {
                    let Node { start, len } = settle(&mut index.last, siblings, frequencies, |_| ());
                    Node { start, len: len | AMONG_LAST }
                } else {
                    settle(&mut index.inner, siblings, frequencies, |place| next_places.push(place))
                };
                let prefix = siblings.first().map_or(0, |key| (key >> 32) as u32);
                let place = places.get((prefix - first_prefix) as usize);
                if let Some(entry) = place.and_then(|place| index.inner.get_mut(*place as usize)) {
                    entry.node = node;
                }
            }
            places = next_places;
            first_prefix = start;
        }
        index
    }

    /// The n-gram that extends `prefix` by `word`, with its frequency.
    #[inline]
    pub(crate) fn child(&self, prefix: Option<Node>, word: u32) -> Option<(Node, u32)> {
        let Some(Node { start, len }) = prefix else {
            let known = self.inner.get(..self.n_words)?.get(word as usize)?;
            return Some((known.node, known.frequency));
        };
        if len & AMONG_LAST == 0 {
            let found = find(&self.inner, start, len, word)?;
            Some((found.node, found.frequency))
        } else {
            let found = find(&self.last, start, len & !AMONG_LAST, word)?;
            Some((Node::default(), found.frequency))
        }
    }
}

/// Appends the extensions of one prefix to `entries`, reports the position of each, in the order of the keys, and
/// returns their region.
fn settle<E: Entry>(
    entries: &mut Vec<E>,
    keys: &[u64],
    frequencies: &[u32],
    mut report: impl FnMut(u32),
) -> Node {
    let start = entries.len();
    let words = keys.iter().map(|key| *key as u32).zip(frequencies);
    if keys.len() <= LINEAR {
        for (word, frequency) in words {
            report(entries.len() as u32);
            entries.push(E::new(word, *frequency));
        }
    } else {
        entries.resize(start + keys.len() + keys.len() / 2 + 1, E::EMPTY);
        let region = entries.get_mut(start..).unwrap_or_default();
        for (word, frequency) in words {
            let mut at = home(word, region.len());
            while region[at].word() != VACANT {
                at = if at + 1 == region.len() { 0 } else { at + 1 };
            }
            region[at] = E::new(word, *frequency);
            report((start + at) as u32);
        }
    }
    Node { start: start as u32, len: (entries.len() - start) as u32 }
}

#[inline]
fn find<E: Entry>(entries: &[E], start: u32, len: u32, word: u32) -> Option<&E> {
    let region = entries.get(start as usize..start as usize + len as usize)?;
    if region.len() <= LINEAR {
        return region.iter().find(|entry| entry.word() == word);
    }
    // A third of the region is vacant, which ends the search.
    let mut at = home(word, region.len());
    loop {
        let entry = region.get(at)?;
        if entry.word() == VACANT {
            return None;
        }
        if entry.word() == word {
            return Some(entry);
        }
        at = if at + 1 == region.len() { 0 } else { at + 1 };
    }
}

/// The position at which the search for `word` starts: a fixed hash, scaled to the length of the region.
#[inline]
fn home(word: u32, len: usize) -> usize {
    let hash = word.wrapping_mul(0x9e37_79b1);
    ((u64::from(hash) * len as u64) >> 32) as usize
}
