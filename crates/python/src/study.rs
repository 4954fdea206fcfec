//! Results for Python: one class with every format, file and page, and what single kinds of results have besides.

use std::any::Any;
use std::io;
use std::path::PathBuf;

use capeval::choice::{Notice, Remedy, UnknownName};
use capeval::evaluate::{Progress as _, Stage};
use capeval::report::{self, Comparison, Correlation, Form, Report, Style, SystemReport};
use capeval::{Requirements, check_requirement};
use capeval_cli::results::kinds;
use capeval_files as files;
use capeval_meta::MetaReport;
use capeval_pages::{self as pages, Page, Pictures};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList};
use serde::Deserialize;

use crate::captions::id_list;
use crate::error::{Keywords, fault, from_file, from_io, from_request, told, told_remedy, value};
use crate::explanations::explained;
use crate::judge::numbers;
use crate::run::run_on_pool;

/// A result.
#[pyclass(frozen, module = "capeval._engine")]
pub struct Study {
    found: Box<dyn report::Study>,
}

/// The digits after the point of shares, and of shares times 100.
const DIGITS: [usize; 2] = [3, 1];

impl Study {
    pub fn new(found: impl report::Study) -> Self {
        Self { found: Box::new(found) }
    }

    /// Writes the result with the items behind it, and with remedies in Python's words.
    fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let in_words =
            |notice: &Notice| Notice { remedy: told_remedy(notice).map(Remedy::say), ..notice.clone() };
        let notices: Vec<Notice> = self.found.head().notices.iter().map(in_words).collect();
        report::save_with(&*self.found, &notices, out)
    }

    /// The result of its own type.
    fn typed<S: report::Study>(&self) -> PyResult<&S> {
        let any: &dyn Any = &*self.found;
        any.downcast_ref().ok_or_else(|| value(&format!("a {} has none", self.found.kind().name)))
    }

    /// The scores of systems.
    pub fn scores(&self) -> PyResult<&Report> {
        let report = self.found.details().report();
        report.ok_or_else(|| value(&format!("a {} has no systems", self.found.kind().name)))
    }

    fn scores_of(&self, k: usize) -> PyResult<&SystemReport> {
        let systems = &self.scores()?.systems;
        systems.get(k).ok_or_else(|| PyIndexError::new_err(format!("system {k} of {}", systems.len())))
    }

    /// The same result with shares times 100, for a format that people read.
    fn in_percent(&self, format: &str) -> PyResult<Self> {
        let form: Form = format.parse().map_err(|error: UnknownName| fault(&error))?;
        if !form.is_for_people() {
            return Err(value(&format!("percent is for tables, and {format} is for programs; leave it out")));
        }
        let mut saved = Vec::new();
        self.write(&mut saved).map_err(|error| from_io(&error, "result"))?;
        let mut found = report::read(&saved, kinds()).map_err(|error| fault(&error))?;
        found.scale_to_percent();
        Ok(Self { found })
    }

    fn digits(&self, digits: Option<usize>) -> usize {
        digits.unwrap_or(DIGITS[usize::from(self.found.head().in_percent)])
    }
}

/// Estimates for a panel of a figure: its title, and for each its name, value and interval.
type Panel = (String, Vec<(String, f64, Option<(f64, f64)>)>);

#[pymethods]
impl Study {
    /// The result from what [`Study::saved`] returned.
    #[staticmethod]
    fn restore(data: &[u8]) -> PyResult<Self> {
        let found = report::read(data, kinds()).map_err(|error| fault(&error))?;
        Ok(Self { found })
    }

