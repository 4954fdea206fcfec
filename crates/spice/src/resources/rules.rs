//! Rules of the grammar, how they are packed, and the chains of unary rules that count as one.

use std::collections::HashMap;

/// A rule with two children; scores are logarithms of probabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Binary {
    pub(crate) parent: u16,
    pub(crate) left: u16,
    pub(crate) right: u16,
    pub(crate) score: f32,
}

/// A rule with one child, or a chain of such rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unary {
    pub(crate) parent: u16,
    pub(crate) child: u16,
    pub(crate) score: f32,
}

/// The two states of a rule that are not the one it is listed under, and its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rule {
    /// Of binary rules: the left child, or the parent if the rule is listed under a child.
    pub(crate) first: u16,
    /// Of binary rules: the right child, or the other child.
    pub(crate) second: u16,
    pub(crate) score: f32,
}

impl Rule {
    pub(super) fn pack(self) -> u64 {
        u64::from(self.first) | u64::from(self.second) << 16 | u64::from(self.score.to_bits()) << 32
    }

    pub(crate) fn unpack(packed: u64) -> Self {
        Self {
            first: packed as u16,
            second: (packed >> 16) as u16,
            score: f32::from_bits((packed >> 32) as u32),
        }
    }
}

/// The best chain between every two states that unary rules connect, by child.
///
/// Sums are rounded, so the last digit of a chain's score depends on the order in which chains are joined: for each
/// rule in turn, the chains that end in its parent, in the order of their discovery, with those that start at its
/// child.
pub(super) fn close(unaries: &[Unary], states: usize) -> Vec<Vec<Unary>> {
    // The chains that reach a state from above, and those that start there; each state reaches itself.
    let chains: Vec<Vec<u16>> = (0..states).map(|state| vec![state as u16]).collect();
    let (mut above, mut below) = (chains.clone(), chains);
    let mut best: HashMap<(u16, u16), f32> =
        (0..states).map(|state| ((state as u16, state as u16), 0.0)).collect();
    for rule in unaries {
        // Chains that are found on the way are appended; those that were there before are visited.
        for up in 0..above[usize::from(rule.parent)].len() {
            let top = above[usize::from(rule.parent)][up];
            for down in 0..below[usize::from(rule.child)].len() {
                let bottom = below[usize::from(rule.child)][down];
                let score = best[&(top, rule.parent)] + best[&(rule.child, bottom)] + rule.score;
                let known = best.entry((top, bottom)).or_insert_with(|| {
                    below[usize::from(top)].push(bottom);
                    above[usize::from(bottom)].push(top);
                    score
                });
                if *known < score {
                    *known = score;
                }
            }
        }
    }
    let chains = above.iter().zip(0..).map(|(parents, child)| {
        let parents = parents.iter().filter(|parent| **parent != child);
        parents.map(|&parent| Unary { parent, child, score: best[&(parent, child)] }).collect()
    });
    chains.collect()
}
