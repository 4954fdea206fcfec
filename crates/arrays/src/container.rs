//! A file of plain arrays that can be used directly from memory.
//!
//! Layout, little-endian, every array aligned to 64 bytes:
//!
//! | bytes | content |
//! |---|---|
//! | 8 | magic |
//! | 4, 4 | format version; 0x01020304 in the byte order of the writing machine |
//! | 8 | length of the file |
//! | 8 | checksum of all other bytes |
//! | 8, 8 | length of the description; number of arrays |
//! | 8 | 1 if the last array contains the ascending numbers of those before it, 0 if they are numbered from 0 |
//! | 8 | reserved, zero |
//! | 16 each | offset and length of every array |
//! | … | the description, then the arrays |
//!
//! Equal arrays give equal bytes.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;

use bytemuck::Pod;
use rayon::prelude::*;
use twox_hash::XxHash3_64;

use crate::{Buffer, SharedBytes};

const HEADER: usize = 64;
/// The offset of the checksum in the header.
const CHECKSUM: usize = 24;
const ALIGN: usize = 64;
const ORDER_MARK: u32 = 0x0102_0304;
/// Checksums are computed for pieces of this many bytes, on all threads.
const PIECE: usize = 4 << 20;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The first eight bytes.
    pub magic: [u8; 8],
    /// The version of the arrays; files of another version are refused.
    pub version: u32,
    /// The content of the file, for error messages: `prepared references`.
    pub noun: &'static str,
}

/// The reason why a file is not the expected container.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

impl Error {
    /// An error for users of the sections.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// Collects arrays and writes them to a file.
#[derive(Default)]
pub struct Writer<'a> {
    sections: Vec<(u32, Cow<'a, [u8]>)>,
}

impl<'a> Writer<'a> {
    /// Appends an array that is borrowed until it is written; its number is its position.
    pub fn array<T: Pod>(&mut self, values: &'a [T]) {
        self.push(Cow::Borrowed(bytemuck::cast_slice(values)));
    }

    /// Appends an array that is copied.
    pub fn owned<T: Pod>(&mut self, values: &[T]) {
        self.push(Cow::Owned(bytemuck::cast_slice(values).to_vec()));
    }

    fn push(&mut self, bytes: Cow<'a, [u8]>) {
        self.sections.push((self.sections.len() as u32, bytes));
    }

    /// Adds bytes under the given number, which must not be in use yet.
    pub fn section(&mut self, number: u32, bytes: Vec<u8>) {
        self.sections.push((number, Cow::Owned(bytes)));
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn write(mut self, format: &Format, description: &str, mut out: impl Write) -> io::Result<()> {
        self.sections.sort_by_key(|section| section.0);
        let numbers: Vec<u32> = self.sections.iter().map(|section| section.0).collect();
        let is_numbered = numbers.iter().zip(0..).any(|(number, place)| *number != place);
        if is_numbered {
            self.push(Cow::Owned(numbers.iter().flat_map(|number| number.to_le_bytes()).collect()));
        }
        let mut front = Vec::new();
        let mut at = HEADER + 16 * self.sections.len() + description.len();
        for (_, bytes) in &self.sections {
            at = at.next_multiple_of(ALIGN);
            front.extend_from_slice(&(at as u64).to_le_bytes());
            front.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            at += bytes.len();
        }
        front.extend_from_slice(description.as_bytes());
        let length = at;
        // The checksum precedes the body in the file, so the body is processed twice.
        let mut checksum = Checksum::default();
        self.body(&front, |bytes| {
            checksum.update(bytes);
            Ok(())
        })?;
        let mut header = Vec::with_capacity(HEADER);
        header.extend_from_slice(&format.magic);
        header.extend_from_slice(&format.version.to_le_bytes());
        header.extend_from_slice(&ORDER_MARK.to_ne_bytes());
        header.extend_from_slice(&(length as u64).to_le_bytes());
        header.extend_from_slice(&[0; 8]);
        header.extend_from_slice(&(description.len() as u64).to_le_bytes());
        header.extend_from_slice(&(self.sections.len() as u64).to_le_bytes());
        header.extend_from_slice(&u64::from(is_numbered).to_le_bytes());
        header.resize(HEADER, 0);
        let checksum = checksum.finish(&header);
        header[CHECKSUM..CHECKSUM + 8].copy_from_slice(&checksum.to_le_bytes());
        out.write_all(&header)?;
        self.body(&front, |bytes| out.write_all(bytes))?;
        out.flush()
    }

    /// Passes everything after the header to `take`, piece by piece.
    fn body(&self, front: &[u8], mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        take(front)?;
        let mut length = HEADER + front.len();
        for (_, bytes) in &self.sections {
            let gap = length.next_multiple_of(ALIGN) - length;
            take(&[0; ALIGN][..gap])?;
            take(bytes)?;
            length += gap + bytes.len();
        }
        Ok(())
    }
}

/// The sections of a container, accessible in the order of writing or by number.
pub struct Reader {
    bytes: SharedBytes,
    /// Ascending numbers, and the ranges of the arrays.
    sections: Vec<(u32, Range<usize>)>,
    /// The index of the array to read next.
    next: usize,
    description: String,
    noun: &'static str,
}

impl Reader {
    /// Opens a container and verifies it.
    ///
    /// # Errors
    /// If the bytes are not such a file, have another version, or are truncated or damaged.
    pub fn open(format: &Format, bytes: SharedBytes) -> Result<Self, Error> {
        let reader = Self::open_unverified(format, bytes)?;
        reader.verify()?;
        Ok(reader)
    }

