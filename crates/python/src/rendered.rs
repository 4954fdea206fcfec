//! Results rendered as text for Python.

use std::io;
use std::path::PathBuf;

use capeval::choice::UnknownName;
use capeval::evaluate::{Progress as _, Stage};
use capeval::report::{Form, Style, Written};
use capeval_pages::{Advance, Pictures};
use pyo3::prelude::*;

use crate::error::{Keywords, fault, from_io};
use crate::run::long;

/// A result in the format of this name; `"rows"` gives the rows behind it as JSON Lines.
pub fn text(found: &impl Written, form: &str, digits: usize) -> PyResult<String> {
    let mut out = Vec::new();
    let written = if form == "rows" {
        found.write_rows(&mut out)
    } else {
        let form: Form = form.parse().map_err(|error: UnknownName| fault(&error))?;
        found.write(form, &Style { digits, ..Style::default() }, &Keywords, &mut out)
    };
    written.map_err(|error| from_io(&error, "result"))?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// The pictures of a page: a pattern with `{id}`, or a path for each image of the gallery, which the page links to or,
/// if they are `embedded`, contains.
pub fn pictures(
    pattern: Option<String>,
    files: Option<Vec<Option<String>>>,
    embedded: bool,
) -> PyResult<Option<Pictures>> {
    let Some(files) = files else { return Ok(pattern.map(Pictures::Pattern)) };
    if !embedded {
        return Ok(Some(Pictures::Files(files)));
    }
    let file = |path: Option<String>| path.map(PathBuf::from).filter(|path| path.is_file());
    let pictures = Pictures::embedded(files.into_iter().map(file).collect());
    pictures.map(Some).map_err(|error| fault(&error))
}

/// A page of HTML; Ctrl-C ends the writing, and `listener` is called as by [`long`]. `n` is the number of images.
pub fn page(
    py: Python<'_>,
    n: usize,
    threads: Option<usize>,
    listener: Option<Py<PyAny>>,
    write: impl FnOnce(Advance<'_>, &mut Vec<u8>) -> io::Result<()> + Send,
) -> PyResult<String> {
    let out = long(py, threads, listener, |progress| {
        progress.begin(Stage::Writing, n);
        let mut out = Vec::new();
        write(&|n| progress.advance(n), &mut out).map(|()| out)
    });
    out?.map(|out| String::from_utf8_lossy(&out).into_owned()).map_err(|error| from_io(&error, "page"))
}
