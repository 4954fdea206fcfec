//! Document frequencies: the number of images of a corpus in which each n-gram occurs.

use rayon::prelude::*;

use super::index::ReferenceLists;
use super::mix;
use super::parts::{
    CountedNgram, EMPTY, Keys, MOST_PART_BITS, NUMBER, NUMBER_BITS, Part, PartKeys, part_of, slot,
};
use crate::ends::Ends;
use crate::vocabulary::Symbol;

/// The keys of one part, so many that its table fits a core's private cache.
const PART_KEYS: usize = 1 << 14;

/// An n-gram of the corpus: its words packed into one number, or a word's number, or a position in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node(u64);

/// For each n-gram of the references, the number of images whose references contain it.
///
/// The key of an n-gram is its prefix's node, followed by its last word. Where the vocabulary is small, a node is the
/// key itself: the n-gram's words, 16 bits each. Otherwise a node is a number that the round of its order gives.
///
/// Each order from bigrams on takes a round, which distributes the keys of all images to parts by hash, counts each
/// part separately, and writes the answers in the order of the words. Every pass thus reads and writes memory
/// sequentially, and no two threads share a table. Where n-grams of one image may be left out, an n-gram is dealt only
/// if those that it is made of occur in several images.
#[derive(Debug, Default)]
pub struct NgramCounts {
    /// The number of bits that a word takes in a key.
    word_bits: u32,
    /// The length of the longest n-grams.
    order: usize,
    words: Vec<u32>,
    /// The tables of longer n-grams: one for each order from bigrams on, or one for all if the counts were stored.
    tables: Vec<Table>,
    /// The answers to each order from bigrams on; none if the counts were stored.
    rounds: Vec<Round>,
    n_images: usize,
}

/// The answers of one round, by shard: for each place in the references at which an n-gram begins, in their order.
#[derive(Debug, Default)]
struct Round {
    /// The number of images; [`MANY`] for that and more.
    counts: Vec<Vec<u16>>,
    /// The n-gram's node, where nodes are numbers, until the next round is over.
    nodes: Vec<Vec<u32>>,
}

/// The number of images from which on an answer does not tell the number.
const MANY: u16 = u16::MAX;

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

/// The number of images of the n-grams of references, one reference after the other, in the order of their lists.
#[derive(Debug)]
pub struct Occurrences<'c> {
    counts: &'c NgramCounts,
    /// By round, the answers of the references that come next.
    answers: Vec<&'c [u16]>,
    /// By place in a reference, the node of the n-gram that begins there, as far as it was looked up.
    nodes: Vec<Option<Node>>,
}

