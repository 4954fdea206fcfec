//! Explanations in a compact form for pages: a shape that many of them share, and its numbers.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, PoisonError};

use capeval_metric::{Explanation, Match, Statement, Step};
use foldhash::fast::FixedState;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::Rounded;

/// A compact form of an [`Explanation`] for pages. Explanations of many images differ only in their numbers, so the
/// tree without numbers is stored once.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The tree without numbers.
    pub shape: Arc<Shape>,
    /// A JSON list of everything that [`Shape`] leaves out, in its order.
    pub numbers: Box<RawValue>,
    /// The candidate's words, joined with spaces, or each preceded by U+001F if any word is empty or contains a space.
    pub candidate: Box<str>,
    /// Each reference's words, joined in the same way.
    pub references: Box<[Box<str>]>,
}

/// The steps of an explanation, without numbers. [`Evidence::numbers`] holds the numbers of each step, in the order of
/// the tree: its value and its note if it has them, the value of each fact, the places of each match (`[words of the
/// candidate, [[reference, words]…]]`), and, for a list of n-grams, their number and for each its first word in the
/// candidate, its number of words, its value, and the value or `null` of each fact that the list names. Of statements
/// there are their number, and for each its terms, 1 if it is matched or else 0, and its note. The number of its parts
/// follows if they are alike, and then the numbers of each part. A pair of matching words is the name of the matcher
/// and the places of the match.
#[derive(Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Shape(Vec<Node<'static>>);

#[derive(Debug, Default, PartialEq, Eq, Hash, Serialize)]
struct Node<'e> {
    #[serde(skip_serializing_if = "str::is_empty")]
    title: Cow<'e, str>,
    /// Whether the number of the step among its siblings, from 1, follows the title.
    #[serde(skip_serializing_if = "is_not")]
    counted: bool,
    /// Whether this is a match, titled by the words on both sides and noted with the matcher.
    #[serde(skip_serializing_if = "is_not")]
    pair: bool,
    #[serde(skip_serializing_if = "is_not")]
    value: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'static str>,
    #[serde(skip_serializing_if = "is_not")]
    note: bool,
    /// The names of facts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    facts: Vec<&'static str>,
    /// The matcher of each match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    matches: Vec<&'static str>,
    /// The names of the facts of n-grams, if all parts are n-grams of the candidate. Replaces `parts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    ngrams: Option<Vec<&'static str>>,
    /// Whether all parts are statements. Replaces `parts`.
    #[serde(skip_serializing_if = "is_not")]
    statements: bool,
    /// What all parts are like. Replaces `parts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    each: Option<Box<Node<'e>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Node<'e>>,
}

impl Node<'_> {
    fn into_owned(self) -> Node<'static> {
        Node {
            title: self.title.into_owned().into(),
            each: self.each.map(|each| Box::new(each.into_owned())),
            parts: self.parts.into_iter().map(Node::into_owned).collect(),
            ..self
        }
    }
}

/// Whether serde leaves a flag out.
fn is_not(flag: &bool) -> bool {
    !flag
}

/// One of [`Evidence::numbers`].
#[derive(Serialize)]
#[serde(untagged)]
enum Number<'e> {
    Value(Rounded),
    Count(usize),
    Note(&'e str),
    Terms(&'e [String]),
    Places(&'e [usize], &'e [(usize, Vec<usize>)]),
}

/// All shapes, each stored once. Share one instance among all calls of [`Evidence::of`].
#[derive(Debug, Default)]
pub struct Shapes {
    hasher: FixedState,
    /// The shapes by their hash.
    known: Mutex<HashMap<u64, Vec<Arc<Shape>>, FixedState>>,
}

impl Shapes {
    fn shared(&self, shape: Vec<Node<'_>>) -> Arc<Shape> {
        let hash = self.hasher.hash_one(&shape);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let alike = known.entry(hash).or_default();
        if let Some(known) = alike.iter().find(|known| known.0 == shape) {
            return Arc::clone(known);
        }
        let shape = Arc::new(Shape(shape.into_iter().map(Node::into_owned).collect()));
        alike.push(Arc::clone(&shape));
        shape
    }
}

impl Evidence {
    /// The compact form of `explanation`.
    pub fn of(explanation: &Explanation, shapes: &Shapes) -> Self {
        let mut reader = Reader { explanation, numbers: Vec::new() };
        let shape = explanation.scores.iter().map(|step| reader.node(step, 0)).collect();
        let numbers = serde_json::value::to_raw_value(&reader.numbers);
        Self {
            shape: shapes.shared(shape),
            numbers: numbers.expect("numbers and texts have a JSON form"),
            candidate: joined(&explanation.candidate).into(),
            references: explanation.references.iter().map(|words| joined(words).into()).collect(),
        }
    }
}

/// Precedes each word where a word may contain a space.
const UNIT: &str = "\u{1f}";

fn joined(words: &[String]) -> String {
    if words.iter().any(|word| word.is_empty() || word.contains([' ', '\u{1f}'])) {
        words.iter().flat_map(|word| [UNIT, word]).collect()
    } else {
        words.join(" ")
    }
}

/// Collects the numbers of a tree.
struct Reader<'e> {
    explanation: &'e Explanation,
    numbers: Vec<Number<'e>>,
}

