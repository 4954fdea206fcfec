//! Longest common subsequences, 64 cells at a time.

/// The number of blocks of rows that are kept for the traceback, unless the text is longer than that.
const KEPT_BLOCKS: usize = 1 << 16;

/// The longest common subsequence of one text with many others; words are numbers.
///
/// Source: Hyyrö, *Bit-parallel LCS-length computation revisited* (2004): a row of the dynamic-programming table is a
/// bit vector, and an addition propagates matches along it.
#[derive(Default)]
pub(crate) struct Lcs {
    tokens: Vec<u32>,
    n_blocks: usize,
    /// By token: 1 + the index of the token in `masks`, or 0.
    places: Vec<u32>,
    seen: Vec<u32>,
    /// For each distinct token, its positions in the text.
    masks: Vec<u64>,
    row: Vec<u64>,
    /// Every `stride`-th row.
    checkpoints: Vec<u64>,
    /// The rows after a checkpoint.
    rows: Vec<u64>,
}

impl Lcs {
    /// Sets the text with which others are compared.
    pub(crate) fn prepare(&mut self, tokens: impl Iterator<Item = u32>) {
        for token in self.seen.drain(..) {
            self.places[token as usize] = 0;
        }
        self.masks.clear();
        self.tokens.clear();
        self.tokens.extend(tokens);
        self.n_blocks = self.tokens.len().div_ceil(64);
        for (position, token) in self.tokens.iter().enumerate() {
            let at = *token as usize;
            if self.places.len() <= at {
                self.places.resize(at + 1, 0);
            }
            let place = &mut self.places[at];
            if *place == 0 {
                self.seen.push(*token);
                *place = self.seen.len() as u32;
                self.masks.resize(self.masks.len() + self.n_blocks, 0);
            }
            self.masks[(*place as usize - 1) * self.n_blocks + position / 64] |= 1 << (position % 64);
        }
    }

    /// The length of the longest common subsequence with `other`.
    pub(crate) fn length(&mut self, other: impl Iterator<Item = u32>) -> usize {
        let Self { row, .. } = self;
        row.clear();
        row.resize(self.n_blocks, u64::MAX);
        for token in other {
            step(&self.places, &self.masks, row, token);
        }
        let zeros: u32 = row.iter().map(|row| row.count_zeros()).sum();
        debug_assert!(zeros as usize <= self.tokens.len());
        zeros as usize
    }

    /// Marks the positions of one longest common subsequence with `other` in `marks`.
    ///
    /// If there are several, it is the one found by going back from the ends of both texts: over a pair of equal words,
    /// else over a word of this text if the subsequence is as long without it, else over a word of `other`. ROUGE-1.5.5
    /// and rouge_score do the same if this text is the reference.
    ///
    /// # Panics
    /// When `marks` is shorter than this text.
    pub(crate) fn mark(&mut self, other: &[u32], marks: &mut [bool]) {
        let n_blocks = self.n_blocks;
        if n_blocks == 0 || other.is_empty() {
            return;
        }
        let stride =
            if other.len() * n_blocks <= KEPT_BLOCKS { other.len() } else { other.len().isqrt() + 1 };
        let Self { tokens, places, masks, row, checkpoints, rows, .. } = self;
        row.clear();
        row.resize(n_blocks, u64::MAX);
        checkpoints.clear();
        for chunk in other.chunks(stride) {
            checkpoints.extend_from_slice(row);
            if chunk.len() < stride || stride == other.len() {
                break;
            }
            chunk.iter().for_each(|token| step(places, masks, row, *token));
        }
        let mut i = tokens.len();
        for (chunk, tokens_of_other) in other.chunks(stride).enumerate().rev() {
            row.clear();
            row.extend_from_slice(&checkpoints[chunk * n_blocks..(chunk + 1) * n_blocks]);
            rows.clear();
            for token in tokens_of_other {
                step(places, masks, row, *token);
                rows.extend_from_slice(row);
            }
            let mut j = tokens_of_other.len();
            while i > 0 && j > 0 {
                if tokens[i - 1] == tokens_of_other[j - 1] {
                    marks[i - 1] = true;
                    i -= 1;
                    j -= 1;
                } else if rows[(j - 1) * n_blocks + (i - 1) / 64] >> ((i - 1) % 64) & 1 == 1 {
                    i -= 1;
                } else {
                    j -= 1;
                }
            }
        }
    }
}

