//! Finds what surrounds all captions of a side but no ordinary captions: marks such as `**` and `\boxed{…}`, and words
//! such as "a photo of", which are neither marks nor a prompt.

use std::hash::Hash;

use capeval_text::classes::is_word;

use super::shared::{are_nearly_all, most_common};
use super::{FEW, text};

/// What surrounds nearly all captions of a side, and hardly any of the other side. Marks and announcements are no part
/// of a caption if both sides have them, either.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Decoration {
    /// The marks at the start.
    pub opening: Option<String>,
    /// The marks at the end.
    pub closing: Option<String>,
    /// The words at the start: a sentence, or words which more words follow as captions of the other side begin.
    pub template: Option<String>,
    /// The words at the end, after a sign that separates them.
    pub addition: Option<String>,
}

impl Decoration {
    /// The decoration of `captions`, which `others`, the texts of the other side, do not have.
    pub fn of(captions: &[&str], others: &[&str]) -> Self {
        let is_varied = captions.windows(2).any(|pair| pair[0] != pair[1]);
        if captions.len() < FEW || others.is_empty() || !is_varied {
            return Self::default();
        }
        let found = Self {
            opening: marks(captions, others, false),
            closing: marks(captions, others, true),
            template: opening_sentence(captions, others).or_else(|| template(captions, others)),
            addition: addition(captions, others),
        };
        // Texts of a known kind have marks of their own.
        let is_plain = |text: &&&str| text::kind_of(text).is_none();
        if found == Self::default()
            || !are_nearly_all(captions.iter().filter(is_plain).count(), captions.len())
        {
            return Self::default();
        }
        found
    }
}

/// One of a hundred, at most.
pub(super) const fn are_hardly_any(n: usize, all: usize) -> bool {
    n * 100 <= all
}

/// Returns true for quotation marks, which have a kind of their own, and apostrophes.
fn is_quote(c: char) -> bool {
    "\"'`“”‘’„«»「」『』《》".contains(c)
}

/// Returns true for what is no part of a word; a combining mark is a part of its letter.
fn is_sign(c: char) -> bool {
    !c.is_alphanumeric() && (c.is_ascii() || !is_word(c))
}

/// Returns true for a sign with which no text begins by itself.
pub(super) fn is_mark(c: char) -> bool {
    is_sign(c) && !is_quote(c) && !c.is_whitespace()
}

/// Returns true for the signs with which sentences of any language end or pause.
pub(super) fn ends_sentence(c: char) -> bool {
    ".,;:!?…。，；：！？、،؛؟।॥۔።፤፣၊།༎᠃᠂။។".contains(c)
}

/// The marks with which nearly all captions begin (or end, if `back`), and hardly any or nearly all of the others.
fn marks(captions: &[&str], others: &[&str], back: bool) -> Option<String> {
    const LONGEST: usize = 24;
    let letter = |text: &str, at: usize| match back {
        true => text.trim_end().chars().rev().nth(at),
        false => text.trim_start().chars().nth(at),
    };
    let mut kept = captions.to_vec();
    let mut common: Vec<char> = Vec::new();
    while common.len() < LONGEST {
        let at = common.len();
        let next = most_common(kept.iter().filter_map(|text| letter(text, at)));
        let Some((c, _)) = next.filter(|(_, n)| are_nearly_all(*n, captions.len())) else { break };
        kept.retain(|text| letter(text, at) == Some(c));
        common.push(c);
    }
    if common.is_empty() {
        return None;
    }
    let n_marks = common.iter().take_while(|c| is_sign(**c)).count();
    let (marks, rest) = common.split_at(n_marks);
    let mut found: String = marks.iter().collect();
    // A command with its bracket: \boxed{, \text{.
    let bracket = rest.iter().position(|c| !c.is_alphabetic());
    if let Some(end) = bracket.filter(|end| !back && n_marks > 0 && matches!(rest[*end], '{' | '[' | '(')) {
        found.extend(&rest[..=end]);
    }
    let found: String = match back {
        true => found.trim().chars().rev().collect(),
        false => found.trim().to_owned(),
    };
    let is_usual = |c: char| is_quote(c) || c.is_whitespace() || back && ends_sentence(c);
    let has = |text: &&&str| match back {
        true => text.trim().ends_with(&found),
        false => text.trim().starts_with(&found),
    };
    let n_others = others.iter().filter(has).count();
    let is_habit = are_hardly_any(n_others, others.len()) || are_nearly_all(n_others, others.len());
    (!found.chars().all(is_usual) && is_habit).then_some(found)
}

