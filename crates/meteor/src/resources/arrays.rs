//! Arrays that are read in place: packed numbers, bits with rank, strings with a hash index, lists.
//!
//! Each type here is only a position in the file, so every method takes the whole file. All access is
//! checked: an index out of range gives `None`, so a damaged file can cause wrong answers but no panic.

use capeval_arrays::Reader;
use capeval_choice::Refusal;

use super::sections::{Key, TRAILER, Writer};
use crate::error::damaged;

/// Unsigned numbers of one to four bytes each, little-endian.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PackedNumbers {
    start: usize,
    len: usize,
    width: usize,
    mask: u32,
}

impl PackedNumbers {
    pub(super) fn open(reader: &Reader, key: Key) -> Result<Self, Refusal> {
        let section = reader.section(key.number()).ok_or_else(|| damaged(format!("{key} is missing")))?;
        let bytes = section.len().checked_sub(TRAILER);
        let width = section.end.checked_sub(1).and_then(|last| reader.bytes().get(last)).copied();
        match (bytes, width.map(usize::from)) {
            (Some(bytes), Some(width @ 1..=4)) if bytes.is_multiple_of(width) => {
                let mask = u32::MAX >> (32 - 8 * width);
                Ok(Self { start: section.start, len: bytes / width, width, mask })
            }
            _ => Err(damaged(format!("{key} has an invalid size"))),
        }
    }

    pub(super) fn len(self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn get(self, file: &[u8], index: usize) -> Option<u32> {
        if index >= self.len {
            return None;
        }
        let start = self.start + index * self.width;
        let bytes = file.get(start..start + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) & self.mask)
    }

    /// The position of `wanted` among the ascending numbers of `range`.
    pub(super) fn search(self, file: &[u8], range: std::ops::Range<usize>, wanted: u32) -> Option<usize> {
        let (mut low, mut high) = (range.start, range.end.min(self.len));
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.get(file, middle)?.cmp(&wanted) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    /// Writes `values` with as few bytes each as the largest value needs.
    pub(super) fn write(writer: &mut Writer, key: Key, values: &[u32]) {
        let largest = values.iter().copied().max().unwrap_or(0);
        let width = (1..4).find(|width| largest < 1 << (8 * width)).unwrap_or(4);
        let bytes = values.iter().flat_map(|value| value.to_le_bytes().into_iter().take(width)).collect();
        writer.push(key, width, bytes);
    }
}

/// Bits with rank: the number of set bits before a position.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bits {
    words: PackedNumbers,
    ranks: PackedNumbers,
}

/// The number of 32-bit words between two stored ranks.
const BLOCK: usize = 16;

impl Bits {
    pub(super) fn open(reader: &Reader, key: Key) -> Result<Self, Refusal> {
        Ok(Self {
            words: PackedNumbers::open(reader, key)?,
            ranks: PackedNumbers::open(reader, key.part(1))?,
        })
    }

    /// Returns true if the bit at `index` is set.
    #[inline]
    pub(super) fn is_set(self, file: &[u8], index: usize) -> bool {
        self.words.get(file, index / 32).is_some_and(|bits| bits >> (index % 32) & 1 == 1)
    }

    /// The number of set bits before `index`; `None` unless the bit at `index` itself is set.
    #[inline]
    pub(super) fn rank_if_set(self, file: &[u8], index: usize) -> Option<usize> {
        let (word, bit) = (index / 32, index % 32);
        let bits = self.words.get(file, word)?;
        if bits >> bit & 1 == 0 {
            return None;
        }
        let mut rank = self.ranks.get(file, word / BLOCK)?;
        for before in word / BLOCK * BLOCK..word {
            rank = rank.wrapping_add(self.words.get(file, before)?.count_ones());
        }
        Some(rank.wrapping_add((bits & ((1 << bit) - 1)).count_ones()) as usize)
    }

    pub(super) fn write(writer: &mut Writer, key: Key, bits: impl ExactSizeIterator<Item = bool>) {
        let mut words = vec![0u32; bits.len().div_ceil(32)];
        for (index, set) in bits.enumerate() {
            words[index / 32] |= u32::from(set) << (index % 32);
        }
        let mut rank = 0;
        let ranks: Vec<u32> = words
            .chunks(BLOCK)
            .map(|block| {
                let before = rank;
                rank += block.iter().map(|word| word.count_ones()).sum::<u32>();
                before
            })
            .collect();
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        writer.push(key, 4, bytes);
        PackedNumbers::write(writer, key.part(1), &ranks);
    }
}

