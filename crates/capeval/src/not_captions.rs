//! Texts that are no captions: thoughts of a model, failed requests, subword marks, one text for all images.
//!
//! One look at candidates and references says what they hold besides captions, or in their place. Each kind is found by
//! its form, not by a list of models. References are looked at in a sample, and what a few of them hold is their own.

use std::collections::HashMap;

use capeval_choice::{Code, Remedy, SegmentId};
use capeval_report::Notice;
use rayon::prelude::*;

/// With fewer captions, what they have in common says nothing.
const FEW: usize = 5;

/// A kind of text that is no caption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Oddity {
    Thoughts,
    Fence,
    Structure,
    Bytes,
    Subwords,
    Nothing,
    Failure,
    Letters,
    Numbers,
    Path,
    Entities,
    Role,
}

/// A kind, the code of its notice, what a caption of the kind holds, and what to do.
type Kind = (Oddity, Code, &'static str, &'static str);

/// All kinds, in the order of their notices.
const ODDITIES: &[Kind] = &[
    (
        Oddity::Thoughts,
        Code::Thoughts,
        "thoughts of a language model before the answer",
        "keep what follows them",
    ),
    (Oddity::Fence, Code::CodeFences, "a code fence", "keep the caption within it"),
    (Oddity::Structure, Code::StructuredText, "JSON or a dictionary as text", "keep the caption within it"),
    (Oddity::Bytes, Code::ByteStrings, "bytes that Python printed, such as b'a dog'", "decode them"),
    (Oddity::Subwords, Code::SubwordMarks, "the marks of subwords", "decode the tokens with their tokenizer"),
    (
        Oddity::Nothing,
        Code::MissingValues,
        "a missing value that was written as text",
        "leave these captions out",
    ),
    (
        Oddity::Failure,
        Code::FailedRequests,
        "a refusal or an error in place of a caption",
        "ask for these captions again",
    ),
    (
        Oddity::Letters,
        Code::SpacedLetters,
        "letters with spaces between them",
        "join the letters of each word",
    ),
    (Oddity::Numbers, Code::NumbersAsCaptions, "nothing but numbers", "decode token ids into words"),
    (Oddity::Path, Code::PathsAsCaptions, "a path or an address", "name the column of captions"),
    (Oddity::Entities, Code::HtmlEntities, "characters in the notation of HTML", "decode them"),
    (Oddity::Role, Code::ChatRoles, "the name of a speaker, as chats have it", "keep what the model said"),
];

/// The kind of a text that is no caption, or of what it holds besides one.
fn oddity(text: &str) -> Option<Oddity> {
    let text = text.trim();
    let first = *text.as_bytes().first()?;
    let found = match first {
        b'<' if has_closed_tag(text) => Some(Oddity::Thoughts),
        b'{' | b'[' if is_structure(text) => Some(Oddity::Structure),
        b'b' | b'B' if is_bytes(text) => Some(Oddity::Bytes),
        _ => None,
    };
    let has = |mark: &str| text.contains(mark);
    found.or_else(|| {
        if has("```") {
            return Some(Oddity::Fence);
        }
        if has("</think") || has("<|channel|>") {
            return Some(Oddity::Thoughts);
        }
        if has_subwords(text) {
            return Some(Oddity::Subwords);
        }
        if has("&") && has(";") && has_entity(text) {
            return Some(Oddity::Entities);
        }
        if is_nothing(text) {
            return Some(Oddity::Nothing);
        }
        if is_failure(text) {
            return Some(Oddity::Failure);
        }
        if names_speaker(text) {
            return Some(Oddity::Role);
        }
        of_words(text)
    })
}

/// Returns true if a text begins with a tag whose end stands before the rest: `<think>…</think> a dog`.
fn has_closed_tag(text: &str) -> bool {
    let Some((name, rest)) = text.strip_prefix('<').and_then(|rest| rest.split_once('>')) else {
        return false;
    };
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic() || b"_-".contains(&byte));
    let end = format!("</{name}>");
    is_name && name.len() > 3 && rest.split_once(&end).is_some_and(|(inner, _)| inner.trim().len() > 1)
}

