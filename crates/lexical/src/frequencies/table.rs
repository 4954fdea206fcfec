//! Tables of document frequencies: look-ups, iteration, merging.

use std::fmt;

use capeval_choice::{Argument, Refusal, Remedy};

use super::encoding::{Parts, encode, hash};
use super::index::{Index, Node};
use super::words::word_at;
use super::{Counts, MAX_ORDER};

/// For each n-gram, the number of images whose references contain it.
///
/// An n-gram is a *node*: the pair (its first n − 1 words as a node, its last word). Words are numbered in the order of
/// their bytes and are the nodes of single words; longer nodes follow, order by order, sorted by prefix and word. A
/// node may have frequency 0 if only longer n-grams were saved.
#[derive(Clone)]
pub struct DocumentFrequencies {
    parts: Parts,
    index: Index,
    fingerprint: u64,
}

/// The maximum number of images; metrics use it as a float, which is exact up to here.
const MAX_IMAGES: u64 = 1 << 53;
/// The maximum number of nodes; the index needs 31 bits for 1.5 times as many slots.
const MAX_NODES: usize = 1 << 30;

impl Parts {
    /// Builds the table; `fingerprint` is the hash of the encoded parts, if known.
    ///
    /// The caller guarantees the order of words and keys; this function checks frequencies.
    pub(crate) fn into_table(self, fingerprint: Option<u64>) -> Result<DocumentFrequencies, Refusal> {
        if self.n_images > MAX_IMAGES {
            return Err(Refusal::new(format!("{} images; 2^53 are the most", self.n_images)));
        }
        if self.frequencies.len() > MAX_NODES {
            return Err(Refusal::new(format!("{} n-grams; 2^30 are the most", self.frequencies.len())));
        }
        if let Some(most) = self.frequencies.iter().max().filter(|most| u64::from(**most) > self.n_images) {
            return Err(Refusal::new(format!(
                "an n-gram occurs in {most} images, but the table is said to be over {}",
                self.n_images
            ))
            .with_remedy(
                Remedy::give(Argument::DocumentFrequencyImages).to("correct the number of images"),
            ));
        }
        let fingerprint = fingerprint.unwrap_or_else(|| hash(&encode(&self)));
        let index = Index::new(&self);
        Ok(DocumentFrequencies { parts: self, index, fingerprint })
    }
}

impl DocumentFrequencies {
    /// The number of images counted.
    pub fn n_images(&self) -> u64 {
        self.parts.n_images
    }

    /// The length of the longest n-grams counted; 4 for CIDEr.
    pub fn order(&self) -> usize {
        self.parts.order_ends.len()
    }

    /// The number of distinct words.
    pub fn n_words(&self) -> usize {
        self.parts.word_ends.len()
    }

    /// The number of n-grams that occur in at least one image.
    pub fn len(&self) -> usize {
        self.parts.frequencies.iter().filter(|frequency| **frequency > 0).count()
    }

    /// Returns true if the table has no n-grams.
    pub fn is_empty(&self) -> bool {
        self.parts.frequencies.is_empty()
    }

    /// A number for signatures: equal tables have equal fingerprints, on any machine.
    ///
    /// It is XXH3 (64 bits) of the table in capeval's file format, where it is the checksum.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The word with this number, from 0 in the order of the words' bytes; empty if there is none.
    pub fn word(&self, number: u32) -> &str {
        word_at(&self.parts.text, &self.parts.word_ends, number)
    }

