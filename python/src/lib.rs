//! The extension module `capeval._engine`, which is implemented in `capeval-python`.

use pyo3::prelude::*;

/// The engine of the package `capeval`; use the package instead.
#[pymodule(gil_used = false)]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    capeval_python::register(module)
}
