//! Many texts in one allocation.

use crate::ends::Ends;
use capeval_arrays::Buffer;

/// Texts stored one after another in one array of bytes.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    bytes: Buffer<u8>,
    /// The end of each text in `bytes`.
    ends: Buffer<u64>,
}

impl Texts {
    /// The number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there are no texts.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// `n` empty texts.
    pub fn blank(n: usize) -> Self {
        Self { bytes: Buffer::default(), ends: vec![0; n].into() }
    }

    /// Text `k`.
    ///
    /// # Panics
    /// If there is no text `k`.
    pub fn get(&self, k: usize) -> &str {
        // Both constructors have validated the UTF-8 between these bounds.
        std::str::from_utf8(&self.bytes[Ends(&self.ends).range(k)]).unwrap_or_default()
    }

    /// Texts that are visited twice, so that they take no more memory than needed.
    pub fn of<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Self {
        let (mut n, mut len) = (0, 0);
        texts.clone().for_each(|text| (n, len) = (n + 1, len + text.len()));
        let (mut bytes, mut ends) = (Vec::with_capacity(len), Vec::with_capacity(n));
        for text in texts {
            bytes.extend_from_slice(text.as_bytes());
            ends.push(bytes.len() as u64);
        }
        Self { bytes: bytes.into(), ends: ends.into() }
    }

    /// The arrays to store: the bytes and the ends.
    pub fn parts(&self) -> (&[u8], &[u64]) {
        (&self.bytes, &self.ends)
    }

    /// Restores texts from stored arrays; `None` unless they are valid UTF-8 with each end on a character
    /// boundary.
    pub fn from_parts(bytes: Buffer<u8>, ends: Buffer<u64>) -> Option<Self> {
        let text = std::str::from_utf8(&bytes).ok()?;
        let sound = ends.is_sorted()
            && ends.last().copied().unwrap_or(0) == bytes.len() as u64
            && ends.iter().all(|end| text.is_char_boundary(*end as usize));
        sound.then_some(Self { bytes, ends })
    }
}

impl<'t> FromIterator<&'t str> for Texts {
    fn from_iter<I: IntoIterator<Item = &'t str>>(texts: I) -> Self {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        for text in texts {
            bytes.extend_from_slice(text.as_bytes());
            ends.push(bytes.len() as u64);
        }
        Self { bytes: bytes.into(), ends: ends.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_restored_from_their_parts() {
        let texts: Texts = ["a", "", "猫"].into_iter().collect();
        assert_eq!((texts.len(), texts.get(0), texts.get(1), texts.get(2)), (3, "a", "", "猫"));
        let (bytes, ends) = texts.parts();
        assert!(Texts::from_parts(bytes.to_vec().into(), ends.to_vec().into()).is_some());
        assert!(
            Texts::from_parts(bytes.to_vec().into(), vec![1, 2, 4].into()).is_none(),
            "inside a character"
        );
    }
}
