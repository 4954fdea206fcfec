//! Captions from Python: files, dictionaries, lists, columns.

use capeval::choice::{Argument, Remedy};
use capeval::corpus::{
    self, CaptionColumns, Captions as Rows, Cell, Format, KeyGathering, KeyName, Keys, ReadOptions, SegmentId,
};
use capeval_files as files;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple};
use serde::Deserialize;

use crate::error::{fault, from_corpus, from_file, sentence, text, type_name, value, within};

/// Captions of images, in order: references or candidates.
#[pyclass(frozen, module = "capeval._engine")]
pub struct Captions {
    pub rows: Rows,
}

/// The way to read a file of captions; what is left open follows from its content.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Reading {
    format: Option<String>,
    split: Option<Vec<String>>,
    id_column: Option<String>,
    caption_columns: Option<Vec<String>>,
    drop: Vec<String>,
}

/// The columns that identify rows.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct RowIdentity<'py> {
    /// The column of the ids.
    id_column: Option<String>,
    /// True if the user named it.
    is_named: bool,
    /// Other columns that may do so, and the labels of an index without a name.
    keys: Vec<(Option<String>, Bound<'py, PyList>)>,
}

#[pymethods]
impl Captions {
    /// Reads a file; without `format`, its format is detected from its content.
    #[staticmethod]
    fn read(py: Python<'_>, path: &str, references: bool, reading: &Bound<'_, PyDict>) -> PyResult<Self> {
        let Reading { format, split, id_column, caption_columns, drop } = crate::options::options(reading)?;
        let format: Option<Format> =
            format.map(|name| name.parse().map_err(|e: corpus::UnknownName| fault(&e))).transpose()?;
        let options = ReadOptions { format, split, id_column, caption_columns, drop, ..defaults(references) };
        let rows = py.detach(|| {
            let bytes = files::open(path)?;
            files::captions_in(path, &bytes, &options)
        });
        Ok(Self { rows: rows.map_err(from_file)? })
    }

    /// Captions from a dictionary or a list; errors call them `name`.
    ///
    /// A dictionary maps an id to a caption or a list of captions, which may be dictionaries with a 'caption'; a
    /// dictionary with a list of 'annotations' is COCO's, whose list of 'images' tells their order. A list contains
    /// captions or lists of captions, with the ids 0, 1, 2 …; or dictionaries with the same keys as in files; or pairs
    /// of id and caption. Captions that are lists written as text are several, unless texts are taken `as_written`.
    #[staticmethod]
    #[pyo3(signature = (source, name, *, references = true, id_column = None, caption_columns = None, as_written = false))]
    fn of(
        source: &Bound<'_, PyAny>,
        name: &str,
        references: bool,
        id_column: Option<String>,
        caption_columns: Option<Vec<String>>,
        as_written: bool,
    ) -> PyResult<Self> {
        let mut rows = Rows::new(name);
        let options = ReadOptions { id_column, caption_columns, ..defaults(references) };
        if let Ok(dict) = source.cast::<PyDict>() {
            match dict.get_item("annotations")? {
                Some(annotations) if annotations.is_instance_of::<PyList>() => {
                    push_records(annotations.cast::<PyList>()?, &options, true, &mut rows)?;
                    if let Some(images) = dict.get_item("images")? {
                        declare(&images, &mut rows)?;
                    }
                }
                _ => match records_with_ids(dict, name)? {
                    Some(records) => push_records(&records, &options, true, &mut rows)?,
                    None => {
                        for (key, captions) in dict {
                            let key = id(&key).map_err(|error| within(source.py(), name, &error))?;
                            push(&mut rows, &key, &captions)?;
                        }
                    }
                },
            }
        } else {
            push_list(source.cast::<PyList>()?, &options, &mut rows)?;
        }
        refuse_missing(&rows)?;
        if !as_written {
            rows.read_written_lists();
        }
        Ok(Self { rows })
    }

