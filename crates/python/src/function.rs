//! Metrics that are Python functions.

use std::sync::Arc;

use capeval::choice::Refusal;
use capeval::metric::{Part, Signature};
use capeval::{Answers, Identity, Outside, OutsideLabel, OutsideRow, Picture, Sight};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde::Deserialize;

use crate::captions::id_list;
use crate::error::value;
use crate::pictures::OneByOne;
use crate::run::Caller;

/// A function that scores batches of captions.
#[pyclass(frozen, module = "capeval._engine")]
pub struct Function {
    label: OutsideLabel,
    about: FunctionOptions,
    /// Takes candidates, references, ids, pictures and the number of the first caption; returns scores, measure after
    /// measure.
    callable: Py<PyAny>,
}

/// The options of a function.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FunctionOptions {
    version: String,
    batch: usize,
    needs_references: bool,
    /// Takes all captions of a system together.
    corpus: bool,
    /// Looks at pictures, which it needs or not.
    needs_pictures: Option<bool>,
    languages: Vec<String>,
    /// A hash of what it is compiled to.
    code: String,
    /// Gets the ids of images.
    knows_images: bool,
}

/// The entry in signatures of functions that take all captions of a system together.
pub const TOGETHER: &str = "together";

/// A measure: its key, its range, and whether higher is better.
type MeasureRow = (String, f64, f64, bool);

#[pymethods]
impl Function {
    #[new]
    fn new(
        name: String,
        measures: Vec<MeasureRow>,
        callable: Py<PyAny>,
        about: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let about: FunctionOptions = crate::options::options(about)?;
        capeval::check_outside_name(&name).map_err(|refusal| value(&refusal.to_string()))?;
        let mut parts: Vec<Part> = Vec::with_capacity(measures.len());
        for (key, low, high, is_higher) in measures {
            capeval::check_outside_key(&key).map_err(|refusal| value(&refusal.to_string()))?;
            if low.is_nan() || high.is_nan() || low >= high {
                return Err(value(&format!("the range of {key} is from {low} to {high}")));
            }
            if parts.iter().any(|known| known.key == key) {
                return Err(value(&format!("two measures have the key {key}")));
            }
            let part = Part::score(&key, &key, low..=high);
            parts.push(if is_higher { part } else { part.lower() });
        }
        if parts.is_empty() {
            return Err(value(&format!("{name} has no measure")));
        }
        for language in &about.languages {
            capeval::check_language(language).map_err(|refusal| value(&refusal.to_string()))?;
        }
        Ok(Self { label: OutsideLabel::new(name, parts), about, callable })
    }
}

impl Function {
    fn sight(&self) -> Sight {
        match self.about.needs_pictures {
            None => Sight::None,
            Some(false) => Sight::Optional,
            Some(true) => Sight::Needed,
        }
    }
}

/// A function as a metric of the engine.
pub struct FunctionMetric {
    pub function: Arc<Py<Function>>,
    /// The caller.
    pub caller: Arc<Caller>,
    /// Python's object for each image.
    pub pictures: Option<Arc<OneByOne>>,
}

impl FunctionMetric {
    fn get(&self) -> &Function {
        self.function.get()
    }

    /// The scores of a batch whose first row has this number; `None` if the call has been interrupted.
    fn call(&self, rows: &[OutsideRow<'_>], first: usize) -> PyResult<Option<Vec<Vec<f64>>>> {
        let arguments = Python::attach(|py| {
            let candidates: Vec<&str> = rows.iter().map(|row| row.candidate).collect();
            let references: Vec<&[&str]> = rows.iter().map(|row| row.references.as_slice()).collect();
            let ids = id_list(py, rows.iter().map(|row| row.image))?;
            let images = self.images(py, rows)?;
            (candidates, references, ids, images, first).into_pyobject(py).map(Bound::unbind)
        })?;
        let function = Arc::clone(&self.function);
        let job =
            move |py: Python<'_>| function.get().callable.call1(py, arguments.into_bound(py))?.extract(py);
        self.caller.run(job).transpose()
    }

    /// The pictures of rows, if the function looks at them.
    fn images<'py>(&self, py: Python<'py>, rows: &[OutsideRow<'_>]) -> PyResult<Bound<'py, PyList>> {
        let images = PyList::empty(py);
        for row in rows.iter().filter(|_| self.get().sight() != Sight::None) {
            let object =
                self.pictures.as_ref().zip(row.image).and_then(|(pictures, image)| pictures.get(image));
            match (object, row.picture) {
                (Some(object), _) => images.append(object)?,
                (None, Some(Picture::File { path, .. })) => images.append(path)?,
                (None, _) => images.append(py.None())?,
            }
        }
        Ok(images)
    }
}

impl Outside for FunctionMetric {
    fn label(&self) -> &OutsideLabel {
        &self.get().label
    }

    fn signature(&self) -> Signature {
        let Function { label, about: FunctionOptions { version, corpus, .. }, .. } = self.get();
        let version = if version.is_empty() { "none" } else { version };
        let signature = Signature::new(&label.name).with("version", version).with("by", "function");
        if *corpus { signature.with("captions", TOGETHER) } else { signature }
    }

    fn needs_references(&self) -> bool {
        self.get().about.needs_references
    }

    fn takes_all_together(&self) -> bool {
        self.get().about.corpus
    }

    fn sight(&self) -> Sight {
        self.get().sight()
    }

    fn languages(&self) -> &[String] {
        &self.get().about.languages
    }

    fn identity(&self) -> Option<Identity> {
        let FunctionOptions { version, code, knows_images, .. } = &self.get().about;
        // Without a version, nothing would tell that it has changed; without a hash, it is not to be kept.
        let text = format!("{}|code:{code}", self.signature());
        (!version.is_empty() && !code.is_empty()).then_some(Identity { text, knows_images: *knows_images })
    }

    fn score(&self, rows: &[OutsideRow<'_>], answers: &dyn Answers) -> Result<(), Refusal> {
        let function = self.get();
        let mut first = 0;
        let most = if function.about.corpus { rows.len().max(1) } else { function.about.batch };
        for batch in rows.chunks(most) {
            answers.wait();
            let found = self.call(batch, first).map_err(|error| {
                self.caller.raise(error);
                Refusal::new(format!("{} has raised an error", function.label.name))
            })?;
            let Some(found) = found else {
                // Unwinds, since someone wants the call to end.
                answers.wait();
                return Err(Refusal::new(format!("{} has been interrupted", function.label.name)));
            };
            for row in 0..batch.len() {
                let scores: Vec<f64> =
                    found.iter().filter_map(|of_measure| of_measure.get(row).copied()).collect();
                answers.take(first + row, &scores);
            }
            first += batch.len();
        }
        Ok(())
    }
}
