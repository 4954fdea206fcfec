//! Finds the thoughts of a language model before its answer, in any notation: a pair of marks, a closing mark alone, or
//! labels.

use super::labels::after_labelled_thoughts;

/// Parts of the names of thoughts, which settle what the form alone leaves open.
const STEMS: &[&str] =
    &["think", "thought", "reason", "analy", "reflect", "scratch", "monolog", "rationale", "cot", "plan"];

/// The fewest words between marks of an unknown name that are thoughts.
const MANY_WORDS: usize = 5;

/// The answer after the thoughts with which a text begins: `Some(None)` if there are thoughts and no answer, `None` if
/// there are no thoughts.
pub fn after_thoughts(text: &str) -> Option<Option<&str>> {
    let text = text.trim();
    if !text.bytes().any(|byte| matches!(byte, b'<' | b'[' | b'{' | b'/' | b':' | 0x80..) || byte == b'|') {
        return has_bare_channels(text);
    }
    let answer = channels(text)
        .or_else(|| marked(text))
        .or_else(|| closed(text))
        .or_else(|| after_labelled_thoughts(text).map(Some));
    answer
        .or_else(|| has_bare_channels(text))
        .map(|answer| answer.map(unwrapped).filter(|answer| !answer.is_empty()))
}

/// A text without the pair of equal-named marks around all of it.
pub(super) fn unwrapped(text: &str) -> &str {
    let text = text.trim();
    let inner = Mark::at_start(text).and_then(|mark| {
        let (inner, rest) = mark.close(text)?;
        rest.trim().is_empty().then_some(inner.trim())
    });
    inner.unwrap_or(text)
}

/// Returns true if a name is one of thoughts.
pub(super) fn is_of_thoughts(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    STEMS.iter().any(|stem| name.starts_with(stem) || name.ends_with(stem) || name.contains("thought"))
        || name.split(['_', '-', ':', ' ']).any(|part| STEMS.iter().any(|stem| part.starts_with(stem)))
}

/// Channels of messages: `<|channel|>analysis<|message|>…<|channel|>final<|message|>a dog`.
fn channels(text: &str) -> Option<Option<&str>> {
    let (_, last) = text.rsplit_once("<|channel|>")?;
    let (name, answer) = last.split_once("<|message|>").unwrap_or((last, ""));
    if is_of_thoughts(name.trim()) {
        return Some(None);
    }
    let has_others = text.matches("<|channel|>").count() > 1;
    let answer = answer.split("<|").next().unwrap_or_default().trim();
    has_others.then_some((!answer.is_empty()).then_some(answer))
}

/// Channels whose marks were dropped: `analysisThe user wants …assistantfinalA dog`.
fn has_bare_channels(text: &str) -> Option<Option<&str>> {
    let rest = text.strip_prefix("analysis")?;
    let (_, answer) = rest.split_once("assistantfinal")?;
    Some(Some(answer.trim()).filter(|answer| !answer.is_empty()))
}

/// A mark that opens a pair: punctuation around a name.
struct Mark<'t> {
    before: &'t str,
    name: &'t str,
    after: &'t str,
}

impl<'t> Mark<'t> {
    const LONGEST_NAME: usize = 32;

    /// The mark at the start of a text, such as `<think>`, `[THINK]`, `◁think▷` or `<|begin_of_thought|>`.
    fn at_start(text: &'t str) -> Option<Self> {
        let is_outer = |c: char| !c.is_alphanumeric() && !c.is_whitespace();
        let is_quote =
            |c: char| matches!(c, '"' | '\'' | '“' | '”' | '‘' | '’' | '*' | '#' | '-' | '/' | '.' | ',');
        let start = text.find(|c: char| !is_outer(c))?;
        let (before, rest) = text.split_at(start);
        if before.is_empty() || before.chars().count() > 3 || before.contains(is_quote) {
            return None;
        }
        let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '▁' | '-' | ':' | ' ');
        let end = rest.find(|c: char| !is_inner(c))?;
        let (name, rest) = rest.split_at(end);
        let length = rest.find(|c: char| !is_outer(c)).unwrap_or(rest.len());
        // As many marks as before the name; what follows belongs to the text.
        let length = rest.char_indices().nth(before.chars().count()).map_or(length, |(at, _)| at.min(length));
        let after = rest.get(..length)?;
        let is_name = name.len() <= Self::LONGEST_NAME && name.starts_with(char::is_alphabetic);
        (is_name && !after.is_empty() && !after.contains(is_quote)).then_some(Self { before, name, after })
    }

    /// The texts between this mark, with which `text` begins, and its end, and after the end.
    fn close(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let Self { before, name, after } = self;
        let rest = text.get(before.len() + name.len() + after.len()..)?;
        let other = match name.split_once("begin").or_else(|| name.split_once("start")) {
            Some((head, tail)) => format!("{head}end{tail}"),
            None => format!("/{name}"),
        };
        let ends = [format!("{before}{other}{after}"), format!("{before}{name}/{after}")];
        let (at, end) = ends.iter().filter_map(|end| Some((rest.find(end.as_str())?, end))).min()?;
        Some((rest.get(..at)?, rest.get(at + end.len()..)?))
    }
}

/// Thoughts between a pair of marks, or after a mark without an end.
fn marked(text: &str) -> Option<Option<&str>> {
    let mark = Mark::at_start(text)?;
    let is_known = is_of_thoughts(mark.name);
    let Some((inner, rest)) = mark.close(text) else {
        return is_known.then_some(None);
    };
    let (inner, rest) = (inner.trim(), rest.trim());
    if let Some(last) = last_stage(mark.name, rest) {
        return Some(Some(last));
    }
    let count = |text: &str| text.split_whitespace().count();
    let is_long =
        mark.name.len() > 3 && count(inner) >= MANY_WORDS && count(inner) >= count(rest) && !rest.is_empty();
    (is_known || is_long).then_some((!rest.is_empty()).then_some(rest))
}

