//! A file of plain arrays that can be used where it lies in memory.
//!
//! Layout, little-endian, every array aligned to 64 bytes:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | magic |
//! | 4, 4 | format version; 0x01020304 as the writing machine stores it |
//! | 8 | length of the file |
//! | 8 | checksum of all other bytes |
//! | 8, 8 | length of the description; number of arrays |
//! | 16 | reserved, zero |
//! | 16 each | offset and length of every array |
//! | … | the description (JSON), then the arrays |

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};

use bytemuck::Pod;
use capeval_text::{Buffer, SharedBytes};
use rayon::prelude::*;
use twox_hash::XxHash3_64;

const HEADER: usize = 64;
/// Where the header keeps the checksum.
const CHECKSUM: usize = 24;
const ALIGN: usize = 64;
const ORDER_MARK: u32 = 0x0102_0304;
/// Checksums are taken of pieces of this many bytes, on all threads.
const PIECE: usize = 4 << 20;

/// Which kind of archive a file is.
pub struct Magic {
    /// The first eight bytes.
    pub bytes: [u8; 8],
    /// The version of the layout of arrays.
    pub version: u32,
    /// What the file is called in sentences.
    pub noun: &'static str,
}

/// Why a file is not the archive that was wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveError(pub(crate) String);

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ArchiveError {}

/// Collects arrays, then writes them all.
#[derive(Default)]
pub struct Writer<'a> {
    arrays: Vec<Cow<'a, [u8]>>,
}

impl<'a> Writer<'a> {
    /// Appends an array that stays where it is until it is written.
    pub fn array<T: Pod>(&mut self, values: &'a [T]) {
        self.arrays.push(Cow::Borrowed(bytemuck::cast_slice(values)));
    }

    /// Appends an array that was made for the file.
    pub fn owned<T: Pod>(&mut self, values: &[T]) {
        self.arrays.push(Cow::Owned(bytemuck::cast_slice(values).to_vec()));
    }

    /// Writes the archive.
    ///
    /// # Errors
    /// Whatever `out` fails with.
    pub fn write(&self, magic: &Magic, description: &str, mut out: impl Write) -> io::Result<()> {
        let mut front = Vec::new();
        let mut at = HEADER + 16 * self.arrays.len() + description.len();
        for array in &self.arrays {
            at = at.next_multiple_of(ALIGN);
            front.extend_from_slice(&(at as u64).to_le_bytes());
            front.extend_from_slice(&(array.len() as u64).to_le_bytes());
            at += array.len();
        }
        front.extend_from_slice(description.as_bytes());
        let mut body = front;
        let mut pieces = Checksum::default();
        let mut length = HEADER + body.len();
        // The checksum comes first in the file, so the body is gone through twice.
        pieces.update(&body);
        for array in &self.arrays {
            let gap = length.next_multiple_of(ALIGN) - length;
            pieces.update(&[0; ALIGN][..gap]);
            pieces.update(array);
            length += gap + array.len();
        }
        let mut header = Vec::with_capacity(HEADER);
        header.extend_from_slice(&magic.bytes);
        header.extend_from_slice(&magic.version.to_le_bytes());
        header.extend_from_slice(&ORDER_MARK.to_ne_bytes());
        header.extend_from_slice(&(length as u64).to_le_bytes());
        header.extend_from_slice(&[0; 8]);
        header.extend_from_slice(&(description.len() as u64).to_le_bytes());
        header.extend_from_slice(&(self.arrays.len() as u64).to_le_bytes());
        header.resize(HEADER, 0);
        let checksum = pieces.finish(&header);
        header[CHECKSUM..CHECKSUM + 8].copy_from_slice(&checksum.to_le_bytes());
        out.write_all(&header)?;
        let mut length = HEADER + body.len();
        out.write_all(&std::mem::take(&mut body))?;
        for array in &self.arrays {
            let gap = length.next_multiple_of(ALIGN) - length;
            out.write_all(&[0; ALIGN][..gap])?;
            out.write_all(array)?;
            length += gap + array.len();
        }
        out.flush()
    }
}

/// Reads an archive's arrays, in the order in which they were written.
pub struct Reader {
    bytes: SharedBytes,
    arrays: std::vec::IntoIter<(usize, usize)>,
    description: String,
    noun: &'static str,
}