    /// The number of `word`; `None` if it is in no n-gram.
    pub fn find_word(&self, word: &str) -> Option<u32> {
        let (mut low, mut high) = (0, self.n_words() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.word(middle).cmp(word) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The n-gram that extends `prefix` by the word numbered `word`, and its frequency; without a prefix, the single
    /// word.
    ///
    /// `None` if neither the n-gram nor an extension of it occurs. The frequency may be 0 if only longer n-grams were
    /// saved.
    #[inline]
    pub fn child(&self, prefix: Option<Node>, word: u32) -> Option<(Node, u32)> {
        self.index.child(prefix, word)
    }

    /// The frequency of an n-gram, given as its words; 0 if it does not occur. Convenient, but slow.
    pub fn frequency<W: AsRef<str>>(&self, ngram: impl IntoIterator<Item = W>) -> u32 {
        let mut at = None;
        for word in ngram {
            let prefix = at.map(|(node, _)| node);
            at = self.find_word(word.as_ref()).and_then(|word| self.child(prefix, word));
            if at.is_none() {
                return 0;
            }
        }
        at.map_or(0, |(_, frequency)| frequency)
    }

    /// Calls `visit` with the numbers of the words of each n-gram that occurs, and its frequency: shorter n-grams
    /// first, and n-grams of the same length in the order of their words.
    pub fn for_each(&self, mut visit: impl FnMut(&[u32], u32)) {
        let n_words = self.n_words();
        let mut ngram = Vec::with_capacity(MAX_ORDER);
        for (node, frequency) in self.parts.frequencies.iter().enumerate().filter(|(_, f)| **f > 0) {
            ngram.clear();
            let mut at = node;
            while let Some(key) = at.checked_sub(n_words).and_then(|longer| self.parts.keys.get(longer)) {
                ngram.push(*key as u32);
                at = (key >> 32) as usize;
            }
            ngram.push(at as u32);
            ngram.reverse();
            visit(&ngram, *frequency);
        }
    }

    /// The n-grams that occur, as words with their frequencies, in the order of [`for_each`](Self::for_each).
    pub fn iter(&self) -> impl Iterator<Item = (Vec<&str>, u32)> {
        let mut ngrams = Vec::new();
        self.for_each(|ngram, frequency| {
            ngrams.push((ngram.iter().map(|word| self.word(*word)).collect(), frequency));
        });
        ngrams.into_iter()
    }

    /// The table over the images of both tables; see [`sum`](Self::sum).
    pub fn merge(&self, other: &Self) -> Result<Self, Refusal> {
        Self::sum([self, other])
    }

    /// The table over the images of all tables, which must not share images: frequencies and images are added. Without
    /// tables, there are no images.
    ///
    /// # Errors
    /// When the orders differ, or a sum overflows.
    pub fn sum<'t>(tables: impl IntoIterator<Item = &'t Self>) -> Result<Self, Refusal> {
        let mut counts = Counts::default();
        let mut order = None;
        let mut n_images = 0_u64;
        for table in tables {
            let order = *order.get_or_insert(table.order());
            if order != table.order() {
                return Err(Refusal::new(format!(
                    "tables of order {order} and {} cannot be merged",
                    table.order()
                ))
                .with_remedy("count both to the same order"));
            }
            n_images = n_images
                .checked_add(table.n_images())
                .ok_or_else(|| Refusal::new("the tables are together over too many images"))?;
            table.add_to(&mut counts)?;
        }
        counts.into_table(n_images, order.unwrap_or(1))
    }

    /// Adds all n-grams to `counts`.
    fn add_to(&self, counts: &mut Counts) -> Result<(), Refusal> {
        let words = (0..).take(self.n_words()).map(|word| counts.word(self.word(word)));
        let words = words.collect::<Result<Vec<_>, _>>()?;
        let mut numbers = Vec::with_capacity(self.parts.frequencies.len());
        for (node, frequency) in self.parts.frequencies.iter().enumerate() {
            let number = match node.checked_sub(words.len()) {
                None => counts.extend(None, words[node])?,
                Some(longer) => {
                    let key = self.parts.keys[longer];
                    counts.extend(Some(numbers[(key >> 32) as usize]), words[key as u32 as usize])?
                }
            };
            counts.add(number, *frequency)?;
            numbers.push(number);
        }
        Ok(())
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }
}

impl PartialEq for DocumentFrequencies {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

impl Eq for DocumentFrequencies {}

impl fmt::Debug for DocumentFrequencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "DocumentFrequencies({} images, order {}, {} words, {} nodes, {:016x})",
            self.n_images(),
            self.order(),
            self.n_words(),
            self.parts.frequencies.len(),
            self.fingerprint
        )
    }
}
