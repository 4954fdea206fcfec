//! Detects the layout of a file from its structure and its values.
//!
//! A reading says which records a file contains, which column holds the ids, and which columns hold the captions. If
//! neither the format nor the names of columns settle that, the reader keeps the table beside the captions, and
//! [`settle`] decides once both sides are read: the id is the column whose values are ids of the other side, and the
//! caption is the column whose texts share more words with their own references than with those of other images
//! ([`words`]). Names break ties. A file that could be read in two ways is refused, with both named; a notice reports
//! decisions that were not obvious.

mod both;
mod choose;
mod column;
mod evidence;
mod family;
mod few_pairs;
mod frames;
mod joined_ids;
mod kinds;
mod layout;
mod literals;
mod marks;
mod moments;
mod pairing;
mod rare_words;
mod records;
pub(crate) mod separators;
mod settle;
mod sheet;
mod side;
mod source;
mod systems;
mod template;
mod text;
pub(crate) mod words;
pub(crate) mod yaml;

pub use self::both::both_sides;
pub(crate) use self::kinds::Kinds;
pub use self::layout::{Because, Layout, ReadColumns};
pub(crate) use self::marks::{Truths, is_mark, rejected_notice, says_yes};
pub use self::pairing::{Fit, Mispairing, Order, fit, fit_some};
pub(crate) use self::records::{LABELS, of_split_frame};
pub use self::settle::refuse_open;
pub(crate) use self::settle::settle;
pub(crate) use self::source::{read_fields, read_lines, read_table, read_values};
pub use self::source::{understand_columns, understand_value};
pub(crate) use self::template::Template;

use std::borrow::Cow;
use std::collections::HashSet;

use self::column::Evidence;
use self::records::RecordList;
use self::sheet::SheetColumn;
use crate::captions::Captions;
use crate::table::{Cell, known};
use crate::{Format, Notice, Role, SegmentId};

/// The ways in which a file can be read, and the one in which it was.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    lists: Vec<EvidentList>,
    role: Role,
    /// The columns that the user named.
    named_id: bool,
    named_captions: bool,
    /// The reading so far; `None` for whole lines.
    current: Option<Pick>,
    /// True if nothing but the other side can tell which column holds the captions.
    is_open: bool,
    /// True if the captions so far come from the reader of a format.
    is_beside: bool,
    /// True if captions stand in columns of one family, as references of an image do.
    is_family: bool,
    /// What is to be said of columns that are not read.
    notes: Vec<Notice>,
    /// That of columns which could hold references as well.
    left_out: Option<Notice>,
}

/// A list of records, and what the values of its columns could be.
#[derive(Clone, Debug)]
struct EvidentList {
    list: RecordList,
    evidence: Vec<Evidence>,
    /// The columns of captions that have known names.
    known: Vec<usize>,
    /// True for references, of which an image may lack some.
    is_ground: bool,
}

/// The columns to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Pick {
    list: usize,
    /// The column of ids; `None` to number the rows.
    id: Option<usize>,
    captions: Vec<usize>,
    /// True if the texts of an image are one caption.
    is_joined: bool,
}

impl Reading {
    /// Says that the captions do not come from this reading, but from a reader of a format.
    pub fn set_beside(&mut self) {
        (self.is_beside, self.is_open) = (true, false);
    }

    /// Returns true if references stand in columns of one family.
    pub fn has_family(&self) -> bool {
        self.is_family && !self.named_captions
    }

    /// What is to be said of columns that are not read.
    pub fn notes(&self) -> impl Iterator<Item = &Notice> {
        self.notes.iter().chain(&self.left_out)
    }
}

impl EvidentList {
    fn new(list: RecordList) -> Self {
        let evidence: Vec<Evidence> =
            list.sheet.columns.iter().map(|column| Evidence::of(&column.cells)).collect();
        Self { list, evidence, known: Vec::new(), is_ground: false }
    }

    /// Adds a column.
    fn add_column(&mut self, column: SheetColumn) {
        self.evidence.push(Evidence::of(&column.cells));
        self.list.sheet.columns.push(column);
    }

    fn path(&self, column: usize) -> &str {
        self.list.sheet.columns.get(column).map_or("", |column| &column.path)
    }

