//! The container: a header, a table of arrays with their checksums, the arrays.
//!
//! ```text
//! 0   8 bytes   "CAPMETEO"
//! 8   u32       format version
//! 12  u32       number of arrays
//! 16  u64       length of the whole file
//! 24  u32       CRC-32 of the table
//! 28  u32       CRC-32 of the 28 bytes before
//! 32  24 bytes  per array: kind u8, language u8, part u8, width u8, CRC-32 u32, start u64, elements u64
//! …   arrays, each from a multiple of 64 bytes on; after the last, four zero bytes
//! ```
//! All numbers are little-endian. The same input gives the same bytes.

use std::fmt;
use std::io::Write;

use super::arrays::PADDING;
use crate::error::Error;
use crate::language::Language;

const MAGIC: [u8; 8] = *b"CAPMETEO";

/// Raised whenever the meaning of the bytes changes; files of another version are refused.
pub(super) const VERSION: u32 = 1;

const HEADER: usize = 32;
const ENTRY: usize = 24;
const ALIGNMENT: usize = 64;

/// What an array is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Kind {
    Notice = 1,
    FunctionWords = 2,
    Prefixes = 3,
    NumericPrefixes = 4,
    StemTable = 5,
    Lemmas = 6,
    LemmaSynsets = 7,
    Forms = 8,
    FormSynsets = 9,
    ParaphraseWords = 10,
    PhraseLabels = 11,
    PhraseParents = 12,
    PhraseChildren = 13,
    PhraseSources = 14,
    PhraseTargets = 15,
    PhraseMembers = 16,
    PhraseEdges = 17,
}

/// The name of an array: what for, which language, which part of a compound structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    kind: u8,
    language: u8,
    part: u8,
}

impl Key {
    pub(super) fn new(kind: Kind, language: Language) -> Self {
        Self { kind: kind as u8, language: language as u8, part: 0 }
    }

    pub(super) fn part(self, part: u8) -> Self {
        Self { part: self.part + part, ..self }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "array {}/{}/{} of METEOR's resource file", self.kind, self.language, self.part)
    }
}

/// Where an array lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// First byte.
    pub(super) start: usize,
    /// Number of elements.
    pub(super) len: usize,
    /// Bytes per element, 1 to 4.
    pub(super) width: usize,
}

/// The table of arrays, checked against the file's length.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// In ascending order of key.
    entries: Vec<(Key, Entry, u32)>,
    checksum: u32,
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn usize_at(bytes: &[u8], at: usize) -> Option<usize> {
    u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?).try_into().ok()
}

impl Table {
    /// Reads and checks header and table.
    pub(super) fn read(file: &[u8]) -> Result<Self, Error> {
        let cut = || Error::damaged("METEOR's resource file is cut off");
        if file.get(..8).is_none_or(|magic| magic != MAGIC) {
            return Err(Error::damaged("this is no compiled METEOR resource file"));
        }
        let version = u32_at(file, 8).ok_or_else(cut)?;
        if version != VERSION {
            return Err(Error::version(format!(
                "METEOR's resource file has format version {version}, this program needs {VERSION}"
            )));
        }
        let header = file.get(..28).ok_or_else(cut)?;
        if u32_at(file, 28) != Some(crc32fast::hash(header)) {
            return Err(Error::damaged("METEOR's resource file is damaged in its header"));
        }
        let n = u32_at(file, 12).ok_or_else(cut)? as usize;
        let checksum = u32_at(file, 24).ok_or_else(cut)?;
        if usize_at(file, 16) != Some(file.len()) {
            return Err(cut());
        }
        let table = n.checked_mul(ENTRY).and_then(|len| file.get(HEADER..HEADER.checked_add(len)?));
        let table = table.ok_or_else(cut)?;
        if crc32fast::hash(table) != checksum {
            return Err(Error::damaged("METEOR's resource file is damaged in its table"));
        }
        let mut entries = Vec::with_capacity(n);
        for row in table.chunks_exact(ENTRY) {
            let key = Key { kind: row[0], language: row[1], part: row[2] };
            let width = usize::from(row[3]);
            let (Some(crc), Some(start), Some(len)) = (u32_at(row, 4), usize_at(row, 8), usize_at(row, 16))
            else {
                return Err(cut());
            };
            let end = len.checked_mul(width).and_then(|size| start.checked_add(size)?.checked_add(PADDING));
            if !(1..=4).contains(&width) || end.is_none_or(|end| end > file.len()) {
                return Err(Error::damaged(format!("{key} lies outside the file")));
            }
            entries.push((key, Entry { start, len, width }, crc));
        }
        if entries.is_sorted_by(|a, b| a.0 < b.0) {
            Ok(Self { entries, checksum })
        } else {
            Err(Error::damaged("the table of METEOR's resource file is out of order"))
        }
    }

