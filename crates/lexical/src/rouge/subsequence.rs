//! The union of a reference sentence's longest common subsequences with all sentences of a candidate.

use super::Text;
use crate::lcs::Lcs;

/// The number of times that each word can still be counted, in the candidate and in the reference.
///
/// A word that is common to several pairs of sentences counts at most as often as it occurs in both texts.
#[derive(Default)]
pub(crate) struct Budget {
    candidate: Vec<u32>,
    reference: Vec<u32>,
    touched: Vec<u32>,
}

impl Budget {
    /// Resets the counts to the words of a candidate and a reference.
    pub(crate) fn fill(&mut self, candidate: &[u32], reference: &[u32]) {
        for word in self.touched.drain(..) {
            self.candidate[word as usize] = 0;
            self.reference[word as usize] = 0;
        }
        for word in candidate.iter().chain(reference) {
            let at = *word as usize;
            if self.candidate.len() <= at {
                self.candidate.resize(at + 1, 0);
                self.reference.resize(at + 1, 0);
            }
            self.touched.push(*word);
        }
        candidate.iter().for_each(|word| self.candidate[*word as usize] += 1);
        reference.iter().for_each(|word| self.reference[*word as usize] += 1);
    }

    /// Counts `word` once more, if possible; returns whether it was.
    pub(crate) fn take(&mut self, word: u32) -> bool {
        let at = word as usize;
        let (Some(candidate), Some(reference)) = (self.candidate.get_mut(at), self.reference.get_mut(at))
        else {
            return false;
        };
        let may = *candidate > 0 && *reference > 0;
        if may {
            *candidate -= 1;
            *reference -= 1;
        }
        may
    }
}

/// Finds union subsequences.
#[derive(Default)]
pub(crate) struct UnionLcs {
    lcs: Lcs,
    marks: Vec<bool>,
}

impl UnionLcs {
    /// The length of the longest common subsequence of two sentences.
    pub(crate) fn length(&mut self, reference: &[u32], candidate: &[u32]) -> usize {
        self.lcs.prepare(reference.iter().copied());
        self.lcs.length(candidate.iter().copied())
    }

    /// The number of words of `reference` that belong to union subsequences, sentence by sentence, within `budget`.
    pub(crate) fn count(&mut self, reference: &Text, candidate: &Text, budget: &mut Budget) -> usize {
        let mut hits = 0;
        for sentence in reference.sentences() {
            let marks = self.marks(sentence, candidate.sentences());
            hits +=
                sentence.iter().zip(marks).filter(|(word, marked)| **marked && budget.take(**word)).count();
        }
        hits
    }

    /// Marks the words of a `reference` sentence that belong to its longest common subsequence with any of the
    /// `candidate`'s sentences.
    fn marks<'s>(&mut self, reference: &[u32], candidate: impl Iterator<Item = &'s [u32]>) -> &[bool] {
        self.marks.clear();
        self.marks.resize(reference.len(), false);
        self.lcs.prepare(reference.iter().copied());
        for sentence in candidate {
            self.lcs.mark(sentence, &mut self.marks);
        }
        &self.marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Lin 2004, section 3.2: four of five words.
    #[test]
    fn union_of_two_subsequences_has_four_of_five_words() {
        let mut union = UnionLcs::default();
        let candidate: [&[u32]; 2] = [&[1, 2, 6, 7, 8], &[1, 3, 8, 9, 5]];
        let marks = union.marks(&[1, 2, 3, 4, 5], candidate.into_iter());
        assert_eq!(marks, [true, true, true, false, true]);
    }

    #[test]
    fn a_word_is_counted_as_often_as_both_texts_have_it() {
        let mut budget = Budget::default();
        budget.fill(&[7, 7, 8], &[7, 9]);
        assert_eq!([7, 7, 8, 9, 1_000].map(|word| budget.take(word)), [true, false, false, false, false]);
        budget.fill(&[9], &[9]);
        assert_eq!([7, 9].map(|word| budget.take(word)), [false, true]);
    }
}
