//! Document frequencies: the number of images of a corpus in which each n-gram occurs.

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use super::index::{ImageNgrams, ReferenceNgrams};
use super::{key, mix};
use crate::vocabulary::Symbol;
use capeval_arrays::Buffer;

/// The number of partitions of the keys, chosen so that the table of each part fits a core's private cache.
pub const PARTS: usize = 64;
/// The lower bits of a node or slot hold the n-gram's number within its part.
const PART_BITS: u32 = 26;
const NUMBER: u32 = (1 << PART_BITS) - 1;
const EMPTY: u32 = u32::MAX;

/// An n-gram of the corpus: a word's symbol number, or a position in the table of a higher order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Node(u32);

/// For each n-gram of the references, the number of images whose references contain it.
///
/// The tables of order n are keyed by (node of order n − 1, last word). Counting distributes the keys of all
/// images to the parts by hash, counts each part separately, and returns the results in the same order. Every
/// pass thus reads and writes memory sequentially, and no two threads share a table.
#[derive(Debug, Default)]
pub struct NgramCounts {
    words: Buffer<u32>,
    /// `orders[0]` is for bigrams.
    orders: Vec<Vec<Part>>,
    /// For each shard of the n-gram index, the node and the count of each entry. The count is 0 if the
    /// entry's image is not counted.
    entries: Vec<(Buffer<u32>, Buffer<u32>)>,
    n_images: usize,
}

/// The n-grams of one part, numbered from 0, and an open-addressing table for looking up these numbers.
#[derive(Debug, Default)]
pub struct Part {
    /// The key of each n-gram.
    pub keys: Buffer<u64>,
    /// The number of images that contain each n-gram.
    pub counts: Buffer<u32>,
    /// The table. A slot holds an n-gram's number with six bits of its key's hash above it, or all ones if
    /// empty. The length is 0 or a power of two.
    pub slots: Buffer<u32>,
}

/// A look-up of the n-gram that extends `prefix` by `symbol`.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    /// A number that the caller chooses to identify the query.
    pub ngram: u32,
    /// All but the last word.
    pub prefix: Node,
    /// The last word.
    pub symbol: Symbol,
}

/// Buffers for [`NgramCounts::longer_each`].
#[derive(Debug, Default)]
pub struct LookUp {
    first: Vec<First>,
    /// The key and the count to which the first slot points.
    seen: Vec<(u64, u32)>,
}

/// The start of a look-up.
#[derive(Clone, Copy, Debug)]
struct First {
    key: u64,
    hash: u64,
    slot: u32,
}

impl NgramCounts {
    /// For each n-gram, counts those of the given `images` (ascending) that contain it.
    pub fn build(ngrams: &ReferenceNgrams, reference_ends: &[u64], images: &[u32], n_words: usize) -> Self {
        let by_shard = images_by_shard(ngrams, images);
        let mut words = vec![0u32; n_words];
        for image in images {
            let image = ngrams.image(*image as usize, reference_ends);
            for symbol in &image.symbols[image.entries(0)] {
                words[symbol.index()] += 1;
            }
        }
        // The node (of the current order) and the count of each entry.
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
        // A single pass over the entries reads the results of one order and distributes the keys of the next.
        let mut orders: Vec<Vec<Part>> = Vec::new();
        let mut counted: Vec<Counted> = Vec::new();
        for n in 1..ngrams.order() {
            let dealt: Vec<Vec<Vec<u64>>> = found
                .par_iter_mut()
                .zip(&by_shard)
                .enumerate()
                .map(|(s, ((nodes, counts), images))| {
                    let mut answers = Answers::of_shard(&counted, s);
                    let mut dealt = Dealt::new(images.len());
                    for image in *images {
                        let image = ngrams.image(*image as usize, reference_ends);
                        let (nodes, counts) =
                            (&mut nodes[image.first_entry()..], &mut counts[image.first_entry()..]);
                        if n > 1 {
                            answers.take(&image, n - 1, nodes, counts);
                        }
                        dealt.deal(&image, n, nodes);
                    }
                    dealt.0
                })
                .collect();
            let now: Vec<Counted> = (0..PARTS)
                .into_par_iter()
                .map(|p| count_part(dealt.iter().map(|shard| &shard[p][..])))
                .collect();
            orders.extend((!counted.is_empty()).then(|| counted.into_iter().map(|c| c.part).collect()));
            counted = now;
        }
        if !counted.is_empty() {
            found.par_iter_mut().zip(&by_shard).enumerate().for_each(|(s, ((nodes, counts), images))| {
                let mut answers = Answers::of_shard(&counted, s);
                for image in *images {
                    let image = ngrams.image(*image as usize, reference_ends);
                    let (nodes, counts) =
                        (&mut nodes[image.first_entry()..], &mut counts[image.first_entry()..]);
                    answers.take(&image, ngrams.order() - 1, nodes, counts);
                }
            });
            orders.push(counted.into_iter().map(|c| c.part).collect());
        }
        let entries = found.into_iter().map(|(nodes, counts)| (nodes.into(), counts.into())).collect();
        Self { words: words.into(), orders, entries, n_images: images.len() }
    }