fn is_structure(text: &str) -> bool {
    let closes = match text.as_bytes() {
        [b'{', .., b'}'] => text.contains(':'),
        [b'[', .., b']'] => {
            text.contains('{') && text.contains(':') || text.starts_with("[\"") || text.starts_with("['")
        }
        _ => false,
    };
    closes && text.contains(['"', '\''])
}

fn is_bytes(text: &str) -> bool {
    matches!(text.as_bytes(), [b'b' | b'B', quote @ (b'\'' | b'"'), .., end] if quote == end)
}

/// Returns true for the marks of SentencePiece, of byte-level and WordPiece tokenizers, and of BPE.
fn has_subwords(text: &str) -> bool {
    let is_part = |word: &str| {
        let after = word.strip_prefix("##").and_then(|rest| rest.chars().next());
        after.is_some_and(char::is_alphanumeric) || word.len() > 2 && word.ends_with("@@")
    };
    text.contains('▁') || text.contains('Ġ') || text.contains("</w>") || text.split(' ').any(is_part)
}

fn has_entity(text: &str) -> bool {
    ["&amp;", "&quot;", "&lt;", "&gt;", "&nbsp;", "&#"].iter().any(|entity| text.contains(entity))
}

fn is_nothing(text: &str) -> bool {
    text.len() <= 9
        && ["nan", "none", "null", "n/a", "na", "<na>", "nil", "undefined", "nat", "#n/a"]
            .iter()
            .any(|nothing| text.eq_ignore_ascii_case(nothing))
}

