//! Tokenised texts, stored as one sequence of symbols.
//!
//! The reference programs write tokenised text as one string, which ROUGE-L splits on single spaces and BLEU and CIDEr
//! split on any white space. A sentence therefore has two readings, pieces and words. They differ where a token
//! contains a no-break space (`3 1/2`) or is empty, and only such sentences are stored twice.

use std::cell::Cell;

use bytemuck::zeroed_vec;
use rayon::prelude::*;

use crate::ends::Ends;
use crate::tokenizers::plain::is_python_space;
use crate::tokenizers::{Following, Scratch, Tokenizer};
use crate::vocabulary::{Recent, Symbol, Vocabulary};
use capeval_arrays::Buffer;

/// The length of the texts below which tokenising uses a single thread: some 2,000 captions.
const BYTES_PER_THREAD: usize = 100_000;

/// Few texts have shorter words, each with the space after it.
const BYTES_PER_SYMBOL: usize = 4;

thread_local! {
    /// The buffers of a thread, kept between calls: rebuilding the automaton of the `ptb` tokenizer takes
    /// longer than tokenising a small batch.
    static IDLE: Cell<Scratch> = Cell::default();
}

/// The piece that represents a line break in texts that are tokenised line by line.
pub const LINE_BREAK: &str = "\n";

/// Tokenised texts as *pieces* and as *words*, which differ only in rare cases.
///
/// The reference programs write a tokenised sentence as one string and let each metric split it again: on
/// single spaces (ROUGE-L) or on any white space (BLEU, CIDEr). A token with a no-break space inside is one
/// piece but several words; an empty piece is not a word.
#[derive(Clone, Debug, Default)]
pub struct Sentences {
    symbols: Buffer<Symbol>,
    /// The end of each sentence in `symbols`.
    ends: Buffer<u64>,
    odd: OddSentences,
    /// The sentences whose tokens may depend on the text that follows, ascending.
    open: Buffer<u64>,
}

/// The arrays of [`Sentences`] for storage.
#[derive(Clone, Copy, Debug)]
pub struct SentenceParts<S, E> {
    /// The pieces of all sentences.
    pub symbols: S,
    /// The end of each sentence in `symbols`.
    pub ends: E,
    /// The sentences whose words differ from their pieces.
    pub odd: E,
    /// The words of those sentences.
    pub odd_words: S,
    /// The end of each of those sentences in `odd_words`.
    pub odd_ends: E,
    /// The sentences whose tokens may depend on the text that follows.
    pub open: E,
}

/// The sentences whose words differ from their pieces.
#[derive(Clone, Debug, Default)]
struct OddSentences {
    /// A bit for each sentence up to the last of these: a search in `places` takes longer than all else that finds the
    /// words of a sentence.
    marks: Vec<u64>,
    /// The numbers of these sentences, ascending.
    places: Buffer<u64>,
    words: Buffer<Symbol>,
    /// The end of each of these sentences in `words`.
    ends: Buffer<u64>,
}

impl OddSentences {
    fn new(places: Buffer<u64>, words: Buffer<Symbol>, ends: Buffer<u64>) -> Self {
        let mut marks = vec![0; places.last().map_or(0, |last| *last as usize / 64 + 1)];
        places.iter().for_each(|place| marks[*place as usize / 64] |= 1 << (place % 64));
        Self { marks, places, words, ends }
    }

    /// Its place among these, if sentence `k` is one of them.
    #[inline]
    fn find(&self, k: usize) -> Option<usize> {
        let marks = self.marks.get(k / 64)?;
        (marks >> (k % 64) & 1 == 1).then(|| self.places.partition_point(|place| *place < k as u64))
    }
}

#[inline]
fn part<'s>(symbols: &'s [Symbol], ends: &[u64], k: usize) -> &'s [Symbol] {
    &symbols[Ends(ends).range(k)]
}

