//! How often metrics prefer what people prefer, as Python sees it.

use capeval::corpus::ratings;
use capeval::report::{Preference as Found, Protocol};
use capeval::stats::Resampling;
use capeval::{OwnReference, PreferenceRequest};
use capeval_files as files;
use pyo3::prelude::*;

use crate::captions::Captions;
use crate::error::{fault, from_corpus, from_file, from_request};
use crate::frequencies::{DocumentFrequencies, parse_ids};
use crate::metrics::select;
use crate::rendered;
use crate::run::long;

/// How often each measure prefers the caption of a pair that people prefer.
#[pyclass(frozen, module = "capeval._engine")]
pub struct Preference {
    found: Found,
}

#[pymethods]
impl Preference {
    /// What a reader should know: code and sentence.
    fn notices(&self) -> Vec<(String, String)> {
        let notices = self.found.head.notices.iter();
        notices.map(|notice| (notice.code.clone(), crate::error::told(notice))).collect()
    }

    /// The preferences as text: `"table"`, `"json"`, `"jsonl"`, `"csv"`, `"markdown"`, `"latex"`, or the `"rows"`
    /// behind them as JSON Lines.
    fn render(&self, format: &str, digits: usize) -> PyResult<String> {
        rendered::text(&self.found, format, digits)
    }
}

/// How preferences are held against metrics.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Rules {
    metrics: Vec<String>,
    settings: Vec<(String, String)>,
    references_per_pair: Option<usize>,
    draws: usize,
    draw_seed: u64,
    human_ties: String,
    metric_ties: String,
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

/// Tells how often metrics prefer what people prefer: pairs come as a path, or as JSON.
#[pyfunction]
pub fn prefer(
    py: Python<'_>,
    path: Option<&str>,
    rows: &str,
    references: Option<&Captions>,
    rules: Rules,
    frequencies: Option<&DocumentFrequencies>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Preference> {
    let known = |error: capeval::corpus::UnknownName| fault(&error);
    let chosen = |error: capeval::choice::UnknownName| fault(&error);
    let read = |path: &str| py.detach(|| files::open(path)).map_err(from_file);
    let choices = match path {
        Some(path) => ratings::read_pairs(&read(path)?, path),
        None => ratings::read_pairs(rows.as_bytes(), "pairs"),
    };
    let choices = choices.map_err(from_corpus)?;
    let scores = match &rules.scores {
        Some(path) => Some(ratings::read_scores(&read(path)?, path).map_err(from_corpus)?),
        None => None,
    };
    let selection =
        if scores.is_none() { Some(select(py, &rules.metrics, &rules.settings, frequencies)?) } else { None };
    let own: OwnReference = rules.own_reference.parse().map_err(known)?;
    let protocol = Protocol {
        references: rules.references_per_pair,
        draws: rules.draws,
        seed: rules.draw_seed,
        human_ties: rules.human_ties.parse().map_err(chosen)?,
        metric_ties: rules.metric_ties.parse().map_err(chosen)?,
    };
    let surplus = rules.surplus.parse().map_err(known)?;
    let ids = parse_ids(&rules.ids)?;
    let intervals = rules.intervals.map(|(level, resamples, seed)| Resampling { level, resamples, seed });
    let references = references.map(|captions| captions.rows.clone());
    let found = long(py, rules.threads, progress, move |progress| {
        let (metrics, notices) =
            selection.map_or_else(Default::default, |selection| (selection.metrics, selection.notices));
        capeval::prefer(PreferenceRequest {
            references,
            metrics,
            scores,
            lower_is_better: rules.lower_is_better,
            protocol,
            own,
            surplus,
            ids,
            intervals,
            notices,
            progress,
            ..PreferenceRequest::new(choices)
        })
    })?;
    Ok(Preference { found: found.map_err(from_request)? })
}
