//! Metrics on plain lists, for the replacements of other packages.

use capeval::evaluate::{Progress, ReferenceSet, System, evaluate as run};
use capeval::text::Texts;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::error::{from_file, noticed, text, type_name, value, within};
use crate::frequencies::DocumentFrequencies;
use crate::judge::numbers;
use crate::metrics::{select_with_caches, with_settings};
use crate::run::{run_here, run_on_pool};

/// The length of texts that take milliseconds at most, in bytes.
const SHORT: usize = 1 << 14;

/// Scores candidate `k` against the references `k`. Returns for each metric its keys, corpus scores, segment scores
/// (float64, measure after measure), names of statistics, and statistics (float64, segment after segment).
///
/// As in the Python programs, empty captions are accepted and there are no image ids.
#[pyfunction]
pub fn evaluate<'py>(
    py: Python<'py>,
    references: &Bound<'py, PyList>,
    candidates: &Bound<'py, PyList>,
    metrics: Vec<String>,
    settings: Vec<(String, String)>,
    frequencies: Option<&DocumentFrequencies>,
) -> PyResult<Bound<'py, PyList>> {
    let n = candidates.len();
    if references.len() != n {
        let m = references.len();
        return Err(PyValueError::new_err(format!("there are {n} candidates, but references of {m} images")));
    }
    let (selection, caches) = select_with_caches(py, &with_settings(&metrics, &settings), frequencies, true)?;
    if let Some(notice) = selection.notices.first() {
        return Err(noticed(notice));
    }
    let (mut bytes, mut ends, mut images) = (Vec::new(), Vec::new(), Vec::with_capacity(n));
    for (k, of_image) in references.iter().enumerate() {
        for reference in of_image.try_iter()? {
            push(&reference?, k, "reference", &mut bytes, &mut ends)?;
        }
        images.push(ends.len() as u64);
    }
    let texts = texts(bytes, ends)?;
    let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(n));
    for (k, candidate) in candidates.iter().enumerate() {
        push(&candidate, k, "candidate", &mut bytes, &mut ends)?;
    }
    let system =
        System { name: String::new(), images: (0..n as u32).collect(), texts: self::texts(bytes, ends)? };
    let metrics = selection.metrics;
    let n_bytes = texts.parts().0.len() + system.texts.parts().0.len();
    let is_short = n_bytes <= SHORT && !metrics.iter().any(|metric| metric.about().is_slow);
    let work = move |progress: &dyn Progress| {
        let mut set = ReferenceSet::new(texts, images);
        let scores = run(&mut set, &[system], &metrics, progress);
        let scored = scores.into_iter().flat_map(|system| system.metrics);
        scored
            .map(|metric| {
                let segments = metric.segments();
                (metric, segments)
            })
            .collect::<Vec<_>>()
    };
    let mut scores = if is_short {
        run_here(py, || work(&()))?
    } else {
        run_on_pool(py, None, None, |progress| work(progress))?
    };
    py.detach(|| caches.save()).map_err(from_file)?;
    let list = PyList::empty(py);
    for (scored, segments) in scores.drain(..) {
        let entry = PyDict::new(py);
        let n_parts = scored.corpus.len();
        let by_part: Vec<f64> = (0..n_parts)
            .flat_map(|part| segments.iter().skip(part).step_by(n_parts.max(1)).copied())
            .collect();
        let keys: Vec<String> = scored.metric.parts().iter().map(|part| part.key.clone()).collect();
        entry.set_item("keys", keys)?;
        entry.set_item("corpus", &scored.corpus)?;
        entry.set_item("segments", numbers(py, &by_part)?)?;
        let columns: Vec<String> =
            scored.metric.about().columns.iter().map(|column| column.name.clone()).collect();
        entry.set_item("columns", columns)?;
        let rows: Vec<f64> = scored.table.rows().flatten().copied().collect();
        entry.set_item("statistics", numbers(py, &rows)?)?;
        entry.set_item("signature", scored.signature.to_string())?;
        list.append(entry)?;
    }
    Ok(list)
}

fn push(
    string: &Bound<'_, PyAny>,
    k: usize,
    what: &str,
    bytes: &mut Vec<u8>,
    ends: &mut Vec<u64>,
) -> PyResult<()> {
    let found = string.cast::<PyString>().map_err(|_| {
        PyTypeError::new_err(format!("{what} {k} must be a string, not {}", type_name(string)))
    })?;
    let caption = text(found).map_err(|error| within(string.py(), &format!("{what} {k}"), &error))?;
    bytes.extend_from_slice(caption.as_bytes());
    ends.push(bytes.len() as u64);
    Ok(())
}

fn texts(bytes: Vec<u8>, ends: Vec<u64>) -> PyResult<Texts> {
    Texts::from_parts(bytes.into(), ends.into()).ok_or_else(|| value("the texts are not UTF-8"))
}
