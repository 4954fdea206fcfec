//! One side, references or candidates: the ways to identify its rows, and the columns that could contain its captions.

use std::collections::HashSet;

use super::records::Doubt;
use super::words::sample;
use super::{EvidentList, Pick, Reading, family};
use crate::captions::Captions;
use crate::policy::Ids;
use crate::table::known::uncounted;
use crate::{Role, SegmentId};

/// A way to identify the rows of a side.
pub(super) struct Rows {
    pub list: usize,
    /// The column, if any.
    pub id: Option<usize>,
    /// The id of each row, as text.
    pub ids: Vec<String>,
    pub is_known: bool,
    pub doubt: Doubt,
}

impl Rows {
    /// Returns true if the rows are whole lines or items, which are counted.
    pub fn is_whole(&self) -> bool {
        self.list == usize::MAX
    }
}

/// A side, which is a reading or captions as they are.
pub(super) struct Side<'c> {
    pub captions: &'c Captions,
    pub reading: Option<&'c Reading>,
    pub rows: Vec<Rows>,
}

impl<'c> Side<'c> {
    pub fn new(captions: &'c Captions, ids: Ids) -> Self {
        let reading = captions.reading();
        let text = |id: &SegmentId| ids.form(id).to_string();
        let mut rows = Vec::new();
        for (number, list) in reading.into_iter().flat_map(|reading| reading.lists.iter()).enumerate() {
            let named =
                reading.filter(|reading| reading.named_id).and_then(|reading| reading.current.as_ref()?.id);
            for column in list.id_columns() {
                if named.is_some_and(|named| named != column) {
                    continue;
                }
                let cells = list.list.sheet.columns.get(column).map(|column| column.cells.as_slice());
                let id = |cell| super::column::id(cell).map_or_else(String::new, |id| text(&id));
                let ids = cells.unwrap_or_default().iter().map(id).collect();
                rows.push(Rows {
                    list: number,
                    id: Some(column),
                    ids,
                    is_known: list.names_image(column),
                    doubt: list.list.doubt,
                });
            }
        }
        let is_whole = reading.is_none_or(|reading| reading.current.is_none());
        if is_whole {
            let ids = captions.ids().iter().map(text).collect();
            rows.push(Rows { list: usize::MAX, id: None, ids, is_known: true, doubt: Doubt::None });
        }
        Self { captions, reading, rows }
    }

    pub fn role(&self) -> Role {
        self.reading.map_or(Role::Candidates, |reading| reading.role)
    }

