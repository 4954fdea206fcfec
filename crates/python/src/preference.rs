//! Preferences between two captions, for Python.

use capeval::corpus::ratings;
use capeval::report::Preference as Found;
use capeval::{PreferOptions, PreferRequest};
use capeval_files as files;
use capeval_pages::{self as pages, Page};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::call::Call;
use crate::captions::Captions;
use crate::error::{Keywords, from_corpus, from_file, from_request};
use crate::given::{Scores, given};
use crate::rendered;

/// The share of pairs in which each measure prefers the caption that people prefer.
#[pyclass(frozen, module = "capeval._engine")]
pub struct Preference {
    found: Found,
}

#[pymethods]
impl Preference {
    /// Notices: code and message.
    fn notices(&self) -> Vec<(String, String)> {
        let notices = self.found.head.notices.iter();
        notices.map(|notice| (notice.code.to_string(), crate::error::told(notice))).collect()
    }

    /// The preferences as a page of HTML.
    fn html(&self, py: Python<'_>, title: Option<String>, digits: usize) -> PyResult<String> {
        let page = Page { title, digits, ..Page::default() };
        rendered::page(py, 0, None, None, |_, out| pages::preference(&self.found, &page, &Keywords, out))
    }

    /// The preferences as text: `"table"`, `"json"`, `"jsonl"`, `"csv"`, `"markdown"`, `"latex"`, or the `"rows"`
    /// behind them as JSON Lines.
    fn render(&self, format: &str, digits: usize) -> PyResult<String> {
        rendered::text(&self.found, format, digits)
    }
}

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
) -> PyResult<Preference> {
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
        let request = PreferRequest { references, scores, options, resources, progress, ..request };
        capeval::prefer(request).map_err(from_request)
    });
    Ok(Preference { found: found? })
}
