//! Submission of results to an evaluation server.

use std::ops::ControlFlow;

use capeval_api::client::{About, Error, Kind, Results, Server};
use pyo3::exceptions::{PyConnectionError, PyPermissionError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;

use crate::captions::Captions;
use crate::error::{sentence, value};

/// The method, and what to do with its captions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SubmitOptions {
    method: String,
    description: Option<String>,
    authors: Option<String>,
    link: Option<String>,
    code: Option<String>,
    tags: Vec<String>,
    columns: Vec<(String, String)>,
    team: Option<String>,
    check: bool,
    wait: bool,
}

/// Submits captions to the server at `address`, and follows them until they have scores if `wait` is set; or, with
/// `check`, only has the server check them. Returns what the server says of the submission as JSON, and whether the
/// same captions were submitted before; `None` after a check.
#[pyfunction]
pub fn submit(
    py: Python<'_>,
    captions: &Captions,
    address: &str,
    token: &str,
    phase: &str,
    options: &Bound<'_, PyDict>,
) -> PyResult<Option<(String, bool)>> {
    let options: SubmitOptions = crate::options::options(options)?;
    let rows = &captions.rows;
    let mut interrupt = None;
    let server = Server::new(address, token).map_err(from_client)?;
    if server.is_in_clear() {
        let text = c"the address begins with http://, so others in the network can read the token";
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), text, 2)?;
    }
    let interrupted = || Python::attach(|py| py.check_signals().err());
    let done = py.detach(|| {
        let results = Results::new(rows)?;
        let phase = server.phase(phase)?;
        if options.check {
            return server.check(&phase, &results).map(|()| None);
        }
        results.fit(&phase)?;
        let about = About {
            method: &options.method,
            description: options.description.as_deref(),
            authors: options.authors.as_deref(),
            link: options.link.as_deref(),
            code: options.code.as_deref(),
            tags: &options.tags,
            columns: &options.columns,
            team: options.team.as_deref(),
        };
        let submission = server.submit(&phase, &results, &about)?;
        if !options.wait {
            return Ok(Some(submission));
        }
        server
            .follow(submission, &mut |_| {
                interrupt = interrupted();
                if interrupt.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .map(Some)
    });
    match interrupt {
        Some(error) => Err(error),
        None => Ok(done.map_err(from_client)?.map(|done| (done.all.to_string(), done.is_repeated))),
    }
}

/// `ConnectionError`, `PermissionError` or `ValueError`.
fn from_client(error: Error) -> PyErr {
    let text = sentence(&error.to_string(), error.refusal.remedy());
    match error.kind {
        Kind::Connection => PyConnectionError::new_err(text),
        Kind::Denied => PyPermissionError::new_err(text),
        Kind::Refused => value(&text),
    }
}