/// The first words of a text without case and punctuation.
fn words(text: &str, most: usize) -> Vec<String> {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    text.split_whitespace().map(bare).filter(|word| !word.is_empty()).take(most).collect()
}

/// Returns true if nearly all of `n` texts have the same one of these words, of which there is at most one each.
fn share_one<W: Eq + Hash + Ord>(words: impl Iterator<Item = W>, n: usize) -> bool {
    most_common(words).is_some_and(|(_, most)| are_nearly_all(most, n))
}

/// The words with which nearly all captions begin, and no others, if what follows them begins as the others do. A
/// single word may be followed by any of a few: "there is", "there are".
fn template(captions: &[&str], others: &[&str]) -> Option<String> {
    const MOST_WORDS: usize = 8;
    const SHORTEST: usize = 4;
    if !share_one(captions.iter().flat_map(|text| words(text, 1)), captions.len()) {
        return None;
    }
    let of = |texts: &[&str]| -> Vec<Vec<String>> {
        texts.iter().map(|text| words(text, MOST_WORDS + 1)).collect()
    };
    let (captions, others) = (of(captions), of(others));
    let prefix = common_start(&captions, MOST_WORDS);
    let n_begin =
        |word: &str| others.iter().filter(|words| words.first().is_some_and(|first| first == word)).count();
    let begins_as_others = |n: usize| {
        let next: Vec<&str> = captions.iter().filter_map(|words| words.get(n)).map(String::as_str).collect();
        let n_alike = next.iter().filter(|word| n_begin(word) > 0).count();
        let most = most_common(next.iter().copied());
        n_alike * 4 >= captions.len() * 3 && most.is_some_and(|(word, _)| n_begin(word) * 20 >= others.len())
    };
    let is_new = |prefix: &[String]| {
        are_hardly_any(others.iter().filter(|words| words.starts_with(prefix)).count(), others.len())
    };
    for n in (2..=prefix.len()).rev() {
        if is_new(&prefix[..n]) && begins_as_others(n) {
            return Some(prefix[..n].join(" "));
        }
    }
    let first = prefix.first().filter(|first| first.chars().count() >= SHORTEST)?;
    let mut second: Vec<&str> =
        captions.iter().filter_map(|words| words.get(1)).map(String::as_str).collect();
    let mut n_covered = 0;
    for _ in 0..3 {
        let Some((word, n)) = most_common(second.iter().copied()) else { break };
        n_covered += n;
        second.retain(|other| *other != word);
    }
    let is_varied = prefix.len() == 1 && are_nearly_all(n_covered, captions.len());
    (is_varied && is_new(&prefix[..1]) && begins_as_others(2)).then(|| first.clone())
}

