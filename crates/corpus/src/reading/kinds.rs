//! Detects references of several languages or kinds, if a column with few values divides the references of each image.
//!
//! Columns that number the references of an image, or name their authors, divide them as well. So the texts of
//! different values must differ in their words, in their lengths, or as questions differ from answers, or the column's
//! name must say that it distinguishes kinds.

use std::collections::HashMap;

use capeval_choice::{Argument, Code, counted};

use super::words::{Words, best_overlap, words};
use crate::captions::Captions;
use crate::table::known::plain;
use crate::{Notice, Remedy, Role, SegmentId};

/// More values than this are no kinds.
pub(super) const MOST: usize = 6;

/// The longest name of a kind, in bytes.
const LONGEST: usize = 40;

/// The captions that are looked at.
const LOOKED_AT: usize = 20_000;

/// Words in the names of columns that tell kinds of captions apart.
const NAMES: &[&str] = &["lang", "locale", "source", "type", "kind", "style", "origin"];

/// Texts of two kinds share less than this part of what those of one kind share.
const LESS_SHARED: f64 = 0.5;

/// Texts of two languages share no more than this.
const LITTLE_SHARED: f64 = 0.12;

/// Texts of one kind are longer than those of another by this factor.
const LONGER: f64 = 1.5;

/// The values of columns beside captions.
#[derive(Default)]
pub(crate) struct Kinds {
    columns: Vec<Column>,
}

struct Column {
    name: String,
    values: Vec<String>,
    /// The value of each caption; `None` once there are too many, or one that names no kind.
    of_rows: Option<Vec<usize>>,
}

impl Kinds {
    /// Adds the value of a column for caption number `row`, which come in order.
    pub fn add(&mut self, name: &str, row: usize, value: &str) {
        let place = self.columns.iter().position(|column| column.name == name).unwrap_or_else(|| {
            let column = Column { name: name.to_owned(), values: Vec::new(), of_rows: Some(Vec::new()) };
            self.columns.push(column);
            self.columns.len() - 1
        });
        let Some(Column { values, of_rows, .. }) = self.columns.get_mut(place) else { return };
        let Some(rows) = of_rows else { return };
        let known = values.iter().position(|known| known == value).unwrap_or_else(|| {
            values.push(value.to_owned());
            values.len() - 1
        });
        let is_kind = (1..=LONGEST).contains(&value.len()) && value.contains(char::is_alphabetic);
        if rows.len() != row || values.len() > MOST || !is_kind {
            *of_rows = None;
            return;
        }
        rows.push(known);
    }

    /// Notices of the columns that divide the references of images.
    pub fn notices(&self, captions: &Captions, role: Role) -> Vec<Notice> {
        if role != Role::References {
            return Vec::new();
        }
        let is_whole = |column: &&Column| {
            let rows = column.of_rows.as_ref().map_or(0, Vec::len);
            rows == captions.len() && column.values.len() > 1
        };
        let mut whole = self.columns.iter().filter(is_whole).peekable();
        if whole.peek().is_none() {
            return Vec::new();
        }
        let mut images: HashMap<&SegmentId, Vec<usize>> = HashMap::new();
        for (row, id) in captions.ids().iter().enumerate().take(LOOKED_AT) {
            images.entry(id).or_default().push(row);
        }
        let mut images: Vec<Vec<usize>> = images.into_values().collect();
        images.sort_unstable();
        whole.filter_map(|column| column.notice(captions, &images, role)).collect()
    }
}

impl Column {
    fn notice(&self, captions: &Captions, images: &[Vec<usize>], role: Role) -> Option<Notice> {
        let of_rows = self.of_rows.as_ref()?;
        let of = |row: &usize| of_rows.get(*row).copied().unwrap_or_default();
        let is_mixed = |rows: &&Vec<usize>| rows.iter().any(|row| of(row) != of(&rows[0]));
        let mixed = images.iter().filter(is_mixed).count();
        if mixed * 2 < images.len() || mixed < 2 {
            return None;
        }
        let name = plain(&self.name);
        if !NAMES.iter().any(|word| name.contains(word)) && !self.texts_differ(captions, images, &of) {
            return None;
        }
        let count = |value: usize| of_rows.iter().filter(|one| **one == value).count();
        let listed: Vec<String> =
            self.values.iter().enumerate().map(|(k, value)| format!("{value:?} for {}", count(k))).collect();
        let message = format!(
            "{:?} divides the references of images in {}: it is {} of {}, which are all used; if those of one value are \
             meant, leave out the others",
            self.name,
            captions.source(),
            listed.join(", "),
            counted(of_rows.len(), "reference"),
        );
        let drop = |value: &String| Remedy::set(Argument::Drop(role), format!("{}={value}", self.name));
        let remedy = self.values.iter().rev().map(drop).reduce(Remedy::or)?;
        let purpose = match self.values.len() {
            2 => "leave these out",
            _ => "leave these out, with one option for each value",
        };
        Some(Notice::new(Code::Reading, message).count(of_rows.len()).remedy(remedy.to(purpose)))
    }

    /// Returns true if the texts of a value are unlike those of another.
    fn texts_differ(
        &self,
        captions: &Captions,
        images: &[Vec<usize>],
        of: &impl Fn(&usize) -> usize,
    ) -> bool {
        let mut groups = vec![Group::default(); self.values.len()];
        for rows in images {
            let bags: Vec<Words> = rows.iter().map(|row| words(captions.text(*row))).collect();
            for (k, row) in rows.iter().enumerate() {
                let text = captions.text(*row);
                let others = |is_same: bool| {
                    let others = rows.iter().zip(&bags).enumerate();
                    let is_meant = |(other, (that, _)): &(usize, (&usize, &Words))| {
                        *other != k && (of(that) == of(row)) == is_same
                    };
                    let others: Vec<Words> =
                        others.filter(is_meant).map(|(_, (_, bag))| bag.clone()).collect();
                    (!others.is_empty()).then(|| best_overlap(&bags[k], &others))
                };
                let group = &mut groups[of(row)];
                group.n += 1.0;
                group.words += text.split_whitespace().count() as f64;
                group.questions += f64::from(u8::from(text.trim_end().ends_with('?')));
                group.within.extend(others(true));
                group.across.extend(others(false));
            }
        }
        let range = |of: &dyn Fn(&Group) -> f64| {
            let values = groups.iter().filter(|group| group.n > 0.0).map(of);
            values.fold((f64::INFINITY, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)))
        };
        let (shortest, longest) = range(&|group| group.words / group.n);
        let (fewest, most) = range(&|group| group.questions / group.n);
        let (least, across) = range(&|group| mean(&group.across));
        let (_, within) = range(&|group| mean(&group.within));
        longest > LONGER * shortest
            || most - fewest > 0.5
            || least < LESS_SHARED * across.max(within)
            || across < LITTLE_SHARED
    }
}

/// The texts of a value.
#[derive(Clone, Default)]
struct Group {
    n: f64,
    words: f64,
    questions: f64,
    /// What each shares with others of its image, of the same value and of other ones.
    within: Vec<f64>,
    across: Vec<f64>,
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