impl<'e> Reader<'e> {
    fn value(&mut self, value: f64) {
        self.numbers.push(Number::Value(Rounded(value)));
    }

    /// The step without its numbers; `k` is its index among its siblings.
    fn node(&mut self, step: &'e Step, k: usize) -> Node<'e> {
        if let Some(matched) = self.pair(step) {
            self.numbers.push(Number::Note(matched.matcher));
            self.numbers.push(Number::Places(&matched.candidate, &matched.references));
            return Node { pair: true, ..Node::default() };
        }
        let counted = step.title.rsplit_once(' ').filter(|(_, number)| is_number(number, k + 1));
        let counted = counted.map(|(title, _)| title);
        let mut node = Node {
            title: counted.unwrap_or(&step.title).into(),
            counted: counted.is_some(),
            ..Node::default()
        };
        if let Some(value) = step.value {
            node.value = true;
            self.value(value);
        }
        node.rule = step.rule.map(|rule| rule.formula);
        if let Some(note) = step.note.as_deref().filter(|note| !self.repeats_matches(step, note)) {
            node.note = true;
            self.numbers.push(Number::Note(note));
        }
        for fact in &step.facts {
            node.facts.push(fact.name);
            self.value(fact.value);
        }
        for matched in &step.matches {
            node.matches.push(matched.matcher);
            self.numbers.push(Number::Places(&matched.candidate, &matched.references));
        }
        let statements: Option<Vec<_>> = step.parts.iter().map(plain_statement).collect();
        if let Some(statements) = statements.filter(|statements| !statements.is_empty()) {
            node.statements = true;
            self.numbers.push(Number::Count(statements.len()));
            for (Statement { terms, is_matched }, note) in statements {
                let is_matched = usize::from(*is_matched);
                self.numbers.extend([Number::Terms(terms), Number::Count(is_matched), Number::Note(note)]);
            }
            return node;
        }
        let spans: Option<Vec<(usize, usize)>> = step.parts.iter().map(|part| self.ngram(part)).collect();
        match spans {
            Some(spans) if !spans.is_empty() || step.rule.is_some() => {
                node.ngrams = Some(self.ngrams(step, &spans));
            }
            _ => {
                let start = self.numbers.len();
                let mut parts: Vec<Node<'_>> =
                    step.parts.iter().enumerate().map(|(k, part)| self.node(part, k)).collect();
                let are_alike = parts.first().is_some_and(|first| {
                    (first.counted || first.pair) && parts.iter().all(|part| part == first)
                });
                if are_alike {
                    self.numbers.insert(start, Number::Count(parts.len()));
                    node.each = parts.pop().map(Box::new);
                } else {
                    node.parts = parts;
                }
            }
        }
        node
    }

    /// The match of a step that says nothing else.
    fn pair(&self, step: &'e Step) -> Option<&'e Match> {
        let [matched] = &step.matches[..] else { return None };
        let [(reference, places)] = &matched.references[..] else { return None };
        let Explanation { candidate, references, .. } = self.explanation;
        let is_plain =
            step.value.is_none() && step.rule.is_none() && step.facts.is_empty() && step.parts.is_empty();
        if !is_plain || step.note.as_deref() != Some(matched.matcher) {
            return None;
        }
        let rest = after_words(&step.title, at(candidate, &matched.candidate))?.strip_prefix(" ~ ")?;
        let rest = after_words(rest, at(references.get(*reference)?, places))?;
        rest.is_empty().then_some(matched)
    }

    /// Collects the numbers of parts that are n-grams, given the start and length of each; returns the names of their
    /// facts.
    fn ngrams(&mut self, step: &Step, spans: &[(usize, usize)]) -> Vec<&'static str> {
        let mut names: Vec<&'static str> = Vec::new();
        for fact in step.parts.iter().flat_map(|part| &part.facts) {
            if !names.contains(&fact.name) {
                names.push(fact.name);
            }
        }
        self.numbers.push(Number::Count(spans.len()));
        for ((start, length), part) in spans.iter().zip(&step.parts) {
            self.numbers.extend([Number::Count(*start), Number::Count(*length)]);
            self.value(part.value.unwrap_or(f64::NAN));
            for name in &names {
                let fact = part.facts.iter().find(|fact| fact.name == *name);
                self.value(fact.map_or(f64::NAN, |fact| fact.value));
            }
        }
        names
    }

    /// The position in the candidate and the length, in words, of the n-gram that `step` is about; `None` if the step
    /// holds more than these two determine.
    fn ngram(&self, step: &Step) -> Option<(usize, usize)> {
        let [matched] = &step.matches[..] else { return None };
        let is_plain = step.value.is_some() && step.rule.is_none() && step.note.is_none();
        let length: usize = matched.matcher.strip_suffix("-gram")?.parse().ok()?;
        let start = *matched.candidate.first()?;
        let words = self.explanation.candidate.get(start..start + length)?;
        let is_title = after_words(&step.title, words.iter()) == Some("");
        (is_plain && step.parts.is_empty() && is_title).then_some((start, length))
    }

    /// Whether a note only repeats the matched words.
    fn repeats_matches(&self, step: &Step, note: &str) -> bool {
        let [matched] = &step.matches[..] else { return false };
        after_words(note, at(&self.explanation.candidate, &matched.candidate)) == Some("")
    }
}

/// The words at these positions.
fn at<'w>(words: &'w [String], places: &'w [usize]) -> impl Iterator<Item = &'w String> {
    places.iter().filter_map(|k| words.get(*k))
}

/// What follows `words`, joined with spaces, at the start of `text`; `None` if it does not start with them.
fn after_words<'t, 'w>(text: &'t str, words: impl Iterator<Item = &'w String>) -> Option<&'t str> {
    let mut rest = text;
    for (k, word) in words.enumerate() {
        rest = if k == 0 { rest } else { rest.strip_prefix(' ')? };
        rest = rest.strip_prefix(word.as_str())?;
    }
    Some(rest)
}

