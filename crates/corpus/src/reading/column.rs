//! Classifies the values of a column: ids, captions, or neither.

use std::borrow::Cow;
use std::collections::HashSet;

use super::words::is_unspaced;
use crate::SegmentId;
use crate::table::Cell;
use crate::written_list::written_list;

/// A caption has this many words on average, or more; a caption in a script without spaces, more letters.
const FEWEST_WORDS: f64 = 1.5;

/// Texts of this many words on average are no ids.
const FEWEST_WORDS_OF_TEXTS: f64 = 3.0;

/// The longest text that can be an id, in bytes.
const ID_BYTES: usize = 512;

/// Texts that share this many words at their beginning and their end together are a form with something filled in.
const FORM_WORDS: usize = 3;

/// The share of rows with a text of their own in a column of free texts.
const MOSTLY: f64 = 0.8;

/// The rows that are looked at.
const SAMPLE: usize = 2000;

/// The texts of a cell: one, or several of a list, which may be written as text.
pub(super) fn texts<'c>(cell: &'c Cell<'_>) -> Vec<Cow<'c, str>> {
    match cell {
        Cell::Text(text) | Cell::Untyped(text) => match text.trim() {
            "" => Vec::new(),
            trimmed if trimmed.starts_with(['[', '(', '{', 'a']) => match written_list(trimmed) {
                Some(list) => list.into_iter().map(Cow::Owned).collect(),
                None => vec![Cow::Borrowed(&**text)],
            },
            _ => vec![Cow::Borrowed(&**text)],
        },
        Cell::List(items) => items
            .iter()
            .filter_map(|item| match item {
                Cell::Text(text) | Cell::Untyped(text) => Some(Cow::Borrowed(&**text)),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// A cell as an id; a list of one value counts as the value.
pub(super) fn id(cell: &Cell<'_>) -> Option<SegmentId> {
    match cell {
        Cell::List(items) => match items.as_slice() {
            [item] => id(item),
            [first, rest @ ..] if rest.iter().all(|item| item == first) => id(first),
            _ => None,
        },
        cell => cell.id().filter(|id| match id {
            SegmentId::Integer(_) => true,
            SegmentId::Text(text) => !text.trim().is_empty() && text.len() <= ID_BYTES,
        }),
    }
}

/// What is known of a column from its values alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    /// The share of rows that have a text or several.
    pub texts: f64,
    /// True if the texts read like captions: several words, or enough letters of a script without spaces.
    pub reads_like_captions: bool,
    /// True if all texts are one text.
    pub is_constant: bool,
    /// True if nearly every row has a text of its own, which is no question and no form that others share.
    pub is_free: bool,
    /// True if a row has something that is no text: nothing may be dropped.
    pub has_others: bool,
    /// The share of rows that have a value which could be an id.
    pub ids: f64,
    /// The number of distinct ids.
    pub distinct_ids: usize,
    /// True if what could be ids are texts of several words, and no names of files.
    pub ids_read_like_captions: bool,
}

impl Evidence {
    pub fn of(cells: &[Cell<'_>]) -> Self {
        let step = cells.len().div_ceil(SAMPLE).max(1);
        let rows = cells.len().div_ceil(step).max(1) as f64;
        let (mut with_text, mut words, mut n_texts, mut n_paths) = (0.0, 0.0, 0.0, 0.0);
        let mut distinct: HashSet<Cow<'_, str>> = HashSet::new();
        for cell in cells.iter().step_by(step) {
            let texts = texts(cell);
            with_text += f64::from(u8::from(!texts.is_empty()));
            for text in texts {
                n_texts += 1.0;
                words += length(&text);
                n_paths += f64::from(u8::from(is_path(&text)));
                distinct.insert(text);
            }
        }
        let is_form = shared_words(&distinct) >= FORM_WORDS;
        let n_questions = distinct.iter().filter(|text| text.trim_end().ends_with('?')).count();
        let is_free =
            distinct.len() as f64 >= MOSTLY * n_texts && 2 * n_questions < distinct.len() && !is_form;
        let ids: Vec<SegmentId> = cells.iter().filter_map(id).collect();
        let n_ids = ids.len();
        let texts = ids.iter().filter_map(|id| match id {
            SegmentId::Text(text) if !is_path(text) => Some(length(text)),
            _ => None,
        });
        let lengths: Vec<f64> = texts.collect();
        let ids_read_like_captions = 2 * lengths.len() > n_ids
            && lengths.iter().sum::<f64>() >= FEWEST_WORDS_OF_TEXTS * lengths.len() as f64;
        let distinct_ids = ids.into_iter().collect::<HashSet<_>>().len();
        Self {
            has_others: cells.iter().any(is_other),
            texts: with_text / rows,
            reads_like_captions: n_texts > 0.0 && words / n_texts >= FEWEST_WORDS && n_paths / n_texts < 0.5,
            is_free: is_free && n_texts > 1.0,
            is_constant: distinct.len() == 1 && cells.len() > 2,
            ids: n_ids as f64 / cells.len().max(1) as f64,
            distinct_ids,
            ids_read_like_captions,
        }
    }

    /// Returns true if the column could hold captions.
    pub fn may_be_captions(&self) -> bool {
        self.texts >= 0.5 && self.reads_like_captions && !self.has_others
    }

    /// Returns true if the column could hold captions of some of the rows.
    pub fn may_be_some(&self) -> bool {
        self.texts >= 0.1 && self.reads_like_captions && !self.has_others
    }

    /// Returns true if the column could hold the ids of all rows.
    pub fn may_be_ids(&self) -> bool {
        self.ids >= 0.98 && (self.distinct_ids >= 2 || self.ids == 1.0)
    }
}

/// The number of words with which all texts begin, and of those with which all end.
fn shared_words(texts: &HashSet<Cow<'_, str>>) -> usize {
    let Some(first) = texts.iter().next() else { return 0 };
    let common = |a: &mut dyn Iterator<Item = &str>, b: &mut dyn Iterator<Item = &str>| {
        a.zip(b).take_while(|(a, b)| a == b).count()
    };
    let words = || first.split_whitespace();
    let begin = texts.iter().map(|text| common(&mut words(), &mut text.split_whitespace())).min();
    let end = texts.iter().map(|text| common(&mut words().rev(), &mut text.split_whitespace().rev())).min();
    begin.unwrap_or(0) + end.unwrap_or(0)
}

/// Returns true for what is neither a text, nor several, nor nothing.
fn is_other(cell: &Cell<'_>) -> bool {
    match cell {
        Cell::Null | Cell::Text(_) | Cell::Untyped(_) => false,
        Cell::List(items) => items.iter().any(|item| matches!(item, Cell::List(_)) || is_other(item)),
        _ => true,
    }
}

/// The number of words of a text; letters of scripts without spaces count as half a word each.
fn length(text: &str) -> f64 {
    let unspaced = text.chars().filter(|c| is_unspaced(*c)).count();
    text.split_whitespace().count() as f64 + unspaced as f64 / 2.0
}

/// Returns true for paths, names of files and addresses.
fn is_path(text: &str) -> bool {
    let text = text.trim();
    let has_extension = text.rsplit_once('.').is_some_and(|(_, end)| {
        (2..=5).contains(&end.len())
            && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && end.bytes().any(|byte| byte.is_ascii_alphabetic())
    });
    has_extension || text.contains("://") && !text.contains(char::is_whitespace)
}
