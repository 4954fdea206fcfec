//! The tags that a word may have, and the probability of the word under each.

use capeval_arrays::{Buffer, Error, Reader, Writer};

use super::Lists;
use super::signature::signature;

/// A word seen more often than this has the tags it was seen with, and no others.
const OFTEN: f64 = 100.0;
/// A tag that more unknown words than this had is one that any unknown word may have.
const OPEN_CLASS: f64 = 50.0;
/// The weight of the tags of all unknown words beside those of a rare word, and of a class of unknown words.
const SMOOTH_RARE: f64 = 0.2;
const SMOOTH_UNKNOWN: f64 = 1.0;
/// Words are impossible under tags with a lower score.
const LOWEST: f64 = -100.0;
/// The word under which the open classes are kept; as a word of a caption it is known, and yet was never seen.
const UNKNOWN: &str = "UNK";

/// Counts of words and tags.
#[derive(Clone, Debug)]
pub(crate) struct Lexicon {
    words: Taggings,
    /// Unknown words by their signatures.
    signatures: Taggings,
    /// The state of each tag.
    states: Buffer<u32>,
    /// The number of words with each tag, and of unknown words.
    counts: Buffer<f64>,
    unknown_counts: Buffer<f64>,
    /// The number of words and that of unknown words.
    totals: Buffer<f64>,
}

/// Names, how often each was seen, and with which tags.
#[derive(Clone, Debug)]
pub(crate) struct Taggings {
    /// Ascending.
    pub(crate) names: Lists<u8>,
    pub(crate) counts: Buffer<f64>,
    /// Ascending numbers of tags.
    pub(crate) tags: Lists<u32>,
    /// One count for each item of `tags`.
    pub(crate) tag_counts: Lists<f64>,
}

/// The counts of one word or signature.
#[derive(Clone, Copy, Debug, Default)]
struct Entry<'a> {
    count: f64,
    tags: &'a [u32],
    tag_counts: &'a [f64],
}

impl Entry<'_> {
    fn count(&self, tag: u32) -> f64 {
        let at = self.tags.binary_search(&tag).ok();
        at.and_then(|at| self.tag_counts.get(at)).copied().unwrap_or(0.0)
    }
}

impl Taggings {
    fn write(&self, out: &mut Writer<'_>) {
        self.names.write(out);
        out.owned(&self.counts);
        self.tags.write(out);
        self.tag_counts.write(out);
    }

    fn open(reader: &mut Reader) -> Result<Self, Error> {
        let taggings = Self {
            names: Lists::open(reader)?,
            counts: reader.array()?,
            tags: Lists::open(reader)?,
            tag_counts: Lists::open(reader)?,
        };
        let n = taggings.names.len();
        let is_sound =
            taggings.counts.len() == n && taggings.tags.len() == n && taggings.tag_counts.len() == n;
        if is_sound { Ok(taggings) } else { Err(reader.unsound()) }
    }

    fn entry(&self, name: &str) -> Option<Entry<'_>> {
        let at = self.names.find(name)?;
        Some(Entry {
            count: *self.counts.get(at)?,
            tags: self.tags.list(at),
            tag_counts: self.tag_counts.list(at),
        })
    }
}

/// A word at its place in a sentence.
pub(crate) struct Word<'a> {
    lexicon: &'a Lexicon,
    is_known: bool,
    /// Of the word, or of its signature if it was never seen.
    entry: Entry<'a>,
    is_seen: bool,
}

impl Lexicon {
    pub(crate) fn new(words: Taggings, signatures: Taggings, tags: Vec<TagCounts>, totals: [f64; 2]) -> Self {
        Self {
            words,
            signatures,
            states: tags.iter().map(|tag| tag.state).collect::<Vec<_>>().into(),
            counts: tags.iter().map(|tag| tag.count).collect::<Vec<_>>().into(),
            unknown_counts: tags.iter().map(|tag| tag.unknown).collect::<Vec<_>>().into(),
            totals: totals.to_vec().into(),
        }
    }

    pub(crate) fn write(&self, out: &mut Writer<'_>) {
        self.words.write(out);
        self.signatures.write(out);
        out.owned(&self.states);
        out.owned(&self.counts);
        out.owned(&self.unknown_counts);
        out.owned(&self.totals);
    }

