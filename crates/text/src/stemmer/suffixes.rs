//! The suffixes that all versions of Porter's algorithm replace, and how a suffix is replaced.

/// The suffixes that all dialects replace in step 2.
pub(super) const STEP_2: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

/// The suffixes that all dialects replace in step 3.
pub(super) const STEP_3: &[(&str, &str)] = &[
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

/// Returns true if `w` ends in `suffix`, which is ASCII.
pub(super) fn ends(w: &[char], suffix: &str) -> bool {
    w.len() >= suffix.len() && w[w.len() - suffix.len()..].iter().copied().eq(suffix.chars())
}

/// What is before a suffix.
pub(super) fn cut<'w>(w: &'w [char], suffix: &str) -> &'w [char] {
    &w[..w.len().saturating_sub(suffix.len())]
}

/// Puts `by` in the place of a suffix.
pub(super) fn replace(w: &mut Vec<char>, suffix: &str, by: &str) {
    w.truncate(w.len().saturating_sub(suffix.len()));
    w.extend(by.chars());
}
