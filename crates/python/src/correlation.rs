//! Whether metrics agree with people, as Python sees it.

use capeval::corpus::ratings::{self, Item, Judged, RatingOptions, Ratings};
use capeval::pages::{self, Page};
use capeval::report::{Agreement, Coefficient, Correlation as Found};
use capeval::stats::Resampling;
use capeval::{CorrelateRequest, OwnReference};
use capeval_files as files;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyList};

use crate::captions::{Captions, id, id_list};
use crate::error::{Keywords, fault, from_corpus, from_file, from_request, value};
use crate::frequencies::{DocumentFrequencies, parse_ids};
use crate::judge::numbers;
use crate::metrics::select;
use crate::rendered;
use crate::run::long;

/// How each measure agrees with what people said.
#[pyclass(frozen, module = "capeval._engine")]
pub struct Correlation {
    found: Found,
}

#[pymethods]
impl Correlation {
    /// For each measure its coefficients: value and interval by name, and how many pairs people tell apart.
    fn agreements<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let by_key = PyDict::new(py);
        for (measure, agreement) in self.found.head.measures.iter().zip(&self.found.agreements) {
            by_key.set_item(&measure.key, about(py, agreement)?)?;
        }
        Ok(by_key)
    }

    /// What people said: source, numbers of images, items, ratings and points, scale, Krippendorff's α, Fleiss' κ.
    fn human<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let human = &self.found.human;
        let about = PyDict::new(py);
        about.set_item("source", &human.source)?;
        about.set_item("n_images", human.n_images)?;
        about.set_item("n_items", human.n_items)?;
        about.set_item("n_ratings", human.n_ratings)?;
        about.set_item("n_points", human.n_points)?;
        about.set_item("scale", (human.scale.low, human.scale.high))?;
        about.set_item("krippendorff_alpha", human.krippendorff_alpha)?;
        about.set_item("fleiss_kappa", human.fleiss_kappa)?;
        Ok(about)
    }

    /// Every point behind the coefficients: images, ratings, and the scores by measure, float64.
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Points<'py>> {
        let points = &self.found.points;
        let scores = PyDict::new(py);
        for (measure, values) in self.found.head.measures.iter().zip(&points.scores) {
            scores.set_item(&measure.key, numbers(py, values)?)?;
        }
        Ok((id_list(py, &points.images)?, numbers(py, &points.ratings)?, scores))
    }

    /// What a reader should know: code and sentence.
    fn notices(&self) -> Vec<(String, String)> {
        let notices = self.found.head.notices.iter();
        notices.map(|notice| (notice.code.clone(), crate::error::told(notice))).collect()
    }

    /// The signatures by metric.
    fn signatures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let by_metric = PyDict::new(py);
        for (metric, signature) in self.found.head.metrics.iter().zip(&self.found.signatures) {
            by_metric.set_item(&metric.key, signature.to_string())?;
        }
        Ok(by_metric)
    }

    /// The correlation as a page.
    fn html(&self, py: Python<'_>, title: &str, digits: usize) -> PyResult<String> {
        let page = Page { title: title.to_owned(), digits, ..Page::default() };
        rendered::page(py, |out| pages::correlation(&self.found, &page, &Keywords, out))
    }

    /// The correlation as text: `"table"`, `"json"`, `"jsonl"`, `"csv"`, `"markdown"` or `"latex"`.
    fn render(&self, format: &str, digits: usize) -> PyResult<String> {
        rendered::text(&self.found, format, digits)
    }
}

type Points<'py> = (Bound<'py, PyList>, Bound<'py, PyByteArray>, Bound<'py, PyDict>);

fn about<'py>(py: Python<'py>, agreement: &Agreement) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    for (name, Coefficient { value, interval }) in agreement.coefficients() {
        row.set_item(name, value)?;
        row.set_item(format!("{name}_interval"), interval.map(|interval| (interval.low, interval.high)))?;
    }
    row.set_item("n_pairs", agreement.n_pairs)?;
    Ok(row)
}

/// How ratings are held against metrics.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Rules {
    metrics: Vec<String>,
    settings: Vec<(String, String)>,
    unit: String,
    own_reference: String,
    surplus: String,
    ids: String,
    /// Level of confidence, resamples and seed.
    intervals: Option<(f64, usize, u64)>,
    threads: Option<usize>,
    /// The path of scores that were computed before.
    scores: Option<String>,
    /// The keys of these scores that are error rates.
    lower_is_better: Vec<String>,
}

/// A rated caption: image, caption, system, ratings.
type Row<'py> = (Bound<'py, PyAny>, Option<String>, Option<String>, Vec<f64>);

/// Tells whether metrics agree with people: ratings come as a path, or as rows.
#[pyfunction]
pub fn correlate(
    py: Python<'_>,
    path: Option<&str>,
    rows: Vec<Row<'_>>,
    references: Option<&Captions>,
    rules: Rules,
    frequencies: Option<&DocumentFrequencies>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Correlation> {
    let known = |error: capeval::corpus::UnknownName| fault(&error);
    let chosen = |error: capeval::choice::UnknownName| fault(&error);
    let read = |path: &str| py.detach(|| files::open(path)).map_err(from_file);
    let people = match path {
        Some(path) => {
            let bytes = read(path)?;
            ratings::read_ratings(&bytes, path, &RatingOptions::default()).map_err(from_corpus)?
        }
        None => {
            let unrated = rows.iter().filter(|(_, _, _, ratings)| ratings.is_empty()).count();
            let items = rows
                .into_iter()
                .map(|(image, caption, system, ratings)| {
                    let image = id(&image)?;
                    if let Some(wrong) = ratings.iter().find(|rating| !rating.is_finite()) {
                        return Err(value(&format!("image {}: {wrong} is no rating", image.quoted())));
                    }
                    Ok(Item { image, caption: caption.map(Judged::Text), system, ratings })
                })
                .filter(|item| item.as_ref().map_or(true, |item| !item.ratings.is_empty()))
                .collect::<PyResult<Vec<Item>>>()?;
            Ratings { source: "ratings".to_owned(), items, unrated, ..Ratings::default() }
        }
    };
    let scores = match &rules.scores {
        Some(path) => Some(ratings::read_scores(&read(path)?, path).map_err(from_corpus)?),
        None => None,
    };
    let selection =
        if scores.is_none() { Some(select(py, &rules.metrics, &rules.settings, frequencies)?) } else { None };
    let own = OwnReference::ALL.iter().find(|own| own.name() == rules.own_reference).copied();
    let own = own.ok_or_else(|| value("own_reference must be keep, remove or skip"))?;
    let (unit, surplus) = (rules.unit.parse().map_err(chosen)?, rules.surplus.parse().map_err(known)?);
    let ids = parse_ids(&rules.ids)?;
    let intervals = rules.intervals.map(|(level, resamples, seed)| Resampling { level, resamples, seed });
    let references = references.map(|captions| captions.rows.clone());
    let found = long(py, rules.threads, progress, move |progress| {
        let (metrics, notices) =
            selection.map_or_else(Default::default, |selection| (selection.metrics, selection.notices));
        capeval::correlate(CorrelateRequest {
            references,
            metrics,
            notices,
            scores,
            lower_is_better: rules.lower_is_better,
            unit,
            own,
            surplus,
            ids,
            intervals,
            progress,
            ..CorrelateRequest::new(people)
        })
    })?;
    Ok(Correlation { found: found.map_err(from_request)? })
}
