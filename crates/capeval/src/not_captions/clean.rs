//! Removes text from captions that does not belong to them, and counts the captions that it changed.

use std::borrow::Cow;

use capeval_choice::{Argument, Code, counted};
use capeval_corpus::Captions;
use capeval_report::Notice;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

use super::kind::Cleaning;
use super::sample;
use super::shared::{Habits, unquoted};
use super::text::{
    before_end, has_markup, is_composed, kind_of, last_speech, last_turn, marks_pieces, preamble,
    special_token,
};
use super::thoughts::{after_thoughts, unwrapped};

/// The kinds of text to remove from the captions of one side, and the habits by which some of them are found.
pub(super) struct Cleaner<'k> {
    kinds: &'k [Cleaning],
    habits: Habits,
}

impl<'k> Cleaner<'k> {
    pub fn new(kinds: &'k [Cleaning], captions: &[&str], others: &[&str]) -> Self {
        Self::with(kinds, Habits::of(captions, others))
    }

    pub fn with(kinds: &'k [Cleaning], habits: Habits) -> Self {
        Self { kinds, habits }
    }

    /// The text without what is to be removed, and the kinds that it had.
    pub fn clean<'t>(&self, text: &'t str) -> (Cow<'t, str>, Vec<Cleaning>) {
        let (mut cleaned, mut had) = (Cow::Borrowed(text), Vec::new());
        for kind in Cleaning::ALL.iter().filter(|kind| self.kinds.contains(kind)) {
            if let Some(without) = self.without(*kind, &cleaned).filter(|without| *without != *cleaned) {
                cleaned = Cow::Owned(without);
                had.push(*kind);
            }
        }
        (cleaned, had)
    }

    /// The caption among the labelled texts of an answer of some kind.
    fn labelled<'t>(&self, text: &'t str, is_kind: impl Fn(Code) -> bool) -> Option<&'t str> {
        self.habits
            .labelled(text)
            .filter(|labelled| is_kind(labelled.code))
            .and_then(|labelled| labelled.caption)
    }

    /// The text without one kind; `None` if it has none of it.
    fn without(&self, kind: Cleaning, text: &str) -> Option<String> {
        match kind {
            Cleaning::Thoughts => {
                let answer = after_thoughts(text).map(Option::unwrap_or_default);
                let bare = || Some(unwrapped(text)).filter(|inner| *inner != text.trim());
                let answer =
                    answer.or_else(|| self.labelled(text, |code| code == Code::Thoughts)).or_else(bare);
                answer.map(str::to_owned)
            }
            Cleaning::Fences => fenced(text).map(str::to_owned),
            Cleaning::StructuredText => only_text(text),
            Cleaning::ByteStrings => {
                let inner = text.trim().strip_prefix(['b', 'B']).and_then(unquoted)?;
                Some(decoded(inner))
            }
            Cleaning::SpecialTokens => without_tokens(text),
            Cleaning::ChatRoles => {
                let labelled = self.labelled(text, |code| code != Code::Thoughts);
                let inner = labelled.unwrap_or(text);
                let of_speaker = || {
                    let is_role = labelled.is_none() && kind_of(text) == Some(Code::ChatRoles);
                    is_role.then(|| text.split_once([':', '\n', '|', ']'])).flatten().map(|(_, rest)| rest)
                };
                preamble(inner)
                    .or_else(|| last_speech(inner))
                    .or_else(of_speaker)
                    .or(labelled)
                    .map(|rest| rest.trim_matches(['*', ' ', '\n', '|', '>']).to_owned())
            }
            Cleaning::StartEndWords => {
                let Habits { start, end, some_start, some_end, .. } = &self.habits;
                let start = start.as_ref().or(some_start.as_ref().map(|(_, word)| word));
                let end = end.as_ref().or(some_end.as_ref().map(|(_, word)| word));
                let mut rest = text.trim();
                // "weekend" does not end with "end".
                let is_apart = |c: Option<char>| c.is_none_or(char::is_whitespace);
                let after = |word: &String| {
                    rest.strip_prefix(word.as_str()).filter(|tail| is_apart(tail.chars().next()))
                };
                rest = start.and_then(after).unwrap_or(rest).trim();
                let before = |word: &String| {
                    rest.strip_suffix(word.as_str()).filter(|head| is_apart(head.chars().next_back()))
                };
                rest = end.and_then(before).unwrap_or(rest).trim();
                (rest.len() < text.trim().len()).then(|| rest.to_owned())
            }
            Cleaning::SubwordMarks => joined(text),
            Cleaning::DecomposedLetters => (!is_composed(text)).then(|| text.nfc().collect()),
            Cleaning::HtmlEntities => text.contains('&').then(|| unescaped(text)),
            Cleaning::Quotes => self.habits.quotes.then(|| unquoted(text).map(str::to_owned)).flatten(),
        }
    }
}

