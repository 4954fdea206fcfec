//! Document frequencies: the number of images of a corpus in which each n-gram occurs.

use std::ops::Range;

use rayon::prelude::*;

use super::index::{ImageNgrams, ReferenceLists, Shard, Uses};
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
/// A round distributes the keys of all images to parts by hash, counts each part separately, and keeps the answers in
/// the same order. Every pass thus reads and writes memory sequentially, and no two threads share a table.
#[derive(Debug, Default)]
pub struct NgramCounts {
    /// The number of bits that a word takes in a key.
    word_bits: u32,
    /// The length of the longest n-grams.
    order: usize,
    words: Vec<u32>,
    /// The tables of longer n-grams: one, or one for each order from bigrams on.
    tables: Vec<Table>,
    /// The answers of each round; none if the counts were stored.
    rounds: Vec<Round>,
    /// The kept numbers of each shard, if n-grams are packed.
    kept: Vec<Option<ShardNumbers>>,
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
    /// For each n-gram, counts the images that contain it. Words have numbers below `n_words`.
    ///
    /// N-grams that fewer than `least` images contain may be left out, where that saves memory.
    pub fn build(lists: &ReferenceLists<'_>, n_words: usize, least: u32) -> Self {
        let (order, n_images) = (lists.order(), lists.n_images());
        // Keys of different lengths differ as long as none begins with word 0, the empty one, which only a stem can be.
        let has_empty = || lists.sentences().any(|words| words.contains(&Symbol::EMPTY));
        let is_packed = n_words <= 1 << 16 && order <= 4 && !has_empty();
        let word_bits = if is_packed { 16 } else { 32 };
        let mut counts = Self { word_bits, order, words: vec![0; n_words], n_images, ..Self::default() };
        let mut start = 0;
        while start < order {
            // Words need no table, so that bigrams are counted with them.
            let end = if is_packed { order } else { order.min((start + 1).max(2)) };
            // Where n-grams are numbered, longer ones need the number of each.
            counts.count(lists, start..end, if is_packed { least } else { 0 });
            start = end;
        }
        counts
    }

    /// Counts the n-grams of these orders, after those of all shorter ones.
    fn count(&mut self, lists: &ReferenceLists<'_>, orders: Range<usize>, least: u32) {
        let of_orders =
            |words: &[Symbol]| orders.clone().map(|n| words.len().saturating_sub(n)).sum::<usize>();
        let n_keys: usize = lists.sentences().map(of_orders).sum();
        let part_bits = (n_keys / PART_KEYS).next_power_of_two().ilog2().min(MOST_PART_BITS);
        let dealt = lists.visit(|shard| self.deal(shard, &orders, part_bits));
        let mut by_part: Vec<Vec<Keys>> = (0..1 << part_bits).map(|_| Vec::new()).collect();
        for ShardKeys { words, parts, kept } in dealt {
            words.into_iter().for_each(|(symbol, times)| self.words[symbol.index()] += times);
            by_part.iter_mut().zip(parts).for_each(|(part, keys)| part.push(keys));
            self.kept.push(kept);
        }
        let is_numbered = self.word_bits == 32;
        let counted = by_part.into_par_iter().map(|shards| Part::count(shards, least, is_numbered));
        let (parts, answers) = counted.unzip();
        self.tables.push(Table { part_bits, parts });
        self.rounds.push(Round { orders, part_bits, answers });
    }

