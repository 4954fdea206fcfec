//! Words that a metric leaves out.

use std::collections::HashSet;
use std::io::{self, BufRead};

/// A list of words, such as the file `smart_common_words.txt` of ROUGE-1.5.5.
///
/// No list is part of this program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StopWords(HashSet<String>);

impl StopWords {
    /// Reads a list with one word a line.
    ///
    /// # Errors
    /// When `source` cannot be read, or is not UTF-8.
    pub fn read(source: impl BufRead) -> io::Result<Self> {
        source.lines().collect::<io::Result<_>>().map(Self)
    }

    /// Whether `word` is to be left out.
    #[must_use]
    pub fn contains(&self, word: &str) -> bool {
        self.0.contains(word)
    }

    /// The number of words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no word.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A number that is the same for equal lists and hardly ever for others.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        fingerprint(self.0.iter().map(|word| word.bytes()))
    }
}

/// A number for a set of byte strings, whatever their order: the sum of their FNV-1a hashes.
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
