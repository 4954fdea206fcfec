//! The user's folder for third-party data: one compiled file for each kind of data, and a notice beside it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::pip::FETCHED;
use crate::write::is_part;
use crate::{Bytes, Error, temporary, write_whole};

/// The place of one kind of data.
#[derive(Clone, Debug)]
pub struct Home {
    folder: PathBuf,
    /// The names of the files, without their endings.
    stem: &'static str,
}

/// The result of an installation.
#[derive(Clone, Debug)]
pub struct Installed {
    /// Whether these are the published data; scores with other data are not comparable with published ones.
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

impl Home {
    pub(crate) fn new(folder: PathBuf, stem: &'static str) -> Self {
        Self { folder, stem }
    }

    pub(crate) fn of_user(stem: &'static str) -> Result<Self, Error> {
        folder().map(|folder| Self { folder, stem })
    }

    /// The folder, which need not exist yet.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of compiled data.
    pub fn file(&self) -> PathBuf {
        self.folder.join(format!("{}.bin", self.stem))
    }

    /// The file that names the origin of the data and their licences.
    pub fn notice(&self) -> PathBuf {
        self.folder.join(format!("{}.NOTICE.txt", self.stem))
    }

    /// Whether the file of compiled data exists; does not check its content.
    pub fn is_installed(&self) -> bool {
        self.file().exists()
    }

    /// Makes the folder.
    pub(crate) fn make(&self) -> Result<(), Error> {
        fs::create_dir_all(&self.folder)
            .map_err(|cause| Error::system("make the folder", self.folder.display(), cause))
    }

    /// The compiled data and their path, opened with [`open`](crate::open) or [`read`](crate::read); `None` if they are
    /// not installed.
    pub(crate) fn content(
        &self,
        open: fn(&str) -> Result<Bytes, Error>,
    ) -> Result<Option<(Bytes, String)>, Error> {
        let path = self.file().display().to_string();
        match open(&path) {
            Err(Error::System { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            bytes => Ok(Some((bytes?, path))),
        }
    }

    /// Writes compiled data, which have been verified, and their notice.
    pub(crate) fn write(&self, data: &[u8], notice: &str) -> Result<(), Error> {
        write_whole(&self.file().display().to_string(), |out| out.write_all(data))?;
        write_whole(&self.notice().display().to_string(), |out| out.write_all(notice.as_bytes()))
    }

    /// Removes the data and the remains of interrupted installations; false if there were no data.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn remove(&self) -> Result<bool, Error> {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if is_part(&name) || name.starts_with(FETCHED) {
                temporary::remove(&entry.path());
            }
        }
        match fs::remove_file(self.file()) {
            Ok(()) => {
                let _ = fs::remove_file(self.notice());
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::system("remove the file", self.file().display(), error)),
        }
    }
}
