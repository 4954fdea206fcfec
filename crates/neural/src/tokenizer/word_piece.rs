//! BERT's tokenizer: words, and the longest pieces of words that the vocabulary has.

use std::collections::HashMap;

use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// BERT's tokenizer.
#[derive(Clone, Debug)]
pub(super) struct WordPiece {
    ids: HashMap<String, u32>,
    unknown: u32,
    lower_case: bool,
    strip_accents: bool,
    clean: bool,
    chinese: bool,
    prefix: String,
    /// The longest word, in characters, that is cut into pieces.
    longest: usize,
}

impl WordPiece {
    /// With the settings of BERT, without a vocabulary.
    pub fn usual(lower_case: bool) -> Self {
        Self {
            ids: HashMap::new(),
            unknown: 0,
            lower_case,
            strip_accents: lower_case,
            clean: true,
            chinese: true,
            prefix: "##".to_owned(),
            longest: 100,
        }
    }

    /// With the settings in a tokenizer.json.
    pub fn of_json(model: &Value, normalizer: &Value, lower_case: bool) -> Self {
        let yes = |key: &str, default: bool| normalizer.get(key).and_then(Value::as_bool).unwrap_or(default);
        let lower_case = yes("lowercase", lower_case);
        let text = |key: &str| model.get(key).and_then(Value::as_str);
        let longest = model.get("max_input_chars_per_word").and_then(Value::as_u64).unwrap_or(100);
        Self {
            lower_case,
            strip_accents: yes("strip_accents", lower_case),
            clean: yes("clean_text", true),
            chinese: yes("handle_chinese_chars", true),
            prefix: text("continuing_subword_prefix").unwrap_or("##").to_owned(),
            longest: usize::try_from(longest).unwrap_or(100),
            ..Self::usual(lower_case)
        }
    }

    /// Over a vocabulary.
    pub fn over(self, ids: HashMap<String, u32>, unknown: u32) -> Self {
        Self { ids, unknown, ..self }
    }

    /// Adds the ids of a text.
    pub fn add(&self, text: &str, ids: &mut Vec<u32>) {
        let text = self.normal(text);
        for word in text.split_whitespace() {
            let mut rest = word;
            while let Some(first) = rest.chars().next() {
                let is_mark = |c: char| is_punctuation(c);
                let length = match is_mark(first) {
                    true => first.len_utf8(),
                    false => rest.find(is_mark).unwrap_or(rest.len()),
                };
                let (one, after) = rest.split_at(length);
                self.pieces(one, ids);
                rest = after;
            }
        }
    }

    fn normal(&self, text: &str) -> String {
        let mut normal = String::with_capacity(text.len());
        for c in text.chars() {
            let is_space = matches!(c, '\t' | '\n' | '\r') || c.is_whitespace();
            match c {
                _ if self.clean && is_space => normal.push(' '),
                '\0' | '\u{FFFD}' if self.clean => {}
                _ if self.clean && is_control(c) => {}
                _ if self.chinese && is_chinese(c) => normal.extend([' ', c, ' ']),
                _ => normal.push(c),
            }
        }
        if self.strip_accents {
            // Marks that do not take up space.
            let is_accent = |c: &char| c.general_category() == GeneralCategory::NonspacingMark;
            normal = normal.nfd().filter(|c| !(is_combining_mark(*c) && is_accent(c))).collect();
        }
        if self.lower_case {
            normal = normal.chars().flat_map(char::to_lowercase).collect();
        }
        normal
    }

    /// Adds the ids of the longest pieces of a word, from its beginning, or that of an unknown word.
    fn pieces(&self, word: &str, ids: &mut Vec<u32>) {
        if word.chars().count() > self.longest {
            ids.push(self.unknown);
            return;
        }
        let first = ids.len();
        let mut start = 0;
        let mut piece = String::new();
        while start < word.len() {
            let ends = word[start..].char_indices().map(|(at, c)| start + at + c.len_utf8());
            let ends: Vec<usize> = ends.collect();
            let found = ends.into_iter().rev().find_map(|end| {
                piece.clear();
                if start > 0 {
                    piece.push_str(&self.prefix);
                }
                piece.push_str(&word[start..end]);
                self.ids.get(piece.as_str()).map(|id| (*id, end))
            });
            match found {
                Some((id, end)) => {
                    ids.push(id);
                    start = end;
                }
                None => {
                    ids.truncate(first);
                    ids.push(self.unknown);
                    return;
                }
            }
        }
    }
}

fn is_control(c: char) -> bool {
    use GeneralCategory::{Control, Format, PrivateUse};
    matches!(c.general_category(), Control | Format | PrivateUse)
}

/// BERT takes all signs of ASCII for punctuation, also `$` and `^`.
fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// The blocks of ideographs that BERT sets apart.
fn is_chinese(c: char) -> bool {
    matches!(u32::from(c),
        0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x20000..=0x2A6DF | 0x2A700..=0x2B73F | 0x2B740..=0x2B81F
        | 0x2B920..=0x2CEAF | 0xF900..=0xFAFF | 0x2F800..=0x2FA1F)
}
