//! Files as bytes in memory: mapped, or copied to an aligned buffer.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

use crate::Error;
use crate::fetch::fetched;
use crate::path::{check, expanded};

/// The path of standard input.
pub const STDIN: &str = "-";

/// The bytes of a file, aligned to 8 bytes.
pub struct Bytes(Storage);

enum Storage {
    Mapped(Mmap),
    Copied { words: Vec<u64>, len: usize },
}

impl Bytes {
    /// An aligned copy of `bytes`.
    pub fn copy(bytes: &[u8]) -> Self {
        let mut words = vec![0; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Self(Storage::Copied { words, len: bytes.len() })
    }

    /// The whole content of `source`, about `expected` bytes, unless it holds more than `limit`. Of binary data of an
    /// unknown kind only the first bytes are read, which is enough to refuse them.
    pub(crate) fn read(mut source: impl Read, expected: u64, limit: usize) -> io::Result<Self> {
        // Zeroed memory takes no space until it is used, so there is no need to grow up to the limit.
        let expected = if limit == usize::MAX { expected / 8 + 1 } else { (limit / 8) as u64 + 2 };
        let mut words = vec![0; usize::try_from(expected).unwrap_or(1).max(FIRST_WORDS)];
        let (mut len, mut is_known) = (0, false);
        loop {
            let room: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
            // A device fills whatever room it is given.
            let end = room.len().min(len + 8 * FIRST_WORDS);
            match source.read(&mut room[len..end]) {
                Ok(0) => return Ok(Self(Storage::Copied { words, len })),
                Ok(n) => len += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if len > limit {
                let message = format!("it is longer than {} MB", limit / 1_000_000);
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
            }
            if !is_known && len >= 8 * FIRST_WORDS && limit != usize::MAX {
                is_known = true;
                let read: &[u8] = bytemuck::cast_slice(&words);
                if !is_own(&read[..len]) && capeval_corpus::is_binary(&read[..len]) {
                    return Ok(Self(Storage::Copied { words, len }));
                }
            }
            if len == 8 * words.len() {
                words.resize(2 * words.len() + 512, 0);
            }
        }
    }
}

/// Returns true if these are the first bytes of a file of capeval's own.
fn is_own(head: &[u8]) -> bool {
    head.starts_with(&capeval_evaluate::prepared::MAGIC)
        || head.starts_with(&capeval_lexical::frequencies::file::MAGIC)
}

/// The maximum number of bytes that are read from a pipe, a device or a server, which may have no end.
const PIPED_BYTES: usize = 100_000_000;

/// The number of words of eight bytes from which binary data are recognised.
const FIRST_WORDS: usize = 8192;

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Storage::Mapped(map) => map,
            Storage::Copied { words, len } => {
                bytemuck::cast_slice::<u64, u8>(words).get(..*len).unwrap_or_default()
            }
        }
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// Maps a file; reads it if it cannot be mapped, for example a pipe, of which at most 100 MB are read.
pub fn open(path: &str) -> Result<Bytes, Error> {
    open_within(path, PIPED_BYTES)
}

fn open_within(path: &str, limit: usize) -> Result<Bytes, Error> {
    if let Some(fetched) = fetched(path, limit)? {
        return Ok(fetched);
    }
    let read = |file: File, len, limit| {
        Bytes::read(file, len, limit).map_err(|cause| Error::system("read the file", path, cause))
    };
    let (file, len) = open_file(path)?;
    let Some(len) = len.filter(|len| *len > 0) else { return read(file, 0, limit) };
    #[expect(unsafe_code, reason = "the one place where files are mapped")]
    // SAFETY: the map is read-only. If another program truncates the file, reading the lost pages ends
    // this program with a signal; if it rewrites them, the text changes while it is read, which is safe since all
    // readers check UTF-8 on a copy or use safe slices only.
    let map = unsafe { Mmap::map(&file) };
    // Some file systems cannot map.
    map.map(|map| Bytes(Storage::Mapped(map))).or_else(|_| read(file, len, usize::MAX))
}

/// Reads a file into memory, for use while other programs may rewrite the file.
pub fn read(path: &str) -> Result<Bytes, Error> {
    if let Some(fetched) = fetched(path, PIPED_BYTES)? {
        return Ok(fetched);
    }
    let (file, len) = open_file(path)?;
    let limit = if len.is_some_and(|len| len > 0) { usize::MAX } else { PIPED_BYTES };
    Bytes::read(file, len.unwrap_or(0), limit).map_err(|cause| Error::system("read the file", path, cause))
}

/// Maps a file, or reads standard input for [`STDIN`], as [`open`] does.
pub fn open_or_stdin(path: &str) -> Result<Bytes, Error> {
    open_any(path, false)
}

/// As [`open_or_stdin`], of any size if `no_limits`.
pub(crate) fn open_any(path: &str, no_limits: bool) -> Result<Bytes, Error> {
    let limit = if no_limits { usize::MAX } else { PIPED_BYTES };
    if path != STDIN {
        return open_within(path, limit);
    }
    Bytes::read(io::stdin().lock(), 0, limit).map_err(|cause| Error::system("read", "standard input", cause))
}

/// The open file and its length; `None` if it is not a regular file.
fn open_file(given: &str) -> Result<(File, Option<u64>), Error> {
    check(given)?;
    let path = &*expanded(given);
    let system = |cause| Error::system("open the file", path, cause);
    // Windows would report that access is denied.
    if Path::new(path).is_dir() {
        return Err(system(io::Error::from_raw_os_error(IS_A_DIRECTORY)));
    }
    let file = File::open(path).map_err(system)?;
    let metadata = file.metadata().map_err(system)?;
    Ok((file, metadata.is_file().then_some(metadata.len())))
}

/// The number of this error in Unix, by which Python chooses the exception.
const IS_A_DIRECTORY: i32 = 21;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    #[test]
    fn what_is_copied_is_what_was_there() {
        for len in [0, 1, 7, 8, 9, 4095, 4096, 5000, 70_001] {
            let bytes: Vec<u8> = (0..len).map(|k| (k % 251) as u8).collect();
            assert_eq!(*Bytes::copy(&bytes), bytes[..]);
            for expected in [0, len as u64, 3 * len as u64] {
                assert_eq!(*Bytes::read(&bytes[..], expected, usize::MAX).unwrap(), bytes[..]);
            }
        }
    }

