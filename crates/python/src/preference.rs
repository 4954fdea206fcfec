//! Preferences between two captions, for Python.

use capeval::corpus::ratings;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::call::{Call, read_people};
use crate::captions::Captions;
use crate::external_scores::Scores;
use crate::study::Study;

/// Measures how often metrics prefer the caption that people prefer, for pairs given as a path or as bytes of JSON.
/// Scores that are given are compared too.
#[pyfunction]
pub fn prefer(
    py: Python<'_>,
    pairs: &Bound<'_, PyAny>,
    references: Option<&Captions>,
    scores: Vec<Py<Scores>>,
    options: &Bound<'_, PyDict>,
    call: Call<'_>,
) -> PyResult<Study> {
    let pairs = read_people(py, pairs, "pairs", ratings::read_pairs)?;
    call.compare_with_people(py, pairs, (references, scores, options), capeval::prefer)
}