impl Sentences {
    /// The number of sentences.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there are no sentences.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Sentence `k` split on single spaces.
    ///
    /// # Panics
    /// If there is no sentence `k`.
    #[inline]
    pub fn pieces(&self, k: usize) -> &[Symbol] {
        part(&self.symbols, &self.ends, k)
    }

    /// Sentence `k` split on runs of white space, as by Python's `str.split()`.
    ///
    /// # Panics
    /// If there is no sentence `k`.
    #[inline]
    pub fn words(&self, k: usize) -> &[Symbol] {
        match self.odd.find(k) {
            Some(at) => part(&self.odd.words, &self.odd.ends, at),
            None => self.pieces(k),
        }
    }

    /// `n` sentences without words.
    pub fn blank(n: usize) -> Self {
        Self { ends: vec![0; n].into(), ..Self::default() }
    }

    /// Sentences with the given words; `ends[k]` is the end of sentence `k`. A sentence without words has one
    /// empty piece, because splitting an empty text on single spaces gives one.
    ///
    /// # Panics
    /// If `ends` is not ascending or does not end at the last word.
    pub fn of_words(words: &[Symbol], ends: &[u64]) -> Self {
        assert!(ends.is_sorted() && ends.last().copied().unwrap_or(0) == words.len() as u64);
        let (mut symbols, mut piece_ends) = (Vec::with_capacity(words.len()), Vec::with_capacity(ends.len()));
        let mut odd = Vec::new();
        for k in 0..ends.len() {
            let words = part(words, ends, k);
            if words.is_empty() {
                odd.push(k as u64);
                symbols.push(Symbol::EMPTY);
            }
            symbols.extend_from_slice(words);
            piece_ends.push(symbols.len() as u64);
        }
        Self {
            symbols: symbols.into(),
            ends: piece_ends.into(),
            odd: {
                let none = vec![0; odd.len()];
                OddSentences::new(odd.into(), Buffer::default(), none.into())
            },
            ..Self::default()
        }
    }