/// A kind of text that was removed from captions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removal {
    kind: Cleaning,
    /// The number of captions that had it.
    count: usize,
}

impl Removal {
    /// A notice of it, in which `whose` names the captions.
    pub fn notice(self, whose: &str) -> Notice {
        let Self { kind, count } = self;
        let changed = if count == 1 { "was" } else { "were" };
        let message = format!("{} of {whose} {changed} rid of {}", counted(count, "caption"), kind.summary());
        Notice::applied(Argument::Clean, kind.name(), message).count(count)
    }
}

/// Removes kinds of text from captions in place; returns how many captions had each.
pub(crate) fn clean(captions: &mut Captions, kinds: &[Cleaning], others: &[&str]) -> Vec<Removal> {
    if kinds.is_empty() {
        return Vec::new();
    }
    let mut removals: Vec<Removal> = Vec::new();
    let mut mine: Vec<Cow<'_, str>> = captions.iter().map(|(_, text)| text.into()).collect();
    let mut theirs: Vec<Cow<'_, str>> = sample(others).map(Cow::from).collect();
    for kind in Cleaning::ALL.iter().filter(|kind| kinds.contains(kind)) {
        // Habits are those of texts without what was removed before.
        let count = one_kind(*kind, &mut mine, &mut theirs);
        if count > 0 {
            removals.push(Removal { kind: *kind, count });
        }
    }
    let changed = |text: Cow<'_, str>| match text {
        Cow::Owned(text) => Some(text),
        Cow::Borrowed(_) => None,
    };
    let cleaned: Vec<Option<String>> = mine.into_iter().map(changed).collect();
    captions.replace_texts(cleaned);
    removals
}

/// Removes one kind of text from both sides; returns how many of the first one had it.
fn one_kind(kind: Cleaning, mine: &mut [Cow<'_, str>], theirs: &mut [Cow<'_, str>]) -> usize {
    let kinds = [kind];
    let cleaned = |these: &[Cow<'_, str>], others: &[Cow<'_, str>]| -> Vec<Option<String>> {
        let these: Vec<&str> = these.iter().map(|text| &**text).collect();
        let others: Vec<&str> = others.iter().map(|text| &**text).collect();
        let cleaner = Cleaner::new(&kinds, &these, &others);
        let without = |text: &&str| cleaner.without(kind, text).filter(|without| without != text);
        these.iter().map(without).collect()
    };
    let (of_mine, of_theirs) = (cleaned(mine, theirs), cleaned(theirs, mine));
    let count = of_mine.iter().flatten().count();
    let take = |texts: &mut [Cow<'_, str>], without: Vec<Option<String>>| {
        for (text, without) in texts.iter_mut().zip(without) {
            if let Some(without) = without {
                *text = Cow::Owned(without);
            }
        }
    };
    take(mine, of_mine);
    take(theirs, of_theirs);
    count
}

/// The text within a code fence, without the name of its language; the end may be cut off.
fn fenced(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("```")?;
    let inner = rest.split_once("```").map_or(rest, |(inner, _)| inner);
    let is_language = |line: &str| {
        !line.is_empty() && line.len() < 12 && line.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let inner = match inner.split_once(['\n', ' ']) {
        Some((line, rest)) if is_language(line) && inner.starts_with(line) => rest,
        _ => inner,
    };
    Some(inner.trim())
}

/// The only text in JSON, or the one under a key that is named like a caption.
fn only_text(text: &str) -> Option<String> {
    let json = text.trim();
    let value: serde_json::Value =
        serde_json::from_str(json).or_else(|_| serde_json::from_str(&json.replace('\'', "\""))).ok()?;
    let mut texts = Vec::new();
    collect(&value, &mut texts);
    match &texts[..] {
        [one] => Some((*one).to_owned()),
        _ => None,
    }
}

fn collect<'v>(value: &'v serde_json::Value, texts: &mut Vec<&'v str>) {
    match value {
        serde_json::Value::String(text) => texts.push(text),
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        serde_json::Value::Object(fields) => fields.values().for_each(|item| collect(item, texts)),
        _ => {}
    }
}

