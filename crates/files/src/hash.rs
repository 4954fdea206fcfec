//! SHA-256 in hexadecimal digits.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// The hash of all that a reader gives, such as a file or bytes in memory.
pub(crate) fn sha256(mut source: impl Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match source.read(&mut buffer)? {
            0 => return Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            n => hash.update(&buffer[..n]),
        }
    }
}
