//! Metrics that the engine does not compute: functions, and programs with what they write for people.

use std::sync::Arc;

use capeval::{Outside, OutsideMetrics, Sight};
use capeval_outside::embeddings::{Role, Vectors};
use capeval_outside::programs::Messages;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::captions::id;
use crate::error::{fault, from_file};
use crate::function::{Function, FunctionMetric};
use crate::pictures::OneByOne;
use crate::run::Caller;

/// Functions that are metrics.
pub type Functions = Vec<Arc<Py<Function>>>;

/// Vectors that Python holds: what they are of, ids, length, and numbers.
type HeldVectors<'py> = (String, Vec<Bound<'py, PyAny>>, usize, Bound<'py, PyBytes>);

/// Reads vectors that Python holds.
pub fn held(given: &Bound<'_, PyAny>) -> PyResult<Vec<(Role, Arc<Vectors>)>> {
    let read = |(role, ids, dims, numbers): HeldVectors<'_>| {
        let ids = ids.iter().map(id).collect::<PyResult<_>>()?;
        let vectors = Vectors::from_rows(&format!("vectors[{role:?}]"), ids, dims, floats(&numbers))
            .map_err(|e| fault(&e))?;
        Ok((Role::parse(&role).map_err(|error| fault(&error))?, Arc::new(vectors)))
    };
    given.extract::<Vec<HeldVectors<'_>>>()?.into_iter().map(read).collect()
}

/// Writes vectors of `dims` numbers of 32 bits, with their ids, to a file.
#[pyfunction]
pub fn write_vectors(
    path: &str,
    ids: Vec<Bound<'_, PyAny>>,
    dims: usize,
    numbers: &Bound<'_, PyBytes>,
) -> PyResult<()> {
    let ids = ids.iter().map(id).collect::<PyResult<Vec<_>>>()?;
    capeval_outside::embeddings::write(path, &ids, dims, &floats(numbers)).map_err(from_file)
}

/// The numbers of 32 bits in bytes.
fn floats(bytes: &Bound<'_, PyBytes>) -> Vec<f32> {
    bytes.as_bytes().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// Functions as metrics, which `caller` calls.
pub fn called(
    functions: &Functions,
    caller: &Arc<Caller>,
    pictures: Option<&Arc<OneByOne>>,
) -> Vec<Arc<dyn Outside>> {
    let called = |function: &Arc<Py<Function>>| -> Arc<dyn Outside> {
        Arc::new(FunctionMetric {
            function: Arc::clone(function),
            caller: Arc::clone(caller),
            pictures: pictures.map(Arc::clone),
        })
    };
    functions.iter().map(called).collect()
}

/// Refuses metrics that need pictures, for rows, which have none.
pub fn refuse_sight(metrics: &OutsideMetrics) -> PyResult<()> {
    match metrics.0.iter().find(|one| one.sight() == Sight::Needed) {
        Some(one) => {
            let why = "looks at pictures, and rows of tables have none; leave it out of the metrics";
            Err(PyValueError::new_err(format!("{} {why}", one.name())))
        }
        None => Ok(()),
    }
}

/// Passes on what metrics that are programs write for people.
pub fn messages() -> Messages {
    Arc::new(|name, line| {
        Python::attach(|py| {
            let write =
                || py.import("sys")?.getattr("stderr")?.call_method1("write", (format!("{name}: {line}\n"),));
            // A line that cannot be written is not a failure.
            let _ = write();
        });
    })
}
