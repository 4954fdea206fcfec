//! Metrics that are Python functions.

use std::sync::{Arc, Mutex, PoisonError};

use capeval::choice::Refusal;
use capeval::evaluate::Progress;
use capeval::metric::{Part, Signature};
use capeval::{Outside, OutsideRow};
use pyo3::prelude::*;

use crate::captions::id_list;
use crate::error::value;

/// A function that scores batches of captions.
#[pyclass(frozen, module = "capeval._engine")]
pub struct Function {
    name: String,
    parts: Vec<Part>,
    version: String,
    batch: usize,
    needs_references: bool,
    /// Takes candidates, references, ids and the number of the first caption; returns scores, measure after measure.
    callable: Py<PyAny>,
    /// What it has raised.
    raised: Mutex<Option<PyErr>>,
}

/// A measure: its key, its range, and whether higher is better.
type MeasureRow = (String, f64, f64, bool);

#[pymethods]
impl Function {
    #[new]
    fn new(
        name: String,
        measures: Vec<MeasureRow>,
        version: String,
        batch: usize,
        needs_references: bool,
        callable: Py<PyAny>,
    ) -> PyResult<Self> {
        capeval::check_outside_name(&name).map_err(|refusal| value(&refusal.to_string()))?;
        let mut parts: Vec<Part> = Vec::with_capacity(measures.len());
        for (key, low, high, is_higher) in measures {
            capeval::check_outside_key(&key).map_err(|refusal| value(&refusal.to_string()))?;
            if low.is_nan() || high.is_nan() || low >= high {
                return Err(value(&format!("the range of {key} is from {low} to {high}")));
            }
            if parts.iter().any(|known| known.key == key) {
                return Err(value(&format!("two measures have the key {key}")));
            }
            let part = Part::score(&key, &key, low..=high);
            parts.push(if is_higher { part } else { part.lower() });
        }
        if parts.is_empty() {
            return Err(value(&format!("{name} has no measure")));
        }
        Ok(Self { name, parts, version, batch, needs_references, callable, raised: Mutex::new(None) })
    }
}

impl Function {
    /// What it has raised since the last call.
    fn take_raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The scores of a batch whose first row has this number.
    fn call(&self, rows: &[OutsideRow<'_>], first: usize) -> PyResult<Vec<Vec<f64>>> {
        Python::attach(|py| {
            let candidates: Vec<&str> = rows.iter().map(|row| row.candidate).collect();
            let references: Vec<&[&str]> = rows.iter().map(|row| row.references.as_slice()).collect();
            let ids: Vec<_> = rows.iter().map(|row| row.image.clone()).collect();
            let ids = id_list(py, &ids)?;
            self.callable.call1(py, (candidates, references, ids, first))?.extract(py).map_err(PyErr::from)
        })
    }
}

/// Functions as metrics of the engine.
#[derive(Clone, Default)]
pub struct Functions(Vec<Arc<Py<Function>>>);

impl Functions {
    pub fn new(functions: Vec<Py<Function>>) -> Self {
        Self(functions.into_iter().map(Arc::new).collect())
    }

    /// The functions, for the engine.
    pub fn metrics(&self) -> impl Iterator<Item = Arc<dyn Outside>> {
        self.0.iter().map(|function| Arc::new(Called(Arc::clone(function))) as Arc<dyn Outside>)
    }

    /// What one of them has raised.
    pub fn take_raised(&self) -> Option<PyErr> {
        self.0.iter().find_map(|function| function.get().take_raised())
    }
}

/// A function as a metric of the engine.
struct Called(Arc<Py<Function>>);

impl Outside for Called {
    fn name(&self) -> &str {
        &self.0.get().name
    }

    fn parts(&self) -> &[Part] {
        &self.0.get().parts
    }

    fn signature(&self) -> Signature {
        let Function { name, version, .. } = self.0.get();
        let version = if version.is_empty() { "none" } else { version };
        Signature::new(name).with("version", version).with("by", "function")
    }

    fn needs_references(&self) -> bool {
        self.0.get().needs_references
    }

    fn score(&self, rows: &[OutsideRow<'_>], progress: &dyn Progress) -> Result<Vec<Vec<f64>>, Refusal> {
        let function = self.0.get();
        let mut scores: Vec<Vec<f64>> = vec![Vec::with_capacity(rows.len()); function.parts.len()];
        let mut first = 0;
        for batch in rows.chunks(function.batch) {
            progress.advance(0);
            let found = function.call(batch, first).map_err(|error| {
                *function.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                Refusal::new(format!("{} has raised an error", function.name))
            })?;
            for (all, found) in scores.iter_mut().zip(found) {
                all.extend(found);
            }
            first += batch.len();
            progress.advance(batch.len());
        }
        Ok(scores)
    }
}
