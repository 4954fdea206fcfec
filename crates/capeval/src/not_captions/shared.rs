//! Finds habits of all captions of a system that captions by people do not have: a prompt, a label, the same words at
//! start or end, one text for many images.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::str::SplitWhitespace;

use capeval_choice::{Argument, Code, Remedy};
use capeval_report::Notice;

use super::decoration::{Decoration, are_hardly_any, ends_sentence, is_mark, is_marker};
use super::kind::Cleaning;
use super::labels::{LabelledText, Labels};
use super::{FEW, excerpt, sample, text};

/// The habits of the captions of one side, from a sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Habits {
    /// The labels before the caption and what stands beside it.
    pub label: Option<Labels>,
    /// The word with which nearly all begin, and which occurs nowhere else.
    pub start: Option<String>,
    /// The word with which nearly all end, likewise.
    pub end: Option<String>,
    /// The words of a prompt with which nearly all begin.
    pub prompt: Option<String>,
    /// Texts of many images that share no words with captions.
    pub placeholders: Vec<String>,
    /// The first of the words with digits with which nearly all begin.
    pub first_number: Option<String>,
    /// The first of those with which nearly all end.
    pub last_number: Option<String>,
    /// True if nearly all are in quotation marks.
    pub quotes: bool,
    /// Marks and words around nearly all.
    pub decoration: Decoration,
    /// The habits of some captions that begin alike, after their number and that of all, if there are no habits of all.
    pub of_some: Option<([usize; 2], Box<Self>)>,
    /// The word with which some begin, which is none of a language by its form, after their number and that of all.
    pub some_start: Option<([usize; 2], String)>,
    /// The word with which some end, likewise: the captions of a model that was cut off have no end.
    pub some_end: Option<([usize; 2], String)>,
}

/// The name of references in notices.
pub(super) const REFERENCES: &str = "references";

/// The fewest letters of a mark, such as `sos`: an article is none.
const SHORTEST_MARK: usize = 3;

/// Nine of ten, since a few captions of any system go wrong.
pub(super) const fn are_nearly_all(n: usize, all: usize) -> bool {
    n * 10 >= all * 9
}

impl Habits {
    /// The habits of `captions`, which `others`, the texts of the other side, do not have.
    pub fn of(captions: &[&str], others: &[&str]) -> Self {
        let captions: Vec<&str> = sample(captions).map(str::trim).collect();
        let others: Vec<&str> = sample(others).map(str::trim).collect();
        let mut habits = Self { label: Labels::of(&captions, &others), ..Self::default() };
        if captions.len() < FEW {
            return habits;
        }
        habits.prompt = prompt(&captions, &others);
        // A label may be the first words of a prompt.
        let n_words = |text: &String| text.split_whitespace().count();
        let is_longer =
            |prompt: &String| habits.label.as_ref().is_none_or(|label| n_words(prompt) > label.n_words());
        habits.prompt = habits.prompt.filter(is_longer);
        habits.label = habits.label.filter(|label| label.has_several || habits.prompt.is_none());
        let is_varied = captions.iter().any(|text| *text != captions[0]);
        let outer = [false, true].map(|back| outer_words(&captions, back));
        let start =
            frame(&captions, &others, &outer[0], false).filter(|_| is_varied && habits.prompt.is_none());
        let end = frame(&captions, &others, &outer[1], true).filter(|_| is_varied);
        // Words of a language belong to the captions, and "start" and "end" may be such words if they are alone.
        let is_sure = |word: &Option<String>| {
            word.as_ref().map(|word| is_marker(word, &captions)).filter(|is_marker| *is_marker != Some(false))
        };
        let is_frame = match (is_sure(&start), is_sure(&end)) {
            (Some(_), Some(_)) => true,
            (Some(is_marker), None) | (None, Some(is_marker)) => is_marker == Some(true),
            (None, None) => false,
        };
        if is_frame {
            (habits.start, habits.end) = (
                start.filter(|word| is_marker(word, &captions) != Some(false)),
                end.filter(|word| is_marker(word, &captions) != Some(false)),
            );
        }
        habits.first_number = numbers(&captions, &others, false);
        habits.last_number = numbers(&captions, &others, true);
        habits.placeholders = placeholders(&captions, &others);
        let quoted = |texts: &[&str]| texts.iter().filter(|text| unquoted(text).is_some()).count();
        let n_others = quoted(&others);
        habits.quotes = are_nearly_all(quoted(&captions), captions.len())
            && (n_others * 10 <= others.len() || are_nearly_all(n_others, others.len()));
        if habits.label.is_none() && habits.prompt.is_none() && habits.start.is_none() {
            let found = Decoration::of(&captions, &others);
            let unless = |marks: Option<String>, is_known: bool| marks.filter(|_| !is_known);
            habits.decoration = Decoration {
                opening: unless(found.opening, habits.first_number.is_some()),
                closing: unless(found.closing, habits.last_number.is_some()),
                ..found
            };
        }
        let is_plain = Self { placeholders: Vec::new(), ..habits.clone() } == Self::default();
        habits.of_some = if is_plain { Self::of_some(&captions, &others) } else { None };
        let is_undecorated = habits.of_some.is_none() && habits.decoration == Decoration::default();
        let of_some = |word: &Option<String>, back| {
            let counts = &outer[usize::from(back)];
            if is_undecorated && word.is_none() {
                frame_of_some(&captions, &others, counts, back)
            } else {
                None
            }
        };
        habits.some_start = of_some(&habits.start, false);
        habits.some_end = of_some(&habits.end, true);
        habits
    }

