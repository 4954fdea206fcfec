//! Longest common subsequences, 64 cells at a time.

/// The number of blocks of rows that are kept for the traceback, unless the text is longer than that.
const KEPT_BLOCKS: usize = 1 << 16;

/// The largest number of masks in a table; it would grow with the square of the length of a text.
const MOST_MASKS: usize = 1 << 20;

/// The longest common subsequence of one text with many others; words are numbers.
///
/// Source: Hyyrö, *Bit-parallel LCS-length computation revisited* (2004): a row of the dynamic-programming table is a
/// bit vector, and an addition propagates matches along it.
#[derive(Default)]
pub(crate) struct Lcs {
    tokens: Vec<u32>,
    /// By token: 1 + its place in `matches`, or 0.
    places: Vec<u32>,
    matches: Matches,
    row: Vec<u64>,
    /// Every `stride`-th row.
    checkpoints: Vec<u64>,
    /// The rows after a checkpoint.
    rows: Vec<u64>,
}

/// The positions of each distinct token in the text, as masks of 64.
#[derive(Default)]
struct Matches {
    /// The masks of all blocks, token by token; empty if they would be too many.
    table: Vec<u64>,
    /// Otherwise, those of the blocks that have a token, in lists.
    lists: Vec<Match>,
}

struct Match {
    mask: u64,
    block: u32,
    /// 1 + the index of the next entry of the token, in a later block, or 0.
    next: u32,
}

impl Lcs {
    /// Sets the text with which others are compared.
    pub(crate) fn prepare(&mut self, tokens: impl Iterator<Item = u32>) {
        self.prepare_within(MOST_MASKS, tokens);
    }

    /// As [`Self::prepare`], with a table of at most `most` masks.
    fn prepare_within(&mut self, most: usize, tokens: impl Iterator<Item = u32>) {
        for token in self.tokens.drain(..) {
            self.places[token as usize] = 0;
        }
        let Self { tokens: own, places, matches: Matches { table, lists }, .. } = self;
        own.extend(tokens);
        table.clear();
        lists.clear();
        let n_blocks = own.len().div_ceil(64);
        let mut n_distinct = 0;
        for token in own.iter() {
            let at = *token as usize;
            if places.len() <= at {
                places.resize(at + 1, 0);
            }
            if places[at] == 0 {
                n_distinct += 1;
                places[at] = n_distinct;
            }
        }
        let mask = |position: usize| 1 << (position % 64);
        if n_distinct as usize * n_blocks <= most {
            table.resize(n_distinct as usize * n_blocks, 0);
            for (position, token) in own.iter().enumerate() {
                let place = places[*token as usize] as usize - 1;
                table[place * n_blocks + position / 64] |= mask(position);
            }
            return;
        }
        own.iter().for_each(|token| places[*token as usize] = 0);
        for (position, token) in own.iter().enumerate().rev() {
            let place = &mut places[*token as usize];
            let block = (position / 64) as u32;
            match lists.get_mut((*place as usize).wrapping_sub(1)).filter(|first| first.block == block) {
                Some(first) => first.mask |= mask(position),
                None => {
                    lists.push(Match { mask: mask(position), block, next: *place });
                    *place = lists.len() as u32;
                }
            }
        }
    }

    /// The length of the longest common subsequence with `other`.
    pub(crate) fn length(&mut self, other: impl Iterator<Item = u32>) -> usize {
        let Self { row, .. } = self;
        row.clear();
        row.resize(self.tokens.len().div_ceil(64), u64::MAX);
        for token in other {
            step(&self.places, &self.matches, row, token);
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
        let n_blocks = self.tokens.len().div_ceil(64);
        if n_blocks == 0 || other.is_empty() {
            return;
        }
        let stride =
            if other.len() * n_blocks <= KEPT_BLOCKS { other.len() } else { other.len().isqrt() + 1 };
        let Self { tokens, places, matches, row, checkpoints, rows } = self;
        row.clear();
        row.resize(n_blocks, u64::MAX);
        checkpoints.clear();
        for chunk in other.chunks(stride) {
            checkpoints.extend_from_slice(row);
            if chunk.len() < stride || stride == other.len() {
                break;
            }
            chunk.iter().for_each(|token| step(places, matches, row, *token));
        }
        let mut i = tokens.len();
        for (chunk, tokens_of_other) in other.chunks(stride).enumerate().rev() {
            row.clear();
            row.extend_from_slice(&checkpoints[chunk * n_blocks..(chunk + 1) * n_blocks]);
            rows.clear();
            for token in tokens_of_other {
                step(places, matches, row, *token);
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
fn step(places: &[u32], matches: &Matches, row: &mut [u64], token: u32) {
    let place = places.get(token as usize).copied().unwrap_or(0) as usize;
    if place == 0 {
        return;
    }
    if !matches.lists.is_empty() {
        return step_by_list(&matches.lists, row, place);
    }
    let masks = &matches.table[(place - 1) * row.len()..place * row.len()];
    let mut carry = false;
    for (block, mask) in row.iter_mut().zip(masks) {
        carry = add(block, *mask, carry);
    }
}

/// As [`step`], by the list of a token: most words stand in few blocks.
fn step_by_list(lists: &[Match], row: &mut [u64], mut place: usize) {
    let (mut carry, mut after) = (false, 0);
    while let Some(Match { mask, block, next }) = lists.get(place.wrapping_sub(1)) {
        let block = *block as usize;
        carry = carry && is_passed_on(&mut row[after..block]);
        carry = add(&mut row[block], *mask, carry);
        (place, after) = (*next as usize, block + 1);
    }
    if carry {
        is_passed_on(&mut row[after..]);
    }
}

/// Adds the matches in a block to it, with a carry; returns the next one.
#[inline]
fn add(block: &mut u64, mask: u64, carry: bool) -> bool {
    let (sum, over) = block.overflowing_add(*block & mask);
    let (sum, over_carry) = sum.overflowing_add(u64::from(carry));
    *block = sum | (*block & !mask);
    over | over_carry
}

/// Adds a carry to blocks without a match, where it sets the first zero bit; true if there is none.
fn is_passed_on(blocks: &mut [u64]) -> bool {
    let Some(block) = blocks.iter_mut().find(|block| **block != u64::MAX) else { return true };
    *block |= *block + 1;
    false
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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Most words stand in few blocks, and carries pass blocks between them.
        #[test]
        fn lists_and_table_agree_on_long_texts_of_many_words(
            a in proptest::collection::vec(0_u32..300, 0..500),
            b in proptest::collection::vec(0_u32..300, 0..500),
        ) {
            let (length, known) = (table(&a, &b)[a.len()][b.len()], marks_by_table(&a, &b));
            let mut lcs = Lcs::default();
            for most in [0, MOST_MASKS, 0] {
                lcs.prepare_within(most, a.iter().copied());
                prop_assert_eq!(lcs.length(b.iter().copied()), length);
                let mut marks = vec![false; a.len()];
                lcs.mark(&b, &mut marks);
                prop_assert_eq!(&marks, &known);
            }
        }
    }

    /// A carry goes through 64 words of which none has matched.
    #[test]
    fn two_words_in_reverse_order_are_a_subsequence_of_one_however_far_apart() {
        let mut lcs = Lcs::default();
        for most in [0, MOST_MASKS] {
            lcs.prepare_within(most, 0..300);
            for far in [70, 150, 250] {
                assert_eq!(lcs.length([far, 10].into_iter()), 1);
                assert_eq!(lcs.length([10, far].into_iter()), 2);
            }
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
