//! WordNet 3.0 as nltk 3.10 reads it: lemmas, as its `WordNetLemmatizer` finds them, and synonyms, as its METEOR does.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// The words of a part of speech.
#[derive(Default)]
struct Words {
    /// The places of the synsets of each lemma in the file of data.
    lemmas: HashMap<Box<str>, Vec<u32>, FixedState>,
    /// The single words of the synset at each place; empty if no synonyms are wanted.
    synsets: HashMap<u32, Vec<Box<str>>, FixedState>,
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

    /// With what `data.X` says of synonyms, in the order of [`FILES`].
    pub fn with_synonyms(mut self, data: [&str; 4]) -> Self {
        let words = [&mut self.nouns, &mut self.verbs, &mut self.adjectives, &mut self.adverbs];
        for (words, data) in words.into_iter().zip(data) {
            words.synsets = data.lines().filter_map(synset).collect();
        }
        self
    }

    /// The single words in the synsets of a word in small letters, and of its lemmas, by any part of speech.
    pub fn synonyms(&self, word: &str) -> impl Iterator<Item = &str> {
        [&self.nouns, &self.verbs, &self.adjectives, &self.adverbs].into_iter().flat_map(|words| {
            let places: Vec<u32> = words
                .forms(word)
                .iter()
                .filter_map(|form| words.lemmas.get(&**form))
                .flatten()
                .copied()
                .collect();
            places.into_iter().filter_map(|place| words.synsets.get(&place)).flatten().map(|word| &**word)
        })
    }
}

/// The place and the single words of a line of `data.X`.
fn synset(line: &str) -> Option<(u32, Vec<Box<str>>)> {
    let mut fields = line.split(' ');
    let place = fields.next()?.parse().ok()?;
    let count = usize::from_str_radix(fields.nth(2)?, 16).ok()?;
    // Behind each word is a number; some adjectives have a marker, as in `galore(ip)`.
    let words = fields.step_by(2).take(count).map(|word| word.split('(').next().unwrap_or(word));
    Some((place, words.filter(|word| !word.contains('_')).map(Box::from).collect()))
}

impl Words {
    fn new((index, exceptions): (&str, &str), endings: &'static [(&'static str, &'static str)]) -> Self {
        let lemmas = index.lines().filter(|line| !line.starts_with(' '));
        // The last numbers of a line are the places, as many as its third field says.
        let lemma = |line: &str| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let count: usize = fields.get(2).and_then(|count| count.parse().ok()).unwrap_or_default();
            let places = fields.iter().rev().take(count).rev().filter_map(|place| place.parse().ok());
            Some((Box::from(*fields.first()?), places.collect()))
        };
        let exception = |line: &str| {
            let mut words = line.split_whitespace();
            Some((Box::from(words.next()?), words.map(str::to_owned).collect()))
        };
        Self {
            lemmas: lemmas.filter_map(lemma).collect(),
            synsets: HashMap::default(),
            exceptions: exceptions.lines().filter_map(exception).collect(),
            endings,
        }
    }

    /// The forms of a word that are lemmas, the word itself first.
    fn forms(&self, word: &str) -> Vec<String> {
        let mut forms = vec![word.to_owned()];
        match self.exceptions.get(word) {
            Some(exceptions) => forms.extend(exceptions.iter().cloned()),
            None => {
                let stem = |(old, new): &(&str, &str)| Some(format!("{}{new}", word.strip_suffix(old)?));
                forms.extend(self.endings.iter().filter_map(stem));
            }
        }
        forms.retain(|form| self.lemmas.contains_key(&**form));
        forms
    }

    fn lemma(&self, word: &str) -> String {
        let forms = self.forms(word);
        forms.into_iter().min_by_key(|form| form.chars().count()).unwrap_or_else(|| word.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn synonyms_are_the_single_words_of_the_synsets_of_all_forms() {
        let nouns = "  1 licence\ncar n 2 1 @ 2 1 00000100 00000200\nauto n 1 1 @ 1 0 00000100\n";
        let data = "  1 licence\n00000100 06 n 03 car 0 auto 0 motor_car 0 001 @ 00000300 n 0000 | a\n\
                    00000200 06 n 02 car 1 Railcar(a) 0 000 | b\n";
        let wordnet = WordNet::new([(nouns, "carses car\n"), ("", ""), ("", ""), ("", "")]);
        let wordnet = wordnet.with_synonyms([data, "", "", ""]);
        let of = |word: &str| wordnet.synonyms(word).collect::<Vec<_>>().join(" ");
        assert_eq!(of("cars"), "car auto car Railcar");
        assert_eq!([of("carses"), of("autos"), of("dog")], ["car auto car Railcar", "car auto", ""]);
        assert_eq!([wordnet.lemma("cars", 'n'), wordnet.lemma("dogs", 'n')], ["car", "dogs"]);
    }
}
