//! A file of plain arrays that can be used directly from memory.
//!
//! Layout, little-endian, every array aligned to 64 bytes:
//!
//! | bytes | content |
//! |---|---|
//! | 8 | magic |
//! | 4, 4 | format version; 0x01020304 in the byte order of the writing machine |
//! | 8 | length of the file |
//! | 8 | checksum of all other bytes; with checked pieces, of those before the arrays and of the last array |
//! | 8, 8 | length of the description; number of arrays |
//! | 8 | 1 if the last array contains the ascending numbers of those before it, 0 if they are numbered from 0 |
//! | 8 | the length of a checked piece; 0 if there is one checksum for the whole file |
//! | 16 each | offset and length of every array |
//! | … | the description, then the arrays |
//!
//! A file with checked pieces has one more array after all others: the checksum of each piece of the bytes between the
//! description and this array. A piece is verified when it is first read, so reading little of a file costs little.
//!
//! Equal arrays give equal bytes.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;
use rayon::prelude::*;
use twox_hash::XxHash3_64;

use crate::pieces::{Parts, Pieces};
use crate::{Buffer, SharedBytes};

const HEADER: usize = 64;
/// The offset of the checksum in the header.
const CHECKSUM: usize = 24;
const ALIGN: usize = 64;
const ORDER_MARK: u32 = 0x0102_0304;
/// The checksum of a whole file is computed for pieces of this many bytes, on all threads.
const PIECE: usize = 4 << 20;
/// The length of the pieces that are checked when they are read.
const CHECKED_PIECE: usize = 1 << 16;

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

    /// The error for inconsistent arrays of a file of `noun`.
    pub fn unsound(noun: &str) -> Self {
        Self(format!("the arrays of this file of {noun} are inconsistent"))
    }

    pub(crate) fn wrong_checksum(noun: &str) -> Self {
        Self(format!("this file of {noun} is damaged: its checksum is wrong"))
    }
}

/// Collects arrays and writes them to a file.
#[derive(Default)]
pub struct Writer<'a> {
    sections: Vec<(u32, Cow<'a, [u8]>)>,
    /// The length of checked pieces; 0 for a checksum of the whole file.
    piece: usize,
}

impl<'a> Writer<'a> {
    /// A writer of a file with checked pieces.
    pub fn in_pieces() -> Self {
        Self { piece: CHECKED_PIECE, ..Self::default() }
    }

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
    pub fn write(mut self, format: &Format, description: &str, mut out: impl Write) -> io::Result<()> {
        self.sections.sort_by_key(|section| section.0);
        let numbers: Vec<u32> = self.sections.iter().map(|section| section.0).collect();
        let is_numbered = numbers.iter().zip(0..).any(|(number, place)| *number != place);
        if is_numbered {
            self.push(Cow::Owned(numbers.iter().flat_map(|number| number.to_le_bytes()).collect()));
        }
        let n_sections = self.sections.len() + usize::from(self.piece > 0);
        let front_end = HEADER + 16 * n_sections + description.len();
        let mut places = Vec::with_capacity(n_sections);
        let mut end = front_end;
        for (_, bytes) in &self.sections {
            let start = end.next_multiple_of(ALIGN);
            end = start + bytes.len();
            places.push((start, bytes.len()));
        }
        if self.piece > 0 {
            let start = end.next_multiple_of(ALIGN);
            let len = 8 * (start - front_end).div_ceil(self.piece);
            places.push((start, len));
            end = start + len;
        }
        let mut front: Vec<u8> = places
            .iter()
            .flat_map(|(start, len)| [*start as u64, *len as u64])
            .flat_map(u64::to_le_bytes)
            .collect();
        front.extend_from_slice(description.as_bytes());
        let mut header = Vec::with_capacity(HEADER);
        header.extend_from_slice(&format.magic);
        header.extend_from_slice(&format.version.to_le_bytes());
        header.extend_from_slice(&ORDER_MARK.to_ne_bytes());
        header.extend_from_slice(&(end as u64).to_le_bytes());
        header.extend_from_slice(&[0; 8]);
        header.extend_from_slice(&(description.len() as u64).to_le_bytes());
        header.extend_from_slice(&(n_sections as u64).to_le_bytes());
        header.extend_from_slice(&u64::from(is_numbered).to_le_bytes());
        header.extend_from_slice(&(self.piece as u64).to_le_bytes());
        // The checksums precede the body in the file, so the body is processed twice.
        let mut checksums = Checksums::of(if self.piece > 0 { self.piece } else { PIECE });
        if self.piece == 0 {
            checksums.update(&front);
        }
        self.body(front_end, |bytes| {
            checksums.update(bytes);
            Ok(())
        })?;
        let checksums = checksums.finish();
        let checksum = if self.piece > 0 {
            finish(&header, &[front_checksum(&front, &checksums)])
        } else {
            finish(&header, &checksums)
        };
        header[CHECKSUM..CHECKSUM + 8].copy_from_slice(&checksum.to_le_bytes());
        out.write_all(&header)?;
        out.write_all(&front)?;
        self.body(front_end, |bytes| out.write_all(bytes))?;
        if self.piece > 0 {
            out.write_all(&to_bytes(&checksums))?;
        }
        out.flush()
    }

