//! The number of points of each rating that a pass has seen so far.

use super::lanes::Lanes;

/// Counts of points by the level of their rating.
pub(super) trait LevelCounts {
    /// The number of points seen below a level minus the number above it.
    fn below_less_above(&self, level: u32) -> Lanes;
    /// Counts `n` points of a level.
    fn add(&mut self, level: u32, n: Lanes);
}

/// For few levels: the number of points seen below each level, then the total.
pub(super) struct Few {
    below: [Lanes; Self::MAX + 1],
    levels: usize,
}

impl Few {
    /// Up to this many levels a plain sum is faster than a tree.
    pub const MAX: usize = 16;

    pub fn new(levels: usize) -> Self {
        Self { below: [Lanes::default(); Self::MAX + 1], levels }
    }
}

impl LevelCounts for Few {
    #[inline(always)]
    fn below_less_above(&self, level: u32) -> Lanes {
        let level = level as usize;
        self.below[level] + self.below[level + 1] - self.below[self.levels]
    }

    #[inline(always)]
    fn add(&mut self, level: u32, n: Lanes) {
        for below in &mut self.below[level as usize + 1..=self.levels] {
            *below = *below + n;
        }
    }
}

/// For many levels: a Fenwick tree.
pub(super) struct Many {
    tree: Vec<Lanes>,
    plain: Vec<Lanes>,
    total: Lanes,
}

impl Many {
    pub fn new(levels: usize) -> Self {
        let none = Lanes::default();
        Self { tree: vec![none; levels + 1], plain: vec![none; levels], total: none }
    }
}

impl LevelCounts for Many {
    #[inline]
    fn below_less_above(&self, level: u32) -> Lanes {
        let mut at = level as usize;
        let mut below = Lanes::default();
        let same = self.plain[at];
        while at > 0 {
            below = below + self.tree[at];
            at &= at - 1;
        }
        below + below + same - self.total
    }

    #[inline]
    fn add(&mut self, level: u32, n: Lanes) {
        self.plain[level as usize] = self.plain[level as usize] + n;
        self.total = self.total + n;
        let mut at = level as usize + 1;
        while at < self.tree.len() {
            self.tree[at] = self.tree[at] + n;
            at += at & at.wrapping_neg();
        }
    }
}
