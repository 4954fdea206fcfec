//! Sentences as word numbers, with the phrases that begin at each word.

use capeval_text::Symbol;
use hashbrown::HashMap;

use crate::java::{is_token_delimiter, trim};
use crate::normalize::{Normalizer, NormalizerTables};
use crate::options::{TextForm, Unit};
use crate::resources::Resources;
use crate::vocabulary::{Dictionaries, Step, Vocabulary};

/// A phrase of the paraphrase table at a position in a sentence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// The index of its first word.
    pub(crate) start: u32,
    /// The number of words.
    pub(crate) len: u32,
    pub(crate) phrase: u32,
}

/// A sentence prepared for the aligner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sentence<'s> {
    pub(crate) words: &'s [u32],
    /// Sorted by start, then by length.
    pub(crate) spans: &'s [Span],
    /// The length, and the part of it that is function words, in the unit of the options.
    pub(crate) length: u32,
    pub(crate) function: u32,
    /// The function words among the first 64 words, as a bit mask.
    pub(crate) function_words: u64,
}

/// Prepared sentences, stored contiguously.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentenceList {
    words: Vec<u32>,
    spans: Vec<Span>,
    entries: Vec<Entry>,
}

/// A sentence, with its ends in the lists.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    words_end: u32,
    spans_end: u32,
    length: u32,
    function: u32,
    function_words: u64,
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
        let before = if index == 0 { Entry::default() } else { self.entries[index - 1] };
        let Entry { words_end, spans_end, length, function, function_words } = self.entries[index];
        Sentence {
            words: &self.words[before.words_end as usize..words_end as usize],
            spans: &self.spans[before.spans_end as usize..spans_end as usize],
            length,
            function,
            function_words,
        }
    }

    /// Completes a sentence from the words pushed onto `words` since the last one.
    fn close(&mut self, reader: &Reader<'_>, vocabulary: &mut Vocabulary) {
        let start = self.entries.last().map_or(0, |entry| entry.words_end) as usize;
        let file = reader.resources.file();
        let (mut length, mut function, mut function_words) = (0, 0, 0);
        for (at, word) in self.words[start..].iter().enumerate() {
            let facts = vocabulary.word(*word);
            let size = if reader.unit == Unit::Words { 1 } else { facts.length };
            length += size;
            if facts.is_function {
                function += size;
                function_words |= 1u64.checked_shl(at as u32).unwrap_or(0);
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
                        step = vocabulary.longer(file, reader.dictionaries, step, *next);
                    }
                    _ => break,
                }
            }
        }
        self.entries.push(Entry {
            words_end: self.words.len() as u32,
            spans_end: self.spans.len() as u32,
            length,
            function,
            function_words,
        });
    }
}

/// The result of normalising a word of the input.
#[derive(Clone, Copy, Debug, Default)]
enum Reading {
    /// Not determined yet.
    #[default]
    Unknown,
    /// No word.
    Empty,
    /// One word, regardless of its neighbours.
    Plain(u32),
    /// These words, if the neighbours are plain.
    Isolated { start: u32, end: u32 },
    /// Depends on the whole line.
    Contextual,
}

/// Cached readings of input words.
#[derive(Clone, Debug, Default)]
struct Readings {
    by_text: HashMap<Box<str>, Reading, foldhash::fast::FixedState>,
    /// The readings by symbol, valid as long as the meaning of symbols does not change.
    by_symbol: Vec<Reading>,
    generation: u64,
    words: Vec<u32>,
}

/// Converts text to sentences.
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
    readings: Readings,
    normalizer: Normalizer,
    normalized: String,
    line: String,
}

impl ReaderSpace {
    /// Clears the readings by symbol, unless they are of the same `generation`.
    pub(crate) fn use_symbols(&mut self, generation: u64, n_symbols: usize) {
        if self.readings.generation != generation {
            self.readings.generation = generation;
            self.readings.by_symbol.clear();
        }
        if self.readings.by_symbol.len() < n_symbols {
            self.readings.by_symbol.resize(n_symbols, Reading::Unknown);
        }
    }
}

