//! Classes of words that count as equal, such as those with the same stem.

use std::borrow::Cow;
use std::collections::HashMap;

use capeval_text::{LINE_BREAK, Symbol, Vocabulary};

/// The class of a line break.
pub(crate) const BREAK: u32 = u32::MAX;
/// The class of words that are left out.
pub(crate) const DROPPED: u32 = u32::MAX - 1;

/// For each symbol of a vocabulary, its class: words of one class are equal to the metric.
#[derive(Debug)]
pub(crate) struct Classes {
    of: Vec<u32>,
}

impl Classes {
    /// Words are in the same class if `form` returns the same for them, and left out if it returns `None`.
    pub(crate) fn build(
        vocabulary: &Vocabulary,
        mut form: impl for<'w> FnMut(&'w str) -> Option<Cow<'w, str>>,
    ) -> Self {
        let mut numbers: HashMap<Cow<'_, str>, u32> = HashMap::new();
        let of = vocabulary
            .iter()
            .map(|(_, word)| match word {
                LINE_BREAK => BREAK,
                _ => form(word).map_or(DROPPED, |form| {
                    let next = numbers.len() as u32;
                    *numbers.entry(form).or_insert(next)
                }),
            })
            .collect();
        Self { of }
    }

    /// Each word is a separate class.
    pub(crate) fn of_words(vocabulary: &Vocabulary) -> Self {
        let of = vocabulary.iter().map(|(symbol, word)| match word {
            LINE_BREAK => BREAK,
            _ => symbol.number(),
        });
        Self { of: of.collect() }
    }

    /// The class of `symbol`; a symbol of another vocabulary is left out.
    #[inline]
    pub(crate) fn of(&self, symbol: Symbol) -> u32 {
        self.of.get(symbol.index()).copied().unwrap_or(DROPPED)
    }
}
