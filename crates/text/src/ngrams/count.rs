//! In how many images each n-gram occurs: the document frequencies of one corpus.

use rayon::prelude::*;

use super::index::ReferenceNgrams;
use super::{key, mix};
use crate::buffer::Buffer;
use crate::vocabulary::Symbol;

/// Keys are dealt into this many parts, so that the table of each part stays in a core's own cache.
const PARTS: usize = 64;
/// A node's lower bits say where it lies in its part.
const SLOT_BITS: u32 = 26;
const EMPTY: u64 = u64::MAX;

/// An n-gram of the corpus: a word's own number, or a place in the table of a longer order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node(u32);

/// For each n-gram of the references, the number of images whose references hold it.
///
/// The tables of order n are keyed by (node of order n − 1, last word). Counting deals the keys of all
/// images into parts by hash, counts part by part, and deals the answers back in the same order: every
/// pass reads and writes memory in sequence, and no two threads share a table.
#[derive(Debug, Default)]
pub struct NgramCounts {
    words: Buffer<u32>,
    /// `orders[0]` holds the bigrams.
    orders: Vec<Vec<Part>>,
    /// For each shard of the n-gram index, the count of each entry; 0 where its image does not take part.
    entries: Vec<Buffer<u32>>,
    n_images: usize,
}

/// An open-addressing table with linear probing; its size is a power of two.
#[derive(Debug, Default)]
pub struct Part {
    /// Each slot's key, or all ones.
    pub keys: Buffer<u64>,
    /// Each slot's count.
    pub counts: Buffer<u32>,
}

impl NgramCounts {
    /// Counts the images among `images` (ascending) that hold each n-gram.
    #[must_use]
    pub fn build(ngrams: &ReferenceNgrams, reference_ends: &[u64], images: &[u32], n_words: usize) -> Self {
        let by_shard = images_by_shard(ngrams, images);
        let mut words = vec![0u32; n_words];
        for image in images {
            let image = ngrams.image(*image as usize, reference_ends);
            for symbol in &image.symbols[image.entries(0)] {
                words[symbol.index()] += 1;
            }
        }
        // Each entry's node of the order at hand, and its count.
        let mut found: Vec<(Vec<u32>, Vec<u32>)> = (0..ngrams.shards().len())
            .into_par_iter()
            .map(|s| {
                let n = ngrams.shards()[s].n_entries();
                let (mut nodes, mut counts) = (vec![0; n], vec![0; n]);
                for image in by_shard[s] {
                    let image = ngrams.image(*image as usize, reference_ends);
                    for entry in image.entries(0) {
                        nodes[image.first_entry() + entry] = image.symbols[entry].number();
                        counts[image.first_entry() + entry] = words[image.symbols[entry].index()];
                    }
                }
                (nodes, counts)
            })
            .collect();
        let mut orders = Vec::new();
        for n in 1..ngrams.order() {
            let dealt: Vec<Vec<Vec<u64>>> = found
                .par_iter()
                .zip(&by_shard)
                .map(|((nodes, _), images)| {
                    let mut dealt = vec![Vec::new(); PARTS];
                    for image in *images {
                        let image = ngrams.image(*image as usize, reference_ends);
                        for entry in image.entries(n) {
                            let prefix = nodes[image.first_entry() + image.prefixes[entry] as usize];
                            let key = key(prefix, image.symbols[entry]);
                            dealt[part_of(mix(key))].push(key);
                        }
                    }
                    dealt
                })
                .collect();
            let counted: Vec<(Part, Vec<Vec<(u32, u32)>>)> = (0..PARTS)
                .into_par_iter()
                .map(|p| count_part(p, dealt.iter().map(|shard| &shard[p][..])))
                .collect();
            found.par_iter_mut().zip(&by_shard).enumerate().for_each(|(s, ((nodes, counts), images))| {
                let mut answers: Vec<_> = counted.iter().map(|(_, answers)| answers[s].iter()).collect();
                for image in *images {
                    let image = ngrams.image(*image as usize, reference_ends);
                    for entry in image.entries(n) {
                        let prefix = nodes[image.first_entry() + image.prefixes[entry] as usize];
                        let part = part_of(mix(key(prefix, image.symbols[entry])));
                        if let Some((node, count)) = answers[part].next() {
                            nodes[image.first_entry() + entry] = *node;
                            counts[image.first_entry() + entry] = *count;
                        }
                    }
                }
            });
            orders.push(counted.into_iter().map(|(part, _)| part).collect());
        }
        let entries = found.into_iter().map(|(_, counts)| counts.into()).collect();
        Self { words: words.into(), orders, entries, n_images: images.len() }
    }

