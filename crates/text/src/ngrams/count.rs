//! Document frequencies: the number of images of a corpus in which each n-gram occurs.

use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::index::{ReferenceNgrams, Shard};
use super::mix;
use crate::vocabulary::Symbol;

/// The keys of one part, so many that its table fits a core's private cache.
const PART_KEYS: usize = 1 << 14;
/// The greatest number of parts, as a power of two: the number of a part fits a byte.
const MOST_PART_BITS: u32 = 8;
/// The lower bits of a node or slot hold the n-gram's number within its part.
const NUMBER_BITS: u32 = 32 - MOST_PART_BITS;
const NUMBER: u32 = (1 << NUMBER_BITS) - 1;
const EMPTY: u32 = u32::MAX;

/// An n-gram of the corpus: its words packed into one number, or a word's number, or a position in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node(u64);

/// For each n-gram of the references, the number of images whose references contain it.
///
/// The key of an n-gram is its prefix's node, followed by its last word. Where the vocabulary is small, a node is the
/// key itself: the n-gram's words, 16 bits each, so all orders are counted in one round. Otherwise a node is a number
/// that the round of its order gives, and each order takes a round of its own.
///
/// A round distributes the keys of all images to parts by hash, counts each part separately, and returns the results
/// in the same order. Every pass thus reads and writes memory sequentially, and no two threads share a table.
#[derive(Debug, Default)]
pub struct NgramCounts {
    /// The number of bits that a word takes in a key.
    word_bits: u32,
    /// The length of the longest n-grams.
    order: usize,
    words: Vec<u32>,
    /// The tables of longer n-grams: one, or one for each order from bigrams on.
    tables: Vec<Table>,
    /// For each shard of the n-gram index, the count of each entry; empty until it is known.
    entries: OnceLock<Vec<Vec<u32>>>,
    n_images: usize,
}

/// Counts to store: those of n-grams that occur in at least two images.
#[derive(Clone, Debug)]
pub struct CountParts<W, K, C> {
    /// The length of the longest n-grams.
    pub order: usize,
    /// The number of images counted.
    pub n_images: usize,
    /// The number of images of each word of the vocabulary.
    pub words: W,
    /// The key of each longer n-gram.
    pub keys: K,
    /// The number of images of each.
    pub counts: C,
    /// The table that finds them.
    pub slots: C,
}

/// The n-grams of one round, dealt into parts by the hash of their keys.
#[derive(Debug, Default)]
struct Table {
    part_bits: u32,
    parts: Vec<Part>,
}

/// The n-grams of one part, numbered from 0, and an open-addressing table for looking up these numbers.
#[derive(Debug, Default)]
struct Part {
    /// The key of each n-gram.
    keys: Vec<u64>,
    /// The number of images that contain each n-gram.
    counts: Vec<u32>,
    /// The table. A slot holds an n-gram's number with eight bits of its key's hash above it, or all ones if
    /// empty. The length is a power of two.
    slots: Vec<u32>,
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
    /// For each n-gram, counts the images of `ngrams` that contain it. Their words have numbers below `n_words`.
    pub fn build(ngrams: &ReferenceNgrams, n_words: usize) -> Self {
        let order = ngrams.order();
        let words = count_words(ngrams, n_words);
        // Keys of different lengths differ as long as none begins with word 0, the empty one, which only a stem can be.
        let has_empty = words.first().is_some_and(|images| *images > 0);
        let is_packed = n_words <= 1 << 16 && order <= 4 && !has_empty;
        let word_bits = if is_packed { 16 } else { 32 };
        let mut dealing: Vec<Dealing<'_>> =
            ngrams.shards().par_iter().map(|shard| Dealing::new(shard, &words)).collect();
        let orders_per_round = if is_packed { order } else { 1 };
        let mut tables = Vec::new();
        for first in (1..order).step_by(orders_per_round) {
            let orders = first..(first + orders_per_round).min(order);
            let n_keys: usize = ngrams.shards().iter().map(|shard| shard.n_entries_of(&orders)).sum();
            let part_bits = (n_keys / PART_KEYS).next_power_of_two().ilog2().min(MOST_PART_BITS);
            let dealt: Vec<Vec<Keys>> = dealing
                .par_iter_mut()
                .map(|dealing| dealing.deal(orders.clone(), word_bits, part_bits))
                .collect();
            let mut by_part: Vec<Vec<Keys>> = (0..1 << part_bits).map(|_| Vec::new()).collect();
            for shard in dealt {
                by_part.iter_mut().zip(shard).for_each(|(part, keys)| part.push(keys));
            }
            let parts = by_part.par_iter_mut().map(|keys| Part::count(keys)).collect();
            dealing.par_iter_mut().enumerate().for_each(|(s, dealing)| {
                dealing.take(orders.clone(), word_bits, by_part.iter().map(|shards| &shards[s].keys[..]));
            });
            tables.push(Table { part_bits, parts });
        }
        let entries = dealing.into_iter().map(|dealing| dealing.counts).collect::<Vec<_>>().into();
        Self { word_bits, order, words, tables, entries, n_images: ngrams.n_images() }
    }