    /// Takes the next arrays of a file, whose grammar has this many states.
    pub(crate) fn open(reader: &mut Reader, states: usize) -> Result<Self, Error> {
        let lexicon = Self {
            words: Taggings::open(reader)?,
            signatures: Taggings::open(reader)?,
            states: reader.array()?,
            counts: reader.array()?,
            unknown_counts: reader.array()?,
            totals: reader.array()?,
        };
        let n = lexicon.states.len();
        let is_sound = lexicon.states.iter().all(|state| (*state as usize) < states)
            && lexicon.counts.len() == n
            && lexicon.unknown_counts.len() == n
            && lexicon.totals.len() == 2
            && lexicon.words.tags.items().iter().all(|tag| (*tag as usize) < n);
        if is_sound { Ok(lexicon) } else { Err(reader.unsound()) }
    }

    /// The states of all tags.
    pub(crate) fn tags(&self) -> impl Iterator<Item = u16> {
        self.states.iter().map(|state| *state as u16)
    }

    /// Looks up a word in its American spelling.
    pub(crate) fn word(&self, word: &str, is_first: bool) -> Word<'_> {
        let seen = self.words.entry(word).filter(|entry| entry.count > 0.0);
        let entry = seen.or_else(|| self.signatures.entry(&signature(word, is_first))).unwrap_or_default();
        Word { lexicon: self, is_known: seen.is_some() || word == UNKNOWN, entry, is_seen: seen.is_some() }
    }
}

/// Of one tag: its state, and how many words and unknown words had it.
pub(crate) struct TagCounts {
    pub(crate) state: u32,
    pub(crate) count: f64,
    pub(crate) unknown: f64,
}

impl Word<'_> {
    /// The states of the tags that are tried, with the scores of those that are possible.
    pub(crate) fn taggings(&self) -> Vec<(u16, f32)> {
        let tags = if self.is_seen && self.entry.count > OFTEN {
            self.scores(self.entry.tags.iter().copied())
        } else if self.is_known {
            self.scores(0..self.lexicon.states.len() as u32)
        } else {
            let unknown = self.lexicon.unknown_counts.iter().zip(0..);
            self.scores(unknown.filter(|(count, _)| **count > OPEN_CLASS).map(|(_, tag)| tag))
        };
        if tags.is_empty() { self.all_taggings() } else { tags }
    }

    /// The states of all tags under which the word is possible.
    pub(crate) fn all_taggings(&self) -> Vec<(u16, f32)> {
        self.scores(0..self.lexicon.states.len() as u32)
    }

    fn scores(&self, tags: impl Iterator<Item = u32>) -> Vec<(u16, f32)> {
        let Lexicon { states, counts, unknown_counts, totals, .. } = self.lexicon;
        let [total, unknown_total] = **totals else { return Vec::new() };
        let (states, counts, unknown_counts) = (&**states, &**counts, &**unknown_counts);
        let possible = tags.filter_map(|tag| {
            let at = tag as usize;
            let unknown = unknown_counts.get(at)? / unknown_total;
            Some((*states.get(at)? as u16, self.score(tag, counts.get(at)? / total, unknown, total)?))
        });
        possible.collect()
    }

    /// The logarithm of the probability of the word under a tag, whose share of all words and of unknown words is
    /// given. The order of the operations decides the last digit.
    fn score(&self, tag: u32, tag_share: f64, tag_if_unknown: f64, total: f64) -> Option<f32> {
        let Entry { count, .. } = self.entry;
        let both = self.entry.count(tag);
        let (tag_of_word, word) = if self.is_seen {
            let tag_of_word = if count > OFTEN && both > 0.0 {
                both / count
            } else {
                (both + SMOOTH_RARE * tag_if_unknown) / (count + SMOOTH_RARE)
            };
            (tag_of_word, count / total)
        } else {
            ((both + SMOOTH_UNKNOWN * tag_if_unknown) / (count + SMOOTH_UNKNOWN), 1.0 / total)
        };
        let score = (tag_of_word * word / tag_share).ln();
        // A tag that no word had would give infinity.
        (score > LOWEST && score.is_finite()).then_some(score as f32)
    }
}
