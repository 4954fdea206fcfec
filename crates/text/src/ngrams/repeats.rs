//! The n-grams of one text: where each occurs first, and how often.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::vocabulary::Symbol;

/// Counts the n-grams of one text after the other.
///
/// Few n-grams of a caption occur twice, and only those that do can be the beginning of a longer one that does, so
/// nothing else is looked up.
#[derive(Debug, Default)]
pub struct Repeats {
    /// The number of texts so far.
    text: u32,
    /// By word, the text in which it was met last, and its first place there.
    words: Vec<(u32, u32)>,
    /// For each place in the text, the first place of the n-gram that begins there.
    firsts: Vec<u32>,
    counts: Vec<u32>,
    /// The first place of each n-gram whose beginning is repeated, and continued by another word than at its first
    /// place: the first place of the beginning in the upper half, the last word in the lower half.
    continued: HashMap<u64, u32, FixedState>,
}

impl Repeats {
    /// Calls `visit` with each n-gram of up to `order` words: the number of its words less one, its first place, and
    /// the number of times that it occurs. Single words come first, then bigrams, and so on, each by first appearance.
    pub fn each(&mut self, words: &[Symbol], order: usize, mut visit: impl FnMut(usize, usize, u32)) {
        let mut has_repeats = self.begin(words);
        for n in 0..order.min(words.len()) {
            let n_places = words.len() - n;
            has_repeats = has_repeats && (n == 0 || self.grow(words, n));
            if !has_repeats {
                (0..n_places).for_each(|place| visit(n, place, 1));
                continue;
            }
            self.counts.clear();
            self.counts.resize(n_places, 0);
            self.firsts[..n_places].iter().for_each(|first| self.counts[*first as usize] += 1);
            let counts = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
            counts.for_each(|(place, count)| visit(n, place, *count));
        }
    }

    /// Finds the first place of each word; returns true if a word is repeated.
    fn begin(&mut self, words: &[Symbol]) -> bool {
        self.text = self.text.wrapping_add(1);
        if self.text == 0 {
            self.words.clear();
            self.text = 1;
        }
        self.firsts.clear();
        for (symbol, place) in words.iter().zip(0..) {
            let word = symbol.index();
            if self.words.len() <= word {
                self.words.resize((word + 1).next_power_of_two(), (0, 0));
            }
            if self.words[word].0 != self.text {
                self.words[word] = (self.text, place);
            }
            self.firsts.push(self.words[word].1);
        }
        self.firsts.iter().zip(0..).any(|(first, place)| *first != place)
    }

    /// Finds the first place of each n-gram of `n` + 1 words, after those of `n` words; returns true if one is
    /// repeated.
    fn grow(&mut self, words: &[Symbol], n: usize) -> bool {
        self.continued.clear();
        let mut has_repeats = false;
        for (place, first) in self.firsts[..words.len() - n].iter_mut().enumerate() {
            if *first as usize == place {
                continue;
            }
            if words[*first as usize + n] != words[place + n] {
                let key = u64::from(*first) << 32 | u64::from(words[place + n].number());
                *first = *self.continued.entry(key).or_insert(place as u32);
            }
            has_repeats |= *first as usize != place;
        }
        has_repeats
    }
}
