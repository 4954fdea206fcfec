//! Rows of numbers by keys of 128 bits, such as what is known of texts by their hashes.

use std::collections::BTreeMap;

use bytemuck::Pod;

use crate::{Buffer, Error, Reader, Writer};

/// The halves of a hash.
pub type Key = [u64; 2];

/// The first 128 bits of a hash, which is at least as long.
pub fn key_of_hash(hash: &[u8]) -> Key {
    let (halves, _) = hash.as_chunks();
    [u64::from_le_bytes(halves[0]), u64::from_le_bytes(halves[1])]
}

/// Rows of equal length, each with a key, in ascending order of keys.
#[derive(Debug)]
pub struct KeyedRows<T> {
    /// The halves of keys.
    keys: Buffer<u64>,
    /// The numbers, row after row.
    numbers: Buffer<T>,
    width: usize,
}

impl<T: Pod> KeyedRows<T> {
    /// Rows of `width` numbers.
    pub fn new(rows: &BTreeMap<Key, &[T]>, width: usize) -> Self {
        let keys: Vec<u64> = rows.keys().flatten().copied().collect();
        let numbers: Vec<T> = rows.values().flat_map(|row| row.iter().copied()).collect();
        Self { keys: Buffer::from(keys), numbers: Buffer::from(numbers), width }
    }

    /// The next arrays of a file as rows of `width` numbers, each of which must be sound.
    ///
    /// # Errors
    /// When they are not such rows.
    pub fn read(reader: &mut Reader, width: usize, is_sound: impl Fn(&T) -> bool) -> Result<Self, Error> {
        let rows = Self { keys: reader.array()?, numbers: reader.array()?, width };
        let (keys, rest) = rows.keys.as_chunks::<2>();
        let are_rows = rest.is_empty()
            && keys.is_sorted_by(|a, b| a < b)
            && Some(rows.numbers.len()) == keys.len().checked_mul(width)
            && rows.numbers.iter().all(is_sound);
        if are_rows { Ok(rows) } else { Err(reader.unsound()) }
    }

    /// Adds the rows to a file as its next arrays.
    pub fn write<'w>(&'w self, writer: &mut Writer<'w>) {
        writer.array(&self.keys);
        writer.array(&self.numbers);
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.keys.len() / 2
    }

    /// The number of the row under a key.
    pub fn find(&self, key: Key) -> Option<usize> {
        self.keys.as_chunks::<2>().0.binary_search(&key).ok()
    }

    /// The numbers of a row.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, row: usize) -> &[T] {
        &self.numbers[row * self.width..(row + 1) * self.width]
    }

    /// All keys and rows.
    pub fn iter(&self) -> impl Iterator<Item = (Key, &[T])> {
        self.keys.as_chunks::<2>().0.iter().enumerate().map(|(row, key)| (*key, self.row(row)))
    }
}
