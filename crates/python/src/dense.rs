//! Dense video captions for Python.

use capeval::MetricOptions;
use capeval::choice::Refusal;
use capeval::stats::Resampling;
use capeval_dense::boxes::{self, BoxOptions};
use capeval_dense::read::{ReadOptions, read, read_references, read_results};
use capeval_dense::{DenseOptions, Event, EventFile, Form, SodaMetric, WordMetric, WordMetrics};
use capeval_files::{Home, MetricData};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;

use crate::error::{fault, from_corpus, from_file};
use crate::run::run_on_pool;
use crate::study::Study;

/// The arguments of a call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    references: Vec<Source>,
    systems: Vec<Source>,
    forms: Vec<String>,
    metrics: Vec<WordMetric>,
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
    /// The name for messages, and the text.
    fn text(&self) -> PyResult<(&str, String)> {
        let Some(path) = &self.path else {
            return Ok((&self.name, self.text.clone().unwrap_or_default()));
        };
        let bytes = capeval_files::open_or_stdin(path).map_err(from_file)?;
        let bytes = capeval::corpus::unpack(&bytes, path, false).map_err(from_corpus)?;
        let text = std::str::from_utf8(&bytes);
        let text = text.map_err(|_| fault(&Refusal::new(format!("{path}: not UTF-8"))))?;
        Ok((path, text.to_owned()))
    }
}

/// Each of the sources, as `read` reads its text and name.
fn read_all<T>(
    sources: &[Source],
    read: impl Fn(&str, &str) -> Result<T, Refusal>,
) -> PyResult<Vec<(String, T)>> {
    let read = |source: &Source| {
        let (name, text) = source.text()?;
        Ok((source.name.clone(), read(&text, name).map_err(|refusal| fault(&refusal))?))
    };
    sources.iter().map(read).collect()
}

/// The references, whose durations are added to the options for results.
fn references(sources: &[Source], options: &mut ReadOptions) -> PyResult<Vec<EventFile>> {
    let files = read_all(sources, |text, name| read_references(text, name, options))?;
    let files: Vec<EventFile> = files.into_iter().flat_map(|(_, files)| files).collect();
    for file in &files {
        options.durations.extend(file.durations.iter().map(|(id, seconds)| (id.clone(), *seconds)));
    }
    Ok(files)
}

/// The metrics of captions, with METEOR's installed data if a form needs them.
fn word_metrics(wanted: &[WordMetric], has_meteor: bool) -> PyResult<WordMetrics> {
    let is_needed = |metric: &WordMetric| has_meteor || *metric != WordMetric::Meteor;
    let wanted: Vec<WordMetric> = wanted.iter().copied().filter(is_needed).collect();
    let home = Home::of_user().ok();
    let needed = MetricOptions::new(wanted.contains(&WordMetric::Meteor).then_some("meteor"));
    let data = match needed.are_chosen() {
        true => MetricData::installed(home.as_ref(), &needed).map_err(from_file)?,
        false => MetricData::default(),
    };
    WordMetrics::new(&data.resources, &wanted).map_err(|refusal| fault(&refusal))
}

/// Scores events of videos by forms.
#[pyfunction]
pub fn score_dense(py: Python<'_>, request: &Bound<'_, PyDict>) -> PyResult<Study> {
    let request: Request = crate::options::options(request)?;
    let found = run_on_pool(py, None, None, move |_| -> PyResult<_> {
        let forms = request.forms.iter().map(|form| Form::several(form)).collect::<Result<Vec<_>, Refusal>>();
        let forms = forms.map_err(|refusal| fault(&refusal))?.concat();
        let metrics = word_metrics(&request.metrics, forms.iter().any(|form| form.has_meteor()))?;
        let takes_texts = forms.iter().all(|form| form.is_text());
        let mut options = ReadOptions {
            fps: request.fps,
            takes_texts,
            after_thoughts: Some(capeval::after_thoughts),
            ..ReadOptions::default()
        };
        let references = references(&request.references, &mut options)?;
        let systems = read_all(&request.systems, |text, name| read_results(text, name, &options))?;
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

/// The arguments of a call for boxes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BoxRequest {
    references: Source,
    systems: Vec<Source>,
    forms: Vec<String>,
    metrics: Vec<WordMetric>,
    segments: bool,
    intervals: Option<Resampling>,
}

/// Scores captions of boxes by forms.
#[pyfunction]
pub fn score_boxes(py: Python<'_>, request: &Bound<'_, PyDict>) -> PyResult<Study> {
    let request: BoxRequest = crate::options::options(request)?;
    let found = run_on_pool(py, None, None, move |_| -> PyResult<_> {
        let (name, text) = request.references.text()?;
        let references = boxes::references(&text, name).map_err(|refusal| fault(&refusal))?;
        let forms = boxes::forms(&request.forms, &references).map_err(|refusal| fault(&refusal))?;
        let metrics = word_metrics(&request.metrics, true)?;
        let systems = read_all(&request.systems, boxes::predictions)?;
        let options = BoxOptions { forms, segments: request.segments, intervals: request.intervals };
        let found = boxes::score((name, &references), systems, &options, &metrics);
        found.map_err(|refusal| fault(&refusal))
    });
    Ok(Study::new(found??))
}

/// The forms of boxes, as [`dense_forms`].
#[pyfunction]
pub fn box_forms() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    let all = boxes::BoxForm::ALL.iter();
    all.map(|form| (form.name(), form.summary(), form.users(), form.differences())).collect()
}

/// References of videos, for rewards of many candidates.
#[pyclass(frozen, module = "capeval._engine")]
pub struct DenseJudge {
    references: Vec<EventFile>,
    options: ReadOptions,
    metric: SodaMetric,
    metrics: WordMetrics,
}

#[pymethods]
impl DenseJudge {
    #[new]
    fn new(request: &Bound<'_, PyDict>, metric: &str) -> PyResult<Self> {
        let request: Request = crate::options::options(request)?;
        let metric = metric.parse::<SodaMetric>().map_err(|unknown| fault(&Refusal::from(unknown)))?;
        let metrics = word_metrics(WordMetric::ALL, metric == SodaMetric::Meteor)?;
        let mut options = ReadOptions { fps: request.fps, ..ReadOptions::default() };
        let references = references(&request.references, &mut options)?;
        Ok(Self { references, options, metric, metrics })
    }

    /// SODA_c and F1 of each candidate, JSON of one video each, and whether it could be read.
    fn score(
        &self,
        py: Python<'_>,
        videos: Vec<String>,
        candidates: Vec<String>,
    ) -> PyResult<(Vec<f64>, Vec<f64>, Vec<bool>)> {
        py.detach(|| {
            let read_one = |(id, text): (&String, &String)| -> Option<Vec<Event>> {
                let mut file = read(text, id, &self.options).ok()?;
                file.videos.shift_remove(id)
            };
            let read: Vec<Option<Vec<Event>>> = videos.iter().zip(&candidates).map(read_one).collect();
            let batch: Vec<(&str, &[Event])> = videos
                .iter()
                .zip(&read)
                .map(|(id, events)| (id.as_str(), events.as_deref().unwrap_or_default()))
                .collect();
            let rewards = capeval_dense::reward(&self.references, &batch, self.metric, &self.metrics);
            let rewards = rewards.map_err(|refusal| fault(&refusal))?;
            Ok((
                rewards.iter().map(|reward| reward.soda_c).collect(),
                rewards.iter().map(|reward| reward.f1).collect(),
                read.iter().map(Option::is_some).collect(),
            ))
        })
    }
}