    /// The counts to store; `None` if the vocabulary is so large that n-grams are numbered.
    ///
    /// N-grams of one image only are left out: they are most, and weigh as much as those that no image contains.
    pub fn parts(&self) -> Option<CountParts<&[u32], Vec<u64>, Vec<u32>>> {
        let Self { word_bits, order, words, tables, n_images, .. } = self;
        if *word_bits == 32 {
            return None;
        }
        let kept = || {
            let parts = tables.iter().flat_map(|table| &table.parts);
            let pairs = parts.flat_map(|part| part.keys.iter().zip(&part.counts));
            pairs.filter(|(_, count)| **count > 1)
        };
        let mut part = Part::with_room_for(kept().count());
        for (key, count) in kept() {
            let k = part.add(*key) as usize;
            part.counts[k] = *count;
        }
        let Part { keys, counts, slots } = part;
        let fits = keys.len() < NUMBER as usize;
        fits.then_some(CountParts { order: *order, n_images: *n_images, words, keys, counts, slots })
    }

    /// Restores counts in which n-grams of one image are missing; `None` unless every number is in range.
    pub fn from_parts(parts: &CountParts<&[u32], &[u64], &[u32]>) -> Option<Self> {
        let CountParts { order, n_images, words, keys, counts, slots } = *parts;
        let is_free = |slot: &u32| *slot == EMPTY;
        let is_sound = keys.len() == counts.len()
            && slots.len().is_power_of_two()
            && slots.iter().all(|slot| is_free(slot) || ((slot & NUMBER) as usize) < keys.len())
            && slots.iter().any(is_free)
            && words.len() <= 1 << 16
            && (1..=4).contains(&order);
        let part = Part { keys: keys.to_vec(), counts: counts.to_vec(), slots: slots.to_vec() };
        is_sound.then(|| Self {
            word_bits: 16,
            order,
            words: words.to_vec(),
            tables: vec![Table { part_bits: 0, parts: vec![part] }],
            entries: OnceLock::new(),
            n_images,
        })
    }

    /// The number of images counted.
    pub fn n_images(&self) -> usize {
        self.n_images
    }

    /// The number of images of each entry, for each shard of `ngrams`, the index whose n-grams were counted.
    pub fn entries(&self, ngrams: &ReferenceNgrams) -> &[Vec<u32>] {
        if let Some(known) = self.entries.get() {
            return known;
        }
        let found = ngrams.shards().par_iter().map(|shard| self.entries_of(shard)).collect();
        self.entries.get_or_init(|| found)
    }