    /// The keys of these orders, distributed to the parts.
    fn deal(&self, shard: &Shard, orders: &Range<usize>, part_bits: u32) -> ShardKeys {
        let longer = orders.start.max(1)..orders.end;
        let room = (shard.n_entries_of(&longer) >> part_bits) * 9 / 8;
        let keys = |_| Keys { keys: Vec::with_capacity(room), times: Vec::new() };
        let mut dealt =
            ShardKeys { words: Vec::new(), parts: (0..1 << part_bits).map(keys).collect(), kept: None };
        if self.word_bits < 32 {
            let parts = Vec::with_capacity(shard.n_entries_of(&longer));
            dealt.kept = shard.to_uses().map(|uses| ShardNumbers { uses, words: Vec::new(), parts });
        }
        let are_shared = shard.are_shared();
        let mut walk = Walk::new(self, shard);
        for image in shard.images() {
            walk.go(&image, |_, _| ());
            if orders.start == 0 {
                let words = &image.symbols[image.entries(0)];
                dealt.words.extend(words.iter().map(|symbol| (*symbol, image.times)));
                if let Some(kept) = &mut dealt.kept {
                    kept.words.extend(words.iter().map(|symbol| symbol.number() as u16));
                }
            }
            for entry in image.entries_of(&longer) {
                let prefix = walk.nodes[image.prefixes[entry] as usize];
                let key = key(prefix, image.symbols[entry], self.word_bits);
                let part = part_of(mix(key), part_bits);
                if let Some(kept) = &mut dealt.kept {
                    kept.parts.push(part as u8);
                }
                let keys = &mut dealt.parts[part];
                keys.keys.push(key);
                if are_shared {
                    keys.times.push(image.times);
                }
                // Where words are packed, longer n-grams of the same round continue this key.
                walk.nodes[entry] = Node(key);
            }
        }
        dealt
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
            rounds: Vec::new(),
            kept: Vec::new(),
            n_images,
        })
    }

    /// The number of images counted.
    pub fn n_images(&self) -> usize {
        self.n_images
    }

    /// As [`ReferenceLists::visit`], of the lists that were counted, with the number of images of each entry. A shard
    /// may lack the words of its n-grams.
    pub fn visit<T: Send>(
        &self,
        lists: &ReferenceLists<'_>,
        work: impl Fn(&Shard, &[u32]) -> T + Sync,
    ) -> Vec<T> {
        let known = |number: usize| Some(&self.kept.get(number)?.as_ref()?.uses);
        lists.visit_again(known, |shard| work(shard, &self.entries(shard)))
    }

    fn entries(&self, shard: &Shard) -> Vec<u32> {
        if self.rounds.is_empty() {
            return self.look_up(shard);
        }
        if let (Some(Some(kept)), [round]) = (self.kept.get(shard.number()), &self.rounds[..]) {
            return self.kept_entries(shard, kept, round);
        }
        let mut entries = Vec::with_capacity(shard.n_entries());
        let mut walk = Walk::new(self, shard);
        for image in shard.images() {
            walk.go(&image, |_, count| entries.push(count));
        }
        entries
    }

    fn kept_entries(&self, shard: &Shard, kept: &ShardNumbers, round: &Round) -> Vec<u32> {
        let mut entries = Vec::with_capacity(shard.n_entries());
        let (mut words, mut parts) = (&kept.words[..], &kept.parts[..]);
        let mut answers: Vec<&[u32]> =
            round.answers.iter().map(|part| &part[shard.number()].counts[..]).collect();
        for image in shard.images() {
            let (own, later) = words.split_at(image.entries(0).len());
            entries.extend(own.iter().map(|word| self.words[usize::from(*word)]));
            words = later;
            let (own, later) = parts.split_at(image.len() - own.len());
            entries.extend(own.iter().map(|part| {
                let (count, later) = answers[usize::from(*part)].split_first().unwrap_or((&0, &[]));
                answers[usize::from(*part)] = later;
                *count
            }));
            parts = later;
        }
        entries
    }

    fn look_up(&self, shard: &Shard) -> Vec<u32> {
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

    /// Returns true if the n-gram with this key has `n` words; a table of all orders has keys without words before
    /// them.
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

/// The keys of a shard's n-grams that belong to one part, in order.
#[derive(Default)]
struct Keys {
    keys: Vec<u64>,
    /// The number of images of each key; empty if all are of one image.
    times: Vec<u32>,
}

/// The numbers of a shard whose n-grams are packed, kept so that it need not be indexed again.
#[derive(Debug)]
struct ShardNumbers {
    uses: Uses,
    /// The words of each image.
    words: Vec<u16>,
    /// The part in which each longer n-gram was counted.
    parts: Vec<u8>,
}

/// The keys that a shard adds to a round.
struct ShardKeys {
    /// The words of each image, with the number of images; empty in rounds of longer n-grams.
    words: Vec<(Symbol, u32)>,
    parts: Vec<Keys>,
    kept: Option<ShardNumbers>,
}

/// The counts of those keys of a shard that belong to one part, in their order.
#[derive(Debug, Default)]
struct Answers {
    /// The number of images.
    counts: Vec<u32>,
    /// The n-gram's number in its part; empty if n-grams are packed.
    numbers: Vec<u32>,
}

/// The answers of one round.
#[derive(Debug)]
struct Round {
    orders: Range<usize>,
    part_bits: u32,
    /// By part, then by shard.
    answers: Vec<Vec<Answers>>,
}

/// Goes through the entries of a shard in the order in which their keys were dealt, so that each meets its answer.
struct Walk<'c> {
    counts: &'c NgramCounts,
    shard: usize,
    /// By round and part, the answers that were met.
    met: Vec<Vec<usize>>,
    /// The node of each entry of the current image, as far as its order has been counted.
    nodes: Vec<Node>,
}

