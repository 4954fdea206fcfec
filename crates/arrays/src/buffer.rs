//! Arrays that are either owned or part of a memory-mapped file.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::sync::Arc;

use bytemuck::Pod;

/// Bytes with shared ownership: a memory map, or a vector read from a file.
pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A read-only array of plain numbers, owned or borrowed from shared bytes.
///
/// All arrays of prepared references are buffers, so references that were just tokenised and references
/// mapped from a file have the same type. Dereferencing a shared array takes a few nanoseconds; take the
/// slice once, outside the loop.
pub struct Buffer<T>(Storage<T>);

enum Storage<T> {
    Owned(Vec<T>),
    Shared { bytes: SharedBytes, range: Range<usize>, kind: PhantomData<T> },
}

impl<T: Pod> Buffer<T> {
    /// The part `range` (in bytes) of `bytes` as an array of `T`, in native byte order.
    ///
    /// `None` if the range is out of bounds, misaligned, or not a whole number of elements.
    pub fn shared(bytes: SharedBytes, range: Range<usize>) -> Option<Self> {
        let all: &[u8] = (*bytes).as_ref();
        bytemuck::try_cast_slice::<u8, T>(all.get(range.clone())?).ok()?;
        Some(Self(Storage::Shared { bytes, range, kind: PhantomData }))
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(values: Vec<T>) -> Self {
        Self(Storage::Owned(values))
    }
}

/// Shared bytes are not copied; owned numbers are.
impl<T: Clone> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Storage::Owned(values) => Storage::Owned(values.clone()),
            Storage::Shared { bytes, range, kind } => {
                Storage::Shared { bytes: Arc::clone(bytes), range: range.clone(), kind: *kind }
            }
        })
    }
}

impl<T> Default for Buffer<T> {
    fn default() -> Self {
        Self(Storage::Owned(Vec::new()))
    }
}

impl<T: Pod> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Storage::Owned(values) => values,
            // The constructor has checked range and alignment; if the bytes have changed since, the result
            // may be empty.
            Storage::Shared { bytes, range, .. } => (**bytes)
                .as_ref()
                .get(range.clone())
                .and_then(|part| bytemuck::try_cast_slice(part).ok())
                .unwrap_or(&[]),
        }
    }
}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Storage::Owned(values) => write!(f, "Buffer(owned, {} elements)", values.len()),
            Storage::Shared { range, .. } => write!(f, "Buffer(shared, bytes {range:?})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_out_of_bounds_or_uneven_is_refused() {
        let bytes: SharedBytes = Arc::new(vec![0u8; 16]);
        assert!(Buffer::<u32>::shared(bytes.clone(), 0..20).is_none());
        assert!(Buffer::<u32>::shared(bytes.clone(), 0..7).is_none());
        let (from, to) = (4, 2);
        assert!(Buffer::<u32>::shared(bytes, from..to).is_none(), "a range that ends before it starts");
    }

    #[test]
    fn shared_bytes_read_as_numbers() {
        #[repr(align(8))]
        struct AlignedBytes([u8; 8]);
        impl AsRef<[u8]> for AlignedBytes {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }
        let bytes: SharedBytes = Arc::new(AlignedBytes([1, 0, 0, 0, 2, 0, 0, 0]));
        let buffer = Buffer::<u32>::shared(bytes, 0..8).unwrap();
        assert_eq!(buffer.iter().map(|n| u32::from_le(*n)).collect::<Vec<_>>(), [1, 2]);
    }
}