    /// Tokenises `n` texts and adds their words to `vocabulary`; `following` returns the texts after each text, see
    /// [`Tokenizer::tokenize_before`].
    ///
    /// Threads work on contiguous ranges with their own vocabularies, which are merged in order. No score
    /// depends on the numbers of the words.
    pub fn tokenize<'t>(
        tokenizer: Tokenizer,
        n: usize,
        text: impl Fn(usize) -> &'t str + Sync,
        following: impl Fn(usize) -> Following<'t> + Sync,
        vocabulary: &mut Vocabulary,
    ) -> Self {
        Self::build(n, &text, vocabulary, |builder, k, scratch| {
            builder.push(tokenizer, text(k), &|| following(k), scratch);
        })
    }

    /// As [`tokenize`](Self::tokenize), but line by line, with the piece [`LINE_BREAK`] for each line break.
    ///
    /// As white space, this piece is not a word. A line is read without a look at the next one.
    pub fn tokenize_lines<'t>(
        tokenizer: Tokenizer,
        n: usize,
        text: impl Fn(usize) -> &'t str + Sync,
        vocabulary: &mut Vocabulary,
    ) -> Self {
        Self::build(n, &text, vocabulary, |builder, k, scratch| {
            builder.push_lines(tokenizer, text(k), scratch);
        })
    }

    fn build<'t>(
        n: usize,
        text: impl Fn(usize) -> &'t str + Sync,
        vocabulary: &mut Vocabulary,
        push: impl Fn(&mut Builder, usize, &mut Scratch) + Sync,
    ) -> Self {
        let threads = rayon::current_num_threads();
        // With so many bytes, there is work for all threads, whatever follows.
        let enough = threads.saturating_mul(BYTES_PER_THREAD);
        let mut bytes = 0;
        for k in 0..n {
            bytes += text(k).len();
            if bytes >= enough {
                break;
            }
        }
        let parts = threads.min(bytes / BYTES_PER_THREAD).min(n).max(1);
        let builders: Vec<Builder> = (0..parts)
            .into_par_iter()
            .map(|part| {
                let texts = n * part / parts..n * (part + 1) / parts;
                let mut builder = Builder::default();
                // To grow step by step takes new memory at each step.
                let bytes: usize = texts.clone().map(|k| text(k).len()).sum();
                builder.symbols.reserve(bytes / BYTES_PER_SYMBOL);
                builder.ends.reserve(texts.len());
                let mut scratch = IDLE.take();
                for k in texts {
                    push(&mut builder, k, &mut scratch);
                }
                IDLE.set(scratch);
                builder
            })
            .collect();
        Self::join(builders, vocabulary)
    }

    fn join(builders: Vec<Builder>, vocabulary: &mut Vocabulary) -> Self {
        let mut symbols_before = 0_u64;
        let mut ends = Vec::with_capacity(builders.iter().map(|b| b.ends.len()).sum());
        let (mut odd, mut odd_words, mut odd_ends) = (Vec::new(), Vec::new(), Vec::new());
        let (mut open, mut maps) = (Vec::new(), Vec::with_capacity(builders.len()));
        for builder in &builders {
            let sentences_before = ends.len() as u64;
            let map = builder.vocabulary.iter().map(|(_, word)| vocabulary.intern(word));
            maps.push(map.collect::<Vec<Symbol>>());
            ends.extend(builder.ends.iter().map(|end| symbols_before + end));
            symbols_before += builder.symbols.len() as u64;
            open.extend(builder.open.iter().map(|k| sentences_before + k));
            for k in builder.odd.iter().copied() {
                odd.push(sentences_before + k as u64);
                for piece in part(&builder.symbols, &builder.ends, k) {
                    for word in builder.vocabulary.word(*piece).split(is_python_space) {
                        if !word.is_empty() {
                            odd_words.push(vocabulary.intern(word));
                        }
                    }
                }
                odd_ends.push(odd_words.len() as u64);
            }
        }
        // Fresh memory takes longer than what is written there, so all threads write.
        let mut symbols: Vec<Symbol> = zeroed_vec(symbols_before as usize);
        let (mut rest, mut parts) = (&mut symbols[..], Vec::with_capacity(builders.len()));
        for (builder, map) in builders.into_iter().zip(maps) {
            let own = rest.split_off_mut(..builder.symbols.len()).unwrap_or_default();
            parts.push((own, builder.symbols, map));
        }
        parts.into_par_iter().for_each(|(all, own, map)| {
            all.iter_mut().zip(own).for_each(|(all, own)| *all = map[own.index()]);
        });
        Self {
            symbols: symbols.into(),
            ends: ends.into(),
            odd: OddSentences::new(odd.into(), odd_words.into(), odd_ends.into()),
            open: open.into(),
        }
    }

    /// The sentences whose tokens may depend on the text that follows, ascending.
    pub fn open(&self) -> &[u64] {
        &self.open
    }

    /// These sentences with those at `places`, which ascend, replaced by `others`, which have the same vocabulary.
    pub fn replaced(&self, places: &[usize], others: &Self) -> Self {
        let mut symbols = Vec::with_capacity(self.symbols.len());
        let mut ends = Vec::with_capacity(self.ends.len());
        let (mut odd, mut odd_words, mut odd_ends) = (Vec::new(), Vec::new(), Vec::new());
        for k in 0..self.len() {
            let (from, at) = match places.binary_search(&k) {
                Ok(at) => (others, at),
                Err(_) => (self, k),
            };
            symbols.extend_from_slice(from.pieces(at));
            ends.push(symbols.len() as u64);
            if from.odd.find(at).is_some() {
                odd.push(k as u64);
                odd_words.extend_from_slice(from.words(at));
                odd_ends.push(odd_words.len() as u64);
            }
        }
        Self {
            symbols: symbols.into(),
            ends: ends.into(),
            odd: OddSentences::new(odd.into(), odd_words.into(), odd_ends.into()),
            open: self.open.to_vec().into(),
        }
    }

    /// The sentences with each symbol `s` replaced by `map[s]`.
    ///
    /// # Panics
    /// If `map` is shorter than the vocabulary of these sentences.
    pub fn mapped(&self, map: &[Symbol]) -> Self {
        let through = |symbols: &[Symbol]| symbols.iter().map(|s| map[s.index()]).collect::<Vec<_>>().into();
        Self {
            symbols: through(&self.symbols),
            ends: self.ends.to_vec().into(),
            odd: OddSentences { words: through(&self.odd.words), ..self.odd.clone() },
            open: self.open.to_vec().into(),
        }
    }

    /// The arrays to store.
    pub fn parts(&self) -> SentenceParts<&[Symbol], &[u64]> {
        SentenceParts {
            symbols: &self.symbols,
            ends: &self.ends,
            odd: &self.odd.places,
            odd_words: &self.odd.words,
            odd_ends: &self.odd.ends,
            open: &self.open,
        }
    }

    /// Restores sentences from stored arrays; `None` unless every index is in range.
    pub fn from_parts(
        parts: SentenceParts<Buffer<Symbol>, Buffer<u64>>,
        vocabulary_len: usize,
    ) -> Option<Self> {
        let SentenceParts { symbols, ends, odd, odd_words, odd_ends, open } = parts;
        let below = |places: &[u64]| {
            places.is_sorted_by(|a, b| a < b) && places.last().is_none_or(|last| *last < ends.len() as u64)
        };
        let rising = |ends: &[u64], total: usize| {
            ends.is_sorted() && ends.last().copied().unwrap_or(0) == total as u64
        };
        let known =
            |symbols: &[Symbol]| symbols.iter().map(|s| s.index()).max().is_none_or(|m| m < vocabulary_len);
        let sound = rising(&ends, symbols.len())
            && rising(&odd_ends, odd_words.len())
            && odd.len() == odd_ends.len()
            && below(&odd)
            && below(&open)
            && known(&symbols)
            && known(&odd_words);
        sound.then(|| Self { symbols, ends, odd: OddSentences::new(odd, odd_words, odd_ends), open })
    }
}

