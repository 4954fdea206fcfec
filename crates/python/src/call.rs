//! The arguments that calls share which compute scores.

use capeval::MetricOptions;
use capeval::metric::Resources;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data::{CallData, with_metric_data};
use crate::run::{Watch, long};

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
        long(py, self.threads, self.progress, move |progress| {
            with_metric_data(metrics.as_ref(), &data, progress, |resources| work(resources, progress))
        })?
    }
}