    /// Captions from columns of equal length: ids, or none to number the rows from 0; captions or lists of captions,
    /// where `None` stands for no caption; and what else may identify the rows, the labels of an index under the name
    /// `None`.
    #[staticmethod]
    fn of_columns(
        ids: Option<Bound<'_, PyList>>,
        captions: &Bound<'_, PyList>,
        name: &str,
        references: bool,
        identity: RowIdentity<'_>,
    ) -> PyResult<Self> {
        let py = captions.py();
        let RowIdentity { id_column, is_named, keys } = identity;
        let mut rows = Rows::new(name);
        let names = keys.iter().map(|(name, _)| name.clone().map_or(KeyName::Labels, KeyName::Column));
        let column = ids.as_ref().map(|_| id_column.as_deref().unwrap_or_default());
        let mut gathering = KeyGathering::new(column, is_named, names);
        for (k, caption) in captions.iter().enumerate() {
            let key = match &ids {
                Some(ids) => id(&ids.get_item(k)?)
                    .map_err(|error| within(py, &format!("{name}: row {k} (from 0)"), &error))?,
                None => SegmentId::from(k as i64),
            };
            let first = rows.len();
            push(&mut rows, &key, &caption)?;
            let value = |place: usize, _: &KeyName| key_value(&keys.get(place)?.1.get_item(k).ok()?);
            gathering.row(rows.len() - first, value);
            rows.set_record(first, k as u64 + 1);
        }
        refuse_missing(&rows)?;
        rows.set_keys(gathering.finish());
        if ids.is_none() {
            let role = defaults(references).role;
            rows.note_numbers(captions.len(), Remedy::give(Argument::IdColumn(role)).to("name one"));
        }
        rows.read_written_lists();
        Ok(Self { rows })
    }

    /// Captions as structure and values tell, once the other side is known: a dictionary or a list of anything, or, if
    /// `is_table`, a dictionary from columns to lists of cells. Those that are known `by_name` are kept unless values
    /// say otherwise. None if there are none.
    #[staticmethod]
    #[pyo3(signature = (by_name, source, name, *, references, is_table, **reading))]
    fn understood(
        by_name: Option<&Self>,
        source: &Bound<'_, PyAny>,
        name: &str,
        references: bool,
        is_table: bool,
        reading: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Option<Self>> {
        let Reading { id_column, caption_columns, drop, .. } =
            reading.map(crate::options::options).transpose()?.unwrap_or_default();
        let options = ReadOptions { id_column, caption_columns, drop, ..defaults(references) };
        let understood = match (is_table, cell(source, CELL_DEPTH)) {
            (true, Cell::Object(columns)) => {
                let cells = |cell| match cell {
                    Cell::List(cells) => cells,
                    _ => Vec::new(),
                };
                let columns = columns.into_iter().map(|(column, cell)| (column, cells(cell))).collect();
                corpus::understand_columns(columns, name, &options)
            }
            (_, value) => corpus::understand_value(value, name, &options),
        };
        Ok(match (understood.map_err(from_corpus)?, by_name) {
            (Some(understood), Some(by_name)) => {
                let mut rows = by_name.rows.clone();
                rows.take_reading(understood);
                Some(Self { rows })
            }
            (Some(rows), None) => Some(Self { rows }),
            (None, _) => None,
        })
    }

    /// References and candidates that were read from one source; None if only one of them is there.
    #[staticmethod]
    fn both_sides(references: &Self, candidates: &Self, ids: &str) -> PyResult<Option<(Self, Self)>> {
        let ids = ids.parse().map_err(|error: corpus::UnknownName| fault(&error))?;
        let both = corpus::both_sides(references.rows.clone(), candidates.rows.clone(), ids);
        let both = both.map_err(from_corpus)?;
        Ok(both.map(|(references, candidates)| (Self { rows: references }, Self { rows: candidates })))
    }

    /// Returns true if other columns could hold captions.
    #[getter]
    fn has_other_columns(&self) -> bool {
        self.rows.has_other_columns() || self.rows.look_like_columns()
    }

    /// The number of captions.
    fn __len__(&self) -> usize {
        self.rows.len()
    }

    /// The ids in order, one per caption.
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        id_list(py, self.rows.ids())
    }

