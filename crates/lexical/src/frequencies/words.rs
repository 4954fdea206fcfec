//! Words as numbers, in order of first appearance.

use std::hash::BuildHasher;

use capeval_choice::Refusal;
use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// Distinct words, each with a number from 0.
///
/// The hash has no random seed, so runs are reproducible.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    text: String,
    /// The end of each word in `text`, where the next one starts.
    ends: Vec<u32>,
    table: HashTable<u32>,
    hasher: FixedState,
}

impl Default for Words {
    fn default() -> Self {
        Self {
            text: String::new(),
            ends: Vec::new(),
            table: HashTable::new(),
            hasher: FixedState::with_seed(0),
        }
    }
}

impl Words {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The word with this number; empty if there is none.
    pub(crate) fn get(&self, number: u32) -> &str {
        word_at(&self.text, &self.ends, number)
    }

    /// The numbers of all words, in the order of the words' bytes.
    pub(crate) fn sorted(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = (0..).take(self.len()).collect();
        numbers.sort_unstable_by_key(|number| self.get(*number));
        numbers
    }

    /// The number of `word`, which is added if it is new.
    pub(crate) fn intern(&mut self, word: &str) -> Result<u32, Refusal> {
        let Self { text, ends, table, hasher } = self;
        let hash = hasher.hash_one(word);
        if let Some(number) = table.find(hash, |number| word_at(text, ends, *number) == word) {
            return Ok(*number);
        }
        let number = u32::try_from(ends.len()).ok().filter(|number| *number < u32::MAX);
        let end = u32::try_from(text.len() + word.len()).ok();
        let (Some(number), Some(end)) = (number, end) else {
            return Err(Refusal::new("the distinct words are together longer than 4 GiB"));
        };
        text.push_str(word);
        ends.push(end);
        table.insert_unique(hash, number, |number| hasher.hash_one(word_at(text, ends, *number)));
        Ok(number)
    }
}

/// The word with this number in a text of words that end at `ends`; empty if there is none.
pub(crate) fn word_at<'t>(text: &'t str, ends: &[u32], number: u32) -> &'t str {
    let start = match number.checked_sub(1) {
        Some(before) => ends.get(before as usize),
        None => Some(&0),
    };
    match (start, ends.get(number as usize)) {
        (Some(start), Some(end)) => text.get(*start as usize..*end as usize).unwrap_or_default(),
        _ => "",
    }
}