    /// The habits of those captions of which the most begin alike, as the others do not, after their number and that of
    /// all.
    fn of_some(captions: &[&str], others: &[&str]) -> Option<([usize; 2], Box<Self>)> {
        let keys: Vec<Option<String>> = captions.iter().map(|text| beginning(text)).collect();
        let (key, n) = most_common(keys.iter().flatten())?;
        let alike = captions.iter().zip(&keys).filter(|(_, of_text)| of_text.as_ref() == Some(key));
        let group: Vec<&str> = alike.map(|(text, _)| *text).collect();
        let n_others = others.iter().filter(|text| beginning(text).as_ref() == Some(key)).count();
        if n < FEW || n * 10 < captions.len() || !are_hardly_any(n_others, others.len()) {
            return None;
        }
        let is_number = key == NUMBER;
        let first_number = group.iter().find_map(|text| number(text, false)).filter(|_| is_number);
        let decoration = if is_number { Decoration::default() } else { Decoration::of(&group, others) };
        let found = Self { first_number, decoration, ..Self::default() };
        (found != Self::default()).then(|| ([n, captions.len()], Box::new(found)))
    }

    /// The kind of a caption, by itself or since it follows these habits.
    pub fn kind_of(&self, text: &str) -> Option<Code> {
        let alone = text::kind_of(text);
        // A speaker's name is a label, and there may be more of them.
        if alone.is_some_and(|code| code != Code::ChatRoles) {
            return alone;
        }
        // A line that announces the answer may end as a label does.
        let is_clear = |found: &LabelledText<'_>| {
            found.caption.is_some() || text::preamble(text).is_none_or(|rest| self.labelled(rest).is_some())
        };
        let labelled = self.labelled(text).filter(is_clear);
        if let Some(code) = labelled.map(|labelled| labelled.code).or(alone) {
            return Some(code);
        }
        let text = text.trim();
        self.placeholders.iter().any(|placeholder| placeholder == text).then_some(Code::FailedRequests)
    }

    /// What the labels of a text say of it.
    pub fn labelled<'t>(&self, text: &'t str) -> Option<LabelledText<'t>> {
        self.label.as_ref().and_then(|labels| labels.found(text.trim()))
    }

    /// The labels of a text in words.
    pub fn named_labels(&self, text: &str) -> String {
        let names = self.label.as_ref().map(|labels| labels.names(text.trim())).unwrap_or_default();
        let noun = if names.len() == 1 { "the label" } else { "the labels" };
        format!("{noun} {}", names.join(", "))
    }

    /// Notices of the habits of `n` captions, of which scores are doubtful.
    pub fn notices(&self, whose: &str, n: usize) -> Vec<Notice> {
        let of_some = self.of_some.iter().flat_map(|([alike, looked_at], habits)| {
            let share = alike * 100 / looked_at;
            habits.notices_of(&format!("{share}% of the {whose}"), alike * n / looked_at)
        });
        let of_some_words = [("begin", &self.some_start), ("end", &self.some_end)].into_iter();
        let of_some_words = of_some_words.filter_map(|(verb, found)| {
            let ([alike, looked_at], word) = found.as_ref()?;
            let share = alike * 100 / looked_at;
            let message = format!("{share}% of the {whose} {verb} with {word:?}, which counts as a word");
            let remedy = Remedy::set(Argument::Clean, Cleaning::StartEndWords.name()).to("remove them");
            Some(Notice::new(Code::StartEndWords, message).count(alike * n / looked_at).remedy(remedy))
        });
        let is_asked = self.is_asked() && whose != REFERENCES;
        let told = if is_asked { Self { prompt: None, ..self.clone() } } else { self.clone() };
        let of_all = told.notices_of(&format!("nearly all {whose}"), n);
        of_all.into_iter().chain(of_some).chain(of_some_words).collect()
    }

    /// Notices of the habits of `n` captions, which `whose` names.
    fn notices_of(&self, whose: &str, n: usize) -> Vec<Notice> {
        let words = match (&self.start, &self.end) {
            (Some(start), Some(end)) => Some(format!("begin with {start:?} and end with {end:?}")),
            (Some(start), None) => Some(format!("begin with {start:?}")),
            (None, Some(end)) => Some(format!("end with {end:?}")),
            (None, None) => None,
        };
        let remove = |cleaning: Cleaning| Remedy::set(Argument::Clean, cleaning.name()).to("remove them");
        let number = |word: &Option<String>, verb: &str| {
            let message =
                |word| format!("{whose} {verb} with a number, such as {word:?}, which counts as a word");
            word.as_ref().map(|word| {
                Notice::new(Code::StartEndWords, message(word)).count(n).remedy("remove the numbers")
            })
        };
        let numbers = [number(&self.first_number, "begin"), number(&self.last_number, "end")];
        let framed = words.map(|words| {
            let are_two = self.start.is_some() && self.end.is_some();
            let count = if are_two { "count as words" } else { "counts as a word" };
            let message = format!("{whose} {words}, which {count}");
            Notice::new(Code::StartEndWords, message).count(n).remedy(remove(Cleaning::StartEndWords))
        });
        let quoted = self.quotes.then(|| {
            let message = format!("{whose} are in quotation marks");
            Notice::new(Code::Quotes, message).count(n).remedy(remove(Cleaning::Quotes))
        });
        let prompt = self.prompt_notice(whose, n);
        [framed, prompt, quoted]
            .into_iter()
            .chain(numbers)
            .chain(self.decorated(whose, n))
            .flatten()
            .collect()
    }

    /// Notices of marks and words around nearly all of `n` captions.
    fn decorated(&self, whose: &str, n: usize) -> [Option<Notice>; 2] {
        let Decoration { opening, closing, template, addition } = &self.decoration;
        let both = |start: &Option<String>, end: &Option<String>| match (start, end) {
            (Some(start), Some(end)) if start == end => Some(format!("begin and end with \"{start}\"")),
            (Some(start), Some(end)) => Some(format!("begin with \"{start}\" and end with \"{end}\"")),
            (Some(start), None) => Some(format!("begin with \"{start}\"")),
            (None, Some(end)) => Some(format!("end with \"{end}\"")),
            (None, None) => None,
        };
        let notice = |what: String, remedy: &'static str| {
            let message = format!("{whose} {what}, and metrics count it");
            Notice::new(Code::StartEndWords, message).count(n).remedy(remedy)
        };
        [
            both(opening, closing).map(|what| notice(what, "remove these marks")),
            both(template, addition).map(|what| notice(what, "remove these words")),
        ]
    }

    /// A notice of the words with which nearly all of `n` captions begin.
    pub fn prompt_notice(&self, whose: &str, n: usize) -> Option<Notice> {
        let prompt = self.prompt.as_ref()?;
        let message = format!("{whose} begin with {}, which counts as words", excerpt(prompt));
        Some(
            Notice::new(Code::PromptInCaptions, message)
                .count(n)
                .remedy("remove the prompt from the captions"),
        )
    }

    /// What people do not write as a template: marks, and an announcement of the caption.
    pub fn beyond_templates(self) -> Self {
        let announces = |words: &String| words.ends_with([':', '!', '：', '！']);
        let Decoration { opening, closing, template, .. } = self.decoration;
        let decoration =
            Decoration { opening, closing, template: template.filter(announces), ..Decoration::default() };
        Self { prompt: self.prompt.filter(announces), decoration, of_some: None, ..self }
    }

    /// Returns true if the words with which all captions begin are a prompt by their form: it ends as a sentence does.
    pub fn is_asked(&self) -> bool {
        self.prompt.as_ref().is_some_and(|prompt| prompt.ends_with(|c: char| !c.is_alphanumeric()))
    }
}