/// Computes the row of the next prefix of the other text; a zero bit means that the subsequence grows there.
#[inline]
fn step(places: &[u32], masks: &[u64], row: &mut [u64], token: u32) {
    let place = places.get(token as usize).copied().unwrap_or(0) as usize;
    if place == 0 {
        return;
    }
    let mask = &masks[(place - 1) * row.len()..place * row.len()];
    let mut carry = false;
    for (row, mask) in row.iter_mut().zip(mask) {
        let matched = *row & mask;
        let (sum, over) = row.overflowing_add(matched);
        let (sum, over_carry) = sum.overflowing_add(u64::from(carry));
        carry = over | over_carry;
        *row = sum | (*row & !mask);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(a: &[u32], b: &[u32]) -> Vec<Vec<usize>> {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                table[i + 1][j + 1] =
                    if x == y { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
            }
        }
        table
    }

    fn marks_by_table(a: &[u32], b: &[u32]) -> Vec<bool> {
        let table = table(a, b);
        let mut marks = vec![false; a.len()];
        let (mut i, mut j) = (a.len(), b.len());
        while i > 0 && j > 0 {
            if a[i - 1] == b[j - 1] {
                (i, j) = (i - 1, j - 1);
                marks[i] = true;
            } else if table[i - 1][j] >= table[i][j - 1] {
                i -= 1;
            } else {
                j -= 1;
            }
        }
        marks
    }

    fn numbers(text: &str) -> Vec<u32> {
        text.bytes().map(u32::from).collect()
    }

    proptest! {
        #[test]
        fn bits_and_table_agree(a in "[a-e]{0,150}", bs in proptest::collection::vec("[a-f]{0,150}", 1..4)) {
            let (mut lcs, a) = (Lcs::default(), numbers(&a));
            for b in bs {
                let b = numbers(&b);
                let length = table(&a, &b)[a.len()][b.len()];
                lcs.prepare(a.iter().copied());
                prop_assert_eq!(lcs.length(b.iter().copied()), length);
                let mut marks = vec![false; a.len()];
                lcs.mark(&b, &mut marks);
                prop_assert_eq!(marks, marks_by_table(&a, &b));
                lcs.prepare(b.iter().copied());
                prop_assert_eq!(lcs.length(a.iter().copied()), length);
            }
        }
    }

    /// A carry goes through 64 words of which none has matched.
    #[test]
    fn two_words_in_reverse_order_are_a_subsequence_of_one_however_far_apart() {
        let mut lcs = Lcs::default();
        lcs.prepare(0..300);
        for far in [70, 150, 250] {
            assert_eq!(lcs.length([far, 10].into_iter()), 1);
            assert_eq!(lcs.length([10, far].into_iter()), 2);
        }
    }

    #[test]
    fn checkpoints_change_no_mark() {
        let text = |n: u32, step: u32| -> Vec<u32> { (0..n).map(|k| k * step % 97 * (k % 7) % 31).collect() };
        let (a, b) = (text(2_000, 13), text(2_500, 29));
        let mut lcs = Lcs::default();
        lcs.prepare(a.iter().copied());
        let mut marks = vec![false; a.len()];
        assert!(b.len() * a.len().div_ceil(64) > KEPT_BLOCKS);
        lcs.mark(&b, &mut marks);
        assert_eq!(marks, marks_by_table(&a, &b));
    }
}
