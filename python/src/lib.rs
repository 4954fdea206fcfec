//! The extension module `capeval._engine`: everything it offers is made in `capeval-python`.

use pyo3::prelude::*;

/// What the package `capeval` stands on; use that instead.
#[pymodule(gil_used = false)]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    capeval_python::register(module)
}
