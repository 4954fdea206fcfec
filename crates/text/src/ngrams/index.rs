//! The distinct n-grams of each image's references.

use rayon::prelude::*;

use super::{NONE, key, mix};
use crate::ends::Ends;
use crate::sentences::Sentences;
use crate::vocabulary::Symbol;
use capeval_arrays::Buffer;

/// Images per shard; shards are the unit of parallel work and of storage.
pub(super) const SHARD_IMAGES: usize = 1024;

/// The distinct n-grams of each image's references, and where each reference uses them.
///
/// The n-grams of an image are numbered from 0: all words first, then all bigrams, and so on, each order by
/// first appearance in the references. Such a number is called an *entry*.
#[derive(Clone, Debug)]
pub struct ReferenceNgrams {
    order: usize,
    n_images: usize,
    shards: Vec<Shard>,
}

/// The n-grams of up to 1,024 consecutive images.
#[derive(Clone, Debug, Default)]
pub struct Shard {
    /// The end of the entries of each image and order: `n_images × order` numbers.
    pub bounds: Buffer<u32>,
    /// The prefix of each entry, as an entry of the same image; [`NONE`] for single words.
    pub prefixes: Buffer<u32>,
    /// The last word of each entry.
    pub symbols: Buffer<Symbol>,
    /// For each reference, the entry at each position: all words, then all bigrams, and so on.
    pub uses: Buffer<u32>,
    /// The end of each reference's range in `uses`.
    pub uses_ends: Buffer<u64>,
    /// The index of the shard's first reference sentence.
    pub first_sentence: u64,
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
    uses_ends: &'a [u64],
    first_use: u64,
}

impl ImageNgrams<'_> {
    /// The number of distinct n-grams in the references.
    pub fn len(&self) -> usize {
        self.symbols.len()
    }

    /// Whether the references contain no words.
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty()
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
    pub fn uses(&self, r: usize) -> &[u32] {
        let start = if r == 0 { self.first_use } else { self.uses_ends[r - 1] };
        &self.uses[(start - self.first_use) as usize..(self.uses_ends[r] - self.first_use) as usize]
    }

    /// The index of the image's first entry in its shard.
    pub fn first_entry(&self) -> usize {
        self.first_entry
    }
}

impl Shard {
    fn n_images(&self, order: usize) -> usize {
        self.bounds.len() / order
    }

    /// The number of entries of all images in the shard.
    pub fn n_entries(&self) -> usize {
        self.symbols.len()
    }
}

impl ReferenceNgrams {
    /// Indexes the n-grams of up to `order` words in the references of every image.
    ///
    /// `ends[i]` is the end of image `i`'s references in `sentences`.
    ///
    /// # Panics
    /// If `order` is 0, or `ends` points past the last sentence.
    pub fn build(sentences: &Sentences, ends: &[u64], order: usize) -> Self {
        assert!(order > 0, "n-grams have at least one word");
        let shards = (0..ends.len().div_ceil(SHARD_IMAGES))
            .into_par_iter()
            .map(|s| {
                let images = s * SHARD_IMAGES..((s + 1) * SHARD_IMAGES).min(ends.len());
                let mut builder = ShardBuilder::new(order, Ends(ends).start(images.start) as u64);
                for image in images {
                    builder.push(sentences, Ends(ends).range(image));
                }
                builder.finish()
            })
            .collect();
        Self { order, n_images: ends.len(), shards }
    }

    /// The length of the longest n-grams.
    pub fn order(&self) -> usize {
        self.order
    }

    /// The number of images.
    pub fn n_images(&self) -> usize {
        self.n_images
    }

    /// The shards, in order of images.
    pub fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// The images of shard `s`.
    pub fn shard_images(&self, s: usize) -> std::ops::Range<usize> {
        s * SHARD_IMAGES..((s + 1) * SHARD_IMAGES).min(self.n_images)
    }

    /// The shard of `image`.
    pub fn shard_of(&self, image: usize) -> usize {
        image / SHARD_IMAGES
    }