    /// A checksum over the checksums of all arrays: what the file's content is known by.
    pub(super) fn checksum(&self) -> u32 {
        self.checksum
    }

    /// Whether the file has this array.
    pub(super) fn has(&self, key: Key) -> bool {
        self.entries.binary_search_by_key(&key, |entry| entry.0).is_ok()
    }

    /// Where an array lies.
    pub(super) fn entry(&self, key: Key) -> Result<Entry, Error> {
        match self.entries.binary_search_by_key(&key, |entry| entry.0) {
            Ok(at) => Ok(self.entries[at].1),
            Err(_) => Err(Error::damaged(format!("{key} is missing"))),
        }
    }

    /// Compares every array with its checksum.
    pub(super) fn verify(&self, file: &[u8]) -> Result<(), Error> {
        for (key, entry, crc) in &self.entries {
            let bytes = file.get(entry.start..entry.start + entry.len * entry.width).unwrap_or(&[]);
            if crc32fast::hash(bytes) != *crc {
                return Err(Error::damaged(format!("{key} is damaged")));
            }
        }
        Ok(())
    }
}

/// Makes length and checksums of a changed file right again, so that tests and fuzzers get past them; false if
/// there is not even a header.
pub fn reseal(file: &mut [u8]) -> bool {
    if file.len() < HEADER {
        return false;
    }
    let length = file.len() as u64;
    file[16..24].copy_from_slice(&length.to_le_bytes());
    let n = u32_at(file, 12).unwrap_or(0) as usize;
    let len = file.len();
    for row in (0..n).map(|k| HEADER + k * ENTRY).take_while(|row| row + ENTRY <= len) {
        let width = usize::from(file[row + 3]);
        let place = usize_at(file, row + 8).zip(usize_at(file, row + 16));
        let bytes =
            place.and_then(|(start, len)| file.get(start..start.checked_add(len.checked_mul(width)?)?));
        let checksum = crc32fast::hash(bytes.unwrap_or(&[]));
        file[row + 4..row + 8].copy_from_slice(&checksum.to_le_bytes());
    }
    let end = n.saturating_mul(ENTRY).saturating_add(HEADER).min(file.len());
    let checksum = crc32fast::hash(&file[HEADER..end]);
    file[24..28].copy_from_slice(&checksum.to_le_bytes());
    let checksum = crc32fast::hash(&file[..28]);
    file[28..32].copy_from_slice(&checksum.to_le_bytes());
    true
}

/// Collects arrays and writes them as one file.
#[derive(Default)]
pub(super) struct Writer {
    arrays: Vec<(Key, usize, usize, Vec<u8>)>,
}

impl Writer {
    pub(super) fn push(&mut self, key: Key, width: usize, len: usize, bytes: Vec<u8>) {
        self.arrays.push((key, width, len, bytes));
    }

    /// Writes the file; `progress` hears the bytes written so far and their total.
    pub(super) fn write(
        mut self,
        mut out: impl Write,
        progress: &mut dyn FnMut(u64, u64),
    ) -> std::io::Result<()> {
        self.arrays.sort_by_key(|array| array.0);
        let mut at = HEADER + ENTRY * self.arrays.len();
        let mut table = Vec::new();
        for (key, width, len, bytes) in &self.arrays {
            at = at.next_multiple_of(ALIGNMENT);
            table.extend_from_slice(&[key.kind, key.language, key.part, *width as u8]);
            table.extend_from_slice(&crc32fast::hash(bytes).to_le_bytes());
            table.extend_from_slice(&(at as u64).to_le_bytes());
            table.extend_from_slice(&(*len as u64).to_le_bytes());
            at += bytes.len();
        }
        let total = at + PADDING;
        let mut header = Vec::from(MAGIC);
        header.extend_from_slice(&VERSION.to_le_bytes());
        header.extend_from_slice(&(self.arrays.len() as u32).to_le_bytes());
        header.extend_from_slice(&(total as u64).to_le_bytes());
        header.extend_from_slice(&crc32fast::hash(&table).to_le_bytes());
        header.extend_from_slice(&crc32fast::hash(&header).to_le_bytes());
        out.write_all(&header)?;
        out.write_all(&table)?;
        let mut at = header.len() + table.len();
        for (.., bytes) in &self.arrays {
            let start = at.next_multiple_of(ALIGNMENT);
            out.write_all(&[0; ALIGNMENT][..start - at])?;
            out.write_all(bytes)?;
            at = start + bytes.len();
            progress(at as u64, total as u64);
        }
        out.write_all(&[0; PADDING])?;
        out.flush()
    }
}
