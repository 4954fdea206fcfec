//! Document frequencies that are counted in parts, on many machines, and merged.
//!
//! N-grams are dealt into parts by a hash of their first two words, so each part can be merged on a machine of its own.
//! A part is sent as a file of its own format: after the magic `capevng\0`, a version (32 bits, little-endian) and the
//! XXH3 hash of the rest (64 bits, little-endian) follow numbers in LEB128 and one range of text:
//!
//! 1. the number of the part, and that of all parts; the number of images; the order N; the number of words;
//! 2. for each word its length in bytes; then all words as UTF-8;
//! 3. at least the number of n-grams and prefixes that follow, and the number of single words among them;
//! 4. for each n-gram, each followed by those that extend it: its last word, its frequency, and, if it has fewer than N
//!    words, the number of n-grams that extend it by one word.
//!
//! Unlike a [table](super::file), it is in no particular order: nothing is sorted before all parts are joined.
//!
//! Counts are sent as tries in no particular order: an engine's shuffle moves a few blobs instead of millions of rows,
//! and nothing is sorted before the last of them has arrived. Sorted tables for each part took 1.6 to 2 times as long.

use capeval_choice::Refusal;

use super::DocumentFrequencies;
use super::counts::{Counts, NOTHING};
use super::encoding::{hash, put};
use super::file::{self, Reader};

const MAGIC: [u8; 8] = *b"capevng\0";
const VERSION: u32 = 1;

/// N-grams counted over some images, in a number of parts.
#[derive(Clone, Debug)]
pub struct Tally {
    counts: Counts,
    order: usize,
    /// For each part, the number of images whose n-grams it has.
    images: Vec<u64>,
}

impl Tally {
    /// Nothing yet: n-grams of up to `order` words in so many parts.
    pub fn new(order: usize, parts: u32) -> Self {
        Self { counts: Counts::default(), order, images: vec![0; parts.max(1) as usize] }
    }

    /// The length of the longest n-grams.
    pub fn order(&self) -> usize {
        self.order
    }

    /// The number of parts.
    pub fn n_parts(&self) -> u32 {
        self.images.len() as u32
    }

    /// The number of n-grams and prefixes.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Returns true if no images have been counted.
    pub fn is_empty(&self) -> bool {
        self.images.iter().all(|n| *n == 0)
    }

    /// The n-grams of all parts.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The number of images of each part that has any, by its number.
    pub fn images(&self) -> impl Iterator<Item = (u32, u64)> {
        (0..).zip(self.images.iter().copied()).filter(|(_, n)| *n > 0)
    }

    /// Adds the n-grams of `n` more images, which `count` adds to those before; each counts once per image.
    pub fn add(
        &mut self,
        n: u64,
        count: impl FnOnce(&mut Counts) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        self.images.iter_mut().for_each(|images| *images += n);
        count(&mut self.counts)
    }

