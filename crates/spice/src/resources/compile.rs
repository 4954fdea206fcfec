//! Compiles CoreNLP's grammar into one file.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use capeval_choice::{Refusal, Remedy, system_words};
use flate2::read::MultiGzDecoder;

use super::java_stream::Stream;
use super::labels::{BOUNDARY_TAG, ROOT, is_intermediate, shown};
use super::lexicon::{Lexicon, TagCounts, Taggings};
use super::outlook::Outlook;
use super::rules::{Rule, Unary, close};
use super::source::{Counts, Source};
use super::{FORMAT, Grammar, Lists, kind};

/// A larger stream is refused before it fills the memory; that of CoreNLP 3.6.0 has 6 MB.
const LARGEST: u64 = 64 << 20;

/// CRC-32 of the unpacked `englishPCFG.ser.gz` of CoreNLP 3.6.0.
const KNOWN: u32 = 0x7e03_5e89;

/// The potentials of the grammar's tags in its order, fitted by subgradients to 600 sentences of COCO, Flickr30k,
/// Clotho and LLaVA of 4 to 32 words: with these, the bound of other sentences of theirs lies 12 nats above the best
/// parse at 8 words, 22 at 16, 29 at 24 and 39 at 28.
const POTENTIALS: &str = include_str!("potentials.txt");

/// The result of a compilation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// True if the grammar is that of CoreNLP 3.6.0, which SPICE 1.0 uses. With another one, scores match a program
    /// with that grammar, but not published scores.
    pub is_recognized: bool,
    /// The origins and the licences of the data; also stored in the file.
    pub notice: String,
}

/// Turns `englishPCFG.ser.gz` of Stanford CoreNLP's models into a file for [`Grammar`].
pub struct Compiler {
    source: Source,
    length: usize,
    checksum: u32,
}

impl Compiler {
    /// The path of the grammar in the jar of the models.
    pub const MEMBER: &str = "edu/stanford/nlp/models/lexparser/englishPCFG.ser.gz";

    /// Reads the grammar from the bytes of `englishPCFG.ser.gz`.
    pub fn grammar(compressed: impl Read) -> Result<Self, Refusal> {
        let other = |message: String| {
            Refusal::new(message).with_remedy(Remedy::say("use the models of Stanford CoreNLP 3.6.0"))
        };
        let mut bytes = Vec::new();
        let unpacked = MultiGzDecoder::new(compressed).take(LARGEST + 1).read_to_end(&mut bytes);
        unpacked
            .map_err(|error| other(format!("the grammar cannot be unpacked: {}", system_words(&error))))?;
        if bytes.len() as u64 > LARGEST {
            return Err(other("the grammar is far larger than that of CoreNLP 3.6.0".to_owned()));
        }
        let stream = Stream::read(&bytes);
        let stream = stream.map_err(|error| other(format!("the grammar is not CoreNLP's: {error}")))?;
        let source = Source::extract(&stream);
        let source =
            source.ok_or_else(|| other("this is not the grammar englishPCFG of CoreNLP".to_owned()))?;
        Ok(Self { source, length: bytes.len(), checksum: crc32fast::hash(&bytes) })
    }

    #[cfg(any(test, fuzzing))]
    pub(crate) fn new(source: Source) -> Self {
        Self { source, length: 0, checksum: 0 }
    }

    /// Writes the compiled file.
    pub fn write(&self, out: impl Write) -> Result<Summary, Refusal> {
        let notice = format!(
            "Compiled by capeval from englishPCFG.ser.gz of Stanford CoreNLP ({} bytes unpacked, CRC-32 {:08x}).\n\n\
             The grammar: Dan Klein and Christopher D. Manning, \"Accurate Unlexicalized Parsing\", ACL 2003. Stanford\n\
             University. Part of Stanford CoreNLP, GNU General Public License 3 or later; counted on treebanks of the\n\
             Linguistic Data Consortium.\n",
            self.length, self.checksum
        );
        let grammar = self.compile(&notice).ok_or_else(|| Refusal::new("the grammar has no goal"))?;
        let written = grammar.write().write(&FORMAT, &grammar.fingerprint, out);
        written.map_err(|error| Refusal::new(system_words(&error)).at("SPICE's compiled resources"))?;
        Ok(Summary { is_recognized: self.checksum == KNOWN, notice })
    }

