//! The main job: systems against references.

use std::sync::Arc;

use capeval::arrays::SharedBytes;
use capeval::corpus::{Policy, SegmentId};
use capeval::evaluate::{Prepared as Archive, Progress};
use capeval::stats::Resampling;
use capeval::stats::correction::Correction;
use capeval::{CompareRequest, Pairs, References, ScoreRequest};
use capeval_files::{self as files, Bytes};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::captions::{Captions, id, id_list, type_name};
use crate::comparison::Comparison;
use crate::error::{fault, from_file, from_request, value};
use crate::frequencies::{DocumentFrequencies, parse_ids};
use crate::metrics::select;
use crate::report::Report;
use crate::run::long;

/// References that are read and counted once, as a file holds them.
#[pyclass(frozen, module = "capeval._engine")]
pub struct Prepared {
    bytes: SharedBytes,
    /// What lies in the bytes, opened once: opening goes through all of them.
    archive: Archive,
    source: String,
}

impl Prepared {
    /// Opens a file, given as its bytes; called on a pool's thread, since checksums are taken in parallel.
    fn open(bytes: Bytes, source: String) -> Result<Self, files::Error> {
        let bytes: SharedBytes = Arc::new(bytes);
        let archive = files::open_prepared(&source, Arc::clone(&bytes))?;
        Ok(Self { bytes, archive, source })
    }

    /// The references, ready for use.
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// What they are called.
    pub fn source(&self) -> &str {
        &self.source
    }
}

#[pymethods]
impl Prepared {
    /// Reads and counts references, as the metrics need them.
    #[staticmethod]
    fn build(
        py: Python<'_>,
        references: &Captions,
        metrics: Vec<String>,
        settings: Vec<(String, String)>,
        ids: &str,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let metrics = select(py, &metrics, &settings, None)?.metrics;
        let ids = parse_ids(ids)?;
        let rows = references.rows.clone();
        let source = rows.source().to_owned();
        let from = files::source(&source);
        let built = long(py, threads, None, move |progress| {
            let prepared =
                capeval::prepare_watched(rows, ids, &metrics, from.into_iter().collect(), progress)?;
            let mut bytes = Vec::new();
            prepared.write(&mut bytes).map_err(|error| capeval::Error::request(error.to_string()))?;
            drop(prepared);
            progress.advance(0);
            Ok(Self::open(Bytes::copy(&bytes), source))
        })?;
        built.map_err(from_request)?.map_err(from_file)
    }

    /// Opens a file of prepared references. It is read, not mapped, since others may rewrite it while a notebook
    /// holds it.
    #[staticmethod]
    fn load(py: Python<'_>, path: &str) -> PyResult<Self> {
        let load = move |_: &dyn Progress| {
            let prepared = Self::open(files::read(path)?, path.to_owned())?;
            files::check_fresh(path, &prepared.archive)?;
            Ok(prepared)
        };
        long(py, None, None, load)?.map_err(from_file)
    }

    /// Opens the bytes of such a file; `source` is what the references are called.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8], source: String) -> PyResult<Self> {
        let bytes = Bytes::copy(data);
        long(py, None, None, move |_| Self::open(bytes, source))?.map_err(from_file)
    }

    /// Writes the file.
    fn save(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        let bytes: &[u8] = (*self.bytes).as_ref();
        py.detach(|| files::write_whole(path, |out| out.write_all(bytes))).map_err(from_file)
    }

    /// What the references are called.
    #[getter]
    fn name(&self) -> &str {
        &self.source
    }

    /// The bytes of the file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, (*self.bytes).as_ref())
    }

    /// The images' ids, in order.
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyList>> {
        id_list(py, &self.archive.ids)
    }
}

/// How systems are to be scored.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    metrics: Vec<String>,
    settings: Vec<(String, String)>,
    missing: String,
    surplus: String,
    duplicate: String,
    empty: String,
    ids: String,
    segments: bool,
    gallery: bool,
    threads: Option<usize>,
    /// Level of confidence, resamples and seed.
    intervals: Option<(f64, usize, u64)>,
}

