//! Splits a text that contains several references at a separator that occurs in no caption.

use std::collections::HashSet;
use std::hash::Hash;

use crate::captions::Captions;

/// Signs that separate texts: one bar, or two and more of the others.
const SIGNS: &str = "&|~^\\/+=*$%";

/// What else may separate them, but also the sentences of a paragraph.
const BREAKS: &[&str] = &["\n", "\t", "\\n", "\\t", ";"];

/// What stands in any text.
const ORDINARY: &str = ".,'\"-!?():’‘“”–—…";

/// The texts that are looked at.
const SAMPLE: usize = 40;

/// With fewer texts, a sign may be chance.
const FEWEST: usize = 4;

/// A text with more different marks is not parted by them.
const MOST_MARKS: usize = 100;

/// The sign that stands in nearly all references and in no candidate; `None` if there is none.
pub(crate) fn separator(references: &Captions, candidates: &Captions) -> Option<String> {
    let step = references.len().div_ceil(SAMPLE).max(1);
    let sample: Vec<&str> = (0..references.len()).step_by(step).map(|row| references.text(row)).collect();
    if sample.len() < FEWEST {
        return None;
    }
    let captions: Vec<&str> = (0..candidates.len().min(SAMPLE)).map(|row| candidates.text(row)).collect();
    // What most texts have stands in one of the first of them, and texts may be long.
    let n_without = sample.len() / 5;
    let first = sample.get(..=n_without)?;
    let parts =
        |text: &str, sign: &str| text.split(sign).filter(|part| !part.trim().is_empty()).nth(1).is_some();
    let parts_most = |sign: &&str| {
        sample.iter().filter(|text| !parts(text, sign)).nth(n_without).is_none()
            && !captions.iter().any(|text| text.contains(sign))
            && begin_otherwise(&sample, sign)
    };
    let between_sentences =
        || BREAKS.iter().copied().filter(parts_most).find(|sign| fit(&sample, &captions, sign));
    let mark = || {
        let marks = distinct(first.iter().flat_map(|text| distinct(marks(text)).take(MOST_MARKS)));
        marks.filter(|mark| parts_most(&mark.as_str())).find(|mark| fit(&sample, &captions, mark))
    };
    let sign =
        distinct(first.iter().flat_map(|text| signs(text))).find(parts_most).or_else(between_sentences);
    sign.map(str::to_owned).or_else(mark)
}

/// What may stand between texts besides [`SIGNS`]: a word in brackets, such as `[SEP]` and `<sep>`, and any run of
/// signs that ordinary texts do not have.
fn marks(text: &str) -> Vec<String> {
    const LONGEST: usize = 32;
    let closing = |open: char| Some([']', '>', '}']["[<{".find(open)?]);
    let is_of_mark = |c: char| c.is_ascii_alphanumeric() || "|/_ -".contains(c);
    let mut marks = Vec::new();
    // The brackets of such words are no signs between texts.
    let (mut rest, mut end) = (String::new(), 0);
    for (at, open) in text.char_indices() {
        let Some(close) = closing(open) else { continue };
        let Some(length) = text[at + 1..].find(|c| !is_of_mark(c)) else { continue };
        if (1..=LONGEST).contains(&length) && text[at + 1 + length..].starts_with(close) {
            rest += &text[end..at];
            rest.push(' ');
            end = at + length + 2;
            marks.push(text[at..end].to_owned());
        }
    }
    rest += &text[end..];
    let rest = rest.trim();
    let is_sign = |c: char| !c.is_alphanumeric() && !c.is_whitespace() && !ORDINARY.contains(c);
    let runs = rest.split(|c: char| !is_sign(c)).filter(|run| !run.is_empty());
    marks.extend(runs.filter(|run| !rest.starts_with(run) && !rest.ends_with(run)).map(str::to_owned));
    let is_dash = |run: &&str| run.len() > 1 && run.bytes().all(|byte| b"-_:".contains(&byte));
    marks.extend(text.split_whitespace().filter(is_dash).map(str::to_owned));
    marks
}

/// Values without those that came before.
fn distinct<T: Clone + Eq + Hash>(values: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    let mut seen = HashSet::new();
    values.into_iter().filter(move |value| seen.insert(value.clone()))
}

/// Returns true if references do not all begin with one part, as texts after a prompt do.
fn begin_otherwise(references: &[&str], sign: &str) -> bool {
    let mut first =
        references.iter().filter_map(|text| text.split(sign).find(|part| !part.trim().is_empty()));
    first.next().is_some_and(|part| first.filter(|other| *other != part).count() * 10 > references.len())
}

/// Returns true if captions are as long as the parts of references, rather than as whole ones, which could be
/// paragraphs.
fn fit(references: &[&str], captions: &[&str], sign: &str) -> bool {
    let count = |texts: &mut dyn Iterator<Item = &str>| {
        let lengths: Vec<usize> = texts.map(|text| text.split_whitespace().count()).collect();
        let n_texts = lengths.iter().filter(|length| **length > 0).count();
        (lengths.iter().sum::<usize>() as f64, n_texts.max(1) as f64)
    };
    let (n_words, n_parts) = count(&mut references.iter().flat_map(|text| text.split(sign)));
    let (whole, parts) = (n_words / references.len() as f64, n_words / n_parts);
    let (n_words, n_captions) = count(&mut captions.iter().copied());
    let caption = n_words / n_captions;
    caption > 0.0 && (caption / parts).ln().abs() < (whole / caption).ln().abs()
}

