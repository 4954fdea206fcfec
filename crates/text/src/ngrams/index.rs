//! The distinct n-grams of each list of references.

use rayon::prelude::*;

use super::{NONE, key, mix};
use crate::ends::Ends;
use crate::sentences::Sentences;
use crate::vocabulary::Symbol;

/// The most and the fewest lists per shard; shards are the unit of parallel work.
const SHARD_LISTS: [usize; 2] = [1024, 64];

/// The number of shards, unless they would be larger or smaller: so many that threads share few images, too.
const SHARDS: usize = 16;

/// The lists of references of images.
///
/// Their n-grams are not kept: those of all images together would take more memory than all else in an evaluation.
#[derive(Debug)]
pub struct ReferenceLists<'a> {
    sentences: &'a Sentences,
    /// The end of each list among the sentences.
    ends: &'a [u64],
    /// The lists, and the number of images that share each.
    different: Vec<(u32, u32)>,
    n_images: usize,
    order: usize,
}

/// The distinct n-grams of each list of references, and where each reference uses them. Images that share a list
/// share its n-grams, so "an image" stands for a list below.
///
/// The n-grams of an image are numbered from 0: all words first, then all bigrams, and so on, each order by
/// first appearance in the references. Such a number is called an *entry*.
#[derive(Debug)]
pub struct ReferenceNgrams {
    shards: Vec<Shard>,
    lists_per_shard: usize,
}

/// The n-grams of up to 1,024 images.
#[derive(Debug, Default)]
struct Shard {
    order: usize,
    /// The end of the entries of each image and order: `n_images × order` numbers.
    bounds: Vec<u32>,
    /// The prefix of each entry, as an entry of the same image; [`NONE`] for single words.
    prefixes: Vec<u32>,
    /// The last word of each entry.
    symbols: Vec<Symbol>,
    /// For each reference, the entry at each position: all words, then all bigrams, and so on.
    uses: Vec<u32>,
    /// The end of each reference's range in `uses`.
    uses_ends: Vec<u32>,
    /// The end of each image's references.
    reference_ends: Vec<u32>,
}

/// One image's n-grams, as slices of its shard.
#[derive(Clone, Copy, Debug)]
pub struct ImageNgrams<'a> {
    /// The end of the entries of each order.
    bounds: &'a [u32],
    /// The index of the image's first entry in its shard.
    first_entry: usize,
    /// The prefix of each entry.
    pub prefixes: &'a [u32],
    /// The last word of each entry.
    pub symbols: &'a [Symbol],
    uses: &'a [u32],
    uses_ends: &'a [u32],
    first_use: u32,
}

impl<'a> ImageNgrams<'a> {
    /// The number of distinct n-grams in the references.
    pub fn len(&self) -> usize {
        self.bounds.last().map_or(0, |end| *end as usize - self.first_entry)
    }

    /// Returns true if the references contain no words.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entries of order `n` (from 0: words are order 0).
    pub fn entries(&self, n: usize) -> std::ops::Range<usize> {
        let end = |n: usize| self.bounds[n] as usize - self.first_entry;
        (if n == 0 { 0 } else { end(n - 1) })..end(n)
    }

    /// The number of references.
    pub fn n_references(&self) -> usize {
        self.uses_ends.len()
    }

    /// The entries that reference `r` uses, in order of position: all words, then all bigrams, and so on.
    pub fn uses(&self, r: usize) -> &'a [u32] {
        let start = if r == 0 { self.first_use } else { self.uses_ends[r - 1] };
        &self.uses[(start - self.first_use) as usize..(self.uses_ends[r] - self.first_use) as usize]
    }
}

impl Shard {
    fn image(&self, at: usize) -> ImageNgrams<'_> {
        let Self { order, bounds, prefixes, symbols, uses, uses_ends, reference_ends } = self;
        let first_entry = Ends(bounds).start(at * order);
        let bounds = &bounds[at * order..(at + 1) * order];
        let entries = first_entry..bounds[order - 1] as usize;
        let references = Ends(reference_ends).range(at);
        let of_image = Ends(uses_ends).start(references.start)..Ends(uses_ends).start(references.end);
        ImageNgrams {
            bounds,
            first_entry,
            prefixes: prefixes.get(entries.clone()).unwrap_or_default(),
            symbols: symbols.get(entries).unwrap_or_default(),
            first_use: of_image.start as u32,
            uses: &uses[of_image],
            uses_ends: &uses_ends[references],
        }
    }
}