    /// The name of a column without the way to it: `caption` for `annotations[].caption`.
    fn leaf(&self, column: usize) -> &str {
        let path = self.path(column);
        path.rsplit_once('.').map_or(path, |(_, leaf)| leaf).trim_end_matches("[]")
    }

    fn leaves(&self) -> Vec<String> {
        (0..self.list.sheet.columns.len()).map(|column| self.leaf(column).to_owned()).collect()
    }

    /// The columns that could hold captions. Constant ones are left out if there are others.
    fn caption_columns(&self) -> Vec<usize> {
        let may_be = |column: &usize| {
            let evidence = self.evidence.get(*column);
            evidence.is_some_and(|evidence| {
                evidence.may_be_captions() || self.is_ground && evidence.may_be_some()
            })
        };
        let all: Vec<usize> = (0..self.evidence.len()).filter(may_be).collect();
        let varied =
            |column: &&usize| self.evidence.get(**column).is_some_and(|evidence| !evidence.is_constant);
        let varied: Vec<usize> = all.iter().filter(varied).copied().collect();
        if varied.is_empty() { all } else { varied }
    }

    /// The columns that could hold ids: those with known names first.
    fn id_columns(&self) -> Vec<usize> {
        let may_be = |column: &usize| {
            let evidence = self.evidence.get(*column);
            let is_caption = || {
                let reads = |evidence: &Evidence| {
                    evidence.may_be_captions()
                        || evidence.ids_read_like_captions && self.repeats_captions(*column)
                };
                !self.names_image(*column) && evidence.is_some_and(reads)
            };
            evidence.is_some_and(Evidence::may_be_ids) && !is_caption()
        };
        let mut columns: Vec<usize> = (0..self.evidence.len()).filter(may_be).collect();
        columns.sort_by_key(|column| !self.names_image(*column));
        columns
    }

    /// Returns true if a column is called like what models answer, or has the texts of a column of captions.
    fn repeats_captions(&self, column: usize) -> bool {
        let cells =
            |column: usize| self.list.sheet.columns.get(column).map_or(&[][..], |column| &column.cells);
        let is_copy = |other: usize| {
            let is_same = |(cell, there): (&Cell<'_>, &Cell<'_>)| {
                let text = column::id(cell).map(|id| id.to_string());
                column::texts(there).first().is_some_and(|there| text.as_deref() == Some(there))
            };
            other != column && cells(column).iter().zip(cells(other)).all(is_same)
        };
        side::leaning(std::iter::once(self.path(column))) < family::ANSWERS
            || self.caption_columns().into_iter().any(is_copy)
    }

    fn names_image(&self, column: usize) -> bool {
        let leaf = self.leaf(column);
        let is = |name: &&str| known::is_called(leaf, name, false);
        [records::KEY, records::INDEX].contains(&leaf)
            || known::IMAGE.iter().chain(known::IMAGE_OF_CAPTION).any(is)
    }

    /// The column of ids, as far as names tell: the key of records only if they have no ids of their own beside keys
    /// that count them.
    fn known_id(&self) -> Option<usize> {
        let mut known = self.id_columns().into_iter().filter(|column| self.names_image(*column)).peekable();
        let first = *known.peek()?;
        let ids = |column: usize| self.list.sheet.columns[column].cells.iter().map(column::id);
        let counts = |base: i64| ids(first).zip(base..).all(|(id, row)| id == Some(SegmentId::Integer(row)));
        match self.own_id(first).filter(|_| counts(0) || counts(1)) {
            Some(own) => Some(own),
            None => Some(first),
        }
    }

    /// The ids that records have of their own, if they differ from their keys in the column `key`.
    fn own_id(&self, key: usize) -> Option<usize> {
        let ids = |column: usize| {
            self.list.sheet.columns.get(column).map(|column| column.cells.iter().map(column::id))
        };
        let is_own = |column: &usize| *column != key && known::names_image_ids(self.leaf(*column));
        let own = self.id_columns().into_iter().find(is_own).filter(|_| self.leaf(key) == records::KEY)?;
        let form = |id: Option<SegmentId>| id.map(|id| id.to_string());
        (!ids(own)?.map(form).eq(ids(key)?.map(form))).then_some(own)
    }

