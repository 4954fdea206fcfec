//! Files as bytes in memory, mapped instead of copied where that can be done.

use std::fs::File;
use std::io::{self, Read};

use memmap2::Mmap;

/// The bytes of a file.
pub enum Bytes {
    /// Mapped.
    Mapped(Mmap),
    /// Read, because the file is a pipe or empty.
    Read(Vec<u8>),
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Read(bytes) => bytes,
        }
    }
}

/// All bytes of `file`.
///
/// # Errors
/// When the file cannot be read.
pub fn bytes(mut file: File) -> io::Result<Bytes> {
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.len() > 0 {
        #[expect(unsafe_code, reason = "the one place where files are mapped")]
        // SAFETY: the map is read-only. If another program shortens the file meanwhile, reading the lost
        // pages ends this program by a signal; if it rewrites them, the text changes under us, which every
        // reader survives because it checks UTF-8 on a copy or through safe slices only.
        let map = unsafe { Mmap::map(&file)? };
        return Ok(Bytes::Mapped(map));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Bytes::Read(bytes))
}
