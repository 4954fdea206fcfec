//! Explanations in a compact form for pages: a shape that many of them share, and its numbers.

use std::collections::HashMap;
use std::mem;

use capeval_metric::{Explanation, Match, Statement, Step};
use foldhash::fast::FixedState;

use crate::number::{RoundedNumber, push_digits};

/// A compact form of an [`Explanation`] for pages, as JSON. Explanations of many images differ only in their numbers,
/// so the tree without numbers, its shape, is stored once.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The number of the shape in [`Shapes`].
    pub shape: usize,
    /// A list of everything that the shape leaves out, in its order.
    pub numbers: String,
    /// The candidate's words: a text that joins them with spaces, or puts U+001F before each of them if any is empty or
    /// contains a space.
    pub candidate: String,
    /// The list of each reference's words, joined in the same way.
    pub references: String,
}

/// The distinct shapes of explanations, numbered in the order in which they are first met.
///
/// A shape is a JSON list of the steps of an explanation. A step is an object; what it does not hold is left out:
///
/// - `title`; `counted` if the number of the step among its siblings, from 1, follows the title; `pair` if the step is
///   a match, titled by the words on both sides and noted with the matcher;
/// - `value` if it has one; its `rule`; `note` if it has one; the names of its `facts`; the matcher of each of its
///   `matches`;
/// - its parts: the names of the facts of `ngrams`, if all parts are n-grams of the candidate, `statements`, if all
///   parts are statements, `each`, if all are like this step, or else the list of `parts`.
///
/// [`Evidence::numbers`] holds the numbers of each step, in the order of the tree: its value and its note if it has
/// them, the value of each fact, the places of each match (`[words of the candidate, [[reference, words]…]]`), and, for
/// a list of n-grams, their number and for each its first word in the candidate, its number of words, its value, and
/// the value or `null` of each fact that the list names. Of statements there are their number, and for each its terms,
/// 1 if it is matched or else 0, and its note. The number of its parts follows if they are alike, and then the numbers
/// of each part. A pair of matching words is the name of the matcher and the places of the match.
#[derive(Debug, Default)]
pub struct Shapes {
    numbers: HashMap<Box<str>, usize, FixedState>,
    /// The shape that is being written.
    shape: Vec<u8>,
}

impl Shapes {
    /// The number of `shape`.
    pub fn number(&mut self, shape: &str) -> usize {
        if let Some(number) = self.numbers.get(shape) {
            return *number;
        }
        let number = self.numbers.len();
        self.numbers.insert(shape.into(), number);
        number
    }

    /// All shapes, in the order of their numbers.
    pub fn into_list(self) -> Vec<Box<str>> {
        let mut list: Vec<(Box<str>, usize)> = self.numbers.into_iter().collect();
        list.sort_unstable_by_key(|(_, number)| *number);
        list.into_iter().map(|(shape, _)| shape).collect()
    }
}

impl Evidence {
    /// The compact form of `explanation`; its shape is added to `shapes`.
    pub fn of(explanation: &Explanation, shapes: &mut Shapes) -> Self {
        let shape = mem::take(&mut shapes.shape);
        let mut writer = Writer { explanation, shape, numbers: Vec::with_capacity(1024) };
        writer.shape.clear();
        writer.shape.push(b'[');
        for (k, step) in explanation.scores.iter().enumerate() {
            separate(&mut writer.shape);
            writer.step(step, k);
        }
        writer.shape.push(b']');
        let Writer { shape, mut numbers, .. } = writer;
        // Each follows a comma.
        match numbers.first_mut() {
            Some(comma) => *comma = b'[',
            None => numbers.push(b'['),
        }
        numbers.push(b']');
        let (mut candidate, mut references) = (Vec::new(), vec![b'[']);
        push_words(&mut candidate, &explanation.candidate);
        for words in &explanation.references {
            separate(&mut references);
            push_words(&mut references, words);
        }
        references.push(b']');
        let number = shapes.number(str::from_utf8(&shape).expect("JSON is text"));
        shapes.shape = shape;
        Self {
            shape: number,
            numbers: text(numbers),
            candidate: text(candidate),
            references: text(references),
        }
    }
}

/// Precedes each word where a word may contain a space.
const UNIT: &str = "\u{1f}";

