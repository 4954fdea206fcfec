//! Pieces of a file that are verified when they are first read.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use bytemuck::Pod;
use rayon::prelude::*;
use std::sync::Arc;
use twox_hash::XxHash3_64;

use crate::{Buffer, Error, SharedBytes};

/// The checksums of the pieces of a file, and which of them have been verified.
#[derive(Debug)]
pub(crate) struct Pieces {
    /// The bytes that are divided into pieces.
    body: Range<usize>,
    size: usize,
    checksums: Vec<u64>,
    verified: Vec<AtomicBool>,
}

impl Pieces {
    /// `None` unless there is a checksum for each piece of `body`.
    pub(crate) fn new(body: Range<usize>, size: usize, checksums: &[u8]) -> Option<Self> {
        let (checksums, rest) = checksums.as_chunks();
        let is_sound =
            rest.is_empty() && body.start <= body.end && body.len().div_ceil(size) == checksums.len();
        let checksums: Vec<u64> = checksums.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let verified = checksums.iter().map(|_| AtomicBool::new(false)).collect();
        is_sound.then_some(Self { body, size, checksums, verified })
    }

    /// The start of the first piece.
    pub(crate) fn start(&self) -> usize {
        self.body.start
    }

    /// The end of the last piece.
    pub(crate) fn end(&self) -> usize {
        self.body.end
    }

    pub(crate) fn checksums(&self) -> &[u64] {
        &self.checksums
    }

    /// The checksum that each piece of `file` should have.
    pub(crate) fn computed(&self, file: &[u8]) -> Vec<u64> {
        (0..self.checksums.len()).map(|piece| self.checksum(file, piece)).collect()
    }

    fn checksum(&self, file: &[u8], piece: usize) -> u64 {
        let start = self.body.start + piece * self.size;
        let end = start.saturating_add(self.size).min(self.body.end);
        XxHash3_64::oneshot(file.get(start..end).unwrap_or_default())
    }

    /// Returns true if the pieces that contain these bytes are as they were written. Bytes outside of the pieces are
    /// not checked.
    pub(crate) fn are_sound(&self, file: &[u8], bytes: Range<usize>) -> bool {
        let (start, end) = (bytes.start.max(self.body.start), bytes.end.min(self.body.end));
        if start >= end {
            return true;
        }
        let first = (start - self.body.start) / self.size;
        let end = (end - self.body.start).div_ceil(self.size);
        let is_sound = |piece: usize| {
            let verified = &self.verified[piece];
            let is_sound =
                verified.load(Ordering::Relaxed) || self.checksum(file, piece) == self.checksums[piece];
            verified.store(is_sound, Ordering::Relaxed);
            is_sound
        };
        match end - first {
            // Waking other threads takes longer.
            0..16 => (first..end).all(is_sound),
            _ => (first..end).into_par_iter().all(is_sound),
        }
    }
}

/// An array in a file, of which parts are verified when they are read.
#[derive(Clone)]
pub struct Parts<T> {
    array: Buffer<T>,
    file: SharedBytes,
    /// The start of the array in the file.
    start: usize,
    pieces: Option<Arc<Pieces>>,
    noun: &'static str,
}

impl<T: Pod> Parts<T> {
    pub(crate) fn new(
        array: Buffer<T>,
        file: SharedBytes,
        start: usize,
        pieces: Option<Arc<Pieces>>,
        noun: &'static str,
    ) -> Self {
        Self { array, file, start, pieces, noun }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.array.len()
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.array.is_empty()
    }

    /// Some elements.
    pub fn get(&self, range: Range<usize>) -> Result<&[T], Error> {
        let part = self.array.get(range.clone()).ok_or_else(|| self.unsound())?;
        let size = size_of::<T>();
        self.check(self.start + range.start * size..self.start + range.end * size)?;
        Ok(part)
    }

    /// The whole array.
    pub fn whole(&self) -> Result<Buffer<T>, Error> {
        self.check(self.start..self.start + size_of_val(&*self.array))?;
        Ok(self.array.clone())
    }

    /// The error for elements that contradict others.
    pub fn unsound(&self) -> Error {
        Error::unsound(self.noun)
    }

    fn check(&self, bytes: Range<usize>) -> Result<(), Error> {
        let file = (*self.file).as_ref();
        if self.pieces.as_ref().is_none_or(|pieces| pieces.are_sound(file, bytes)) {
            return Ok(());
        }
        Err(Error::wrong_checksum(self.noun))
    }
}