    /// The number of images counted.
    pub fn n_images(&self) -> usize {
        self.n_images
    }

    /// The length of the longest n-grams.
    pub fn order(&self) -> usize {
        1 + self.orders.len()
    }

    /// The node and the number of images of each entry in shard `s` of the n-gram index.
    ///
    /// # Panics
    /// If there is no shard `s`.
    pub fn entries(&self, s: usize) -> (&[Node], &[u32]) {
        let (nodes, counts) = &self.entries[s];
        (bytemuck::cast_slice(nodes), counts)
    }

    /// A word's node and count; `None` if no image contains it.
    #[inline]
    pub fn word(&self, symbol: Symbol) -> Option<(Node, u32)> {
        match self.words.get(symbol.index()) {
            Some(&count) if count > 0 => Some((Node(symbol.number()), count)),
            _ => None,
        }
    }

    /// The node and count of the n-gram that extends `prefix`, of `n` ≥ 1 words, by `symbol`.
    pub fn longer(&self, n: usize, prefix: Node, symbol: Symbol) -> Option<(Node, u32)> {
        let mut found = None;
        let query = Query { ngram: 0, prefix, symbol };
        self.longer_each(n, &[query], &mut LookUp::default(), |_, node, count| found = Some((node, count)));
        found
    }

    /// Looks up many n-grams of `n` + 1 words; calls `found` with the number, node and count of those that
    /// some image contains.
    ///
    /// The tables of a large corpus do not fit in any cache. Advancing all queries step by step lets the
    /// processor wait for many of them at once: on COCO's validation set this halved the time.
    pub fn longer_each(
        &self,
        n: usize,
        queries: &[Query],
        scratch: &mut LookUp,
        mut found: impl FnMut(u32, Node, u32),
    ) {
        let Some(parts) = n.checked_sub(1).and_then(|n| self.orders.get(n)) else { return };
        let LookUp { first, seen } = scratch;
        first.clear();
        first.extend(queries.iter().map(|query| {
            let key = key(query.prefix.0, query.symbol);
            let hash = mix(key);
            let slots: &[u32] = &parts[part_of(hash)].slots;
            let found = slots.get(hash as usize & slots.len().wrapping_sub(1)).copied().unwrap_or(EMPTY);
            First { key, hash, slot: found }
        }));
        seen.clear();
        seen.extend(first.iter().map(|first| {
            let part = &parts[part_of(first.hash)];
            let k = first.slot & NUMBER;
            // If the tag differs, the slot holds another n-gram; n-gram 0 then serves as a placeholder.
            let k = if first.slot == slot(first.hash, k) { k as usize } else { 0 };
            let (keys, counts): (&[u64], &[u32]) = (&part.keys, &part.counts);
            (keys.get(k).copied().unwrap_or(u64::MAX), counts.get(k).copied().unwrap_or(0))
        }));
        for ((query, first), (key, count)) in queries.iter().zip(&*first).zip(&*seen) {
            let p = part_of(first.hash);
            if first.slot == EMPTY {
                continue;
            }
            if *key == first.key && first.slot == slot(first.hash, first.slot & NUMBER) {
                found(query.ngram, Node(node(p, first.slot & NUMBER)), *count);
            } else if let Some(k) = parts[p].find(first.key, first.hash) {
                found(query.ngram, Node(node(p, k)), parts[p].counts[k as usize]);
            }
        }
    }