/// Adds words as one text.
fn push_words(json: &mut Vec<u8>, words: &[String]) {
    let is_plain = |word: &String| !word.is_empty() && !has(word, |byte| is_escaped(byte) || byte == b' ');
    json.push(b'"');
    if words.iter().all(is_plain) {
        for word in words {
            json.extend_from_slice(word.as_bytes());
            json.push(b' ');
        }
        if !words.is_empty() {
            json.pop();
        }
    } else {
        let is_spaced = words.iter().any(|word| word.is_empty() || word.contains([' ', '\u{1f}']));
        for (k, word) in words.iter().enumerate() {
            if is_spaced {
                push_escaped(json, UNIT);
            } else if k > 0 {
                json.push(b' ');
            }
            push_escaped(json, word);
        }
    }
    json.push(b'"');
}

/// Returns true if any byte is `wanted`; looks at all of them, which the compiler does many at a time.
fn has(text: &str, wanted: impl Fn(u8) -> bool) -> bool {
    text.bytes().fold(false, |found, byte| found | wanted(byte))
}

/// Returns true if JSON has another form for a character.
fn is_escaped(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

fn push_text(json: &mut Vec<u8>, text: &str) {
    json.push(b'"');
    push_escaped(json, text);
    json.push(b'"');
}

/// Adds what stands between the quotation marks of a text in JSON.
fn push_escaped(json: &mut Vec<u8>, text: &str) {
    if has(text, is_escaped) {
        let quoted = serde_json::to_string(text).expect("a text has a JSON form");
        json.extend_from_slice(&quoted.as_bytes()[1..quoted.len() - 1]);
    } else {
        json.extend_from_slice(text.as_bytes());
    }
}

/// Adds a comma, except at the start of a list or an object.
fn separate(json: &mut Vec<u8>) {
    if !matches!(json.last(), Some(b'[' | b'{')) {
        json.push(b',');
    }
}

fn text(json: Vec<u8>) -> String {
    String::from_utf8(json).expect("JSON is text")
}

/// Writes the shape and the numbers of a tree.
struct Writer<'e> {
    explanation: &'e Explanation,
    shape: Vec<u8>,
    /// Each after a comma.
    numbers: Vec<u8>,
}

impl<'e> Writer<'e> {
    fn count(&mut self, count: usize) {
        self.numbers.push(b',');
        push_digits(&mut self.numbers, count as u32);
    }

    fn value(&mut self, value: f64) {
        self.numbers.push(b',');
        RoundedNumber(value).push(&mut self.numbers);
    }

    fn text(&mut self, text: &str) {
        self.numbers.push(b',');
        push_text(&mut self.numbers, text);
    }

    fn places(&mut self, matched: &Match) {
        let Self { numbers, .. } = self;
        numbers.push(b',');
        numbers.push(b'[');
        push_counts(numbers, &matched.candidate);
        numbers.extend_from_slice(b",[");
        for (reference, places) in &matched.references {
            separate(numbers);
            numbers.push(b'[');
            push_digits(numbers, *reference as u32);
            numbers.push(b',');
            push_counts(numbers, places);
            numbers.push(b']');
        }
        numbers.extend_from_slice(b"]]");
    }

    /// Adds a field to the shape: a name in quotation marks and a colon, and its value if that is always the same.
    fn field(&mut self, field: &str) {
        separate(&mut self.shape);
        self.shape.extend_from_slice(field.as_bytes());
    }

    fn names(&mut self, field: &str, names: impl Iterator<Item = &'static str>) {
        self.field(field);
        self.shape.push(b'[');
        for name in names {
            separate(&mut self.shape);
            push_text(&mut self.shape, name);
        }
        self.shape.push(b']');
    }

