//! Comparisons of systems for Python.

use capeval::report::{Comparison as Found, Contrast, Saved};
use capeval_files as files;
use capeval_pages::{self as pages, Page};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::captions::id_list;
use crate::error::{Keywords, fault, from_file, from_io, value};
use crate::rendered;
use crate::report::{Report, n_images, without_gallery};

/// The differences between systems, with tests.
#[pyclass(frozen, module = "capeval._engine")]
pub struct Comparison {
    pub found: Found,
}

#[pymethods]
impl Comparison {
    /// The comparison from what [`Comparison::saved`] returned.
    #[staticmethod]
    fn restore(data: &[u8]) -> PyResult<Self> {
        Self::of(Saved::read(data).map_err(|error| fault(&error))?)
    }

    /// The comparison of a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: &str) -> PyResult<Self> {
        Self::of(py.detach(|| files::report(path)).map_err(from_file)?)
    }

    /// The comparison as JSON with the scores of every image, for pickles and files.
    fn saved<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut json = Vec::new();
        let saved = py.detach(|| without_images(&self.found).save(&mut json));
        saved.map_err(|error| from_io(&error, "comparison"))?;
        Ok(PyBytes::new(py, &json))
    }

    /// Writes a file that [`Comparison::load`] reads.
    fn save(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        let found = without_images(&self.found);
        py.detach(|| files::write_whole(path, |out| found.save(out))).map_err(from_file)
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        // It cannot change.
        slf
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.getattr("restore")?, (slf.get().saved(slf.py())?,)))
    }

    /// The scores of the systems, with confidence intervals.
    fn report(&self) -> Report {
        Report { found: self.found.report.clone() }
    }

    /// As [`Report::gallery_ids`].
    fn gallery_ids<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        self.found.report.gallery.as_ref().map(|gallery| id_list(py, &gallery.ids)).transpose()
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

    /// The comparison as a page; as [`Report::html`].
    fn html(
        &self,
        py: Python<'_>,
        title: Option<String>,
        digits: usize,
        pattern: Option<String>,
        files: Option<Vec<Option<String>>>,
        embedded: bool,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let pictures = rendered::pictures(pattern, files, embedded)?;
        let page = Page { title, digits, pictures, ..Page::default() };
        rendered::page(py, n_images(&self.found.report), threads, progress, |advance, out| {
            pages::comparison(&self.found, &page, &Keywords, advance, out)
        })
    }

    /// The comparison as text: `"table"`, `"json"`, `"jsonl"`, `"csv"`, `"markdown"` or `"latex"`.
    fn render(&self, format: &str, digits: usize) -> PyResult<String> {
        rendered::text(&self.found, format, digits)
    }
}

fn without_images(found: &Found) -> Found {
    let Found { report, resampling, correction, pairs } = found;
    Found {
        report: without_gallery(report),
        resampling: *resampling,
        correction: *correction,
        pairs: pairs.clone(),
    }
}

impl Comparison {
    fn of(saved: Saved) -> PyResult<Self> {
        match saved {
            Saved::Comparison(found) => Ok(Self { found }),
            Saved::Report(_) => Err(value("this is a report; load it with capeval.Report.load()")),
        }
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
