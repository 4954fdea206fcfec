//! Tokenises captions as the reference programs do: one text after another in a file.
//!
//! The tokens of a caption can depend on the next caption (if it ends with a single letter and a full stop). A text
//! therefore has as many readings as it has neighbours that change its tokens; all others are read once, whatever the
//! form.
//!
//! A caller does three things with the numbers of its texts. It gets them from [`Texts::number`], replaces them by
//! those of readings, file by file ([`Readings::file`]), and these by the first reading with the same tokens
//! ([`ReadTexts::same`]), so that no pair of texts is measured twice.

use capeval_text::{Sentences, Tokenizer, Vocabulary};
use indexmap::{IndexMap, IndexSet};

/// Texts by number, before they are read.
#[derive(Default)]
pub(crate) struct Texts(IndexSet<String>);

impl Texts {
    /// The number of a text.
    pub fn number(&mut self, text: &str) -> u32 {
        match self.0.get_index_of(text) {
            Some(number) => number as u32,
            None => self.0.insert_full(text.to_owned()).0 as u32,
        }
    }

    /// Reads each text as if nothing followed it.
    pub fn read(self, tokenizer: Tokenizer) -> Readings {
        let mut vocabulary = Vocabulary::default();
        let nothing = |_: usize| -> capeval_text::Following<'_> { Box::new(std::iter::empty()) };
        let text = |k: usize| self.0[k].as_str();
        let sentences = Sentences::tokenize(tokenizer, self.0.len(), text, nothing, &mut vocabulary);
        let mut is_open = vec![false; self.0.len()];
        sentences.open().iter().for_each(|k| is_open[*k as usize] = true);
        Readings { tokenizer, texts: self.0, is_open, sentences, vocabulary, others: IndexMap::new() }
    }
}

/// Texts as they are read where nothing follows, and those that other texts follow.
pub(crate) struct Readings {
    tokenizer: Tokenizer,
    texts: IndexSet<String>,
    is_open: Vec<bool>,
    sentences: Sentences,
    vocabulary: Vocabulary,
    /// A text whose tokens may depend on what follows, with the texts that follow.
    others: IndexMap<(u32, Box<[u32]>), ()>,
}

/// All texts in all their readings, by number.
pub(crate) struct ReadTexts {
    pub sentences: Sentences,
    pub vocabulary: Vocabulary,
    /// By number, the first reading with the same tokens.
    same: Vec<u32>,
}

impl Readings {
    /// The readings of the texts of a file, in its order.
    pub fn file(&mut self, texts: &[u32]) -> Vec<u32> {
        let n = self.texts.len() as u32;
        let mut readings = Vec::with_capacity(texts.len());
        for (k, text) in texts.iter().enumerate() {
            if !self.is_open[*text as usize] {
                readings.push(*text);
                continue;
            }
            let mut following = Vec::new();
            for next in &texts[k + 1..] {
                following.push(*next);
                if !self.texts[*next as usize].trim().is_empty() {
                    break;
                }
            }
            let reading = match following.is_empty() {
                true => *text,
                false => n + self.others.insert_full((*text, following.into()), ()).0 as u32,
            };
            readings.push(reading);
        }
        readings
    }

    /// Reads the texts that others follow.
    pub fn finish(self) -> ReadTexts {
        let Self { tokenizer, texts, sentences, mut vocabulary, others, .. } = self;
        let n = texts.len();
        let mut same: Vec<u32> = (0..n as u32).collect();
        if others.is_empty() {
            return ReadTexts { sentences, vocabulary, same };
        }
        let text = |k: usize| match k.checked_sub(n) {
            None => texts[k].as_str(),
            Some(other) => {
                texts[others.get_index(other).map_or(0, |((text, _), ())| *text as usize)].as_str()
            }
        };
        let following = |k: usize| -> capeval_text::Following<'_> {
            let other = k.checked_sub(n).and_then(|other| others.get_index(other));
            let numbers = other.map(|((_, following), ())| &following[..]).unwrap_or_default();
            Box::new(numbers.iter().map(|number| texts[*number as usize].as_str()))
        };
        let sentences = Sentences::tokenize(tokenizer, n + others.len(), text, following, &mut vocabulary);
        same.extend(others.keys().enumerate().map(|(k, (text, _))| {
            let is_same = sentences.pieces(n + k) == sentences.pieces(*text as usize);
            if is_same { *text } else { (n + k) as u32 }
        }));
        ReadTexts { sentences, vocabulary, same }
    }
}

impl ReadTexts {
    /// The first reading with the same tokens.
    pub fn same(&self, reading: u32) -> u32 {
        self.same[reading as usize]
    }
}

/// One word that occurs in no text, in place of the random letters of the programs, which never change a digit.
pub(crate) fn foreign_word<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> String {
    let mut word = "qxzvjkwqxz".to_owned();
    while texts.clone().any(|text| text.contains(&word)) {
        word.push('q');
    }
    word
}

/// A text as most programs read it: each character beyond ASCII is one blank.
pub(crate) fn ascii(text: &str) -> std::borrow::Cow<'_, str> {
    match text.is_ascii() {
        true => text.into(),
        false => text.chars().map(|c| if c.is_ascii() { c } else { ' ' }).collect::<String>().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tokens_of_a_caption_can_depend_on_the_caption_behind_it() {
        let mut texts = Texts::default();
        let capital = texts.number("he begins with a capital T.");
        let (a, b) = (texts.number("A man."), texts.number("sings again"));
        let mut readings = texts.read(Tokenizer::Ptb);
        let files = [vec![capital, a], vec![capital, b], vec![capital], vec![a, b, a]];
        let files = files.map(|file| readings.file(&file));
        let read = readings.finish();
        let last = |reading: u32| {
            let words = read.sentences.words(reading as usize);
            read.vocabulary.word(*words.last().unwrap()).to_owned()
        };
        assert_eq!([last(files[0][0]), last(files[1][0]), last(files[2][0])], ["t", "t.", "t."]);
        assert_eq!(read.same(files[1][0]), capital, "two readings with the same tokens are one");
        assert_eq!(files[3], [a, b, a]);
    }
}