/// The first word of a text, or the last one, if `back`.
fn outer_word(text: &str, back: bool) -> Option<&str> {
    let mut words = text.split_whitespace();
    if back { words.next_back() } else { words.next() }
}

/// The words with which some texts begin (or end, if `back`), with the number of these.
fn outer_words<'t>(texts: &[&'t str], back: bool) -> HashMap<&'t str, usize> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    texts
        .iter()
        .filter_map(|text| outer_word(text, back))
        .for_each(|word| *counts.entry(word).or_default() += 1);
    counts
}

/// The more frequent one of two words, and of equally frequent ones the first in alphabetical order.
fn by_count(a: &(&str, usize), b: &(&str, usize)) -> Ordering {
    a.1.cmp(&b.1).then_with(|| b.0.cmp(a.0))
}

/// Returns true if a word may be a mark by its letters, and hardly any of these texts has it between its first word and
/// its last one.
fn may_be_mark(word: &str, texts: &[&str]) -> bool {
    let is_word = word.chars().all(|c| c.is_alphanumeric() || "@_#*|~=+-".contains(c))
        && word.chars().any(char::is_alphabetic);
    let repeats = |text: &&&str| {
        let mut inner = text.split_whitespace().skip(1).peekable();
        std::iter::from_fn(|| inner.next().filter(|_| inner.peek().is_some())).any(|other| other == word)
    };
    is_word && word.len() >= SHORTEST_MARK && texts.iter().filter(repeats).count() * 20 <= texts.len()
}