    /// The n-grams of one image; `reference_ends` must be the `ends` passed to [`build`](Self::build).
    ///
    /// # Panics
    /// If there is no such image.
    pub fn image(&self, image: usize, reference_ends: &[u64]) -> ImageNgrams<'_> {
        let shard = &self.shards[image / SHARD_IMAGES];
        let at = image % SHARD_IMAGES;
        let bounds: &[u32] = &shard.bounds;
        let first_entry = Ends(bounds).start(at * self.order);
        let bounds = &bounds[at * self.order..(at + 1) * self.order];
        let last_entry = bounds[self.order - 1] as usize;
        let sentences = Ends(reference_ends).range(image);
        let first = shard.first_sentence as usize;
        let references = sentences.start - first..sentences.end - first;
        let uses_ends: &[u64] = &shard.uses_ends;
        let uses = Ends(uses_ends).start(references.start)..Ends(uses_ends).start(references.end);
        ImageNgrams {
            bounds,
            first_entry,
            prefixes: &shard.prefixes[first_entry..last_entry],
            symbols: &shard.symbols[first_entry..last_entry],
            first_use: uses.start as u64,
            uses: &shard.uses[uses],
            uses_ends: &uses_ends[references],
        }
    }

    /// Restores an index from stored shards; `None` unless every index is in range.
    pub fn from_shards(
        shards: Vec<Shard>,
        order: usize,
        reference_ends: &[u64],
        sentences: &Sentences,
        vocabulary_len: usize,
    ) -> Option<Self> {
        let index = Self { order, n_images: reference_ends.len(), shards };
        let sound = order > 0
            && index.shards.len() == reference_ends.len().div_ceil(SHARD_IMAGES)
            && (0..index.shards.len())
                .into_par_iter()
                .all(|s| index.shard_is_sound(s, reference_ends, sentences, vocabulary_len));
        sound.then_some(index)
    }

    fn shard_is_sound(
        &self,
        s: usize,
        reference_ends: &[u64],
        sentences: &Sentences,
        vocabulary_len: usize,
    ) -> bool {
        let (shard, images, order) = (&self.shards[s], self.shard_images(s), self.order);
        let (bounds, prefixes, symbols): (&[u32], &[u32], &[Symbol]) =
            (&shard.bounds, &shard.prefixes, &shard.symbols);
        let (uses, uses_ends): (&[u32], &[u64]) = (&shard.uses, &shard.uses_ends);
        let first_sentence = Ends(reference_ends).start(images.start) as u64;
        let n_sentences = reference_ends[images.end - 1].checked_sub(first_sentence);
        let fits = shard.n_images(order) == images.len()
            && bounds.len() == images.len() * order
            && bounds.is_sorted()
            && bounds.last().is_some_and(|end| *end as usize == symbols.len())
            && prefixes.len() == symbols.len()
            && shard.first_sentence == first_sentence
            && n_sentences == Some(uses_ends.len() as u64)
            && uses_ends.is_sorted()
            && uses_ends.last().copied().unwrap_or(0) == uses.len() as u64
            && symbols.iter().all(|s| s.index() < vocabulary_len);
        fits && images.clone().all(|i| {
            let image = self.image(i, reference_ends);
            let first = Ends(reference_ends).start(i);
            let prefixes_lead_to_the_order_before = (0..order).all(|n| {
                let before = if n == 0 { 0..0 } else { image.entries(n - 1) };
                image.prefixes[image.entries(n)]
                    .iter()
                    .all(|p| if n == 0 { *p == NONE } else { before.contains(&(*p as usize)) })
            });
            prefixes_lead_to_the_order_before
                && (0..image.n_references()).all(|r| {
                    let n_words = sentences.words(first + r).len();
                    let n_uses: usize = (0..order).map(|n| n_words.saturating_sub(n)).sum();
                    let uses = image.uses(r);
                    uses.len() == n_uses
                        && uses.iter().copied().max().is_none_or(|m| (m as usize) < image.len())
                })
        })
    }
}