/// The sentence with which nearly all captions begin, and no others: it has its own mark at the end, or its own line.
/// All others may begin with it as well, unless it is a statement, which may be a part of the captions.
fn opening_sentence(captions: &[&str], others: &[&str]) -> Option<String> {
    const MOST_WORDS: usize = 24;
    let forwards = |text: &&str| -> Vec<String> {
        text.split_whitespace().take(MOST_WORDS + 1).map(str::to_owned).collect()
    };
    if !share_one(captions.iter().filter_map(|text| text.split_whitespace().next()), captions.len()) {
        return None;
    }
    let all: Vec<Vec<String>> = captions.iter().map(forwards).collect();
    let common = common_start(&all, MOST_WORDS);
    let is_line = |n: usize| {
        let of = |text: &&&str| {
            text.trim().lines().next().is_some_and(|line| line.split_whitespace().count() == n)
        };
        are_nearly_all(captions.iter().filter(of).count(), captions.len())
    };
    let is_whole =
        |n: usize| common[n - 1].ends_with(['.', '!', '?', ':', '…', '。', '！', '？', '：']) || is_line(n);
    let n = (1..=common.len()).rev().find(|n| is_whole(*n))?;
    let has_more = all.iter().filter(|words| words.len() > n).count();
    let start = common[..n].join(" ");
    let n_others = others.iter().filter(|text| text.trim().starts_with(&start)).count();
    let is_shared = are_nearly_all(n_others, others.len()) && !start.ends_with(['.', '。']);
    (start.contains(char::is_alphabetic)
        && are_nearly_all(has_more, captions.len())
        && (is_shared || are_hardly_any(n_others, others.len())))
    .then_some(start)
}

/// The words that nearly all of some lists begin with.
fn common_start(lists: &[Vec<String>], most: usize) -> Vec<String> {
    let mut kept: Vec<&Vec<String>> = lists.iter().collect();
    let mut common: Vec<String> = Vec::new();
    while common.len() < most {
        let at = common.len();
        let next = most_common(kept.iter().filter_map(|words| words.get(at)));
        let Some((word, _)) = next.filter(|(_, n)| are_nearly_all(*n, lists.len())) else { break };
        let word = word.clone();
        kept.retain(|words| words.get(at) == Some(&word));
        common.push(word);
    }
    common
}

/// The words with which nearly all captions end, and no others, after a sign that separates them from the caption: one
/// that ends a sentence, a line break, or a capital letter. Without one, they are a sentence by its mark.
fn addition(captions: &[&str], others: &[&str]) -> Option<String> {
    const FEWEST_WORDS: usize = 2;
    const MOST_WORDS: usize = 60;
    const SENTENCE: usize = 3;
    if !share_one(captions.iter().filter_map(|text| text.split_whitespace().next_back()), captions.len()) {
        return None;
    }
    let backwards =
        |text: &&str| -> Vec<String> { text.split_whitespace().rev().map(str::to_owned).collect() };
    let all: Vec<Vec<String>> = captions.iter().map(backwards).collect();
    let common = common_start(&all, MOST_WORDS);
    let are_nearly_all = |is_it: &dyn Fn(usize) -> bool| {
        are_nearly_all((0..captions.len()).filter(|k| is_it(*k)).count(), captions.len())
    };
    let word = |k: usize, n: usize| all.get(k).and_then(|words| words.get(n)).map_or("", String::as_str);
    let is_broken =
        |n: usize| are_nearly_all(&|k| captions.get(k).is_some_and(|text| breaks_before(text, n)));
    // A dash or a picture by itself is a sign as well.
    let is_sign = |word: &str| !word.is_empty() && !word.contains(char::is_alphanumeric);
    let is_after_sign =
        |n: usize| are_nearly_all(&|k| word(k, n).ends_with(ends_sentence) || is_sign(word(k, n)));
    let is_lower = |word: &str| word.starts_with(char::is_lowercase);
    let is_capital = |n: usize| {
        let first = common.get(n - 1).map_or("", String::as_str);
        first.starts_with(char::is_uppercase) && are_nearly_all(&|k| is_lower(word(k, n)))
    };
    let asks = |text: &str| text.trim_end().ends_with(['?', '!', '？', '！']);
    let is_sentence = |n: usize| {
        n > SENTENCE
            && n == common.len()
            && asks(&common[0])
            && are_hardly_any(others.iter().filter(|text| asks(text)).count(), others.len())
    };
    let is_apart = |n: usize| {
        is_broken(n)
            || n >= FEWEST_WORDS && is_after_sign(n)
            || n >= SENTENCE && (is_capital(n) || is_sentence(n))
    };
    let n = (1..=common.len()).rev().find(|n| is_apart(*n))?;
    let end: Vec<&str> = common[..n].iter().rev().map(String::as_str).collect();
    let end = end.join(" ");
    let n_others = others.iter().filter(|text| text.trim().ends_with(&end)).count();
    are_hardly_any(n_others, others.len()).then_some(end)
}