    /// The captions in order.
    fn texts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.rows.iter().map(|(_, text)| text))
    }

    /// The name of the captions in errors.
    #[getter]
    fn source(&self) -> &str {
        self.rows.source()
    }
}

/// The strings of a list that is written as text; `None` if it is not such a list.
#[pyfunction]
pub fn written_list(text: &str) -> Option<Vec<String>> {
    corpus::written_list(text)
}

/// The columns of ids, if any, and of captions, and whether the ids are in doubt.
type FoundColumns = (Option<usize>, Vec<usize>, bool);

/// The columns of ids, if any, and of captions in a table, by the same names as in files; and whether other columns are
/// needed, too, because the ids are in doubt. None if no name is known to mean captions, unless names are the last
/// resort.
#[pyfunction]
#[pyo3(signature = (columns, name, references, id_column = None, caption_columns = None, *, is_last = false))]
pub fn caption_columns(
    columns: Vec<String>,
    name: &str,
    references: bool,
    id_column: Option<String>,
    caption_columns: Option<Vec<String>>,
    is_last: bool,
) -> PyResult<Option<FoundColumns>> {
    let options = ReadOptions { id_column, caption_columns, ..defaults(references) };
    let found = match CaptionColumns::find(&columns, &options, name) {
        Err(error) if error.kind() == corpus::ErrorKind::Shape && !is_last => return Ok(None),
        found => found.map_err(from_corpus)?,
    };
    let in_doubt = gather_keys(&columns, &found, &options).is_in_doubt();
    Ok(Some((found.id, found.captions, in_doubt)))
}

fn defaults(references: bool) -> ReadOptions {
    if references { ReadOptions::references() } else { ReadOptions::candidates() }
}

/// Adds the captions of a list.
fn push_list(list: &Bound<'_, PyList>, options: &ReadOptions, rows: &mut Rows) -> PyResult<()> {
    rows.set_keys(Keys::in_order());
    let Ok(first) = list.get_item(0) else { return Ok(()) };
    if first.is_instance_of::<PyDict>() {
        return push_records(list, options, false, rows);
    }
    let is_pair = |item: &Bound<'_, PyAny>| item.cast::<PyTuple>().is_ok_and(|pair| pair.len() == 2);
    if is_pair(&first) {
        for (k, item) in list.iter().enumerate() {
            let pair = item.cast::<PyTuple>().map_err(|_| mixed(rows))?;
            let key = id(&pair.get_item(0)?).map_err(|error| {
                within(list.py(), &format!("{}: item {k} (from 0)", rows.source()), &error)
            })?;
            let first = rows.len();
            push(rows, &key, &pair.get_item(1)?)?;
            rows.set_record(first, k as u64 + 1);
        }
        rows.set_keys(Keys::default());
        return Ok(());
    }
    for (k, captions) in list.iter().enumerate() {
        let first = rows.len();
        push(rows, &SegmentId::from(k as i64), &captions)?;
        rows.set_record(first, k as u64 + 1);
    }
    Ok(())
}

/// Refuses captions that are all missing.
fn refuse_missing(rows: &Rows) -> PyResult<()> {
    let Some(first) = rows.declared().first().filter(|_| rows.is_empty()) else { return Ok(()) };
    let place = format!("{}: image {}", rows.source(), first.quoted());
    Err(PyTypeError::new_err(format!(
        "{place}: a caption must be a string, or several in a list, not NoneType; all captions are missing"
    )))
}

