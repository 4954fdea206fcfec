//! Scoring and comparing systems, and prepared references.

use std::sync::Arc;

use capeval::arrays::SharedBytes;
use capeval::corpus::UnknownName;
use capeval::evaluate::{PreparedReferences as Archive, Progress as _};
use capeval::{
    CompareOptions, CompareRequest, DiversityRequest, GroupBy, PrepareOptions, PrepareRequest,
    ReferenceSource, Request, ScoreOptions, ScoreRequest,
};
use capeval_files::{self as files, Bytes, GroupSources};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::call::Call;
use crate::captions::{Captions, id_list};
use crate::data::{CallData, with_data};
use crate::error::{Keywords, fault, from_file, from_request, type_name, warn};
use crate::external_scores::{Scores, given};
use crate::metrics::engine_names;
use crate::run::{Watch, run_on_pool};
use crate::study::Study;

/// Prepared references, in the format of their file.
#[pyclass(frozen, module = "capeval._engine")]
pub struct PreparedFile {
    bytes: SharedBytes,
    /// The content of `bytes`, opened once, so that what a call reads and checks serves later ones.
    archive: Archive,
    source: String,
}

impl PreparedFile {
    /// Opens the bytes of a file. Must be called on a thread of a pool, since checksums are computed in parallel.
    fn open(bytes: Bytes, source: String) -> Result<Self, files::Error> {
        let bytes: SharedBytes = Arc::new(bytes);
        let archive = files::open_prepared(&source, Arc::clone(&bytes))?;
        Ok(Self { bytes, archive, source })
    }

    /// The references, ready for use.
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// The name of the references.
    pub fn source(&self) -> &str {
        &self.source
    }
}

#[pymethods]
impl PreparedFile {
    /// Reads and counts references for the given metrics.
    #[staticmethod]
    fn build(
        py: Python<'_>,
        references: &Captions,
        options: &Bound<'_, PyDict>,
        data: &Bound<'_, PyDict>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let mut options: PrepareOptions = crate::options::options(options)?;
        options.metrics.names = prepared_for(options.metrics.names)?;
        let (metrics, data) = (options.metrics.clone(), CallData::new(data)?);
        let references = references.rows.clone();
        let source = references.source().to_owned();
        let sources = files::source(&source).into_iter().collect();
        run_on_pool(py, threads, None, move |progress| {
            let bytes = with_data(Some(&metrics), &data, progress, |resources| {
                let request = PrepareRequest { references, sources, options, resources, progress };
                let mut bytes = Vec::new();
                let written = capeval::prepare(request)?.write(&mut bytes);
                written.map_err(|error| capeval::Error::request(error.to_string()))?;
                Ok(bytes)
            })?;
            progress.advance(0);
            Self::open(Bytes::copy(&bytes), source).map_err(from_file)
        })?
    }

    /// Opens a file of prepared references. It is read, not mapped, since another process may rewrite it while a
    /// notebook uses it.
    #[staticmethod]
    fn load(py: Python<'_>, path: &str) -> PyResult<Self> {
        let load = move |_: &Watch| {
            let prepared = Self::open(files::read(path)?, path.to_owned())?;
            files::check_fresh(path, &prepared.archive)?;
            Ok(prepared)
        };
        run_on_pool(py, None, None, load)?.map_err(from_file)
    }

    /// Opens the bytes of a file of prepared references; `source` is their name.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8], source: String) -> PyResult<Self> {
        let bytes = Bytes::copy(data);
        run_on_pool(py, None, None, move |_| Self::open(bytes, source))?.map_err(from_file)
    }

    /// Writes the file with another note.
    fn save(&self, py: Python<'_>, path: &str, note: Vec<u8>) -> PyResult<()> {
        let mut noted = self.archive.clone();
        noted.note = note;
        py.detach(|| files::write_whole(path, |out| noted.write(out))).map_err(from_file)
    }

    /// The note for later runs.
    fn note(&self) -> &[u8] {
        &self.archive.note
    }

    /// The name of the references.
    #[getter]
    fn name(&self) -> &str {
        &self.source
    }

    /// The bytes of the file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, (*self.bytes).as_ref())
    }

    /// The ids of the images, in order.
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyList>> {
        id_list(py, &self.archive.ids)
    }
}

/// The metrics for which there is something to prepare. Models, judges and CHAIR read references as they are, and what
/// they need is given to the calls that score.
fn prepared_for(names: Vec<String>) -> PyResult<Vec<String>> {
    let is_given = !names.is_empty();
    let kept = engine_names(names)?;
    // Without any name, the default suite would be prepared: BLEU takes the least time.
    Ok(if kept.is_empty() && is_given { vec!["bleu".to_owned()] } else { kept })
}

/// The parts of a request, which do not need the GIL; without references, it is about given scores alone.
fn request<O: Default>(
    references: Option<&Bound<'_, PyAny>>,
    systems: Vec<(String, Py<Captions>)>,
    scores: Vec<Py<Scores>>,
    options: O,
) -> PyResult<Request<'static, O>> {
    let scores = given(scores);
    if references.is_none() && systems.is_empty() && !scores.is_empty() {
        return Ok(Request { options, ..Request::of_scores(scores) });
    }
    let systems = systems.into_iter().map(|(name, captions)| (name, captions.get().rows.clone()));
    let Some(references) = references else {
        return Ok(Request { options, scores, ..Request::without_references(systems) });
    };
    Ok(Request { options, scores, ..Request::new(ground(references)?, systems) })
}