impl<'a> ReferenceLists<'a> {
    /// The references of images, with n-grams of up to `order` words: `lists` has the list of each image, in ascending
    /// order, and a list that several images share is indexed once. `ends[l]` is the end of list `l` in `sentences`.
    ///
    /// # Panics
    /// If `order` is 0.
    pub fn new(
        sentences: &'a Sentences,
        ends: &'a [u64],
        lists: impl IntoIterator<Item = u32>,
        order: usize,
    ) -> Self {
        assert!(order > 0, "n-grams have at least one word");
        let lists = lists.into_iter();
        let (mut different, mut n_images) = (Vec::<(u32, u32)>::with_capacity(lists.size_hint().0), 0);
        for list in lists {
            n_images += 1;
            match different.last_mut() {
                Some((last, times)) if *last == list => *times += 1,
                _ => different.push((list, 1)),
            }
        }
        Self { sentences, ends, different, n_images, order }
    }

    /// The length of the longest n-grams.
    pub fn order(&self) -> usize {
        self.order
    }

    /// The number of images.
    pub fn n_images(&self) -> usize {
        self.n_images
    }

    fn lists_per_shard(&self) -> usize {
        let [most, fewest] = SHARD_LISTS;
        self.different.len().div_ceil(SHARDS).clamp(fewest, most)
    }

    /// The references of one list, as their words.
    ///
    /// # Panics
    /// If there is no such list, or the ends point past the last sentence.
    pub fn of_list(&self, list: u32) -> impl Iterator<Item = &'a [Symbol]> + use<'a> {
        let sentences = self.sentences;
        Ends(self.ends).range(list as usize).map(|place| sentences.words(place))
    }

    /// The lists, with the number of images that share each.
    pub(super) fn different(&self) -> &[(u32, u32)] {
        &self.different
    }

    /// The lists of each shard.
    pub(super) fn shards(&self) -> Vec<&[(u32, u32)]> {
        self.different.chunks(self.lists_per_shard()).collect()
    }

    /// Applies `work` to each shard, its number and its lists, each with the number of images that share it. Results
    /// are in the order of the lists; threads take shards, and have a scratch each.
    pub fn by_shard<S: Default, T: Send>(
        &self,
        work: impl Fn(&mut S, usize, &[(u32, u32)]) -> T + Sync,
    ) -> Vec<T> {
        let shards = self.shards().into_par_iter().enumerate();
        shards.map_init(S::default, |scratch, (number, lists)| work(scratch, number, lists)).collect()
    }
}

impl ReferenceNgrams {
    /// Indexes the n-grams of references.
    ///
    /// # Panics
    /// If there is no such list, or the ends point past the last sentence.
    pub fn build(lists: &ReferenceLists<'_>) -> Self {
        let index = |trie: &mut Trie, _, of_shard: &[(u32, u32)]| {
            let mut shard = Shard { order: lists.order, ..Shard::default() };
            of_shard.iter().for_each(|(list, _)| shard.push(lists.of_list(*list).collect(), trie));
            shard
        };
        Self { shards: lists.by_shard(index), lists_per_shard: lists.lists_per_shard() }
    }

    /// The n-grams of one list, given by its place among those of the index.
    ///
    /// # Panics
    /// If there is no such list.
    pub fn image(&self, place: usize) -> ImageNgrams<'_> {
        self.shards[place / self.lists_per_shard].image(place % self.lists_per_shard)
    }
}

