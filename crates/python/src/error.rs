//! Errors of the engine as Python exceptions.

use std::io;

use capeval::choice::{Argument, Dialect, Notice, Remedy, Role, Task, system_words};
use capeval::corpus::ErrorKind;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyUnicodeEncodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The exception for an error of a request: `ValueError`, or `OSError` or a subclass if a file cannot be opened.
pub fn from_request(error: capeval::Error) -> PyErr {
    match error {
        capeval::Error::Corpus(error) => from_corpus(error),
        other => fault(&other),
    }
}

/// A `ValueError` with the message of `error` and its remedy.
pub fn fault(error: &(dyn std::error::Error + 'static)) -> PyErr {
    value(&sentence(&error.to_string(), capeval::remedy(error).as_ref()))
}

/// An exception with the place of the error in front of its message.
pub fn within(py: Python<'_>, place: &str, error: &PyErr) -> PyErr {
    PyErr::from_type(error.get_type(py), format!("{place}: {}", error.value(py)))
}

/// The characters of a string; Python's may hold surrogates, which are none.
pub fn text<'s>(string: &'s Bound<'_, PyString>) -> PyResult<&'s str> {
    string.to_str().map_err(|error| {
        if error.is_instance_of::<PyUnicodeEncodeError>(string.py()) {
            value(
                "the text holds a surrogate without its partner, which is not a character; replace it, such as with \
                 text.encode('utf-8', 'replace').decode()",
            )
        } else {
            error
        }
    })
}

/// A message and its remedy in one sentence.
pub fn sentence(what: &str, remedy: Option<&Remedy>) -> String {
    match remedy.and_then(|remedy| remedy.in_words(&Keywords)) {
        Some(remedy) => format!("{what}; {remedy}"),
        None => what.to_owned(),
    }
}

/// A notice in one sentence.
pub fn told(notice: &Notice) -> String {
    notice.in_words(&Keywords)
}

/// Warns of notices that make scores meaningless.
pub fn warn(py: Python<'_>, notices: &[Notice]) -> PyResult<()> {
    notices.iter().filter(|notice| notice.makes_meaningless()).try_for_each(|notice| warn_of(py, notice))
}

/// Warns of a notice, by the package's own class.
pub fn warn_of(py: Python<'_>, notice: &Notice) -> PyResult<()> {
    let class = py.import("capeval")?.getattr("CaptionWarning")?;
    let text = std::ffi::CString::new(told(notice).replace('\0', " ")).unwrap_or_default();
    // The caller of the function, which is behind the function and what fills in its keywords.
    PyErr::warn(py, &class, &text, 3)
}

/// The remedy of a notice in words.
pub fn told_remedy(notice: &Notice) -> Option<String> {
    notice.remedy.as_ref().and_then(|remedy| remedy.in_words(&Keywords))
}

/// Renders arguments as keywords of Python.
pub struct Keywords;

impl Dialect for Keywords {
    fn has(&self, argument: Argument) -> bool {
        use Argument::*;
        match argument {
            Format(role) | IdColumn(role) | CaptionColumns(role) | Split(role) | Drop(role) => {
                matches!(role, Role::References | Role::Candidates | Role::Training)
            }
            RatingColumns | SystemColumn(_) => false,
            argument => !matches!(argument, NoLimits | RougeData | ScoreIds),
        }
    }

    fn name(&self, argument: Argument) -> String {
        match argument {
            Argument::DocumentFrequencyImages => "n_images".to_owned(),
            Argument::DocumentFrequencies => "document_frequencies".to_owned(),
            Argument::Format(Role::Candidates) => "input_format".to_owned(),
            Argument::CaptionColumns(Role::Candidates) => "caption_column".to_owned(),
            Argument::Format(role)
            | Argument::IdColumn(role)
            | Argument::CaptionColumns(role)
            | Argument::Drop(role) => {
                let prefix = match role {
                    Role::References => "ref_",
                    Role::Training => "train_",
                    _ => "",
                };
                format!("{prefix}{}", argument.name())
            }
            Argument::Split(Role::Training) => "train_split".to_owned(),
            Argument::Objects => "objects of capeval.Chair".to_owned(),
            argument if is_of_judging(argument) => {
                let name = argument.name();
                format!("{} of capeval.Judging", name.strip_prefix("judge_").unwrap_or(name))
            }
            argument => argument.name().to_owned(),
        }
    }

    fn argument(&self, argument: Argument, value: Option<&str>) -> String {
        let name = self.name(argument);
        if matches!(argument, Argument::Objects | Argument::NltkData) {
            let (name, value) =
                (argument.name(), value.map_or("…".to_owned(), |value| format!("\"{value}\"")));
            return format!("chair=capeval.Chair({name}={value})");
        }
        if is_of_judging(argument) {
            let name = argument.name();
            let name = name.strip_prefix("judge_").unwrap_or(name);
            return match value {
                Some(value) => format!("judging=capeval.Judging({name}=\"{value}\")"),
                None => format!("judging=capeval.Judging({name}=…)"),
            };
        }
        match (argument, value) {
            (Argument::Idf, Some(value)) => format!("settings={{\"idf\": \"{value}\"}}"),
            (Argument::Segments | Argument::Check | Argument::Subset, None) => format!("{name}=True"),
            (Argument::AllowNetwork, _) => "CAPEVAL_ALLOW_NETWORK=1 in the environment".to_owned(),
            (Argument::MecabJapanese, _) => "CAPEVAL_MECAB_JA in the environment".to_owned(),
            (Argument::MecabKorean, _) => "CAPEVAL_MECAB_KO in the environment".to_owned(),
            (_, Some(value)) if value.parse::<f64>().is_ok() => format!("{name}={value}"),
            (_, Some(value)) => format!("{name}=\"{value}\""),
            (_, None) => format!("{name}=…"),
        }
    }

    fn task(&self, task: &Task) -> String {
        match task {
            Task::Install(what) => format!("call capeval.install_data(\"{what}\")"),
            Task::InstallFrom(what) => format!("call capeval.install_data(\"{what}\", path)"),
            Task::BuildFrequencies(_) => "call capeval.DocumentFrequencies.build()".to_owned(),
            Task::PrepareCleaned(kinds) => {
                let kinds: Vec<String> = kinds.split(',').map(|kind| format!("\"{kind}\"")).collect();
                format!("call capeval.Evaluator(…, clean=[{}])", kinds.join(", "))
            }
            Task::ScoreMoments => "call capeval.dense()".to_owned(),
            Task::MeasureDiversity => "call capeval.diversity()".to_owned(),
            Task::ListTokenizers => "see capeval.tokenizers()".to_owned(),
            Task::ListMetrics => "see capeval.metrics()".to_owned(),
            task => Remedy::run(task.clone()).to_string(),
        }
    }
}

/// Returns true if an argument is one of `capeval.Judging`.
fn is_of_judging(argument: Argument) -> bool {
    use Argument::*;
    matches!(argument, Endpoint | JudgeModel | ApiKey | Judgements | Replay | MaxRequests | MaxTokens)
}

/// The exception for an error of a file: `OSError` or a subclass if it cannot be opened, `RuntimeError` if pip fails,
/// else `ValueError`.
pub fn from_file(error: capeval_files::Error) -> PyErr {
    if let Some((cause, path)) = error.cause() {
        return from_io(cause, path);
    }
    let sentence = || sentence(&error.to_string(), error.remedy().as_ref());
    match error {
        capeval_files::Error::Captions(error) => from_corpus(error),
        capeval_files::Error::NoHome => PyOSError::new_err(sentence()),
        capeval_files::Error::Fetch { .. } => PyRuntimeError::new_err(sentence()),
        _ => value(&sentence()),
    }
}

/// The exception for an error of captions: `OSError` or a subclass for files, else `ValueError`.
pub fn from_corpus(error: capeval::corpus::Error) -> PyErr {
    match (error.kind(), error.cause().and_then(io::Error::raw_os_error)) {
        (ErrorKind::Io, Some(code)) => os(code, &error.to_string(), error.source_name()),
        _ => fault(&error),
    }
}

/// The exception for a system error about the file `path`: `FileNotFoundError`, `PermissionError` and so on.
pub fn from_io(error: &io::Error, path: &str) -> PyErr {
    match error.raw_os_error() {
        Some(code) => os(code, &system_words(error), path),
        None => PyOSError::new_err(format!("{path}: {error}")),
    }
}

/// An `OSError`, whose subclass Python chooses by `code`.
fn os(code: i32, sentence: &str, path: &str) -> PyErr {
    PyOSError::new_err((code, sentence.to_owned(), path.to_owned()))
}

/// A `ValueError` with a message.
pub fn value(sentence: &str) -> PyErr {
    PyValueError::new_err(sentence.to_owned())
}

/// A `ValueError` with the text of a notice, for calls that cannot return notices.
pub fn noticed(notice: &Notice) -> PyErr {
    value(&told(notice))
}

/// The name of an object's type, for errors.
pub fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "something else".to_owned(), |name| name.to_string())
}
