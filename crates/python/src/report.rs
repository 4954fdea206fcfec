//! Reports for Python: numbers, names and renderings.

use capeval::choice::{Notice, Remedy};
use capeval::report::{self, Report as Found, Saved};
use capeval_files as files;
use capeval_pages::{self as pages, Page};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList};

use crate::captions::id_list;
use crate::error::{Keywords, fault, from_file, from_io, told_remedy, value};
use crate::explained::explained;
use crate::rendered;

/// The result of an evaluation.
#[pyclass(frozen, module = "capeval._engine")]
pub struct Report {
    pub found: Found,
}

#[pymethods]
impl Report {
    /// The report from what [`Report::saved`] returned.
    #[staticmethod]
    fn restore(data: &[u8]) -> PyResult<Self> {
        Self::of(Saved::read(data).map_err(|error| fault(&error))?)
    }

    /// The report of a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: &str) -> PyResult<Self> {
        Self::of(py.detach(|| files::report(path)).map_err(from_file)?)
    }

    /// The report as JSON with the scores of every image, for pickles and files.
    fn saved<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut json = Vec::new();
        let saved = py.detach(|| without_gallery(&self.found).save(&mut json));
        saved.map_err(|error| from_io(&error, "report"))?;
        Ok(PyBytes::new(py, &json))
    }

    /// Writes a file that [`Report::load`] reads.
    fn save(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        let found = without_gallery(&self.found);
        py.detach(|| files::write_whole(path, |out| found.save(out))).map_err(from_file)
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        // It cannot change.
        slf
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.getattr("restore")?, (slf.get().saved(slf.py())?,)))
    }

    /// The names of the systems.
    fn systems(&self) -> Vec<&str> {
        self.found.systems.iter().map(|system| system.name.as_str()).collect()
    }

    /// The keys of the measures.
    fn keys(&self) -> Vec<&str> {
        self.found.head.measures.iter().map(|measure| measure.key.as_str()).collect()
    }

    /// For each measure: key, label, whether higher is better (`None` if neither is), lowest and highest value.
    fn measures(&self) -> Vec<(&str, &str, Option<bool>, f64, f64)> {
        let measures = self.found.head.measures.iter();
        measures.map(|m| (&*m.key, &*m.label, m.direction.is_higher(), m.min, m.max)).collect()
    }

    /// System number `k`: name, source, numbers of images and references, scores by measure, signatures by metric.
    fn system<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Bound<'py, PyDict>> {
        let system = self.at(k)?;
        let about = PyDict::new(py);
        about.set_item("name", &system.name)?;
        about.set_item("source", &system.source)?;
        about.set_item("n_images", system.n_images)?;
        about.set_item("n_references", system.n_references)?;
        let scores = PyDict::new(py);
        for (measure, score) in self.found.head.measures.iter().zip(&system.scores) {
            scores.set_item(&measure.key, score)?;
        }
        about.set_item("scores", scores)?;
        let signatures = PyDict::new(py);
        for (metric, signature) in self.found.head.metrics.iter().zip(&system.signatures) {
            signatures.set_item(&metric.key, signature.to_string())?;
        }
        about.set_item("signatures", signatures)?;
        Ok(about)
    }

    /// The confidence intervals of system number `k`, by measure; `None` unless requested.
    fn intervals<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(intervals) = &self.at(k)?.intervals else { return Ok(None) };
        let by_key = PyDict::new(py);
        for (measure, interval) in self.found.head.measures.iter().zip(intervals) {
            by_key.set_item(&measure.key, (interval.low, interval.high))?;
        }
        Ok(Some(by_key))
    }

    /// The ids of the images of system number `k`.
    fn ids<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Bound<'py, PyList>> {
        let none = Vec::new();
        id_list(py, self.at(k)?.segments.as_ref().map_or(&none, |segments| &segments.ids))
    }

    /// The scores of every image of system number `k`: float64, measure after measure; `None` unless requested.
    fn segments<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Option<Bound<'py, PyByteArray>>> {
        let Some(segments) = &self.at(k)?.segments else { return Ok(None) };
        let n = self.found.head.measures.len();
        let bytes = PyByteArray::new_with(py, segments.values.len() * 8, |room| {
            let places = room.chunks_exact_mut(8);
            let by_measure = (0..n).flat_map(|m| segments.values.iter().skip(m).step_by(n.max(1)));
            for (place, value) in places.zip(by_measure) {
                place.copy_from_slice(&value.to_ne_bytes());
            }
            Ok(())
        })?;
        Ok(Some(bytes))
    }

    /// Notices: code, message, system, first ids, number.
    fn notices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for notice in &self.found.head.notices {
            let ids = id_list(py, &notice.ids)?;
            list.append((
                notice.code.to_string(),
                crate::error::told(notice),
                &notice.system,
                ids,
                notice.count,
            ))?;
        }
        Ok(list)
    }

    /// The explanations of single scores that were requested.
    fn explained<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        explained(py, &self.found)
    }

    /// Returns true if all systems were scored on the same images.
    #[getter]
    fn same_images(&self) -> bool {
        self.found.same_images
    }

    /// The ids of the images that a page shows; `None` unless requested.
    fn gallery_ids<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        self.found.gallery.as_ref().map(|gallery| id_list(py, &gallery.ids)).transpose()
    }

    /// The report as a page of HTML; pictures are given by a pattern with `{id}`, or by a path for each image of
    /// the gallery, and may be embedded. `progress` is called with the stage, the images done and their number.
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
        rendered::page(py, n_images(&self.found), threads, progress, |advance, out| {
            pages::report(&self.found, &page, &Keywords, advance, out)
        })
    }

    /// The report as text: `"table"`, `"json"`, `"jsonl"`, `"csv"`, `"markdown"` or `"latex"`. `digits` is the number
    /// of digits after the decimal point in tables.
    fn render(&self, format: &str, digits: usize) -> PyResult<String> {
        rendered::text(&self.found, format, digits)
    }
}

/// The number of images that a page shows.
pub fn n_images(found: &report::Report) -> usize {
    found.gallery.as_ref().map_or(0, |gallery| gallery.ids.len())
}

/// A copy without what a page shows of single images, and with remedies in Python's words.
pub fn without_gallery(found: &Found) -> Found {
    let said = |notice: &Notice| Notice { remedy: told_remedy(notice).map(Remedy::say), ..notice.clone() };
    let head = report::Head { notices: found.head.notices.iter().map(said).collect(), ..found.head.clone() };
    Found {
        head,
        systems: found.systems.clone(),
        same_images: found.same_images,
        sorted_by: found.sorted_by,
        provenance: found.provenance.clone(),
        explained: Vec::new(),
        gallery: None,
        profiles: Vec::new(),
    }
}

impl Report {
    fn of(saved: Saved) -> PyResult<Self> {
        match saved {
            Saved::Report(found) => Ok(Self { found }),
            Saved::Comparison(_) => {
                Err(value("this is a comparison; load it with capeval.Comparison.load()"))
            }
        }
    }

    fn at(&self, k: usize) -> PyResult<&report::SystemReport> {
        let n = self.found.systems.len();
        self.found.systems.get(k).ok_or_else(|| PyIndexError::new_err(format!("system {k} of {n}")))
    }
}
