//! The engine's errors as Python's own exceptions, with the engine's sentences.

use std::io;

use capeval::choice::{Argument, Dialect, Remedy, Task, system_words};
use capeval::corpus::ErrorKind;
use capeval::report::Notice;
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
    match remedy {
        Some(remedy) => format!("{what}; {}", remedy.in_words(&Keywords)),
        None => what.to_owned(),
    }
}

/// What a reader of a result should know, in one sentence.
pub fn told(notice: &Notice) -> String {
    sentence(&in_python(&notice.message), notice.remedy.as_ref())
}

/// Arguments as Python's keywords.
pub struct Keywords;

impl Dialect for Keywords {
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

/// A `ValueError` whose flags of the command line are written as Python's arguments.
pub fn value(sentence: &str) -> PyErr {
    PyValueError::new_err(in_python(sentence))
}

/// `pass --missing skip` as `pass missing="skip"`: advice is given in the language that the reader writes.
///
/// Two dashes elsewhere belong to paths, ids and captions, which stay as they are.
pub fn in_python(sentence: &str) -> String {
    let mut parts = sentence.split("--");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_name = |c: char| c.is_ascii_lowercase() || c == '-';
        let (name, after) = part.split_at(part.find(|c| !is_name(c)).unwrap_or(part.len()));
        if !FLAGS.contains(&name) || !text.ends_with([' ', '(', '`']) || after.starts_with(['/', '.', '_']) {
            text.push_str("--");
            text.push_str(part);
            continue;
        }
        match name {
            "ref-format" | "input-format" => text.push_str("format"),
            name => text.push_str(&name.replace('-', "_")),
        }
        let argument = after.strip_prefix(' ').unwrap_or_default();
        let end = argument.find(|c: char| !is_name(c) && !c.is_ascii_uppercase()).unwrap_or(argument.len());
        let (word, rest) = argument.split_at(end);
        if !word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase()) {
            text.push_str("=…");
            text.push_str(rest);
        } else if CHOICES.contains(&word) {
            text.push_str(&format!("=\"{word}\""));
            // `remove or skip`: another choice of the same flag.
            let other = rest.strip_prefix(" or ").unwrap_or_default();
            let end = other.find(|c: char| !is_name(c)).unwrap_or(other.len());
            match other.split_at(end) {
                (other, rest) if CHOICES.contains(&other) => text.push_str(&format!(" or \"{other}\"{rest}")),
                _ => text.push_str(rest),
            }
        } else {
            text.push_str(after);
        }
    }
    text
}

/// The flags that the engine's sentences name.
const FLAGS: &[&str] = &[
    "caption-column",
    "df",
    "discount",
    "draw-seed",
    "draws",
    "duplicate",
    "empty",
    "format",
    "human-ties",
    "id-column",
    "idf",
    "ids",
    "images",
    "input-format",
    "lm",
    "lower-is-better",
    "mecab-ja",
    "mecab-ko",
    "metric-ties",
    "missing",
    "own-reference",
    "ref-format",
    "references",
    "references-per-pair",
    "resamples",
    "scores",
    "seed",
    "segments",
    "split",
    "surplus",
    "tokenizer",
    "train",
    "unit",
];

/// Words that follow a flag as its value.
const CHOICES: &[&str] = &[
    "as-given", "corpus", "empty", "error", "first", "half", "ignore", "item", "keep", "last", "rating",
    "remove", "skip", "text", "uniform", "wrong",
];