    fn entries_of(&self, shard: &Shard) -> Vec<u32> {
        let mut entries = Vec::with_capacity(shard.n_entries());
        let (mut nodes, mut queries, mut scratch) = (Vec::new(), Vec::new(), LookUp::default());
        for image in shard.images() {
            let first = entries.len();
            // What is not stored occurs in this image only.
            entries.resize(first + image.len(), 1);
            nodes.clear();
            nodes.resize(image.len(), None);
            for n in 0..shard.order() {
                queries.clear();
                for entry in image.entries(n) {
                    let symbol = image.symbols[entry];
                    if n > 0 {
                        let prefix = nodes[image.prefixes[entry] as usize];
                        queries.extend(prefix.map(|prefix| Query { ngram: entry as u32, prefix, symbol }));
                    } else if let Some((node, count)) = self.word(symbol) {
                        (nodes[entry], entries[first + entry]) = (Some(node), count);
                    }
                }
                self.longer_each(n, &queries, &mut scratch, |entry, node, count| {
                    nodes[entry as usize] = Some(node);
                    entries[first + entry as usize] = count;
                });
            }
        }
        entries
    }

    /// A word's node and count; `None` if no image contains it.
    #[inline]
    pub fn word(&self, symbol: Symbol) -> Option<(Node, u32)> {
        match self.words.get(symbol.index()) {
            Some(&count) if count > 0 => Some((Node(u64::from(symbol.number())), count)),
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
        let Some(Table { part_bits, parts }) = self.table(n) else { return };
        let LookUp { first, seen } = scratch;
        first.clear();
        first.extend(queries.iter().map(|query| {
            let key = key(query.prefix, query.symbol, self.word_bits);
            let hash = mix(key);
            let slots: &[u32] = &parts[part_of(hash, *part_bits)].slots;
            let is_word = query.symbol.index() < self.words.len();
            let found = slots.get(hash as usize & slots.len().wrapping_sub(1)).filter(|_| is_word);
            First { key, hash, slot: found.copied().unwrap_or(EMPTY) }
        }));
        seen.clear();
        seen.extend(first.iter().map(|first| {
            let part = &parts[part_of(first.hash, *part_bits)];
            let k = first.slot & NUMBER;
            // If the tag differs, the slot holds another n-gram; n-gram 0 then serves as a placeholder.
            let k = if first.slot == slot(first.hash, k) { k as usize } else { 0 };
            (part.keys.get(k).copied().unwrap_or(u64::MAX), part.counts.get(k).copied().unwrap_or(0))
        }));
        for ((query, first), (key, count)) in queries.iter().zip(&*first).zip(&*seen) {
            let p = part_of(first.hash, *part_bits);
            if first.slot == EMPTY {
                continue;
            }
            let k = first.slot & NUMBER;
            if *key == first.key && first.slot == slot(first.hash, k) {
                found(query.ngram, node(*key, p, k, self.word_bits), *count);
            } else if let Some(k) = parts[p].find(first.key, first.hash) {
                found(query.ngram, node(first.key, p, k, self.word_bits), parts[p].counts[k as usize]);
            }
        }
    }

    /// The table of n-grams of `n` + 1 words.
    fn table(&self, n: usize) -> Option<&Table> {
        let is_counted = (1..self.order).contains(&n);
        self.tables.get(if self.word_bits < 32 { 0 } else { n.checked_sub(1)? }).filter(|_| is_counted)
    }

    /// Calls `visit` with each n-gram of at most `order` words, after its prefix: what `visit` returned for the prefix
    /// (`None` for single words), its last word and its count.
    ///
    /// `symbols` lists the vocabulary.
    pub fn for_each<N: Copy>(
        &self,
        symbols: &[Symbol],
        order: usize,
        mut visit: impl FnMut(Option<N>, Symbol, u32) -> N,
    ) {
        let visited = |symbol: &Symbol| self.word(*symbol).map(|(_, count)| visit(None, *symbol, count));
        let words: Vec<Option<N>> = symbols.iter().map(visited).collect();
        // By part and number, what was returned for the n-grams of `n` words.
        let mut shorter: Vec<Vec<Option<N>>> = Vec::new();
        let order = order.min(self.order);
        for n in 1..order {
            let Some(table) = self.table(n) else { return };
            let room = |part: &Part| if n + 1 < order { part.keys.len() } else { 0 };
            let mut longer: Vec<Vec<Option<N>>> =
                table.parts.iter().map(|part| vec![None; room(part)]).collect();
            for (p, part) in table.parts.iter().enumerate() {
                for (k, (key, count)) in part.keys.iter().zip(&part.counts).enumerate() {
                    if !self.has_words(*key, n + 1) {
                        continue;
                    }
                    let prefix = if n == 1 {
                        words.get((key >> self.word_bits) as usize)
                    } else {
                        self.place(table, key >> self.word_bits).and_then(|(p, k)| shorter.get(p)?.get(k))
                    };
                    let symbol = symbols.get((key & ((1 << self.word_bits) - 1)) as usize);
                    if let (Some(Some(prefix)), Some(symbol)) = (prefix, symbol) {
                        let found = visit(Some(*prefix), *symbol, *count);
                        if let Some(place) = longer.get_mut(p).and_then(|part| part.get_mut(k)) {
                            *place = Some(found);
                        }
                    }
                }
            }
            shorter = longer;
        }
    }

    /// Whether the n-gram with this key has `n` words; a table of all orders has keys without words before them.
    fn has_words(&self, key: u64, n: usize) -> bool {
        let bits = self.word_bits * n as u32;
        self.word_bits == 32
            || key >> (bits - self.word_bits) > 0 && key.checked_shr(bits).is_none_or(|more| more == 0)
    }

    /// The part and the number of the n-gram with this node.
    fn place(&self, table: &Table, node: u64) -> Option<(usize, usize)> {
        if self.word_bits == 32 {
            return Some(((node >> NUMBER_BITS) as usize, (node & u64::from(NUMBER)) as usize));
        }
        let hash = mix(node);
        let p = part_of(hash, table.part_bits);
        Some((p, table.parts.get(p)?.find(node, hash)? as usize))
    }
}

/// The key of the n-gram that extends `prefix` by `symbol`.
#[inline]
fn key(prefix: Node, symbol: Symbol, word_bits: u32) -> u64 {
    prefix.0 << word_bits | u64::from(symbol.number())
}

/// The node of the n-gram with this key: the key itself if it holds all words, or else the n-gram's number `k` in a
/// part.
#[inline]
fn node(key: u64, part: usize, k: u32, word_bits: u32) -> Node {
    Node(if word_bits < 32 { key } else { u64::from((part as u32) << NUMBER_BITS | k) })
}

#[inline]
fn part_of(hash: u64, part_bits: u32) -> usize {
    (hash >> 32 >> (32 - part_bits)) as usize
}

/// The slot value for n-gram number `k`.
#[inline]
fn slot(hash: u64, k: u32) -> u32 {
    (hash >> NUMBER_BITS) as u32 & !NUMBER | k
}

/// The number of images that contain each word.
fn count_words(ngrams: &ReferenceNgrams, n_words: usize) -> Vec<u32> {
    let share = ngrams.shards().len().div_ceil(rayon::current_num_threads()).max(1);
    let shares = ngrams.shards().par_chunks(share).map(|shards| {
        let mut words = vec![0_u32; n_words];
        for image in shards.iter().flat_map(Shard::images) {
            for symbol in &image.symbols[image.entries(0)] {
                words[symbol.index()] += image.times;
            }
        }
        words
    });
    let add = |mut all: Vec<u32>, words: Vec<u32>| {
        all.iter_mut().zip(words).for_each(|(sum, count)| *sum += count);
        all
    };
    shares.reduce_with(add).unwrap_or_else(|| vec![0; n_words])
}

/// The keys of a shard's n-grams that belong to one part, in order.
#[derive(Default)]
struct Keys {
    keys: Vec<u64>,
    /// The number of images of each key; empty if all are of one image.
    times: Vec<u32>,
}

/// A shard whose entries are being counted.
struct Dealing<'n> {
    shard: &'n Shard,
    /// The node of each entry counted so far.
    nodes: Vec<Node>,
    counts: Vec<u32>,
    /// The part of the key of each entry.
    parts: Vec<u8>,
}

