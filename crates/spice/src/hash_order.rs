//! Words in the order of a Java hash map, in which the reference program visits them.
//!
//! A map gives its keys by their hash codes modulo the size of its table, and keys of the same remainder in the order
//! in which they came. Its table doubles when more than three quarters of it are used, and never shrinks.

use crate::graph::WordId;

/// Words, each with a value, in the order of a Java hash map.
#[derive(Clone, Debug)]
pub(crate) struct HashOrder<V> {
    /// Always in order, so that visiting costs nothing.
    entries: Vec<(usize, WordId, V)>,
    buckets: usize,
}

impl<V> Default for HashOrder<V> {
    fn default() -> Self {
        Self::with_buckets(16)
    }
}

impl<V> HashOrder<V> {
    /// An empty map with a table of the given size, a power of two.
    pub(crate) fn with_buckets(buckets: usize) -> Self {
        Self { entries: Vec::new(), buckets }
    }

    /// The value of a word.
    pub(crate) fn get(&self, word: WordId) -> Option<&V> {
        self.entries.iter().find(|(_, key, _)| *key == word).map(|(_, _, value)| value)
    }

    /// The value of a word, to be changed.
    pub(crate) fn get_mut(&mut self, word: WordId) -> Option<&mut V> {
        self.entries.iter_mut().find(|(_, key, _)| *key == word).map(|(_, _, value)| value)
    }

    /// The value of a word with a hash code, which is added if it is missing.
    pub(crate) fn entry(&mut self, word: WordId, hash: usize, new: impl FnOnce() -> V) -> &mut V {
        let place = self.entries.iter().position(|(_, key, _)| *key == word);
        let place = place.unwrap_or_else(|| self.insert(word, hash, new()));
        &mut self.entries[place].2
    }

    fn insert(&mut self, word: WordId, hash: usize, value: V) -> usize {
        let mut last = self.buckets - 1;
        while self.entries.len() + 1 > self.buckets * 3 / 4 {
            self.buckets *= 2;
            last = self.buckets - 1;
            self.entries.sort_by_key(|(hash, _, _)| hash & last);
        }
        let place = self.entries.partition_point(|(other, _, _)| other & last <= hash & last);
        self.entries.insert(place, (hash, word, value));
        place
    }

    /// Removes a word.
    pub(crate) fn remove(&mut self, word: WordId) {
        self.entries.retain(|(_, key, _)| *key != word);
    }

    /// Returns true if there is no word.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All words with their values, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (WordId, &V)> {
        self.entries.iter().map(|(_, word, value)| (*word, value))
    }

    /// All values, in order, to be changed.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.iter_mut().map(|(_, _, value)| value)
    }
}

/// The hash code of a word, and of its copies, by the places of its sentence in the text, from 0, and its own in the
/// sentence, from 1, spread as a map does.
pub(crate) fn hash(sentence: usize, index: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "hash codes of Java wrap")]
    let hash = (sentence as u32).wrapping_mul(29).wrapping_add(index as u32);
    (hash ^ hash >> 16) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_by_remainder_then_as_they_came() {
        let mut order = HashOrder::default();
        for word in [17, 1, 33, 2, 16, 3] {
            order.entry(word, word, || ());
        }
        let words = |order: &HashOrder<()>| order.iter().map(|(word, ())| word).collect::<Vec<_>>();
        assert_eq!(words(&order), [16, 17, 1, 33, 2, 3]);
        order.remove(17);
        order.entry(17, 17, || ());
        assert_eq!(words(&order), [16, 1, 33, 17, 2, 3]);
        for word in 4..11 {
            order.entry(word, word, || ());
        }
        // More than twelve words need 32 places.
        assert_eq!(words(&order), [1, 33, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 17]);
        assert_eq!((hash(2, 5), hash(0, 70_000)), (63, 70_001));
    }
}
