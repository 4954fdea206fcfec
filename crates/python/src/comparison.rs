//! Comparisons of systems for Python.

use capeval::report::{Comparison as Found, Contrast};
use capeval_pages::{self as pages, Page};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::Keywords;
use crate::report::{Report, n_images};
use crate::{rendered, saved};

/// The differences between systems, with tests.
#[pyclass(frozen, module = "capeval._engine")]
pub struct Comparison {
    pub found: Found,
}

#[pymethods]
impl Comparison {
    /// The comparison from the data of a pickle.
    #[staticmethod]
    fn restore(data: saved::Comparison) -> PyResult<Self> {
        Ok(Self { found: data.comparison()? })
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        // It cannot change.
        slf
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (saved::Comparison,))> {
        Ok((slf.getattr("restore")?, (saved::Comparison::of(&slf.get().found),)))
    }

    /// The scores of the systems, with confidence intervals.
    fn report(&self) -> Report {
        Report { found: self.found.report.clone() }
    }

    /// The pairs that were compared: baseline, system, and the test results by measure.
    fn pairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        let name = |k: usize| self.found.report.systems.get(k).map(|system| system.name.as_str());
        for pair in &self.found.pairs {
            let contrasts = PyDict::new(py);
            for (measure, contrast) in self.found.report.head.measures.iter().zip(&pair.contrasts) {
                contrasts.set_item(&measure.key, about(py, contrast)?)?;
            }
            list.append((name(pair.baseline), name(pair.system), contrasts))?;
        }
        Ok(list)
    }

    /// The comparison as a page; `progress` is called with the stage, the images done and their number.
    fn html(
        &self,
        py: Python<'_>,
        title: Option<String>,
        digits: usize,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let page = Page { title, digits, ..Page::default() };
        rendered::page(py, n_images(&self.found.report), threads, progress, |advance, out| {
            pages::comparison(&self.found, &page, &Keywords, advance, out)
        })
    }

    /// The comparison as text: `"table"`, `"json"`, `"jsonl"`, `"csv"`, `"markdown"` or `"latex"`.
    fn render(&self, format: &str, digits: usize) -> PyResult<String> {
        rendered::text(&self.found, format, digits)
    }
}

fn about<'py>(py: Python<'py>, contrast: &Contrast) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("difference", contrast.difference)?;
    row.set_item("interval", (contrast.interval.low, contrast.interval.high))?;
    let tests = [
        ("bootstrap", Some(contrast.bootstrap)),
        ("randomisation", Some(contrast.randomisation)),
        ("sign", contrast.sign),
        ("permutation", contrast.permutation),
    ];
    for (name, p) in tests {
        row.set_item(name, p.map(|p| (p.value, p.adjusted)))?;
    }
    let tally = &contrast.tally;
    row.set_item("wins", tally.wins)?;
    row.set_item("ties", tally.ties)?;
    row.set_item("losses", tally.losses)?;
    row.set_item("cohens_d", contrast.cohens_d)?;
    row.set_item("verdict", contrast.verdict.name())?;
    Ok(row)
}
