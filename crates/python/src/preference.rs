//! Preferences between two captions, for Python.

use capeval::corpus::ratings;
use capeval::metric::Resources;
use capeval::report::Preference as Found;
use capeval::{PreferOptions, PreferRequest};
use capeval_files as files;
use capeval_pages::{self as pages, Page};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::captions::Captions;
use crate::correlation::read_scores;
use crate::error::{Keywords, from_corpus, from_file};
use crate::frequencies::DocumentFrequencies;
use crate::metrics::{resources, with_parses};
use crate::rendered;
use crate::run::long;

/// How often each measure prefers the caption of a pair that people prefer.
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

/// Measures how often metrics prefer the caption that people prefer, for pairs given as a path or as JSON.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one call of Python, by position, from one place")]
pub fn prefer(
    py: Python<'_>,
    path: Option<&str>,
    rows: &str,
    references: Option<&Captions>,
    options: &Bound<'_, PyDict>,
    frequencies: Option<&DocumentFrequencies>,
    scores: Option<&str>,
    spice_cache: Option<&str>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Preference> {
    let options: PreferOptions = crate::options::options(options)?;
    let choices = match path {
        Some(path) => ratings::read_pairs(&py.detach(|| files::open(path)).map_err(from_file)?, path),
        None => ratings::read_pairs(rows.as_bytes(), "pairs"),
    };
    let choices = choices.map_err(from_corpus)?;
    let scores = scores.map(|path| read_scores(py, path)).transpose()?;
    let resources = match &scores {
        Some(_) => Resources::default(),
        None => resources(py, &options.metrics, frequencies, None)?,
    };
    let references = references.map(|captions| captions.rows.clone());
    let found = long(py, threads, progress, move |progress| {
        with_parses(spice_cache, resources, |resources| {
            let request = PreferRequest::new(choices);
            capeval::prefer(PreferRequest { references, scores, options, resources, progress, ..request })
        })
    })?;
    Ok(Preference { found: found? })
}