/// The records of a dictionary whose keys number its rows, as data frames give them, if they have ids of their own.
///
/// # Errors
/// If other keys differ from the ids of the records: the other side tells which ones are meant.
fn records_with_ids<'py>(dict: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<Bound<'py, PyList>>> {
    let (mut is_same, mut is_counted, mut first) = (true, true, None);
    for (row, (key, record)) in dict.iter().enumerate() {
        let Ok(record) = record.cast::<PyDict>() else { return Ok(None) };
        let own = record.iter().find_map(|(name, value)| {
            let names_ids = name.extract::<String>().is_ok_and(|name| corpus::names_image_ids(&name));
            key_value(&value).filter(|_| names_ids)
        });
        let (Some(key), Some(own)) = (key_value(&key), own) else { return Ok(None) };
        is_same &= key.to_string() == own.to_string();
        let number = key.to_string().parse().ok().map(|number: i64| number - row as i64);
        is_counted &=
            number.is_some_and(|number| (0..=1).contains(&number)) && *first.get_or_insert(number) == number;
    }
    if is_same {
        return Ok(None);
    }
    if is_counted {
        return Ok(Some(dict.values()));
    }
    Err(value(&format!(
        "{name}: its records have ids of their own, which differ from its keys; pass a list of records"
    )))
}

fn mixed(rows: &Rows) -> PyErr {
    PyTypeError::new_err(format!(
        "{}: the list begins with a pair of id and caption, so all its items must be such pairs",
        rows.source()
    ))
}

/// Declares COCO's images; those without an id are skipped, as in files.
fn declare(images: &Bound<'_, PyAny>, rows: &mut Rows) -> PyResult<()> {
    let Ok(images) = images.cast::<PyList>() else { return Ok(()) };
    for image in images {
        if let Ok(image) = image.cast::<PyDict>()
            && let Some(key) = image.get_item("id")?
        {
            let key = id(&key).map_err(|error| within(image.py(), rows.source(), &error))?;
            rows.declare(key);
        }
    }
    Ok(())
}

/// Captions from dictionaries, with the same keys as objects in files. They are numbered if no key is known to hold
/// ids, unless they need ids.
fn push_records(
    list: &Bound<'_, PyList>,
    options: &ReadOptions,
    need_ids: bool,
    rows: &mut Rows,
) -> PyResult<()> {
    let mut names: Vec<String> = Vec::new();
    let mut columns = CaptionColumns::default();
    let mut gathering: Option<KeyGathering> = None;
    for (k, item) in list.iter().enumerate() {
        let place = format!("{}: item {k} (from 0)", rows.source());
        let record = Record::new(&item, &place)?;
        if k == 0 || !record.has_keys(&names) {
            names = record.names()?;
            columns = record.find_columns(&names, options, rows.source())?;
            if k == 0 && !need_ids && record.has_other_text(&columns) {
                rows.set_other_columns();
            }
        }
        let is_numbered = gathering.as_ref().map(KeyGathering::is_numbered);
        let key = match columns.id {
            Some(column) if is_numbered != Some(true) => {
                id(&record.cell(column)?).map_err(|error| within(list.py(), &place, &error))?
            }
            None if !need_ids && is_numbered != Some(false) => SegmentId::from(k as i64),
            None => return Err(record.lacks("image_id", Argument::IdColumn(options.role))),
            Some(_) => return Err(value(&format!("{place} has an id, while those before it have none"))),
        };
        let gathering = gathering.get_or_insert_with(|| gather_keys(&names, &columns, options));
        let first = rows.len();
        for column in &columns.captions {
            let captions = record.cell(*column)?;
            if columns.captions.len() == 1 || !captions.is_none() {
                push(rows, &key, &captions)?;
            }
        }
        gathering.row(rows.len() - first, |_, name| match name {
            KeyName::Column(name) => key_value(&record.dict.get_item(name).ok()??),
            KeyName::Labels => None,
        });
        rows.set_record(first, k as u64 + 1);
    }
    let Some(gathering) = gathering else { return Ok(()) };
    if gathering.is_numbered() {
        rows.note_numbers(list.len(), Remedy::give(Argument::IdColumn(options.role)).to("name another key"));
    }
    rows.set_keys(gathering.finish());
    Ok(())
}

/// A dictionary in a list of them.
struct Record<'r, 'py> {
    dict: &'r Bound<'py, PyDict>,
    keys: Bound<'py, PyList>,
    /// Its place in the list, for errors.
    place: &'r str,
}

