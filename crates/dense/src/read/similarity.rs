//! Computes the similarity of two texts as Python's `difflib.SequenceMatcher` does.
//!
//! Quirk kept on purpose: in a second text of 200 characters or more, characters that make up over one percent of it
//! are popular and begin no match.

use std::collections::HashMap;

/// Twice the number of matching characters over the number of all; 1 for two empty texts.
pub(super) fn ratio(first: &str, second: &str) -> f64 {
    let (first, second): (Vec<char>, Vec<char>) = (first.chars().collect(), second.chars().collect());
    let n = first.len() + second.len();
    if n == 0 {
        return 1.0;
    }
    let mut places: HashMap<char, Vec<usize>> = HashMap::new();
    for (j, c) in second.iter().enumerate() {
        places.entry(*c).or_default().push(j);
    }
    if second.len() >= 200 {
        let most = second.len() / 100 + 1;
        places.retain(|_, found| found.len() <= most);
    }
    let mut matches = 0;
    let mut open = vec![(0..first.len(), 0..second.len())];
    while let Some((a, b)) = open.pop() {
        let (i, j, size) = longest(&first, &second, &places, (a.clone(), b.clone()));
        if size > 0 {
            matches += size;
            open.push((a.start..i, b.start..j));
            open.push((i + size..a.end, j + size..b.end));
        }
    }
    2.0 * matches as f64 / n as f64
}

type Span = std::ops::Range<usize>;

/// The longest match within two ranges, the first of equally long ones, grown by popular characters beside it.
fn longest(
    first: &[char],
    second: &[char],
    places: &HashMap<char, Vec<usize>>,
    (a, b): (Span, Span),
) -> (usize, usize, usize) {
    let (mut i, mut j, mut size) = (a.start, b.start, 0);
    let mut lengths: HashMap<usize, usize> = HashMap::new();
    for (at, c) in first.iter().enumerate().take(a.end).skip(a.start) {
        let mut next = HashMap::new();
        for place in places.get(c).into_iter().flatten().filter(|place| b.contains(place)) {
            let before = place.checked_sub(1).and_then(|before| lengths.get(&before));
            let length = before.copied().unwrap_or(0) + 1;
            next.insert(*place, length);
            if length > size {
                (i, j, size) = (at + 1 - length, place + 1 - length, length);
            }
        }
        lengths = next;
    }
    while i > a.start && j > b.start && first[i - 1] == second[j - 1] {
        (i, j, size) = (i - 1, j - 1, size + 1);
    }
    while i + size < a.end && j + size < b.end && first[i + size] == second[j + size] {
        size += 1;
    }
    (i, j, size)
}

#[cfg(test)]
mod tests {
    use super::ratio;

    /// Values of Python 3.11.
    #[test]
    fn similarity_is_that_of_difflib() {
        assert_eq!(ratio("abcd", "bcde"), 0.75);
        assert_eq!(ratio("", ""), 1.0);
        assert_eq!(ratio("a man sings", "a man sang"), 18.0 / 21.0);
        assert_eq!(ratio(&"ab".repeat(150), &"ab".repeat(150)), 1.0, "a match grows");
    }
}
