//! capeval's file format for tables: small, the same for equal tables on all machines, and verified when read.
//!
//! After the magic `capevdf\0` come a version (32 bits, little-endian), the XXH3 hash of the rest (64 bits,
//! little-endian) and the rest, which consists of numbers in LEB128 and one range of text:
//!
//! 1. the number of images, the order N, the number of words;
//! 2. for each word, in the order of the words' bytes, its length in bytes; then all words as UTF-8;
//! 3. for each order from 2 to N, the number of nodes;
//! 4. for each node, the single words first and then order by order, its frequency;
//! 5. for each node except those of order N, the number of nodes that extend it;
//! 6. for each of those, prefix by prefix, its last word: the first as its number, each later one as the difference
//!    from the one before, minus 1.
//!
//! Every table has exactly one such file: numbers are as short as possible, and words and n-grams that do not occur are
//! left out. The reader refuses everything else, so the hash is also the fingerprint of the table.

use std::io::{self, Write};

use capeval_choice::{Argument, Refusal, Remedy};

use super::encoding::{Parts, encode, hash, key};
use super::{DocumentFrequencies, MAX_ORDER, pickle, refusal_at};

/// The first bytes of each file.
pub const MAGIC: [u8; 8] = *b"capevdf\0";
/// The version that is written; no other version is read.
pub const VERSION: u32 = 1;
/// The start of the part that the hash covers.
const BODY: usize = 20;

impl DocumentFrequencies {
    /// Writes the table as a file.
    pub fn save(&self, mut writer: impl Write) -> io::Result<()> {
        writer.write_all(&head(MAGIC, VERSION, self.fingerprint()))?;
        writer.write_all(&encode(self.parts()))
    }

    /// Reads the bytes of a file that [`save`](Self::save) wrote.
    pub fn load(bytes: &[u8]) -> Result<Self, Refusal> {
        let (stored, body) =
            body(bytes, MAGIC, VERSION, "a table of document frequencies in capeval's format")?;
        decode(body)?.into_table(Some(stored))
    }

    /// Reads a table in capeval's format or a pickle.
    ///
    /// `n_images` is needed for a pickle that does not contain the number of images, and overrides it in one that does;
    /// capeval's files always contain it.
    pub fn read(bytes: &[u8], n_images: Option<u64>) -> Result<Self, Refusal> {
        if !bytes.starts_with(&MAGIC) {
            return pickle::read(bytes, n_images);
        }
        let table = Self::load(bytes)?;
        match n_images {
            Some(n) if n != table.n_images() => {
                Err(Refusal::new(format!("the table is over {} images, not {n}", table.n_images()))
                    .with_remedy(Remedy::omit(Argument::DocumentFrequencyImages)))
            }
            _ => Ok(table),
        }
    }
}

/// The bytes before the body of a file.
fn head(magic: [u8; 8], version: u32, hash: u64) -> [u8; BODY] {
    let mut head = [0; BODY];
    head[..8].copy_from_slice(&magic);
    head[8..12].copy_from_slice(&version.to_le_bytes());
    head[12..].copy_from_slice(&hash.to_le_bytes());
    head
}

/// A file with this body.
pub(super) fn with_head(magic: [u8; 8], version: u32, body: &[u8]) -> Vec<u8> {
    [&head(magic, version, hash(body)), body].concat()
}

/// The checksum and the body of a file of this format, which is called `what`.
pub(super) fn body<'b>(
    bytes: &'b [u8],
    magic: [u8; 8],
    known: u32,
    what: &str,
) -> Result<(u64, &'b [u8]), Refusal> {
    let split = bytes.split_at_checked(BODY).filter(|(head, _)| head.starts_with(&magic));
    let Some((head, body)) = split else { return Err(refusal_at(0, format!("not {what}"))) };
    let mut version = [0; 4];
    let mut stored = [0; 8];
    version.copy_from_slice(&head[8..12]);
    stored.copy_from_slice(&head[12..BODY]);
    let (version, stored) = (u32::from_le_bytes(version), u64::from_le_bytes(stored));
    if version != known {
        return Err(refusal_at(
            8,
            format!("version {version} of the format, and this program reads only {known}"),
        ));
    }
    if hash(body) != stored {
        return Err(refusal_at(12, "the checksum is wrong: the file is truncated or damaged")
            .with_remedy("fetch or build it again"));
    }
    Ok((stored, body))
}