    /// Adds a part that [`parts`](Self::parts) has written, of other images or of other n-grams.
    pub fn merge(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let body = file::body(bytes, MAGIC, VERSION, "a part of counted n-grams in capeval's format")?.1;
        let mut reader = Reader::new(body);
        let (part, parts, images) = (reader.number()?, reader.number()?, reader.number()?);
        let order = reader.number()?;
        if parts != self.images.len() as u64 || order != self.order as u64 {
            let (known, n) = (self.images.len(), self.order);
            return Err(Refusal::new(format!(
                "one of {parts} parts with n-grams of up to {order} words does not belong to {known} parts of up to {n}"
            ))
            .with_remedy("count all parts with the same settings"));
        }
        let sum = usize::try_from(part).ok().and_then(|part| self.images.get_mut(part));
        let sum = sum.ok_or_else(|| reader.error(format!("there is no part {part}")))?;
        *sum = sum.checked_add(images).ok_or_else(|| reader.error("too many images"))?;
        let n_words = reader.count()?;
        let mut lens = Vec::with_capacity(n_words);
        for _ in 0..n_words {
            lens.push(reader.number_u32()? as usize);
        }
        let n_bytes = lens.iter().try_fold(0_usize, |sum, len| sum.checked_add(*len));
        let n_bytes = n_bytes.ok_or_else(|| reader.error("words longer than 4 GiB"))?;
        let text = reader.text(n_bytes)?;
        let mut words = Vec::with_capacity(n_words);
        let mut start = 0;
        for len in lens {
            let word = text.get(start..start + len).ok_or_else(|| reader.error("the words are not UTF-8"))?;
            words.push(self.counts.word(word)?);
            start += len;
        }
        let n_ngrams = reader.count()?;
        self.counts.reserve(n_ngrams);
        // The n-grams that wait for longer ones, and how many of these are still to come.
        let mut open = vec![(None, reader.count()?)];
        while let Some((prefix, left)) = open.last_mut() {
            let Some(rest) = left.checked_sub(1) else {
                open.pop();
                continue;
            };
            *left = rest;
            let prefix = *prefix;
            let word = words.get(reader.number_u32()? as usize).copied();
            let word = word.ok_or_else(|| reader.error("an n-gram with a word that is not in the part"))?;
            let frequency = reader.number_u32()?;
            let ngram = self.counts.extend(prefix, word)?;
            self.counts.add(ngram, frequency)?;
            if open.len() < self.order {
                open.push((Some(ngram), reader.count()?));
            }
        }
        reader.end()
    }

    /// Each part that has images, with its number.
    pub fn parts(&self) -> impl Iterator<Item = (u32, Vec<u8>)> {
        let mut writer = Writer::new(self);
        self.images().map(move |(part, images)| (part, writer.part(part, images)))
    }

    /// The table of all parts, which must be over the same images.
    pub fn into_table(self) -> Result<DocumentFrequencies, Refusal> {
        let n_images = self.images.first().copied().unwrap_or_default();
        if self.images.iter().any(|images| *images != n_images) {
            return Err(Refusal::new("the parts of a table are over different numbers of images")
                .with_remedy("put all counts together, each once"));
        }
        self.counts.into_table(n_images, self.order)
    }
}

/// Writes parts.
struct Writer<'t> {
    tally: &'t Tally,
    /// The n-grams of each part, in sequence, and where each part ends.
    dealt: Vec<u32>,
    ends: Vec<usize>,
    /// For each n-gram, the first that extends it, the next with the same prefix, and the number of those that extend
    /// it. Those of single words are set for one part at a time, since their bigrams are dealt into all parts.
    first: Vec<u32>,
    next: Vec<u32>,
    n_longer: Vec<u32>,
    /// The number of each word in the part that is written.
    words: Vec<u32>,
}

impl<'t> Writer<'t> {
    fn new(tally: &'t Tally) -> Self {
        let counts = &tally.counts;
        let n = counts.len();
        let mut writer = Self {
            tally,
            dealt: vec![0; n],
            ends: vec![0; tally.images.len()],
            first: vec![NOTHING; n],
            next: vec![NOTHING; n],
            n_longer: vec![0; n],
            words: vec![NOTHING; counts.n_words()],
        };
        let parts = deal(counts, tally.images.len());
        let mut starts = vec![0; tally.images.len() + 1];
        parts.iter().for_each(|part| starts[*part as usize + 1] += 1);
        let mut end = 0;
        for (start, of_part) in starts.iter_mut().skip(1).zip(&mut writer.ends) {
            end += *start;
            *start = end;
            *of_part = end;
        }
        for ((number, ngram), part) in (0..).zip(counts.ngrams()).zip(&parts) {
            let start = &mut starts[*part as usize];
            writer.dealt[*start] = number;
            *start += 1;
            if ngram.length > 2 {
                writer.link(number, ngram.prefix);
            }
        }
        writer
    }

    /// Notes that the n-gram `number` extends `prefix`.
    fn link(&mut self, number: u32, prefix: u32) {
        self.next[number as usize] = std::mem::replace(&mut self.first[prefix as usize], number);
        self.n_longer[prefix as usize] += 1;
    }

