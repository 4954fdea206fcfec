//! MeCab's compiled dictionaries: `sys.dic`, `unk.dic`, `char.bin`, `matrix.bin` and a line of `dicrc`.
//!
//! All numbers are little-endian. A `.dic` file contains a header of ten numbers and the name of a charset, a
//! double array over the bytes of words, entries of 16 bytes each, and features, which are not used.

use std::ops::Range;

use capeval_choice::Refusal;

/// The bytes of a file, in memory or mapped.
pub type Bytes = Box<dyn AsRef<[u8]> + Send + Sync>;

/// The files of a dictionary.
pub struct DictionaryFiles {
    /// `sys.dic`: words.
    pub system: Bytes,
    /// `unk.dic`: entries for unknown words, which consist of characters of one kind.
    pub unknown: Bytes,
    /// `char.bin`: kinds of characters.
    pub characters: Bytes,
    /// `matrix.bin`: the costs of pairs of neighbouring words.
    pub matrix: Bytes,
    /// `dicrc`: only mecab-ko's penalties for spaces are read from it.
    pub settings: String,
}

/// A dictionary that is ready for use.
pub struct Dictionary {
    system: Entries,
    matrix: Bytes,
    left_size: usize,
    right_size: usize,
    kinds: Vec<CharInfo>,
    /// The entries of unknown words for each kind of characters.
    unknown: Vec<Vec<Entry>>,
    /// The additional cost of a word of each part-of-speech class after a space.
    penalties: Vec<(u16, i64)>,
}

/// The properties of a character.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CharInfo(u32);

impl CharInfo {
    /// Returns true if the characters share a kind.
    pub(super) fn is_kind_of(self, other: Self) -> bool {
        self.0 & other.0 & 0x3_ffff != 0
    }

    /// The kind of the unknown words that begin with the character.
    pub(super) fn default_kind(self) -> usize {
        (self.0 >> 18 & 0xff) as usize
    }

    /// The maximum number of characters of an unknown word other than a whole run.
    pub(super) fn most(self) -> usize {
        (self.0 >> 26 & 0xf) as usize
    }

    /// Returns true if a whole run of characters becomes an unknown word.
    pub(super) fn groups(self) -> bool {
        self.0 >> 30 & 1 == 1
    }

    /// Returns true if unknown words are generated even where known words match.
    pub(super) fn always(self) -> bool {
        self.0 >> 31 == 1
    }
}

/// A word's classes and cost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    pub(super) left: u16,
    pub(super) right: u16,
    pub(super) class: u16,
    pub(super) cost: i16,
}

struct Entries {
    bytes: Bytes,
    trie: Range<usize>,
    entries: Range<usize>,
    n_entries: u32,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

impl Entries {
    /// The header's length: ten numbers and 32 bytes.
    const HEADER: usize = 72;
    const MAGIC: u32 = 0xef71_8f77;

    fn open(bytes: Bytes, name: &str) -> Result<Self, Refusal> {
        let content = (*bytes).as_ref();
        let cut = || Refusal::new(format!("{name} is cut off"));
        let field = |k: usize| u32_at(content, 4 * k).ok_or_else(cut);
        if (field(0)? ^ Self::MAGIC) as usize != content.len() {
            return Err(format!("{name} is not a MeCab dictionary, or it is damaged").into());
        }
        let charset = content.get(40..Self::HEADER).unwrap_or_default();
        let charset = charset.split(|byte| *byte == 0).next().unwrap_or_default();
        if !charset.eq_ignore_ascii_case(b"utf-8") && !charset.eq_ignore_ascii_case(b"utf8") {
            let charset = String::from_utf8_lossy(charset);
            return Err(
                Refusal::new(format!("{name} is a dictionary in {charset}")).with_remedy("use one in UTF-8")
            );
        }
        let trie = Self::HEADER..Self::HEADER.saturating_add(field(6)? as usize);
        let entries = trie.end..trie.end.saturating_add(field(7)? as usize);
        if entries.end > content.len() {
            return Err(cut());
        }
        Ok(Self { n_entries: field(3)?, bytes, trie, entries })
    }

    fn bytes(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }

    /// Calls `found` with the length and each entry of every word at the start of `text`, shorter words first.
    fn prefixes(&self, text: &[u8], mut found: impl FnMut(usize, Entry)) {
        let trie = self.bytes().get(self.trie.clone()).unwrap_or_default();
        let unit = |at: i64| {
            let at = usize::try_from(at).ok()?.checked_mul(8)?;
            Some((u32_at(trie, at)?.cast_signed(), u32_at(trie, at + 4)?))
        };
        let Some((mut base, _)) = unit(0) else { return };
        for length in 0..=text.len() {
            if let Some((value, check)) = unit(i64::from(base))
                && check == base.cast_unsigned()
                && value < 0
            {
                let value = (-i64::from(value) - 1) as usize;
                let (first, count) = (value >> 8, value & 0xff);
                (first..first + count).filter_map(|k| self.entry(k)).for_each(|entry| found(length, entry));
            }
            let Some(byte) = text.get(length) else { return };
            match unit(i64::from(base) + i64::from(*byte) + 1) {
                Some((next, check)) if check == base.cast_unsigned() => base = next,
                _ => return,
            }
        }
    }