impl<'c> Walk<'c> {
    fn new(counts: &'c NgramCounts, shard: &Shard) -> Self {
        let met = counts.rounds.iter().map(|round| vec![0; round.answers.len()]).collect();
        Self { counts, shard: shard.number(), met, nodes: Vec::new() }
    }

    /// Calls `found` with each entry of the next image that has been counted, and its count.
    fn go(&mut self, image: &ImageNgrams<'_>, mut found: impl FnMut(usize, u32)) {
        let Self { counts, shard, met, nodes } = self;
        nodes.clear();
        nodes.resize(image.len(), Node(0));
        for entry in image.entries(0) {
            let symbol = image.symbols[entry];
            nodes[entry] = Node(u64::from(symbol.number()));
            found(entry, counts.words[symbol.index()]);
        }
        for (round, met) in counts.rounds.iter().zip(met) {
            for entry in image.entries_of(&(round.orders.start.max(1)..round.orders.end)) {
                let key = key(nodes[image.prefixes[entry] as usize], image.symbols[entry], counts.word_bits);
                let part = part_of(mix(key), round.part_bits);
                let (answers, at) = (&round.answers[part][*shard], met[part]);
                met[part] += 1;
                let number = answers.numbers.get(at).copied().unwrap_or_default();
                nodes[entry] = node(key, part, number, counts.word_bits);
                found(entry, answers.counts[at]);
            }
        }
    }
}

impl Part {
    fn with_room_for(n_keys: usize) -> Self {
        Self { slots: vec![EMPTY; (n_keys + n_keys / 5 + 1).next_power_of_two()], ..Self::default() }
    }

    /// Counts the keys of one part of all shards, and answers each. N-grams that fewer than `least` images contain are
    /// answered, and then left out.
    ///
    /// # Panics
    /// If there are more than 16 million n-grams in a part, far more than any supported corpus has.
    fn count(mut shards: Vec<Keys>, least: u32, is_numbered: bool) -> (Self, Vec<Answers>) {
        let mut part = Self::with_room_for(shards.iter().map(|shard| shard.keys.len()).sum());
        for Keys { keys, times } in &mut shards {
            keys.iter_mut().for_each(|key| *key = u64::from(part.add(*key)));
            // Each key has been counted for one image.
            for (number, times) in keys.iter().zip(times) {
                part.counts[*number as usize] += *times - 1;
            }
        }
        assert!(part.keys.len() < NUMBER as usize, "over four thousand million n-grams in one table");
        let answer = |Keys { keys, .. }: Keys| Answers {
            counts: keys.iter().map(|number| part.counts[*number as usize]).collect(),
            numbers: if is_numbered {
                keys.iter().map(|number| *number as u32).collect()
            } else {
                Vec::new()
            },
        };
        let answers = shards.into_iter().map(answer).collect();
        part.keys.shrink_to_fit();
        part.counts.shrink_to_fit();
        (if least > 1 { part.with_at_least(least) } else { part }, answers)
    }

    /// The n-grams that at least so many images contain.
    fn with_at_least(&self, least: u32) -> Self {
        let kept = || self.keys.iter().zip(&self.counts).filter(|(_, count)| **count >= least);
        let mut part = Self::with_room_for(kept().count());
        for (key, count) in kept() {
            let k = part.add(*key) as usize;
            part.counts[k] = *count;
        }
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
