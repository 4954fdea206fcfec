//! The engine's errors as Python's own exceptions, with the engine's sentences.

use std::io;

use capeval::choice::{Argument, Dialect, Notice, Remedy, Task, system_words};
use capeval::corpus::ErrorKind;
use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};

/// An error of a request: `ValueError`, or what Python raises where a file cannot be opened.
pub fn from_request(error: capeval::Error) -> PyErr {
    match error {
        capeval::Error::Corpus(error) => from_corpus(error),
        other => fault(&other),
    }
}

/// A `ValueError` with what the engine says of `error`, and what to do about it.
pub fn fault(error: &(dyn std::error::Error + 'static)) -> PyErr {
    value(&sentence(&error.to_string(), capeval::remedy(error).as_ref()))
}

/// What is wrong and what to do about it, in one sentence.
pub fn sentence(what: &str, remedy: Option<&Remedy>) -> String {
    match remedy.and_then(|remedy| remedy.in_words(&Keywords)) {
        Some(remedy) => format!("{what}; {remedy}"),
        None => what.to_owned(),
    }
}

/// What a reader of a result should know, in one sentence.
pub fn told(notice: &Notice) -> String {
    notice.in_words(&Keywords)
}

/// Arguments as Python's keywords.
pub struct Keywords;

impl Dialect for Keywords {
    fn has(&self, argument: Argument) -> bool {
        use Argument::*;
        let columns = matches!(argument, CaptionColumns(_) | IdColumn(_) | RatingColumns | SystemColumn(_));
        let files = matches!(argument, LanguageModel | MecabJapanese | MecabKorean | RougeData | Split(_));
        !columns && !files
    }

    fn name(&self, argument: Argument) -> String {
        match argument {
            Argument::DocumentFrequencyImages => "n_images",
            argument => argument.name(),
        }
        .to_owned()
    }

    fn argument(&self, argument: Argument, value: Option<&str>) -> String {
        let name = self.name(argument);
        match (argument, value) {
            (Argument::Tokenizer, Some(value)) => format!("settings={{\"tok\": \"{value}\"}}"),
            (Argument::Idf, Some(value)) => format!("settings={{\"idf\": \"{value}\"}}"),
            (Argument::Segments, None) => "segments=True".to_owned(),
            (_, Some(value)) if value.parse::<f64>().is_ok() => format!("{name}={value}"),
            (_, Some(value)) => format!("{name}=\"{value}\""),
            (_, None) => format!("{name}=…"),
        }
    }

    fn task(&self, task: &Task) -> String {
        match task {
            Task::Install(what) => format!("call capeval.install_{what}()"),
            Task::InstallFrom(what) => format!("call capeval.install_{what}(path)"),
            Task::BuildFrequencies(_) => "call capeval.DocumentFrequencies.build()".to_owned(),
            Task::ListTokenizers => "see capeval.tokenizers()".to_owned(),
            Task::ListMetrics => "see capeval.metrics()".to_owned(),
            task => Remedy::run(task.clone()).to_string(),
        }
    }
}

/// An error of a file: what Python raises where a file cannot be opened, `RuntimeError` where pip fails, else
/// `ValueError`.
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

/// An error of captions: `OSError` and its kin for files, else `ValueError`.
pub fn from_corpus(error: capeval::corpus::Error) -> PyErr {
    match (error.kind(), error.cause().and_then(io::Error::raw_os_error)) {
        (ErrorKind::Io, Some(code)) => os(code, &error.to_string(), error.source_name()),
        _ => fault(&error),
    }
}

/// An error of the operating system about the file `path`: `FileNotFoundError`, `PermissionError` and so on.
pub fn from_io(error: &io::Error, path: &str) -> PyErr {
    match error.raw_os_error() {
        Some(code) => os(code, &system_words(error), path),
        None => PyOSError::new_err(format!("{path}: {error}")),
    }
}

/// Python chooses the class by the number.
fn os(code: i32, sentence: &str, path: &str) -> PyErr {
    PyOSError::new_err((code, sentence.to_owned(), path.to_owned()))
}

/// A `ValueError`.
pub fn value(sentence: &str) -> PyErr {
    PyValueError::new_err(sentence.to_owned())
}

/// A `ValueError` where a notice will not do.
pub fn noticed(notice: &Notice) -> PyErr {
    value(&told(notice))
}
