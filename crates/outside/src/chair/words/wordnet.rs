//! The lemmas of WordNet 3.0, as nltk's `WordNetLemmatizer` finds them.

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};

/// The words of a part of speech.
#[derive(Default)]
struct Words {
    lemmas: HashSet<Box<str>, FixedState>,
    /// The lemmas of irregular forms.
    exceptions: HashMap<Box<str>, Vec<String>, FixedState>,
    /// Endings, and what comes in their place.
    endings: &'static [(&'static str, &'static str)],
}

/// The lemmas of WordNet.
pub struct WordNet {
    nouns: Words,
    verbs: Words,
    adjectives: Words,
    adverbs: Words,
}

const NOUNS: &[(&str, &str)] = &[
    ("s", ""),
    ("ses", "s"),
    ("ves", "f"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
];
const VERBS: &[(&str, &str)] =
    &[("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")];
const ADJECTIVES: &[(&str, &str)] = &[("er", ""), ("est", ""), ("er", "e"), ("est", "e")];

/// The names of WordNet's files of a part of speech.
pub const FILES: [&str; 4] = ["noun", "verb", "adj", "adv"];

impl WordNet {
    /// From `index.X` and `X.exc`, in the order of [`FILES`].
    pub fn new([nouns, verbs, adjectives, adverbs]: [(&str, &str); 4]) -> Self {
        Self {
            nouns: Words::new(nouns, NOUNS),
            verbs: Words::new(verbs, VERBS),
            adjectives: Words::new(adjectives, ADJECTIVES),
            adverbs: Words::new(adverbs, &[]),
        }
    }

    /// The shortest lemma of a word, or the word itself if WordNet has none.
    pub fn lemma(&self, word: &str, part_of_speech: char) -> String {
        let words = match part_of_speech {
            'v' => &self.verbs,
            'a' => &self.adjectives,
            'r' => &self.adverbs,
            _ => &self.nouns,
        };
        words.lemma(word)
    }
}

impl Words {
    fn new((index, exceptions): (&str, &str), endings: &'static [(&'static str, &'static str)]) -> Self {
        let lemmas = index.lines().filter(|line| !line.starts_with(' '));
        let lemmas = lemmas.filter_map(|line| line.split_whitespace().next()).map(Box::from);
        let exception = |line: &str| {
            let mut words = line.split_whitespace();
            Some((Box::from(words.next()?), words.map(str::to_owned).collect()))
        };
        Self {
            lemmas: lemmas.collect(),
            exceptions: exceptions.lines().filter_map(exception).collect(),
            endings,
        }
    }

    fn lemma(&self, word: &str) -> String {
        let mut best: Option<String> = None;
        let mut take = |form: &str| {
            let is_shorter = best.as_ref().is_none_or(|best| form.chars().count() < best.chars().count());
            if is_shorter && self.lemmas.contains(form) {
                best = Some(form.to_owned());
            }
        };
        take(word);
        match self.exceptions.get(word) {
            Some(forms) => forms.iter().for_each(|form| take(form)),
            None => {
                for (old, new) in self.endings {
                    if let Some(stem) = word.strip_suffix(old) {
                        take(&format!("{stem}{new}"));
                    }
                }
            }
        }
        best.unwrap_or_else(|| word.to_owned())
    }
}
