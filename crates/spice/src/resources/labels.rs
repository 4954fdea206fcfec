//! The labels that states leave in the finished tree.

/// Characters that begin an annotation, such as that of the parent in `NP^S`.
const ANNOTATION: [char; 8] = ['-', '=', '|', '#', '^', '~', '_', '['];

/// The goal of every parse.
pub(super) const ROOT: &str = "ROOT";

/// The tag of the word that ends every sentence.
pub(super) const BOUNDARY_TAG: &str = ".$$.";

/// Returns true if a state only exists because rules have two children at most; its own children take its place.
pub(super) fn is_intermediate(state: &str) -> bool {
    state.contains('@')
}

/// The label without annotations, except that phrases (not tags) of time keep theirs: `NP-TMP`.
pub(super) fn shown(state: &str, is_tag: bool) -> String {
    let basic = basic(state);
    if !is_tag && state.contains("-TMP") { format!("{basic}-TMP") } else { basic.to_owned() }
}

/// The label up to its first annotation. An opening character of that kind belongs to the label, as does its
/// repetition: `-LRB-`.
fn basic(state: &str) -> &str {
    let mut opening = state.chars().next().filter(|first| ANNOTATION.contains(first));
    for (at, character) in state.char_indices().skip(1).filter(|(_, c)| ANNOTATION.contains(c)) {
        if at > 1 && opening == Some(character) {
            opening = None;
        } else {
            return &state[..at];
        }
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_are_cut_off() {
        let shown_as = |state| (shown(state, false), shown(state, true));
        for (state, phrase, tag) in [
            ("NP^S-B", "NP", "NP"),
            ("NP-TMP^VP-B", "NP-TMP", "NP"),
            ("-LRB-", "-LRB-", "-LRB-"),
            ("-LRB-^PRN", "-LRB-", "-LRB-"),
            ("PRP$^NP", "PRP$", "PRP$"),
            ("#", "#", "#"),
            ("--", "-", "-"),
            ("", "", ""),
        ] {
            assert_eq!(shown_as(state), (phrase.to_owned(), tag.to_owned()), "{state}");
        }
    }
}