    pub fn list(&self, number: usize) -> Option<&'c EvidentList> {
        self.reading?.lists.get(number)
    }

    /// The columns of captions to choose from; a single empty choice for captions as they are.
    pub fn choices(&self, rows: &Rows) -> Vec<Vec<usize>> {
        let (Some(list), Some(reading)) = (self.list(rows.list), self.reading) else {
            return vec![Vec::new()];
        };
        if reading.named_captions {
            let current = reading.current.as_ref().map(|pick| pick.captions.clone());
            return current.into_iter().collect();
        }
        let mut columns: Vec<usize> =
            list.caption_columns().into_iter().filter(|one| rows.id != Some(*one)).collect();
        if reading.role == Role::References {
            columns = family::without_parts(list, columns);
        }
        let mut choices: Vec<Vec<usize>> = columns.iter().map(|column| vec![*column]).collect();
        if list.known.len() > 1 {
            choices.retain(|choice| !choice.iter().all(|column| list.known.contains(column)));
            choices.insert(0, list.known.clone());
        }
        if reading.role != Role::Candidates {
            choices = joined(list, choices);
        }
        choices
    }

    /// The texts of a row in some columns.
    pub fn texts(&self, rows: &Rows, columns: &[usize], row: usize) -> Vec<String> {
        match self.list(rows.list) {
            None => vec![self.captions.text(row).to_owned()],
            Some(list) => columns
                .iter()
                .filter_map(|column| list.list.sheet.columns.get(*column)?.cells.get(row))
                .flat_map(super::column::texts)
                .map(std::borrow::Cow::into_owned)
                .collect(),
        }
    }

    /// The name of a choice, for people.
    pub fn name(&self, rows: &Rows, columns: &[usize]) -> String {
        let Some(list) = self.list(rows.list) else { return String::new() };
        columns.iter().map(|column| format!("{:?}", list.path(*column))).collect::<Vec<_>>().join(", ")
    }

    /// Returns true if the texts of a choice were written for each row alone, as captions are.
    pub fn is_free(&self, rows: &Rows, columns: &[usize]) -> bool {
        let Some(list) = self.list(rows.list) else { return false };
        columns.iter().all(|column| list.evidence.get(*column).is_some_and(|evidence| evidence.is_free))
    }

    /// Returns true if two choices have the same texts, on other rows.
    pub fn have_same_texts(&self, rows: &Rows, a: &[usize], b: &[usize]) -> bool {
        let texts = |columns: &[usize]| -> HashSet<String> {
            sample(rows.ids.len()).flat_map(|row| self.texts(rows, columns, row)).collect()
        };
        let (a, b) = (texts(a), texts(b));
        2 * a.intersection(&b).count() > a.len().min(b.len())
    }

    /// Returns true if two choices have the same text in every row that is looked at.
    pub fn are_one(&self, rows: &Rows, a: &[usize], b: &[usize]) -> bool {
        a == b || sample(rows.ids.len()).all(|row| self.texts(rows, a, row) == self.texts(rows, b, row))
    }

    /// The [`leaning`] of the columns of a choice.
    pub fn leaning(&self, rows: &Rows, columns: &[usize]) -> i32 {
        let list = self.list(rows.list);
        list.map_or(0, |list| leaning(columns.iter().map(|column| list.path(*column))))
    }

    pub fn pick(&self, rows: &Rows, columns: &[usize]) -> Option<Pick> {
        let reading = self.reading?;
        let list = reading.lists.get(rows.list)?;
        let is_candidate = reading.role == Role::Candidates;
        let id = rows.id.filter(|_| !is_candidate || list.evidence.len() > 1);
        let is_joined = reading.current.as_ref().is_some_and(|pick| pick.is_joined);
        Some(Pick { list: rows.list, id, captions: columns.to_vec(), is_joined })
    }
}

/// How much columns are called like references, above 0, or like what models answer, below 0. An answer may be the
/// right one, beside a prediction.
pub(super) fn leaning<S: AsRef<str>>(names: impl Iterator<Item = S> + Clone) -> i32 {
    const REFERENCE: &[&str] = &["ref", "truth", "gt", "gold", "target", "human", "label", "annot", "ground"];
    const CANDIDATE: &[&str] = &["pred", "hyp", "cand", "output", "resp", "generat", "model", "result"];
    const EITHER: &[&str] = &["answer"];
    let means = |words: &[&str]| {
        names.clone().any(|name| {
            let name = name.as_ref().to_lowercase();
            words.iter().any(|word| name.contains(word))
        })
    };
    let candidate = if means(CANDIDATE) { 2 } else { i32::from(means(EITHER)) };
    2 * i32::from(means(REFERENCE)) - candidate
}

/// Joins the columns whose names differ in a number or a letter at the end, also those of lists without names: they are
/// the references of an image.
pub(super) fn joined(list: &EvidentList, choices: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let path = |choice: &Vec<usize>| choice.first().map_or("", |column| list.path(*column));
    let counted: Vec<&str> = choices.iter().filter_map(|choice| uncounted(path(choice))).collect();
    let mut joined: Vec<(String, Vec<usize>)> = Vec::new();
    for choice in &choices {
        let path = path(choice);
        let stem = uncounted(path).or_else(|| counted.contains(&path).then_some(path));
        let stem = stem.filter(|_| choice.len() == 1);
        let key = stem.map_or_else(|| format!("\0{path}"), str::to_owned);
        match joined.iter_mut().find(|(known, _)| *known == key) {
            Some((_, columns)) => columns.extend(choice),
            None => joined.push((key, choice.clone())),
        }
    }
    joined.into_iter().map(|(_, columns)| columns).collect()
}
