//! Counts the words, letters and scripts of texts, at the speed of memory if they are ASCII.

use std::ops::AddAssign;

/// The number of bytes of a text that are of a kind.
pub(super) fn count(text: &str, is: impl Fn(u8) -> bool) -> usize {
    // Few enough that a byte can count them, so that many are counted at once.
    const FEW: usize = u8::MAX as usize;
    text.as_bytes()
        .chunks(FEW)
        .map(|bytes| usize::from(bytes.iter().map(|byte| u8::from(is(*byte))).sum::<u8>()))
        .sum()
}

/// The number of words between white space.
pub(super) fn n_words(text: &str) -> usize {
    const FEW: usize = u8::MAX as usize;
    if !text.is_ascii() {
        return text.split_whitespace().count();
    }
    let is_space = |byte: u8| (byte.wrapping_sub(b'\t') < 5) | (byte == b' ');
    let bytes = text.as_bytes();
    let first = usize::from(bytes.first().is_some_and(|byte| !is_space(*byte)));
    let followers = bytes.get(1..).unwrap_or_default();
    // Without a branch, many are compared at once.
    let begins = |(before, byte): (&u8, &u8)| u8::from(is_space(*before) & !is_space(*byte));
    let parts = bytes.chunks(FEW).zip(followers.chunks(FEW));
    let others = parts.map(|(before, bytes)| usize::from(before.iter().zip(bytes).map(begins).sum::<u8>()));
    first + others.sum::<usize>()
}

/// The number of characters.
pub(super) fn n_characters(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// The letters of some texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Letters {
    /// The number in each script, for those that there are.
    scripts: Vec<(&'static str, usize)>,
    /// The number of capitals, and of all letters that have a case.
    upper: usize,
    cased: usize,
}

impl Letters {
    /// The letters of `texts`.
    pub fn of(texts: &[&str]) -> Self {
        let mut letters = Self::default();
        texts.iter().for_each(|text| letters.see(text));
        letters
    }

    fn see(&mut self, text: &str) {
        if text.is_ascii() {
            let upper = count(text, |byte| byte.is_ascii_uppercase());
            let all = count(text, |byte| byte.is_ascii_alphabetic());
            self.upper += upper;
            self.cased += all;
            self.add(LATIN, all);
            return;
        }
        for c in text.chars() {
            let (is_upper, is_lower) = (c.is_uppercase(), c.is_lowercase());
            self.upper += usize::from(is_upper);
            self.cased += usize::from(is_upper || is_lower);
            if c.is_alphabetic() {
                self.add(script(c), 1);
            }
        }
    }

    fn add(&mut self, script: &'static str, n: usize) {
        match self.scripts.iter_mut().find(|(known, _)| *known == script) {
            Some((_, count)) => count.add_assign(n),
            None => self.scripts.push((script, n)),
        }
    }

    /// The number of letters.
    pub fn n(&self) -> usize {
        self.scripts.iter().map(|(_, count)| count).sum()
    }

    /// The share of letters in each script.
    pub fn scripts(&self) -> impl Iterator<Item = (&'static str, f64)> + Clone {
        let all = self.n().max(1) as f64;
        self.scripts.iter().map(move |(name, count)| (*name, *count as f64 / all))
    }

    /// The share of capitals among the letters that have a case.
    pub fn upper(&self) -> f64 {
        self.upper as f64 / self.cased.max(1) as f64
    }
}

/// The script of most European languages.
const LATIN: &str = "Latin";

/// The script of a letter, roughly: languages that share one are not told apart.
fn script(letter: char) -> &'static str {
    match u32::from(letter) {
        0x370..=0x3FF => "Greek",
        0x400..=0x52F => "Cyrillic",
        0x590..=0x5FF => "Hebrew",
        0x600..=0x6FF | 0x750..=0x77F | 0xFB50..=0xFEFF => "Arabic",
        0x900..=0xDFF => "Indic",
        0xE00..=0xEFF => "Thai or Lao",
        0x1000..=0x109F => "Burmese",
        0x1100..=0x11FF | 0xAC00..=0xD7AF => "Korean",
        0x1780..=0x17FF => "Khmer",
        0x3040..=0x30FF | 0x3400..=0x9FFF | 0x2_0000..=0x2_FFFF => "Chinese or Japanese",
        _ => LATIN,
    }
}