    /// The number of images counted.
    #[must_use]
    pub fn n_images(&self) -> usize {
        self.n_images
    }

    /// The longest n-grams counted.
    #[must_use]
    pub fn order(&self) -> usize {
        1 + self.orders.len()
    }

    /// For each entry of shard `s` of the n-gram index, the number of images.
    ///
    /// # Panics
    /// When there is no such shard.
    #[must_use]
    pub fn entries(&self, s: usize) -> &[u32] {
        &self.entries[s]
    }

    /// A word's node and count; `None` if no image holds it.
    #[inline]
    #[must_use]
    pub fn word(&self, symbol: Symbol) -> Option<(Node, u32)> {
        match self.words.get(symbol.index()) {
            Some(&count) if count > 0 => Some((Node(symbol.number()), count)),
            _ => None,
        }
    }

    /// The node and count of the n-gram that continues `prefix`, of `n` ≥ 1 words, by `symbol`.
    #[inline]
    #[must_use]
    pub fn longer(&self, n: usize, prefix: Node, symbol: Symbol) -> Option<(Node, u32)> {
        let key = key(prefix.0, symbol);
        let hash = mix(key);
        let part = part_of(hash);
        let table = self.orders.get(n.checked_sub(1)?)?.get(part)?;
        let slot = table.find(key, hash)?;
        Some((Node((part as u32) << SLOT_BITS | slot as u32), table.counts[slot]))
    }

    /// Calls `visit` with each n-gram, as its words' symbols, and its count; the order is unspecified.
    pub fn for_each(&self, mut visit: impl FnMut(&[Symbol], u32), symbols: &[Symbol]) {
        let mut before: hashbrown::HashMap<u32, Vec<Symbol>, foldhash::fast::FixedState> =
            hashbrown::HashMap::default();
        for symbol in symbols {
            if let Some((node, count)) = self.word(*symbol) {
                visit(&[*symbol], count);
                before.insert(node.0, vec![*symbol]);
            }
        }
        for parts in &self.orders {
            let mut now = hashbrown::HashMap::default();
            for (p, part) in parts.iter().enumerate() {
                let (keys, counts): (&[u64], &[u32]) = (&part.keys, &part.counts);
                for (slot, (key, count)) in
                    keys.iter().zip(counts).enumerate().filter(|(_, (key, _))| **key != EMPTY)
                {
                    let last = symbols.get(*key as u32 as usize);
                    if let (Some(prefix), Some(last)) = (before.get(&((key >> 32) as u32)), last) {
                        let mut ngram = prefix.clone();
                        ngram.push(*last);
                        visit(&ngram, *count);
                        now.insert((p as u32) << SLOT_BITS | slot as u32, ngram);
                    }
                }
            }
            before = now;
        }
    }

    /// The stored arrays: the words' counts, then the parts of each order from bigrams on.
    #[must_use]
    pub fn parts(&self) -> (&[u32], &[Vec<Part>]) {
        (&self.words, &self.orders)
    }

