//! Single images as a page shows them: texts, and what is kept of explanations.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use capeval_corpus::SegmentId;
use capeval_metric::{Explanation, Step};

use crate::number::significant;

/// The images that a page lets its reader look through.
#[derive(Clone, Debug, Default)]
pub struct Gallery {
    /// Every image that some system was scored on.
    pub ids: Vec<SegmentId>,
    /// Each image's references as given.
    pub references: Vec<Vec<String>>,
    /// What each system of the report wrote, in the report's order.
    pub systems: Vec<Captions>,
}

/// What one system wrote, caption by caption in the order of its [`Segments`](crate::Segments).
#[derive(Clone, Debug, Default)]
pub struct Captions {
    /// The image of each caption, as an index into [`Gallery::ids`].
    pub images: Vec<u32>,
    /// The captions as given.
    pub texts: Vec<String>,
    /// For each metric of the report, what is kept of each caption's explanation.
    pub evidence: Vec<Vec<Evidence>>,
}

/// Where the shapes of explanations are kept once each; share one among all calls of [`Evidence::of`].
#[derive(Debug, Default)]
pub struct Shapes(Mutex<HashSet<Arc<str>>>);

/// What a page keeps of an [`Explanation`]: many have the same shape, so it is told once, and numbers apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The tree without its numbers, as JSON.
    pub(crate) shape: Arc<str>,
    /// The numbers in the order of the tree, as JSON without the outer brackets.
    pub(crate) numbers: Box<str>,
    /// The candidate's words, joined.
    pub(crate) candidate: Box<str>,
    /// Each reference's words, joined.
    pub(crate) references: Box<[Box<str>]>,
}

/// Digits of a number.
const DIGITS: usize = 5;

/// Stands between words where a blank could be part of one.
const UNIT: &str = "\u{1f}";

impl Shapes {
    fn shared(&self, shape: String) -> Arc<str> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shape) = known.get(shape.as_str()) {
            return Arc::clone(shape);
        }
        let shape: Arc<str> = shape.into();
        known.insert(Arc::clone(&shape));
        shape
    }
}

impl Evidence {
    /// What is kept of `explanation`.
    #[must_use]
    pub fn of(explanation: &Explanation, shapes: &Shapes) -> Self {
        let mut writer = Writer { explanation, shape: String::new(), numbers: String::new() };
        writer.shape.push('[');
        for (k, step) in explanation.scores.iter().enumerate() {
            writer.comma(k);
            writer.step(step);
        }
        writer.shape.push(']');
        let Writer { shape, numbers, .. } = writer;
        Self {
            shape: shapes.shared(shape),
            numbers: numbers.into(),
            candidate: joined(&explanation.candidate).into(),
            references: explanation.references.iter().map(|words| joined(words).into()).collect(),
        }
    }
}

/// Words in one string: with blanks, or with another sign in front where a word is empty or holds a blank.
fn joined(words: &[String]) -> String {
    if words.iter().any(|word| word.is_empty() || word.contains([' ', '\u{1f}'])) {
        words.iter().flat_map(|word| [UNIT, word]).collect()
    } else {
        words.join(" ")
    }
}

/// Writes a tree twice: its shape, and its numbers.
struct Writer<'e> {
    explanation: &'e Explanation,
    shape: String,
    numbers: String,
}

