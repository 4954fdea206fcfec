//! The paraphrase table: a trie of phrases, and the targets of each source phrase in file order.
//!
//! Nodes are numbered breadth-first, with children in the order of their words, so the children of a node are
//! adjacent. Node 0 is the empty phrase.

use capeval_choice::Refusal;
use std::io::BufRead;
use std::ops::Range;

use capeval_arrays::Reader;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::arrays::{Bits, Lists, PackedNumbers, Strings};
use super::sections::{Key, Kind, Writer};
use crate::error::unreadable;
use crate::language::Language;

/// The paraphrase table of one language.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paraphrases {
    words: Strings,
    /// For each node, the last word of its phrase.
    labels: PackedNumbers,
    /// Marks the nodes with children.
    parents: Bits,
    /// For each node with children, the node after its last child.
    children: PackedNumbers,
    /// Marks the nodes that are phrases and not only beginnings of phrases.
    members: Bits,
    /// Marks the nodes that have paraphrases.
    sources: Bits,
    /// For each node with paraphrases, the nodes of these in the order of the table.
    targets: Lists,
}

impl Paraphrases {
    /// The empty phrase, the root of the trie.
    pub(crate) const ROOT: u32 = 0;

    pub(super) fn open(reader: &Reader, language: Language) -> Result<Option<Self>, Refusal> {
        let key = |kind| Key::new(kind, language);
        if reader.section(key(Kind::ParaphraseWords).number()).is_none() {
            return Ok(None);
        }
        Ok(Some(Self {
            words: Strings::open(reader, key(Kind::ParaphraseWords))?,
            labels: PackedNumbers::open(reader, key(Kind::PhraseLabels))?,
            parents: Bits::open(reader, key(Kind::PhraseParents))?,
            children: PackedNumbers::open(reader, key(Kind::PhraseChildren))?,
            members: Bits::open(reader, key(Kind::PhraseMembers))?,
            sources: Bits::open(reader, key(Kind::PhraseSources))?,
            targets: Lists::open(reader, key(Kind::PhraseTargets))?,
        }))
    }

    /// Returns true if the lists are consistent.
    pub(super) fn is_whole(&self, file: &[u8]) -> bool {
        self.targets.is_whole(file)
    }

    /// The number of `word` in the table.
    pub(crate) fn word(&self, file: &[u8], word: &str) -> Option<u32> {
        self.words.find(file, word.as_bytes())
    }

    /// Returns true if `node` has paraphrases or is a paraphrase.
    pub(crate) fn is_phrase(&self, file: &[u8], node: u32) -> bool {
        self.members.is_set(file, node as usize)
    }

    /// The children of `node`.
    fn children(&self, file: &[u8], node: u32) -> Range<usize> {
        let range = |parent: usize| {
            let start = if parent == 0 { 1 } else { self.children.get(file, parent - 1)? };
            Some(start as usize..(self.children.get(file, parent)? as usize).min(self.labels.len()))
        };
        self.parents.rank_if_set(file, node as usize).and_then(range).unwrap_or_default()
    }

    /// The words with which longer phrases continue the phrase `node`.
    pub(crate) fn successors(&self, file: &[u8], node: u32) -> impl ExactSizeIterator<Item = u32> {
        self.children(file, node).map(move |child| self.labels.get(file, child).unwrap_or_default())
    }

    /// The node of the phrase `node` followed by `word`.
    pub(crate) fn longer(&self, file: &[u8], node: u32, word: u32) -> Option<u32> {
        let child = self.labels.search(file, self.children(file, node), word)?;
        u32::try_from(child).ok()
    }

    /// The paraphrases of the phrase `node`, in the order of the table.
    pub(crate) fn targets(&self, file: &[u8], node: u32) -> impl Iterator<Item = u32> {
        let source = self.sources.rank_if_set(file, node as usize);
        source.into_iter().flat_map(move |source| self.targets.get(file, source))
    }
}

/// A paraphrase table under construction.
#[derive(Default)]
pub(super) struct ParaphraseSource {
    words: Vec<Box<[u8]>>,
    word_numbers: HashMap<Box<[u8]>, u32, foldhash::fast::FixedState>,
    /// The parent and the last word of each node; node 0 is the empty phrase.
    nodes: Vec<(u32, u32)>,
    node_numbers: HashMap<(u32, u32), u32, foldhash::fast::FixedState>,
    /// The source and the target of each entry.
    entries: Vec<(u32, u32)>,
}

impl ParaphraseSource {
    /// Reads a table: entries of three lines, probability (which METEOR ignores), source, target.
    ///
    /// `progress` is called from time to time.
    pub(super) fn read(mut table: impl BufRead, progress: &mut dyn FnMut()) -> Result<Self, Refusal> {
        let mut source = Self { nodes: vec![(0, 0)], ..Self::default() };
        let mut lines: [Vec<u8>; 3] = Default::default();
        let (mut previous, mut previous_node) = (Vec::new(), 0);
        loop {
            for (at, line) in lines.iter_mut().enumerate() {
                line.clear();
                let read = table.read_until(b'\n', line);
                let read = read.map_err(|error| unreadable("the paraphrase table", &error))?;
                if read == 0 {
                    if at == 0 {
                        return Ok(source);
                    }
                    return Err(Refusal::new(format!(
                        "the paraphrase table ends in the middle of entry {}",
                        source.entries.len() + 1
                    )));
                }
            }
            if lines[1] != previous {
                previous.clone_from(&lines[1]);
                previous_node = source.node(&lines[1])?;
            }
            let target = source.node(&lines[2])?;
            source.entries.push((previous_node, target));
            if source.entries.len().is_multiple_of(1 << 16) {
                progress();
            }
        }
    }

