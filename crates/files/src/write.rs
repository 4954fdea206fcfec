//! Files that are written whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;

use crate::Error;

/// A file to write, whose place is known to be writable.
///
/// What is written goes to a temporary file beside it, which takes its place when all is there; until then an
/// existing file keeps its content. Devices and pipes are written directly.
#[derive(Debug)]
pub struct Target {
    /// The path as it was named.
    path: String,
    /// The file behind links, which stay.
    place: PathBuf,
    is_direct: bool,
}

/// Writes the file `path`, as a [`Target`] does.
///
/// # Errors
/// When the system refuses, or `write` fails.
pub fn write_whole(path: &str, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    Target::new(path)?.write(write)
}

/// Where a file is behind links, whether or not it exists.
fn place(path: &str) -> PathBuf {
    let path = Path::new(path);
    fs::canonicalize(path).unwrap_or_else(|_| {
        let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        match (fs::canonicalize(folder), path.file_name()) {
            (Ok(folder), Some(name)) => folder.join(name),
            _ => path.to_owned(),
        }
    })
}

/// Whether two paths lead to the same file, which need not exist. Devices such as /dev/null take anything.
pub fn is_same_file(a: &str, b: &str) -> bool {
    let (a, b) = (place(a), place(b));
    a == b && (a.is_file() || !a.exists())
}

impl Target {
    /// The file `path`, which need not exist.
    ///
    /// # Errors
    /// When the system would refuse to write it.
    pub fn new(path: &str) -> Result<Self, Error> {
        let system = |cause| Error::system("write the file", path, cause);
        let metadata = fs::metadata(path).ok();
        let is_regular = metadata.as_ref().is_none_or(fs::Metadata::is_file);
        if metadata.as_ref().is_some_and(|metadata| metadata.is_file() || metadata.is_dir()) {
            // A file that may not be written is not replaced either.
            OpenOptions::new().write(true).open(path).map_err(system)?;
        }
        let dangles = metadata.is_none() && fs::symlink_metadata(path).is_ok();
        // What the shell connected to these may be a file, but it is open already.
        let mut open = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"].iter();
        let is_open = open.any(|device| Path::new(path).starts_with(device));
        let is_direct = is_open || dangles || !is_regular;
        let place = place(path);
        if !is_direct {
            Part::create(&place).map_err(system)?;
        }
        Ok(Self { path: path.to_owned(), place, is_direct })
    }

    /// Lets `write` write the whole content, and puts the file in its place.
    ///
    /// # Errors
    /// When the system refuses, or `write` fails; the file is then what it was.
    pub fn write(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
        let written = if self.is_direct { self.write_directly(write) } else { self.replace(write) };
        written.map_err(|cause| Error::system("write the file", self.path, cause))
    }

    fn write_directly(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        fill(OpenOptions::new().write(true).create(true).truncate(true).open(&self.path)?, write).map(drop)
    }

    fn replace(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let (part, file) = Part::create(&self.place)?;
        // Before any content is there: what few may read, nobody else reads meanwhile.
        if let Ok(metadata) = fs::metadata(&self.place) {
            file.set_permissions(metadata.permissions())?;
        }
        let file = fill(file, write)?;
        file.sync_all()?;
        drop(file);
        fs::rename(&part.0, &self.place)
    }
}

fn fill(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let mut out = BufWriter::with_capacity(1 << 16, file);
    write(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)
}

/// A temporary file, which is removed unless it has been moved away.
struct Part(PathBuf);

/// How many temporary files of this process may lie in a folder.
const MAX_PARTS: usize = 10_000;

impl Part {
    /// Makes one beside `place`.
    fn create(place: &Path) -> io::Result<(Self, File)> {
        let mut taken = io::Error::from(io::ErrorKind::AlreadyExists);
        for k in 0..MAX_PARTS {
            let path = place.with_file_name(format!("{PREFIX}{}.{k}{SUFFIX}", process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((Self(path), file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken = error,
                Err(error) => return Err(error),
            }
        }
        Err(taken)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// How the names of temporary files begin and end.
const PREFIX: &str = ".capeval.";
const SUFFIX: &str = ".part";

/// Whether a file of this name is the temporary file of some process, of this version of capeval or an older one.
pub(crate) fn is_part(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(SUFFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        let shown = path.display().to_string();
        let fail = |out: &mut dyn Write| {
            out.write_all(&[b'x'; 1 << 17])?;
            Err(io::Error::other("no more"))
        };
        let error = write_whole(&shown, fail).unwrap_err();
        assert!(error.to_string().ends_with("out.json: cannot write the file: no more"), "{error}");
        assert!(names(folder.path()).is_empty(), "{:?}", names(folder.path()));

        write_whole(&shown, |out| out.write_all(b"first")).unwrap();
        write_whole(&shown, fail).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        write_whole(&shown, |out| out.write_all(b"second")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second");
        assert_eq!(names(folder.path()), ["out.json"]);
    }

    #[test]
    fn what_cannot_be_written_is_refused_before_anything_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path| Target::new(&path.display().to_string()).unwrap_err().to_string();
        assert!(refused(&folder.path().join("absent/out")).contains("cannot write the file: no such"));
        assert!(refused(folder.path()).contains("cannot write the file: is a directory"));
    }

    #[test]
    fn a_file_is_known_by_any_path_before_it_exists() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        fs::create_dir(path("inner")).unwrap();
        let (a, b) = (path("out"), path("inner/../out"));
        assert!(is_same_file(&a, &b) && !is_same_file(&a, &path("other")));
        fs::write(&a, "").unwrap();
        assert!(is_same_file(&a, &b));
        assert!(!is_same_file(&path("inner"), &path("inner")));
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay_and_devices_are_written_directly() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        write_whole(&link.display().to_string(), |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        write_whole("/dev/null", |out| out.write_all(b"new")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
