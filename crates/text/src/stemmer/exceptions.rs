//! A list of irregular words and their base forms.

use std::collections::HashMap;
use std::io::{self, BufRead};

use crate::stop_words::fingerprint;

/// Words whose base form is looked up instead of computed, as in WordNet's files `noun.exc`, `verb.exc` and so
/// on, which ROUGE-1.5.5 puts before its stemmer.
///
/// The list is not part of this program; it comes from an installed copy of WordNet 2.0 or of ROUGE-1.5.5.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exceptions {
    bases: HashMap<String, String>,
}

impl Exceptions {
    /// Adds the lines of an `.exc` file: a word, white space, its base form, more base forms that are ignored.
    ///
    /// A word that is already there gets the new base form. ROUGE-1.5.5 reads the files of its folder in the
    /// order that the file system gives, which matters to `best` and `better` (`good` or `well`), `is` and
    /// `testes`; the database of its distribution says `good`, `be` and `testes`, which comes of reading
    /// `noun`, `adv`, `verb`, `adj`.
    ///
    /// # Errors
    /// When `source` cannot be read, or is not UTF-8.
    pub fn read(&mut self, source: impl BufRead) -> io::Result<()> {
        for line in source.lines() {
            let line = line?;
            let mut fields = line.split_ascii_whitespace();
            if let (Some(word), Some(base)) = (fields.next(), fields.next()) {
                self.bases.insert(word.to_owned(), base.to_owned());
            }
        }
        Ok(())
    }

    /// The base form of `word`, if the list holds it.
    #[must_use]
    pub fn base(&self, word: &str) -> Option<&str> {
        self.bases.get(word).map(String::as_str)
    }

    /// The number of words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bases.len()
    }

    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bases.is_empty()
    }

    /// A number that is the same for equal lists and hardly ever for others; it does not depend on the order of
    /// lines.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        fingerprint(self.bases.iter().map(|(word, base)| word.bytes().chain([0]).chain(base.bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_base_form_of_the_last_line_counts() {
        let mut list = Exceptions::default();
        list.read(&b"better well\nmen man\n\nodd\n"[..]).unwrap();
        list.read(&b"better good well\n"[..]).unwrap();
        assert_eq!(
            (list.base("better"), list.base("men"), list.base("odd")),
            (Some("good"), Some("man"), None)
        );
        assert_eq!(list.len(), 2);
    }

    #[test]
    fn the_order_of_lines_leaves_the_fingerprint_alone() {
        let of = |text: &str| {
            let mut list = Exceptions::default();
            list.read(text.as_bytes()).unwrap();
            list.fingerprint()
        };
        assert_eq!(of("a b\nc d\n"), of("c d\na b\n"));
        assert_ne!(of("a b\nc d\n"), of("a d\nc b\n"));
    }
}
