//! SPICE's grammar in one compiled file.
//!
//! The grammar is no part of this crate. [`Compiler`] creates the file once from the models of Stanford CoreNLP that
//! the user has; [`Grammar`] reads it in place, from a memory map or a vector.

mod compile;
mod java_stream;
mod labels;
mod lexicon;
mod lists;
mod neighbours;
mod outlook;
mod rules;
mod signature;
mod source;

use std::fmt;
use std::sync::OnceLock;

use capeval_arrays::{Buffer, Error, Format, Reader, SharedBytes, Writer};
use capeval_choice::{Refusal, Remedy, Task};

pub use compile::{Compiler, Summary};
pub(crate) use lexicon::Lexicon;
pub(crate) use lists::{Lists, View};
use neighbours::Neighbours;
pub(crate) use neighbours::SentenceNeighbours;
use outlook::Outlook;
pub(crate) use outlook::{SentenceOutlook, SpanOutlook};
pub(crate) use rules::Rule;
#[cfg(any(test, fuzzing))]
pub(crate) use rules::{Binary, Unary};
#[cfg(any(test, fuzzing))]
pub(crate) use source::{Counts, Source};

/// The file format; the version increases whenever the meaning of the bytes changes.
const FORMAT: Format = Format { magic: *b"CAPSPICE", version: 1, noun: "SPICE resources" };

/// Bits that say what a state is.
pub(crate) mod kind {
    /// Its children take its place in the finished tree.
    pub(crate) const INTERMEDIATE: u8 = 1;
    /// The tag of the boundary, which is left out of the finished tree.
    pub(crate) const BOUNDARY: u8 = 2;
    /// A tag: its child is a word.
    pub(crate) const TAG: u8 = 4;
}

/// A compiled grammar with its lexicon.
///
/// Opening the file verifies the checksum of all bytes and the bounds of all numbers.
pub struct Grammar {
    fingerprint: String,
    bytes: usize,
    notice: Buffer<u8>,
    /// The labels of states as trees show them.
    labels: Lists<u8>,
    kinds: Buffer<u8>,
    root: u16,
    /// Binary rules by left child: parent and right child.
    by_left: Lists<u64>,
    /// Chains of unary rules by the child: the parent.
    chains: Lists<u64>,
    /// The states from which a chain starts, a bit each.
    chained: Vec<u64>,
    /// The states that are right children, a bit each.
    rights: Vec<u64>,
    /// Binary rules by parent, in the order of CoreNLP's file: both children.
    by_parent: Lists<u64>,
    /// Unary rules by parent, in the order in which CoreNLP visits them: the child.
    unaries: Lists<u64>,
    lexicon: Lexicon,
    outlook: Outlook,
    /// Computed for the first long sentence, which takes longer.
    neighbours: OnceLock<Neighbours>,
}

impl fmt::Debug for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Grammar({}, {} bytes)", self.fingerprint, self.bytes)
    }
}

impl Grammar {
    /// The version of the file format; files of any other version are refused.
    pub const FORMAT_VERSION: u32 = FORMAT.version;

    /// Opens a compiled file.
    pub fn open(bytes: SharedBytes) -> Result<Self, Refusal> {
        Self::read(bytes)
            .map_err(|error| Refusal::new(error.to_string()).with_remedy(Remedy::run(Task::Install("spice"))))
    }

    fn read(bytes: SharedBytes) -> Result<Self, Error> {
        let length = (*bytes).as_ref().len();
        let mut reader = Reader::open(&FORMAT, bytes)?;
        let notice = reader.array()?;
        let labels: Lists<u8> = Lists::open(&mut reader)?;
        let kinds: Buffer<u8> = reader.array()?;
        let root: Buffer<u32> = reader.array()?;
        let states = labels.len();
        let root = root
            .first()
            .copied()
            .filter(|root| (*root as usize) < states)
            .and_then(|r| u16::try_from(r).ok());
        let root = root.ok_or_else(|| reader.unsound())?;
        let mut rules = || {
            let rules: Lists<u64> = Lists::open(&mut reader)?;
            let is_inside = |rule: &u64| {
                let rule = Rule::unpack(*rule);
                usize::from(rule.first) < states
                    && usize::from(rule.second) < states
                    && rule.score.is_finite()
            };
            let is_sound = rules.len() == states && rules.items().iter().all(is_inside);
            if is_sound { Ok(rules) } else { Err(reader.unsound()) }
        };
        let (by_left, chains, by_parent, unaries) = (rules()?, rules()?, rules()?, rules()?);
        let lexicon = Lexicon::open(&mut reader, states)?;
        let outlook = Outlook::open(&mut reader, states)?;
        if kinds.len() != states {
            return Err(reader.unsound());
        }
        let fingerprint = reader.description().to_owned();
        Ok(Self {
            fingerprint,
            bytes: length,
            notice,
            labels,
            kinds,
            root,
            rights: rights(&by_left),
            by_left,
            chained: starts(&chains),
            chains,
            by_parent,
            unaries,
            lexicon,
            outlook,
            neighbours: OnceLock::new(),
        })
    }

