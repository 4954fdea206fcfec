//! The sections of METEOR's compiled file: their numbers, and the fingerprint of their content.

use std::fmt;
use std::io::{self, Write};

use capeval_arrays::Format;

use crate::language::Language;

/// The file format; the version increases whenever the meaning of the bytes changes.
pub(super) const FORMAT: Format = Format { magic: *b"CAPMETEO", version: 1, noun: "METEOR resources" };

/// The purpose of an array.
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
}

/// The name of an array: its purpose, its language, and the part of a compound structure.
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

    /// The number of the section.
    pub(super) fn number(self) -> u32 {
        u32::from_be_bytes([0, self.kind, self.language, self.part])
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "array {}/{}/{} of METEOR's resource file", self.kind, self.language, self.part)
    }
}

/// The length of the trailer after the numbers of each section: the width of a number, and zeros so that
/// every number can be read as four bytes.
pub(super) const TRAILER: usize = 4;

/// Collects arrays and writes them as one file.
#[derive(Default)]
pub(super) struct Writer {
    arrays: Vec<(Key, usize, Vec<u8>)>,
}

impl Writer {
    /// Adds numbers of `width` bytes each.
    pub(super) fn push(&mut self, key: Key, width: usize, bytes: Vec<u8>) {
        self.arrays.push((key, width, bytes));
    }

    pub(super) fn write(mut self, out: impl Write) -> io::Result<()> {
        self.arrays.sort_by_key(|array| array.0);
        let fingerprint = fingerprint(&self.arrays);
        let mut writer = capeval_arrays::Writer::default();
        for (key, width, mut bytes) in self.arrays {
            bytes.extend_from_slice(&[0, 0, 0, width as u8]);
            writer.section(key.number(), bytes);
        }
        writer.write(&FORMAT, &fingerprint, out)
    }
}

/// The content hash that signatures contain: the CRC-32 of the names, widths and hashes of all arrays.
fn fingerprint(arrays: &[(Key, usize, Vec<u8>)]) -> String {
    let mut hash = crc32fast::Hasher::new();
    for (key, width, bytes) in arrays {
        hash.update(&[key.kind, key.language, key.part, *width as u8]);
        hash.update(&crc32fast::hash(bytes).to_le_bytes());
    }
    format!("{:08x}", hash.finalize())
}