/// The number of texts that have a word, in any case.
fn n_with(word: &str, texts: &[&str]) -> usize {
    let has = |text: &&&str| text.split_whitespace().any(|other| other.eq_ignore_ascii_case(word));
    texts.iter().filter(has).count()
}

/// The word with which nearly all captions begin (or end, if `back`) that is a mark: it occurs nowhere else, the others
/// do not know it or begin and end alike, and, at the start, what follows it begins as the others do.
fn frame(captions: &[&str], others: &[&str], outer: &HashMap<&str, usize>, back: bool) -> Option<String> {
    let (mark, n) = outer.iter().map(|(word, n)| (*word, *n)).max_by(by_count)?;
    if !are_nearly_all(n, captions.len()) || !may_be_mark(mark, captions) {
        return None;
    }
    let n_alike = others.iter().filter(|text| outer_word(text, back) == Some(mark)).count();
    let are_alike = are_nearly_all(n_alike, others.len());
    let is_known = n_with(mark, others) > 0 && !are_alike;
    if is_known || others.is_empty() {
        return None;
    }
    // A word at the start of a template, as in "This image shows", is followed by other words than captions begin with.
    if !back && !are_alike {
        let second = |text: &&str| text.split_whitespace().nth(1).map(str::to_lowercase);
        let (next, _) = most_common(captions.iter().filter_map(second))?;
        let first = |text: &&str| text.split_whitespace().next().map(str::to_lowercase);
        let begin = others.iter().filter_map(first).filter(|first| *first == next).count();
        if begin * 20 < others.len() {
            return None;
        }
    }
    Some(mark.to_owned())
}

/// The word with which at least a tenth of the captions begin (or end, if `back`) that is none of a language by its
/// form and occurs nowhere else; after their number and that of all. The others do not know it, or do so alike.
///
/// A word of another form is not told, even if no other text has it: a system may say "the" where people do not.
fn frame_of_some(
    captions: &[&str],
    others: &[&str],
    outer: &HashMap<&str, usize>,
    back: bool,
) -> Option<([usize; 2], String)> {
    let n_alike = |word: &str| others.iter().filter(|text| outer_word(text, back) == Some(word)).count();
    let is_mark = |(word, n): &(&str, usize)| {
        *n >= FEW
            && *n * 10 >= captions.len()
            && may_be_mark(word, captions)
            && is_marker(word, captions) == Some(true)
            && (n_with(word, others) == 0 || n_alike(word) * 10 >= others.len())
    };
    let found = outer.iter().map(|(word, n)| (*word, *n)).filter(is_mark).max_by(by_count);
    found.filter(|_| !others.is_empty()).map(|(word, n)| ([n, captions.len()], word.to_owned()))
}