/// The treatment of `|||` in a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bars {
    /// It is removed, as in pycocoevalcap's candidates.
    Vanish,
    /// It divides the text into several, as in the references of METEOR's protocol.
    Divide,
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

    /// Appends a text that is already split into pieces, as if joined with single spaces by pycocoevalcap.
    pub(crate) fn push_pieces(
        &self,
        space: &mut ReaderSpace,
        vocabulary: &mut Vocabulary,
        list: &mut SentenceList,
        (pieces, symbols): (&[Symbol], &capeval_text::Vocabulary),
        bars: Bars,
    ) {
        let start = list.words.len();
        if self.text == TextForm::Normalized {
            let mut line = WordByWord::new(&mut list.words);
            let all = pieces.iter().all(|symbol| {
                let reading = match space.readings.by_symbol.get(symbol.index()) {
                    Some(Reading::Unknown) | None => {
                        let reading = self.reading(space, vocabulary, symbols.word(*symbol));
                        if let Some(place) = space.readings.by_symbol.get_mut(symbol.index()) {
                            *place = reading;
                        }
                        reading
                    }
                    Some(reading) => *reading,
                };
                line.push(reading, &space.readings.words)
            });
            if all {
                list.close(self, vocabulary);
                return;
            }
            list.words.truncate(start);
        }
        let mut line = std::mem::take(&mut space.line);
        line.clear();
        for (at, symbol) in pieces.iter().enumerate() {
            if at > 0 {
                line.push(' ');
            }
            line.push_str(symbols.word(*symbol));
        }
        match bars {
            Bars::Vanish if line.contains("|||") => {
                self.push(space, vocabulary, list, &line.replace("|||", "").replace("  ", " "));
            }
            Bars::Vanish => self.push(space, vocabulary, list, &line),
            Bars::Divide => line.split("|||").for_each(|text| self.push(space, vocabulary, list, trim(text))),
        }
        space.line = line;
    }

    /// Normalises word by word if possible; returns false if the line must be normalised as a whole.
    fn push_word_by_word(
        &self,
        space: &mut ReaderSpace,
        vocabulary: &mut Vocabulary,
        words: &mut Vec<u32>,
        text: &str,
    ) -> bool {
        let mut line = WordByWord::new(words);
        text.split(is_token_delimiter).all(|word| {
            let reading = self.reading(space, vocabulary, word);
            line.push(reading, &space.readings.words)
        })
    }

    fn reading(&self, space: &mut ReaderSpace, vocabulary: &mut Vocabulary, word: &str) -> Reading {
        match space.readings.by_text.get(word) {
            Some(reading) => *reading,
            None => self.read(space, vocabulary, word),
        }
    }

    #[cold]
    fn read(&self, space: &mut ReaderSpace, vocabulary: &mut Vocabulary, word: &str) -> Reading {
        let reading = if word.is_empty() {
            Reading::Empty
        } else if word.contains("MULTI") || word.contains("|||") || word.chars().any(is_contextual) {
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

/// Returns true if the result of a word with this character may depend on other words.
fn is_contextual(c: char) -> bool {
    c == '.' || c < ' ' || c.is_whitespace()
}

/// A line that is composed of the readings of its words.
///
/// Every pass of the normaliser looks one character past the one it replaces. If the neighbours of a word are
/// plain, at least two characters separate it from the next replacement, so its result does not depend on the
/// line and is cached. Dots at the end of words are an exception.
struct WordByWord<'w> {
    words: &'w mut Vec<u32>,
    is_after_plain: bool,
}

impl<'w> WordByWord<'w> {
    fn new(words: &'w mut Vec<u32>) -> Self {
        Self { words, is_after_plain: true }
    }

    /// Adds a word; returns false if the line must be normalised as a whole.
    #[inline]
    fn push(&mut self, reading: Reading, isolated: &[u32]) -> bool {
        match reading {
            Reading::Plain(word) => {
                self.words.push(word);
                self.is_after_plain = true;
            }
            Reading::Isolated { start, end } if self.is_after_plain => {
                self.words.extend_from_slice(isolated.get(start as usize..end as usize).unwrap_or(&[]));
                self.is_after_plain = false;
            }
            Reading::Empty => {}
            Reading::Isolated { .. } | Reading::Contextual | Reading::Unknown => return false,
        }
        true
    }
}
