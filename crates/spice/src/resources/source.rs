//! The grammar as CoreNLP's file holds it: what is taken from the object stream, and in which order.

use std::collections::HashMap;

use super::java_stream::{Stream, Value};
use super::rules::{Binary, Unary};

/// The number that stands for any word or any tag.
const ANY: i64 = -1;

/// The settings of the only known grammar; the word scores of this crate follow from them.
const LEXICON_SETTINGS: [(&str, i64); 4] = [
    ("flexiTag", 1),
    ("smartMutation", 0),
    ("smoothInUnknownsThreshold", 100),
    ("useSignatureForKnownSmoothing", 0),
];
const UNKNOWN_WORD_SETTINGS: [(&str, i64); 1] = [("unknownLevel", 2)];

/// The content of `englishPCFG.ser.gz`.
pub(crate) struct Source {
    pub(crate) states: Vec<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) words: Vec<String>,
    /// In the order of the file.
    pub(crate) binaries: Vec<Binary>,
    /// In the order in which CoreNLP visits them.
    pub(crate) unaries: Vec<Unary>,
    pub(crate) seen: Counts,
    /// Counts of signatures, which are numbered among the words.
    pub(crate) unseen: Counts,
}

/// The number of times that words had each tag.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) total: f64,
    pub(crate) words: HashMap<usize, f64>,
    pub(crate) tags: HashMap<usize, f64>,
    /// Word, tag, count; ascending.
    pub(crate) pairs: Vec<(usize, usize, f64)>,
}

impl Source {
    /// Takes the grammar from the stream; `None` if it does not hold one, or one with other settings.
    pub(super) fn extract(stream: &Stream) -> Option<Self> {
        let root = stream.root();
        let lexicon = stream.field(root, "lex")?;
        let unknown = stream.field(lexicon, "uwModel")?;
        let has = |object, settings: &[(&str, i64)]| {
            settings.iter().all(|(name, value)| stream.field(object, name) == Some(Value::Whole(*value)))
        };
        if !has(lexicon, &LEXICON_SETTINGS) || !has(unknown, &UNKNOWN_WORD_SETTINGS) {
            return None;
        }
        if *stream.array(stream.field(lexicon, "smooth")?)? != [Value::Double(1.0), Value::Double(0.2)] {
            return None;
        }
        let strings = |name| index(stream, stream.field(root, name)?);
        let (states, tags, words) = (strings("stateIndex")?, strings("tagIndex")?, strings("wordIndex")?);
        let counts = |model, name| {
            Counts::extract(stream, stream.field(stream.field(model, name)?, "map")?, words.len(), tags.len())
        };
        if states.len() > usize::from(u16::MAX) || tags.len() > states.len() {
            return None;
        }
        let (seen, unseen) = (counts(lexicon, "seenCounter")?, counts(unknown, "unSeenCounter")?);
        let binaries = binaries(stream, stream.field(stream.field(root, "bg")?, "allRules")?, states.len())?;
        let unaries = unaries(stream, stream.field(stream.field(root, "ug")?, "coreRules")?, states.len())?;
        Some(Self { states, tags, words, binaries, unaries, seen, unseen })
    }
}

/// The strings of a numbering.
fn index(stream: &Stream, index: Value) -> Option<Vec<String>> {
    let strings = stream.elements(stream.field(index, "objects")?)?;
    strings.iter().map(|string| stream.text(*string).map(str::to_owned)).collect()
}

fn whole(stream: &Stream, object: Value, name: &str) -> Option<i64> {
    match stream.field(object, name)? {
        Value::Whole(number) => Some(number),
        _ => None,
    }
}

/// A field that holds the number of one of `count` things.
fn place(stream: &Stream, object: Value, name: &str, count: usize) -> Option<usize> {
    usize::try_from(whole(stream, object, name)?).ok().filter(|place| *place < count)
}

/// The logarithm of a rule's probability. (Where annotations of a state were merged it may be positive.)
fn score(stream: &Stream, rule: Value) -> Option<f32> {
    match stream.field(rule, "score")? {
        Value::Float(score) if score.is_finite() => Some(score),
        _ => None,
    }
}

fn binaries(stream: &Stream, list: Value, states: usize) -> Option<Vec<Binary>> {
    let rules = stream.elements(list)?.iter();
    let rules = rules.map(|rule| {
        let state = |name| place(stream, *rule, name, states).map(|state| state as u16);
        let (parent, left, right) = (state("parent")?, state("leftChild")?, state("rightChild")?);
        Some(Binary { parent, left, right, score: score(stream, *rule)? })
    });
    rules.collect()
}

/// The unary rules in the order in which Java's `HashMap` hands them out: when the file is read they are put into one
/// map, and from there into another.
fn unaries(stream: &Stream, map: Value, states: usize) -> Option<Vec<Unary>> {
    let keys = stream.elements(map)?.iter().step_by(2);
    let rules = keys.map(|rule| {
        let state = |name| place(stream, *rule, name, states).map(|state| state as u16);
        Some(Unary { parent: state("parent")?, child: state("child")?, score: score(stream, *rule)? })
    });
    let mut rules = rules.collect::<Option<Vec<Unary>>>()?;
    let buckets = ((rules.len() as f32 / 0.75 + 1.0) as u32).next_power_of_two().max(16);
    for _ in 0..2 {
        rules.sort_by_key(|rule| {
            let hash = u32::from(rule.parent) << 16 ^ u32::from(rule.child);
            (hash ^ hash >> 16) & (buckets - 1)
        });
    }
    Some(rules)
}

impl Counts {
    /// Counts a word with a tag.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn add(&mut self, word: usize, tag: usize, count: f64) {
        self.total += count;
        *self.words.entry(word).or_default() += count;
        *self.tags.entry(tag).or_default() += count;
        match self.pairs.iter_mut().find(|pair| (pair.0, pair.1) == (word, tag)) {
            Some(pair) => pair.2 += count,
            None => self.pairs.push((word, tag, count)),
        }
        self.pairs.sort_by_key(|(word, tag, _)| (*word, *tag));
    }

    fn extract(stream: &Stream, map: Value, words: usize, tags: usize) -> Option<Self> {
        let mut counts = Self::default();
        let (entries, _) = stream.elements(map)?.as_chunks::<2>();
        for [key, value] in entries {
            let Value::Double(count) = stream.field(*value, "d")? else { return None };
            let numbers = (whole(stream, *key, "word")?, whole(stream, *key, "tag")?);
            let word = || place(stream, *key, "word", words);
            let tag = || place(stream, *key, "tag", tags);
            match numbers {
                (ANY, ANY) => counts.total = count,
                (ANY, _) => drop(counts.tags.insert(tag()?, count)),
                (_, ANY) => drop(counts.words.insert(word()?, count)),
                _ => counts.pairs.push((word()?, tag()?, count)),
            }
        }
        counts.pairs.sort_by_key(|(word, tag, _)| (*word, *tag));
        Some(counts)
    }
}
