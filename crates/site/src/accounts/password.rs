//! Hashes of passwords by Argon2id, which takes 19 MiB and two passes each; few are computed at once.

use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;

use crate::fault::{Fault, Result};
use crate::{fault, ids};

/// The name of the algorithm in a stored hash; its parameters change only with it.
const NAME: &str = "argon2id-19456-2-1";

/// The fewest and the most characters of a password.
const LENGTHS: std::ops::RangeInclusive<usize> = 10..=200;

/// Computes hashes.
pub struct Hasher(Semaphore);

impl Default for Hasher {
    fn default() -> Self {
        Self::new()
    }
}

impl Hasher {
    /// Computes at most two hashes per processor at once; others wait.
    pub fn new() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self(Semaphore::new(2 * processors))
    }

    /// The text to store of a password.
    pub async fn hash(&self, password: &str) -> Result<String> {
        if !LENGTHS.contains(&password.chars().count()) {
            return Err(fault! {
                UNPROCESSABLE_ENTITY, "password-length",
                "A password must have {} to {} characters.", LENGTHS.start(), LENGTHS.end()
            });
        }
        let mut salt = [0; 16];
        ids::random(&mut salt)?;
        let hash = self.compute(password.to_owned(), salt.to_vec()).await?;
        Ok(format!("{NAME}${}${}", ids::hex(&salt), ids::hex(&hash)))
    }

    /// Returns true if `password` is that of a stored hash. Without one it takes as long, so the time does not tell
    /// whether an account exists.
    pub async fn verify(&self, password: &str, stored: Option<&str>) -> Result<bool> {
        let parts: Vec<&str> = stored.unwrap_or("").split('$').collect();
        let (salt, expected) = match parts[..] {
            [NAME, salt, hash] if !salt.is_empty() => (ids::from_hex(salt), ids::from_hex(hash)),
            _ => (None, None),
        };
        let password = if password.chars().count() > *LENGTHS.end() { "" } else { password };
        let hash = self.compute(password.to_owned(), salt.unwrap_or_else(|| vec![0; 16])).await?;
        let Some(expected) = expected else { return Ok(false) };
        let differences = expected.iter().zip(&hash).fold(0, |found, (a, b)| found | (a ^ b));
        Ok(differences == 0 && expected.len() == hash.len())
    }

    async fn compute(&self, password: String, salt: Vec<u8>) -> Result<[u8; 32]> {
        let _permit = self.0.acquire().await.map_err(|error| Fault::internal(&error))?;
        let compute = move || {
            let params = Params::new(19_456, 2, 1, Some(32))?;
            let mut hash = [0; 32];
            Argon2::new(Algorithm::Argon2id, Version::V0x13, params).hash_password_into(
                password.as_bytes(),
                &salt,
                &mut hash,
            )?;
            Ok(hash)
        };
        tokio::task::spawn_blocking(compute).await?.map_err(|error: argon2::Error| Fault::internal(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_password_itself_is_right() {
        let hasher = Hasher::new();
        let stored = hasher.hash("correct horse battery").await.unwrap();
        assert!(hasher.verify("correct horse battery", Some(&stored)).await.unwrap());
        for (password, stored) in [
            ("correct horse batterz", Some(stored.as_str())),
            ("", Some(stored.as_str())),
            ("correct horse battery", None),
            ("correct horse battery", Some("")),
            ("", Some("argon2id-19456-2-1$$")),
        ] {
            assert!(!hasher.verify(password, stored).await.unwrap(), "{password} {stored:?}");
        }
        assert_eq!(hasher.hash("short").await.unwrap_err().code, "password-length");
    }
}
