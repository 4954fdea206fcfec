//! Benchmarks of metrics by name for Python.

use capeval_meta::{self as meta, BenchmarkScores, MetaOptions, MetaRequest};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::call::Call;
use crate::error::{fault, from_file, from_request};
use crate::external_scores::{Scores, given};
use crate::study::Study;

/// The descriptions of benchmarks, as JSON; of all of them if none is named.
#[pyfunction]
pub fn benchmarks(names: Vec<String>) -> PyResult<String> {
    let named = names.iter().map(|name| meta::benchmark(name));
    let named = named.collect::<Result<Vec<_>, _>>().map_err(|error| fault(&error))?;
    let all = if names.is_empty() { meta::benchmarks().iter().collect() } else { named };
    meta::to_json(&all).map_err(|error| crate::error::value(&error.to_string()))
}

/// Runs metrics and given scores, each of one benchmark or of all, on benchmarks whose files are in `folder`.
#[pyfunction]
pub fn run_benchmarks(
    py: Python<'_>,
    names: Vec<String>,
    folder: String,
    scores: Vec<(Option<String>, Py<Scores>)>,
    options: &Bound<'_, PyDict>,
    call: Call<'_>,
) -> PyResult<Study> {
    let options: MetaOptions = crate::options::options(options)?;
    let named = names.iter().map(|name| meta::benchmark(name));
    let benchmarks = named.collect::<Result<Vec<_>, _>>().map_err(|error| fault(&error))?;
    let (owners, scores): (Vec<Option<String>>, Vec<Py<Scores>>) = scores.into_iter().unzip();
    let scores = owners.into_iter().zip(given(scores));
    let scores: Vec<BenchmarkScores> =
        scores.map(|(benchmark, scores)| BenchmarkScores { benchmark, scores }).collect();
    let computes = scores.is_empty() || options.metrics.are_chosen();
    let metrics = computes.then(|| options.metrics.clone());
    let found = call.run(py, metrics, |resources, progress| {
        let request = MetaRequest { benchmarks, data: folder, scores, options, resources, progress };
        meta::run(request).map_err(|error| match error {
            meta::Error::Files(error) => from_file(error),
            meta::Error::Engine(error) => from_request(error),
        })
    });
    Ok(Study::new(found?))
}
