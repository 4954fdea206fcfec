//! METEOR's data, compiled from the published package into one file.

use std::path::Path;

use capeval::data::{self, MeteorHome};
use capeval::meteor::Recognized;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::error::{from_io, value};

/// Where METEOR's resources are, or shall be; `None` if the environment names no place for data.
pub fn home() -> Option<MeteorHome> {
    data::folder().map(MeteorHome::new)
}

/// The published package with METEOR, and the SHA-256 of its wheel.
#[pyfunction]
pub fn meteor_package() -> (&'static str, &'static str) {
    (data::PACKAGE, data::WHEEL_SHA256)
}

/// Compiles METEOR's data out of a wheel of pycocoevalcap, a jar with `data/` beside it, or a folder with these, and
/// keeps them where they are looked for: the file, and whether its sources are the known ones.
#[pyfunction]
pub fn compile_meteor(py: Python<'_>, source: &str) -> PyResult<(String, bool)> {
    let home = home()
        .ok_or_else(|| PyOSError::new_err("there is no place for data; set CAPEVAL_DATA to a folder"))?;
    let installed = py.detach(|| home.install(Path::new(source), &mut |_| {})).map_err(|error| {
        let path = error.path().display().to_string();
        error.cause().map_or_else(|| value(&error.to_string()), |cause| from_io(cause, &path))
    })?;
    Ok((home.file().display().to_string(), installed.recognized == Recognized::Yes))
}
