//! The arguments that calls share which compute scores.

use capeval::metric::Resources;
use capeval::report::Study as AnyStudy;
use capeval::{Error, MetricOptions, PeopleOptions, PeopleRequest};
use capeval_files as files;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::de::DeserializeOwned;

use crate::captions::Captions;
use crate::data::{CallData, with_metric_data};
use crate::error::{from_corpus, from_file, from_request};
use crate::external_scores::{Scores, given};
use crate::run::{Watch, run_on_pool};
use crate::score::groups;
use crate::study::Study;

/// The arguments of a call beside captions and options.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Call<'py> {
    /// The data of metrics.
    data: Bound<'py, PyDict>,
    threads: Option<usize>,
    /// Called with the stage, the captions done and the total.
    progress: Option<Py<PyAny>>,
}

impl Call<'_> {
    /// Does `work` with the data of the call and the installed ones that `metrics`, if any, need.
    pub fn run<T: Send>(
        self,
        py: Python<'_>,
        metrics: Option<MetricOptions>,
        work: impl FnOnce(Resources, &Watch) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        let data = CallData::new(&self.data)?;
        run_on_pool(py, self.threads, self.progress, move |progress| {
            with_metric_data(metrics.as_ref(), &data, progress, |resources| work(resources, progress))
        })?
    }

    /// Compares metrics with what people said of captions.
    pub fn compare_with_people<People: Send, Options, Found: AnyStudy>(
        self,
        py: Python<'_>,
        people: People,
        (references, scores, options): GivenWithPeople<'_, '_>,
        task: fn(PeopleRequest<'_, People, Options>) -> Result<Found, Error>,
    ) -> PyResult<Study>
    where
        Options: PeopleOptions + Default + DeserializeOwned + Send,
    {
        let request = PeopleRequest {
            references: references.map(|captions| captions.rows.clone()),
            scores: given(scores),
            groups: groups(options)?,
            options: crate::options::options::<Options>(options)?,
            ..PeopleRequest::new(people)
        };
        let metrics = request.computes().then(|| request.options.metrics().clone());
        let found = self.run(py, metrics, |resources, progress| {
            task(PeopleRequest { resources, progress, ..request }).map_err(from_request)
        });
        Ok(Study::new(found?))
    }
}

/// What people said of captions, read from a file by its path, or from bytes of JSON, which `name` names in errors.
pub fn read_people<People>(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    name: &str,
    read: impl FnOnce(&[u8], &str) -> Result<People, capeval::corpus::Error>,
) -> PyResult<People> {
    let found = match source.cast::<PyBytes>() {
        Ok(json) => read(json.as_bytes(), name),
        Err(_) => {
            let path: String = source.extract()?;
            read(&py.detach(|| files::open(&path)).map_err(from_file)?, &path)
        }
    };
    found.map_err(from_corpus)
}

/// References and scores of captions, and options, as Python gives them.
pub type GivenWithPeople<'c, 'py> = (Option<&'c Captions>, Vec<Py<Scores>>, &'c Bound<'py, PyDict>);