    fn write(&self) -> Writer<'_> {
        let mut out = Writer::default();
        out.array(&self.notice);
        self.labels.write(&mut out);
        out.array(&self.kinds);
        out.owned(&[u32::from(self.root)]);
        for rules in [&self.by_left, &self.chains, &self.by_parent, &self.unaries] {
            rules.write(&mut out);
        }
        self.lexicon.write(&mut out);
        self.outlook.write(&mut out);
        out
    }

    /// Eight hexadecimal digits that identify the content.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The origins and the licences of the data.
    pub fn notice(&self) -> String {
        String::from_utf8_lossy(&self.notice).into_owned()
    }

    pub(crate) fn states(&self) -> usize {
        self.labels.len()
    }

    pub(crate) fn label(&self, state: u16) -> &str {
        self.labels.string(usize::from(state))
    }

    /// Returns true if a state is of this [`kind`].
    pub(crate) fn is(&self, state: u16, kind: u8) -> bool {
        self.kinds.get(usize::from(state)).is_some_and(|kinds| kinds & kind != 0)
    }

    pub(crate) fn root(&self) -> u16 {
        self.root
    }

    pub(crate) fn by_left(&self) -> View<'_, u64> {
        self.by_left.view()
    }

    pub(crate) fn chains(&self) -> View<'_, u64> {
        self.chains.view()
    }

    /// The states from which a chain starts, a bit each.
    pub(crate) fn chained(&self) -> &[u64] {
        &self.chained
    }

    /// Returns true if a state is the right child of a rule.
    pub(crate) fn is_right(&self, state: u16) -> bool {
        self.rights[usize::from(state) / 64] >> (state % 64) & 1 == 1
    }

    pub(crate) fn by_parent(&self) -> View<'_, u64> {
        self.by_parent.view()
    }

    pub(crate) fn unaries(&self) -> View<'_, u64> {
        self.unaries.view()
    }

    pub(crate) fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    pub(crate) fn outlook(&self) -> &Outlook {
        &self.outlook
    }

    pub(crate) fn neighbours(&self) -> &Neighbours {
        self.neighbours.get_or_init(|| Neighbours::new(self))
    }
}

/// The numbers of the lists that hold anything, a bit each.
fn starts(lists: &Lists<u64>) -> Vec<u64> {
    let mut bits = vec![0; lists.len().div_ceil(64)];
    for number in (0..lists.len()).filter(|number| !lists.list(*number).is_empty()) {
        bits[number / 64] |= 1 << (number % 64);
    }
    bits
}

/// The right children of rules that are listed by their left ones, a bit each.
fn rights(by_left: &Lists<u64>) -> Vec<u64> {
    let mut bits = vec![0; by_left.len().div_ceil(64)];
    for rule in by_left.items() {
        let right = usize::from(Rule::unpack(*rule).second);
        bits[right / 64] |= 1 << (right % 64);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::Parser;
    use crate::testing::{compiled, mapped};

    #[test]
    fn equal_sources_give_equal_files() {
        assert!(compiled(3) == compiled(3));
        assert!(compiled(3) != compiled(4));
        let grammar = Grammar::open(mapped(&compiled(3))).unwrap();
        assert!(grammar.notice().contains("Accurate Unlexicalized Parsing"));
    }

    #[test]
    fn truncation_is_refused_with_advice() {
        let good = compiled(1);
        for length in [0, 7, 60, 200, good.len() - 1] {
            let refusal = Grammar::open(mapped(&good[..length])).unwrap_err();
            assert!(refusal.remedy().is_some(), "{refusal}");
        }
    }

    #[test]
    fn damage_with_a_correct_checksum_neither_panics_nor_hangs() {
        let good = compiled(2);
        for at in (64..good.len()).step_by(3) {
            for value in [0, 1, 0x7F, 0xFF] {
                let mut bad = good.clone();
                bad[at] = value;
                capeval_arrays::reseal(&mut bad);
                if let Ok(grammar) = Grammar::open(mapped(&bad)) {
                    Parser::new(&grammar).parse(&["a", "dogs", "on"]);
                }
            }
        }
    }
}
