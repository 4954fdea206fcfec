//! Captions from Python: files, dictionaries, lists, columns.

use capeval::corpus::{self, CaptionColumns, Captions as Rows, Format, ReadOptions, SegmentId};
use capeval_files as files;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString, PyTuple};

use crate::error::{fault, from_corpus, from_file};

/// Captions of images, in order: references or candidates.
#[pyclass(frozen, module = "capeval._engine")]
pub struct Captions {
    pub rows: Rows,
}

#[pymethods]
impl Captions {
    /// Reads a file; without `format`, its format is detected from its content.
    #[staticmethod]
    #[pyo3(signature = (path, *, references, format = None, split = None, id_column = None, caption_columns = None))]
    fn read(
        py: Python<'_>,
        path: &str,
        references: bool,
        format: Option<&str>,
        split: Option<Vec<String>>,
        id_column: Option<String>,
        caption_columns: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let format: Option<Format> =
            format.map(|name| name.parse().map_err(|e: corpus::UnknownName| fault(&e))).transpose()?;
        let options = ReadOptions { format, split, id_column, caption_columns, ..defaults(references) };
        let rows = py.detach(|| {
            let bytes = files::open(path)?;
            files::captions_in(path, &bytes, &options)
        });
        let rows = rows.map_err(from_file)?;
        Ok(Self { rows })
    }

    /// Captions from a dictionary or a list; errors call them `name`.
    ///
    /// A dictionary maps an id to a caption or a list of captions, which may be dictionaries with a 'caption'; a
    /// dictionary with a list of 'annotations' is COCO's. A list contains captions or lists of captions, with the
    /// ids 0, 1, 2 …; or dictionaries with the same keys as in files; or pairs of id and caption.
    #[staticmethod]
    #[pyo3(signature = (source, name, *, references = true))]
    fn of(source: &Bound<'_, PyAny>, name: &str, references: bool) -> PyResult<Self> {
        let mut rows = Rows::new(name);
        if let Ok(dict) = source.cast::<PyDict>() {
            match dict.get_item("annotations")? {
                Some(annotations) if annotations.is_instance_of::<PyList>() => {
                    push_records(annotations.cast::<PyList>()?, references, &mut rows)?;
                }
                _ => {
                    for (key, captions) in dict {
                        push(&mut rows, &id(&key)?, &captions)?;
                    }
                }
            }
        } else if let Ok(list) = source.cast::<PyList>() {
            push_list(list, references, &mut rows)?;
        } else {
            let list = source.py().import("builtins")?.getattr("list")?.call1((source,))?;
            push_list(list.cast::<PyList>()?, references, &mut rows)?;
        }
        Ok(Self { rows })
    }