impl<'r, 'py> Record<'r, 'py> {
    fn new(item: &'r Bound<'py, PyAny>, place: &'r str) -> PyResult<Self> {
        let dict = item.cast::<PyDict>().map_err(|_| {
            let kind = type_name(item);
            PyTypeError::new_err(format!("{place} is of type {kind}, not a dictionary like the first one"))
        })?;
        Ok(Self { dict, keys: dict.keys(), place })
    }

    /// Returns true if it has exactly these keys, in this order.
    fn has_keys(&self, names: &[String]) -> bool {
        let is_known = |(key, name): (Bound<'_, PyAny>, &String)| {
            key.cast::<PyString>().is_ok_and(|key| key.to_str().is_ok_and(|key| key == name))
        };
        self.keys.len() == names.len() && self.keys.iter().zip(names).all(is_known)
    }

    fn names(&self) -> PyResult<Vec<String>> {
        self.keys.iter().map(|key| Ok(key.str()?.to_str()?.to_owned())).collect()
    }

    fn cell(&self, column: usize) -> PyResult<Bound<'py, PyAny>> {
        self.dict.as_any().get_item(self.keys.get_item(column)?)
    }

    /// Returns true if a key besides those of ids and captions holds a text, or something that may have texts.
    fn has_other_text(&self, columns: &CaptionColumns) -> bool {
        let is_other = |place: &usize| columns.id != Some(*place) && !columns.captions.contains(place);
        let has_text =
            |place: usize| self.cell(place).is_ok_and(|cell| cell.hasattr("__len__").unwrap_or(false));
        (0..self.keys.len()).filter(is_other).any(has_text)
    }

    /// The columns of ids and captions among keys with these names; a key whose value cannot be an id holds none.
    fn find_columns(
        &self,
        names: &[String],
        options: &ReadOptions,
        source: &str,
    ) -> PyResult<CaptionColumns> {
        let mut usable = names.to_vec();
        loop {
            let found = CaptionColumns::find_in_object(&usable, options, source);
            let columns = found.map_err(|error| match error.kind() {
                corpus::ErrorKind::Shape if options.id_column.is_none() => {
                    self.lacks("caption", Argument::CaptionColumns(options.role))
                }
                _ => from_corpus(error),
            })?;
            // Pictures are not ids, whatever they are called.
            let id = columns.id.filter(|_| options.id_column.is_none());
            let Some((id, name)) = id.and_then(|id| Some((id, usable.get_mut(id)?))) else {
                return Ok(columns);
            };
            if may_be_id(&self.cell(id)?) {
                return Ok(columns);
            }
            name.clear();
        }
    }

    /// The error of a record without what the key `what` holds.
    fn lacks(&self, what: &str, argument: Argument) -> PyErr {
        let what = format!("{} has no '{what}'", self.place);
        value(&sentence(&what, Some(&Remedy::give(argument).to("name another key"))))
    }
}

/// The keys other than ids that may identify dictionaries with these keys.
fn gather_keys(names: &[String], columns: &CaptionColumns, options: &ReadOptions) -> KeyGathering {
    let column = columns.id.and_then(|column| names.get(column)).map(String::as_str);
    let is_other =
        |(place, _): &(usize, &String)| columns.id != Some(*place) && !columns.captions.contains(place);
    let others = names.iter().enumerate().filter(is_other).map(|(_, name)| KeyName::Column(name.clone()));
    KeyGathering::new(column, options.id_column.is_some(), others)
}

/// Values that are nested deeper are not looked into.
const CELL_DEPTH: u32 = 16;

/// The longest list of values that are neither texts, lists nor dictionaries: longer ones are vectors.
const FEW_NUMBERS: usize = 16;