/// Captions or prepared references as the library takes them.
pub fn ground(references: &Bound<'_, PyAny>) -> PyResult<ReferenceSource> {
    if let Ok(captions) = references.cast::<Captions>() {
        return Ok(ReferenceSource::Captions(captions.get().rows.clone()));
    }
    if let Ok(prepared) = references.cast::<PreparedFile>() {
        let prepared = prepared.get();
        let archive = prepared.archive.clone();
        return Ok(ReferenceSource::Prepared {
            prepared: Box::new(archive),
            source: prepared.source.clone(),
        });
    }
    let found = type_name(references);
    Err(PyTypeError::new_err(format!("references must be captions, not {found}")))
}

/// Takes what groups images out of the options: texts as users write them, JSON under names, files of captions,
/// and columns of their ids.
pub fn groups(options: &Bound<'_, PyDict>) -> PyResult<Vec<GroupBy>> {
    type GivenTexts = (Vec<String>, Vec<(String, String)>, Vec<String>, Vec<String>);
    let Some(given) = options.get_item("groups")? else { return Ok(Vec::new()) };
    options.del_item("groups")?;
    let (texts, data, captions, id_columns): GivenTexts = given.extract()?;
    let mut sources = GroupSources::new(captions.iter().map(String::as_str))
        .with_ids(id_columns.iter().map(String::as_str));
    for (name, json) in &data {
        sources.give(name, json).map_err(from_file)?;
    }
    texts.iter().map(|text| sources.find(text).map_err(from_file)).collect()
}

/// Scores the captions of systems against references.
#[pyfunction]
pub fn score(
    py: Python<'_>,
    references: Option<&Bound<'_, PyAny>>,
    systems: Vec<(String, Py<Captions>)>,
    scores: Vec<Py<Scores>>,
    options: &Bound<'_, PyDict>,
    call: Call<'_>,
) -> PyResult<Study> {
    let groups = groups(options)?;
    let options: ScoreOptions = crate::options::options(options)?;
    let is_of_captions = references.is_some() || !systems.is_empty();
    let metrics = is_of_captions.then(|| options.metrics.clone());
    let request = Request { groups, ..request(references, systems, scores, options)? };
    let found = call.run(py, metrics, |resources, progress| {
        capeval::score(ScoreRequest { resources, progress, ..request }).map_err(from_request)
    })?;
    warn(py, &found.head.notices)?;
    Ok(Study::new(found))
}

/// Tests whether systems differ.
#[pyfunction]
pub fn compare(
    py: Python<'_>,
    references: Option<&Bound<'_, PyAny>>,
    systems: Vec<(String, Py<Captions>)>,
    scores: Vec<Py<Scores>>,
    options: &Bound<'_, PyDict>,
    call: Call<'_>,
) -> PyResult<Study> {
    let groups = groups(options)?;
    let options: CompareOptions = crate::options::options(options)?;
    let is_of_captions = references.is_some() || !systems.is_empty();
    let metrics = is_of_captions.then(|| options.score.metrics.clone());
    let request = Request { groups, ..request(references, systems, scores, options)? };
    let found = call.run(py, metrics, |resources, progress| {
        capeval::compare(CompareRequest { resources, progress, ..request }).map_err(from_request)
    })?;
    warn(py, &found.report.head.notices)?;
    Ok(Study::new(found))
}

/// How captions are read, as JSON and as text.
#[pyfunction]
pub fn inspect(
    py: Python<'_>,
    references: Option<&Bound<'_, PyAny>>,
    systems: Vec<(String, Py<Captions>)>,
    ids: &str,
) -> PyResult<(String, String)> {
    let ids = ids.parse().map_err(|error: UnknownName| fault(&error))?;
    let systems = systems.into_iter().map(|(name, captions)| (name, captions.get().rows.clone())).collect();
    let references = references.map(ground).transpose()?;
    let found = py.detach(|| capeval::inspect(references, systems, ids)).map_err(from_request)?;
    let (mut json, mut text) = (Vec::new(), Vec::new());
    capeval::report::line(&found, &mut json)?;
    found.write_text(&Keywords, &mut text)?;
    let string = |bytes| String::from_utf8(bytes).unwrap_or_default();
    Ok((string(json), string(text)))
}

/// Measures how diverse the captions of systems are.
#[pyfunction]
pub fn diversity(
    py: Python<'_>,
    systems: Vec<(String, Py<Captions>)>,
    references: Option<&Bound<'_, PyAny>>,
    training: Option<&Captions>,
    options: &Bound<'_, PyDict>,
    threads: Option<usize>,
) -> PyResult<Study> {
    let systems = systems.into_iter().map(|(name, captions)| (name, captions.get().rows.clone()));
    let request = DiversityRequest {
        groups: groups(options)?,
        references: references.map(ground).transpose()?,
        training: training.map(|captions| captions.rows.clone()),
        options: crate::options::options(options)?,
        ..DiversityRequest::new(systems)
    };
    let found = run_on_pool(py, threads, None, move |_| capeval::diversity(request))?;
    Ok(Study::new(found.map_err(from_request)?))
}
