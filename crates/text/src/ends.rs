//! Ranges that follow each other, stored as the places where they end.

use std::ops::Range;

/// Ranges that follow each other from 0, given by where each one ends: texts in one string, the captions of each
/// image.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'e, N = u64>(pub &'e [N]);

impl<N: Copy> Ends<'_, N>
where
    usize: TryFrom<N>,
{
    /// The start of range `k`, which is the end of the one before it. `k` may be one past the last range.
    ///
    /// # Panics
    /// When there is no range before `k`.
    #[inline]
    pub fn start(self, k: usize) -> usize {
        if k == 0 { 0 } else { self.end(k - 1) }
    }

    /// Range `k`.
    ///
    /// # Panics
    /// When there is no range `k`.
    #[inline]
    pub fn range(self, k: usize) -> Range<usize> {
        self.start(k)..self.end(k)
    }

    #[inline]
    fn end(self, k: usize) -> usize {
        usize::try_from(self.0[k]).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_starts_where_the_one_before_ends() {
        let ends = Ends(&[2_u32, 2, 5]);
        assert_eq!([ends.range(0), ends.range(1), ends.range(2)], [0..2, 2..2, 2..5]);
        assert_eq!(ends.start(3), 5);
    }
}