    /// Verifies the checksum of all bytes.
    ///
    /// # Errors
    /// If it is wrong.
    pub fn verify(&self) -> Result<(), Error> {
        let all = self.bytes();
        if u64_at(all, CHECKSUM) == checksum(all) {
            return Ok(());
        }
        Err(Error(format!("this file of {} is damaged: its checksum is wrong", self.noun)))
    }

    /// Opens a container of which only the header and the table of contents are checked, which takes no time.
    ///
    /// # Errors
    /// If the bytes are not such a file, have another version, are truncated, or the table of contents is damaged.
    pub fn open_unverified(format: &Format, bytes: SharedBytes) -> Result<Self, Error> {
        let noun = format.noun;
        let all: &[u8] = (*bytes).as_ref();
        let refuse = |why: String| Err(Error(why));
        if all.get(..8) != Some(&format.magic[..]) {
            return refuse(format!("this is not a file of {noun}"));
        }
        if all.len() < HEADER {
            return refuse(format!("this file of {noun} is cut off"));
        }
        let (u32_at, u64_at) = (|at| u32_at(all, at), |at| u64_at(all, at));
        if u32_at(8) != format.version {
            return refuse(format!(
                "this file of {noun} has format version {}, and this program reads version {}",
                u32_at(8),
                format.version
            ));
        }
        if u32_at(12).to_le_bytes() != ORDER_MARK.to_ne_bytes() {
            return refuse(format!("this file of {noun} comes from a machine of the other byte order"));
        }
        if u64_at(16) != all.len() as u64 {
            let (has, whole) = (all.len(), u64_at(16));
            return refuse(format!("this file of {noun} is cut off: it has {has} bytes instead of {whole}"));
        }
        let damaged = || Error(format!("the table of contents of this file of {noun} is damaged"));
        let (description_len, n_arrays) = (u64_at(32), u64_at(40));
        let directory_end =
            n_arrays.checked_mul(16).and_then(|n| n.checked_add(HEADER as u64)).ok_or_else(damaged)?;
        let description_end = directory_end.checked_add(description_len).ok_or_else(damaged)?;
        if description_end > all.len() as u64 {
            return Err(damaged());
        }
        let description = std::str::from_utf8(&all[directory_end as usize..description_end as usize])
            .map_err(|_| damaged())?
            .to_owned();
        let place = |k: usize| {
            let (start, len) = (u64_at(HEADER + 16 * k), u64_at(HEADER + 16 * k + 8));
            let range = usize::try_from(start).ok()?..usize::try_from(start.checked_add(len)?).ok()?;
            (range.end <= all.len()).then_some(range)
        };
        let places = (0..n_arrays as usize).map(place).collect::<Option<Vec<_>>>();
        let mut places = places.ok_or_else(damaged)?;
        let numbers: Vec<u32> = if u64_at(48) == 0 {
            (0..places.len() as u32).collect()
        } else {
            let (numbers, rest) = all[places.pop().ok_or_else(damaged)?].as_chunks();
            let numbers: Vec<u32> = numbers.iter().map(|number| u32::from_le_bytes(*number)).collect();
            let is_sound = rest.is_empty() && numbers.len() == places.len();
            if !is_sound || !numbers.is_sorted_by(|a, b| a < b) {
                return Err(damaged());
            }
            numbers
        };
        let sections = numbers.into_iter().zip(places).collect();
        Ok(Self { bytes, sections, next: 0, description, noun })
    }

