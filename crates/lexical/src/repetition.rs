//! CIDEr-R's penalty for differences in the repetition of words.
//!
//! Each distinct word of the candidate that the reference contains gives `1 / (1 + d)`, where d is the difference of
//! the numbers of occurrences; each other word gives `1 / occurrences`. The penalty is the geometric mean.
//!
//! Words are runs of letters, digits and underscores, as Python's `\w+` finds them in the tokenised text, so `t-shirt`
//! is two words, and a punctuation mark is none.

use capeval_text::{Ends, Symbol, Vocabulary};
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// For each word of a vocabulary, the parts that `\w+` finds in it.
#[derive(Default)]
pub(crate) struct WordParts {
    /// The end of the parts of each word.
    ends: Vec<u32>,
    parts: Vec<Symbol>,
    n_parts: usize,
}

impl WordParts {
    pub(crate) fn new(vocabulary: &Vocabulary) -> Self {
        let mut known = Vocabulary::default();
        let (mut ends, mut parts) = (Vec::with_capacity(vocabulary.len()), Vec::new());
        for (_, word) in vocabulary.iter() {
            let found = word.split(|c| !is_word_character(c)).filter(|part| !part.is_empty());
            parts.extend(found.map(|part| known.intern(part)));
            ends.push(parts.len() as u32);
        }
        Self { ends, parts, n_parts: known.len() }
    }

    fn of(&self, word: Symbol) -> &[Symbol] {
        &self.parts[Ends(&self.ends).range(word.index())]
    }
}

/// Returns true if Python's `\w` matches `c`.
fn is_word_character(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    matches!(c.general_category_group(), GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number)
}

/// Counts of the parts of two captions.
#[derive(Default)]
pub(crate) struct Repetition {
    /// By part: occurrences in the candidate and in the reference.
    counts: Vec<[u32; 2]>,
    /// The candidate's distinct parts, in order of first appearance.
    distinct: Vec<Symbol>,
}

impl Repetition {
    /// The penalty, above 0 and at most 1; 1 for a candidate without words.
    pub(crate) fn penalty(&mut self, parts: &WordParts, candidate: &[Symbol], reference: &[Symbol]) -> f64 {
        self.counts.resize(parts.n_parts, [0; 2]);
        self.distinct.clear();
        for part in candidate.iter().flat_map(|word| parts.of(*word)) {
            let [count, _] = &mut self.counts[part.index()];
            if *count == 0 {
                self.distinct.push(*part);
            }
            *count += 1;
        }
        let in_reference = || reference.iter().flat_map(|word| parts.of(*word));
        in_reference().for_each(|part| self.counts[part.index()][1] += 1);
        let logs: f64 = self
            .distinct
            .iter()
            .map(|part| {
                let [mine, theirs] = self.counts[part.index()];
                let excess = if theirs > 0 { mine.abs_diff(theirs) } else { mine - 1 };
                (1.0 / (1.0 + f64::from(excess))).ln()
            })
            .sum();
        let penalty = if self.distinct.is_empty() { 1.0 } else { (logs / self.distinct.len() as f64).exp() };
        for part in self.distinct.iter().chain(in_reference()) {
            self.counts[part.index()] = [0; 2];
        }
        penalty
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn penalty(candidate: &str, reference: &str) -> f64 {
        let mut vocabulary = Vocabulary::default();
        let mut read = |text: &str| -> Vec<Symbol> {
            text.split_whitespace().map(|word| vocabulary.intern(word)).collect()
        };
        let (candidate, reference) = (read(candidate), read(reference));
        let parts = WordParts::new(&vocabulary);
        let mut repetition = Repetition::default();
        let first = repetition.penalty(&parts, &candidate, &reference);
        assert_eq!(repetition.penalty(&parts, &candidate, &reference), first, "buffers are left clean");
        first
    }

    #[test]
    fn words_repeated_too_often_or_too_rarely_are_punished() {
        assert_eq!(penalty("a dog and a cat", "a cat and a dog"), 1.0);
        assert!((penalty("a a a", "a") - 1.0 / 3.0).abs() < 1e-15);
        assert!((penalty("a b", "a a b") - 0.5_f64.sqrt()).abs() < 1e-15);
        assert!((penalty("x x", "a") - 0.5).abs() < 1e-15);
    }

    #[test]
    fn words_are_runs_of_word_characters() {
        assert!((penalty("t-shirt t", "t shirt") - 0.5_f64.sqrt()).abs() < 1e-15);
        assert_eq!(penalty(", ,", "a"), 1.0);
    }

    #[test]
    fn a_candidate_without_words_is_not_punished_where_the_reference_program_fails() {
        assert_eq!(penalty("", "a"), 1.0);
    }
}
