//! Texts as the ROUGE programs compare them: classes of words, sentence by sentence.

use capeval_text::{Ends, Symbol};

use super::classes::{BREAK, Classes, DROPPED};

/// The words of a text, and the ends of its sentences; sentences without words are left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    pub(crate) words: Vec<u32>,
    ends: Vec<usize>,
}

impl Text {
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.ends.clear();
    }

    /// Reads the pieces of a text in which line breaks end sentences.
    pub(crate) fn read(&mut self, pieces: &[Symbol], classes: &Classes) {
        self.clear();
        for piece in pieces {
            match classes.of(*piece) {
                BREAK => self.end_sentence(),
                DROPPED => {}
                class => self.words.push(class),
            }
        }
        self.end_sentence();
    }

    /// Ends a sentence after the words so far.
    pub(crate) fn end_sentence(&mut self) {
        if self.words.len() > self.ends.last().copied().unwrap_or(0) {
            self.ends.push(self.words.len());
        }
    }

    /// The sentences, each with at least one word.
    pub(crate) fn sentences(&self) -> impl ExactSizeIterator<Item = &[u32]> + Clone + '_ {
        (0..self.ends.len()).map(|k| &self.words[Ends(&self.ends).range(k)])
    }
}
