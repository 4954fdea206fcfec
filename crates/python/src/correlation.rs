//! Correlations with human ratings for Python.

use capeval::corpus::ratings::{self, Item, RatedCaption, RatingOptions, Ratings};
use capeval_files as files;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::call::Call;
use crate::captions::{Captions, id};
use crate::error::{from_corpus, from_file, value, within};
use crate::external_scores::Scores;
use crate::study::Study;

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
) -> PyResult<Study> {
    let people = if ratings.is_instance_of::<PyString>() {
        let path: String = ratings.extract()?;
        let bytes = py.detach(|| files::open(&path)).map_err(from_file)?;
        ratings::read_ratings(&bytes, &path, &RatingOptions::default()).map_err(from_corpus)?
    } else {
        rated(ratings.extract().map_err(|error| within(py, "ratings", &error))?)?
    };
    call.compare_with_people(py, people, (references, scores, options), capeval::correlate)
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
