//! Dense video captions for Python.

use capeval::MetricOptions;
use capeval::choice::Refusal;
use capeval::stats::Resampling;
use capeval_dense::read::{ReadOptions, read};
use capeval_dense::{DenseOptions, EventFile, WordMetrics};
use capeval_files::{Home, MetricData};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;

use crate::error::{fault, from_corpus, from_file};
use crate::run::long;
use crate::study::Study;

/// The arguments of a call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    references: Vec<Source>,
    systems: Vec<Source>,
    forms: Vec<String>,
    fps: Option<f64>,
    segments: bool,
    human: bool,
    intervals: Option<Resampling>,
}

/// Events as JSON, or in the file of that name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    name: String,
    path: Option<String>,
    text: Option<String>,
}

impl Source {
    fn read(&self, options: &ReadOptions) -> PyResult<EventFile> {
        let refused = |refusal: Refusal| fault(&refusal);
        let Some(path) = &self.path else {
            return read(self.text.as_deref().unwrap_or_default(), &self.name, options).map_err(refused);
        };
        let bytes = capeval_files::open_or_stdin(path).map_err(from_file)?;
        let bytes = capeval::corpus::unpack(&bytes, path, false).map_err(from_corpus)?;
        let text = std::str::from_utf8(&bytes);
        let text = text.map_err(|_| fault(&Refusal::new(format!("{path}: not UTF-8"))))?;
        read(text, path, options).map_err(refused)
    }
}

/// Scores events of videos by forms.
#[pyfunction]
pub fn score_dense(py: Python<'_>, request: &Bound<'_, PyDict>) -> PyResult<Study> {
    let request: Request = crate::options::options(request)?;
    let found = long(py, None, None, move |_| -> PyResult<_> {
        let home = Home::of_user().ok();
        let needed = MetricOptions::new(["meteor"]);
        let data = MetricData::installed(home.as_ref(), &needed).map_err(from_file)?;
        let metrics = WordMetrics::new(&data.resources).map_err(|refusal| fault(&refusal))?;
        let mut options = ReadOptions { fps: request.fps, ..ReadOptions::default() };
        let references: Vec<EventFile> =
            request.references.iter().map(|source| source.read(&options)).collect::<PyResult<_>>()?;
        for file in &references {
            options.durations.extend(file.durations.iter().map(|(id, seconds)| (id.clone(), *seconds)));
        }
        let systems = request.systems.iter().map(|one| Ok((one.name.clone(), one.read(&options)?)));
        let systems = systems.collect::<PyResult<Vec<_>>>()?;
        let forms = request.forms.iter().map(|form| form.parse()).collect::<Result<Vec<_>, Refusal>>();
        let forms = forms.map_err(|refusal| fault(&refusal))?;
        let options = DenseOptions {
            forms,
            segments: request.segments,
            timelines: request.segments,
            human: request.human,
            intervals: request.intervals,
        };
        capeval_dense::score(&references, systems, &options, &metrics).map_err(|refusal| fault(&refusal))
    });
    Ok(Study::new(found??))
}

/// The forms: name, summary, users, and what differs from the form that most papers use.
#[pyfunction]
pub fn dense_forms() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    let all = capeval_dense::Program::ALL.iter();
    all.map(|form| (form.name(), form.summary(), form.users(), form.differences())).collect()
}