    /// Writes a step; `k` is its index among its siblings. Whether its shape may be that of all of them.
    fn step(&mut self, step: &'e Step, k: usize) -> bool {
        if let Some(matched) = self.pair(step) {
            self.shape.extend_from_slice(br#"{"pair":true}"#);
            self.text(matched.matcher);
            self.places(matched);
            return true;
        }
        self.shape.push(b'{');
        let counted =
            Some(&*step.title).filter(|title| title.as_bytes().last().is_some_and(u8::is_ascii_digit));
        let counted = counted.and_then(|title| title.rsplit_once(' '));
        let counted = counted.filter(|(_, number)| is_number(number, k + 1));
        let title = counted.map_or(step.title.as_str(), |(title, _)| title);
        if !title.is_empty() {
            self.field(r#""title":"#);
            push_text(&mut self.shape, title);
        }
        if counted.is_some() {
            self.field(r#""counted":true"#);
        }
        if let Some(value) = step.value {
            self.field(r#""value":true"#);
            self.value(value);
        }
        if let Some(rule) = step.rule {
            self.field(r#""rule":"#);
            push_text(&mut self.shape, rule.formula);
        }
        if let Some(note) = step.note.as_deref().filter(|note| !self.repeats_matches(step, note)) {
            self.field(r#""note":true"#);
            self.text(note);
        }
        if !step.facts.is_empty() {
            self.names(r#""facts":"#, step.facts.iter().map(|fact| fact.name));
            step.facts.iter().for_each(|fact| self.value(fact.value));
        }
        if !step.matches.is_empty() {
            self.names(r#""matches":"#, step.matches.iter().map(|matched| matched.matcher));
            step.matches.iter().for_each(|matched| self.places(matched));
        }
        self.parts(step);
        self.shape.push(b'}');
        counted.is_some()
    }

    fn parts(&mut self, step: &'e Step) {
        let statements: Option<Vec<_>> = step.parts.iter().map(plain_statement).collect();
        if let Some(statements) = statements.filter(|statements| !statements.is_empty()) {
            self.field(r#""statements":true"#);
            self.count(statements.len());
            for (Statement { terms, is_matched }, note) in statements {
                self.numbers.extend_from_slice(b",[");
                for term in terms {
                    separate(&mut self.numbers);
                    push_text(&mut self.numbers, term);
                }
                self.numbers.push(b']');
                self.count(usize::from(*is_matched));
                self.text(note);
            }
            return;
        }
        let spans: Option<Vec<(usize, usize)>> = step.parts.iter().map(|part| self.ngram(part)).collect();
        match spans {
            Some(spans) if !spans.is_empty() || step.rule.is_some() => self.ngrams(step, &spans),
            _ if step.parts.is_empty() => {}
            _ => self.others(step),
        }
    }

    /// Writes parts that are n-grams, given the start and length of each.
    fn ngrams(&mut self, step: &Step, spans: &[(usize, usize)]) {
        let mut names: Vec<&'static str> = Vec::new();
        for fact in step.parts.iter().flat_map(|part| &part.facts) {
            if !names.contains(&fact.name) {
                names.push(fact.name);
            }
        }
        self.names(r#""ngrams":"#, names.iter().copied());
        self.count(spans.len());
        for ((start, length), part) in spans.iter().zip(&step.parts) {
            self.count(*start);
            self.count(*length);
            self.value(part.value.unwrap_or(f64::NAN));
            for name in &names {
                let fact = part.facts.iter().find(|fact| fact.name == *name);
                self.value(fact.map_or(f64::NAN, |fact| fact.value));
            }
        }
    }

    /// Writes parts that are neither statements nor n-grams.
    fn others(&mut self, step: &'e Step) {
        let (field, numbers) = (self.shape.len(), self.numbers.len());
        self.field(r#""parts":["#);
        let first = self.shape.len();
        let mut end = first;
        let mut are_alike = true;
        for (k, part) in step.parts.iter().enumerate() {
            separate(&mut self.shape);
            let start = self.shape.len();
            let is_common = self.step(part, k);
            if k == 0 {
                end = self.shape.len();
                are_alike = is_common;
            }
            are_alike = are_alike && self.shape[first..end] == self.shape[start..];
        }
        if are_alike {
            let each = self.shape[first..end].to_owned();
            self.shape.truncate(field);
            self.field(r#""each":"#);
            self.shape.extend(each);
            let count = format!(",{}", step.parts.len());
            self.numbers.splice(numbers..numbers, count.into_bytes());
        } else {
            self.shape.push(b']');
        }
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

    /// Returns true if a note only repeats the matched words.
    fn repeats_matches(&self, step: &Step, note: &str) -> bool {
        let [matched] = &step.matches[..] else { return false };
        after_words(note, at(&self.explanation.candidate, &matched.candidate)) == Some("")
    }
}

/// Adds a list of counts.
fn push_counts(json: &mut Vec<u8>, counts: &[usize]) {
    json.push(b'[');
    for count in counts {
        separate(json);
        push_digits(json, *count as u32);
    }
    json.push(b']');
}

/// The words at these positions.
fn at<'w>(words: &'w [String], places: &'w [usize]) -> impl Iterator<Item = &'w String> {
    places.iter().filter_map(|k| words.get(*k))
}

/// The part of `text` after `words`, joined with spaces, at its start; `None` if it does not start with them.
fn after_words<'t, 'w>(text: &'t str, words: impl Iterator<Item = &'w String>) -> Option<&'t str> {
    let mut rest = text;
    for (k, word) in words.enumerate() {
        rest = if k == 0 { rest } else { rest.strip_prefix(' ')? };
        rest = rest.strip_prefix(word.as_str())?;
    }
    Some(rest)
}

/// Returns true if `text` is `number` as digits.
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

    /// The explanations in their compact form, and their shapes.
    fn compact<const N: usize>(explanations: [Explanation; N]) -> ([Evidence; N], Vec<Box<str>>) {
        let mut shapes = Shapes::default();
        let evidence = explanations.map(|explanation| Evidence::of(&explanation, &mut shapes));
        (evidence, shapes.into_list())
    }

    #[test]
    fn trees_that_differ_in_numbers_share_a_shape() {
        let ([two, three, none], shapes) = compact([explanation(2), explanation(3), Explanation::default()]);
        assert_eq!((two.shape, three.shape, none.shape), (0, 0, 1));
        let shape = r#"[{"title":"matches","value":true,"rule":"sum","note":true,"ngrams":[]}]"#;
        assert_eq!(shapes, [shape.into(), "[]".into()]);
        assert_eq!(two.numbers, r#"[2,"odd \"note\"",2,0,1,1,1,1,1]"#);
        assert_eq!((&*two.candidate, &*two.references), (r#""a cat sat""#, r#"["a cat sat"]"#));
        assert_eq!((&*none.numbers, &*none.candidate, &*none.references), ("[]", r#""""#, "[]"));
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
        let ([_, two], shapes) = compact([chunked(&[&[0, 1, 2]]), chunked(&[&[0], &[2]])]);
        let shape = r#"[{"title":"alignment","each":{"title":"chunk","counted":true,"each":{"pair":true}}}]"#;
        assert_eq!(shapes, [shape.into()]);
        assert_eq!(two.numbers, r#"[2,1,"stem",[[0],[[0,[0]]]],1,"stem",[[2],[[0,[2]]]]]"#);
    }

    #[test]
    fn parts_that_are_not_alike_are_listed() {
        let parts = vec![
            Step::given("word 1", 1.0),
            Step::given("word 2", 2.5).fact("df", f64::NAN),
            Step::heading("\"", vec![Step::given("x", 3.0)]),
        ];
        let scores = vec![Step::of("s", 3.5, Rule::SUM, parts), Step::given("t 2", 0.0)];
        let ([one], shapes) = compact([Explanation { scores, ..explanation(0) }]);
        let counted = r#"{"title":"word","counted":true,"value":true}"#;
        let with_fact = r#"{"title":"word","counted":true,"value":true,"facts":["df"]}"#;
        let heading = r#"{"title":"\"","parts":[{"title":"x","value":true}]}"#;
        let first =
            format!(r#"{{"title":"s","value":true,"rule":"sum","parts":[{counted},{with_fact},{heading}]}}"#);
        let second = r#"{"title":"t","counted":true,"value":true}"#;
        assert_eq!(shapes, [format!("[{first},{second}]").into()]);
        assert_eq!(one.numbers, "[3.5,1,2.5,null,3,0]");
    }

    #[test]
    fn statements_are_stored_without_their_titles() {
        let stating = |terms: &[&str], is_matched| {
            Step::stating(terms.iter().map(|&term| term.to_owned()).collect(), is_matched).noted("note")
        };
        let parts = vec![stating(&["man"], true), stating(&["man", "ride", "wave"], false)];
        let explain = |parts| Explanation { scores: vec![Step::heading("facts", parts)], ..explanation(0) };
        let ([_, two], shapes) = compact([explain(parts[..1].to_vec()), explain(parts)]);
        assert_eq!(shapes, [r#"[{"title":"facts","statements":true}]"#.into()]);
        assert_eq!(two.numbers, r#"[2,["man"],1,"note",["man","ride","wave"],0,"note"]"#);
    }

    #[test]
    fn words_that_contain_spaces_are_kept_whole() {
        let joined = |words: &[&str]| {
            let mut json = Vec::new();
            push_words(&mut json, &words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
            serde_json::from_slice::<String>(&json).unwrap()
        };
        assert_eq!(joined(&["a", "\"c\\", "é\u{7f}\n"]), "a \"c\\ é\u{7f}\n");
        assert_eq!(joined(&["a", "cat"]), "a cat");
        assert_eq!(joined(&["a b", "c"]), "\u{1f}a b\u{1f}c");
        assert_eq!(joined(&[""]), "\u{1f}");
        assert_eq!(joined(&[]), "");
    }
}