/// A value of Python as a cell; what holds no text and is no id is named by its type.
fn cell(object: &Bound<'_, PyAny>, levels: u32) -> Cell<'static> {
    let other = || Cell::Other(type_name(object));
    let Some(levels) = levels.checked_sub(1) else { return other() };
    let object = &plain(object);
    if is_missing(object) {
        return Cell::Null;
    }
    if let Ok(text) = object.cast::<PyString>() {
        return text.to_str().map_or_else(|_| other(), |text| Cell::Text(text.to_owned().into()));
    }
    if let Ok(truth) = object.cast::<PyBool>() {
        return Cell::Bool(truth.is_true());
    }
    if let Ok(number) = object.cast::<PyFloat>() {
        return Cell::Number(number.value());
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        let field = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Some((key.str().ok()?.to_str().ok()?.to_owned(), cell(&value, levels)))
        };
        return Cell::Object(dict.iter().filter_map(field).collect());
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() || is_array(object) {
        return cells(object, levels).unwrap_or_else(other);
    }
    match key_value(object) {
        Some(SegmentId::Integer(number)) => Cell::Integer(number),
        Some(SegmentId::Text(text)) => Cell::Label(text),
        None => other(),
    }
}

/// A list or an array as a cell; `None` for vectors.
fn cells(object: &Bound<'_, PyAny>, levels: u32) -> Option<Cell<'static>> {
    let list = if is_array(object) { object.call_method0("tolist").ok()? } else { object.clone() };
    let items = list.try_iter().ok()?.collect::<PyResult<Vec<_>>>().ok()?;
    let may_have_text = |item: &Bound<'_, PyAny>| item.hasattr("__len__").unwrap_or(false);
    let is_inner = levels + 2 < CELL_DEPTH;
    let is_vector = items.len() > FEW_NUMBERS && !items.iter().take(3).any(may_have_text);
    (!is_inner || !is_vector).then(|| Cell::List(items.iter().map(|item| cell(item, levels)).collect()))
}

/// Adds the caption or captions of one image; without one, the image is declared.
fn push(rows: &mut Rows, id: &SegmentId, captions: &Bound<'_, PyAny>) -> PyResult<()> {
    let captions = &plain(captions);
    if is_missing(captions) {
        rows.declare(id.clone());
        return Ok(());
    }
    if let Ok(caption) = captions.cast::<PyString>() {
        let place = || format!("{}: image {}", rows.source(), id.quoted());
        let caption = text(caption).map_err(|error| within(captions.py(), &place(), &error))?;
        rows.push(id.clone(), caption);
        return Ok(());
    }
    if let Ok(record) = captions.cast::<PyDict>() {
        let mut texts =
            ["caption", "raw", "text"].into_iter().filter_map(|key| record.get_item(key).transpose());
        let caption = texts.next().ok_or_else(|| no_text(rows, id, captions))??;
        if !caption.is_instance_of::<PyString>() && !is_missing(&caption) {
            return Err(no_text(rows, id, &caption));
        }
        return push(rows, id, &caption);
    }
    if !captions.is_instance_of::<PyList>() && !captions.is_instance_of::<PyTuple>() && !is_array(captions) {
        return Err(no_text(rows, id, captions));
    }
    for caption in captions.try_iter()? {
        let caption = plain(&caption?);
        if caption.is_instance_of::<PyList>() || caption.is_instance_of::<PyTuple>() {
            return Err(no_text(rows, id, &caption));
        }
        if is_missing(&caption) {
            rows.note_missing();
        } else {
            push(rows, id, &caption)?;
        }
    }
    Ok(())
}

/// Returns true if a cell is an array, which has an axis at least: data frames return lists inside columns as arrays.
fn is_array(object: &Bound<'_, PyAny>) -> bool {
    object.hasattr("tolist").unwrap_or(false) && axes(object).is_some_and(|axes| axes > 0)
}

/// The number of axes of an array, or of a scalar of numpy or torch.
fn axes(object: &Bound<'_, PyAny>) -> Option<usize> {
    object.getattr("shape").ok()?.len().ok()
}

/// The value of an array without axes, as walking over an array gives them; other objects as they are.
fn plain<'py>(object: &Bound<'py, PyAny>) -> Bound<'py, PyAny> {
    // Dates have a value that depends on their unit.
    let is_date = |object: &Bound<'py, PyAny>| {
        let kind = object.getattr("dtype").and_then(|dtype| dtype.getattr("kind"));
        kind.and_then(|kind| kind.extract::<String>()).is_ok_and(|kind| kind == "M" || kind == "m")
    };
    let has_none = object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyInt>()
        || object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyDict>();
    if has_none || axes(object) != Some(0) || is_date(object) {
        return object.clone();
    }
    object.call_method0("tolist").unwrap_or_else(|_| object.clone())
}

