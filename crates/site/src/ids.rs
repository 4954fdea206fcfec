//! Ids, which are UUIDv7 and so in the order of their making, and secrets, of which only the hash is stored.

use std::io::{self, Read, Write};

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// A new id.
pub fn new_id() -> String {
    Uuid::now_v7().to_string()
}

/// A new secret of 256 random bits, as 64 hexadecimal digits.
pub fn secret() -> io::Result<String> {
    let mut bytes = [0; 32];
    random(&mut bytes)?;
    Ok(hex(&bytes))
}

/// Fills `bytes` with random numbers of the system.
pub fn random(bytes: &mut [u8]) -> io::Result<()> {
    getrandom::fill(bytes).map_err(io::Error::other)
}

/// The SHA-256 of a secret or of content, as 64 hexadecimal digits.
pub fn digest(content: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(content))
}

/// The SHA-256 of all that `content` holds, as 64 hexadecimal digits.
pub fn digest_of(mut content: impl Read) -> io::Result<String> {
    struct HashWriter(Sha256);
    impl Write for HashWriter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.update(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut hash = HashWriter(Sha256::new());
    io::copy(&mut content, &mut hash)?;
    Ok(hex(&hash.0.finalize()))
}

/// `bytes` as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// The bytes of hexadecimal digits; `None` for other text.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()
}