    /// The description that was written with the arrays.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The whole file.
    pub fn bytes(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }

    /// The range of the section with this number in [`bytes`](Self::bytes).
    pub fn section(&self, number: u32) -> Option<Range<usize>> {
        let at = self.sections.binary_search_by_key(&number, |section| section.0).ok()?;
        Some(self.sections[at].1.clone())
    }

    /// The next array, in the order of writing.
    ///
    /// # Errors
    /// If there is none, or its length or alignment does not suit `T`.
    pub fn array<T: Pod>(&mut self) -> Result<Buffer<T>, Error> {
        let section = self.sections.get(self.next);
        self.next += 1;
        section
            .and_then(|(_, range)| Buffer::shared(self.bytes.clone(), range.clone()))
            .ok_or_else(|| self.unsound())
    }

    /// The error for inconsistent arrays.
    pub fn unsound(&self) -> Error {
        Error(format!("the arrays of this file of {} are inconsistent", self.noun))
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// Corrects length and checksum of a modified file, so that tests and fuzzers get past them; returns false if
/// the header is incomplete.
pub fn reseal(file: &mut [u8]) -> bool {
    if file.len() < HEADER {
        return false;
    }
    let length = file.len() as u64;
    file[16..24].copy_from_slice(&length.to_le_bytes());
    let checksum = checksum(file);
    file[CHECKSUM..CHECKSUM + 8].copy_from_slice(&checksum.to_le_bytes());
    true
}

/// The checksum of a whole file, computed from the checksums of its pieces.
fn checksum(bytes: &[u8]) -> u64 {
    let (header, body) = bytes.split_at(HEADER);
    let pieces: Vec<u64> = body.par_chunks(PIECE).map(XxHash3_64::oneshot).collect();
    finish(header, &pieces)
}

/// Combines the checksums of the pieces with the header, without its checksum field.
fn finish(header: &[u8], pieces: &[u64]) -> u64 {
    let mut bytes = header.to_vec();
    bytes[CHECKSUM..CHECKSUM + 8].fill(0);
    bytes.extend(pieces.iter().flat_map(|piece| piece.to_le_bytes()));
    XxHash3_64::oneshot(&bytes)
}

/// As [`checksum`], for bytes that arrive in parts.
#[derive(Default)]
struct Checksum {
    piece: Vec<u8>,
    pieces: Vec<u64>,
}

impl Checksum {
    fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(PIECE - self.piece.len()));
            self.piece.extend_from_slice(now);
            bytes = later;
            if self.piece.len() == PIECE {
                self.pieces.push(XxHash3_64::oneshot(&self.piece));
                self.piece.clear();
            }
        }
    }