    /// Calls `visit` with each n-gram, as a slice of symbols, and its count, in unspecified order.
    ///
    /// `symbols` lists the vocabulary.
    pub fn for_each(&self, symbols: &[Symbol], mut visit: impl FnMut(&[Symbol], u32)) {
        type Spelt = hashbrown::HashMap<u32, Vec<Symbol>, foldhash::fast::FixedState>;
        let mut before = Spelt::default();
        for symbol in symbols {
            if let Some((node, count)) = self.word(*symbol) {
                visit(&[*symbol], count);
                before.insert(node.0, vec![*symbol]);
            }
        }
        for parts in &self.orders {
            let mut now = Spelt::default();
            for (p, part) in parts.iter().enumerate() {
                for (k, (key, count)) in part.keys.iter().zip(part.counts.iter()).enumerate() {
                    let (prefix, last) = ((key >> 32) as u32, *key as u32 as usize);
                    if let (Some(prefix), Some(last)) = (before.get(&prefix), symbols.get(last)) {
                        let ngram = [&prefix[..], &[*last]].concat();
                        visit(&ngram, *count);
                        now.insert(node(p, k as u32), ngram);
                    }
                }
            }
            before = now;
        }
    }

    /// The arrays to store: the counts of the words, then the parts of each order from bigrams on.
    pub fn parts(&self) -> (&[u32], &[Vec<Part>]) {
        (&self.words, &self.orders)
    }

    /// Restores counts from stored arrays; `None` if a look-up in a table might not end or might leave the
    /// arrays.
    pub fn from_parts(
        words: Buffer<u32>,
        orders: Vec<Vec<Part>>,
        entries: Vec<(Buffer<u32>, Buffer<u32>)>,
        n_images: usize,
        ngrams: &ReferenceNgrams,
    ) -> Option<Self> {
        let entries_fit = entries.len() == ngrams.shards().len()
            && entries.iter().zip(ngrams.shards()).all(|((nodes, counts), shard)| {
                nodes.len() == shard.n_entries() && counts.len() == shard.n_entries()
            });
        let sound = entries_fit
            && orders.len() + 1 == ngrams.order()
            && orders.par_iter().all(|parts| parts.len() == PARTS && parts.par_iter().all(Part::is_sound));
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

/// The slot value for n-gram number `k`.
#[inline]
fn slot(hash: u64, k: u32) -> u32 {
    (hash >> 26) as u32 & !NUMBER | k
}

/// The node of n-gram number `k` in a part.
#[inline]
fn node(part: usize, k: u32) -> u32 {
    (part as u32) << PART_BITS | k
}

impl Part {
    #[inline]
    fn find(&self, key: u64, hash: u64) -> Option<u32> {
        let (slots, keys): (&[u32], &[u64]) = (&self.slots, &self.keys);
        let mask = slots.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        loop {
            let found = slots[at];
            if found == EMPTY {
                return None;
            }
            let k = found & NUMBER;
            if found == slot(hash, k) && keys[k as usize] == key {
                return Some(k);
            }
            at = (at + 1) & mask;
        }
    }

    /// Whether every look-up ends and stays within the arrays.
    fn is_sound(&self) -> bool {
        let slots: &[u32] = &self.slots;
        let n = self.keys.len();
        self.counts.len() == n
            && n < NUMBER as usize
            && (slots.is_empty() || slots.len().is_power_of_two() && slots.contains(&EMPTY))
            && slots.iter().all(|slot| *slot == EMPTY || ((slot & NUMBER) as usize) < n)
    }
}

/// The keys of one order in one shard, distributed to the parts.
struct Dealt(Vec<Vec<u64>>);

impl Dealt {
    fn new(n_images: usize) -> Self {
        Self((0..PARTS).map(|_| Vec::with_capacity(n_images)).collect())
    }

    fn deal(&mut self, image: &ImageNgrams<'_>, n: usize, nodes: &[u32]) {
        let entries = image.entries(n);
        for (prefix, symbol) in image.prefixes[entries.clone()].iter().zip(&image.symbols[entries]) {
            let key = key(nodes[*prefix as usize], *symbol);
            self.0[part_of(mix(key))].push(key);
        }
    }
}

/// A part with its results: for each shard, the number and count of each key from that shard.
struct Counted {
    part: Part,
    answers: Vec<Vec<(u32, u32)>>,
}

/// The results for one shard, read in the order in which its keys were distributed.
struct Answers<'c>(Vec<std::slice::Iter<'c, (u32, u32)>>);

impl<'c> Answers<'c> {
    fn of_shard(counted: &'c [Counted], s: usize) -> Self {
        Self(counted.iter().map(|c| c.answers[s].iter()).collect())
    }

