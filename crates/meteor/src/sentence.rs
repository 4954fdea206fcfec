//! Sentences as word numbers, with the phrases that begin at each word.

use hashbrown::HashMap;

use crate::java::is_token_delimiter;
use crate::normalize::{Normalizer, NormalizerTables};
use crate::options::{TextForm, Unit};
use crate::resources::Resources;
use crate::vocabulary::{Dictionaries, Step, Vocabulary};

/// A phrase of the paraphrase table inside a sentence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// Its first word.
    pub(crate) start: u32,
    /// Its number of words.
    pub(crate) len: u32,
    pub(crate) phrase: u32,
}

/// A sentence as the aligner wants it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sentence<'s> {
    pub(crate) words: &'s [u32],
    /// By start, then by length.
    pub(crate) spans: &'s [Span],
    /// Length and function words, in the unit of the options.
    pub(crate) length: u32,
    pub(crate) function: u32,
}

/// Prepared sentences one after another.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentenceList {
    words: Vec<u32>,
    spans: Vec<Span>,
    /// Ends in `words` and `spans`, length, function words.
    entries: Vec<[u32; 4]>,
}

impl SentenceList {
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.spans.clear();
        self.entries.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn get(&self, index: usize) -> Sentence<'_> {
        let [words_start, spans_start, ..] = if index == 0 { [0; 4] } else { self.entries[index - 1] };
        let [words_end, spans_end, length, function] = self.entries[index];
        Sentence {
            words: &self.words[words_start as usize..words_end as usize],
            spans: &self.spans[spans_start as usize..spans_end as usize],
            length,
            function,
        }
    }

    /// Adds the words pushed onto `words` since the last sentence as a sentence.
    fn close(&mut self, reader: &Reader<'_>, vocabulary: &mut Vocabulary) {
        let start = self.entries.last().map_or(0, |entry| entry[0]) as usize;
        let (mut length, mut function) = (0, 0);
        for (at, word) in self.words[start..].iter().enumerate() {
            let facts = vocabulary.word(*word);
            let size = if reader.unit == Unit::Words { 1 } else { facts.length };
            length += size;
            if facts.is_function {
                function += size;
            }
            let mut step = facts.step;
            let mut rest = self.words[start + at + 1..].iter();
            for len in 1.. {
                if step == Step::NONE {
                    break;
                }
                if step.is_phrase() {
                    self.spans.push(Span { start: at as u32, len, phrase: step.phrase() });
                }
                match rest.next() {
                    Some(next) if step.has_longer() => {
                        step = vocabulary.longer(reader.resources, reader.dictionaries, step, *next);
                    }
                    _ => break,
                }
            }
        }
        self.entries.push([self.words.len() as u32, self.spans.len() as u32, length, function]);
    }
}

/// What a word of the input becomes.
#[derive(Clone, Copy, Debug)]
enum Reading {
    /// One word, whatever stands beside it.
    Plain(u32),
    /// These words, if plain words stand beside it.
    Isolated { start: u32, end: u32 },
    /// Depends on the whole line.
    Contextual,
}

/// What is remembered of the words of the input before they are normalised.
#[derive(Clone, Debug, Default)]
pub(crate) struct Readings {
    by_text: HashMap<Box<str>, Reading, foldhash::fast::FixedState>,
    words: Vec<u32>,
}

/// Turns text into sentences.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'r> {
    pub(crate) resources: &'r Resources,
    pub(crate) dictionaries: &'r Dictionaries,
    pub(crate) tables: &'r NormalizerTables,
    pub(crate) text: TextForm,
    pub(crate) unit: Unit,
}

/// The buffers of a reader.
#[derive(Debug, Default)]
pub(crate) struct ReaderSpace {
    pub(crate) readings: Readings,
    normalizer: Normalizer,
    normalized: String,
}

impl Reader<'_> {
    /// Appends `text` to `list` as one sentence.
    pub(crate) fn push(
        &self,
        space: &mut ReaderSpace,
        vocabulary: &mut Vocabulary,
        list: &mut SentenceList,
        text: &str,
    ) {
        let start = list.words.len();
        match self.text {
            TextForm::Verbatim => self.split(vocabulary, &mut list.words, text),
            TextForm::Lowercase => self.split(vocabulary, &mut list.words, &text.to_lowercase()),
            TextForm::Normalized => {
                if !self.push_word_by_word(space, vocabulary, &mut list.words, text) {
                    list.words.truncate(start);
                    self.push_line(space, vocabulary, &mut list.words, text);
                }
            }
            TextForm::NormalizedWithoutPunctuation => {
                self.push_line(space, vocabulary, &mut list.words, text);
            }
        }
        list.close(self, vocabulary);
    }

    fn split(&self, vocabulary: &mut Vocabulary, words: &mut Vec<u32>, text: &str) {
        for word in text.split(is_token_delimiter).filter(|word| !word.is_empty()) {
            words.push(vocabulary.intern(self.resources, self.dictionaries, word));
        }
    }

    fn push_line(
        &self,
        space: &mut ReaderSpace,
        vocabulary: &mut Vocabulary,
        words: &mut Vec<u32>,
        text: &str,
    ) {
        let keep = self.text != TextForm::NormalizedWithoutPunctuation;
        space.normalizer.normalize(self.resources, self.tables, text, keep, &mut space.normalized);
        if space.normalized.is_ascii() {
            space.normalized.make_ascii_lowercase();
        } else {
            space.normalized = space.normalized.to_lowercase();
        }
        self.split(vocabulary, words, &space.normalized);
    }

    /// Normalises word by word what can be; false if the line must be normalised as a whole.
    ///
    /// Every pass of the normaliser looks one character beyond the one it replaces. Where the words beside a
    /// word are plain, at least two characters lie between it and the next replacement, so its result
    /// does not depend on the line, and is remembered. Dots at the end of words do look further.
    fn push_word_by_word(
        &self,
        space: &mut ReaderSpace,
        vocabulary: &mut Vocabulary,
        words: &mut Vec<u32>,
        text: &str,
    ) -> bool {
        let mut is_after_plain = true;
        for word in text.split(is_token_delimiter).filter(|word| !word.is_empty()) {
            let reading = match space.readings.by_text.get(word) {
                Some(reading) => *reading,
                None => self.read(space, vocabulary, word),
            };
            match reading {
                Reading::Plain(word) => {
                    words.push(word);
                    is_after_plain = true;
                }
                Reading::Isolated { start, end } if is_after_plain => {
                    words.extend_from_slice(&space.readings.words[start as usize..end as usize]);
                    is_after_plain = false;
                }
                Reading::Isolated { .. } | Reading::Contextual => return false,
            }
        }
        true
    }

    #[cold]
    fn read(&self, space: &mut ReaderSpace, vocabulary: &mut Vocabulary, word: &str) -> Reading {
        let reading =
            if word.contains("MULTI") || word.chars().any(|c| c == '.' || c < ' ' || c.is_whitespace()) {
                Reading::Contextual
            } else if word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                let word = word.to_ascii_lowercase();
                Reading::Plain(vocabulary.intern(self.resources, self.dictionaries, &word))
            } else {
                let mut words = std::mem::take(&mut space.readings.words);
                let start = words.len() as u32;
                self.push_line(space, vocabulary, &mut words, word);
                let end = words.len() as u32;
                space.readings.words = words;
                Reading::Isolated { start, end }
            };
        space.readings.by_text.insert(word.into(), reading);
        reading
    }
}