/// The signs between words of a text.
fn signs(text: &str) -> Vec<&str> {
    let is_sign = |c: char| SIGNS.contains(c);
    let runs = text.split(|c: char| !is_sign(c)).filter(|run| *run == "|" || run.len() > 1);
    let is_apart = |run: &&str| *run != "|" || !text.contains("<|");
    runs.filter(is_apart).filter(|run| !text.starts_with(run) && !text.ends_with(run)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captions(texts: &[&str]) -> Captions {
        let mut captions = Captions::new("x");
        texts.iter().zip(0..).for_each(|(text, id)| captions.push(i64::from(id).into(), text));
        captions
    }

    #[test]
    fn signs_between_references_are_found() {
        let plain = captions(&["a dog", "a cat", "a man", "a bird"]);
        let joined = captions(&["a dog&&one dog", "a cat && a kitten", "a man&&he", "a bird&&birds"]);
        assert_eq!(separator(&joined, &plain).as_deref(), Some("&&"));
        let bars = captions(&["play|start", "stop | end", "next|forward", "go|run"]);
        assert_eq!(separator(&bars, &plain).as_deref(), Some("|"));
        assert_eq!(separator(&bars, &bars), None);
        assert_eq!(separator(&plain, &plain), None);
        let prose = captions(&["a/b c", "see http://x y", "50% off", "A & B"]);
        assert_eq!(separator(&prose, &plain), None);
    }

    #[test]
    fn marks_separate_references_of_the_length_of_captions() {
        let plain = captions(&["a dog runs", "a cat sleeps", "a man sings", "a bird flies"]);
        for mark in
            ["###", " # ", "[SEP]", " <sep> ", "</s>", "\t", "\\n", " • ", "→", " --- ", " <|endofcaption|> "]
        {
            let joined = [
                ["a dog runs", "one dog"],
                ["a cat sits", "a cat lies"],
                ["a man", "he sings"],
                ["a bird", "it flies"],
            ];
            let joined: Vec<String> = joined.iter().map(|both| both.join(mark)).collect();
            let joined = captions(&joined.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(separator(&joined, &plain).as_deref().map(str::trim), Some(mark.trim()), "{mark}");
            assert_eq!(separator(&joined, &joined), None, "{mark}");
        }
        for texts in [
            ["a dog runs #dog", "a cat sits #cat", "a man sings #man", "a bird flies #bird"],
            ["a dog (brown) runs", "a cat (black) sits", "a man - old - sings", "a bird: it flies"],
            ["<person> runs off", "<person> is asleep", "here <person> sings", "off <person> goes"],
            ["<s> a dog runs </s>", "<s> a cat sits </s>", "<s> a man sings </s>", "<s> a bird flies </s>"],
            [
                "[INST] tell [/INST] a dog runs",
                "[INST] tell [/INST] a cat",
                "[INST] tell [/INST] two men",
                "[INST] tell [/INST] birds",
            ],
            [
                "a caption\na dog runs",
                "a caption\na cat sits",
                "a caption\ntwo men sing",
                "a caption\nbirds fly",
            ],
            ["<s> a big dog </s>", "<s> two cats sit </s>", "<s> an old man </s>", "<s> one bird flies </s>"],
            ["[CLS] a dog runs [SEP]", "[CLS] a cat sits [SEP]", "[CLS] a man [SEP]", "[CLS] a bird [SEP]"],
            [
                "<|im_start|>a dog<|im_end|>",
                "<|im_start|>cat<|im_end|>",
                "<|im_start|>a<|im_end|>",
                "<|im_start|>b<|im_end|>",
            ],
        ] {
            assert_eq!(separator(&captions(&texts), &plain), None, "{texts:?}");
        }
    }

    #[test]
    fn marks_and_signs_around_them_are_found() {
        assert_eq!(marks("a [SEP] b <x>"), ["[SEP]", "<x>"]);
        assert_eq!(marks("a ## b [not, one] c"), ["##", "[", "]"]);
        assert_eq!(marks("[a b] one [c -- two"), ["[a b]", "[", "--"]);
        let long = format!("[{}]", "a".repeat(33));
        assert_eq!(marks(&format!("x {long} y")), ["[", "]"]);
    }

    #[test]
    fn breaks_separate_references_of_the_length_of_captions() {
        let plain = captions(&["a dog runs", "a cat sleeps", "a man sings", "a bird flies"]);
        let lines = captions(&[
            "a dog runs\none dog",
            "a cat sits\na cat lies",
            "a man\nhe sings",
            "a bird\nit flies",
        ]);
        assert_eq!(separator(&lines, &plain).as_deref(), Some("\n"));
        let paragraphs = captions(&[
            "a dog runs and then it sits down",
            "a cat sleeps and then it wakes up",
            "a man sings and then he stops",
            "a bird flies and then it lands",
        ]);
        assert_eq!(separator(&lines, &paragraphs), None);
    }
}
