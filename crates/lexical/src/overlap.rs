//! Counts the n-grams of each order that two sequences share.

/// The number of an n-gram that does not exist.
const NONE: u32 = u32::MAX;

/// The n-grams of one sequence, with which many others are compared.
///
/// An n-gram is the pair (its first n − 1 items as an n-gram, its last item), so the longer n-gram need not be looked
/// up if the shorter one does not occur.
#[derive(Default)]
pub(crate) struct Overlap {
    slots: Vec<Slot>,
    stamp: u32,
    /// The number of occurrences of each n-gram in the sequence.
    counts: Vec<u32>,
    /// The number of these that the current sequence has matched.
    matched: Vec<u32>,
    /// Positions at which an n-gram of the previous order starts, with that n-gram.
    live: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    key: u64,
    stamp: u32,
    ngram: u32,
}

fn mix(key: u64) -> u64 {
    let product = u128::from(key ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93_u128;
    (product >> 64) as u64 ^ product as u64
}

impl Overlap {
    /// Indexes the n-grams of up to `order` items of `sequence`.
    pub(crate) fn prepare(&mut self, sequence: &[u32], order: usize) {
        let n_ngrams: usize = (0..order.min(sequence.len())).map(|n| sequence.len().saturating_sub(n)).sum();
        let size = (2 * n_ngrams).next_power_of_two().max(64);
        self.stamp = self.stamp.wrapping_add(1);
        if self.slots.len() < size || self.stamp == 0 {
            self.slots.clear();
            self.slots.resize(size, Slot::default());
            self.stamp = 1;
        }
        self.counts.clear();
        self.live.clear();
        self.live.extend((0..sequence.len() as u32).map(|position| (position, NONE)));
        for n in 0..order.min(sequence.len()) {
            self.live.truncate(sequence.len() - n);
            for k in 0..self.live.len() {
                let (position, prefix) = self.live[k];
                let key = u64::from(prefix) << 32 | u64::from(sequence[position as usize + n]);
                let next = self.counts.len() as u32;
                let slot = self.slot(key);
                if self.slots[slot].stamp != self.stamp {
                    self.slots[slot] = Slot { key, stamp: self.stamp, ngram: next };
                    self.counts.push(0);
                }
                let ngram = self.slots[slot].ngram;
                self.counts[ngram as usize] += 1;
                self.live[k].1 = ngram;
            }
        }
    }

    /// Adds to `matches[n]` the number of n-grams of n + 1 items that `other` shares with the sequence; each counts as
    /// often as it occurs in both.
    pub(crate) fn count(&mut self, other: &[u32], matches: &mut [f64]) {
        self.matched.clear();
        self.matched.resize(self.counts.len(), 0);
        let mut live = std::mem::take(&mut self.live);
        live.clear();
        live.extend((0..other.len() as u32).map(|position| (position, NONE)));
        for (n, matches) in matches.iter_mut().enumerate() {
            let mut n_matches = 0;
            live.retain_mut(|(position, ngram)| {
                let Some(item) = other.get(*position as usize + n) else { return false };
                let slot = self.slots[self.slot(u64::from(*ngram) << 32 | u64::from(*item))];
                if slot.stamp != self.stamp {
                    return false;
                }
                *ngram = slot.ngram;
                let matched = &mut self.matched[slot.ngram as usize];
                let counts = *matched < self.counts[slot.ngram as usize];
                *matched += u32::from(counts);
                n_matches += u32::from(counts);
                true
            });
            *matches += f64::from(n_matches);
        }
        self.live = live;
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

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn by_maps(a: &[u32], b: &[u32], order: usize) -> Vec<f64> {
        (1..=order)
            .map(|n| {
                let mut counts: HashMap<&[u32], i64> = HashMap::new();
                a.windows(n).for_each(|ngram| *counts.entry(ngram).or_default() += 1);
                b.windows(n)
                    .filter(|ngram| {
                        counts.get_mut(ngram).is_some_and(|count| {
                            *count -= 1;
                            *count >= 0
                        })
                    })
                    .count() as f64
            })
            .collect()
    }

    proptest! {
        #[test]
        fn tries_and_maps_agree(
            a in prop::collection::vec(0_u32..4, 0..60),
            others in prop::collection::vec(prop::collection::vec(0_u32..5, 0..60), 1..4),
            order in 1_usize..7,
        ) {
            let mut overlap = Overlap::default();
            for other in &others {
                overlap.prepare(&a, order);
                for other in [other, &others[0]] {
                    let mut matches = vec![0.0; order];
                    overlap.count(other, &mut matches);
                    prop_assert_eq!(&matches, &by_maps(&a, other, order));
                }
            }
        }
    }
}
