//! Explanations of single scores for Python: trees of plain data, and as text.

use capeval::metric::{Explanation, Match, Step};
use capeval::report::{ExplainedCaption, Report, Style};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::captions::id_list;
use crate::error::from_io;

/// For each explained caption: its system, image, texts, the explanation by each metric, and all as text.
pub fn explained<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for explained in &report.explained {
        let ExplainedCaption { system, id, caption, references, metrics } = explained;
        let name = report.systems.get(*system).map_or("", |system| system.name.as_str());
        let mut text = Vec::new();
        explained
            .write(name, &Style::default(), &mut text)
            .map_err(|error| from_io(&error, "explanation"))?;
        let entry = PyDict::new(py);
        entry.set_item("system", name)?;
        entry.set_item("id", id_list(py, std::slice::from_ref(id))?.get_item(0)?)?;
        entry.set_item("caption", caption)?;
        entry.set_item("references", references)?;
        let by_metric = PyDict::new(py);
        for (metric, explanation) in report.head.metrics.iter().zip(metrics) {
            let Explanation { candidate, references, scores } = explanation;
            by_metric.set_item(&metric.key, (candidate, references, steps(py, scores)?))?;
        }
        entry.set_item("metrics", by_metric)?;
        entry.set_item("text", String::from_utf8_lossy(&text).trim_end())?;
        list.append(entry)?;
    }
    Ok(list)
}

/// Steps as tuples: title, value, formula, note, facts, matches and parts.
fn steps<'py>(py: Python<'py>, steps: &[Step]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for step in steps {
        let Step { title, value, rule, note, facts, parts, matches, statement: _ } = step;
        let by_name = PyDict::new(py);
        for fact in facts {
            by_name.set_item(fact.name, fact.value)?;
        }
        let places = matches.iter().map(|Match { matcher, candidate, references }| {
            let by_reference = PyDict::new(py);
            for (reference, places) in references {
                by_reference.set_item(reference, places)?;
            }
            (*matcher, candidate, by_reference).into_pyobject(py)
        });
        let places = PyList::new(py, places.collect::<PyResult<Vec<Bound<'py, PyTuple>>>>()?)?;
        let formula = rule.map(|rule| rule.formula);
        list.append((title, value, formula, note, by_name, places, self::steps(py, parts)?))?;
    }
    Ok(list)
}