    fn entry(&self, k: usize) -> Option<Entry> {
        let entries = self.bytes().get(self.entries.clone())?;
        let at = k.checked_mul(16)?;
        Some(Entry {
            left: u16_at(entries, at)?,
            right: u16_at(entries, at + 2)?,
            class: u16_at(entries, at + 4)?,
            cost: u16_at(entries, at + 6)?.cast_signed(),
        })
    }
}

impl Dictionary {
    /// Reads a dictionary.
    pub fn new(files: DictionaryFiles) -> Result<Self, Refusal> {
        let DictionaryFiles { system, unknown, characters, matrix, settings } = files;
        let system = Entries::open(system, "sys.dic")?;
        let unknown = Entries::open(unknown, "unk.dic")?;
        let content = (*matrix).as_ref();
        let size = |at: usize| u16_at(content, at).map(usize::from);
        let (Some(left_size), Some(right_size)) = (size(0), size(2)) else {
            return Err("matrix.bin is cut off".into());
        };
        if content.len() != 4 + 2 * left_size * right_size {
            return Err("matrix.bin is damaged".into());
        }
        let content = (*characters).as_ref();
        let n_kinds = u32_at(content, 0).ok_or("char.bin is cut off")? as usize;
        let first = n_kinds.checked_mul(32).and_then(|names| names.checked_add(4));
        let infos = first.and_then(|first| content.get(first..)).ok_or("char.bin is cut off")?;
        if infos.len() != 4 * 0xffff {
            return Err("char.bin is damaged".into());
        }
        let kinds: Vec<CharInfo> =
            infos.as_chunks().0.iter().map(|info| CharInfo(u32::from_le_bytes(*info))).collect();
        let names = content.get(4..4 + 32 * n_kinds).unwrap_or_default().chunks(32);
        let unknown: Vec<Vec<Entry>> = names
            .map(|name| {
                let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
                let mut entries = Vec::new();
                unknown.prefixes(name, |length, entry| {
                    if length == name.len() {
                        entries.push(entry);
                    }
                });
                entries
            })
            .collect();
        if kinds.iter().any(|kind| unknown.get(kind.default_kind()).is_none_or(Vec::is_empty)) {
            return Err("unk.dic lacks a kind of characters that char.bin names".into());
        }
        let penalties = penalties(&settings)?;
        Ok(Self { system, matrix, left_size, right_size, kinds, unknown, penalties })
    }

    pub(super) fn n_entries(&self) -> u32 {
        self.system.n_entries
    }

    pub(super) fn prefixes(&self, text: &[u8], found: impl FnMut(usize, Entry)) {
        self.system.prefixes(text, found);
    }

    /// The entries of unknown words that begin with a character with the properties `info`.
    pub(super) fn unknown(&self, info: CharInfo) -> &[Entry] {
        self.unknown.get(info.default_kind()).map_or(&[], Vec::as_slice)
    }

    /// The properties of a character. As in MeCab, characters above U+FFFF are treated as U+0000, and U+FFFF
    /// itself, for which the table has no room, has no properties.
    pub(super) fn info(&self, c: char) -> CharInfo {
        let at = if c > '\u{ffff}' { 0 } else { c as usize };
        self.kinds.get(at).copied().unwrap_or_default()
    }

    /// The cost of `next` after a word of the class `right`.
    pub(super) fn cost(&self, right: u16, next: Entry, after_space: bool) -> i64 {
        let (right, left) = (usize::from(right), usize::from(next.left));
        let at =
            if right < self.left_size && left < self.right_size { right + self.left_size * left } else { 0 };
        let pair = u16_at((*self.matrix).as_ref(), 4 + 2 * at).map_or(0, u16::cast_signed);
        let penalty = match after_space {
            true => {
                self.penalties.iter().find(|(class, _)| *class == next.class).map_or(0, |(_, cost)| *cost)
            }
            false => 0,
        };
        i64::from(pair) + i64::from(next.cost) + penalty
    }

    /// The properties of U+0020.
    pub(super) fn space(&self) -> CharInfo {
        self.info(' ')
    }
}

/// Parses mecab-ko's `left-space-penalty-factor`: part-of-speech classes and their additional costs after a
/// space.
fn penalties(settings: &str) -> Result<Vec<(u16, i64)>, Refusal> {
    let line = settings.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == "left-space-penalty-factor").then_some(value)
    });
    let Some(line) = line else { return Ok(Vec::new()) };
    let numbers: Result<Vec<i64>, _> = line.split(',').map(|number| number.trim().parse()).collect();
    let numbers = numbers.map_err(|_| "dicrc: left-space-penalty-factor is not a list of numbers")?;
    Ok(numbers
        .as_chunks()
        .0
        .iter()
        .filter_map(|[class, cost]| Some((u16::try_from(*class).ok()?, *cost)))
        .collect())
}
