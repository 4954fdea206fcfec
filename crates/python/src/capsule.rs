//! Arrow's C data interface through Python's capsules: the only file of this crate with `unsafe` code.
//!
//! Data are imported from their producer without a copy, and released when they are dropped.
#![expect(unsafe_code, reason = "Arrow's C data interface hands over raw pointers")]

use std::ffi::CStr;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, RecordBatch, RecordBatchReader, StructArray};
use arrow_schema::DataType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

fn failed(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("cannot import Arrow data: {error}"))
}

/// The record batches of a batch (`__arrow_c_array__`) or of a table or reader (`__arrow_c_stream__`).
pub fn batches(source: &Bound<'_, PyAny>) -> PyResult<Vec<RecordBatch>> {
    if source.hasattr("__arrow_c_array__")? {
        let pair = source.call_method0("__arrow_c_array__")?;
        let pair = pair.cast::<PyTuple>().map_err(PyErr::from)?;
        let (schema, array) = (pair.get_item(0)?, pair.get_item(1)?);
        return Ok(vec![batch(schema.cast::<PyCapsule>()?, array.cast::<PyCapsule>()?)?]);
    }
    if source.hasattr("__arrow_c_stream__")? {
        let capsule = source.call_method0("__arrow_c_stream__")?;
        let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(STREAM))?;
        let pointer = pointer.as_ptr().cast::<FFI_ArrowArrayStream>();
        // SAFETY: a capsule with this name contains an ArrowArrayStream, which the reader moves out; the capsule's
        // destructor then finds it released, as the PyCapsule protocol requires.
        let reader = unsafe { ArrowArrayStreamReader::from_raw(pointer) }.map_err(failed)?;
        let schema = reader.schema();
        let mut read = reader.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        if read.is_empty() {
            // A result has the columns of its source even if it has no rows.
            read.push(RecordBatch::new_empty(schema));
        }
        return Ok(read);
    }
    let found = source.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "expected a record batch or a table of pyarrow, polars or another Arrow library, not {found}"
    )))
}

fn batch(schema: &Bound<'_, PyCapsule>, array: &Bound<'_, PyCapsule>) -> PyResult<RecordBatch> {
    let schema = schema.pointer_checked(Some(SCHEMA))?.as_ptr().cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(ARRAY))?.as_ptr().cast::<FFI_ArrowArray>();
    // SAFETY: capsules with these names contain an ArrowSchema, which is read while the capsule is alive, and an
    // ArrowArray, which is moved out and replaced by a released one, as the PyCapsule protocol requires.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array), &*schema) }.map_err(failed)?;
    match data.data_type() {
        DataType::Struct(_) if data.nulls().is_none() => Ok(RecordBatch::from(StructArray::from(data))),
        DataType::Struct(_) => Err(PyValueError::new_err("some rows of the Arrow data are null")),
        other => Err(PyTypeError::new_err(format!("expected a record batch, not an Arrow array of {other}"))),
    }
}

/// A record batch that any Arrow library can import.
#[pyclass(frozen, module = "capeval._engine")]
pub struct ArrowBatch(pub RecordBatch);

#[pymethods]
impl ArrowBatch {
    /// The capsules of schema and array.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The protocol allows to ignore a consumer's request for other types.
        let _ = requested_schema;
        let (array, schema) = to_ffi(&StructArray::from(self.0.clone()).to_data()).map_err(failed)?;
        let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
        Ok((schema, PyCapsule::new_with_value(py, array, ARRAY)?))
    }

    /// The number of rows.
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }
}