/// The text of the last of several stages: pairs of marks with names of their own, which cover the rest of a text.
fn last_stage<'t>(first: &str, rest: &'t str) -> Option<&'t str> {
    let (mut rest, mut last) = (rest, None);
    let is_stage = |name: &str| name.len() > 3;
    while !rest.is_empty() {
        let mark = Mark::at_start(rest).filter(|mark| is_stage(mark.name) && mark.name != first)?;
        let (inner, after) = mark.close(rest)?;
        (last, rest) = (Some(inner.trim()), after.trim());
    }
    last.filter(|last| is_stage(first) && !last.is_empty())
}

/// The text after the last mark that ends thoughts, whose start was cut off: `…</think> a dog`.
fn closed(text: &str) -> Option<Option<&str>> {
    let mut ends = text.match_indices('/').filter_map(|(at, _)| {
        let is_mark = text.get(..at)?.ends_with(['<', '[', '{', '◁', '|', '【', '⟨']);
        let rest = text.get(at + 1..)?;
        let length = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | ':')))?;
        let (name, rest) = rest.split_at(length);
        let rest = rest.trim_start_matches(['>', ']', '}', '▷', '|', '】', '⟩']).trim();
        (is_mark && is_of_thoughts(name)).then_some(rest)
    });
    ends.next_back().map(|rest| (!rest.is_empty()).then_some(rest))
}

/// The labels of a text, each with its place and the place after its colon: one to three words before a colon, at the
/// start of the text, of a line or of a sentence.
pub(super) fn labels(text: &str) -> impl Iterator<Item = (&str, usize, usize)> {
    const LONGEST: usize = 32;
    let is_decoration = |c: char| matches!(c, '*' | '#' | ' ' | '_' | '-' | '>');
    let has_any = text.as_bytes().contains(&b':') || text.contains('：');
    let searched = if has_any { text.as_bytes() } else { &[] };
    // A wide colon begins with this byte, and so do other characters.
    let colons = searched.iter().enumerate().filter(|(_, byte)| matches!(byte, b':' | 0xef));
    // The place up to which breaks have been looked for, the place after the last one, and that of the label there: a
    // sentence of many colons is walked through once.
    let (mut seen, mut start, mut first) = (0, 0, None);
    colons.filter_map(move |(colon, _)| {
        let (head, rest) = text.split_at_checked(colon)?;
        if let Some(at) = head.get(seen..)?.rfind(['\n', '.', '!', '?', '>']) {
            (start, first) = (seen + at + 1, None);
        }
        seen = colon;
        let decorated = head.get(start..)?;
        let first = *first.get_or_insert_with(|| colon - decorated.trim_start_matches(is_decoration).len());
        let sign = rest.chars().next().filter(|sign| matches!(sign, ':' | '：'))?;
        // The scheme of an address is no label.
        if rest.starts_with("://") {
            return None;
        }
        let label = head.get(first..)?.trim_end_matches(['*', ' ']);
        let is_name = |word: &str| word.chars().all(char::is_alphanumeric);
        let is_label = !label.is_empty()
            && label.len() <= LONGEST
            && label.split(' ').count() <= 3
            && label.split(' ').all(is_name);
        let is_alphabetic = label.starts_with(char::is_alphabetic);
        (is_label && is_alphabetic).then_some((label, start, colon + sign.len_utf8()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_are_found_in_any_notation() {
        for text in [
            "<think>\nOkay.\n</think>\n\na dog",
            "<think>\n\n</think>\n\na dog",
            "<think></think><answer>a dog</answer>",
            "<thinking>It is brown.</thinking> a dog",
            "<reasoning>The image</reasoning> a dog",
            "<seed:think>It is brown.</seed:think>a dog",
            "<Thought>It is brown.</Thought>a dog",
            "◁think▷It is brown.◁/think▷a dog",
            "[THINK]It is brown.[/THINK]a dog",
            "<|begin_of_thought|>It is brown.<|end_of_thought|>\n\na dog",
            "<|think_start|>It is brown.<|think_end|> a dog",
            "<inner_voice>I see something that is brown.</inner_voice> a dog",
            "<|channel|>analysis<|message|>It is brown.<|end|><|start|>assistant<|channel|>final<|message|>a dog",
            "analysisThe user wants a caption.assistantfinala dog",
            "okay, it is brown </think> a dog",
            "it is brown [/THINK]a dog",
            "Thought: it is brown. Answer: a dog",
            "Reasoning: it has four legs.\n\nCaption: a dog",
            "**Thoughts:** it is brown.\n**Caption:** a dog",
        ] {
            assert_eq!(after_thoughts(text), Some(Some("a dog")), "{text}");
        }
        for text in ["<think>Okay, let me see", "[THINK] it is", "<think>It is brown.</think>"] {
            assert_eq!(after_thoughts(text), Some(None), "{text}");
        }
    }

    #[test]
    fn captions_have_no_thoughts() {
        for text in [
            "a dog runs",
            "<b>A dog</b> runs",
            "<start> a dog <end>",
            "[unk] on a mat",
            "a man thinking: what now",
            "\"a dog\" says the sign",
            "(left) a dog and (right) a cat",
            "a sign that reads: stop",
            "analysis of a dog",
            "<caption>a dog</caption>",
            "",
        ] {
            assert_eq!(after_thoughts(text), None, "{text}");
        }
        assert_eq!(unwrapped("<answer> a dog </answer>"), "a dog");
        assert_eq!(unwrapped("a dog"), "a dog");
    }
}
