//! Document frequencies that are counted in parts: from Arrow record batches, and merged as bytes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use capeval::frequencies::Tally as Counted;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::capsule::{ArrowBatch, batches};
use crate::columns::{Columns, Rows, Sieve};
use crate::error::fault;
use crate::frequencies::DocumentFrequencies;
use crate::run::run_on_pool;

/// The size of the words of a batch of rows.
const BATCH_BYTES: usize = 1 << 28;

/// The n-grams of some rows, in a number of parts.
#[pyclass(frozen, module = "capeval._engine")]
pub struct Tally(Mutex<Counted>);

#[pymethods]
impl Tally {
    /// Nothing yet: n-grams of up to `order` words.
    #[new]
    fn new(order: usize, parts: u32) -> Self {
        Self(Mutex::new(Counted::new(order, parts)))
    }

    /// Adds the references of the rows of a batch or table; the last ones are the tokenizer, the
    /// stemmer and the number of threads.
    fn add(
        &self,
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        columns: Columns,
        sieve: &Sieve,
        reading: (String, Option<String>, Option<usize>),
    ) -> PyResult<()> {
        let (tokenizer, stem, threads) = reading;
        let reading = crate::metrics::reading(&tokenizer, stem.as_deref())?.each();
        let mut rows = Rows::read(&batches(source)?, &columns, sieve, 0)?;
        let mut references = rows.take_references();
        let added = run_on_pool(py, threads, None, move |_| {
            // A thread of the pool that waits for others may begin another call, which must not wait for this one.
            let mut tally = self.0.try_lock().ok()?;
            let (n, order) = (references.n_images() as u64, tally.order());
            Some(tally.add(n, |counts| references.count_ngrams(reading, order, counts)))
        })?;
        let added = added.ok_or_else(|| {
            PyRuntimeError::new_err("another thread counts into this tally; give each its own")
        })?;
        added.map_err(|error| fault(&error))
    }

    /// Adds a part, as `parts` gives it.
    fn merge(&self, py: Python<'_>, part: &[u8]) -> PyResult<()> {
        py.detach(|| self.lock().merge(part)).map_err(|error| fault(&error))
    }

    /// The parts that have images, with their numbers, as bytes.
    fn parts<'py>(&self, py: Python<'py>) -> Vec<(u32, Bound<'py, PyBytes>)> {
        let parts: Vec<(u32, Vec<u8>)> = py.detach(|| self.lock().parts().collect());
        parts.into_iter().map(|(part, bytes)| (part, PyBytes::new(py, &bytes))).collect()
    }

    /// The table of all parts, which leaves nothing in the tally.
    fn table(&self, py: Python<'_>) -> PyResult<DocumentFrequencies> {
        let table = py.detach(|| self.take().into_table());
        table.map(DocumentFrequencies::new).map_err(|error| fault(&error))
    }

    /// The n-grams and their frequencies as columns of Arrow batches of up to `most` rows: lists of words, and whole
    /// numbers. A row with an empty list for each part gives the number of its images.
    fn rows(&self, most: usize) -> PyResult<Vec<ArrowBatch>> {
        let tally = self.lock();
        let (mut rows, mut batches) = (NgramRows::default(), Vec::new());
        let mut push = |words: &[&str], n: i64| {
            rows.push(words, n);
            // Offsets of an Arrow list have 32 bits.
            if rows.images.len() >= most || rows.bytes >= BATCH_BYTES {
                batches.push(std::mem::take(&mut rows));
            }
        };
        tally.images().for_each(|(_, n)| push(&[], n as i64));
        tally.counts().for_each(|words, count| push(words, i64::from(count)));
        batches.push(rows);
        batches.into_iter().filter(|rows| !rows.images.is_empty()).map(NgramRows::finish).collect()
    }

    /// The number of n-grams and their prefixes.
    fn __len__(&self) -> usize {
        self.lock().len()
    }

    /// Returns true if no images have been counted.
    #[getter]
    fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }
}

/// Rows of n-grams, of which an Arrow batch is made.
#[derive(Default)]
struct NgramRows {
    ngrams: ListBuilder<StringBuilder>,
    images: Vec<i64>,
    /// The size of the words.
    bytes: usize,
}

impl NgramRows {
    fn push(&mut self, words: &[&str], images: i64) {
        words.iter().for_each(|word| self.ngrams.values().append_value(word));
        self.ngrams.append(true);
        self.images.push(images);
        self.bytes += words.iter().map(|word| word.len()).sum::<usize>();
    }

    fn finish(mut self) -> PyResult<ArrowBatch> {
        let columns: [(&str, ArrayRef); 2] =
            [("ngram", Arc::new(self.ngrams.finish())), ("images", Arc::new(Int64Array::from(self.images)))];
        Ok(ArrowBatch(RecordBatch::try_from_iter(columns).map_err(|error| fault(&error))?))
    }
}

impl Tally {
    /// The counts, in place of which nothing is left.
    fn take(&self) -> Counted {
        let mut tally = self.lock();
        let (order, parts) = (tally.order(), tally.n_parts());
        std::mem::replace(&mut tally, Counted::new(order, parts))
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