    #[test]
    fn what_has_no_end_is_not_read_to_its_end() {
        let text = Bytes::read(io::repeat(b'y'), 0, 1_000_000).err().unwrap();
        assert_eq!(text.kind(), io::ErrorKind::FileTooLarge);
        let binary = Bytes::read(io::repeat(0), 0, 1_000_000).unwrap();
        assert!(binary.len() < 100_000, "{}", binary.len());
        let packed = Bytes::read([0x1F, 0x8B].as_slice().chain(io::repeat(0)), 0, 1_000_000);
        assert!(packed.is_err(), "compressed data are binary, too");
    }

    #[test]
    fn a_file_is_the_same_mapped_and_copied() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").display().to_string();
        for content in ["", "some text"] {
            std::fs::write(&path, content).unwrap();
            assert_eq!(*open(&path).unwrap(), *content.as_bytes());
            assert_eq!(*read(&path).unwrap(), *content.as_bytes());
            assert_eq!(text(&path).unwrap(), content);
        }
        let error = open(&folder.path().display().to_string()).err().unwrap();
        assert!(error.to_string().ends_with("cannot open the file: is a directory"), "{error}");
        assert!(error.remedy().is_some());
        let error = read(&format!("{path}.none")).err().unwrap();
        assert!(error.to_string().ends_with("cannot open the file: no such file or directory"), "{error}");
        assert_eq!(error.cause().and_then(|cause| cause.0.raw_os_error()), Some(2));
    }
}
