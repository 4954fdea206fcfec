//! A list of irregular words and their base forms.

use std::collections::HashMap;
use std::io::{self, BufRead};

use crate::stop_words::fingerprint;

/// Words whose base form is looked up instead of computed, as in WordNet's files `noun.exc`, `verb.exc` etc.,
/// which ROUGE-1.5.5 consults before its stemmer.
///
/// The list is not part of this program; it comes from an installed copy of WordNet 2.0 or ROUGE-1.5.5.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exceptions {
    bases: HashMap<String, String>,
}

impl Exceptions {
    /// Adds the lines of an `.exc` file: a word, white space, its base form, and possibly more base forms,
    /// which are ignored.
    ///
    /// If a word is already in the list, the new base form replaces the old one. ROUGE-1.5.5 reads the files
    /// of its folder in the order in which the file system lists them. This affects `best` and `better`
    /// (`good` or `well`), `is` and `testes`; the database in its distribution has `good`, `be` and `testes`,
    /// the result of reading `noun`, `adv`, `verb`, `adj`.
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

    /// The base form of `word`; `None` if the list does not contain it.
    pub fn base(&self, word: &str) -> Option<&str> {
        self.bases.get(word).map(String::as_str)
    }

    /// The number of words.
    pub fn len(&self) -> usize {
        self.bases.len()
    }

    /// Returns true if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.bases.is_empty()
    }

    /// A hash of the list that does not depend on the order of the lines.
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
    fn the_fingerprint_does_not_depend_on_the_order_of_lines() {
        let of = |text: &str| {
            let mut list = Exceptions::default();
            list.read(text.as_bytes()).unwrap();
            list.fingerprint()
        };
        assert_eq!(of("a b\nc d\n"), of("c d\na b\n"));
        assert_ne!(of("a b\nc d\n"), of("a d\nc b\n"));
    }
}