    fn finish(mut self, header: &[u8]) -> u64 {
        if !self.piece.is_empty() {
            self.pieces.push(XxHash3_64::oneshot(&self.piece));
        }
        finish(header, &self.pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    const FORMAT: Format = Format { magic: *b"testfile", version: 3, noun: "test arrays" };

    fn written() -> Vec<u8> {
        let (numbers, bytes) = (vec![1u32, 2, 3], vec![7u8; 5]);
        let mut writer = Writer::default();
        writer.array(&numbers);
        writer.owned(&bytes);
        writer.owned::<u64>(&[]);
        let mut out = Vec::new();
        writer.write(&FORMAT, "{}", &mut out).unwrap();
        out
    }

    /// A file of numbered sections, which are pushed in the given order.
    fn numbered() -> Vec<u8> {
        let write = |order: [u32; 3]| {
            let mut writer = Writer::default();
            for number in order {
                writer.section(number, vec![number as u8; 3]);
            }
            let mut out = Vec::new();
            writer.write(&FORMAT, "numbered", &mut out).unwrap();
            out
        };
        let file = write([7, 200, 1]);
        assert!(file == write([1, 7, 200]));
        file
    }

    /// A vector whose bytes start at a multiple of 64, like those of a memory map.
    struct Mapped(Vec<u8>, usize, usize);

    impl AsRef<[u8]> for Mapped {
        fn as_ref(&self) -> &[u8] {
            &self.0[self.1..self.1 + self.2]
        }
    }

    fn open(bytes: &[u8]) -> Result<Reader, Error> {
        let mut room = vec![0; bytes.len() + ALIGN];
        let start = room.as_ptr().align_offset(ALIGN);
        room[start..start + bytes.len()].copy_from_slice(bytes);
        Reader::open(&FORMAT, Arc::new(Mapped(room, start, bytes.len())))
    }

    #[test]
    fn arrays_come_back_in_order() {
        let mut reader = open(&written()).unwrap();
        assert_eq!(reader.description(), "{}");
        assert_eq!(*reader.array::<u32>().unwrap(), [1, 2, 3]);
        assert_eq!(*reader.array::<u8>().unwrap(), [7; 5]);
        assert!(reader.array::<u64>().unwrap().is_empty());
        assert!(reader.array::<u64>().is_err());
    }

    #[test]
    fn sections_come_back_by_number() {
        let reader = open(&numbered()).unwrap();
        for number in [1, 7, 200] {
            assert_eq!(reader.bytes()[reader.section(number).unwrap()], [number as u8; 3]);
        }
        assert!(reader.section(0).is_none() && reader.section(3).is_none());
        assert!(open(&written()).unwrap().section(1).is_some());
    }

    #[test]
    fn every_truncation_and_every_flipped_bit_is_refused() {
        for good in [written(), numbered()] {
            for length in 0..good.len() {
                assert!(open(&good[..length]).is_err(), "cut to {length} bytes");
            }
            for bit in 0..good.len() * 8 {
                let mut bad = good.clone();
                bad[bit / 8] ^= 1 << (bit % 8);
                assert!(open(&bad).is_err(), "bit {bit}");
                let unverified = Reader::open_unverified(&FORMAT, Arc::new(bad));
                assert!(unverified.and_then(|reader| reader.verify()).is_err(), "bit {bit}");
            }
        }
    }

    #[test]
    fn damage_with_a_correct_checksum_does_not_panic() {
        let good = numbered();
        for at in 0..good.len() {
            for value in [0, 1, 0x7F, 0xFF] {
                let mut bad = good.clone();
                bad[at] = value;
                assert!(reseal(&mut bad));
                if let Ok(mut reader) = open(&bad) {
                    let _ = (reader.array::<u32>(), reader.section(7), reader.section(200));
                }
            }
        }
    }

    #[test]
    fn each_reason_has_its_own_message() {
        let good = written();
        let message = |bytes: &[u8]| open(bytes).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(message(b"{\"annotations\": []}").contains("not a file of test arrays"));
        assert!(message(&good[..good.len() - 1]).contains("cut off"));
        let mut other = good.clone();
        other[8] = 9;
        assert!(message(&other).contains("format version 9"));
        let mut damaged = good;
        *damaged.last_mut().unwrap() ^= 1;
        assert!(message(&damaged).contains("checksum"));
    }
}
