//! Finds the cheapest sequence of words for a text.

use super::dictionary::{CharInfo, Dictionary, Entry};

/// The longest run of characters that becomes an unknown word, as in MeCab.
const LONGEST_RUN: usize = 24;

/// Means "no node".
const NONE: u32 = u32::MAX;

/// A candidate word at a position.
#[derive(Clone, Copy)]
struct Node {
    entry: Entry,
    /// The start and the end of the word itself; spaces may precede it.
    start: usize,
    end: usize,
    after_space: bool,
    before: u32,
    /// The next node that ends at the same position.
    next: u32,
    cost: i64,
}

impl Dictionary {
    /// The words on the cheapest path through `text`, without the spaces before them.
    pub fn words<'t>(&self, text: &'t str) -> Vec<&'t str> {
        // The start of the text is a node too, of class 0.
        let origin = Node {
            entry: Entry::default(),
            start: 0,
            end: 0,
            after_space: false,
            before: NONE,
            next: NONE,
            cost: 0,
        };
        let mut nodes = vec![origin];
        let mut ends = vec![NONE; text.len() + 1];
        ends[0] = 0;
        let mut candidates: Vec<Node> = Vec::new();
        for place in 0..text.len() {
            if ends[place] == NONE {
                continue;
            }
            candidates.clear();
            look_up(self, text, place, &mut candidates);
            // MeCab prepends the words it finds to a list, and so visits the last one first.
            for mut node in candidates.iter().rev().copied() {
                let Some((before, cost)) = cheapest(self, &nodes, ends[place], node) else { continue };
                (node.before, node.cost, node.next) = (before, cost, ends[node.end]);
                ends[node.end] = nodes.len() as u32;
                nodes.push(node);
            }
        }
        let last = ends.iter().rev().find(|first| **first != NONE).copied().unwrap_or(NONE);
        let Some((mut at, _)) = cheapest(self, &nodes, last, origin) else { return Vec::new() };
        let mut path = Vec::new();
        while at != 0 && at != NONE {
            let node = &nodes[at as usize];
            path.push(&text[node.start..node.end]);
            at = node.before;
        }
        path.reverse();
        path
    }
}

/// The best predecessor of `node` in the list that starts at `first`, and the cost of the path.
fn cheapest(dictionary: &Dictionary, nodes: &[Node], first: u32, node: Node) -> Option<(u32, i64)> {
    let mut best: Option<(u32, i64)> = None;
    let mut at = first;
    while let Some(before) = nodes.get(at as usize) {
        let cost = before.cost + dictionary.cost(before.entry.right, node.entry, node.after_space);
        if best.is_none_or(|(_, least)| cost < least) {
            best = Some((at, cost));
        }
        at = before.next;
    }
    best
}

/// The candidate words at `place`, known ones first.
fn look_up(dictionary: &Dictionary, text: &str, place: usize, found: &mut Vec<Node>) {
    let (start, info) = skip_spaces(dictionary, text, place);
    let rest = &text[start..];
    let Some(first) = rest.chars().next() else { return };
    let node = |entry: Entry, length: usize| Node {
        entry,
        start,
        end: start + length,
        after_space: start > place,
        before: NONE,
        next: NONE,
        cost: 0,
    };
    dictionary.prefixes(rest.as_bytes(), |length, entry| {
        if length > 0 && rest.is_char_boundary(length) {
            found.push(node(entry, length));
        }
    });
    if !found.is_empty() && !info.always() {
        return;
    }
    let unknown = |length: usize| dictionary.unknown(info).iter().map(move |entry| node(*entry, length));
    let mut grouped = None;
    if info.groups() {
        let (length, n_characters) = run(dictionary, rest, first.len_utf8(), info);
        if n_characters <= LONGEST_RUN {
            found.extend(unknown(length));
        }
        grouped = Some(length);
    }
    let mut length = first.len_utf8();
    for _ in 0..info.most() {
        if Some(length) != grouped {
            found.extend(unknown(length));
        }
        let Some(next) = rest[length..].chars().next() else { break };
        if !info.is_kind_of(dictionary.info(next)) {
            break;
        }
        length += next.len_utf8();
    }
    if found.is_empty() {
        found.extend(unknown(first.len_utf8()));
    }
}

/// The end of the run of characters that begins at `from`, each sharing a kind with the one before, and their
/// number.
fn run(dictionary: &Dictionary, text: &str, from: usize, mut info: CharInfo) -> (usize, usize) {
    let (mut length, mut count) = (from, 0);
    for c in text[from..].chars() {
        let next = dictionary.info(c);
        if !info.is_kind_of(next) {
            break;
        }
        (length, count, info) = (length + c.len_utf8(), count + 1, next);
    }
    (length, count)
}

/// The end of the spaces at `place`, and the properties of the character there.
fn skip_spaces(dictionary: &Dictionary, text: &str, place: usize) -> (usize, CharInfo) {
    let mut info = dictionary.space();
    for (at, c) in text[place..].char_indices() {
        let next = dictionary.info(c);
        if !info.is_kind_of(next) {
            return (place + at, next);
        }
        info = next;
    }
    (text.len(), info)
}
