//! Plain versions of the checks, whose results those that read bytes must equal on any text.

use std::collections::{HashMap, HashSet};

use capeval_choice::Code;
use proptest::prelude::*;

use super::super::census::{Letters, n_characters, n_words};
use super::super::shared::{WordSet, placeholders, prompt};
use super::super::text::{has_bare_token, has_markup, has_subwords, kind_of, skipped_looks, special_token};
use super::super::thoughts::labels;

/// Pieces of captions and of all that is none, which chance joins.
const PIECES: &[&str] = &[
    "a",
    "dog",
    "runs",
    "A",
    "UNK",
    "SEP",
    "UNKS",
    "unk",
    "<s>",
    "</s>",
    "[SEP]",
    "{",
    "}",
    "<",
    ">",
    "[",
    "]",
    "<|im_end|>",
    "<｜end▁of▁sentence｜>",
    "://",
    "</w>",
    "##",
    "##s",
    "@@",
    "do@@",
    "▁",
    "￭",
    "Ġ",
    "Ċ",
    "_NN",
    "_",
    "|",
    "/",
    "/DT",
    "~",
    "+",
    "^",
    "=",
    "·",
    "¦",
    "$",
    ":",
    "：",
    "Thought",
    "Answer",
    "caption",
    "reasoning",
    ".",
    "!",
    "?",
    "*",
    "#",
    "-",
    "é",
    "Σ",
    "ΑΣ'",
    "ς",
    "狗",
    "（",
    "собака",
    "Собака",
    "n't",
    "'",
    "\n",
    "\t",
    "\u{b}",
    "\u{c}",
    "\u{1c}",
    "\u{85}",
    "\u{a0}",
    "\u{3000}",
    "\u{200b}",
    "\u{fffd}",
    "ǅ",
    "ª",
    "12",
    "٣",
    "\0",
    "Describe the image in detail: ",
    "The answer is: ",
    " ",
    " ",
    " ",
    " ",
];

fn text() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES), 0..24);
    let many = prop::collection::vec(prop::sample::select(PIECES), 250..600);
    let joined = |pieces: Vec<&str>| pieces.concat();
    prop_oneof![8 => pieces.prop_map(joined), 1 => many.prop_map(joined), 1 => any::<String>()]
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    let begun = (text(), prop::collection::vec(text(), 0..12), prop::collection::vec(any::<bool>(), 12));
    let begin = |(start, texts, which): (String, Vec<String>, Vec<bool>)| {
        let with = |(text, is_begun)| if is_begun { format!("{start} {text}") } else { text };
        texts.into_iter().zip(which).map(with).collect()
    };
    begun.prop_map(begin)
}

mod plain {
    use super::*;

    pub fn has_bare_token(text: &str) -> bool {
        const BARE: &[&str] = &["UNK", "PAD", "EOS", "BOS", "SOS", "SEP", "CLS", "EOT", "OOV"];
        text.split(' ').any(|word| BARE.contains(&word)) && text.bytes().any(|byte| byte.is_ascii_lowercase())
    }

    pub fn has_subwords(text: &str) -> bool {
        let is_piece = |word: &str| {
            let after = word.strip_prefix("##").and_then(|rest| rest.chars().next());
            after.is_some_and(char::is_alphanumeric)
                || word.len() > 2 && word.ends_with("@@") && !word.starts_with("@@")
        };
        let mut bare = text.to_owned();
        while let Some(token) = special_token(&bare).map(str::to_owned) {
            let (head, tail) = bare.split_once(&token).unwrap();
            bare = format!("{}\n{tail}", head.trim_end_matches(['▁', ' ']));
        }
        if bare.contains(['▁', '￭']) || text.contains("</w>") || text.split(' ').any(is_piece) {
            return true;
        }
        let n_words = text.split([' ', 'Ġ']).filter(|word| !word.is_empty()).count();
        let n_spaces = text.matches('Ġ').count();
        if n_spaces > 0 && n_spaces * 2 >= n_words {
            return true;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let most = |sign: fn(&str) -> Option<char>| {
            let long = words.iter().filter(|word| word.chars().count() > 1);
            let signs: Vec<char> =
                long.filter_map(|word| sign(word)).filter(|c| "_|~+^=·¦$".contains(*c)).collect();
            signs.first().is_some_and(|first| {
                let n = signs.iter().filter(|sign| *sign == first).count();
                n >= 3 && n * 2 >= words.len()
            })
        };
        let is_tagged = |word: &&&str| {
            word.split_once(['_', '|', '/']).is_some_and(|(word, tag)| {
                let is_of_tag = |byte: u8| byte.is_ascii_uppercase() || byte == b'$';
                !word.is_empty() && !tag.is_empty() && tag.bytes().all(is_of_tag)
            })
        };
        words.len() >= 3
            && (words.iter().filter(is_tagged).count() * 5 >= words.len() * 4
                || most(|word| word.chars().next())
                || most(|word| word.chars().next_back()))
    }

    pub fn labels(text: &str) -> Vec<(&str, usize, usize)> {
        let is_decoration = |c: char| matches!(c, '*' | '#' | ' ' | '_' | '-' | '>');
        let label = |(colon, sign): (usize, &str)| {
            let head = &text[..colon];
            let start = head.rfind(['\n', '.', '!', '?', '>']).map_or(0, |at| at + 1);
            let label = head[start..].trim_start_matches(is_decoration).trim_end_matches(['*', ' ']);
            let words: Vec<&str> = label.split(' ').collect();
            let is_label = label.len() <= 32
                && words.len() <= 3
                && words.iter().all(|word| word.chars().all(char::is_alphanumeric))
                && label.starts_with(char::is_alphabetic);
            is_label.then_some((label, start, colon + sign.len()))
        };
        let colons = text.match_indices([':', '：']).filter(|(at, _)| !text[*at..].starts_with("://"));
        colons.filter_map(label).collect()
    }

    pub fn words(text: &str) -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    }

