//! Random grammars of the shape of CoreNLP's, for tests that cannot have the real one.

use std::sync::Arc;

use capeval_arrays::SharedBytes;

use crate::resources::{Binary, Compiler, Counts, Grammar, Source, Unary};

/// Bytes at an address that arrays of any type can be read from, like those of a memory map.
struct AlignedBytes(Vec<u64>, usize);

impl AsRef<[u8]> for AlignedBytes {
    fn as_ref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.0)[..self.1]
    }
}

/// The bytes of a file, as if it were mapped.
pub fn mapped(bytes: &[u8]) -> SharedBytes {
    let mut room = vec![0_u64; bytes.len().div_ceil(8)];
    bytemuck::cast_slice_mut(&mut room)[..bytes.len()].copy_from_slice(bytes);
    Arc::new(AlignedBytes(room, bytes.len()))
}

/// Numbers that are random enough for a grammar.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        ((self.0 >> 33) as usize) % bound
    }

    /// The logarithm of a probability, with few distinct values so that there are ties.
    fn score(&mut self) -> f32 {
        -((self.below(40) + 1) as f32) / 7.0
    }
}

/// The words of random grammars; others are unknown to them.
pub const WORDS: [&str; 8] = ["a", "dog", "cat", "runs", "sits", "on", "red", "sofa"];

const TAGS: [&str; 7] = [".$$.", "DT^NP", "NN^NP", "NN^VP", "VB^VP", "IN^PP", "JJ^NP"];
const PHRASES: [&str; 8] = ["NP^S", "NP^VP", "NP^NP-B", "NP-TMP^S", "VP^S", "VP^VP-v", "PP^NP", "S^ROOT"];

/// The bytes of a compiled random grammar.
pub fn compiled(seed: u64) -> Vec<u8> {
    let random = &mut Random(seed);
    let mut states: Vec<String> =
        ["ROOT"].iter().chain(&TAGS).chain(&PHRASES).map(|&s| s.to_owned()).collect();
    let (tags, phrases) = (2..1 + TAGS.len(), 1 + TAGS.len()..states.len());
    let intermediates = states.len()..states.len() + 2 * PHRASES.len();
    states.extend(PHRASES.iter().flat_map(|phrase| [format!("@{phrase}-1"), format!("@{phrase}-2")]));
    let mut unaries = Vec::new();
    let mut binaries = Vec::new();
    let mut unary = |parent: usize, child: usize, score| {
        let rule = Unary { parent: parent as u16, child: child as u16, score };
        if !unaries.iter().any(|known: &Unary| (known.parent, known.child) == (rule.parent, rule.child)) {
            unaries.push(rule);
        }
    };
    for phrase in phrases.clone() {
        binaries.push(Binary { parent: 0, left: phrase as u16, right: 1, score: random.score() });
        unary(phrase, intermediates.start + 2 * (phrase - phrases.start), random.score());
        unary(phrase, intermediates.start + random.below(intermediates.len()), random.score());
    }
    let part = |random: &mut Random| {
        if random.below(2) == 0 {
            tags.start + random.below(tags.len())
        } else {
            phrases.start + random.below(phrases.len())
        }
    };
    for intermediate in intermediates.clone() {
        for _ in 0..2 {
            let child = part(random);
            unary(intermediate, child, random.score() - 1.0);
        }
        for _ in 0..random.below(8) {
            let same = intermediates.start + random.below(intermediates.len());
            let child = part(random);
            let (left, right) = if random.below(2) == 0 { (same, child) } else { (child, same) };
            let rule = Binary {
                parent: intermediate as u16,
                left: left as u16,
                right: right as u16,
                score: random.score(),
            };
            binaries.push(rule);
        }
    }
    let (mut seen, mut unseen) = (Counts::default(), Counts::default());
    let names = [".$.", "UNK-LCs", "UNK-LC"];
    let words: Vec<String> = WORDS.iter().chain(&names).map(|word| (*word).to_owned()).collect();
    let boundary = WORDS.len();
    seen.add(boundary, 0, 1000.0);
    for word in 0..WORDS.len() {
        for _ in 0..2 {
            seen.add(word, 1 + random.below(TAGS.len() - 1), (1 + random.below(200)) as f64);
        }
    }
    for signature in [boundary + 1, boundary + 2] {
        for tag in 1..TAGS.len() {
            unseen.add(signature, tag, (20 + random.below(50)) as f64);
        }
    }
    let tags = TAGS.iter().map(|&tag| tag.to_owned()).collect();
    let compiler = Compiler::new(Source { states, tags, words, binaries, unaries, seen, unseen });
    let mut bytes = Vec::new();
    compiler.write(&mut bytes).expect("the grammar has a goal");
    bytes
}

/// A random grammar.
pub fn grammar(seed: u64) -> Grammar {
    Grammar::open(mapped(&compiled(seed))).expect("a newly compiled file is valid")
}
