//! Words that a metric ignores.

use std::collections::HashSet;
use std::io::{self, BufRead};

/// A list of words, such as the file `smart_common_words.txt` of ROUGE-1.5.5.
///
/// This program does not include any such list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StopWords(HashSet<String>);

impl StopWords {
    /// Reads a list with one word per line.
    pub fn read(source: impl BufRead) -> io::Result<Self> {
        source.lines().collect::<io::Result<_>>().map(Self)
    }

    /// Returns true if `word` is in the list.
    pub fn contains(&self, word: &str) -> bool {
        self.0.contains(word)
    }

    /// The number of words.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A hash of the list that does not depend on the order of the words.
    pub fn fingerprint(&self) -> u64 {
        fingerprint(self.0.iter().map(|word| word.bytes()))
    }
}

/// An order-independent hash of a set of byte strings: the sum of their FNV-1a hashes.
pub(crate) fn fingerprint(items: impl Iterator<Item = impl Iterator<Item = u8>>) -> u64 {
    let hash = |bytes: &mut dyn Iterator<Item = u8>| {
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
    };
    items.fold(0, |sum, mut item| sum.wrapping_add(hash(&mut item)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_with_the_same_words_are_equal() {
        let read = |text: &str| StopWords::read(text.as_bytes()).unwrap();
        assert_eq!(read("a\nthe\n"), read("the\na\na"));
        assert_eq!(read("a\nthe\n").fingerprint(), read("the\na").fingerprint());
        assert_ne!(read("a\nthe\n").fingerprint(), read("a\nthem\n").fingerprint());
        assert!(read("a\n").contains("a") && !read("a\n").contains("b"));
    }
}