    /// Counts from their stored arrays; `None` unless each table is one that a look-up can end in.
    #[must_use]
    pub fn from_parts(
        words: Buffer<u32>,
        orders: Vec<Vec<Part>>,
        entries: Vec<Buffer<u32>>,
        n_images: usize,
        ngrams: &ReferenceNgrams,
    ) -> Option<Self> {
        let entries_fit = entries.len() == ngrams.shards().len()
            && entries.iter().zip(ngrams.shards()).all(|(counts, shard)| counts.len() == shard.n_entries());
        let sound = entries_fit
            && orders.len() + 1 == ngrams.order()
            && orders.par_iter().all(|parts| {
                parts.len() == PARTS
                    && parts.par_iter().all(|part| {
                        let keys: &[u64] = &part.keys;
                        keys.len() == part.counts.len()
                            && (keys.is_empty()
                                || keys.len().is_power_of_two() && keys.len() <= 1 << SLOT_BITS)
                            && (keys.is_empty() || keys.contains(&EMPTY))
                    })
            });
        sound.then_some(Self { words, orders, entries, n_images })
    }
}

fn part_of(hash: u64) -> usize {
    (hash >> 58) as usize
}

fn images_by_shard<'i>(ngrams: &ReferenceNgrams, mut images: &'i [u32]) -> Vec<&'i [u32]> {
    (0..ngrams.shards().len())
        .map(|s| {
            let end = ngrams.shard_images(s).end;
            let (mine, rest) = images.split_at(images.partition_point(|i| (*i as usize) < end));
            images = rest;
            mine
        })
        .collect()
}

impl Part {
    #[inline]
    fn find(&self, key: u64, hash: u64) -> Option<usize> {
        let keys: &[u64] = &self.keys;
        let mask = keys.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        loop {
            if keys[at] == key {
                return Some(at);
            }
            if keys[at] == EMPTY {
                return None;
            }
            at = (at + 1) & mask;
        }
    }
}

/// Counts the keys of one part over all shards; the answers come shard by shard, key by key.
fn count_part<'k>(
    part: usize,
    shards: impl Iterator<Item = &'k [u64]> + Clone,
) -> (Part, Vec<Vec<(u32, u32)>>) {
    let n_keys: usize = shards.clone().map(<[u64]>::len).sum();
    let mut table = Counting::with_room(n_keys / 4);
    for key in shards.clone().flatten() {
        table.add(*key);
    }
    let table = Part { keys: table.keys.into(), counts: table.counts.into() };
    let counts: &[u32] = &table.counts;
    let answers = shards
        .map(|keys| {
            keys.iter()
                .map(|key| {
                    let slot = table.find(*key, mix(*key)).unwrap_or(0);
                    ((part as u32) << SLOT_BITS | slot as u32, counts[slot])
                })
                .collect()
        })
        .collect();
    (table, answers)
}

/// A part while it grows.
struct Counting {
    keys: Vec<u64>,
    counts: Vec<u32>,
    n: usize,
}

impl Counting {
    fn with_room(n: usize) -> Self {
        let size = (n * 2).next_power_of_two().max(16);
        Self { keys: vec![EMPTY; size], counts: vec![0; size], n: 0 }
    }

    #[inline]
    fn add(&mut self, key: u64) {
        if self.n * 8 >= self.keys.len() * 5 {
            self.grow();
        }
        let at = self.place(key);
        self.n += usize::from(self.counts[at] == 0);
        self.keys[at] = key;
        self.counts[at] += 1;
    }

    #[inline]
    fn place(&self, key: u64) -> usize {
        let mask = self.keys.len() - 1;
        let mut at = mix(key) as usize & mask;
        while self.keys[at] != key && self.keys[at] != EMPTY {
            at = (at + 1) & mask;
        }
        at
    }

    /// # Panics
    /// When one part of 64 holds over 40 million n-grams of one order, beyond any memory that was meant.
    fn grow(&mut self) {
        let size = self.keys.len() * 2;
        assert!(size <= 1 << SLOT_BITS, "over two thousand million distinct n-grams of one order");
        let mut larger = Self { keys: vec![EMPTY; size], counts: vec![0; size], n: self.n };
        for (key, count) in self.keys.iter().zip(&self.counts).filter(|(key, _)| **key != EMPTY) {
            let at = larger.place(*key);
            larger.keys[at] = *key;
            larger.counts[at] = *count;
        }
        *self = larger;
    }
}
