//! Limits on the length of texts, in words or bytes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use capeval_text::{Scratch, Tokenizer};

use crate::rouge::Text;

/// The part of a text that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The whole text.
    None,
    /// This number of words from the start, as separated by white space; option `-l`.
    Words(usize),
    /// This number of bytes from the start, without line breaks; option `-b`.
    Bytes(usize),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Words(n) => write!(f, "{n}-words"),
            Self::Bytes(n) => write!(f, "{n}-bytes"),
        }
    }
}

/// Reads the beginnings of texts; its numbers of words are not valid in other readers.
#[derive(Default)]
pub(super) struct LimitedReader {
    numbers: HashMap<String, u32>,
    scratch: Scratch,
}

impl LimitedReader {
    /// Reads the part of `text` that counts to `whole`, and the part that counts for ROUGE-L and -W to `by_sentence`.
    pub(super) fn read<'f>(
        &mut self,
        text: &str,
        limit: Limit,
        form: impl for<'w> Fn(&'w str) -> Option<Cow<'w, str>> + 'f,
        whole: &mut Text,
        by_sentence: &mut Text,
    ) {
        whole.clear();
        by_sentence.clear();
        let (mut used, mut ended) = (0, false);
        for line in text.split('\n').filter(|line| !line.is_empty()) {
            let (for_whole, for_sentences) = match limit {
                Limit::None => (line.len(), line.len()),
                Limit::Words(most) => {
                    let n_words = count_words(line);
                    let length = if used + n_words < most {
                        line.len()
                    } else {
                        ended = true;
                        end_of_words(line, most - used)
                    };
                    used += n_words;
                    (length, length)
                }
                Limit::Bytes(most) => {
                    let left = most.saturating_sub(used);
                    used = used.saturating_add(line.len());
                    ended = line.len() >= most;
                    (line.len().min(left), line.len().min(most))
                }
            };
            self.add(&line[..line.floor_char_boundary(for_whole)], &form, whole);
            self.add(&line[..line.floor_char_boundary(for_sentences)], &form, by_sentence);
            if ended {
                break;
            }
        }
    }

    fn add(&mut self, line: &str, form: impl for<'w> Fn(&'w str) -> Option<Cow<'w, str>>, text: &mut Text) {
        let Self { numbers, scratch } = self;
        Tokenizer::Rouge155.tokenize(line, scratch, |word| {
            let Some(form) = form(word) else { return };
            let number = match numbers.get(&*form) {
                Some(number) => *number,
                None => {
                    let next = numbers.len() as u32;
                    numbers.insert(form.into_owned(), next);
                    next
                }
            };
            text.words.push(number);
        });
        text.end_sentence();
    }
}

/// Returns true if Perl treats a byte as white space.
fn is_space(b: u8) -> bool {
    matches!(b, b'\t'..=b'\r' | b' ')
}

/// The number of fields of Perl's `split(/\s+/)`: white space at the start adds an empty field, at the end none.
fn count_words(line: &str) -> usize {
    let n = line.as_bytes().split(|b| is_space(*b)).filter(|word| !word.is_empty()).count();
    n + usize::from(n > 0 && line.as_bytes().first().is_some_and(|b| is_space(*b)))
}

/// The end of the first `n` of these fields.
fn end_of_words(line: &str, n: usize) -> usize {
    let bytes = line.as_bytes();
    let mut left = n.saturating_sub(usize::from(bytes.first().is_some_and(|b| is_space(*b))));
    let mut at = 0;
    while at < bytes.len() && left > 0 {
        while at < bytes.len() && is_space(bytes[at]) {
            at += 1;
        }
        while at < bytes.len() && !is_space(bytes[at]) {
            at += 1;
        }
        left -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, limit: Limit) -> (usize, Vec<usize>) {
        let (mut whole, mut by_sentence) = (Text::default(), Text::default());
        LimitedReader::default().read(text, limit, |word| Some(word.into()), &mut whole, &mut by_sentence);
        (whole.words.len(), by_sentence.sentences().map(<[u32]>::len).collect())
    }

    #[test]
    fn white_space_at_the_start_of_a_line_is_a_word_to_the_limit() {
        assert_eq!(read("a b c\nd e f", Limit::Words(4)), (4, vec![3, 1]));
        assert_eq!(read(" a b c\nd e f", Limit::Words(4)), (3, vec![3]));
        assert_eq!(read(" \nd e f", Limit::Words(2)), (2, vec![2]));
    }

    #[test]
    fn a_limit_in_bytes_ends_the_text_for_n_grams_only() {
        assert_eq!(read("a b c\nd e f\ng h i j", Limit::Bytes(7)), (4, vec![3, 3, 4]));
        assert_eq!(read("a b c\nd e f\ng h i j\nk", Limit::Bytes(6)), (4, vec![3, 3, 3]));
        assert_eq!(read("é你b", Limit::Bytes(5)), (0, vec![]));
    }
}