    /// A row with captions that has no id, although others have one in the column that is named like ids; or any such
    /// row, if there is no other column of ids.
    fn row_without_id(&self, pick: &Pick) -> Option<(usize, usize)> {
        let cells =
            |column: usize| self.list.sheet.columns.get(column).map_or(&[][..], |column| &column.cells);
        let is_absent = |cell: &Cell<'_>| match cell {
            Cell::Null => true,
            Cell::Number(number) => number.is_nan(),
            Cell::Text(text) | Cell::Untyped(text) => text.trim().is_empty(),
            _ => false,
        };
        let holds_ids = |column: &usize| {
            let are_told = self.evidence.get(*column).is_some_and(|evidence| evidence.distinct_ids >= 2);
            let is_either = |cell: &Cell<'_>| is_absent(cell) || column::id(cell).is_some();
            // Records within records have ids of their own.
            let is_outer = !self.path(*column).contains('.');
            are_told && is_outer && self.names_image(*column) && cells(*column).iter().all(is_either)
        };
        let column = pick.id.or_else(|| (0..self.evidence.len()).find(holds_ids)).filter(holds_ids)?;
        let needs_id = |row: usize| {
            let texts = |caption: &usize| {
                cells(*caption).get(row).is_some_and(|cell| !column::texts(cell).is_empty())
            };
            pick.id.is_none() || pick.captions.iter().any(texts)
        };
        let row =
            cells(column).iter().enumerate().position(|(row, cell)| is_absent(cell) && needs_id(row))?;
        Some((row, column))
    }

    /// The captions of a pick.
    fn captions(&self, pick: &Pick, source: &str, format: Option<Format>) -> Captions {
        let mut captions = Captions::new(source);
        if let Some(format) = format {
            captions.set_format(format);
        }
        let sheet = &self.list.sheet;
        // Rows of files count from 1, and those in memory from 0.
        let base = usize::from(format.is_some());
        // Lists of several captions that stand again in every record of an image are one list.
        let mut lists: HashSet<(SegmentId, usize, Vec<Cow<'_, str>>)> = HashSet::new();
        for (row, place) in sheet.places.iter().enumerate() {
            let cell = |column: usize| sheet.columns.get(column).and_then(|column| column.cells.get(row));
            let id = match pick.id {
                Some(column) => cell(column).and_then(column::id),
                None => i64::try_from(row + base).ok().map(SegmentId::Integer),
            };
            let Some(id) = id else { continue };
            let before = captions.len();
            for column in &pick.captions {
                let texts = cell(*column).map(column::texts).unwrap_or_default();
                if texts.len() > 1 {
                    captions.set_in_lists();
                    if pick.id.is_some() && !lists.insert((id.clone(), *column, texts.clone())) {
                        continue;
                    }
                }
                for text in texts {
                    match place.line {
                        Some(line) => captions.push_at(id.clone(), &text, line),
                        None => captions.push(id.clone(), &text),
                    }
                }
            }
            if let Some(record) = place.record {
                captions.set_record(before, record);
            }
            if captions.len() == before {
                captions.declare(id);
            }
        }
        if pick.is_joined {
            captions.join();
        }
        captions.set_layout(self.layout(pick, None));
        captions
    }

    /// How a pick reads the list, for people; `because` names the reason, if it is not that of names.
    fn layout(&self, pick: &Pick, because: Option<Because>) -> Layout {
        let named = |columns: &[usize]| columns.iter().map(|column| self.path(*column)).collect::<Vec<_>>();
        let others = |chosen: &[usize], columns: Vec<usize>| {
            let is_other = |column: &usize| !chosen.contains(column) && pick.id != Some(*column);
            columns.into_iter().filter(is_other).map(|column| self.path(column).to_owned()).collect()
        };
        let by_name = |is_known: bool| if is_known { Because::Known } else { Because::Alone };
        let id = pick.id.map_or(Because::Order, |id| match because {
            Some(_) => Because::Shared,
            None => by_name(self.names_image(id)),
        });
        let is_known = pick.captions.iter().all(|column| self.known.contains(column));
        let id_columns = self.id_columns().into_iter().filter(|column| !pick.captions.contains(column));
        Layout {
            records: self.list.path.clone(),
            id: ReadColumns {
                others: others(&[], id_columns.collect()),
                ..ReadColumns::new(named(pick.id.as_slice()), id)
            },
            caption: ReadColumns {
                others: others(&pick.captions, self.caption_columns()),
                ..ReadColumns::new(named(&pick.captions), because.unwrap_or(by_name(is_known)))
            },
            ..Layout::default()
        }
    }
}
