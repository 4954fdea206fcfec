//! Scores that someone else computed, from Python: files, and rows as JSON.

use capeval::GivenScores;
use capeval::corpus::SegmentId;
use capeval::corpus::scores::{MeasureFacts, read_scores};
use capeval_files as files;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::captions::id;
use crate::error::{fault, from_corpus, from_file, within};

/// Scores in a file or in memory.
#[pyclass(frozen, module = "capeval._engine")]
pub struct Scores {
    given: GivenScores,
}

/// A measure: its name, its range, and whether lower is better.
type MeasureRow = (String, Option<(f64, f64)>, Option<bool>);

#[pymethods]
impl Scores {
    /// Reads a file at a path, or rows as bytes of JSON, of the system `name`, if it is given; a system without any
    /// name is called `stem`.
    #[staticmethod]
    #[pyo3(signature = (source, stem, name = None, ids = None, measures = None))]
    fn read(
        source: &Bound<'_, PyAny>,
        stem: &str,
        name: Option<&str>,
        ids: Option<Vec<Bound<'_, PyAny>>>,
        measures: Option<Vec<MeasureRow>>,
    ) -> PyResult<Self> {
        let py = source.py();
        let ids: Option<Vec<SegmentId>> = ids
            .map(|ids| ids.iter().map(id).collect::<PyResult<_>>())
            .transpose()
            .map_err(|error| within(py, "ids", &error))?;
        let mut scores = match source.cast::<PyBytes>() {
            Ok(json) => read_scores(json.as_bytes(), "scores", ids.as_deref()).map_err(from_corpus)?,
            Err(_) => {
                let path: String = source.extract()?;
                let bytes = py.detach(|| files::open(&path)).map_err(from_file)?;
                py.detach(|| read_scores(&bytes, &path, ids.as_deref())).map_err(from_corpus)?
            }
        };
        let describe = |(name, range, lower_is_better)| (name, MeasureFacts { range, lower_is_better });
        let described = measures.unwrap_or_default().into_iter().map(describe).collect();
        scores.describe(described).map_err(from_corpus)?;
        Ok(Self { given: GivenScores::new(scores, name, stem).map_err(|error| fault(&error))? })
    }
}

/// The scores as the library takes them.
pub fn given(scores: Vec<Py<Scores>>) -> Vec<GivenScores> {
    scores.into_iter().map(|scores| scores.get().given.clone()).collect()
}