impl<'n> Dealing<'n> {
    /// A shard whose words have been counted.
    fn new(shard: &'n Shard, words: &[u32]) -> Self {
        let n = shard.n_entries();
        let mut dealing = Self { shard, nodes: vec![Node(0); n], counts: vec![0; n], parts: vec![0; n] };
        for image in shard.images() {
            for entry in image.entries(0) {
                let (at, symbol) = (image.first_entry() + entry, image.symbols[entry]);
                dealing.nodes[at] = Node(u64::from(symbol.number()));
                dealing.counts[at] = words[symbol.index()];
            }
        }
        dealing
    }

    /// The keys of these orders, distributed to the parts.
    fn deal(&mut self, orders: Range<usize>, word_bits: u32, part_bits: u32) -> Vec<Keys> {
        let room = (self.shard.n_entries_of(&orders) >> part_bits) * 9 / 8;
        let are_shared = self.shard.are_shared();
        let keys = |_| Keys { keys: Vec::with_capacity(room), times: Vec::new() };
        let mut dealt: Vec<Keys> = (0..1 << part_bits).map(keys).collect();
        for image in self.shard.images() {
            let first = image.first_entry();
            let nodes = &mut self.nodes[first..first + image.len()];
            let parts = &mut self.parts[first..first + image.len()];
            for entry in image.entries_of(&orders) {
                let key = key(nodes[image.prefixes[entry] as usize], image.symbols[entry], word_bits);
                let part = part_of(mix(key), part_bits);
                dealt[part].keys.push(key);
                if are_shared {
                    dealt[part].times.push(image.times);
                }
                parts[entry] = part as u8;
                // Where words are not packed, `take` replaces the key by the number that it is given.
                nodes[entry] = Node(key);
            }
        }
        dealt
    }