/// Returns true if there is a line break before the last `n` words of a text, and words before it.
fn breaks_before(text: &str, n: usize) -> bool {
    let mut rest = text.trim_end();
    for _ in 1..n {
        let Some((head, _)) = rest.rsplit_once(char::is_whitespace) else { return false };
        rest = head.trim_end();
    }
    let head = rest.trim_end_matches(|c: char| !c.is_whitespace());
    let bare = head.trim_end();
    !bare.is_empty() && head.get(bare.len()..).is_some_and(|blank| blank.contains('\n'))
}

/// Returns true for a word that marks the start or the end of captions and is none of a language, by its form: it has
/// signs, it is in capitals where words are not, or consists of the parts of which programs make such words. `None` if
/// it may be either, such as "start" and "end".
pub(super) fn is_marker(word: &str, captions: &[&str]) -> Option<bool> {
    /// Parts that are words themselves come first.
    const PARTS: &[&str] = &[
        "start", "end", "begin", "stop", "go", "caption", "text", "sentence", "sequence", "line", "word",
        "pad", "mark", "cap", "open", "close", "first", "last", "null", "sot", "token", "tok", "seq", "sent",
        "eos", "bos", "sos", "eot", "bot", "eof", "bof", "eol", "bol", "eoc", "boc", "eow", "sep", "cls",
        "unk", "oov", "init", "fin", "stt", "beg", "of", "the", "x",
    ];
    const WORDS: usize = 19;
    let inner = word.trim_matches('-');
    if inner.contains(|c: char| !c.is_alphanumeric() && c != '-') || inner.len() < word.len() {
        return Some(true);
    }
    let (mut upper, mut lower) = (0, 0);
    for c in captions.iter().flat_map(|text| text.chars()) {
        upper += usize::from(c.is_uppercase());
        lower += usize::from(c.is_lowercase());
    }
    let is_upper = word.chars().count() > 1 && !word.chars().any(char::is_lowercase);
    if is_upper && word.is_ascii() && upper < lower {
        return Some(true);
    }
    let word = word.to_ascii_lowercase();
    if PARTS[..WORDS].contains(&word.as_str()) {
        return None;
    }
    // Consonants alone, or one letter again and again.
    let is_unspoken = word.bytes().all(|byte| byte.is_ascii_alphabetic() && !b"aeiouy".contains(&byte))
        || word.bytes().all(|byte| Some(byte) == word.bytes().next());
    Some(is_unspoken || consists_of(&word, PARTS))
}