    fn compile(&self, notice: &str) -> Option<Grammar> {
        let Source { states, tags, binaries, unaries, .. } = &self.source;
        let numbers: BTreeMap<&str, u16> = states.iter().map(String::as_str).zip(0..).collect();
        let mut kinds: Vec<u8> =
            states.iter().map(|state| if is_intermediate(state) { kind::INTERMEDIATE } else { 0 }).collect();
        for tag in tags.iter().filter_map(|tag| numbers.get(tag.as_str())) {
            kinds[usize::from(*tag)] |= kind::TAG;
        }
        if let Some(boundary) = numbers.get(BOUNDARY_TAG) {
            kinds[usize::from(*boundary)] |= kind::BOUNDARY;
        }
        let labels = states.iter().zip(&kinds).map(|(state, kinds)| shown(state, kinds & kind::TAG != 0));
        let binary = |key: fn(&super::rules::Binary) -> (u16, u16, u16)| {
            group(states.len(), binaries.iter().map(|rule| (key(rule), rule.score)))
        };
        let chains: Vec<Unary> = close(unaries, states.len()).into_iter().flatten().collect();
        let root = *numbers.get(ROOT)?;
        let potentials = self.potentials(&numbers);
        let outlook = Outlook::new(states.len(), root, binaries, &chains, &potentials);
        Some(Grammar {
            fingerprint: format!("{:08x}", self.checksum),
            bytes: 0,
            notice: notice.as_bytes().to_vec().into(),
            labels: Lists::new(labels.map(String::into_bytes)),
            kinds: kinds.into(),
            root,
            by_left: binary(|rule| (rule.left, rule.parent, rule.right)),
            chained: Vec::new(),
            rights: Vec::new(),
            chains: group(states.len(), chains.iter().map(|rule| ((rule.child, rule.parent, 0), rule.score))),
            by_parent: binary(|rule| (rule.parent, rule.left, rule.right)),
            unaries: group(
                states.len(),
                unaries.iter().map(|rule| ((rule.parent, rule.child, 0), rule.score)),
            ),
            lexicon: self.lexicon(&numbers),
            outlook,
            neighbours: std::sync::OnceLock::new(),
        })
    }

    /// The potentials that the tables of bounds add to the scores of words under each tag.
    fn potentials(&self, numbers: &BTreeMap<&str, u16>) -> Vec<(u16, f32)> {
        let Source { tags, seen, .. } = &self.source;
        let fitted: Vec<f32> =
            POTENTIALS.split_whitespace().map_while(|number| number.parse().ok()).collect();
        let is_known = self.checksum == KNOWN && fitted.len() == tags.len();
        let potentials = tags.iter().enumerate().filter_map(|(tag, name)| {
            let count = seen.tags.get(&tag).copied().unwrap_or(0.0);
            let by_count = || if count > 0.0 { (count / seen.total).ln() as f32 } else { f32::INFINITY };
            let potential = if is_known { fitted[tag] } else { by_count() };
            Some((*numbers.get(name.as_str())?, potential))
        });
        potentials.collect()
    }

    fn lexicon(&self, numbers: &BTreeMap<&str, u16>) -> Lexicon {
        let Source { tags, words, seen, unseen, .. } = &self.source;
        let tags = tags.iter().enumerate().map(|(tag, name)| TagCounts {
            // A tag that is no state takes part in nothing: the root is never a tag.
            state: u32::from(
                numbers.get(name.as_str()).or_else(|| numbers.get(ROOT)).copied().unwrap_or_default(),
            ),
            count: seen.tags.get(&tag).copied().unwrap_or(0.0),
            unknown: unseen.tags.get(&tag).copied().unwrap_or(0.0),
        });
        Lexicon::new(
            taggings(words, seen),
            taggings(words, unseen),
            tags.collect(),
            [seen.total, unseen.total],
        )
    }
}

/// Lists rules by their first state, each list in the order of the rules.
fn group(states: usize, rules: impl Iterator<Item = ((u16, u16, u16), f32)>) -> Lists<u64> {
    let mut lists = vec![Vec::new(); states];
    for ((key, first, second), score) in rules {
        lists[usize::from(key)].push(Rule { first, second, score }.pack());
    }
    Lists::new(lists)
}

fn taggings(words: &[String], counts: &Counts) -> Taggings {
    let mut numbers: Vec<usize> = counts.words.keys().copied().collect();
    numbers.sort_by_key(|word| &words[*word]);
    let pairs = |word: usize| {
        let from = counts.pairs.partition_point(|pair| pair.0 < word);
        counts.pairs[from..].iter().take_while(move |pair| pair.0 == word)
    };
    Taggings {
        names: Lists::new(numbers.iter().map(|word| words[*word].bytes())),
        counts: numbers.iter().map(|word| counts.words[word]).collect::<Vec<_>>().into(),
        tags: Lists::new(numbers.iter().map(|word| pairs(*word).map(|pair| pair.1 as u32))),
        tag_counts: Lists::new(numbers.iter().map(|word| pairs(*word).map(|pair| pair.2))),
    }
}
