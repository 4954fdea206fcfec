//! Flat noun phrases with a conjunction get a phrase for each conjunct: `soya or maize oil` becomes
//! `(soya or maize) oil`.

use super::phrases::Phrases;
use crate::NodeId;

/// Restructures all noun phrases in which at least two nodes, and no noun phrase, follow a conjunction.
pub(super) fn restructure(phrases: &mut Phrases<'_>) {
    for _ in 0..=phrases.len() {
        let Some((parent, place)) = find_flat(phrases) else { return };
        split(phrases, parent, place);
    }
}

fn find_flat(phrases: &Phrases<'_>) -> Option<(NodeId, usize)> {
    let starts = |node: NodeId, label: &str| phrases.label(node).starts_with(label);
    phrases.preorder().into_iter().filter(|node| phrases.is_tag(*node) && starts(*node, "CC")).find_map(
        |node| {
            let (parent, place) = phrases.place(node).filter(|(parent, _)| starts(*parent, "NP"))?;
            let children = phrases.children(parent);
            let flat = place > 0
                && children.len() > place + 2
                && children[place..].iter().all(|child| !starts(*child, "NP"))
                && !starts(children[place + 1], "CC");
            flat.then_some((parent, place))
        },
    )
}

/// The category of a conjunct whose last word has this tag.
fn category(phrases: &Phrases<'_>, last: NodeId) -> &'static str {
    if phrases.label(last).starts_with("JJ") { "ADJP" } else { "NP" }
}

/// Splits a noun phrase whose child at `place` is a conjunction. At least two children follow it.
fn split(phrases: &mut Phrases<'_>, parent: NodeId, place: usize) {
    let children = phrases.children(parent).to_vec();
    let labels: Vec<String> = children.iter().map(|child| phrases.label(*child).to_owned()).collect();
    let label = |place: usize| labels[place].as_str();
    let before = label(place - 1);
    let next = (place + 1..children.len() - 1).find(|place| label(*place).starts_with("CC"));

    let modifier = matches!(before, "DT" | "JJ" | "RB") || label(place + 1) != "DT";
    let is_phrase = before.starts_with("NP") || matches!(before, "ADJP" | "NNS");
    if place == 1 && modifier && !is_phrase {
        split_first_pair(phrases, parent, &children, next);
    } else if place == 2
        && label(0).starts_with("DT")
        && before != "NNS"
        && (children.len() == 5 || next == Some(5))
    {
        let pair = phrases.add(category(phrases, children[1]), children[1..4].to_vec());
        phrases.set_children(parent, [&children[..1], &[pair], &children[4..]].concat());
    } else if place > 2 && label(place - 2) == "," && before != "NNS" {
        // The list may go on to the left: word, comma, word, comma.
        let mut from = place - 3;
        while from > 1 && label(from - 1) == "," {
            from -= 2;
        }
        let list = phrases.add(category(phrases, children[place - 1]), children[from..place + 2].to_vec());
        phrases.set_children(parent, [&children[..from], &[list], &children[place + 2..]].concat());
    } else {
        split_halves(phrases, parent, place, &children, next);
    }
}

/// `a CC b c` becomes `(a CC b) c`; if another conjunction follows, both sides of it become phrases.
fn split_first_pair(phrases: &mut Phrases<'_>, parent: NodeId, children: &[NodeId], next: Option<usize>) {
    let pair = phrases.add(category(phrases, children[0]), children[..3].to_vec());
    let Some(next) = next else {
        return phrases.set_children(parent, [&[pair], &children[3..]].concat());
    };
    let comma = phrases.label(children[next - 1]) == ",";
    let end = next - usize::from(comma);
    let left = if end > 3 {
        phrases.add(category(phrases, children[end - 1]), [&[pair], &children[3..end]].concat())
    } else {
        pair
    };
    // An empty left side is possible only where the comma follows the pair directly.
    let middle = [&[left], &children[end.max(3)..]].concat();
    let kept = (2 + usize::from(comma)).min(middle.len());
    let right = phrases.add("NP", middle[kept..].to_vec());
    phrases.set_children(parent, [&middle[..kept], &[right]].concat());
}

/// `the new phone book and tour guide` becomes `(the new phone book) and (tour guide)`.
fn split_halves(
    phrases: &mut Phrases<'_>,
    parent: NodeId,
    place: usize,
    children: &[NodeId],
    next: Option<usize>,
) {
    let conjunction = children[place];
    let end = next.unwrap_or(children.len());
    let first_word = phrases.children(children[0]).first().copied();
    let is_pair_word =
        |word: NodeId| matches!(phrases.label(word).to_lowercase().as_str(), "either" | "neither" | "both");
    let preconjunct = first_word.filter(|word| place > 1 && is_pair_word(*word));

    let begin = usize::from(preconjunct.is_some());
    let mut parts = Vec::new();
    if let Some(word) = preconjunct {
        parts.push(phrases.add("CC", vec![word]));
    }
    let left_comma = add_half(phrases, &children[begin..place], &mut parts);
    parts.extend(left_comma);
    parts.push(conjunction);
    let right_comma = add_half(phrases, &children[place + 1..end], &mut parts);
    let mut result = if next.is_some() { vec![phrases.add("NP", parts)] } else { parts };
    result.extend(right_comma);
    result.extend(&children[end..]);
    phrases.set_children(parent, result);
}

/// Adds a phrase of the given nodes to the parts, without the comma that may end them, and returns the comma.
fn add_half(phrases: &mut Phrases<'_>, nodes: &[NodeId], parts: &mut Vec<NodeId>) -> Option<NodeId> {
    let (last, rest) = nodes.split_last()?;
    let comma = phrases.label(*last) == ",";
    let inside = if comma { rest } else { nodes };
    if !inside.is_empty() {
        parts.push(phrases.add(category(phrases, *last), inside.to_vec()));
    }
    comma.then_some(*last)
}
