//! Preferences between two captions, for Python.

use capeval::corpus::ratings;
use capeval_files as files;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::call::Call;
use crate::captions::Captions;
use crate::error::{from_corpus, from_file};
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
    let choices = match pairs.cast::<PyBytes>() {
        Ok(json) => ratings::read_pairs(json.as_bytes(), "pairs"),
        Err(_) => {
            let path: String = pairs.extract()?;
            ratings::read_pairs(&py.detach(|| files::open(&path)).map_err(from_file)?, &path)
        }
    };
    let choices = choices.map_err(from_corpus)?;
    call.compare_with_people(py, choices, (references, scores, options), capeval::prefer)
}
