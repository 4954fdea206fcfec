//! Files that are read whole: captions, tables, prepared references.
//!
//! They are read, not mapped: a wheel's user may replace a file while a notebook holds it.

use std::fs::File;
use std::io::{self, Read};

use capeval::evaluate::prepared::MAGIC;
use pyo3::PyResult;

use crate::error::value;

/// The bytes of a file, which begin where an array of any number may begin.
pub struct Aligned {
    words: Vec<u64>,
    len: usize,
}

impl Aligned {
    /// A copy of `bytes`.
    pub fn copy(bytes: &[u8]) -> Self {
        let mut words = vec![0_u64; bytes.len().div_ceil(8)];
        if let Some(room) = bytemuck::cast_slice_mut::<u64, u8>(&mut words).get_mut(..bytes.len()) {
            room.copy_from_slice(bytes);
        }
        Self { words, len: bytes.len() }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice::<u64, u8>(&self.words).get(..self.len).unwrap_or_default()
    }
}

impl AsRef<[u8]> for Aligned {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

/// Reads a file.
pub fn bytes(path: &str) -> io::Result<Aligned> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::from_raw_os_error(EISDIR));
    }
    let expected = usize::try_from(metadata.len()).unwrap_or(0);
    let mut words = vec![0_u64; expected.div_ceil(8)];
    let mut len = 0;
    {
        let room: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        while let Some(rest) = room.get_mut(len..).filter(|rest| !rest.is_empty()) {
            match file.read(rest) {
                Ok(0) => break,
                Ok(n) => len += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
    let mut more = Vec::new();
    file.read_to_end(&mut more)?;
    if more.is_empty() {
        return Ok(Aligned { words, len });
    }
    let mut all = bytemuck::cast_slice::<u64, u8>(&words).get(..len).unwrap_or_default().to_vec();
    all.extend_from_slice(&more);
    Ok(Aligned::copy(&all))
}

/// "Is a directory", on every Unix and, as a number of the C library, on Windows.
const EISDIR: i32 = 21;

/// Refuses files that capeval wrote itself where captions are wanted, and says where they belong.
pub fn refuse_own(path: &str, bytes: &[u8], references: bool) -> PyResult<()> {
    if bytes.starts_with(&MAGIC) {
        return Err(value(&match references {
            true => format!("{path}: these are prepared references; open them with capeval.Evaluator.load"),
            false => format!("{path}: these are prepared references, not candidates; give them first"),
        }));
    }
    if bytes.starts_with(&capeval::frequencies::file::MAGIC) {
        return Err(value(&format!("{path}: this is a table of document frequencies; give it as df")));
    }
    Ok(())
}