    fn take(&mut self, image: &ImageNgrams<'_>, n: usize, nodes: &mut [u32], counts: &mut [u32]) {
        for entry in image.entries(n) {
            let key = key(nodes[image.prefixes[entry] as usize], image.symbols[entry]);
            let part = part_of(mix(key));
            if let Some((k, count)) = self.0[part].next() {
                nodes[entry] = node(part, *k);
                counts[entry] = *count;
            }
        }
    }
}

/// Counts the keys of one part over all shards.
fn count_part<'k>(shards: impl Iterator<Item = &'k [u64]> + Clone) -> Counted {
    let n_keys: usize = shards.clone().map(<[u64]>::len).sum();
    let mut part = Counting::with_room(n_keys / 3);
    let mut answers: Vec<Vec<(u32, u32)>> =
        shards.map(|keys| keys.iter().map(|key| (part.add(*key), 0)).collect()).collect();
    for (k, count) in answers.iter_mut().flatten() {
        *count = part.counts[*k as usize];
    }
    Counted { part: part.finish(), answers }
}

/// A part under construction.
struct Counting {
    keys: Vec<u64>,
    counts: Vec<u32>,
    slots: Vec<u32>,
}

impl Counting {
    fn with_room(n: usize) -> Self {
        let size = (n * 2).next_power_of_two().max(16);
        Self { keys: Vec::with_capacity(n), counts: Vec::with_capacity(n), slots: vec![EMPTY; size] }
    }

    /// Counts `key` once more and returns its number.
    #[inline]
    fn add(&mut self, key: u64) -> u32 {
        let mask = self.slots.len() - 1;
        let hash = mix(key);
        let mut at = hash as usize & mask;
        loop {
            let found = self.slots[at];
            if found == EMPTY {
                break;
            }
            let k = found & NUMBER;
            if found == slot(hash, k) && self.keys[k as usize] == key {
                self.counts[k as usize] += 1;
                return k;
            }
            at = (at + 1) & mask;
        }
        let k = self.keys.len() as u32;
        self.slots[at] = slot(hash, k);
        self.keys.push(key);
        self.counts.push(1);
        if self.keys.len() * 8 >= self.slots.len() * 5 {
            let larger = self.slots.len() * 2;
            self.rebuild(larger);
        }
        k
    }

    fn rebuild(&mut self, size: usize) {
        self.slots.clear();
        self.slots.resize(size, EMPTY);
        for (k, key) in self.keys.iter().enumerate() {
            let hash = mix(*key);
            let mut at = hash as usize & (size - 1);
            while self.slots[at] != EMPTY {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = slot(hash, k as u32);
        }
    }

    /// # Panics
    /// If one of the 64 parts has more than 67 million n-grams of one order, far more than any supported
    /// corpus has.
    fn finish(mut self) -> Part {
        assert!(self.keys.len() < NUMBER as usize, "over four thousand million n-grams of one order");
        let size = (self.keys.len() * 3 / 2 + 1).next_power_of_two();
        if size < self.slots.len() {
            self.rebuild(size);
        }
        Part { keys: self.keys.into(), counts: self.counts.into(), slots: self.slots.into() }
    }
}