/// The first of the words with digits with which nearly all captions begin (or end, if `back`), and few of the others;
/// or nearly all of the others as well, if signs say that they do not count what the captions describe.
fn numbers(captions: &[&str], others: &[&str], back: bool) -> Option<String> {
    let count = |texts: &[&str], is: fn(&str, bool) -> bool| {
        texts.iter().filter_map(|text| number(text, back)).filter(|word| is(word, back)).count()
    };
    let have_signs = |texts: &[&str]| are_nearly_all(count(texts, is_signed), texts.len());
    let any = |_: &str, _: bool| true;
    let is_habit = are_nearly_all(count(captions, any), captions.len())
        && (count(others, any) * 5 <= others.len() || have_signs(captions) && have_signs(others));
    captions.iter().filter(|_| is_habit).find_map(|text| number(text, back))
}

/// The word with digits at the start (or end, if `back`) of a text of other words.
fn number(text: &str, back: bool) -> Option<String> {
    let mut words = text.split_whitespace();
    let word = if back { words.next_back() } else { words.next() }?;
    let has_more = text.len() > word.len() && text.contains(|c: char| c.is_alphabetic());
    let count = |is: fn(&char) -> bool| word.chars().filter(is).count();
    // A tag and an escape have digits, but are no numbers.
    let is_number =
        count(char::is_ascii_digit) > count(|c| c.is_alphabetic()) && !word.contains(['<', '>', '\\']);
    (has_more && is_number).then(|| word.to_owned())
}

/// Returns true for a number such as `1.` and `(0.93)`, which does not count what a caption describes.
fn is_signed(number: &str, back: bool) -> bool {
    let number = if back { number.trim_end_matches(ends_sentence) } else { number };
    number.contains(|c: char| !c.is_alphanumeric())
}

/// The beginning of texts with a number, whatever it is.
const NUMBER: &str = "0";

/// How a text begins that does not begin with a word of its own: the line or the announcement above it, the sign of its
/// mark, or [`NUMBER`].
fn beginning(text: &str) -> Option<String> {
    const MOST_WORDS: usize = 24;
    let text = text.trim();
    let first = text.chars().next()?;
    if number(text, false).is_some_and(|word| is_signed(&word, false)) {
        return Some(NUMBER.to_owned());
    }
    if is_mark(first) {
        return Some(first.to_string());
    }
    let line = text.split_once('\n').map(|(line, _)| line);
    let announced = || {
        let end = |sign: char| text.find(sign).map(|at| at + sign.len_utf8());
        text.get(..[':', '!', '：', '！'].into_iter().filter_map(end).min()?)
            .filter(|start| start.len() < text.len())
    };
    let start = line.or_else(announced)?;
    (start.split_whitespace().count() <= MOST_WORDS).then(|| start.trim().to_owned())
}

/// The most common of some words, and how often it occurs.
pub(super) fn most_common<W: Eq + Hash + Ord>(words: impl Iterator<Item = W>) -> Option<(W, usize)> {
    let mut counts: HashMap<W, usize> = HashMap::new();
    words.for_each(|word| *counts.entry(word).or_default() += 1);
    counts.into_iter().max_by(|(a, n), (b, m)| n.cmp(m).then_with(|| b.cmp(a)))
}

