//! Computes hashes of files and texts in the form that the model hub shows.

use sha2::{Digest, Sha256};

/// SHA-256 in hexadecimal digits.
pub(crate) fn of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The first digits of a hash, which signatures show.
pub(crate) fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}