    /// Reads the answers for these orders, in the order in which the keys were distributed.
    fn take<'k>(&mut self, orders: Range<usize>, word_bits: u32, answers: impl Iterator<Item = &'k [u64]>) {
        let mut answers: Vec<_> = answers.map(<[u64]>::iter).collect();
        for image in self.shard.images() {
            let first = image.first_entry();
            for entry in image.entries_of(&orders) {
                let (at, part) = (first + entry, usize::from(self.parts[first + entry]));
                if let Some(answer) = answers[part].next() {
                    self.counts[at] = *answer as u32;
                    self.nodes[at] = node(self.nodes[at].0, part, (answer >> 32) as u32, word_bits);
                }
            }
        }
    }
}

impl Part {
    fn with_room_for(n_keys: usize) -> Self {
        Self { slots: vec![EMPTY; (n_keys + n_keys / 5 + 1).next_power_of_two()], ..Self::default() }
    }

    /// Counts the keys of one part of all shards, and replaces each with its number (in the upper half) and count.
    ///
    /// # Panics
    /// If there are more than 16 million n-grams in a part, far more than any supported corpus has.
    fn count(shards: &mut [Keys]) -> Self {
        let mut part = Self::with_room_for(shards.iter().map(|shard| shard.keys.len()).sum());
        for Keys { keys, times } in &mut *shards {
            keys.iter_mut().for_each(|key| *key = u64::from(part.add(*key)));
            // Each key has been counted for one image.
            for (number, times) in keys.iter().zip(times) {
                part.counts[*number as usize] += *times - 1;
            }
        }
        assert!(part.keys.len() < NUMBER as usize, "over four thousand million n-grams in one table");
        for number in shards.iter_mut().flat_map(|shard| &mut shard.keys) {
            *number = *number << 32 | u64::from(part.counts[*number as usize]);
        }
        part.keys.shrink_to_fit();
        part.counts.shrink_to_fit();
        part
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
        self.slots[at] = slot(hash, k & NUMBER);
        self.keys.push(key);
        self.counts.push(1);
        k
    }

    #[inline]
    fn find(&self, key: u64, hash: u64) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let found = self.slots[at];
            if found == EMPTY {
                return None;
            }
            let k = found & NUMBER;
            if found == slot(hash, k) && self.keys[k as usize] == key {
                return Some(k);
            }
            at = (at + 1) & mask;
        }
    }
}