/// Whether `text` is `number` as digits.
fn is_number(text: &str, number: usize) -> bool {
    !text.starts_with(['0', '+']) && text.parse() == Ok(number)
}

/// The statement and the note of a step that holds nothing else.
fn plain_statement(step: &Step) -> Option<(&Statement, &str)> {
    let statement = step.statement.as_ref()?;
    let plain = Step::stating(statement.terms.clone(), statement.is_matched);
    let is_plain = Step { note: step.note.clone(), ..plain } == *step;
    is_plain.then_some((statement, step.note.as_deref().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use capeval_metric::Rule;

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
        let shape = serde_json::to_string(&*two.shape).unwrap();
        assert_eq!(shape, r#"[{"title":"matches","value":true,"rule":"sum","note":true,"ngrams":[]}]"#);
        assert_eq!(two.numbers.get(), r#"[2,"odd \"note\"",2,0,1,1,1,1,1]"#);
        assert_eq!((&*two.candidate, &*two.references[0]), ("a cat sat", "a cat sat"));
    }

    #[test]
    fn trees_that_differ_in_the_number_of_like_parts_share_a_shape() {
        let matched =
            |k: usize| Match { matcher: "stem", candidate: vec![k], references: vec![(0, vec![k])] };
        let chunked = |chunks: &[&[usize]]| {
            let chunks = chunks.iter().enumerate().map(|(c, places)| {
                let pairs = places.iter().map(|k| {
                    let words = ["a ~ a", "cat ~ cat", "sat ~ sat"];
                    Step::heading(words[*k], Vec::new()).noted("stem").matched(matched(*k))
                });
                Step::heading(format!("chunk {}", c + 1), pairs.collect())
            });
            let scores = vec![Step::heading("alignment", chunks.collect())];
            Explanation { scores, ..explanation(0) }
        };
        let shapes = Shapes::default();
        let one = Evidence::of(&chunked(&[&[0, 1, 2]]), &shapes);
        let two = Evidence::of(&chunked(&[&[0], &[2]]), &shapes);
        assert!(Arc::ptr_eq(&one.shape, &two.shape));
        let shape = serde_json::to_string(&*two.shape).unwrap();
        assert_eq!(
            shape,
            r#"[{"title":"alignment","each":{"title":"chunk","counted":true,"each":{"pair":true}}}]"#
        );
        assert_eq!(two.numbers.get(), r#"[2,1,"stem",[[0],[[0,[0]]]],1,"stem",[[2],[[0,[2]]]]]"#);
    }

    #[test]
    fn statements_are_stored_without_their_titles() {
        let stating = |terms: &[&str], is_matched| {
            Step::stating(terms.iter().map(|&term| term.to_owned()).collect(), is_matched).noted("note")
        };
        let parts = vec![stating(&["man"], true), stating(&["man", "ride", "wave"], false)];
        let explain = |parts| Explanation { scores: vec![Step::heading("facts", parts)], ..explanation(0) };
        let shapes = Shapes::default();
        let one = Evidence::of(&explain(parts[..1].to_vec()), &shapes);
        let two = Evidence::of(&explain(parts), &shapes);
        assert!(Arc::ptr_eq(&one.shape, &two.shape));
        assert_eq!(serde_json::to_string(&*two.shape).unwrap(), r#"[{"title":"facts","statements":true}]"#);
        assert_eq!(two.numbers.get(), r#"[2,["man"],1,"note",["man","ride","wave"],0,"note"]"#);
    }

    #[test]
    fn words_that_contain_spaces_are_kept_whole() {
        assert_eq!(joined(&["a b".into(), "c".into()]), "\u{1f}a b\u{1f}c");
        assert_eq!(joined(&[String::new()]), "\u{1f}");
        assert_eq!(joined(&[]), "");
    }
}