/// The sentences of one thread, with their own vocabulary.
#[derive(Default)]
struct Builder {
    vocabulary: Vocabulary,
    recent: Recent,
    /// For each word, whether Python's `str.split()` would split or drop it.
    splits: Vec<bool>,
    symbols: Vec<Symbol>,
    ends: Vec<u64>,
    odd: Vec<usize>,
    open: Vec<u64>,
}

/// The pieces of a text and their properties.
#[derive(Clone, Copy)]
struct Pieces {
    /// True if the words differ from the pieces.
    are_odd: bool,
    /// True if they may depend on the text that follows.
    are_open: bool,
}

impl Builder {
    fn push<'t>(
        &mut self,
        tokenizer: Tokenizer,
        text: &str,
        following: &dyn Fn() -> Following<'t>,
        scratch: &mut Scratch,
    ) {
        let Pieces { are_odd, are_open } = self.pieces(tokenizer, text, following, scratch);
        if are_open {
            self.open.push(self.ends.len() as u64);
        }
        self.end(are_odd);
    }

    fn push_lines(&mut self, tokenizer: Tokenizer, text: &str, scratch: &mut Scratch) {
        let mut is_odd = false;
        for (k, line) in text.split('\n').enumerate() {
            if k > 0 {
                is_odd = true;
                let symbol = self.vocabulary.intern(LINE_BREAK);
                self.symbols.push(symbol);
            }
            let nothing = || -> Following<'_> { Box::new(std::iter::empty()) };
            is_odd |= self.pieces(tokenizer.each(), line, &nothing, scratch).are_odd;
        }
        self.end(is_odd);
    }

    /// Adds the pieces of `text`.
    fn pieces<'t>(
        &mut self,
        tokenizer: Tokenizer,
        text: &str,
        following: &dyn Fn() -> Following<'t>,
        scratch: &mut Scratch,
    ) -> Pieces {
        let mut are_odd = false;
        let Self { vocabulary, recent, splits, symbols, .. } = self;
        let are_open = tokenizer.tokenize_before(text, following, scratch, |piece| {
            let symbol = recent.intern(piece, vocabulary);
            for k in splits.len()..vocabulary.len() {
                splits.push(Vocabulary::splits(if k == symbol.index() { piece } else { LINE_BREAK }));
            }
            are_odd |= splits[symbol.index()] || symbol == Symbol::EMPTY;
            symbols.push(symbol);
        });
        Pieces { are_odd, are_open }
    }

    fn end(&mut self, is_odd: bool) {
        if is_odd {
            self.odd.push(self.ends.len());
        }
        self.ends.push(self.symbols.len() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing<'t>(_: usize) -> Following<'t> {
        Box::new(std::iter::empty())
    }

    fn read(tokenizer: Tokenizer, texts: &[&str]) -> (Sentences, Vocabulary) {
        let mut vocabulary = Vocabulary::default();
        let sentences = Sentences::tokenize(tokenizer, texts.len(), |k| texts[k], nothing, &mut vocabulary);
        (sentences, vocabulary)
    }

    fn spelt<'v>(vocabulary: &'v Vocabulary, symbols: &[Symbol]) -> Vec<&'v str> {
        symbols.iter().map(|s| vocabulary.word(*s)).collect()
    }

    #[test]
    fn pieces_keep_white_space_at_which_words_are_split() {
        let (sentences, vocabulary) = read(Tokenizer::None, &["a b", "3\u{a0}1/2  cups", "", "c"]);
        assert_eq!(spelt(&vocabulary, sentences.pieces(1)), ["3\u{a0}1/2", "", "cups"]);
        assert_eq!(spelt(&vocabulary, sentences.words(1)), ["3", "1/2", "cups"]);
        assert_eq!(spelt(&vocabulary, sentences.pieces(2)), [""]);
        assert!(sentences.words(2).is_empty());
        assert_eq!(spelt(&vocabulary, sentences.words(3)), ["c"]);
    }

    #[test]
    fn line_breaks_are_pieces_but_not_words() {
        let texts = ["A b.\n\nc", "d", "\n"];
        let mut vocabulary = Vocabulary::default();
        let sentences = Sentences::tokenize_lines(Tokenizer::Rouge155, 3, |k| texts[k], &mut vocabulary);
        assert_eq!(spelt(&vocabulary, sentences.pieces(0)), ["a", "b", "\n", "\n", "c"]);
        assert_eq!(spelt(&vocabulary, sentences.words(0)), ["a", "b", "c"]);
        assert_eq!(spelt(&vocabulary, sentences.pieces(1)), ["d"]);
        assert_eq!(spelt(&vocabulary, sentences.pieces(2)), ["\n"]);
        assert!(sentences.words(2).is_empty());
    }

    #[test]
    fn the_number_of_threads_changes_no_word() {
        let texts: Vec<String> =
            (0..9_000).map(|k| format!("word{} is\u{a0}odd  {}", k % 700, k % 13)).collect();
        let spell_all = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut vocabulary = Vocabulary::default();
                let sentences = Sentences::tokenize(
                    Tokenizer::None,
                    texts.len(),
                    |k| &texts[k],
                    nothing,
                    &mut vocabulary,
                );
                (0..texts.len())
                    .map(|k| {
                        let spell = |symbols: &[Symbol]| spelt(&vocabulary, symbols).join("|");
                        (spell(sentences.pieces(k)), spell(sentences.words(k)))
                    })
                    .collect::<Vec<_>>()
            })
        };
        assert_eq!(spell_all(1), spell_all(4));
    }
}
