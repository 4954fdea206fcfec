//! The length of the longest common subsequence, 64 cells at a time.

use capeval_text::Symbol;

/// The longest common subsequence of one text with many others.
///
/// Source: Hyyrö, *Bit-parallel LCS-length computation revisited* (2004): a row of the dynamic programme
/// is a bit vector, and one addition carries a match along it.
#[derive(Default)]
pub(crate) struct Lcs {
    n_tokens: usize,
    n_blocks: usize,
    /// By symbol: 1 + the token's place in `masks`, or 0.
    places: Vec<u32>,
    seen: Vec<Symbol>,
    /// For each distinct token, the positions at which the text has it.
    masks: Vec<u64>,
    row: Vec<u64>,
}

impl Lcs {
    /// Fixes one side.
    pub(crate) fn prepare(&mut self, tokens: impl ExactSizeIterator<Item = Symbol>) {
        for symbol in self.seen.drain(..) {
            self.places[symbol.index()] = 0;
        }
        self.masks.clear();
        self.n_tokens = tokens.len();
        self.n_blocks = tokens.len().div_ceil(64);
        for (position, symbol) in tokens.enumerate() {
            if self.places.len() <= symbol.index() {
                self.places.resize(symbol.index() + 1, 0);
            }
            let place = &mut self.places[symbol.index()];
            if *place == 0 {
                self.seen.push(symbol);
                *place = self.seen.len() as u32;
                self.masks.resize(self.masks.len() + self.n_blocks, 0);
            }
            self.masks[(*place as usize - 1) * self.n_blocks + position / 64] |= 1 << (position % 64);
        }
    }

    /// The length of the longest common subsequence with `other`.
    pub(crate) fn length(&mut self, other: impl Iterator<Item = Symbol>) -> usize {
        self.row.clear();
        self.row.resize(self.n_blocks, u64::MAX);
        for symbol in other {
            let place = self.places.get(symbol.index()).copied().unwrap_or(0) as usize;
            if place == 0 {
                continue;
            }
            let mask = &self.masks[(place - 1) * self.n_blocks..place * self.n_blocks];
            let mut carry = false;
            for (row, mask) in self.row.iter_mut().zip(mask) {
                let matched = *row & mask;
                let (sum, over) = row.overflowing_add(matched);
                let (sum, over_carry) = sum.overflowing_add(u64::from(carry));
                carry = over | over_carry;
                *row = sum | (*row & !mask);
            }
        }
        let zeros: u32 = self.row.iter().map(|row| row.count_zeros()).sum();
        debug_assert!(zeros as usize <= self.n_tokens);
        zeros as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capeval_text::Vocabulary;
    use proptest::prelude::*;

    fn by_table(a: &[Symbol], b: &[Symbol]) -> usize {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                table[i + 1][j + 1] =
                    if x == y { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
            }
        }
        table[a.len()][b.len()]
    }

    proptest! {
        #[test]
        fn bits_and_table_agree(a in "[a-e]{0,150}", bs in proptest::collection::vec("[a-f]{0,150}", 1..4)) {
            let mut vocabulary = Vocabulary::default();
            let mut symbols = |text: &str| -> Vec<Symbol> {
                text.chars().map(|c| vocabulary.intern(c.encode_utf8(&mut [0; 4]))).collect()
            };
            let (mut lcs, a) = (Lcs::default(), symbols(&a));
            for b in bs {
                let b = symbols(&b);
                lcs.prepare(a.iter().copied());
                prop_assert_eq!(lcs.length(b.iter().copied()), by_table(&a, &b));
                lcs.prepare(b.iter().copied());
                prop_assert_eq!(lcs.length(a.iter().copied()), by_table(&a, &b));
            }
        }
    }
}