impl Shard {
    fn push(&mut self, references: Vec<&[Symbol]>, trie: &mut Trie) {
        let (first_entry, first_use) = (self.symbols.len(), self.uses.len());
        let first_reference = self.uses_ends.len();
        for words in &references {
            let n_uses: usize = (0..self.order).map(|n| words.len().saturating_sub(n)).sum();
            self.uses.resize(self.uses.len() + n_uses, NONE);
            self.uses_ends.push(position(self.uses.len()));
        }
        self.reference_ends.push(position(self.uses_ends.len()));
        trie.clear(self.uses.len() - first_use);
        for n in 0..self.order {
            for (k, words) in references.iter().enumerate() {
                let uses = &mut self.uses[Ends(&self.uses_ends).range(first_reference + k)];
                let before: usize = (0..n).map(|m| words.len().saturating_sub(m)).sum();
                let (earlier, mine) = uses.split_at_mut(before);
                let prefixes =
                    if n == 0 { &[][..] } else { &earlier[before - (words.len() + 1).saturating_sub(n)..] };
                for position in 0..words.len().saturating_sub(n) {
                    let prefix = if n == 0 { NONE } else { prefixes[position] };
                    let symbol = words[position + n];
                    let next = (self.symbols.len() - first_entry) as u32;
                    let entry = trie.entry(prefix, symbol, next);
                    if entry == next {
                        self.prefixes.push(prefix);
                        self.symbols.push(symbol);
                    }
                    mine[position] = entry;
                }
            }
            self.bounds.push(position(self.symbols.len()));
        }
    }
}

/// A place in a shard.
///
/// # Panics
/// If the 1,024 lists of a shard have more than four thousand million n-grams.
fn position(n: usize) -> u32 {
    u32::try_from(n).expect("the n-grams of 1,024 images are fewer than four thousand million")
}

/// The distinct n-grams of one image or candidate, numbered from 0, shorter ones first.
///
/// Most n-grams are continued by one word only, so that one is stored with the n-gram, and only single words and
/// further continuations in the hash table, which a stamp empties.
#[derive(Default)]
pub(super) struct Trie {
    /// The first word that continues each n-gram, and the longer n-gram; [`NONE`] if there is none.
    first: Vec<(u32, u32)>,
    slots: Vec<Slot>,
    stamp: u32,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    key: u64,
    stamp: u32,
    entry: u32,
}

impl Trie {
    /// Empties the trie and makes room for `n` n-grams.
    pub(super) fn clear(&mut self, n: usize) {
        let size = (2 * n).next_power_of_two().max(64);
        self.stamp = self.stamp.wrapping_add(1);
        if self.slots.len() < size || self.stamp == 0 {
            self.slots.clear();
            self.slots.resize(size, Slot::default());
            self.stamp = 1;
        }
        self.first.clear();
        self.first.resize(n, (0, NONE));
    }

    /// The n-gram that continues `prefix` by `symbol`; `next` is stored and returned if it is new.
    #[inline]
    pub(super) fn entry(&mut self, prefix: u32, symbol: Symbol, next: u32) -> u32 {
        if let Some((last, entry)) = self.first.get_mut(prefix as usize) {
            if *entry == NONE {
                (*last, *entry) = (symbol.number(), next);
            }
            if *last == symbol.number() {
                return *entry;
            }
        }
        let at = self.slot(key(prefix, symbol));
        let slot = &mut self.slots[at];
        if slot.stamp != self.stamp {
            *slot = Slot { key: key(prefix, symbol), stamp: self.stamp, entry: next };
        }
        slot.entry
    }

    /// The n-gram that continues `prefix` by `symbol`, or [`NONE`].
    #[inline]
    pub(super) fn get(&self, prefix: u32, symbol: Symbol) -> u32 {
        if let Some((last, entry)) = self.first.get(prefix as usize)
            && (*entry == NONE || *last == symbol.number())
        {
            return *entry;
        }
        let slot = &self.slots[self.slot(key(prefix, symbol))];
        if slot.stamp == self.stamp { slot.entry } else { NONE }
    }

    /// The slot of `key`, or the free slot for it.
    #[inline]
    fn slot(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = mix(key) as usize & mask;
        while self.slots[at].stamp == self.stamp && self.slots[at].key != key {
            at = (at + 1) & mask;
        }
        at
    }
}