    pub fn share(known: &[&str], text: &str) -> f64 {
        let known: HashSet<String> = known.iter().flat_map(|text| words(text)).collect();
        let words = words(text);
        words.iter().filter(|word| known.contains(*word)).count() as f64 / words.len().max(1) as f64
    }

    pub fn upper(texts: &[&str]) -> f64 {
        let letters: Vec<char> = texts.iter().flat_map(|text| text.chars()).collect();
        let cased: Vec<&char> = letters.iter().filter(|c| c.is_lowercase() || c.is_uppercase()).collect();
        cased.iter().filter(|c| c.is_uppercase()).count() as f64 / cased.len().max(1) as f64
    }

    pub fn prompt(captions: &[&str], others: &[&str]) -> Option<String> {
        let mut kept: Vec<Vec<&str>> =
            captions.iter().map(|text| text.split_whitespace().take(64).collect()).collect();
        let mut words: Vec<&str> = Vec::new();
        loop {
            let mut counts: HashMap<&str, usize> = HashMap::new();
            kept.iter()
                .filter_map(|text| text.get(words.len()))
                .for_each(|word| *counts.entry(word).or_default() += 1);
            let next = counts.into_iter().max_by(|(a, n), (b, m)| n.cmp(m).then_with(|| b.cmp(a)));
            let Some((word, _)) = next.filter(|(_, n)| n * 10 >= captions.len() * 9) else { break };
            kept.retain(|text| text.get(words.len()) == Some(&word));
            words.push(word);
        }
        let ends = kept.iter().filter(|text| text.len() == words.len()).count();
        let begins = |prompt: String| {
            others.iter().filter(|text| text.starts_with(&prompt)).count() * 10 > others.len()
        };
        if ends * 2 >= captions.len() || words.len() < 3 || begins(words[..3].join(" ")) {
            return None;
        }
        match words.iter().rposition(|word| word.ends_with([':', '?', '.', '!', '>', ']', '\n'])) {
            Some(end) if end >= 2 => Some(words[..=end].join(" ")),
            _ => (words.len() >= 5).then(|| words.join(" ")),
        }
    }

    pub fn placeholders(captions: &[&str], others: &[&str]) -> Vec<String> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        captions.iter().for_each(|text| *counts.entry(text).or_default() += 1);
        let least = 3.max(captions.len() / 50);
        let repeated: Vec<&str> = counts
            .iter()
            .filter(|(text, n)| **n >= least && !text.is_empty())
            .map(|(text, _)| *text)
            .collect();
        if repeated.is_empty() || others.len() < 5 || counts.len() < 2 {
            return Vec::new();
        }
        let usual: Vec<f64> =
            captions.iter().filter(|text| !repeated.contains(text)).map(|text| share(others, text)).collect();
        let usual = usual.iter().sum::<f64>() / usual.len().max(1) as f64;
        let is_other = |text: &&str| share(others, text) * 2.0 < usual && !others.contains(text);
        let mut found: Vec<String> = repeated.into_iter().filter(is_other).map(str::to_owned).collect();
        found.sort_unstable();
        found
    }
}

fn borrowed(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

proptest! {
    #[test]
    fn what_single_texts_are_is_found_as_in_plain_form(text in text()) {
        prop_assert_eq!(has_bare_token(&text), plain::has_bare_token(&text));
        prop_assert_eq!(has_subwords(&text), plain::has_subwords(&text));
        prop_assert_eq!(labels(&text).collect::<Vec<_>>(), plain::labels(&text));
        prop_assert_eq!(n_words(&text), text.split_whitespace().count());
        prop_assert_eq!(n_characters(&text), text.chars().count());
    }

    #[test]
    fn a_look_runs_wherever_it_would_find_something(text in text()) {
        let text = text.trim();
        // A bar alone marks no thoughts in a caption, though it may end them in an answer.
        let skipped = skipped_looks(text);
        prop_assert!(skipped.iter().all(|code| *code == Code::Thoughts), "{:?}", skipped);
        let is_token = special_token(text).is_some() || has_markup(text) || plain::has_bare_token(text);
        let found = kind_of(text);
        if let Some(Code::SpecialTokens) = found {
            prop_assert!(is_token);
        }
        if plain::has_subwords(text) || is_token {
            prop_assert!(found.is_some(), "{:?}", text);
        }
    }

    #[test]
    fn what_texts_have_in_common_is_found_as_in_plain_form(mine in texts(), theirs in texts()) {
        let (mine, theirs) = (borrowed(&mine), borrowed(&theirs));
        prop_assert_eq!(prompt(&mine, &theirs), plain::prompt(&mine, &theirs));
        prop_assert_eq!(placeholders(&mine, &theirs), plain::placeholders(&mine, &theirs));
        prop_assert_eq!(Letters::of(&mine).upper(), plain::upper(&mine));
        let n_letters = mine.iter().flat_map(|text| text.chars()).filter(|c| c.is_alphabetic()).count();
        prop_assert_eq!(Letters::of(&mine).n(), n_letters);
        let known = WordSet::of(&theirs);
        for text in mine {
            prop_assert_eq!(known.share(text), plain::share(&theirs, text));
        }
    }
}
