//! Correlations with human ratings for Python.

use capeval::corpus::ratings::{self, Item, RatedCaption, RatingOptions, Ratings};
use capeval::report::{Agreement, Coefficient, Correlation as Found};
use capeval::{CorrelateOptions, CorrelateRequest};
use capeval_files as files;
use capeval_pages::{self as pages, Page};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyList, PyString};

use crate::call::Call;
use crate::captions::{Captions, id, id_list};
use crate::error::{Keywords, from_corpus, from_file, from_request, value, within};
use crate::given::{Scores, given};
use crate::judge::numbers;
use crate::rendered;

/// The agreement of each measure with human ratings.
#[pyclass(frozen, module = "capeval._engine")]
pub struct Correlation {
    found: Found,
}

#[pymethods]
impl Correlation {
    /// By measure: coefficients and intervals by name, and the number of pairs that people rated differently.
    fn agreements<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let by_key = PyDict::new(py);
        for (measure, agreement) in self.found.head.measures.iter().zip(&self.found.agreements) {
            by_key.set_item(&measure.key, about(py, agreement)?)?;
        }
        Ok(by_key)
    }

    /// The ratings: source, numbers of images, items, ratings and points, scale, Krippendorff's α, Fleiss' κ.
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

    /// The points that coefficients are computed from: images, ratings, and scores by measure, float64.
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Points<'py>> {
        let points = &self.found.points;
        let scores = PyDict::new(py);
        for (measure, values) in self.found.head.measures.iter().zip(&points.scores) {
            scores.set_item(&measure.key, numbers(py, values)?)?;
        }
        Ok((id_list(py, &points.images)?, numbers(py, &points.ratings)?, scores))
    }

    /// Notices: code and message.
    fn notices(&self) -> Vec<(String, String)> {
        let notices = self.found.head.notices.iter();
        notices.map(|notice| (notice.code.to_string(), crate::error::told(notice))).collect()
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
    fn html(&self, py: Python<'_>, title: Option<String>, digits: usize) -> PyResult<String> {
        let page = Page { title, digits, ..Page::default() };
        rendered::page(py, 0, None, None, |_, out| pages::correlation(&self.found, &page, &Keywords, out))
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

/// A rated caption: image, caption, system, ratings.
type Row<'py> = (Bound<'py, PyAny>, Option<String>, Option<String>, Vec<f64>);

/// Correlates metrics and given scores with human ratings, given as a path or as rows.
#[pyfunction]
pub fn correlate(
    py: Python<'_>,
    ratings: &Bound<'_, PyAny>,
    references: Option<&Captions>,
    scores: Vec<Py<Scores>>,
    options: &Bound<'_, PyDict>,
    call: Call<'_>,
) -> PyResult<Correlation> {
    let options: CorrelateOptions = crate::options::options(options)?;
    let people = if ratings.is_instance_of::<PyString>() {
        let path: String = ratings.extract()?;
        let bytes = py.detach(|| files::open(&path)).map_err(from_file)?;
        ratings::read_ratings(&bytes, &path, &RatingOptions::default()).map_err(from_corpus)?
    } else {
        rated(ratings.extract().map_err(|error| within(py, "ratings", &error))?)?
    };
    let references = references.map(|captions| captions.rows.clone());
    let scores = given(scores);
    let computes = scores.is_empty() || references.is_some() || options.metrics.are_chosen();
    let metrics = computes.then(|| options.metrics.clone());
    let found = call.run(py, metrics, |resources, progress| {
        let request = CorrelateRequest::new(people);
        let request = CorrelateRequest { references, scores, options, resources, progress, ..request };
        capeval::correlate(request).map_err(from_request)
    });
    Ok(Correlation { found: found? })
}

/// Ratings from rows.
fn rated(rows: Vec<Row<'_>>) -> PyResult<Ratings> {
    let unrated = rows.iter().filter(|(_, _, _, ratings)| ratings.is_empty()).count();
    let items = rows
        .into_iter()
        .map(|(image, caption, system, ratings)| {
            let image = id(&image)?;
            if let Some(wrong) = ratings.iter().find(|rating| !rating.is_finite()) {
                return Err(value(&format!("image {}: {wrong} is not a rating", image.quoted())));
            }
            Ok(Item { image, caption: caption.map(RatedCaption::Text), system, ratings })
        })
        .filter(|item| item.as_ref().map_or(true, |item| !item.ratings.is_empty()))
        .collect::<PyResult<Vec<Item>>>()?;
    Ok(Ratings { source: "ratings".to_owned(), items, unrated, ..Ratings::default() })
}