/// Everything that a request is made of, off the interpreter.
struct Ready {
    references: References,
    systems: Vec<(String, capeval::corpus::Captions)>,
    selection: capeval::Selection,
    policy: Policy,
    ids: capeval::corpus::Ids,
    images: Option<Vec<SegmentId>>,
    segments: bool,
    gallery: bool,
    intervals: Option<Resampling>,
}

impl Ready {
    fn new(
        py: Python<'_>,
        references: &Bound<'_, PyAny>,
        systems: &[(String, Py<Captions>)],
        options: &Options,
        frequencies: Option<&DocumentFrequencies>,
        images: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let known = |error: capeval::corpus::UnknownName| fault(&error);
        let policy = Policy {
            missing: options.missing.parse().map_err(known)?,
            surplus: options.surplus.parse().map_err(known)?,
            duplicate: options.duplicate.parse().map_err(known)?,
            empty: options.empty.parse().map_err(known)?,
        };
        let images = images
            .map(|images| images.try_iter()?.map(|image| id(&image?)).collect::<PyResult<Vec<SegmentId>>>())
            .transpose()?;
        let selection = select(py, &options.metrics, &options.settings, frequencies)?;
        let systems =
            systems.iter().map(|(name, captions)| (name.clone(), captions.get().rows.clone())).collect();
        let references = if let Ok(captions) = references.cast::<Captions>() {
            References::Captions(captions.get().rows.clone())
        } else if let Ok(prepared) = references.cast::<Prepared>() {
            let prepared = prepared.get();
            References::Prepared {
                prepared: Box::new(prepared.archive.clone()),
                source: prepared.source.clone(),
            }
        } else {
            let found = type_name(references);
            return Err(PyTypeError::new_err(format!("references must be captions, not {found}")));
        };
        let intervals =
            options.intervals.map(|(level, resamples, seed)| Resampling { level, resamples, seed });
        let ids = parse_ids(&options.ids)?;
        let Options { segments, gallery, .. } = *options;
        Ok(Self { references, systems, selection, policy, ids, images, segments, gallery, intervals })
    }

    fn request(self, progress: &dyn Progress) -> ScoreRequest<'_> {
        let Self { references, systems, selection, policy, ids, images, segments, gallery, intervals } = self;
        ScoreRequest {
            metrics: selection.metrics,
            notices: selection.notices,
            policy,
            ids,
            images,
            segments,
            gallery,
            intervals,
            progress,
            ..ScoreRequest::new(references, systems)
        }
    }
}

/// Holds the captions of systems against references.
#[pyfunction]
pub fn score(
    py: Python<'_>,
    references: &Bound<'_, PyAny>,
    systems: Vec<(String, Py<Captions>)>,
    options: Options,
    frequencies: Option<&DocumentFrequencies>,
    images: Option<&Bound<'_, PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Report> {
    let ready = Ready::new(py, references, &systems, &options, frequencies, images)?;
    let found = long(py, options.threads, progress, move |progress| capeval::score(ready.request(progress)))?;
    Ok(Report { found: found.map_err(from_request)? })
}

/// How systems are to be compared.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Tests {
    level: f64,
    resamples: usize,
    seed: u64,
    correction: String,
    all_pairs: bool,
}

/// Tells whether systems differ.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one call of Python, by position, from one place")]
pub fn compare(
    py: Python<'_>,
    references: &Bound<'_, PyAny>,
    systems: Vec<(String, Py<Captions>)>,
    options: Options,
    tests: Tests,
    frequencies: Option<&DocumentFrequencies>,
    images: Option<&Bound<'_, PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Comparison> {
    let ready = Ready::new(py, references, &systems, &options, frequencies, images)?;
    let Tests { level, resamples, seed, correction, all_pairs } = tests;
    let correction =
        Correction::ALL.iter().find(|known| known.name() == correction).copied().ok_or_else(|| {
            let known: Vec<&str> = Correction::ALL.iter().map(|known| known.name()).collect();
            value(&format!("no correction is called '{correction}'; choose from {}", known.join(", ")))
        })?;
    let found = long(py, options.threads, progress, move |progress| {
        capeval::compare(CompareRequest {
            resampling: Resampling { level, resamples, seed },
            correction,
            pairs: if all_pairs { Pairs::All } else { Pairs::WithFirst },
            ..CompareRequest::new(ready.request(progress))
        })
    })?;
    Ok(Comparison { found: found.map_err(from_request)? })
}