/// Returns true if a word is some parts, one after another.
fn consists_of(word: &str, parts: &[&str]) -> bool {
    word.is_empty()
        || parts.iter().any(|part| word.strip_prefix(part).is_some_and(|rest| consists_of(rest, parts)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEOPLE: &[&str] = &[
        "a dog runs on the beach",
        "two men sit in a kitchen",
        "the girl looks up",
        "a red bus waits at the station",
        "an old woman stands near a tree",
        "three cats lie on a sofa",
        "a child plays by the water",
        "people walk in the rain",
        "a man rides a wave",
        "a plate of food on a table",
    ];

    fn of(change: impl Fn(&str) -> String) -> Decoration {
        let mine: Vec<String> = PEOPLE.iter().rev().map(|text| change(text)).collect();
        let mine: Vec<&str> = mine.iter().map(String::as_str).collect();
        Decoration::of(&mine, PEOPLE)
    }

    #[test]
    fn marks_around_captions_are_found() {
        for (opening, closing) in [
            ("**", "**"),
            ("*", "*"),
            ("_", "_"),
            ("> ", ""),
            ("# ", ""),
            ("• ", ""),
            ("- ", ""),
            ("\\boxed{", "}"),
            ("\\text{", "}"),
            ("(", ")"),
            ("~~", "~~"),
            ("", " ###"),
            ("[", "]"),
        ] {
            let found = of(|text| format!("{opening}{text}{closing}"));
            let marks = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
            assert_eq!((found.opening, found.closing), (marks(opening), marks(closing)));
        }
    }

    #[test]
    fn words_before_all_captions_are_found() {
        for words in [
            "a photo of",
            "the image shows",
            "there is",
            "this is",
            "in this picture",
            "a picture of",
            "i see",
        ] {
            assert_eq!(of(|text| format!("{words} {text}")).template.as_deref(), Some(words));
        }
        let there = of(|text| format!("there {} {text}", if text.len() % 2 == 0 { "is" } else { "are" }));
        assert_eq!(there.template.as_deref(), Some("there"));
        let asked = of(|text| format!("{text}. Let me know if you need more!"));
        assert_eq!(asked.addition.as_deref(), Some("Let me know if you need more!"));
        for words in [
            "Would you like me to add more detail?",
            "I hope this helps!",
            "Let me know if you want more detail",
            "Is there anything else you would like to know about the image?",
            "let me know if you need more!",
        ] {
            for between in ["\n\n", "\n", ". ", " "] {
                let found = of(|text| format!("{text}{between}{words}"));
                assert_eq!(found.addition.as_deref(), Some(words), "{between:?}");
            }
        }
        assert_eq!(of(|text| format!("{text}\n\nEnjoy!")).addition.as_deref(), Some("Enjoy!"));
        for words in ["Sure!", "Certainly.", "Thanks for the picture."] {
            for between in [" ", "\n\n"] {
                let found = of(|text| format!("{words}{between}{text}"));
                assert!(found.template.is_some(), "{words}{between:?}");
            }
        }
        assert_eq!(of(|text| format!("{text}, high quality")).addition.as_deref(), Some("high quality"));
    }

    #[test]
    fn ordinary_captions_have_no_decoration() {
        let none = Decoration::default();
        for change in [
            |text: &str| text.to_owned(),
            |text: &str| format!("{text}."),
            |text: &str| format!("{text}!"),
            |text: &str| text.to_uppercase(),
            |text: &str| format!("this flower has {text}"),
            |text: &str| format!("many {text} in a residential area"),
            |text: &str| format!("{text} in color"),
            |text: &str| format!("a man {text}"),
            |text: &str| format!("\"{text}\""),
        ] {
            let changed: Vec<String> = PEOPLE
                .iter()
                .map(|text| change(text.split_once(' ').map_or(text, |(_, rest)| rest)))
                .collect();
            let mine: Vec<&str> = changed.iter().map(String::as_str).collect();
            assert_eq!(Decoration::of(&mine, PEOPLE), none, "{}", mine[0]);
        }
    }

    #[test]
    fn markers_are_told_from_words() {
        let texts: &[&str] = &["a dog runs"];
        for word in [
            "startseq",
            "endseq",
            "sos",
            "<eos>",
            "@@BOUNDARY@@",
            "BEGIN",
            "ssss",
            "eeee",
            "xxbos",
            "endofcaption",
            "--",
        ] {
            assert_eq!(is_marker(word, texts), Some(true), "{word}");
        }
        for word in ["start", "end", "stop", "go"] {
            assert_eq!(is_marker(word, texts), None, "{word}");
        }
        for word in
            ["many", "area", "color", "weekend", "friend", "flower", "self-portrait", "assistant", "légende"]
        {
            assert_eq!(is_marker(word, texts), Some(false), "{word}");
        }
        assert_eq!(is_marker("AREA", &["MANY TREES IN AN AREA"]), Some(false));
    }
}
