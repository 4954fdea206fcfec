//! Captions from the rows of a table, in any of its formats.

use capeval_choice::Argument;

use crate::captions::Captions;
use crate::error::{Error, ErrorKind};
use crate::keys::{KeyGathering, KeyName};
use crate::options::ReadOptions;
use crate::reading::{Because, ReadColumns};
use crate::table::{CaptionColumns, Cell, Consumer, Row, RowIds, known};
use crate::{Format, Remedy, SegmentId};

/// The description of a row in errors.
pub(crate) const EXPECTED: &str = "an object with an id and a caption";

/// Reads captions row by row; rows without ids are numbered from 1. Null is not a caption, and neither is an empty cell
/// of CSV if there are several columns of captions.
pub(crate) struct CaptionRows<'c> {
    options: &'c ReadOptions,
    captions: &'c mut Captions,
    columns: CaptionColumns,
    /// True if each row has all columns, as tables with a header do.
    has_header: bool,
    ids: RowIds,
    /// Other columns that may identify the rows; `None` before the first row.
    keys: Option<KeyGathering>,
    places: Vec<Option<usize>>,
}

impl<'c> CaptionRows<'c> {
    pub fn new(options: &'c ReadOptions, captions: &'c mut Captions) -> Self {
        let has_header = !matches!(
            captions.format(),
            Some(Format::JsonLines | Format::ListJson | Format::CocoAnnotations | Format::CocoResults)
        );
        let (columns, ids) = (CaptionColumns::default(), RowIds::default());
        Self { options, captions, columns, has_header, ids, keys: None, places: Vec::new() }
    }

    /// Adds what identifies the rows, and a notice if they were numbered.
    pub fn finish(self) {
        let remedy = Remedy::give(Argument::IdColumn(self.options.role)).to("name one");
        let notice = self.ids.notice(self.captions.source(), known::IMAGE_OF_CAPTION, remedy);
        notice.into_iter().for_each(|notice| self.captions.notice(notice));
        if let Some(keys) = self.keys {
            self.captions.set_keys(keys.finish());
        }
    }

    /// Says which columns are read, and why.
    fn note_columns(&mut self, names: &[String]) {
        let because = |is_named: bool| if is_named { Because::Named } else { Because::Known };
        let named =
            |columns: &[usize]| columns.iter().filter_map(|k| names.get(*k).cloned()).collect::<Vec<_>>();
        let id = match self.columns.id {
            Some(_) => because(self.options.id_column.is_some()),
            None => Because::Order,
        };
        let caption = because(self.options.caption_columns.is_some());
        let (ids, captions) = (named(self.columns.id.as_slice()), named(&self.columns.captions));
        let layout = self.captions.layout_mut();
        layout.id = ReadColumns::new(ids, id);
        layout.caption = ReadColumns::new(captions, caption);
    }

    /// Finds the columns of what else may identify the rows.
    fn locate_keys(&mut self, names: &[String]) {
        let keys = self.keys.get_or_insert_with(|| {
            let column = self.columns.id.and_then(|id| names.get(id)).map(String::as_str);
            let is_other = |(place, _): &(usize, &String)| {
                !self.columns.captions.contains(place) && self.columns.id != Some(*place)
            };
            let others = names.iter().enumerate().filter(is_other);
            let others = others.map(|(_, name)| KeyName::Column(name.clone()));
            KeyGathering::new(column, self.options.id_column.is_some(), others)
        });
        self.places.clear();
        for (place, key) in keys.wanted() {
            self.places.resize(place, None);
            let KeyName::Column(key) = key else { continue };
            self.places.push(names.iter().position(|name| name == key));
        }
    }

    fn push(&mut self, row: &Row<'_>, column: usize, id: &SegmentId) -> Result<bool, Error> {
        let captions = &mut *self.captions;
        let push = |captions: &mut Captions, text: &str| match row.line() {
            Some(line) => captions.push_at(id.clone(), text, line),
            None => captions.push(id.clone(), text),
        };
        match row.cell(column)? {
            Cell::Null => return Ok(false),
            Cell::Untyped(text) if text.is_empty() && self.columns.captions.len() > 1 => return Ok(false),
            Cell::Text(text) | Cell::Untyped(text) => push(captions, &text),
            Cell::List(items) => {
                captions.set_in_lists();
                let mut any = false;
                for item in &items {
                    match item {
                        Cell::Null => continue,
                        Cell::Text(text) => push(captions, text),
                        other => {
                            return Err(no_caption(row, column, "a caption in quotes", other, id));
                        }
                    }
                    any = true;
                }
                return Ok(any);
            }
            other => {
                let expected = "a caption in quotes or a list of captions";
                return Err(no_caption(row, column, expected, &other, id));
            }
        }
        Ok(true)
    }
}

/// Refuses a cell that stands where a caption of an image is expected.
fn no_caption(row: &Row<'_>, column: usize, expected: &str, found: &Cell<'_>, id: &SegmentId) -> Error {
    let message = format!("expected {expected}, found {} for image {}", found.kind(), id.quoted());
    let remedy = match found {
        Cell::List(_) => "give each image one list of captions, without lists in it",
        _ => "write captions in quotes, and null where there is none",
    };
    row.refuse(column, message).about(id.clone()).with_remedy(Remedy::say(remedy))
}

impl Consumer for CaptionRows<'_> {
    fn names(&mut self, names: &[String]) -> Result<Option<Vec<usize>>, Error> {
        let source = self.captions.source();
        let columns = CaptionColumns::choose(names, self.options, source, self.has_header)?;
        self.ids.locate(columns.id, names).map_err(|message| {
            let remedy = Remedy::give(Argument::IdColumn(self.options.role)).to("name one");
            Error::new(ErrorKind::Shape, source, message).with_remedy(remedy)
        })?;
        if names.len() > columns.captions.len() + usize::from(columns.id.is_some()) {
            self.captions.set_other_columns();
        }
        self.columns = columns;
        if self.keys.is_none() {
            self.note_columns(names);
        }
        self.locate_keys(names);
        let keys = self.places.iter().flatten();
        Ok(Some(self.columns.id.iter().chain(&self.columns.captions).chain(keys).copied().collect()))
    }

    fn row(&mut self, row: &Row<'_>) -> Result<(), Error> {
        let id = self.ids.next(row)?;
        let before = self.captions.len();
        let mut any = false;
        for k in 0..self.columns.captions.len() {
            any |= self.push(row, self.columns.captions[k], &id)?;
        }
        if let Some(keys) = &mut self.keys {
            let cell =
                |place: usize, _: &KeyName| row.cell(self.places.get(place).copied().flatten()?).ok()?.key();
            keys.row(self.captions.len() - before, cell);
        }
        if !any {
            self.captions.declare(id);
        }
        Ok(())
    }
}
