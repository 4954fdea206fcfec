//! Notes that metrics keep of captions, so that later runs need not compute them again.

use std::collections::BTreeMap;
use std::sync::Arc;

use capeval_text::Texts;

/// Notes that a metric took on captions, such as their parses; their syntax is its own.
#[derive(Clone, Debug)]
pub struct Memo {
    name: String,
    /// Ascending, each once.
    captions: Texts,
    notes: Texts,
}

impl Memo {
    /// The notes on each caption. Two memos with one name must have the same note on the same caption, so the name says
    /// everything that notes depend on.
    pub fn new(name: String, notes: &BTreeMap<String, String>) -> Self {
        let captions = notes.keys().map(String::as_str).collect();
        Self { name, captions, notes: notes.values().map(String::as_str).collect() }
    }

    /// Adds the notes of another memo with this name.
    #[must_use]
    pub fn with(self, other: &Self) -> Self {
        let owned = |(caption, note): (&str, &str)| (caption.to_owned(), note.to_owned());
        let all = other.iter().chain(self.iter()).map(owned).collect();
        Self::new(self.name, &all)
    }

    /// Each caption with its note, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        (0..self.captions.len()).map(|k| (self.captions.get(k), self.notes.get(k)))
    }

    /// Restores a memo from stored texts; `None` unless captions ascend and each has a note.
    pub fn from_parts(name: String, captions: Texts, notes: Texts) -> Option<Self> {
        let is_sound = captions.len() == notes.len()
            && (1..captions.len()).all(|k| captions.get(k - 1) < captions.get(k));
        is_sound.then_some(Self { name, captions, notes })
    }

    /// The parts to store: the name, the captions and the notes.
    pub fn parts(&self) -> (&str, &Texts, &Texts) {
        (&self.name, &self.captions, &self.notes)
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The note on a caption.
    pub fn get(&self, caption: &str) -> Option<&str> {
        self.find(caption).map(|place| self.notes.get(place))
    }

    /// The place of a caption among all, as [`iter`](Self::iter) gives them.
    pub fn find(&self, caption: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.captions.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.captions.get(middle).cmp(caption) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// Numbers that a metric computed of each reference among those of all images, such as the norms of vectors.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Everything that the numbers depend on, apart from the references and their reading.
    pub name: String,
    /// As many numbers for each reference.
    pub values: Arc<[f64]>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_found_and_stored() {
        let notes = ["a dog", "", "zwei Hunde"].map(|caption| (caption.to_owned(), format!("<{caption}>")));
        let memo = Memo::new("sample".to_owned(), &BTreeMap::from(notes));
        assert_eq!(
            (memo.get("a dog"), memo.get(""), memo.get("zwei Hunde"), memo.get("b")),
            (Some("<a dog>"), Some("<>"), Some("<zwei Hunde>"), None)
        );
        let (name, captions, notes) = memo.parts();
        let restore = |captions: &Texts| Memo::from_parts(name.to_owned(), captions.clone(), notes.clone());
        assert_eq!(restore(captions).unwrap().get("a dog"), Some("<a dog>"));
        let more =
            BTreeMap::from([("a cat", "<a cat>"), ("", "<>")].map(|(a, b)| (a.to_owned(), b.to_owned())));
        let both = memo.clone().with(&Memo::new("sample".to_owned(), &more));
        assert_eq!(
            (both.get("a cat"), both.get("a dog"), both.captions.len()),
            (Some("<a cat>"), Some("<a dog>"), 4)
        );
        assert!(restore(&["b", "a", "c"].into_iter().collect()).is_none(), "not ascending");
        assert!(restore(&["a"].into_iter().collect()).is_none(), "too few");
    }
}