/// The text of bytes as Python prints them.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once('\\') {
        bytes.extend_from_slice(head.as_bytes());
        let code = tail.strip_prefix('x').and_then(|hex| u8::from_str_radix(hex.get(..2)?, 16).ok());
        rest = match code {
            Some(byte) => {
                bytes.push(byte);
                tail.get(3..).unwrap_or_default()
            }
            None => {
                let c = tail.chars().next().unwrap_or('\\');
                let plain = match c {
                    'n' | 't' | 'r' => ' ',
                    other => other,
                };
                bytes.extend_from_slice(plain.encode_utf8(&mut [0; 4]).as_bytes());
                tail.get(c.len_utf8()..).unwrap_or_default()
            }
        };
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The text without the tokens of language models, tags and what is no word between them, and control characters; with
/// single spaces where they stood.
fn without_tokens(text: &str) -> Option<String> {
    let mut kept = before_end(text).or_else(|| last_turn(text)).unwrap_or(text).to_owned();
    let has_tags = special_token(&kept).is_some() || has_markup(&kept);
    while let Some(token) = special_token(&kept).map(str::to_owned) {
        kept = kept.replace(&format!("▁{token}"), " ").replace(&token, " ");
    }
    if has_tags {
        kept = without_tags(&kept);
    }
    (kept != text).then(|| kept.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The text without tags, and without places such as `(12,340),(560,890)` between two of them.
fn without_tags(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_after_tag = false;
    while let Some((head, tail)) = rest.split_once('<') {
        let Some((name, after)) = tail.split_once('>').filter(|(name, _)| is_tag(name)) else {
            kept.push_str(head);
            kept.push('<');
            (rest, is_after_tag) = (tail, false);
            continue;
        };
        let is_place = is_after_tag && name.starts_with('/') && !head.contains(char::is_alphabetic);
        if !is_place {
            kept.push_str(head);
        }
        kept.push(' ');
        (rest, is_after_tag) = (after, true);
    }
    kept + rest
}

/// Returns true for the inside of a tag.
fn is_tag(name: &str) -> bool {
    let name = name.trim_matches('/').split([' ', '=']).next().unwrap_or_default();
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b':'))
}

/// The words of a text in subwords.
fn joined(text: &str) -> Option<String> {
    let has = |mark: &str| text.contains(mark);
    let joined = if has("▁") && marks_pieces(text) {
        text.replace(' ', "").replace('▁', " ")
    } else if has("Ġ") {
        text.replace(' ', "").replace(['Ġ', 'Ċ'], " ")
    } else if has("</w>") {
        text.replace(' ', "").replace("</w>", " ")
    } else if has("@@") {
        text.replace("@@ ", "").trim_end_matches("@@").to_owned()
    } else if has(" ##") {
        text.replace(" ##", "")
    } else {
        return None;
    };
    Some(joined.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The text with the characters that HTML writes as names or numbers.
fn unescaped(text: &str) -> String {
    const NAMES: &[(&str, &str)] = &[
        ("quot", "\""),
        ("apos", "'"),
        ("lt", "<"),
        ("gt", ">"),
        ("nbsp", " "),
        ("hellip", "…"),
        ("ndash", "–"),
        ("mdash", "—"),
        ("rsquo", "’"),
        ("lsquo", "‘"),
        ("ldquo", "“"),
        ("rdquo", "”"),
        ("amp", "&"),
    ];
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once('&') {
        kept.push_str(head);
        let entity = tail.split_once(';').and_then(|(name, after)| {
            let number = name.strip_prefix('#').and_then(|n| match n.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok(),
                None => n.parse().ok(),
            });
            let character = number.and_then(char::from_u32).map(String::from);
            let named = || NAMES.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
            Some((character.or_else(named)?, after))
        });
        match entity {
            Some((character, after)) => {
                kept.push_str(&character);
                rest = after;
            }
            None => {
                kept.push('&');
                rest = tail;
            }
        }
    }
    kept + rest
}
