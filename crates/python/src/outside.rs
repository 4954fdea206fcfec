//! Metrics that the engine does not compute: functions, and programs with what they write for people.

use std::sync::Arc;

use capeval::metric::Resources;
use capeval::{Outside, OutsideMetrics, Sight};
use capeval_programs::Messages;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::from_file;
use crate::function::{Called, Function};
use crate::pictures::GivenPictures;
use crate::run::Caller;

/// The functions and programs of a list of metrics.
#[derive(Default)]
pub struct Outsiders {
    programs: Vec<Arc<dyn Outside>>,
    functions: Functions,
    pictures: Option<GivenPictures>,
}

/// Functions that are metrics.
pub type Functions = Vec<Arc<Py<Function>>>;

impl Outsiders {
    /// Reads the files of the programs among `names`.
    pub fn new(names: &[String], functions: Functions) -> PyResult<Self> {
        let OutsideMetrics(programs) = capeval_programs::read(names, &messages()).map_err(from_file)?;
        Ok(Self { programs, functions, pictures: None })
    }

    /// The same with pictures to look at.
    pub fn with_pictures(self, pictures: Option<GivenPictures>) -> Self {
        Self { pictures, ..self }
    }

    /// Refuses those that need pictures, for rows, which have none.
    pub fn refuse_sight(&self) -> PyResult<()> {
        let functions = self.functions.iter().map(|function| function.get().needs_pictures());
        let programs = self.programs.iter().map(|one| (one.sight() == Sight::Needed).then(|| one.name()));
        match functions.chain(programs).flatten().next() {
            Some(name) => {
                let why = "looks at pictures, and rows of tables have none; leave it out of the metrics";
                Err(PyValueError::new_err(format!("{name} {why}")))
            }
            None => Ok(()),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.programs.is_empty() && self.functions.is_empty()
    }

    /// Adds them and their pictures to `resources`; `caller` calls the functions.
    ///
    /// # Errors
    /// When there are pictures at which none of them looks.
    pub fn add_to(&self, resources: &mut Resources, caller: &Arc<Caller>) -> PyResult<()> {
        let called = |function: &Arc<Py<Function>>| -> Arc<dyn Outside> {
            Arc::new(Called {
                function: Arc::clone(function),
                caller: Arc::clone(caller),
                pictures: self.pictures.as_ref().and_then(GivenPictures::one_by_one),
            })
        };
        let functions = self.functions.iter().map(called);
        let all: Vec<Arc<dyn Outside>> = self.programs.iter().cloned().chain(functions).collect();
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