fn decode(body: &[u8]) -> Result<Parts, Refusal> {
    let mut reader = Reader::new(body);
    let n_images = reader.number()?;
    let order = reader.number()?;
    if !(1..=MAX_ORDER as u64).contains(&order) {
        return Err(
            reader.error(format!("order {order}, but a table holds n-grams of 1 to {MAX_ORDER} words"))
        );
    }
    let n_words = reader.count()?;
    let mut word_ends = Vec::with_capacity(n_words);
    let mut text_len = 0_u32;
    for _ in 0..n_words {
        let len = reader.number_u32()?;
        text_len = text_len.checked_add(len).ok_or_else(|| reader.error("words longer than 4 GiB"))?;
        word_ends.push(text_len);
    }
    let text = reader.text(text_len as usize)?;
    check_words(&text, &word_ends).ok_or_else(|| reader.error("the words are not sorted UTF-8"))?;
    let mut order_ends = vec![n_words as u32];
    let mut n_nodes = n_words;
    for _ in 1..order {
        n_nodes += reader.count()?;
        order_ends.push(u32::try_from(n_nodes).map_err(|_| reader.error("too many n-grams"))?);
    }
    let mut frequencies = Vec::with_capacity(reader.at_most(n_nodes)?);
    for _ in 0..n_nodes {
        frequencies.push(reader.number_u32()?);
    }
    let n_prefixes = order_ends.iter().rev().nth(1).copied().unwrap_or(0) as usize;
    let mut n_children = Vec::with_capacity(reader.at_most(n_prefixes)?);
    for _ in 0..n_prefixes {
        n_children.push(reader.number_u32()?);
    }
    let mut is_used: Vec<bool> = frequencies[..n_words].iter().map(|frequency| *frequency > 0).collect();
    let mut keys = Vec::with_capacity(reader.at_most(n_nodes - n_words)?);
    let mut first = 0;
    for (n, end) in order_ends.iter().enumerate().take(order_ends.len() - 1) {
        for prefix in first..*end {
            let mut next_word = 0;
            for _ in 0..n_children[prefix as usize] {
                let word = u64::from(reader.number_u32()?) + next_word;
                if word >= n_words as u64 {
                    return Err(reader.error("an n-gram with a word that is not in the table"));
                }
                is_used[word as usize] = true;
                keys.push(key(prefix, word as u32));
                next_word = word + 1;
            }
            if n_children[prefix as usize] > 0 && n == 0 {
                is_used[prefix as usize] = true;
            }
        }
        if keys.len() + n_words != order_ends[n + 1] as usize {
            return Err(reader.error(format!("the number of n-grams of {} words is wrong", n + 2)));
        }
        first = *end;
    }
    reader.end()?;
    let is_idle = |node: usize| frequencies[node] == 0 && n_children.get(node).is_none_or(|n| *n == 0);
    if is_used.contains(&false) || (n_words..n_nodes).any(is_idle) {
        return Err(reader.error("an n-gram that occurs in no image"));
    }
    Ok(Parts { n_images, text, word_ends, order_ends, frequencies, keys })
}

/// Checks that each word is UTF-8 and greater than the one before it; otherwise `None`.
fn check_words(text: &str, word_ends: &[u32]) -> Option<()> {
    let mut before = None;
    let mut start = 0;
    for end in word_ends {
        let word = text.get(start..*end as usize)?;
        if before.is_some_and(|before| before >= word) {
            return None;
        }
        before = Some(word);
        start = *end as usize;
    }
    Some(())
}

/// Reads numbers and text with bounds checks.
pub(super) struct Reader<'b> {
    body: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    pub(super) fn new(body: &'b [u8]) -> Self {
        Self { body, at: 0 }
    }

    /// Checks that nothing is left.
    pub(super) fn end(&self) -> Result<(), Refusal> {
        if self.at != self.body.len() {
            return Err(self.error("more bytes than the table needs"));
        }
        Ok(())
    }

    #[cold]
    pub(super) fn error(&self, message: impl Into<String>) -> Refusal {
        refusal_at(BODY + self.at, message)
    }

    #[inline]
    pub(super) fn number(&mut self) -> Result<u64, Refusal> {
        match self.body.get(self.at) {
            Some(byte) if *byte < 0x80 => {
                self.at += 1;
                Ok(u64::from(*byte))
            }
            _ => self.long_number(),
        }
    }

    fn long_number(&mut self) -> Result<u64, Refusal> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let Some(byte) = self.body.get(self.at) else { return Err(self.error("the table stops short")) };
            let bits = u64::from(byte & 0x7f);
            if (bits << shift) >> shift != bits || (shift > 0 && *byte == 0) {
                return Err(self.error("a number that is too large or padded"));
            }
            number |= bits << shift;
            self.at += 1;
            if *byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.error("a number that is too large or padded"))
    }

    #[inline]
    pub(super) fn number_u32(&mut self) -> Result<u32, Refusal> {
        u32::try_from(self.number()?).map_err(|_| self.error("a number that is too large or padded"))
    }

    /// A number of items, each of which takes at least one of the following bytes.
    pub(super) fn count(&mut self) -> Result<usize, Refusal> {
        let n = self.number()?;
        self.at_most(usize::try_from(n).unwrap_or(usize::MAX))
    }

    fn at_most(&self, n: usize) -> Result<usize, Refusal> {
        if n > self.body.len() - self.at || n >= u32::MAX as usize {
            return Err(self.error("the table stops short"));
        }
        Ok(n)
    }

    pub(super) fn text(&mut self, len: usize) -> Result<String, Refusal> {
        let len = self.at_most(len)?;
        let bytes = self.body.get(self.at..self.at + len).unwrap_or_default();
        let text = std::str::from_utf8(bytes).map_err(|_| self.error("the words are not sorted UTF-8"))?;
        self.at += len;
        Ok(text.to_owned())
    }
}
