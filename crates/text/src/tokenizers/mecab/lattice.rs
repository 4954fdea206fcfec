//! The cheapest path through the words that a text may be made of.

use super::dictionary::{CharInfo, Dictionary, Entry};

/// The longest run of characters that becomes an unknown word, as MeCab has it.
const LONGEST_RUN: usize = 24;

/// Where there is no node.
const NONE: u32 = u32::MAX;

/// A word at a place.
#[derive(Clone, Copy)]
struct Node {
    entry: Entry,
    /// Where the word itself begins and ends; blanks may stand before it.
    start: usize,
    end: usize,
    after_blank: bool,
    before: u32,
    /// The next node that ends at the same place.
    next: u32,
    cost: i64,
}

/// The words of the best path through `text`, in order.
pub(super) fn words<'t>(dictionary: &Dictionary, text: &'t str) -> Vec<&'t str> {
    // The beginning is a node too, of class 0.
    let origin = Node {
        entry: Entry::default(),
        start: 0,
        end: 0,
        after_blank: false,
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
        look_up(dictionary, text, place, &mut candidates);
        // MeCab puts what it finds in front of a list, and so visits the last first.
        for mut node in candidates.iter().rev().copied() {
            let Some((before, cost)) = cheapest(dictionary, &nodes, ends[place], node) else { continue };
            (node.before, node.cost, node.next) = (before, cost, ends[node.end]);
            ends[node.end] = nodes.len() as u32;
            nodes.push(node);
        }
    }
    let last = ends.iter().rev().find(|first| **first != NONE).copied().unwrap_or(NONE);
    let Some((mut at, _)) = cheapest(dictionary, &nodes, last, origin) else { return Vec::new() };
    let mut path = Vec::new();
    while at != 0 && at != NONE {
        let node = &nodes[at as usize];
        path.push(&text[node.start..node.end]);
        at = node.before;
    }
    path.reverse();
    path
}

/// The node of the list that starts at `first` after which `node` is cheapest, and the cost of the path.
fn cheapest(dictionary: &Dictionary, nodes: &[Node], first: u32, node: Node) -> Option<(u32, i64)> {
    let mut best: Option<(u32, i64)> = None;
    let mut at = first;
    while let Some(before) = nodes.get(at as usize) {
        let cost = before.cost + dictionary.cost(before.entry.right, node.entry, node.after_blank);
        if best.is_none_or(|(_, least)| cost < least) {
            best = Some((at, cost));
        }
        at = before.next;
    }
    best
}

/// The words that may stand at `place`, known ones first.
fn look_up(dictionary: &Dictionary, text: &str, place: usize, found: &mut Vec<Node>) {
    let (start, info) = skip_blanks(dictionary, text, place);
    let rest = &text[start..];
    let Some(first) = rest.chars().next() else { return };
    let node = |entry: Entry, length: usize| Node {
        entry,
        start,
        end: start + length,
        after_blank: start > place,
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

/// Where the run of characters that begins at `from` ends, each of a kind with the one before; and how many they are.
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

/// Where the blanks at `place` end, and what is known of the character there.
fn skip_blanks(dictionary: &Dictionary, text: &str, place: usize) -> (usize, CharInfo) {
    let mut info = dictionary.blank();
    for (at, c) in text[place..].char_indices() {
        let next = dictionary.info(c);
        if !info.is_kind_of(next) {
            return (place + at, next);
        }
        info = next;
    }
    (text.len(), info)
}