    /// The number of entries.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    fn node(&mut self, phrase: &[u8]) -> Result<u32, Refusal> {
        let mut node = 0;
        let is_delimiter = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0C);
        for word in phrase.split(is_delimiter).filter(|word| !word.is_empty()) {
            let number = match self.word_numbers.get(word) {
                Some(number) => *number,
                None => {
                    let number = self.words.len() as u32;
                    self.words.push(word.into());
                    self.word_numbers.insert(word.into(), number);
                    number
                }
            };
            node = match self.node_numbers.entry((node, number)) {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    let child = self.nodes.len() as u32;
                    self.nodes.push((node, number));
                    *entry.insert(child)
                }
            };
        }
        if node == 0 {
            let entry = self.entries.len() + 1;
            return Err(Refusal::new(format!("the paraphrase table has an empty phrase in entry {entry}")));
        }
        Ok(node)
    }

    pub(super) fn write(&self, writer: &mut Writer, language: Language) {
        let key = |kind| Key::new(kind, language);
        let mut by_word: Vec<u32> = (0..self.words.len() as u32).collect();
        by_word.sort_unstable_by_key(|word| &self.words[*word as usize]);
        let mut word_ranks = vec![0u32; by_word.len()];
        for (rank, word) in by_word.iter().enumerate() {
            word_ranks[*word as usize] = rank as u32;
        }
        let words = by_word.iter().map(|word| &*self.words[*word as usize]);
        Strings::write(writer, key(Kind::ParaphraseWords), words);
        let (order, new_numbers) = self.level_order(&word_ranks);
        self.write_tree(writer, language, &word_ranks, &order, &new_numbers);
        self.write_entries(writer, language, &new_numbers);
    }

    /// The nodes level by level, those of a level by parent and word, and the number of each node in this order.
    fn level_order(&self, word_ranks: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let n = self.nodes.len();
        // A node comes after its parent in reading order, so one pass is enough for depths and levels.
        let mut depths = vec![0u8; n];
        let mut levels: Vec<Vec<u32>> = vec![vec![0]];
        for node in 1..n {
            let depth = depths[self.nodes[node].0 as usize].saturating_add(1);
            depths[node] = depth;
            if levels.len() <= usize::from(depth) {
                levels.push(Vec::new());
            }
            levels[usize::from(depth)].push(node as u32);
        }
        let mut new_numbers = vec![0u32; n];
        let mut order: Vec<u32> = Vec::with_capacity(n);
        for level in &mut levels {
            level.sort_unstable_by_key(|node| {
                let (parent, word) = self.nodes[*node as usize];
                (new_numbers[parent as usize], word_ranks.get(word as usize).copied())
            });
            for node in level.iter() {
                new_numbers[*node as usize] = order.len() as u32;
                order.push(*node);
            }
        }
        (order, new_numbers)
    }

    /// Writes the tree of phrases: the word of each node, and its children.
    fn write_tree(
        &self,
        writer: &mut Writer,
        language: Language,
        word_ranks: &[u32],
        order: &[u32],
        new_numbers: &[u32],
    ) {
        let key = |kind| Key::new(kind, language);
        let labels: Vec<u32> = order
            .iter()
            .map(|node| word_ranks.get(self.nodes[*node as usize].1 as usize).copied().unwrap_or(0))
            .collect();
        let mut n_children = vec![0u32; self.nodes.len()];
        for (parent, _) in &self.nodes[1..] {
            n_children[new_numbers[*parent as usize] as usize] += 1;
        }
        let mut end = 1;
        let ends: Vec<u32> = n_children
            .iter()
            .filter(|count| **count > 0)
            .map(|count| {
                end += count;
                end
            })
            .collect();
        PackedNumbers::write(writer, key(Kind::PhraseLabels), &labels);
        Bits::write(writer, key(Kind::PhraseParents), n_children.iter().map(|count| *count > 0));
        PackedNumbers::write(writer, key(Kind::PhraseChildren), &ends);
    }

    /// Writes which nodes are phrases of entries, and the targets of each source.
    fn write_entries(&self, writer: &mut Writer, language: Language, new_numbers: &[u32]) {
        let key = |kind| Key::new(kind, language);
        let n = self.nodes.len();
        let mut is_member = vec![false; n];
        for (source, target) in &self.entries {
            is_member[new_numbers[*source as usize] as usize] = true;
            is_member[new_numbers[*target as usize] as usize] = true;
        }
        Bits::write(writer, key(Kind::PhraseMembers), is_member.into_iter());

        let mut n_targets = vec![0u32; n];
        for (source, _) in &self.entries {
            n_targets[new_numbers[*source as usize] as usize] += 1;
        }
        let mut places = vec![0u32; n];
        let mut end = 0;
        for (place, count) in places.iter_mut().zip(&n_targets) {
            *place = end;
            end += count;
        }
        let ends: Vec<u32> = places
            .iter()
            .zip(&n_targets)
            .filter(|(_, count)| **count > 0)
            .map(|(place, count)| place + count)
            .collect();
        let mut targets = vec![0u32; self.entries.len()];
        for (source, target) in &self.entries {
            let place = &mut places[new_numbers[*source as usize] as usize];
            targets[*place as usize] = new_numbers[*target as usize];
            *place += 1;
        }
        Bits::write(writer, key(Kind::PhraseSources), n_targets.iter().map(|count| *count > 0));
        Lists::write(writer, key(Kind::PhraseTargets), &ends, &targets);
    }
}
