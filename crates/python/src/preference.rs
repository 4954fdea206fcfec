//! Preferences between two captions, for Python.

use capeval::corpus::ratings;
use capeval::{PreferOptions, PreferRequest};
use capeval_files as files;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::call::Call;
use crate::captions::Captions;
use crate::error::{from_corpus, from_file, from_request};
use crate::external_scores::{Scores, given};
use crate::score::groups;
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
    let groups = groups(options)?;
    let options: PreferOptions = crate::options::options(options)?;
    let choices = match pairs.cast::<PyBytes>() {
        Ok(json) => ratings::read_pairs(json.as_bytes(), "pairs"),
        Err(_) => {
            let path: String = pairs.extract()?;
            ratings::read_pairs(&py.detach(|| files::open(&path)).map_err(from_file)?, &path)
        }
    };
    let choices = choices.map_err(from_corpus)?;
    let references = references.map(|captions| captions.rows.clone());
    let scores = given(scores);
    let computes = scores.is_empty() || references.is_some() || options.metrics.are_chosen();
    let metrics = computes.then(|| options.metrics.clone());
    let found = call.run(py, metrics, |resources, progress| {
        let request = PreferRequest::new(choices);
        let request = PreferRequest { references, scores, groups, options, resources, progress, ..request };
        capeval::prefer(request).map_err(from_request)
    });
    Ok(Study::new(found?))
}
