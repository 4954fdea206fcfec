//! The parts into which n-grams are dealt to be counted: each is a table that fits a core's private cache.

use super::mix;

/// The greatest number of parts, as a power of two: the number of a part fits a byte.
pub(super) const MOST_PART_BITS: u32 = 8;
/// The lower bits of a node or slot hold the n-gram's number within its part.
pub(super) const NUMBER_BITS: u32 = 32 - MOST_PART_BITS;
pub(super) const NUMBER: u32 = (1 << NUMBER_BITS) - 1;
pub(super) const EMPTY: u32 = u32::MAX;

/// The n-grams of one part, numbered from 0, and an open-addressing table for looking up these numbers.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) ngrams: Vec<CountedNgram>,
    /// The table. A slot holds an n-gram's number with eight bits of its key's hash above it, or all ones if
    /// empty. The length is a power of two.
    pub(super) slots: Vec<u32>,
}

/// An n-gram, with the number of images that contain it. Its key is in two halves, so that there is no padding.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountedNgram {
    upper: u32,
    lower: u32,
    pub(super) count: u32,
}

impl CountedNgram {
    pub(super) fn new(key: u64, count: u32) -> Self {
        Self { upper: (key >> 32) as u32, lower: key as u32, count }
    }

    #[inline]
    pub(super) fn key(&self) -> u64 {
        u64::from(self.upper) << 32 | u64::from(self.lower)
    }
}

/// The keys of a shard's n-grams, part by part once they are dealt.
#[derive(Default)]
pub(super) struct Keys {
    pub(super) keys: Vec<u64>,
    /// The place in the shard of the list of each.
    pub(super) lists: Vec<u16>,
    /// The end of each part.
    pub(super) ends: Vec<u32>,
}

impl Keys {
    /// The keys sorted by part, those of a part in order.
    pub(super) fn dealt(&self, part_bits: u32) -> Self {
        let Self { keys, lists, .. } = self;
        let mut ends = vec![0_u32; 1 << part_bits];
        keys.iter().for_each(|key| ends[part_of(mix(*key), part_bits)] += 1);
        let mut next = 0;
        // The start of each part becomes its end.
        ends.iter_mut().for_each(|end| next += std::mem::replace(end, next));
        let mut dealt = Self { keys: vec![0; keys.len()], lists: vec![0; keys.len()], ends };
        for (key, list) in keys.iter().zip(lists) {
            let end = &mut dealt.ends[part_of(mix(*key), part_bits)];
            (dealt.keys[*end as usize], dealt.lists[*end as usize]) = (*key, *list);
            *end += 1;
        }
        dealt
    }
}

/// The keys of a shard that belong to one part, which become answers.
pub(super) struct PartKeys<'k> {
    pub(super) keys: &'k mut [u64],
    pub(super) lists: &'k [u16],
    /// The lists of the shard, with the number of images that share each.
    pub(super) of_shard: &'k [(u32, u32)],
}

impl Part {
    fn with_room_for(n_keys: usize) -> Self {
        Self { slots: vec![EMPTY; (n_keys + n_keys / 5 + 1).next_power_of_two()], ngrams: Vec::new() }
    }

    /// Counts the keys of part `p` of all shards, and puts the answer in the place of each: the number of images, and
    /// in the upper half the n-gram's number. N-grams that fewer than `least` images contain are then left out.
    ///
    /// # Panics
    /// If there are more than 16 million n-grams in a part, far more than any supported corpus has.
    pub(super) fn count(mut shards: Vec<PartKeys<'_>>, p: u32, least: u8) -> Self {
        let mut part = Self::with_room_for(shards.iter().map(|shard| shard.keys.len()).sum());
        // The list in which each n-gram was met last: it may be there twice, and counts once.
        let mut last: Vec<u32> = Vec::new();
        for PartKeys { keys, lists, of_shard } in &mut shards {
            for (key, list) in keys.iter_mut().zip(*lists) {
                let k = part.add(*key) as usize;
                let (list, times) = of_shard[usize::from(*list)];
                if k == last.len() {
                    last.push(!list);
                }
                if std::mem::replace(&mut last[k], list) != list {
                    part.ngrams[k].count += times;
                }
                *key = k as u64;
            }
        }
        assert!(part.ngrams.len() < NUMBER as usize, "over four thousand million n-grams in one table");
        let is_kept = |ngram: &&CountedNgram| ngram.count >= u32::from(least);
        let mut number = 0;
        for (new, ngram) in last.iter_mut().zip(&part.ngrams) {
            *new = p << NUMBER_BITS | number;
            number += u32::from(is_kept(&ngram));
        }
        for key in shards.iter_mut().flat_map(|shard| shard.keys.iter_mut()) {
            let k = *key as usize;
            *key = u64::from(last[k]) << 32 | u64::from(part.ngrams[k].count);
        }
        Self::of(|| part.ngrams.iter().filter(is_kept))
    }

    /// The table of these n-grams, which differ.
    pub(super) fn of<'n, I: Iterator<Item = &'n CountedNgram>>(ngrams: impl Fn() -> I) -> Self {
        let n = ngrams().count();
        let mut part = Self { ngrams: Vec::with_capacity(n), ..Self::with_room_for(n) };
        for ngram in ngrams() {
            let k = part.add(ngram.key()) as usize;
            part.ngrams[k].count = ngram.count;
        }
        part
    }

    /// The number of `key`, which is added if it is new.
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
            if found == slot(hash, k) && self.ngrams[k as usize].key() == key {
                return k;
            }
            at = (at + 1) & mask;
        }
        let k = self.ngrams.len() as u32;
        self.slots[at] = slot(hash, k & NUMBER);
        self.ngrams.push(CountedNgram::new(key, 0));
        k
    }

    #[inline]
    pub(super) fn find(&self, key: u64, hash: u64) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let found = self.slots[at];
            if found == EMPTY {
                return None;
            }
            let k = found & NUMBER;
            if found == slot(hash, k) && self.ngrams[k as usize].key() == key {
                return Some(k);
            }
            at = (at + 1) & mask;
        }
    }
}

#[inline]
pub(super) fn part_of(hash: u64, part_bits: u32) -> usize {
    (hash >> 32 >> (32 - part_bits)) as usize
}

/// The slot value for n-gram number `k`.
#[inline]
pub(super) fn slot(hash: u64, k: u32) -> u32 {
    (hash >> NUMBER_BITS) as u32 & !NUMBER | k
}