    /// Passes the arrays, which follow `front_end` bytes, to `take`, piece by piece. Before the list of checksums there
    /// is a gap, too.
    fn body(&self, front_end: usize, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut length = front_end;
        let pad = |length: usize, take: &mut dyn FnMut(&[u8]) -> io::Result<()>| {
            let gap = length.next_multiple_of(ALIGN) - length;
            take(&[0; ALIGN][..gap]).map(|()| length + gap)
        };
        for (_, bytes) in &self.sections {
            length = pad(length, &mut take)?;
            take(bytes)?;
            length += bytes.len();
        }
        if self.piece > 0 {
            pad(length, &mut take)?;
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
    /// The checked pieces, if the file has any.
    pieces: Option<Arc<Pieces>>,
}

impl Reader {
    /// Opens a container and verifies it; of a file with checked pieces, only what precedes the arrays.
    pub fn open(format: &Format, bytes: SharedBytes) -> Result<Self, Error> {
        let reader = Self::open_unverified(format, bytes)?;
        if u64_at(reader.bytes(), CHECKSUM) != reader.checksum() {
            return Err(Error::wrong_checksum(reader.noun));
        }
        Ok(reader)
    }

    /// Verifies all bytes.
    pub fn verify(&self) -> Result<(), Error> {
        let all = self.bytes();
        let is_sound = u64_at(all, CHECKSUM) == self.checksum()
            && self.pieces.as_ref().is_none_or(|pieces| pieces.are_sound(all, 0..all.len()));
        if is_sound { Ok(()) } else { Err(Error::wrong_checksum(self.noun)) }
    }

    /// The checksum that the header should hold.
    fn checksum(&self) -> u64 {
        let all = self.bytes();
        let Some(pieces) = &self.pieces else { return checksum(all) };
        finish(&all[..HEADER], &[front_checksum(&all[HEADER..pieces.start()], pieces.checksums())])
    }

    /// Opens a container of which only the header and the table of contents are checked, which takes no time.
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
        let pieces = match usize::try_from(u64_at(56)) {
            Ok(0) => None,
            piece => {
                let sums = places.pop().ok_or_else(damaged)?;
                let body = description_end as usize..sums.start;
                let pieces = Pieces::new(body, piece.unwrap_or(usize::MAX), &all[sums]);
                Some(Arc::new(pieces.ok_or_else(damaged)?))
            }
        };
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
        Ok(Self { bytes, sections, next: 0, description, noun, pieces })
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

    /// The next array, in the order of writing; its pieces are verified.
    pub fn array<T: Pod>(&mut self) -> Result<Buffer<T>, Error> {
        self.parts()?.whole()
    }

    /// The next array, of which parts are verified when they are read.
    pub fn parts<T: Pod>(&mut self) -> Result<Parts<T>, Error> {
        let section = self.sections.get(self.next);
        self.next += 1;
        let open = |range: &Range<usize>| {
            let array = Buffer::shared(self.bytes.clone(), range.clone())?;
            Some(Parts::new(array, self.bytes.clone(), range.start, self.pieces.clone(), self.noun))
        };
        section.and_then(|(_, range)| open(range)).ok_or_else(|| self.unsound())
    }

    /// The error for inconsistent arrays.
    pub fn unsound(&self) -> Error {
        Error::unsound(self.noun)
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// Corrects length and checksums of a modified file, so that tests and fuzzers get past them; returns false if
/// the header is incomplete.
pub fn reseal(file: &mut [u8]) -> bool {
    if file.len() < HEADER {
        return false;
    }
    let length = file.len() as u64;
    file[16..24].copy_from_slice(&length.to_le_bytes());
    let format = Format { magic: std::array::from_fn(|k| file[k]), version: u32_at(file, 8), noun: "" };
    let pieces = |file: &[u8]| {
        let reader = Reader::open_unverified(&format, Arc::new(file.to_vec())).ok()?;
        let pieces = reader.pieces.as_ref()?;
        Some((pieces.end(), to_bytes(&pieces.computed(file))))
    };
    if let Some((at, sums)) = pieces(file) {
        file[at..at + sums.len()].copy_from_slice(&sums);
    }
    let sealed = Reader::open_unverified(&format, Arc::new(file.to_vec())).map(|reader| reader.checksum());
    let checksum = sealed.unwrap_or_else(|_| checksum(file));
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

/// The checksum of what precedes the arrays and of the checksums of the pieces.
fn front_checksum(front: &[u8], checksums: &[u64]) -> u64 {
    XxHash3_64::oneshot(&[front, &to_bytes(checksums)].concat())
}

fn to_bytes(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The checksums of pieces of bytes that arrive in parts.
struct Checksums {
    size: usize,
    piece: Vec<u8>,
    pieces: Vec<u64>,
}

impl Checksums {
    fn of(size: usize) -> Self {
        Self { size, piece: Vec::new(), pieces: Vec::new() }
    }

    fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(self.size - self.piece.len()));
            self.piece.extend_from_slice(now);
            bytes = later;
            if self.piece.len() == self.size {
                self.pieces.push(XxHash3_64::oneshot(&self.piece));
                self.piece.clear();
            }
        }
    }

    fn finish(mut self) -> Vec<u64> {
        if !self.piece.is_empty() {
            self.pieces.push(XxHash3_64::oneshot(&self.piece));
        }
        self.pieces
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

    /// A file of `n` numbers, then of three bytes, with checked pieces.
    fn pieced(n: u64) -> Vec<u8> {
        let numbers: Vec<u64> = (0..n).collect();
        let mut writer = Writer::in_pieces();
        writer.array(&numbers);
        writer.owned(&[1u8, 2, 3]);
        let mut out = Vec::new();
        writer.write(&FORMAT, "pieces", &mut out).unwrap();
        out
    }

    /// A vector whose bytes start at a multiple of 64, like those of a memory map.
    struct AlignedVec(Vec<u8>, usize, usize);

    impl AsRef<[u8]> for AlignedVec {
        fn as_ref(&self) -> &[u8] {
            &self.0[self.1..self.1 + self.2]
        }
    }

    fn open(bytes: &[u8]) -> Result<Reader, Error> {
        let mut room = vec![0; bytes.len() + ALIGN];
        let start = room.as_ptr().align_offset(ALIGN);
        room[start..start + bytes.len()].copy_from_slice(bytes);
        Reader::open(&FORMAT, Arc::new(AlignedVec(room, start, bytes.len())))
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
        for good in [written(), numbered(), pieced(3)] {
            for length in 0..good.len() {
                assert!(open(&good[..length]).is_err(), "cut to {length} bytes");
            }
            for bit in 0..good.len() * 8 {
                let mut bad = good.clone();
                bad[bit / 8] ^= 1 << (bit % 8);
                let read = open(&bad).and_then(|mut reader| {
                    reader.verify()?;
                    (0..2).try_for_each(|_| reader.array::<u8>().map(drop))
                });
                assert!(read.is_err(), "bit {bit}");
                let unverified = Reader::open_unverified(&FORMAT, Arc::new(bad));
                assert!(unverified.and_then(|reader| reader.verify()).is_err(), "bit {bit}");
            }
        }
    }

    #[test]
    fn damage_with_a_correct_checksum_does_not_panic() {
        for good in [numbered(), pieced(3)] {
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
    }

    #[test]
    fn only_the_pieces_that_are_read_are_verified() {
        let n = 40_000;
        let mut file = pieced(n);
        let mut reader = open(&file).unwrap();
        assert!((0..).zip(&*reader.array::<u64>().unwrap()).all(|(k, number)| k == *number));
        assert_eq!(*reader.array::<u8>().unwrap(), [1, 2, 3]);
        assert!(reader.array::<u64>().is_err(), "the checksums are no array of the caller's");
        let at = file.len() - 200;
        assert!(at > 8 * n as usize - 200);
        file[at] ^= 1;
        let mut reader = open(&file).unwrap();
        assert!(reader.verify().is_err());
        let numbers = reader.parts::<u64>().unwrap();
        assert_eq!(numbers.get(7..9).unwrap(), [7, 8]);
        assert!(numbers.get(n as usize - 1..n as usize).is_err() && numbers.whole().is_err());
        assert_eq!(numbers.get(7..9).unwrap(), [7, 8]);
        let (from, to) = (9, 7);
        assert!(numbers.get(n as usize..n as usize + 1).is_err() && numbers.get(from..to).is_err());
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