/// Strings in a fixed order, with a stored hash index.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Strings {
    text: PackedNumbers,
    ends: PackedNumbers,
    slots: PackedNumbers,
}

/// 64-bit FNV-1a, folded to 32 bits. It determines positions in the file, so it must never change.
fn string_hash(text: &[u8]) -> u32 {
    let hash = text.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ hash >> 32) as u32
}

impl Strings {
    pub(super) fn open(reader: &Reader, key: Key) -> Result<Self, Refusal> {
        let strings = Self {
            text: PackedNumbers::open(reader, key)?,
            ends: PackedNumbers::open(reader, key.part(1))?,
            slots: PackedNumbers::open(reader, key.part(2))?,
        };
        if strings.slots.len().is_power_of_two() && strings.text.width == 1 {
            Ok(strings)
        } else {
            Err(damaged(format!("{key}: the string index has an invalid size")))
        }
    }

    pub(super) fn len(self) -> usize {
        self.ends.len()
    }

    /// String `index`.
    pub(super) fn get(self, file: &[u8], index: usize) -> Option<&[u8]> {
        let start = if index == 0 { 0 } else { self.ends.get(file, index - 1)? as usize };
        let end = self.ends.get(file, index)? as usize;
        if end > self.text.len() {
            return None;
        }
        file.get(self.text.start + start..self.text.start + end)
    }

    /// The index of `text`.
    pub(super) fn find(self, file: &[u8], text: &[u8]) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mut slot = string_hash(text) as usize & mask;
        for _ in 0..=mask {
            let index = self.slots.get(file, slot)?.checked_sub(1)?;
            if self.get(file, index as usize)? == text {
                return Some(index);
            }
            slot = (slot + 1) & mask;
        }
        None
    }

    pub(super) fn write<'t>(writer: &mut Writer, key: Key, strings: impl Iterator<Item = &'t [u8]> + Clone) {
        let mut text = Vec::new();
        let mut ends = Vec::new();
        for string in strings.clone() {
            text.extend_from_slice(string);
            ends.push(text.len() as u32);
        }
        let n_slots = (ends.len() + ends.len() / 2 + 1).next_power_of_two();
        let mut slots = vec![0u32; n_slots];
        for (index, string) in strings.enumerate() {
            let mut slot = string_hash(string) as usize & (n_slots - 1);
            while slots[slot] != 0 {
                slot = (slot + 1) & (n_slots - 1);
            }
            slots[slot] = index as u32 + 1;
        }
        writer.push(key, 1, text);
        PackedNumbers::write(writer, key.part(1), &ends);
        PackedNumbers::write(writer, key.part(2), &slots);
    }
}

/// One list of numbers for each key in `0..n`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lists {
    ends: PackedNumbers,
    values: PackedNumbers,
}

impl Lists {
    pub(super) fn open(reader: &Reader, key: Key) -> Result<Self, Refusal> {
        Ok(Self {
            ends: PackedNumbers::open(reader, key)?,
            values: PackedNumbers::open(reader, key.part(1))?,
        })
    }

    pub(super) fn len(self) -> usize {
        self.ends.len()
    }

    /// Returns true if the lists are contiguous and together cover the values, as in every file that was written
    /// correctly; in a damaged file, every list may span all values.
    pub(super) fn is_whole(self, file: &[u8]) -> bool {
        let mut before = 0;
        let ascending = (0..self.ends.len()).all(|index| {
            let end = self.ends.get(file, index).unwrap_or(0);
            std::mem::replace(&mut before, end) <= end
        });
        ascending && before as usize == self.values.len()
    }

    /// The range of list `index` among the values; empty if out of range.
    pub(super) fn range(self, file: &[u8], index: usize) -> std::ops::Range<usize> {
        let start = if index == 0 { Some(0) } else { self.ends.get(file, index - 1) };
        match (start, self.ends.get(file, index)) {
            (Some(start), Some(end)) => start as usize..(end as usize).min(self.values.len()),
            _ => 0..0,
        }
    }

    /// The numbers of list `index`; none if out of range.
    pub(super) fn get(self, file: &[u8], index: usize) -> impl Iterator<Item = u32> {
        self.range(file, index).map_while(move |at| self.values.get(file, at))
    }

    pub(super) fn write(writer: &mut Writer, key: Key, ends: &[u32], values: &[u32]) {
        PackedNumbers::write(writer, key, ends);
        PackedNumbers::write(writer, key.part(1), values);
    }
}
