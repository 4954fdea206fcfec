//! Files as bytes in memory: mapped, or copied to an aligned buffer.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::Path;

use capeval_choice::Refusal;
use memmap2::Mmap;

use crate::Error;

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

    /// The whole content of `source`, about `expected` bytes.
    fn read(mut source: impl Read, expected: u64) -> io::Result<Self> {
        let mut words = vec![0; usize::try_from(expected / 8 + 1).unwrap_or(1)];
        let mut len = 0;
        loop {
            let room: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
            match source.read(&mut room[len..]) {
                Ok(0) => return Ok(Self(Storage::Copied { words, len })),
                Ok(n) => len += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if len == 8 * words.len() {
                words.resize(2 * words.len() + 512, 0);
            }
        }
    }
}

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

/// Maps a file; reads it if it cannot be mapped, for example a pipe.
///
/// # Errors
/// When the file cannot be opened or read.
pub fn open(path: &str) -> Result<Bytes, Error> {
    let (file, len) = open_file(path)?;
    if let Some(len) = len.filter(|len| *len > 0) {
        #[expect(unsafe_code, reason = "the one place where files are mapped")]
        // SAFETY: the map is read-only. If another program shortens the file meanwhile, reading the lost pages ends
        // this program with a signal; if it rewrites them, the text changes while it is read, which is safe since all
        // readers check UTF-8 on a copy or use safe slices only.
        let map = unsafe { Mmap::map(&file) };
        // Some file systems cannot map.
        return match map {
            Ok(map) => Ok(Bytes(Storage::Mapped(map))),
            Err(_) => Bytes::read(file, len).map_err(|cause| Error::system("read the file", path, cause)),
        };
    }
    Bytes::read(file, 0).map_err(|cause| Error::system("read the file", path, cause))
}

/// Reads a file into memory, for use while other programs may rewrite the file.
///
/// # Errors
/// When the file cannot be opened or read.
pub fn read(path: &str) -> Result<Bytes, Error> {
    let (file, len) = open_file(path)?;
    Bytes::read(file, len.unwrap_or(0)).map_err(|cause| Error::system("read the file", path, cause))
}

/// Maps a file, or reads standard input for [`STDIN`].
///
/// # Errors
/// When the file cannot be opened or read.
pub fn open_or_stdin(path: &str) -> Result<Bytes, Error> {
    if path != STDIN {
        return open(path);
    }
    Bytes::read(io::stdin().lock(), 0).map_err(|cause| Error::system("read", "standard input", cause))
}

/// The text of a file, or of standard input for [`STDIN`].
///
/// # Errors
/// When the file cannot be opened or read, or is not UTF-8.
pub fn text(path: &str) -> Result<String, Error> {
    let bytes = open_or_stdin(path)?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let message = format!("invalid UTF-8 at byte {}", error.valid_up_to());
        Error::content(path, Refusal::new(message).with_remedy("save the file as UTF-8"))
    });
    text.map(str::to_owned)
}

/// The open file and its length; `None` if it is not a regular file.
fn open_file(path: &str) -> Result<(File, Option<u64>), Error> {
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

    #[test]
    fn what_is_copied_is_what_was_there() {
        for len in [0, 1, 7, 8, 9, 4095, 4096, 5000, 70_001] {
            let bytes: Vec<u8> = (0..len).map(|k| (k % 251) as u8).collect();
            assert_eq!(*Bytes::copy(&bytes), bytes[..]);
            for expected in [0, len as u64, 3 * len as u64] {
                assert_eq!(*Bytes::read(&bytes[..], expected).unwrap(), bytes[..]);
            }
        }
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
