//! Metrics that the engine does not compute: functions, and programs with what they write for people.

use std::sync::Arc;

use capeval::metric::Resources;
use capeval::{MetricOptions, Outside, OutsideMetrics, Sight};
use capeval_outside::embeddings::{Named, Role, Vectors};
use capeval_outside::programs::Messages;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::captions::id;
use crate::error::{fault, from_file};
use crate::function::{Function, FunctionMetric};
use crate::judging::GivenJudging;
use crate::pictures::GivenPictures;
use crate::run::Caller;

/// The functions, programs and metrics that compare vectors of a list of metrics.
#[derive(Default)]
pub struct Outsiders {
    /// Programs, and metrics that compare vectors.
    others: Vec<Arc<dyn Outside>>,
    functions: Functions,
    pictures: Option<GivenPictures>,
}

/// The sources that a call passes to such metrics.
#[derive(Clone, Default)]
pub struct GivenOutside {
    pub functions: Functions,
    /// Models, and files of vectors.
    pub named: Named,
    /// Vectors that Python holds.
    pub held: Vec<(Role, Arc<Vectors>)>,
    /// The data for CHAIR.
    pub chair: capeval_outside::chair::Named,
    /// Whom judges ask.
    pub judging: GivenJudging,
    pub pictures: Option<GivenPictures>,
}

/// Functions that are metrics.
pub type Functions = Vec<Arc<Py<Function>>>;

/// Vectors that Python holds: what they are of, ids, length, and numbers.
type HeldVectors<'py> = (String, Vec<Bound<'py, PyAny>>, usize, Bound<'py, PyBytes>);

/// Reads vectors that Python holds.
pub fn held(given: &Bound<'_, PyAny>) -> PyResult<Vec<(Role, Arc<Vectors>)>> {
    let read = |(role, ids, dims, numbers): HeldVectors<'_>| {
        let ids = ids.iter().map(id).collect::<PyResult<_>>()?;
        let vectors = Vectors::from_rows(&format!("vectors[{role:?}]"), ids, dims, floats(&numbers))
            .map_err(|e| fault(&e))?;
        Ok((Role::parse(&role).map_err(|error| fault(&error))?, Arc::new(vectors)))
    };
    given.extract::<Vec<HeldVectors<'_>>>()?.into_iter().map(read).collect()
}

/// Writes vectors of `dims` numbers of 32 bits, with their ids, to a file.
#[pyfunction]
pub fn write_vectors(
    path: &str,
    ids: Vec<Bound<'_, PyAny>>,
    dims: usize,
    numbers: &Bound<'_, PyBytes>,
) -> PyResult<()> {
    let ids = ids.iter().map(id).collect::<PyResult<Vec<_>>>()?;
    capeval_outside::embeddings::write(path, &ids, dims, &floats(numbers)).map_err(from_file)
}

/// The numbers of 32 bits in bytes.
fn floats(bytes: &Bound<'_, PyBytes>) -> Vec<f32> {
    bytes.as_bytes().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

impl Outsiders {
    /// Reads the files of the programs among `names`, and what the metrics among them that compare vectors need.
    pub fn new(options: &MetricOptions, given: GivenOutside) -> PyResult<Self> {
        let names = &options.names;
        let judges = capeval_outside::judges::names(names).map_err(from_file)?;
        let programs: Vec<&String> = names.iter().filter(|name| !judges.contains(name)).collect();
        let OutsideMetrics(mut others) =
            capeval_outside::programs::read(programs, &messages()).map_err(from_file)?;
        let GivenOutside { functions, named, held, chair, judging, pictures } = given;
        others.extend(capeval_outside::embeddings::read_with(options, &named, held).map_err(from_file)?);
        others.extend(capeval_outside::chair::read(options, &chair).map_err(from_file)?);
        others.extend(
            capeval_outside::judges::read(&judges, &judging.judging, &judging.consent())
                .map_err(from_file)?,
        );
        Ok(Self { others, functions, pictures })
    }

    /// Refuses those that need pictures, for rows, which have none.
    pub fn refuse_sight(&self) -> PyResult<()> {
        let functions = self.functions.iter().map(|function| function.get().needs_pictures());
        let programs = self.others.iter().map(|one| (one.sight() == Sight::Needed).then(|| one.name()));
        match functions.chain(programs).flatten().next() {
            Some(name) => {
                let why = "looks at pictures, and rows of tables have none; leave it out of the metrics";
                Err(PyValueError::new_err(format!("{name} {why}")))
            }
            None => Ok(()),
        }
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.others.is_empty() && self.functions.is_empty()
    }

    /// Adds them and their pictures to `resources`; `caller` calls the functions.
    ///
    /// # Errors
    /// When there are pictures at which none of them looks.
    pub fn add_to(&self, resources: &mut Resources, caller: &Arc<Caller>) -> PyResult<()> {
        let called = |function: &Arc<Py<Function>>| -> Arc<dyn Outside> {
            Arc::new(FunctionMetric {
                function: Arc::clone(function),
                caller: Arc::clone(caller),
                pictures: self.pictures.as_ref().and_then(GivenPictures::one_by_one),
            })
        };
        resources.insert(Arc::new(capeval_outside::outside_settings()));
        let functions = self.functions.iter().map(called);
        let all: Vec<Arc<dyn Outside>> = self.others.iter().cloned().chain(functions).collect();
        if let Some(pictures) = &self.pictures {
            if all.iter().all(|one| one.sight() == Sight::None) {
                return Err(GivenPictures::unseen());
            }
            resources.insert(Arc::new(pictures.source()?));
        }
        if !all.is_empty() {
            resources.insert(Arc::new(OutsideMetrics(all)));
        }
        Ok(())
    }
}

/// Passes on what metrics that are programs write for people.
fn messages() -> Messages {
    Arc::new(|name, line| {
        Python::attach(|py| {
            let write =
                || py.import("sys")?.getattr("stderr")?.call_method1("write", (format!("{name}: {line}\n"),));
            // A line that cannot be written is not a failure.
            let _ = write();
        });
    })
}