    /// The result of a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: &str) -> PyResult<Self> {
        let found = py.detach(|| files::result(path, kinds())).map_err(from_file)?;
        Ok(Self { found })
    }

    /// The kind of result, such as `comparison`.
    #[getter]
    fn kind(&self) -> &str {
        self.found.kind().name
    }

    /// The result as JSON with the items behind it, for pickles and files.
    fn saved<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut json = Vec::new();
        let saved = py.detach(|| self.write(&mut json));
        saved.map_err(|error| from_io(&error, "result"))?;
        Ok(PyBytes::new(py, &json))
    }

    /// Writes a file that [`Study::load`] reads.
    fn save(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        py.detach(|| files::write_whole(path, |out| self.write(out))).map_err(from_file)
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        // It cannot change.
        slf
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.getattr("restore")?, (slf.get().saved(slf.py())?,)))
    }

    /// The keys of the measures.
    fn keys(&self) -> Vec<&str> {
        self.found.head().keys().collect()
    }

    /// For each measure: key, label, whether higher is better (`None` if neither is), lowest and highest value.
    fn measures(&self) -> Vec<(&str, &str, Option<bool>, f64, f64)> {
        let measures = self.found.head().measures.iter();
        measures.map(|m| (&*m.key, &*m.label, m.direction.is_higher(), m.min, m.max)).collect()
    }

    /// Notices: code, message, system, first ids, number.
    fn notices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for notice in &self.found.head().notices {
            let ids = id_list(py, &notice.ids)?;
            list.append((notice.code.to_string(), told(notice), &notice.system, ids, notice.count))?;
        }
        Ok(list)
    }

    /// The panels of a figure.
    fn panels(&self) -> Vec<Panel> {
        let panel = |estimates: report::Estimates| {
            let ends = |interval: capeval::stats::Interval| (interval.low, interval.high);
            let rows = estimates.rows.into_iter().map(|row| (row.name, row.value, row.interval.map(ends)));
            (estimates.title, rows.collect())
        };
        self.found.estimates(DIGITS[0]).into_iter().map(panel).collect()
    }

    /// The result as text: `"table"`, `"json"`, `"jsonl"`, `"csv"`, `"markdown"` or `"latex"`; the tables for a
    /// `"notebook"`, or the `"rows"` behind it as JSON Lines. `digits` is the number of digits after the decimal point
    /// in tables.
    #[pyo3(signature = (format, digits = None, percent = false))]
    fn render(&self, format: &str, digits: Option<usize>, percent: bool) -> PyResult<String> {
        if percent && !self.found.head().in_percent {
            return self.in_percent(format)?.render(format, digits, false);
        }
        let (mut out, digits) = (Vec::new(), self.digits(digits));
        let written = match format {
            "rows" => self.found.write_items(&mut out),
            "notebook" => report::write_notebook(&*self.found, digits, &Keywords, &mut out),
            _ => {
                let form: Form = format.parse().map_err(|error: UnknownName| fault(&error))?;
                report::write(&*self.found, form, &Style { digits, ..Style::default() }, &Keywords, &mut out)
            }
        };
        written.map_err(|error| from_io(&error, "result"))?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    /// The ids of the images that a page shows; `None` if it shows none.
    fn gallery_ids<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let gallery = self.found.details().report().and_then(|report| report.gallery.as_ref());
        gallery.map(|gallery| id_list(py, &gallery.ids)).transpose()
    }

    /// The result as a page of HTML with these [`PageOptions`]. Ctrl-C ends the writing; `progress` is called with the
    /// stage, the images done and their number.
    fn html(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyDict>,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let PageOptions { title, digits, pattern, files, embedded } = crate::options::options(options)?;
        let pictures = pictures(pattern, files, embedded)?;
        let page = Page { title, digits: self.digits(digits), pictures, ..Page::default() };
        let out: io::Result<Vec<u8>> = run_on_pool(py, threads, progress, |progress| {
            progress.begin(Stage::Writing, pages::n_images(&*self.found));
            let mut out = Vec::new();
            let advance = |n| progress.advance(n);
            pages::write(&*self.found, &page, &Keywords, &advance, &mut out).map(|()| out)
        })?;
        out.map(|out| String::from_utf8_lossy(&out).into_owned()).map_err(|error| from_io(&error, "page"))
    }

    /// The names of the systems of a report.
    fn systems(&self) -> PyResult<Vec<&str>> {
        Ok(self.scores()?.systems.iter().map(|system| system.name.as_str()).collect())
    }

    /// System number `k`: name, source, numbers of images and references, scores by measure, signatures by metric.
    fn system<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Bound<'py, PyDict>> {
        let (head, system) = (self.found.head(), self.scores_of(k)?);
        let about = PyDict::new(py);
        about.set_item("name", &system.name)?;
        about.set_item("source", &system.source)?;
        about.set_item("n_images", system.n_images)?;
        about.set_item("n_references", system.n_references)?;
        let scores = PyDict::new(py);
        for (measure, score) in head.measures.iter().zip(&system.scores) {
            scores.set_item(&measure.key, score)?;
        }
        about.set_item("scores", scores)?;
        let signatures = PyDict::new(py);
        for (metric, signature) in head.metrics.iter().zip(&system.signatures) {
            signatures.set_item(&metric.key, signature.to_string())?;
        }
        about.set_item("signatures", signatures)?;
        Ok(about)
    }

    /// The confidence intervals of system number `k`, by measure; `None` unless requested.
    fn intervals<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(intervals) = &self.scores_of(k)?.intervals else { return Ok(None) };
        let by_key = PyDict::new(py);
        for (measure, interval) in self.found.head().measures.iter().zip(intervals) {
            by_key.set_item(&measure.key, (interval.low, interval.high))?;
        }
        Ok(Some(by_key))
    }

    /// The number of runs of system number `k`, and the standard deviation of each measure; `None` if there is one run.
    fn runs<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Option<(usize, Bound<'py, PyDict>)>> {
        let Some(runs) = &self.scores_of(k)?.runs else { return Ok(None) };
        let by_key = PyDict::new(py);
        for (measure, deviation) in self.found.head().measures.iter().zip(&runs.deviations) {
            by_key.set_item(&measure.key, deviation)?;
        }
        Ok(Some((runs.n, by_key)))
    }

    /// The ids of the images of system number `k`.
    fn ids<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Bound<'py, PyList>> {
        let none = Vec::new();
        id_list(py, self.scores_of(k)?.segments.as_ref().map_or(&none, |segments| &segments.ids))
    }

    /// The scores of every image of system number `k`: float64, measure after measure; `None` unless requested.
    fn segments<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Option<Bound<'py, PyByteArray>>> {
        let Some(segments) = &self.scores_of(k)?.segments else { return Ok(None) };
        let n = self.found.head().measures.len();
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

    /// The explanations of single scores that were requested.
    fn explained<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        explained(py, self.scores()?)
    }

    /// Returns true if all systems of a report were scored on the same images.
    fn same_images(&self) -> PyResult<bool> {
        Ok(self.scores()?.same_images)
    }

    /// The scores of the systems of a comparison.
    fn report(&self) -> PyResult<Self> {
        Ok(Self { found: Box::new(self.typed::<Comparison>()?.report.clone()) })
    }

    /// The points of a correlation: images, ratings, and scores by measure, float64.
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Points<'py>> {
        let points = &self.typed::<Correlation>()?.points;
        let scores = PyDict::new(py);
        for (key, values) in self.found.head().keys().zip(&points.scores) {
            scores.set_item(key, numbers(py, values)?)?;
        }
        Ok((id_list(py, &points.images)?, numbers(py, &points.ratings)?, scores))
    }

    /// Where requirements do not hold for the systems of a report or comparison, in words.
    fn unmet_requirements(
        &self,
        required: Vec<String>,
        on: Vec<String>,
        bases: Vec<(String, PyRef<'_, Self>)>,
    ) -> PyResult<Vec<String>> {
        for text in &required {
            check_requirement(text).map_err(|refusal| fault(&refusal))?;
        }
        let base = |(name, study): (String, PyRef<'_, Self>)| -> PyResult<Report> {
            let mut report = study.scores()?.clone();
            if let [system] = &mut report.systems[..] {
                system.name = name;
            }
            Ok(report)
        };
        let bases = bases.into_iter().map(base).collect::<PyResult<_>>()?;
        let requirements = Requirements { required, on, bases };
        match self.typed::<Comparison>() {
            Ok(comparison) => requirements.unmet_by_comparison(comparison),
            Err(_) => requirements.unmet(self.scores()?),
        }
        .map_err(from_request)
    }

    /// The published values that a run of benchmarks does not meet, in words.
    fn unmet(&self) -> PyResult<Vec<String>> {
        Ok(self.typed::<MetaReport>()?.unmet())
    }
}

type Points<'py> = (Bound<'py, PyList>, Bound<'py, PyByteArray>, Bound<'py, PyDict>);

/// The pictures of a page: a pattern with `{id}`, or a path for each image of the gallery, which the page links to or,
/// if they are `embedded`, contains.
/// The options of a page. Pictures are given by a pattern with `{id}`, or by a path for each image of the gallery, and
/// may be embedded.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageOptions {
    title: Option<String>,
    digits: Option<usize>,
    pattern: Option<String>,
    files: Option<Vec<Option<String>>>,
    embedded: bool,
}

fn pictures(
    pattern: Option<String>,
    files: Option<Vec<Option<String>>>,
    embedded: bool,
) -> PyResult<Option<Pictures>> {
    let Some(files) = files else { return Ok(pattern.map(Pictures::Pattern)) };
    if !embedded {
        return Ok(Some(Pictures::Files(files)));
    }
    let file = |path: Option<String>| path.map(PathBuf::from).filter(|path| path.is_file());
    let pictures = Pictures::embedded(files.into_iter().map(file).collect());
    pictures.map(Some).map_err(|error| fault(&error))
}