/// Indexes one image after another, with a small hash table that is never cleared.
struct ShardBuilder {
    order: usize,
    first_sentence: u64,
    bounds: Vec<u32>,
    prefixes: Vec<u32>,
    symbols: Vec<Symbol>,
    uses: Vec<u32>,
    uses_ends: Vec<u64>,
    table: EntryTable,
}

impl ShardBuilder {
    fn new(order: usize, first_sentence: u64) -> Self {
        Self {
            order,
            first_sentence,
            bounds: Vec::new(),
            prefixes: Vec::new(),
            symbols: Vec::new(),
            uses: Vec::new(),
            uses_ends: Vec::new(),
            table: EntryTable::default(),
        }
    }

    fn push(&mut self, sentences: &Sentences, references: std::ops::Range<usize>) {
        let first_entry = self.symbols.len();
        let first_use = self.uses.len();
        let first_reference = self.uses_ends.len();
        for r in references.clone() {
            let n_words = sentences.words(r).len();
            let n_uses: usize = (0..self.order).map(|n| n_words.saturating_sub(n)).sum();
            self.uses.resize(self.uses.len() + n_uses, NONE);
            self.uses_ends.push(self.uses.len() as u64);
        }
        self.table.clear(self.uses.len() - first_use);
        for n in 0..self.order {
            for (k, r) in references.clone().enumerate() {
                let words = sentences.words(r);
                let end = first_reference + k;
                let uses = &mut self.uses[Ends(&self.uses_ends).range(end)];
                let before: usize = (0..n).map(|m| words.len().saturating_sub(m)).sum();
                let (earlier, mine) = uses.split_at_mut(before);
                let prefixes =
                    if n == 0 { &[][..] } else { &earlier[before - (words.len() + 1).saturating_sub(n)..] };
                for position in 0..words.len().saturating_sub(n) {
                    let prefix = if n == 0 { NONE } else { prefixes[position] };
                    let symbol = words[position + n];
                    let next = (self.symbols.len() - first_entry) as u32;
                    let entry = self.table.entry(key(prefix, symbol), next);
                    if entry == next {
                        self.prefixes.push(prefix);
                        self.symbols.push(symbol);
                    }
                    mine[position] = entry;
                }
            }
            self.bounds.push(self.symbols.len() as u32);
        }
    }

    fn finish(self) -> Shard {
        Shard {
            bounds: self.bounds.into(),
            prefixes: self.prefixes.into(),
            symbols: self.symbols.into(),
            uses: self.uses.into(),
            uses_ends: self.uses_ends.into(),
            first_sentence: self.first_sentence,
        }
    }
}

/// A map from keys to entries of one image; incrementing a stamp clears it.
#[derive(Default)]
pub(super) struct EntryTable {
    slots: Vec<Slot>,
    stamp: u32,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    key: u64,
    stamp: u32,
    entry: u32,
}

impl EntryTable {
    /// Empties the table and makes room for `n` keys.
    pub(super) fn clear(&mut self, n: usize) {
        let size = (2 * n).next_power_of_two().max(64);
        self.stamp = self.stamp.wrapping_add(1);
        if self.slots.len() < size || self.stamp == 0 {
            self.slots.clear();
            self.slots.resize(size, Slot::default());
            self.stamp = 1;
        }
    }

    /// The entry of `key`; `next` is stored and returned if the key is new.
    #[inline]
    pub(super) fn entry(&mut self, key: u64, next: u32) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = mix(key) as usize & mask;
        loop {
            let slot = &mut self.slots[at];
            if slot.stamp != self.stamp {
                *slot = Slot { key, stamp: self.stamp, entry: next };
                return next;
            }
            if slot.key == key {
                return slot.entry;
            }
            at = (at + 1) & mask;
        }
    }

    /// The entry of `key`, or [`NONE`].
    #[inline]
    pub(super) fn get(&self, key: u64) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = mix(key) as usize & mask;
        loop {
            let slot = &self.slots[at];
            if slot.stamp != self.stamp {
                return NONE;
            }
            if slot.key == key {
                return slot.entry;
            }
            at = (at + 1) & mask;
        }
    }
}