/// Returns true for None, NaN, and the missing values of pandas.
fn is_missing(object: &Bound<'_, PyAny>) -> bool {
    object.is_none()
        || object.cast::<PyFloat>().is_ok_and(|number| number.value().is_nan())
        || !object.is_instance_of::<PyString>() && matches!(&*type_name(object), "NAType" | "NaTType")
}

fn no_text(rows: &Rows, id: &SegmentId, found: &Bound<'_, PyAny>) -> PyErr {
    let is_set = found.is_instance_of::<PySet>() || found.is_instance_of::<PyFrozenSet>();
    let remedy = if is_set { ", which has no order; pass a list, such as sorted(…)" } else { "" };
    PyTypeError::new_err(format!(
        "{}: image {}: a caption must be a string, or several in a list, not {}{remedy}",
        rows.source(),
        id.quoted(),
        type_name(found)
    ))
}

/// An image id: a string, or anything that Python accepts as an index.
pub fn id(object: &Bound<'_, PyAny>) -> PyResult<SegmentId> {
    let object = &plain(object);
    if let Ok(id) = object.cast::<PyString>() {
        return Ok(SegmentId::from(text(id)?));
    }
    if !object.is_instance_of::<PyBool>()
        && let Ok(number) = object.extract::<i64>()
    {
        return Ok(SegmentId::from(number));
    }
    let is_float = object.is_instance_of::<PyFloat>();
    let remedy = if is_float { "; convert the ids to integers or strings" } else { "" };
    Err(PyTypeError::new_err(format!(
        "an image id must be a string or a 64-bit integer, not {} {object}{remedy}",
        type_name(object)
    )))
}

/// The value of a column that may identify rows: an id; a float that is a whole number; or, as text, another single
/// value, such as a date or a UUID, and the label of several levels.
pub fn key_value(object: &Bound<'_, PyAny>) -> Option<SegmentId> {
    let object = &plain(object);
    if let Ok(float) = object.cast::<PyFloat>() {
        return SegmentId::from_float(float.value());
    }
    let is_label =
        object.cast::<PyTuple>().is_ok_and(|levels| levels.iter().all(|level| key_value(&level).is_some()));
    let is_one = !object.hasattr("__len__").unwrap_or(true) || object.is_instance_of::<PyBytes>();
    let is_value = is_one && !is_missing(object) && !object.is_instance_of::<PyBool>();
    let as_text = || SegmentId::from(object.str().ok()?.to_str().ok()?).into();
    id(object).ok().or_else(|| if is_label || is_value { as_text() } else { None })
}

/// Returns true if an object has the type of an id, or of a number or missing value in its place.
fn may_be_id(object: &Bound<'_, PyAny>) -> bool {
    let object = &plain(object);
    object.is_none()
        || object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyFloat>()
        // Arrays of numpy have both.
        || object.hasattr("__index__").unwrap_or(false) && !object.hasattr("__len__").unwrap_or(false)
}

/// Ids as Python integers and strings, and None where there is none.
pub fn id_list<'py, 'i>(
    py: Python<'py>,
    ids: impl IntoIterator<Item = impl Into<Option<&'i SegmentId>>>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for id in ids {
        match id.into() {
            Some(SegmentId::Integer(number)) => list.append(number)?,
            Some(SegmentId::Text(text)) => list.append(&**text)?,
            None => list.append(py.None())?,
        }
    }
    Ok(list)
}