    fn part(&mut self, part: u32, images: u64) -> Vec<u8> {
        let counts = &self.tally.counts;
        let start = (part as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
        // The single words that are in this part, or begin a bigram that is.
        let mut single = Vec::new();
        for at in start..self.ends[part as usize] {
            let number = self.dealt[at];
            let ngram = counts.get(number);
            match ngram.length {
                1 => single.push((number, ngram.frequency)),
                2 => {
                    if self.first[ngram.prefix as usize] == NOTHING {
                        single.push((ngram.prefix, 0));
                    }
                    self.link(number, ngram.prefix);
                }
                _ => {}
            }
        }
        // A word that is in the part and begins a bigram may be there twice, once with frequency 0.
        single.sort_unstable();
        single.reverse();
        single.dedup_by_key(|(number, _)| *number);
        let mut ngrams = Vec::new();
        let mut used = Vec::new();
        let mut open: Vec<u32> = Vec::new();
        for (number, frequency) in &single {
            self.write(*number, *frequency, &mut ngrams, &mut used, &mut open);
            while let Some(longer) = open.pop() {
                self.write(longer, counts.get(longer).frequency, &mut ngrams, &mut used, &mut open);
            }
        }
        for (number, _) in &single {
            self.first[*number as usize] = NOTHING;
            self.n_longer[*number as usize] = 0;
        }
        let n_ngrams = self.ends[part as usize] - start + single.len();
        let mut body = Vec::with_capacity(ngrams.len() + 12 * used.len());
        put(&mut body, part.into());
        put(&mut body, self.tally.images.len() as u64);
        put(&mut body, images);
        put(&mut body, self.tally.order as u64);
        put(&mut body, used.len() as u64);
        used.iter().for_each(|word| put(&mut body, counts.word_text(*word).len() as u64));
        used.iter().for_each(|word| body.extend_from_slice(counts.word_text(*word).as_bytes()));
        put(&mut body, n_ngrams as u64);
        put(&mut body, single.len() as u64);
        body.append(&mut ngrams);
        used.iter().for_each(|word| self.words[*word as usize] = NOTHING);
        file::with_head(MAGIC, VERSION, &body)
    }

    /// Writes an n-gram, and leaves those that extend it by one word to be written next.
    fn write(
        &mut self,
        number: u32,
        frequency: u32,
        out: &mut Vec<u8>,
        used: &mut Vec<u32>,
        open: &mut Vec<u32>,
    ) {
        let ngram = self.tally.counts.get(number);
        let word = &mut self.words[ngram.word as usize];
        if *word == NOTHING {
            *word = used.len() as u32;
            used.push(ngram.word);
        }
        put(out, u64::from(*word));
        put(out, u64::from(frequency));
        if usize::from(ngram.length) < self.tally.order {
            put(out, u64::from(self.n_longer[number as usize]));
            let mut longer = self.first[number as usize];
            while longer != NOTHING {
                open.push(longer);
                longer = self.next[longer as usize];
            }
        }
    }
}

/// The part of each n-gram: by a hash of its first two words.
fn deal(counts: &Counts, n: usize) -> Vec<u32> {
    let hashes: Vec<u64> =
        (0..).take(counts.n_words()).map(|word| hash(counts.word_text(word).as_bytes())).collect();
    let part_of = |hash: u64| ((u128::from(hash.wrapping_mul(MIX)) * n as u128) >> 64) as u32;
    let mut parts: Vec<u32> = Vec::with_capacity(counts.len());
    for ngram in counts.ngrams() {
        let hash = hashes[ngram.word as usize];
        let part = match ngram.length {
            1 => part_of(hash),
            2 => part_of(hashes[counts.get(ngram.prefix).word as usize] ^ hash.rotate_left(32)),
            _ => parts[ngram.prefix as usize],
        };
        parts.push(part);
    }
    parts
}

/// An odd number that spreads hashes over all bits: 2^64 divided by the golden ratio.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