impl Occurrences<'_> {
    /// Replaces `images` with the number of images of each n-gram of the next reference, `words`: of all words, then
    /// of all bigrams, and so on.
    pub fn next(&mut self, words: &[Symbol], images: &mut Vec<u32>) {
        let Self { counts, answers, nodes } = self;
        images.clear();
        nodes.clear();
        for word in words.iter().map(|symbol| counts.word(*symbol)) {
            nodes.push(word.map(|(node, _)| node));
            images.push(word.map_or(1, |(_, images)| images));
        }
        for n in 1..counts.order {
            let (start, n_places) = (images.len(), words.len().saturating_sub(n));
            if let Some((own, later)) = answers.get(n - 1).and_then(|all| all.split_at_checked(n_places)) {
                images.extend(own.iter().map(|count| u32::from(*count)));
                answers[n - 1] = later;
            }
            // Stored counts have no answers.
            images.resize(start + n_places, u32::from(MANY));
            let places = images[start..].iter_mut().enumerate();
            for (place, images) in places.filter(|(_, images)| **images == u32::from(MANY)) {
                let found = nodes[place].and_then(|prefix| counts.longer(n, prefix, words[place + n]));
                nodes[place] = found.map(|(node, _)| node);
                // What is not stored occurs in this image only.
                *images = found.map_or(1, |(_, images)| images);
            }
        }
    }
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
    /// N-grams of more than one word that fewer than `least` images contain, 1 or 2, are left out.
    pub fn build(lists: &ReferenceLists<'_>, n_words: usize, least: u8) -> Self {
        let (order, n_images) = (lists.order(), lists.n_images());
        let words = count_words(lists, n_words);
        // Keys of different lengths differ as long as none begins with word 0, the empty one, which only a stem can be.
        let has_empty = words.get(Symbol::EMPTY.index()).is_some_and(|count| *count > 0);
        let is_packed = n_words <= 1 << 16 && order <= 4 && !has_empty;
        let word_bits = if is_packed { 16 } else { 32 };
        let mut counts = Self { word_bits, order, words, n_images, ..Self::default() };
        (1..order).for_each(|n| counts.count(lists, n, least));
        if let Some(last) = counts.rounds.last_mut() {
            last.nodes = Vec::new();
        }
        counts
    }

    /// Counts the n-grams of `n` + 1 words, after those of all shorter ones.
    fn count(&mut self, lists: &ReferenceLists<'_>, n: usize, least: u8) {
        let n_keys_of = |(list, _): &(u32, u32)| {
            lists.of_list(*list).map(|words| words.len().saturating_sub(n)).sum::<usize>()
        };
        let n_keys: usize = lists.different().par_iter().map(n_keys_of).sum();
        let part_bits = (n_keys / PART_KEYS).next_power_of_two().ilog2().min(MOST_PART_BITS);
        let shards = lists.shards();
        let deal = |scratch: &mut Keys, shard| {
            scratch.keys.clear();
            scratch.lists.clear();
            self.walk(lists, (shard, shards[shard]), n, least, |list, key| {
                if let Some(key) = key {
                    scratch.keys.push(key);
                    scratch.lists.push(list);
                }
            });
            scratch.dealt(part_bits)
        };
        let mut dealt: Vec<Keys> = (0..shards.len()).into_par_iter().map_init(Keys::default, deal).collect();
        let mut by_part: Vec<Vec<PartKeys<'_>>> = (0..1 << part_bits).map(|_| Vec::new()).collect();
        for (Keys { keys, lists, ends }, of_shard) in dealt.iter_mut().zip(&shards) {
            let mut rest = &mut keys[..];
            for (p, part) in by_part.iter_mut().enumerate() {
                let own = Ends(ends).range(p);
                let keys = rest.split_off_mut(..own.len()).unwrap_or_default();
                part.push(PartKeys { keys, lists: &lists[own], of_shard });
            }
        }
        let count = |(p, shards)| Part::count(shards, p as u32, least);
        let parts = by_part.into_par_iter().enumerate().map(count).collect();
        let is_numbered = self.word_bits == 32;
        let answer = |(shard, Keys { keys, ends, .. }): (usize, &Keys)| {
            let (mut counts, mut nodes) = (Vec::with_capacity(keys.len()), Vec::new());
            let mut next: Vec<usize> = (0..ends.len()).map(|part| Ends(ends).start(part)).collect();
            self.walk(lists, (shard, shards[shard]), n, least, |_, key| {
                let answer = key.map(|key| {
                    let next = &mut next[part_of(mix(key), part_bits)];
                    *next += 1;
                    keys[*next - 1]
                });
                // What is not dealt is only here.
                counts.push(answer.map_or(1, |answer| (answer as u32).min(u32::from(MANY)) as u16));
                if is_numbered {
                    nodes.push(answer.map_or(EMPTY, |answer| (answer >> 32) as u32));
                }
            });
            counts.shrink_to_fit();
            (counts, nodes)
        };
        let (counts, nodes) = dealt.par_iter().enumerate().map(answer).unzip();
        if let Some(before) = self.rounds.last_mut() {
            before.nodes.clear();
        }
        self.tables.push(Table { part_bits, parts });
        self.rounds.push(Round { counts, nodes });
    }

    /// Calls `work` with each n-gram of `n` + 1 words of a shard, in the order of the references: the place of its list
    /// in the shard, and its key, or `None` if it must be in fewer than `least` images.
    fn walk(
        &self,
        lists: &ReferenceLists<'_>,
        (shard, of_shard): (usize, &[(u32, u32)]),
        n: usize,
        least: u8,
        mut work: impl FnMut(u16, Option<u64>),
    ) {
        let shorter = n.checked_sub(2).and_then(|before| self.rounds.get(before));
        let mut counts = shorter.map_or(&[][..], |round| &round.counts[shard]);
        let mut nodes = shorter.and_then(|round| round.nodes.get(shard)).map_or(&[][..], Vec::as_slice);
        let number = |symbol: &Symbol| u64::from(symbol.number());
        for (place, (list, _)) in (0..).zip(of_shard) {
            for words in lists.of_list(*list) {
                for (at, words) in words.windows(n + 1).enumerate() {
                    let is_frequent = counts
                        .get(at..at + 2)
                        .is_none_or(|both| both.iter().all(|count| *count >= u16::from(least)));
                    let key = || match nodes.get(at) {
                        Some(prefix) => u64::from(*prefix) << 32 | number(&words[n]),
                        None => words.iter().fold(0, |key, word| key << self.word_bits | number(word)),
                    };
                    work(place, is_frequent.then(key));
                }
                let n_shorter = (words.len() + 1).saturating_sub(n);
                counts = counts.get(n_shorter..).unwrap_or_default();
                nodes = nodes.get(n_shorter..).unwrap_or_default();
            }
        }
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
            parts.flat_map(|part| &part.ngrams).filter(|ngram| ngram.count > 1)
        };
        let Part { ngrams, slots } = Part::of(kept);
        let (keys, counts): (Vec<u64>, Vec<u32>) =
            ngrams.iter().map(|ngram| (ngram.key(), ngram.count)).unzip();
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
        let ngrams = keys.iter().zip(counts).map(|(key, count)| CountedNgram::new(*key, *count)).collect();
        let part = Part { ngrams, slots: slots.to_vec() };
        is_sound.then(|| Self {
            word_bits: 16,
            order,
            words: words.to_vec(),
            tables: vec![Table { part_bits: 0, parts: vec![part] }],
            rounds: Vec::new(),
            n_images,
        })
    }

    /// The number of images counted.
    pub fn n_images(&self) -> usize {
        self.n_images
    }

    /// The number of images of each n-gram of a shard of the lists that were counted.
    pub fn occurrences(&self, shard: usize) -> Occurrences<'_> {
        let answers = self.rounds.iter().map(|round| round.counts.get(shard).map_or(&[][..], Vec::as_slice));
        Occurrences { counts: self, answers: answers.collect(), nodes: Vec::new() }
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
        let Table { part_bits, parts } = self.table(n).filter(|_| symbol.index() < self.words.len())?;
        let key = key(prefix, symbol, self.word_bits);
        let hash = mix(key);
        let p = part_of(hash, *part_bits);
        let k = parts[p].find(key, hash)?;
        Some((node(key, p, k, self.word_bits), parts[p].ngrams[k as usize].count))
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
            part.ngrams.get(k).map_or((u64::MAX, 0), |ngram| (ngram.key(), ngram.count))
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
                found(query.ngram, node(first.key, p, k, self.word_bits), parts[p].ngrams[k as usize].count);
            }
        }
    }

    /// The table of n-grams of `n` + 1 words.
    fn table(&self, n: usize) -> Option<&Table> {
        let is_counted = (1..self.order).contains(&n);
        // What is stored has one table for all orders.
        self.tables.get(if self.rounds.is_empty() { 0 } else { n.checked_sub(1)? }).filter(|_| is_counted)
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
            let room = |part: &Part| if n + 1 < order { part.ngrams.len() } else { 0 };
            let mut longer: Vec<Vec<Option<N>>> =
                table.parts.iter().map(|part| vec![None; room(part)]).collect();
            for (p, part) in table.parts.iter().enumerate() {
                for (k, ngram) in part.ngrams.iter().enumerate() {
                    let key = ngram.key();
                    if !self.has_words(key, n + 1) {
                        continue;
                    }
                    let prefix = if n == 1 {
                        words.get((key >> self.word_bits) as usize)
                    } else {
                        self.place(n - 1, key >> self.word_bits).and_then(|(p, k)| shorter.get(p)?.get(k))
                    };
                    let symbol = symbols.get((key & ((1 << self.word_bits) - 1)) as usize);
                    if let (Some(Some(prefix)), Some(symbol)) = (prefix, symbol) {
                        let found = visit(Some(*prefix), *symbol, ngram.count);
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

    /// The part and the number of the n-gram of `n` + 1 words with this node.
    fn place(&self, n: usize, node: u64) -> Option<(usize, usize)> {
        if self.word_bits == 32 {
            return Some(((node >> NUMBER_BITS) as usize, (node & u64::from(NUMBER)) as usize));
        }
        let table = self.table(n)?;
        let hash = mix(node);
        let p = part_of(hash, table.part_bits);
        Some((p, table.parts.get(p)?.find(node, hash)? as usize))
    }
}

/// The number of images that contain each word.
fn count_words(lists: &ReferenceLists<'_>, n_words: usize) -> Vec<u32> {
    let of_part = |lists_of_part: &[(u32, u32)]| {
        let (mut words, mut last) = (vec![0; n_words], vec![None; n_words]);
        for (list, times) in lists_of_part {
            for symbol in lists.of_list(*list).flatten() {
                if last[symbol.index()].replace(list) != Some(list) {
                    words[symbol.index()] += times;
                }
            }
        }
        words
    };
    // Each part has a number for each word.
    const MOST_PARTS: usize = 8;
    let n_parts = rayon::current_num_threads().min(MOST_PARTS);
    let share = lists.different().len().div_ceil(n_parts).max(1);
    let parts = lists.different().par_chunks(share).map(of_part);
    let add = |mut all: Vec<u32>, part: Vec<u32>| {
        all.iter_mut().zip(part).for_each(|(all, of_part)| *all += of_part);
        all
    };
    parts.reduce_with(add).unwrap_or_else(|| vec![0; n_words])
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