    /// Captions from two columns of equal length: ids, and captions or lists of captions.
    #[staticmethod]
    fn of_columns(ids: &Bound<'_, PyList>, captions: &Bound<'_, PyList>, name: &str) -> PyResult<Self> {
        if ids.len() != captions.len() {
            let (n, m) = (ids.len(), captions.len());
            return Err(PyValueError::new_err(format!("{name}: there are {n} ids, but {m} captions")));
        }
        let mut rows = Rows::new(name);
        for (key, caption) in ids.iter().zip(captions) {
            push(&mut rows, &id(&key)?, &caption)?;
        }
        Ok(Self { rows })
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

/// The columns of ids, if any, and of captions in a table, by the same names as in files.
#[pyfunction]
pub fn caption_columns(
    columns: Vec<String>,
    name: &str,
    references: bool,
) -> PyResult<(Option<usize>, Vec<usize>)> {
    let found = CaptionColumns::find(&columns, &defaults(references), name).map_err(|error| {
        if error.kind() != corpus::ErrorKind::Shape {
            return from_corpus(error);
        }
        let listed: Vec<String> = columns.iter().map(|column| format!("'{column}'")).collect();
        let wanted = if references { "references" } else { "prediction" };
        PyValueError::new_err(format!(
            "{name}: none of the columns {} contains captions; call one '{wanted}'",
            listed.join(", ")
        ))
    })?;
    Ok((found.id, found.captions))
}

fn defaults(references: bool) -> ReadOptions {
    if references { ReadOptions::references() } else { ReadOptions::candidates() }
}

fn push_list(list: &Bound<'_, PyList>, references: bool, rows: &mut Rows) -> PyResult<()> {
    let Ok(first) = list.get_item(0) else { return Ok(()) };
    if first.is_instance_of::<PyDict>() {
        return push_records(list, references, rows);
    }
    let is_pair = |item: &Bound<'_, PyAny>| item.cast::<PyTuple>().is_ok_and(|pair| pair.len() == 2);
    if is_pair(&first) {
        for item in list {
            let pair = item.cast::<PyTuple>().map_err(|_| mixed(rows))?;
            push(rows, &id(&pair.get_item(0)?)?, &pair.get_item(1)?)?;
        }
        return Ok(());
    }
    for (k, captions) in list.iter().enumerate() {
        push(rows, &SegmentId::from(k as i64), &captions)?;
    }
    Ok(())
}

fn mixed(rows: &Rows) -> PyErr {
    PyTypeError::new_err(format!(
        "{}: the list begins with a pair of id and caption, so all its items must be such pairs",
        rows.source()
    ))
}

/// Captions from dictionaries, with the same keys as objects in files.
fn push_records(list: &Bound<'_, PyList>, references: bool, rows: &mut Rows) -> PyResult<()> {
    let options = defaults(references);
    let mut names: Vec<String> = Vec::new();
    let mut columns = CaptionColumns::default();
    for (k, item) in list.iter().enumerate() {
        let record = item.cast::<PyDict>().map_err(|_| {
            PyTypeError::new_err(format!(
                "{}: item {k} is of type {}, not a dictionary like the first one",
                rows.source(),
                type_name(&item)
            ))
        })?;
        let keys = record.keys();
        let is_known = |(key, name): (Bound<'_, PyAny>, &String)| {
            key.cast::<PyString>().is_ok_and(|key| key.to_str().is_ok_and(|key| key == name))
        };
        let lacks =
            |what: &str| PyValueError::new_err(format!("{}: item {k} has no '{what}'", rows.source()));
        if keys.len() != names.len() || !keys.iter().zip(&names).all(is_known) || k == 0 {
            names = keys.iter().map(|key| Ok(key.str()?.to_str()?.to_owned())).collect::<PyResult<_>>()?;
            let found = CaptionColumns::find_in_object(&names, &options, rows.source());
            columns = found.map_err(|error| match error.kind() {
                corpus::ErrorKind::Shape => lacks("caption"),
                _ => from_corpus(error),
            })?;
        }
        let value = |column: usize| -> PyResult<Bound<'_, PyAny>> {
            record.as_any().get_item(keys.get_item(column)?)
        };
        let key = id(&value(columns.id.ok_or_else(|| lacks("image_id"))?)?)?;
        for column in &columns.captions {
            let captions = value(*column)?;
            if columns.captions.len() == 1 || !captions.is_none() {
                push(rows, &key, &captions)?;
            }
        }
    }
    Ok(())
}

/// Adds the caption or captions of one image.
fn push(rows: &mut Rows, id: &SegmentId, captions: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Ok(text) = captions.cast::<PyString>() {
        rows.push(id.clone(), text.to_str()?);
        return Ok(());
    }
    if let Ok(record) = captions.cast::<PyDict>() {
        let caption = record.get_item("caption")?.ok_or_else(|| no_text(rows, id, captions))?;
        let text = caption.cast::<PyString>().map_err(|_| no_text(rows, id, &caption))?;
        rows.push(id.clone(), text.to_str()?);
        return Ok(());
    }
    if !captions.is_instance_of::<PyList>() && !captions.is_instance_of::<PyTuple>() && !is_array(captions) {
        return Err(no_text(rows, id, captions));
    }
    for caption in captions.try_iter()? {
        let caption = caption?;
        if caption.is_instance_of::<PyList>() || caption.is_instance_of::<PyTuple>() {
            return Err(no_text(rows, id, &caption));
        }
        push(rows, id, &caption)?;
    }
    Ok(())
}

/// Whether a cell is an array: data frames return lists inside columns as arrays.
fn is_array(object: &Bound<'_, PyAny>) -> bool {
    object.hasattr("tolist").unwrap_or(false) && object.hasattr("shape").unwrap_or(false)
}

fn no_text(rows: &Rows, id: &SegmentId, found: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!(
        "{}: image {}: a caption must be a string, or several in a list, not {}",
        rows.source(),
        id.quoted(),
        type_name(found)
    ))
}

/// The name of an object's type, for errors.
pub fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "something else".to_owned(), |name| name.to_string())
}

/// An image id: a string, or anything that Python accepts as an index.
pub fn id(object: &Bound<'_, PyAny>) -> PyResult<SegmentId> {
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(SegmentId::from(text.to_str()?));
    }
    if !object.is_instance_of::<PyBool>()
        && let Ok(number) = object.extract::<i64>()
    {
        return Ok(SegmentId::from(number));
    }
    Err(PyTypeError::new_err(format!(
        "an image id must be a string or a 64-bit integer, not {} {object}",
        type_name(object)
    )))
}

/// Ids as Python integers and strings.
pub fn id_list<'py>(py: Python<'py>, ids: &[SegmentId]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for id in ids {
        match id {
            SegmentId::Integer(number) => list.append(number)?,
            SegmentId::Text(text) => list.append(&**text)?,
        }
    }
    Ok(list)
}