impl Writer<'_> {
    fn comma(&mut self, k: usize) {
        if k > 0 {
            self.shape.push(',');
        }
    }

    fn text(&mut self, text: &str) {
        // Writing a string to a string cannot fail.
        self.shape.push_str(&serde_json::to_string(text).unwrap_or_default());
    }

    fn number(&mut self, value: f64) {
        if !self.numbers.is_empty() {
            self.numbers.push(',');
        }
        self.numbers.push_str(&json_number(value));
    }

    fn raw(&mut self, json: &str) {
        if !self.numbers.is_empty() {
            self.numbers.push(',');
        }
        self.numbers.push_str(json);
    }

    /// `{"t":title,"v":1,"r":formula,"n":1,"f":[facts],"m":[matchers],"p":[parts]}`, or `"l":[facts]` in place of
    /// parts that are n-grams of the candidate.
    fn step(&mut self, step: &Step) {
        self.shape.push_str("{\"t\":");
        self.text(&step.title);
        if let Some(value) = step.value {
            self.shape.push_str(",\"v\":1");
            self.number(value);
        }
        if let Some(rule) = step.rule {
            self.shape.push_str(",\"r\":");
            self.text(rule.formula);
        }
        if let Some(note) = step.note.as_deref().filter(|note| !self.is_told_by_matches(step, note)) {
            self.shape.push_str(",\"n\":1");
            let note = serde_json::to_string(note).unwrap_or_default();
            self.raw(&note);
        }
        if !step.facts.is_empty() {
            self.shape.push_str(",\"f\":[");
            for (k, fact) in step.facts.iter().enumerate() {
                self.comma(k);
                self.text(fact.name);
                self.number(fact.value);
            }
            self.shape.push(']');
        }
        if !step.matches.is_empty() {
            self.shape.push_str(",\"m\":[");
            for (k, matched) in step.matches.iter().enumerate() {
                self.comma(k);
                self.text(matched.matcher);
                let places = serde_json::to_string(&(&matched.candidate, &matched.references));
                self.raw(&places.unwrap_or_default());
            }
            self.shape.push(']');
        }
        self.parts(step);
        self.shape.push('}');
    }

    fn parts(&mut self, step: &Step) {
        let spans: Option<Vec<(usize, usize)>> = step.parts.iter().map(|part| self.ngram(part)).collect();
        match spans {
            Some(spans) if !spans.is_empty() || step.rule.is_some() => {
                let names: Vec<&str> =
                    step.parts.iter().flat_map(|part| &part.facts).fold(Vec::new(), |mut names, fact| {
                        if !names.contains(&fact.name) {
                            names.push(fact.name);
                        }
                        names
                    });
                self.shape.push_str(",\"l\":");
                self.shape.push_str(&serde_json::to_string(&names).unwrap_or_default());
                self.number(spans.len() as f64);
                for ((start, length), part) in spans.into_iter().zip(&step.parts) {
                    self.number(start as f64);
                    self.number(length as f64);
                    self.number(part.value.unwrap_or(f64::NAN));
                    for name in &names {
                        let fact = part.facts.iter().find(|fact| fact.name == *name);
                        self.number(fact.map_or(f64::NAN, |fact| fact.value));
                    }
                }
            }
            _ if step.parts.is_empty() => {}
            _ => {
                self.shape.push_str(",\"p\":[");
                for (k, part) in step.parts.iter().enumerate() {
                    self.comma(k);
                    self.step(part);
                }
                self.shape.push(']');
            }
        }
    }

    /// Where the candidate holds the n-gram that `step` is about, and of how many words it is, if it is about
    /// one and a reader who knows these two can tell the rest.
    fn ngram(&self, step: &Step) -> Option<(usize, usize)> {
        let [matched] = &step.matches[..] else { return None };
        let is_plain = step.value.is_some() && step.rule.is_none() && step.note.is_none();
        let length: usize = matched.matcher.strip_suffix("-gram")?.parse().ok()?;
        let start = *matched.candidate.first()?;
        let words = self.explanation.candidate.get(start..start + length)?;
        (is_plain && step.parts.is_empty() && words.join(" ") == step.title).then_some((start, length))
    }

    /// Whether a note repeats the words that take part.
    fn is_told_by_matches(&self, step: &Step, note: &str) -> bool {
        let [matched] = &step.matches[..] else { return false };
        let words = matched.candidate.iter().filter_map(|k| self.explanation.candidate.get(*k));
        words.map(String::as_str).collect::<Vec<_>>().join(" ") == note
    }
}

/// A number in few digits, as JSON.
pub(crate) fn json_number(value: f64) -> String {
    if value.is_finite() { significant(value, DIGITS) } else { "null".to_owned() }
}

#[cfg(test)]
mod tests {
    use capeval_metric::{Match, Rule};

    use super::*;

    fn explanation(count: usize) -> Explanation {
        let words = ["a", "cat", "sat"].map(str::to_owned).to_vec();
        let ngram = |k: usize| {
            let place = Match { matcher: "1-gram", candidate: vec![k], references: vec![(0, vec![k])] };
            Step::given(words[k].clone(), 1.0).matched(place)
        };
        let parts = (0..count).map(ngram).collect();
        let score = Step::of("matches", count as f64, Rule::SUM, parts).noted("odd \"note\"");
        Explanation { candidate: words.clone(), references: vec![words], scores: vec![score] }
    }

    #[test]
    fn trees_that_differ_in_numbers_share_a_shape() {
        let shapes = Shapes::default();
        let (two, three) = (Evidence::of(&explanation(2), &shapes), Evidence::of(&explanation(3), &shapes));
        assert!(Arc::ptr_eq(&two.shape, &three.shape));
        assert_eq!(&*two.shape, r#"[{"t":"matches","v":1,"r":"sum","n":1,"l":[]}]"#);
        assert_eq!(&*two.numbers, r#"2,"odd \"note\"",2,0,1,1,1,1,1"#);
        assert_eq!((&*two.candidate, &*two.references[0]), ("a cat sat", "a cat sat"));
    }

    #[test]
    fn words_with_blanks_stay_words() {
        assert_eq!(joined(&["a b".into(), "c".into()]), "\u{1f}a b\u{1f}c");
        assert_eq!(joined(&[String::new()]), "\u{1f}");
        assert_eq!(joined(&[]), "");
    }
}