impl Reader {
    /// Opens an archive.
    ///
    /// # Errors
    /// When the bytes are something else, of another version, cut off, or damaged.
    pub fn open(magic: &Magic, bytes: SharedBytes) -> Result<Self, ArchiveError> {
        let noun = magic.noun;
        let all: &[u8] = (*bytes).as_ref();
        let refuse = |why: String| Err(ArchiveError(why));
        if all.len() < HEADER || all[..8] != magic.bytes {
            return refuse(format!("this is no file of {noun}"));
        }
        let u32_at = |at: usize| u32::from_le_bytes([all[at], all[at + 1], all[at + 2], all[at + 3]]);
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        if u32_at(12).to_le_bytes() != ORDER_MARK.to_ne_bytes() {
            return refuse(format!(
                "these {noun} come from a machine of the other byte order; make them again here"
            ));
        }
        if u32_at(8) != magic.version {
            return refuse(format!(
                "these {noun} are of format {}, and this program reads format {}; make them again",
                u32_at(8),
                magic.version
            ));
        }
        if u64_at(16) != all.len() as u64 {
            return refuse(format!(
                "the file holds {} bytes and says that it has {}: it was cut off; make it again",
                all.len(),
                u64_at(16)
            ));
        }
        if u64_at(CHECKSUM) != checksum(all) {
            return refuse(format!(
                "the checksum of these {noun} is wrong: the file is damaged; make it again"
            ));
        }
        let damaged =
            || ArchiveError(format!("the table of contents of these {noun} is damaged; make them again"));
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
        let arrays: Vec<(usize, usize)> = (0..n_arrays as usize)
            .map(|k| (u64_at(HEADER + 16 * k) as usize, u64_at(HEADER + 16 * k + 8) as usize))
            .collect();
        Ok(Self { bytes, arrays: arrays.into_iter(), description, noun })
    }

    /// The description that was written with the arrays.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The next array.
    ///
    /// # Errors
    /// When there is none, or it is no array of `T`.
    pub fn array<T: Pod>(&mut self) -> Result<Buffer<T>, ArchiveError> {
        self.arrays
            .next()
            .and_then(|(at, len)| Buffer::shared(self.bytes.clone(), at..at.checked_add(len)?))
            .ok_or_else(|| self.unsound())
    }

    /// The error for arrays that do not fit together.
    #[must_use]
    pub fn unsound(&self) -> ArchiveError {
        ArchiveError(format!("the arrays of these {} do not fit together; make them again", self.noun))
    }
}

/// Makes length and checksum of a changed file right again, so that tests and fuzzers get past them; false
/// if there is not even a header.
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

/// The checksum of a whole file, of the checksums of its pieces.
fn checksum(bytes: &[u8]) -> u64 {
    let (header, body) = bytes.split_at(HEADER);
    let pieces: Vec<u64> = body.par_chunks(PIECE).map(XxHash3_64::oneshot).collect();
    finish(header, &pieces)
}

/// The header goes in without its checksum.
fn finish(header: &[u8], pieces: &[u64]) -> u64 {
    let mut bytes = header.to_vec();
    bytes[CHECKSUM..CHECKSUM + 8].fill(0);
    bytes.extend(pieces.iter().flat_map(|piece| piece.to_le_bytes()));
    XxHash3_64::oneshot(&bytes)
}

/// The same, of bytes that come bit by bit.
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

    const MAGIC: Magic = Magic { bytes: *b"testfile", version: 3, noun: "test arrays" };

    fn written() -> Vec<u8> {
        let (numbers, bytes) = (vec![1u32, 2, 3], vec![7u8; 5]);
        let mut writer = Writer::default();
        writer.array(&numbers);
        writer.owned(&bytes);
        writer.owned::<u64>(&[]);
        let mut out = Vec::new();
        writer.write(&MAGIC, "{}", &mut out).unwrap();
        out
    }

    /// A vector whose bytes start at a multiple of 64, as a memory map's do.
    struct Mapped(Vec<u8>, usize, usize);

    impl AsRef<[u8]> for Mapped {
        fn as_ref(&self) -> &[u8] {
            &self.0[self.1..self.1 + self.2]
        }
    }

    fn open(bytes: &[u8]) -> Result<Reader, ArchiveError> {
        let mut room = vec![0; bytes.len() + ALIGN];
        let start = room.as_ptr().align_offset(ALIGN);
        room[start..start + bytes.len()].copy_from_slice(bytes);
        Reader::open(&MAGIC, Arc::new(Mapped(room, start, bytes.len())))
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
    fn every_truncation_and_every_flipped_bit_is_refused() {
        let good = written();
        for length in 0..good.len() {
            assert!(open(&good[..length]).is_err(), "cut to {length} bytes");
        }
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(open(&bad).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn each_reason_has_its_sentence() {
        let good = written();
        let message = |bytes: &[u8]| open(bytes).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(message(b"{\"annotations\": []}").contains("no file of test arrays"));
        assert!(message(&good[..good.len() - 1]).contains("cut off"));
        let mut other = good.clone();
        other[8] = 9;
        assert!(message(&other).contains("format 9"));
        let mut damaged = good;
        *damaged.last_mut().unwrap() ^= 1;
        assert!(message(&damaged).contains("checksum"));
    }
}
