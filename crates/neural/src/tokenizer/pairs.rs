//! Byte pair encoding: neighbouring symbols are joined, the earliest pair of the list first.

use std::collections::HashMap;

/// A list of merges over a vocabulary.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    ids: HashMap<String, u32>,
    /// For each pair of ids, its rank and what it becomes.
    merges: HashMap<(u32, u32), (u32, u32)>,
    unknown: u32,
}

impl Pairs {
    pub fn new(ids: &HashMap<String, u32>, merges: &[(String, String)], unknown: u32) -> Self {
        let mut ranked = HashMap::with_capacity(merges.len());
        for ((one, other), rank) in merges.iter().zip(0..) {
            let pair = ids.get(one).zip(ids.get(other));
            if let (Some((one, other)), Some(both)) = (pair, ids.get(&format!("{one}{other}"))) {
                ranked.insert((*one, *other), (rank, *both));
            }
        }
        Self { ids: ids.clone(), merges: ranked, unknown }
    }

    /// Adds the ids of a word, which consists of these symbols.
    pub fn add<'s>(&self, symbols: impl Iterator<Item = &'s str>, ids: &mut Vec<u32>) {
        let mut word: Vec<u32> =
            symbols.map(|symbol| self.ids.get(symbol).copied().unwrap_or(self.unknown)).collect();
        // Words are short, so the best pair is looked for again after each merge.
        loop {
            let ranks = word.windows(2).enumerate().filter_map(|(at, pair)| {
                let (rank, both) = self.merges.get(&(pair[0], pair[1]))?;
                Some((*rank, at, *both))
            });
            let Some((_, at, both)) = ranks.min() else { break };
            word[at] = both;
            word.remove(at + 1);
        }
        ids.append(&mut word);
    }
}