/// The words with which nearly all captions begin, if there are five of them or if they end as a prompt does, and the
/// others do not begin with them.
pub(super) fn prompt(captions: &[&str], others: &[&str]) -> Option<String> {
    const MANY_WORDS: usize = 5;
    const FEW_WORDS: usize = 3;
    const MOST_WORDS: usize = 64;
    // Of each text that goes on, its next word and the words after that.
    let mut kept: Vec<(Option<&str>, SplitWhitespace<'_>)> =
        captions.iter().map(|text| (None, text.split_whitespace())).collect();
    let mut words: Vec<&str> = Vec::new();
    while words.len() < MOST_WORDS {
        kept.iter_mut().for_each(|(next, rest)| *next = rest.next());
        let next = most_common(kept.iter().filter_map(|(next, _)| *next));
        let Some((word, _)) = next.filter(|(_, n)| are_nearly_all(*n, captions.len())) else { break };
        kept.retain(|(next, _)| *next == Some(word));
        words.push(word);
    }
    // If all texts are one, there is no prompt.
    let is_whole = words.len() == MOST_WORDS;
    let ends = kept.iter().filter(|(next, _)| is_whole || next.is_none()).count();
    let ends_as_prompt = words.iter().rposition(|word| word.ends_with([':', '?', '.', '!', '>', ']', '\n']));
    let begins =
        |prompt: &str| others.iter().filter(|text| text.starts_with(prompt)).count() * 10 > others.len();
    if ends * 2 >= captions.len()
        || words.len() < FEW_WORDS
        || begins(words.get(..FEW_WORDS)?.join(" ").as_str())
    {
        return None;
    }
    match ends_as_prompt {
        Some(end) if end + 1 >= FEW_WORDS => Some(words.get(..=end)?.join(" ")),
        _ => (words.len() >= MANY_WORDS).then(|| words.join(" ")),
    }
}

/// Texts of several images that share fewer words with the references than other captions do.
pub(super) fn placeholders(captions: &[&str], others: &[&str]) -> Vec<String> {
    const REPEATED: usize = 3;
    let least = REPEATED.max(captions.len() / 50);
    // Equal texts are as long and end alike, which takes less time to see where texts are long.
    const END: usize = 16;
    let mut ends: HashMap<(usize, &[u8]), usize> = HashMap::new();
    for text in captions {
        let start = text.len().saturating_sub(END);
        *ends.entry((text.len(), text.as_bytes().get(start..).unwrap_or_default())).or_default() += 1;
    }
    if ends.values().all(|n| *n < least) {
        return Vec::new();
    }
    let mut counts: HashMap<&str, usize> = HashMap::new();
    captions.iter().for_each(|text| *counts.entry(text).or_default() += 1);
    let repeated: Vec<&str> =
        counts.iter().filter(|(text, n)| **n >= least && !text.is_empty()).map(|(text, _)| *text).collect();
    if repeated.is_empty() || others.len() < FEW || counts.len() < 2 {
        return Vec::new();
    }
    let known = WordSet::of(others);
    let usual: Vec<f64> =
        captions.iter().filter(|text| !repeated.contains(*text)).map(|text| known.share(text)).collect();
    let usual = usual.iter().sum::<f64>() / usual.len().max(1) as f64;
    let mut found: Vec<String> = repeated
        .into_iter()
        .filter(|text| known.share(text) * 2.0 < usual && !others.contains(text))
        .map(str::to_owned)
        .collect();
    found.sort_unstable();
    found
}

/// The words of some texts, as hashes.
pub(super) struct WordSet(HashSet<u64, BuildHasherDefault<SameHash>>);

/// The hash of a hash: itself.
#[derive(Default)]
pub(super) struct SameHash(u64);

impl Hasher for SameHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| mix(hash, *byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl WordSet {
    pub fn of(texts: &[&str]) -> Self {
        let mut words = HashSet::default();
        for text in texts {
            each_word(text, |word| {
                words.insert(word);
            });
        }
        Self(words)
    }

    /// The share of the words of a text that are among these.
    pub fn share(&self, text: &str) -> f64 {
        let (mut n, mut known) = (0_u32, 0_u32);
        each_word(text, |word| {
            n += 1;
            known += u32::from(self.0.contains(&word));
        });
        f64::from(known) / f64::from(n.max(1))
    }
}

/// Calls `take` with a hash of each word of a text, without case and punctuation.
fn each_word(text: &str, mut take: impl FnMut(u64)) {
    if text.is_ascii() {
        let words = text.as_bytes().split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'\'');
        for word in words.filter(|word| !word.is_empty()) {
            take(word.iter().fold(0, |hash, byte| mix(hash, byte.to_ascii_lowercase())));
        }
    } else {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
        for word in words.filter(|word| !word.is_empty()) {
            take(word.to_lowercase().bytes().fold(0, mix));
        }
    }
}

/// A hash that goes on with another byte.
fn mix(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte) ^ 0x2545_f491_4f6c_dd1d).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// The text between a pair of quotation marks around all of it.
pub(super) fn unquoted(text: &str) -> Option<&str> {
    const PAIRS: &[(char, char)] =
        &[('"', '"'), ('\'', '\''), ('“', '”'), ('‘', '’'), ('«', '»'), ('「', '」')];
    PAIRS.iter().find_map(|(open, close)| text.trim().strip_prefix(*open)?.strip_suffix(*close))
}

/// A notice if all captions of a system are one text.
pub(super) fn one_text(whose: &str, captions: &[&str]) -> Option<Notice> {
    // Scores without captions have empty ones.
    let first = captions.first().filter(|_| captions.len() >= FEW)?.trim();
    let are_same = !first.is_empty() && captions.iter().all(|text| text.trim() == first);
    are_same.then(|| {
        let message = format!("all {whose} are one text: {}", excerpt(first));
        let remedy = Remedy::say("make sure that the captions were read from the right column");
        Notice::new(Code::OneText, message).count(captions.len()).remedy(remedy)
    })
}
