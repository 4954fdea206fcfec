//! METEOR's resources: from a wheel, a jar or a folder into one file that is checked before it takes its place.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capeval_meteor::{Compiler, Language, Progress, Recognized, Resources};

use crate::Error;

/// The published package with METEOR, as package clients name it.
pub const PACKAGE: &str = "pycocoevalcap==1.2";
/// The SHA-256 of its wheel.
pub const WHEEL_SHA256: &str = "083ed7910f1aec000b0a237ef6665f74edf19954204d0b1cbdb8399ed132228d";

/// Where a jar lies in the folders that hold one.
const JARS: [&str; 3] = ["meteor-1.5.jar", "meteor/meteor-1.5.jar", "pycocoevalcap/meteor/meteor-1.5.jar"];

/// The folder in which METEOR's resources are, or shall be.
#[derive(Clone, Debug)]
pub struct MeteorHome(PathBuf);

/// What an installation did.
#[derive(Clone, Debug)]
pub struct Installed {
    /// Whether these are the resources of the published package; scores by others do not compare with published
    /// ones.
    pub recognized: Recognized,
    /// The content's fingerprint, as signatures name it.
    pub fingerprint: String,
}

impl MeteorHome {
    /// The home in this folder, which need not exist yet.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// The file of compiled resources.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.0.join("meteor-1.5.bin")
    }

    /// Where the data come from, and their licences.
    #[must_use]
    pub fn notice(&self) -> PathBuf {
        self.0.join("meteor-1.5.NOTICE.txt")
    }

    /// Makes the folder.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn make(&self) -> Result<(), Error> {
        fs::create_dir_all(&self.0).map_err(|error| Error::io("make the folder", &self.0, error))
    }

    /// Compiles the resources in `source`: a wheel of the package, a `meteor-1.5.jar` with `data/` beside it, or a
    /// folder that holds these.
    ///
    /// The file is written and checked beside its place and then moved there, so that whoever reads or installs at
    /// the same time sees a whole file.
    ///
    /// # Errors
    /// When the source cannot be read or is not METEOR, or the folder cannot be written.
    pub fn install(&self, source: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Installed, Error> {
        self.make()?;
        let mut compiler = Compiler::new();
        read(source, &mut compiler, progress)?;

        let part = Part(self.0.join(format!(".meteor-1.5.{}.part", std::process::id())));
        let write = |error| Error::io("write the file", &part.0, error);
        let file = File::create(&part.0).map_err(write)?;
        let wrong = |error: capeval_meteor::Error| Error::new(&part.0, error.to_string());
        let summary = compiler.write(BufWriter::new(&file), progress).map_err(wrong)?;
        file.sync_all().map_err(write)?;
        let bytes = fs::read(&part.0).map_err(|error| Error::io("read the file", &part.0, error))?;
        let fingerprint = Resources::open(Arc::new(bytes)).map_err(wrong)?.fingerprint();
        fs::rename(&part.0, self.file()).map_err(|error| Error::io("write the file", &self.file(), error))?;
        fs::write(self.notice(), &summary.notice)
            .map_err(|error| Error::io("write the file", &self.notice(), error))?;
        Ok(Installed { recognized: summary.recognized, fingerprint })
    }

    /// Removes the resources, and what installations that were stopped have left; false if there were none.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn remove(&self) -> Result<bool, Error> {
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(".meteor-1.5.") && name.ends_with(".part") {
                drop(Part(entry.path()));
            }
        }
        match fs::remove_file(self.file()) {
            Ok(()) => {
                let _ = fs::remove_file(self.notice());
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::io("remove the file", &self.file(), error)),
        }
    }
}

/// A file that is removed unless it has been moved away.
struct Part(PathBuf);

impl Drop for Part {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Reads a wheel, a jar with `data/` beside it, or a folder with both.
fn read(source: &Path, compiler: &mut Compiler, progress: &mut dyn FnMut(Progress)) -> Result<(), Error> {
    if source.is_dir() {
        let jar = JARS.iter().map(|name| source.join(name)).find(|path| path.exists());
        let jar = jar.ok_or_else(|| Error::new(source, "this folder holds no meteor-1.5.jar"))?;
        return read(&jar, compiler, progress);
    }
    let file = File::open(source).map_err(|error| Error::io("open the file", source, error))?;
    let wrong = |path: &Path, error: capeval_meteor::Error| Error::new(path, error.to_string());
    if source.extension().is_none_or(|extension| extension != "jar") {
        return compiler.wheel(BufReader::new(file), progress).map_err(|error| wrong(source, error));
    }
    compiler.jar(BufReader::new(file)).map_err(|error| wrong(source, error))?;
    let data = source.parent().unwrap_or(Path::new("")).join("data");
    let mut found = false;
    for language in Language::all() {
        let table = data.join(format!("paraphrase-{language}.gz"));
        if let Ok(file) = File::open(&table) {
            let size = file.metadata().ok().map(|metadata| metadata.len());
            compiler.paraphrases(language, file, size, progress).map_err(|error| wrong(&table, error))?;
            found |= language == Language::English;
        }
    }
    if !found {
        let message =
            "there is no data/paraphrase-en.gz beside this jar; keep both as in the published package";
        return Err(Error::new(source, message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_source_of_meteor_is_named_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let home = MeteorHome::new(folder.path().join("home"));
        let none = folder.path().join("none.whl");
        let error = home.install(&none, &mut |_| {}).unwrap_err();
        assert_eq!(error.path(), none);
        assert!(error.to_string().ends_with("cannot open the file: no such file or directory"), "{error}");
        assert!(error.cause().is_some());

        let text = folder.path().join("text.whl");
        fs::write(&text, "no wheel").unwrap();
        assert!(home.install(&text, &mut |_| {}).unwrap_err().to_string().contains("text.whl"));
        let error = home.install(folder.path(), &mut |_| {}).unwrap_err();
        assert!(error.to_string().ends_with("this folder holds no meteor-1.5.jar"), "{error}");
        assert_eq!(fs::read_dir(home.folder()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_stopped_installation_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let home = MeteorHome::new(folder.path().to_owned());
        fs::write(folder.path().join(".meteor-1.5.7.part"), "half").unwrap();
        fs::write(folder.path().join("mine.txt"), "stays").unwrap();
        assert!(!home.remove().unwrap());
        fs::write(home.file(), "x").unwrap();
        assert!(home.remove().unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
