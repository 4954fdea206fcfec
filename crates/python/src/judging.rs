//! Whom judges ask, as Python gives it.

use std::sync::Arc;
use std::time::Duration;

use capeval::choice::Refusal;
use capeval_outside::judges::{Consent, Judging, Key, Limits};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::{fault, from_file};
use crate::study::Study;

/// Reads what `Judging._engine` gives.
pub fn judging(given: &Bound<'_, PyAny>) -> PyResult<(Judging, Option<Consent>)> {
    let field = |name: &str| given.get_item(name);
    let seconds: f64 = field("answer_timeout")?.extract()?;
    let timeout = Duration::try_from_secs_f64(seconds).ok().filter(|timeout| !timeout.is_zero());
    let timeout =
        timeout.ok_or_else(|| PyValueError::new_err("answer_timeout must be a number of seconds above 0"))?;
    let key: Option<String> = field("api_key")?.extract()?;
    let limits = Limits {
        at_once: field("requests_at_once")?.extract()?,
        requests: field("max_requests")?.extract()?,
        tokens: field("max_tokens")?.extract()?,
        timeout,
        ..Limits::default()
    };
    let judging = Judging {
        endpoint: field("endpoint")?.extract()?,
        model: field("model")?.extract()?,
        key: key.map(|key| Key::read(&key)).transpose().map_err(|e| fault(&e.at("api_key")))?,
        judgements: field("judgements")?.extract()?,
        replay: field("replay")?.extract()?,
        limits,
    };
    let confirm = field("confirm")?;
    Ok((judging, (!confirm.is_none()).then(|| consent(confirm.unbind()))))
}

/// Asks a function.
fn consent(confirm: Py<PyAny>) -> Consent {
    Arc::new(move |plan| {
        let agreed = Python::attach(|py| confirm.call1(py, (plan.to_string(),))?.is_truthy(py));
        match agreed {
            Ok(true) => Ok(()),
            Ok(false) => Err(Refusal::new(format!("nothing was asked: {plan}"))),
            Err(error) => Err(Refusal::new(format!("confirm failed: {error}"))),
        }
    })
}

/// Compares the answers of two files of judgements.
#[pyfunction]
pub fn judge_agreement(py: Python<'_>, first: &str, second: &str) -> PyResult<Study> {
    py.detach(|| capeval_outside::judges::agree(first, second)).map(Study::new).map_err(from_file)
}
