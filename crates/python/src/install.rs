//! METEOR's data, compiled from the published package into one file.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use capeval::meteor::{Compiler, Language, Recognized};
use pyo3::exceptions::{PyFileNotFoundError, PyOSError};
use pyo3::prelude::*;

use crate::error::{from_io, value};
use crate::files::data_folder;

/// Compiles METEOR's data out of a wheel of pycocoevalcap, or a folder with `meteor-1.5.jar` and `data/`, and keeps
/// them where they are looked for: the file, and whether its sources are the known ones.
#[pyfunction]
pub fn compile_meteor(py: Python<'_>, source: &str) -> PyResult<(String, bool)> {
    let folder = data_folder()
        .ok_or_else(|| PyOSError::new_err("there is no place for data; set CAPEVAL_DATA to a folder"))?;
    py.detach(|| compile(Path::new(source), &folder))
}

fn compile(source: &Path, folder: &Path) -> PyResult<(String, bool)> {
    let mut compiler = Compiler::new();
    let wrong = |error: capeval::meteor::Error| value(&format!("{}: {error}", source.display()));
    if source.is_dir() {
        let jar = source.join("meteor-1.5.jar");
        let table = source.join("data/paraphrase-en.gz");
        compiler.jar(BufReader::new(open(&jar)?)).map_err(wrong)?;
        let file = open(&table)?;
        let size = file.metadata().ok().map(|metadata| metadata.len());
        compiler.paraphrases(Language::English, file, size, &mut |_| {}).map_err(wrong)?;
    } else {
        compiler.wheel(BufReader::new(open(source)?), &mut |_| {}).map_err(wrong)?;
    }
    let failed = |path: &Path| {
        let shown = path.display().to_string();
        move |error: std::io::Error| from_io(&error, &shown)
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    // Written beside its place and then moved there: whoever reads meanwhile sees a whole file.
    let part: PathBuf = folder.join(format!(".meteor-1.5.{}.part", std::process::id()));
    let path = folder.join("meteor-1.5.bin");
    let mut out = BufWriter::new(File::create(&part).map_err(failed(&part))?);
    let written = compiler.write(&mut out, &mut |_| {}).map_err(wrong).and_then(|summary| {
        out.flush().map_err(failed(&part))?;
        fs::rename(&part, &path).map_err(failed(&path))?;
        let notice = folder.join("meteor-1.5.NOTICE.txt");
        fs::write(&notice, &summary.notice).map_err(failed(&notice))?;
        Ok(summary)
    });
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    let recognized = written?.recognized == Recognized::Yes;
    Ok((path.display().to_string(), recognized))
}

fn open(path: &Path) -> PyResult<File> {
    File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            PyFileNotFoundError::new_err(format!("{}: there is no such file", path.display()))
        }
        _ => from_io(&error, &path.display().to_string()),
    })
}