/// Returns true for errors and refusals in place of a caption, as clients of models write them.
fn is_failure(text: &str) -> bool {
    const ERRORS: &[&str] = &[
        "error:",
        "error ",
        "[error",
        "<error",
        "failed to ",
        "failed:",
        "exception:",
        "request failed",
        "http error",
        "rate limit",
        "timeout",
        "timed out",
        "connectionerror",
        "readtimeout",
        "traceback (most",
        "internal server error",
        "cuda out of memory",
        "content filter",
    ];
    const REFUSALS: &[&str] = &[
        "i'm sorry",
        "i’m sorry",
        "i am sorry",
        "sorry, i",
        "sorry, but",
        "i cannot ",
        "i can't ",
        "i can’t ",
        "i am unable",
        "i'm unable",
        "i’m unable",
        "i'm not able",
        "as an ai",
        "unable to ",
        "i apologize",
        "抱歉",
        "对不起",
        "很抱歉",
        "无法",
        "我无法",
        "不好意思",
    ];
    // Most captions begin with another letter, or with an article.
    let bytes = text.as_bytes();
    let is_article = matches!(bytes, [b'a' | b'A', b' ' | b'n', ..] | [b't' | b'T', b'h', ..]);
    if is_article {
        return false;
    }
    let begins = |start: &&str| {
        let head = bytes.get(..start.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
    };
    ERRORS.iter().chain(REFUSALS).any(begins)
}

/// Returns true for `ASSISTANT: a dog` and `### Response: a dog`.
fn names_speaker(text: &str) -> bool {
    const ROLES: &[&str] = &[
        "assistant",
        "user",
        "human",
        "gpt",
        "system",
        "response",
        "answer",
        "caption",
        "output",
        "model",
        "bot",
    ];
    const LONGEST: usize = 16;
    let head = text.trim_start_matches(['#', ' ', '*', '<', '|']);
    let end = head.bytes().take(LONGEST).position(|byte| matches!(byte, b':' | b'\n' | b'|'));
    let name = end.and_then(|end| head.get(..end)).map(|name| name.trim_end_matches(['*', ' ']));
    name.is_some_and(|name| ROLES.iter().any(|role| name.eq_ignore_ascii_case(role)))
}

/// Kinds that show in all words of a text.
fn of_words(text: &str) -> Option<Oddity> {
    let mut words = text.split_whitespace();
    let (mut n, mut letters, mut numbers) = (0, 0, 0);
    for word in words.by_ref() {
        n += 1;
        letters +=
            usize::from(word.len() == 1 && word.as_bytes().first().is_some_and(u8::is_ascii_alphabetic));
        numbers += usize::from(word.bytes().all(|byte| byte.is_ascii_digit() || b",.[]".contains(&byte)));
        // Most texts show early that they are of words.
        if n == 4 && letters < 3 && numbers < 4 {
            return None;
        }
    }
    if n >= 6 && letters * 10 >= n * 9 {
        return Some(Oddity::Letters);
    }
    if n >= 2 && numbers == n {
        return Some(Oddity::Numbers);
    }
    let is_path = n == 1
        && (text.contains("://")
            || text.rsplit_once('.').is_some_and(|(stem, end)| {
                [
                    "jpg", "jpeg", "png", "webp", "gif", "wav", "mp3", "mp4", "avi", "json", "txt", "flac",
                    "npy",
                ]
                .iter()
                .any(|extension| end.eq_ignore_ascii_case(extension))
                    && !stem.is_empty()
            }));
    is_path.then_some(Oddity::Path)
}

/// Notices of the captions of a system, or of references (`system` is none): what is no caption among them.
pub(crate) fn oddities(system: Option<&str>, captions: &[(&SegmentId, &str)]) -> Vec<Notice> {
    let found: Vec<(Oddity, usize)> =
        captions.par_iter().enumerate().filter_map(|(row, (_, text))| Some((oddity(text)?, row))).collect();
    if found.is_empty() {
        return Vec::new();
    }
    let mut rows: HashMap<Oddity, Vec<usize>> = HashMap::new();
    for (kind, row) in found {
        rows.entry(kind).or_default().push(row);
    }
    let notice = |(kind, code, holds, advice): &Kind| {
        let rows = rows.get(kind)?;
        // A few of many are what people wrote: "I am unable to see the image above." is in COCO.
        let is_written = system.is_none()
            || matches!(
                kind,
                Oddity::Failure | Oddity::Entities | Oddity::Letters | Oddity::Numbers | Oddity::Path
            );
        if is_written && rows.len() * 100 < captions.len() {
            return None;
        }
        let (id, text) = captions.get(*rows.first()?)?;
        let (whose, verb) = match (system, rows.len()) {
            (Some(name), 1) => (format!("caption of {name}"), "is"),
            (Some(name), _) => (format!("captions of {name}"), "are"),
            (None, 1) => ("reference".to_owned(), "is"),
            (None, _) => ("references".to_owned(), "are"),
        };
        let message = format!(
            "{} {whose} {verb} or {} {holds}: {} of image {}",
            rows.len(),
            if rows.len() == 1 { "holds" } else { "hold" },
            excerpt(text),
            id.quoted(),
        );
        let ids = rows.iter().filter_map(|row| captions.get(*row)).take(Notice::MAX_IDS);
        let notice =
            Notice::new(*code, message).count(rows.len()).ids(ids.map(|(id, _)| (*id).clone()).collect());
        Some(Notice { system: system.map(str::to_owned), ..notice }.remedy(Remedy::say(*advice)))
    };
    ODDITIES.iter().filter_map(notice).collect()
}

/// The beginning of a text in quotes.
fn excerpt(text: &str) -> String {
    const SHOWN: usize = 50;
    let shown: String = text.trim().chars().take(SHOWN).collect();
    let more = if text.trim().chars().count() > SHOWN { "…" } else { "" };
    format!("{:?}", shown + more)
}

/// What all captions of a system have in common, and captions of people do not.
pub(crate) fn sameness(system: &str, captions: &[&str], references: &[&str]) -> Option<Notice> {
    if captions.len() < FEW {
        return None;
    }
    let first = captions.first()?.trim();
    if captions.iter().all(|text| text.trim() == first) {
        let message = format!("all captions of {system} are one text: {}", excerpt(first));
        let remedy = Remedy::say("make sure that the captions were read from the right column");
        return Some(Notice::new(Code::OneText, message).system(system).count(captions.len()).remedy(remedy));
    }
    const PREFIX: usize = 5;
    let (begin, end) = (shared(captions, false), shared(captions, true));
    let is_word = |word: Option<&str>| word.is_some_and(|word| word.chars().all(char::is_alphanumeric));
    let mut words = first.split_whitespace();
    let framed = begin > 0 && end > 0 && is_word(words.clone().next_back()) && is_word(words.next());
    if framed {
        let message = format!(
            "all captions of {system} begin with {:?} and end with {:?}, which count as words",
            first.split_whitespace().next().unwrap_or_default(),
            first.split_whitespace().next_back().unwrap_or_default(),
        );
        let remedy = Remedy::say("remove the words that mark the start and the end");
        return Some(
            Notice::new(Code::StartEndWords, message).system(system).count(captions.len()).remedy(remedy),
        );
    }
    if begin >= PREFIX && shared(references, false) < begin {
        let prefix: Vec<&str> = first.split_whitespace().take(begin).collect();
        let message = format!("all captions of {system} begin with {}", excerpt(&prefix.join(" ")));
        let remedy = Remedy::say("remove the prompt from the captions");
        return Some(
            Notice::new(Code::PromptInCaptions, message).system(system).count(captions.len()).remedy(remedy),
        );
    }
    None
}

/// The number of words with which all texts begin, or end if `back`.
fn shared(texts: &[&str], back: bool) -> usize {
    let words = |text: &str| -> Vec<String> {
        let words = text.split_whitespace().map(str::to_owned);
        if back { words.rev().collect() } else { words.collect() }
    };
    let mut common = texts.first().map(|text| words(text)).unwrap_or_default();
    for text in texts {
        let same = words(text).iter().zip(&common).take_while(|(a, b)| a == b).count();
        common.truncate(same);
        if same == 0 {
            return 0;
        }
    }
    common.len()
}

/// A notice if the captions of a system are many times longer or shorter than the references, or in another script.
pub(crate) fn unlike(system: &str, captions: &[&str], references: &[&str]) -> Vec<Notice> {
    const TIMES: f64 = 4.0;
    let words = |texts: &[&str]| {
        texts.iter().map(|text| text.split_whitespace().count()).sum::<usize>() as f64
            / texts.len().max(1) as f64
    };
    let mut notices = Vec::new();
    if captions.is_empty() || references.is_empty() {
        return notices;
    }
    let (here, there) = (words(captions), words(references));
    if there > 0.0 && here > 0.0 && (here > TIMES * there || there > TIMES * here) {
        let (times, way) = if here > there { (here / there, "longer") } else { (there / here, "shorter") };
        let message = format!(
            "the captions of {system} have {here:.0} words on average, {times:.1} times {way} than the references; \
             metrics with a length penalty, such as CIDEr-D, come near 0",
        );
        notices.push(Notice::new(Code::LengthMismatch, message).system(system).count(captions.len()));
    }
    let (mine, theirs) = (scripts(captions), scripts(references));
    let there =
        |script: &str| theirs.iter().find(|(known, _)| *known == script).map_or(0.0, |(_, share)| *share);
    let foreign = mine.iter().filter(|(script, share)| *share > 0.5 && there(script) < 0.05);
    if let Some((script, _)) = foreign.max_by(|a, b| a.1.total_cmp(&b.1)) {
        let message = format!("the captions of {system} are in {script} letters, and the references are not");
        let remedy = Remedy::say("make sure that both are in one language");
        notices.push(
            Notice::new(Code::OtherScript, message).system(system).count(captions.len()).remedy(remedy),
        );
    }
    notices
}

/// The share of letters in each script, for those that there are.
fn scripts(texts: &[&str]) -> Vec<(&'static str, f64)> {
    let mut counts: Vec<(&'static str, usize)> = vec![(LATIN, 0)];
    for text in texts {
        if text.is_ascii() {
            counts[0].1 += text.bytes().filter(u8::is_ascii_alphabetic).count();
            continue;
        }
        for letter in text.chars().filter(|c| c.is_alphabetic()) {
            let name = script(letter);
            match counts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += 1,
                None => counts.push((name, 1)),
            }
        }
    }
    let all = counts.iter().map(|(_, count)| count).sum::<usize>().max(1) as f64;
    counts.into_iter().map(|(name, count)| (name, count as f64 / all)).collect()
}

/// The script of most European languages.
const LATIN: &str = "Latin";

/// The script of a letter, roughly: languages that share one are not told apart.
fn script(letter: char) -> &'static str {
    match u32::from(letter) {
        0x370..=0x3FF => "Greek",
        0x400..=0x52F => "Cyrillic",
        0x590..=0x5FF => "Hebrew",
        0x600..=0x6FF | 0x750..=0x77F | 0xFB50..=0xFEFF => "Arabic",
        0x900..=0xDFF => "Indic",
        0xE00..=0xEFF => "Thai or Lao",
        0x1000..=0x109F => "Burmese",
        0x1100..=0x11FF | 0xAC00..=0xD7AF => "Korean",
        0x1780..=0x17FF => "Khmer",
        0x3040..=0x30FF | 0x3400..=0x9FFF | 0x2_0000..=0x2_FFFF => "Chinese or Japanese",
        _ => LATIN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_no_captions_are_told() {
        use Oddity::*;
        for (text, kind) in [
            ("<think>\nOkay.\n</think>\n\na dog", Thoughts),
            ("<reasoning>The image</reasoning> a dog", Thoughts),
            ("okay, a dog </think> a dog", Thoughts),
            ("```json\n{\"caption\": \"a dog\"}\n```", Fence),
            ("{\"caption\": \"a dog\"}", Structure),
            ("{'caption': 'a dog'}", Structure),
            ("[{\"caption\": \"a dog\"}]", Structure),
            ("b'a dog'", Bytes),
            ("▁a▁dog", Subwords),
            ("a Ġdog", Subwords),
            ("a surf@@ er", Subwords),
            ("a surf ##er", Subwords),
            ("nan", Nothing),
            ("None", Nothing),
            ("I'm sorry, I can't help with that.", Failure),
            ("Error: 429 Too Many Requests", Failure),
            ("抱歉，我无法描述", Failure),
            ("a d o g r u n s", Letters),
            ("12 45 7 889 3", Numbers),
            ("images/a.jpg", Path),
            ("https://example.org/a", Path),
            ("a &quot;dog&quot;", Entities),
            ("ASSISTANT: a dog", Role),
            ("### Response:\na dog", Role),
        ] {
            assert_eq!(oddity(text), Some(kind), "{text}");
        }
    }

    #[test]
    fn captions_are_captions() {
        for text in [
            "a dog runs",
            "",
            "A man & a woman; both smile.",
            "b is a letter",
            "a sign [that] says <hello>",
            "2 dogs",
            "none of the dogs sleep",
            "a # 5 bus",
            "[unk] on a mat",
            "the error on the screen",
            "a b c d wall",
            "User interface of a phone",
            "<b> a dog",
            "一只狗",
            "no. 12 bus at 10:30",
            "a website called dogs.com",
        ] {
            assert_eq!(oddity(text), None, "{text}");
        }
    }

    #[test]
    fn what_all_captions_share_is_told() {
        let code = |captions: &[&str]| {
            sameness("mine", captions, &["a dog", "two cats"]).map(|notice| notice.code.to_string())
        };
        let framed = [
            "startseq a dog endseq",
            "startseq two cats sleep endseq",
            "startseq x endseq",
            "startseq y endseq",
            "startseq z endseq",
        ];
        assert_eq!(code(&framed).as_deref(), Some("start-end-words"));
        assert_eq!(code(&["a dog"; 5]).as_deref(), Some("one-text"));
        let prompted = [
            "Describe the image in short : a",
            "Describe the image in short : b",
            "Describe the image in short : c",
            "Describe the image in short : d",
            "Describe the image in short : e f",
        ];
        assert_eq!(code(&prompted).as_deref(), Some("prompt-in-captions"));
        assert_eq!(code(&["a dog runs", "a cat sleeps", "a dog", "a bus", "a kite"]), None);
    }

    #[test]
    fn other_lengths_and_scripts_are_told() {
        let codes = |captions: &[&str]| -> Vec<String> {
            unlike("mine", captions, &["a dog runs fast"])
                .iter()
                .map(|notice| notice.code.to_string())
                .collect()
        };
        assert_eq!(codes(&["一只狗在跑步时"]), ["other-script"]);
        assert_eq!(codes(&["a ".repeat(40).as_str()]), ["length-mismatch"]);
        assert!(codes(&["a cat sleeps"]).is_empty());
    }
}
