//! Which tags can stand before and after a state in a parse: states that the next words rule out are skipped.

use super::{Grammar, Rule, kind};

/// For each tag, the states that it can follow and precede, a bit each.
pub(crate) struct Neighbours {
    /// By state, the number of the tag; [`NO_TAG`] if it is none.
    tags: Vec<u16>,
    /// By tag; behind the last, those that can begin a sentence.
    before: Vec<Vec<u64>>,
    after: Vec<Vec<u64>>,
}

const NO_TAG: u16 = u16::MAX;

/// Sets of tags, by state.
struct TagSets {
    words: usize,
    bits: Vec<u64>,
}

impl TagSets {
    fn new(states: usize, tags: usize) -> Self {
        let words = tags.div_ceil(64);
        Self { words, bits: vec![0; states * words] }
    }

    fn set(&mut self, state: usize, tag: usize) {
        self.bits[state * self.words + tag / 64] |= 1 << (tag % 64);
    }

    fn of(&self, state: u16) -> &[u64] {
        &self.bits[usize::from(state) * self.words..][..self.words]
    }

    /// Adds other tags to those of a state; true if any is new.
    fn add(&mut self, state: u16, tags: &[u64]) -> bool {
        let known = &mut self.bits[usize::from(state) * self.words..][..self.words];
        let mut is_new = false;
        for (known, tags) in known.iter_mut().zip(tags) {
            is_new |= tags & !*known != 0;
            *known |= tags;
        }
        is_new
    }

    /// Adds to the tags of one state those of another.
    fn join(&mut self, state: u16, other: u16) -> bool {
        let [state, other] = [state, other].map(|state| usize::from(state) * self.words);
        let mut is_new = false;
        for word in 0..self.words {
            let tags = self.bits[other + word];
            is_new |= tags & !self.bits[state + word] != 0;
            self.bits[state + word] |= tags;
        }
        is_new
    }

    /// By tag, the states whose sets have it, a bit each.
    fn by_tag(&self, tags: usize, states: usize) -> Vec<Vec<u64>> {
        let mut sets = vec![vec![0; states.div_ceil(64)]; tags];
        for state in 0..states {
            for (word, tags) in self.of(state as u16).iter().enumerate() {
                let mut rest = *tags;
                while rest != 0 {
                    sets[word * 64 + rest.trailing_zeros() as usize][state / 64] |= 1 << (state % 64);
                    rest &= rest - 1;
                }
            }
        }
        sets
    }
}

impl Neighbours {
    pub(super) fn new(grammar: &Grammar) -> Self {
        let states = grammar.states();
        let is_tag = |state: &usize| grammar.is(*state as u16, kind::TAG);
        let mut tags = vec![NO_TAG; states];
        (0..states).filter(is_tag).zip(0..).for_each(|(state, tag)| tags[state] = tag);
        let count = 1 + (0..states).filter(is_tag).count();
        let sets = || TagSets::new(states, count);
        let (mut first, mut last, mut before, mut after) = (sets(), sets(), sets(), sets());
        for state in (0..states).filter(is_tag) {
            first.set(state, usize::from(tags[state]));
            last.set(state, usize::from(tags[state]));
        }
        before.set(usize::from(grammar.root()), count - 1);
        let lists = |rules: super::View<'_, u64>, visit: &mut dyn FnMut(u16, Rule)| {
            for child in 0..states {
                rules.list(child).iter().for_each(|rule| visit(child as u16, Rule::unpack(*rule)));
            }
        };
        let mut is_new = true;
        while std::mem::take(&mut is_new) {
            lists(grammar.by_left(), &mut |left, rule| {
                is_new |= first.join(rule.first, left) | last.join(rule.first, rule.second);
            });
            lists(grammar.chains(), &mut |child, rule| {
                is_new |= first.join(rule.first, child) | last.join(rule.first, child);
            });
        }
        is_new = true;
        while std::mem::take(&mut is_new) {
            lists(grammar.by_left(), &mut |left, rule| {
                is_new |= before.join(left, rule.first) | before.add(rule.second, last.of(left));
                is_new |= after.join(rule.second, rule.first) | after.add(left, first.of(rule.second));
            });
            lists(grammar.chains(), &mut |child, rule| {
                is_new |= before.join(child, rule.first) | after.join(child, rule.first);
            });
        }
        Self { before: before.by_tag(count, states), after: after.by_tag(count, states), tags }
    }

    /// For each place between words, the states that can begin and end there, a bit each. At the end of the sentence,
    /// after the boundary, any can.
    pub(crate) fn sentence(&self, words: &[Vec<(u16, f32)>]) -> SentenceNeighbours {
        let room = self.before[0].len();
        let any = |sets: &[Vec<u64>], word: &[(u16, f32)]| {
            let mut states = vec![0; room];
            for (tag, _) in word {
                let set = self.tags.get(usize::from(*tag)).and_then(|tag| sets.get(usize::from(*tag)));
                for (known, set) in states.iter_mut().zip(set.into_iter().flatten()) {
                    *known |= set;
                }
            }
            states
        };
        let begins = self.before.last().cloned().into_iter();
        SentenceNeighbours {
            before: begins.chain(words.iter().map(|word| any(&self.before, word))).collect(),
            after: words.iter().map(|word| any(&self.after, word)).chain([vec![u64::MAX; room]]).collect(),
        }
    }
}

/// The states that can stand between the words of a sentence, by place.
pub(crate) struct SentenceNeighbours {
    before: Vec<Vec<u64>>,
    after: Vec<Vec<u64>>,
}

impl SentenceNeighbours {
    /// Writes the states that fit between the words around a span, a bit each.
    pub(crate) fn write(&self, start: usize, end: usize, fitting: &mut [u64]) {
        let both = self.before[start].iter().zip(&self.after[end]);
        fitting.iter_mut().zip(both).for_each(|(fitting, (before, after))| *fitting = before & after);
    }
}
