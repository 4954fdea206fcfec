//! Whom judges ask, as Python gives it.

use std::sync::Arc;
use std::time::Duration;

use capeval::choice::Refusal;
use capeval_outside::judges::{Consent, Judging, Key, Limits};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::{fault, from_file};
use crate::study::Study;

/// Whom judges ask, and a function that agrees.
#[derive(Clone, Default)]
pub struct GivenJudging {
    pub judging: Judging,
    confirm: Option<Arc<Py<PyAny>>>,
}

/// Reads what `Judging._engine` gives.
pub fn judging(given: &Bound<'_, PyAny>) -> PyResult<GivenJudging> {
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
    let confirm = (!confirm.is_none()).then(|| Arc::new(confirm.unbind()));
    Ok(GivenJudging { judging, confirm })
}

impl GivenJudging {
    /// Asks the function, if there is one.
    pub fn consent(&self) -> Consent {
        let confirm = self.confirm.clone();
        Arc::new(move |plan| {
            let Some(confirm) = &confirm else { return Ok(()) };
            let agreed = Python::attach(|py| confirm.call1(py, (plan.to_string(),))?.is_truthy(py));
            match agreed {
                Ok(true) => Ok(()),
                Ok(false) => Err(Refusal::new(format!("nothing was asked: {plan}"))),
                Err(error) => Err(Refusal::new(format!("confirm failed: {error}"))),
            }
        })
    }
}

/// Compares the answers of two files of judgements.
#[pyfunction]
pub fn judge_agreement(py: Python<'_>, first: &str, second: &str) -> PyResult<Study> {
    py.detach(|| capeval_outside::judges::agree(first, second)).map(Study::new).map_err(from_file)
}
