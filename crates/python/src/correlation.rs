//! Correlations with human ratings for Python.

use capeval::corpus::ratings::{self, RatingOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::call::{Call, read_people};
use crate::captions::Captions;
use crate::external_scores::Scores;
use crate::study::Study;

/// Correlates metrics and given scores with human ratings, given as a path or as bytes of JSON.
#[pyfunction]
pub fn correlate(
    py: Python<'_>,
    ratings: &Bound<'_, PyAny>,
    references: Option<&Captions>,
    scores: Vec<Py<Scores>>,
    options: &Bound<'_, PyDict>,
    call: Call<'_>,
) -> PyResult<Study> {
    let read = |bytes: &[u8], name: &str| ratings::read_ratings(bytes, name, &RatingOptions::default());
    let ratings = read_people(py, ratings, "ratings", read)?;
    call.compare_with_people(py, ratings, (references, scores, options), capeval::correlate)
}
