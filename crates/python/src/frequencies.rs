//! Tables of document frequencies.

use std::sync::Arc;

use capeval::choice::UnknownName;
use capeval::corpus::Ids;
use capeval::frequencies::{DocumentFrequencies as Table, MAX_ORDER, TableFormat};
use capeval_files as files;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

use crate::captions::Captions;
use crate::error::{fault, from_file, from_io, from_request, type_name, value};
use crate::metrics::reading;

/// The number of images in which each n-gram occurs; CIDEr weights n-grams by it.
#[pyclass(frozen, module = "capeval._engine")]
pub struct DocumentFrequencies {
    pub table: Arc<Table>,
}

impl DocumentFrequencies {
    /// A table for Python.
    pub fn new(table: Table) -> Self {
        Self { table: Arc::new(table) }
    }

    /// A table without images, in place of one that has not been counted yet.
    pub fn of_nothing() -> PyResult<Self> {
        let table = capeval::frequencies::Counts::default().into_table(0, MAX_ORDER);
        table.map(Self::new).map_err(|error| fault(&error))
    }
}

#[pymethods]
impl DocumentFrequencies {
    /// Counts n-grams, at most once per image.
    #[staticmethod]
    #[pyo3(signature = (references, *, tokenizer, stem, order, ids))]
    fn build(
        py: Python<'_>,
        references: &Captions,
        tokenizer: &str,
        stem: Option<&str>,
        order: usize,
        ids: &str,
    ) -> PyResult<Self> {
        let reading = reading(tokenizer, stem)?;
        let ids = parse_ids(ids)?;
        let rows = references.rows.clone();
        let table = crate::run::run_on_pool(py, None, None, move |_| {
            capeval::document_frequencies(rows, ids, reading, order)
        })?;
        table.map(Self::new).map_err(from_request)
    }

    /// Reads a table of capeval or a pickle, which may be gzipped; no code of a pickle is run.
    #[staticmethod]
    #[pyo3(signature = (path, n_images = None))]
    fn load(py: Python<'_>, path: &str, n_images: Option<u64>) -> PyResult<Self> {
        let table = py.detach(|| files::frequencies(path, &files::open(path)?, n_images));
        table.map(Self::new).map_err(from_file)
    }

    /// Reads a table from bytes.
    #[staticmethod]
    #[pyo3(signature = (data, n_images = None))]
    fn from_bytes(py: Python<'_>, data: &[u8], n_images: Option<u64>) -> PyResult<Self> {
        let table = py.detach(|| files::frequencies("table", data, n_images));
        table.map(Self::new).map_err(from_file)
    }

    /// A table from a dictionary that maps tuples of words to numbers of images.
    #[staticmethod]
    fn from_counts(counts: &Bound<'_, PyDict>, n_images: u64) -> PyResult<Self> {
        let mut gathered = capeval::frequencies::Counts::default();
        let mut words = Vec::with_capacity(MAX_ORDER);
        for (ngram, count) in counts {
            words.clear();
            let whole = count.extract::<f64>().map_err(|_| {
                PyTypeError::new_err(format!(
                    "the frequency of {ngram} must be a number, not {}",
                    type_name(&count)
                ))
            })?;
            if whole == 0.0 {
                continue;
            }
            if whole < 0.0 || whole.fract() != 0.0 {
                return Err(value(&format!(
                    "the frequency of {ngram} is {whole}, not a whole number of images"
                )));
            }
            if whole > f64::from(u32::MAX) {
                return Err(PyOverflowError::new_err(format!("the frequency of {ngram} exceeds 32 bits")));
            }
            if !ngram.is_instance_of::<PyTuple>() {
                let split = if ngram.is_instance_of::<PyString>() { "; split it into words" } else { "" };
                let ngram = ngram.repr()?;
                let what = format!("an n-gram must be a tuple of words, not {ngram}{split}");
                return Err(PyTypeError::new_err(what));
            }
            for word in ngram.try_iter()? {
                let word = word?;
                let text = word.cast::<PyString>().map_err(|_| {
                    PyTypeError::new_err(format!("an n-gram must be a tuple of strings, not {ngram}"))
                })?;
                words.push(gathered.word(text.to_str()?).map_err(|error| fault(&error))?);
            }
            gathered.push(&words, whole as u32).map_err(|error| fault(&error))?;
        }
        let order = gathered.longest().max(1);
        let table = gathered.into_table(n_images, order);
        table.map(Self::new).map_err(|error| fault(&error))
    }

    /// The table in the format of this name.
    fn to_bytes<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        self.table.write(table_format(format)?, &mut bytes).map_err(|error| from_io(&error, "table"))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes the table to a file in the format of this name.
    fn save(&self, py: Python<'_>, path: &str, format: &str) -> PyResult<()> {
        let format = table_format(format)?;
        py.detach(|| files::write_whole(path, |out| self.table.write(format, out))).map_err(from_file)
    }

    /// The table over the images of both tables, which must not share images.
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        let (mine, theirs) = (Arc::clone(&self.table), Arc::clone(&other.table));
        let merged = py.detach(move || mine.merge(&theirs));
        merged.map(Self::new).map_err(|error| fault(&error))
    }

    /// The number of images in which an n-gram, given as a tuple of words, occurs.
    fn frequency(&self, ngram: Vec<String>) -> u32 {
        self.table.frequency(ngram)
    }

    /// The number of distinct n-grams.
    fn __len__(&self) -> usize {
        self.table.len()
    }

    /// The number of images counted.
    #[getter]
    fn n_images(&self) -> u64 {
        self.table.n_images()
    }

    /// The length of the longest n-grams.
    #[getter]
    fn order(&self) -> usize {
        self.table.order()
    }

    /// Equal tables have equal fingerprints.
    #[getter]
    fn fingerprint(&self) -> String {
        format!("{:016x}", self.table.fingerprint())
    }

    /// All n-grams and their frequencies.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let items = PyDict::new(py);
        for (ngram, count) in self.table.iter() {
            items.set_item(PyTuple::new(py, ngram)?, count)?;
        }
        Ok(items)
    }
}

/// The format of this name.
fn table_format(name: &str) -> PyResult<TableFormat> {
    name.parse().map_err(|error: UnknownName| fault(&error))
}

/// The rule for comparing ids, by name.
fn parse_ids(name: &str) -> PyResult<Ids> {
    name.parse().map_err(|error: UnknownName| fault(&error))
}
