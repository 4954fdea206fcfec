//! NLTK's part-of-speech tagger, `PerceptronTagger` of nltk 3.10, with the weights of `averaged_perceptron_tagger_eng`.

use capeval_choice::Refusal;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use capeval::report;
use capeval::text::classes::is_digit;

type Map<K, V> = HashMap<K, V, FixedState>;

/// An object whose order matters.
type Pairs<V> = report::Map<String, V>;

/// The tagger.
pub struct Tagger {
    /// The weights of tags, by feature.
    weights: Map<Box<str>, Box<[(u8, f64)]>>,
    /// The tags of words that have one only.
    known: Map<Box<str>, u8>,
    /// The tags in alphabetical order.
    tags: Vec<String>,
}

impl Tagger {
    /// From the bytes of the files `weights`, `tagdict` and `classes`.
    pub fn new(weights: &[u8], known: &[u8], classes: &[u8]) -> Result<Self, Refusal> {
        let broken =
            |error: serde_json::Error| Refusal::new(format!("it is not as nltk writes it ({error})"));
        let mut tags: Vec<String> = serde_json::from_slice(classes).map_err(broken)?;
        tags.sort_unstable();
        tags.dedup();
        if tags.is_empty() || tags.len() > usize::from(u8::MAX) {
            return Err(Refusal::new(format!("it has {} tags", tags.len())));
        }
        let number = |tag: &str| {
            let place = tags.binary_search_by(|known| known.as_str().cmp(tag));
            place.map(|place| place as u8).map_err(|_| Refusal::new(format!("it has no tag {tag}")))
        };
        let pairs: Pairs<Pairs<f64>> = serde_json::from_slice(weights).map_err(broken)?;
        let mut weights: Map<Box<str>, Box<[(u8, f64)]>> = Map::default();
        for (feature, report::Map(of_tags)) in pairs.0 {
            let of_tags: Result<Box<[(u8, f64)]>, Refusal> =
                of_tags.into_iter().map(|(tag, weight)| Ok((number(&tag)?, weight))).collect();
            weights.insert(feature.into(), of_tags?);
        }
        let pairs: Pairs<String> = serde_json::from_slice(known).map_err(broken)?;
        let mut known: Map<Box<str>, u8> = Map::default();
        for (word, tag) in pairs.0 {
            known.insert(word.into(), number(&tag)?);
        }
        Ok(Self { weights, known, tags })
    }

    /// The tag of each word.
    pub fn tag<'t>(&'t self, words: &[String]) -> Vec<&'t str> {
        let normal: Vec<String> = words.iter().map(|word| normal(word)).collect();
        let around = |at: isize| -> &str {
            match usize::try_from(at) {
                Ok(at) if at < normal.len() => &normal[at],
                Ok(at) if at == normal.len() => "-END-",
                Ok(_) => "-END2-",
                Err(_) if at == -1 => "-START2-",
                Err(_) => "-START-",
            }
        };
        let (mut before, mut before_that) = ("-START-", "-START2-");
        let mut scores = vec![0.0; self.tags.len()];
        let mut feature = String::new();
        let mut found = Vec::with_capacity(words.len());
        for (place, word) in words.iter().enumerate() {
            let at = place as isize;
            let number = self.known.get(word.as_str()).copied().unwrap_or_else(|| {
                scores.fill(0.0);
                let first = word.chars().next().map_or(0, char::len_utf8);
                let (own, left, right) = (around(at), around(at - 1), around(at + 1));
                let features: [&[&str]; 14] = [
                    &["bias"],
                    &["i suffix", suffix(word)],
                    &["i pref1", &word[..first]],
                    &["i-1 tag", before],
                    &["i-2 tag", before_that],
                    &["i tag+i-2 tag", before, before_that],
                    &["i word", own],
                    &["i-1 tag+i word", before, own],
                    &["i-1 word", left],
                    &["i-1 suffix", suffix(left)],
                    &["i-2 word", around(at - 2)],
                    &["i+1 word", right],
                    &["i+1 suffix", suffix(right)],
                    &["i+2 word", around(at + 2)],
                ];
                for parts in features {
                    feature.clear();
                    for (nth, part) in parts.iter().enumerate() {
                        if nth > 0 {
                            feature.push(' ');
                        }
                        feature.push_str(part);
                    }
                    for (tag, weight) in self.weights.get(feature.as_str()).into_iter().flatten() {
                        scores[usize::from(*tag)] += weight;
                    }
                }
                // Of equal scores, the last in the alphabet.
                let mut best = 0;
                for tag in 1..scores.len() {
                    if scores[tag] >= scores[best] {
                        best = tag;
                    }
                }
                best as u8
            });
            let tag = self.tags[usize::from(number)].as_str();
            found.push(tag);
            (before_that, before) = (before, tag);
        }
        found
    }
}

/// The last three characters.
fn suffix(word: &str) -> &str {
    let start = word.char_indices().rev().nth(2).map_or(0, |(at, _)| at);
    &word[start..]
}

/// A word as features have it.
fn normal(word: &str) -> String {
    if word.contains('-') && !word.starts_with('-') {
        return "!HYPHEN".to_owned();
    }
    let first_is_digit = word.chars().next().is_some_and(is_digit);
    if first_is_digit && word.chars().all(is_digit) && word.chars().count() == 4 {
        return "!YEAR".to_owned();
    }
    if first_is_digit { "!DIGITS".to_owned() } else { word.to_lowercase() }
}

/// WordNet's name for the part of speech of a tag: `n` where it has none.
pub fn part_of_speech(tag: &str) -> char {
    match tag.chars().next() {
        Some('J') => 'a',
        Some('V') => 'v',
        Some('R') => 'r',
        _ => 'n',
    }
}
