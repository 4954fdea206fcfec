//! Writes files completely or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;

use crate::Error;
use crate::path::expanded;
use crate::temporary::Temporary;

/// A file to write, which is known to be writable.
///
/// The content is written to a temporary file in the same folder, which replaces the file once it is complete and on
/// the disk; until then, an existing file keeps its content. On Linux, the temporary file has no name before that, so
/// that nothing is left behind, however the process ends; elsewhere, [`end_early`](crate::end_early)
/// removes it before an early exit. Devices and pipes are written directly.
#[derive(Debug)]
pub struct Target {
    /// The path as given.
    path: String,
    /// The path after resolving links, which are kept.
    place: PathBuf,
    is_direct: bool,
}

/// Writes the file `path`, as a [`Target`] does.
pub fn write_whole(path: &str, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    Target::new(path)?.write(write).map(drop)
}

/// Writes two files that are read together. Both are complete before either takes its place, and no former second
/// file is there when the first takes its own, so that the new one is never beside the former other one.
///
/// # Errors
/// When a file cannot be written. Both are then unchanged, unless it is their places that cannot be taken.
pub fn write_both(
    (first, write_first): (&str, impl FnOnce(&mut dyn Write) -> io::Result<()>),
    (second, write_second): (&str, impl FnOnce(&mut dyn Write) -> io::Result<()>),
) -> Result<(), Error> {
    let (first, second) = (Target::new(first)?, Target::new(second)?);
    let parts = (first.filled(write_first)?, second.filled(write_second)?);
    if matches!(parts, (Some(_), Some(_))) && second.place.exists() {
        fs::remove_file(&second.place).map_err(|cause| second.fault(cause))?;
    }
    first.take(parts.0)?;
    second.take(parts.1)
}

/// The path of a file after resolving links, whether or not it exists.
fn place(path: &str) -> PathBuf {
    let path = expanded(path);
    let path = Path::new(&*path);
    fs::canonicalize(path).unwrap_or_else(|_| {
        let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        match (fs::canonicalize(folder), path.file_name()) {
            (Ok(folder), Some(name)) => folder.join(name),
            _ => path.to_owned(),
        }
    })
}

/// Returns true if two paths name the same file, which need not exist; false for devices such as /dev/null.
pub fn is_same_file(a: &str, b: &str) -> bool {
    let (a, b) = (place(a), place(b));
    (a == b && (a.is_file() || !a.exists())) || are_hard_links(&a, &b)
}

/// Returns true if two paths are names of one file.
#[cfg(unix)]
fn are_hard_links(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let file = |path| fs::metadata(path).ok().filter(fs::Metadata::is_file);
    file(a).zip(file(b)).is_some_and(|(a, b)| (a.dev(), a.ino()) == (b.dev(), b.ino()))
}

#[cfg(not(unix))]
fn are_hard_links(_: &Path, _: &Path) -> bool {
    false
}

impl Target {
    /// Prepares to write the file `path`, which need not exist.
    pub fn new(path: &str) -> Result<Self, Error> {
        let path = &*expanded(path);
        let system = |cause| Error::system("write the file", path, cause);
        let metadata = fs::metadata(path).ok();
        let is_regular = metadata.as_ref().is_none_or(fs::Metadata::is_file);
        if metadata.as_ref().is_some_and(|metadata| metadata.is_file() || metadata.is_dir()) {
            // A read-only file must not be replaced either.
            OpenOptions::new().write(true).open(path).map_err(system)?;
        }
        let dangles = metadata.is_none() && fs::symlink_metadata(path).is_ok();
        // The shell may have connected these to files, but they are open already.
        let mut open = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"].iter();
        let is_open = open.any(|device| Path::new(path).starts_with(device));
        let is_direct = is_open || dangles || !is_regular;
        let place = place(path);
        if !is_direct {
            Part::create(&place).map_err(system)?;
        }
        Ok(Self { path: path.to_owned(), place, is_direct })
    }

    /// Writes the whole content with `write`, and moves the file to its place. Returns its size in bytes; `None` for a
    /// device or a pipe.
    ///
    /// # Errors
    /// When the file cannot be written, or `write` fails; an existing file is then unchanged.
    pub fn write(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<Option<u64>, Error> {
        let part = self.filled(write)?;
        let size = part.as_ref().map(|(_, size)| *size);
        self.take(part)?;
        Ok(size)
    }

    /// The whole content in a temporary file, with its size; `None` if it was written directly.
    fn filled(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Option<(Part, u64)>, Error> {
        let filled = || -> io::Result<Option<(Part, u64)>> {
            if self.is_direct {
                let open = OpenOptions::new().write(true).create(true).truncate(true).open(&self.path);
                return fill(&open?, write).map(|_| None);
            }
            let part = Part::create(&self.place)?;
            // Before any content is written, so it is never readable without permission.
            if let Ok(metadata) = fs::metadata(&self.place) {
                part.file.set_permissions(metadata.permissions())?;
            }
            let size = fill(&part.file, write)?;
            part.file.sync_all()?;
            Ok(Some((part, size)))
        };
        filled().map_err(|cause| self.fault(cause))
    }

    /// Moves what was filled to its place.
    fn take(&self, part: Option<(Part, u64)>) -> Result<(), Error> {
        let taken = part.map_or(Ok(()), |(part, _)| part.take_place(&self.place));
        taken.map_err(|cause| self.fault(cause))
    }

    fn fault(&self, cause: io::Error) -> Error {
        Error::system("write the file", &*self.path, cause)
    }
}

fn fill(file: &File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<u64> {
    let mut out = CountingWriter { out: BufWriter::with_capacity(1 << 16, file), size: 0 };
    write(&mut out)?;
    out.flush()?;
    Ok(out.size)
}

/// A writer that counts bytes.
struct CountingWriter<W> {
    out: W,
    size: u64,
}

impl<W: Write> Write for CountingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.size += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A temporary file, which is removed on drop unless it has replaced another.
struct Part {
    file: File,
    /// Its path, if it has a name.
    name: Option<Temporary>,
}

/// The maximum number of temporary files of this process in a folder.
const MAX_PARTS: usize = 10_000;

impl Part {
    /// Creates a temporary file in the folder of `place`.
    fn create(place: &Path) -> io::Result<Self> {
        if let Some(file) = unnamed(place) {
            return Ok(Self { file, name: None });
        }
        let create = |name: &Path| OpenOptions::new().write(true).create_new(true).open(name);
        let (file, name) = with_free_name(place, create)?;
        Ok(Self { file, name: Some(name) })
    }

    /// Moves the file to `place`; replaces an existing file.
    fn take_place(mut self, place: &Path) -> io::Result<()> {
        if self.name.is_none() {
            match link(&self.file, place) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let ((), name) = with_free_name(place, |name| link(&self.file, name))?;
                    self.name = Some(name);
                }
                linked => return linked,
            }
        }
        self.name.as_ref().map_or(Ok(()), |name| fs::rename(name.path(), place))
    }
}

/// Creates a file with `make` under a free name in the folder of `place`.
fn with_free_name<T>(place: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(T, Temporary)> {
    let mut taken = io::Error::from(io::ErrorKind::AlreadyExists);
    for k in 0..MAX_PARTS {
        let name = place.with_file_name(format!("{PREFIX}{}.{k}{SUFFIX}", process::id()));
        let name = Temporary::new(name);
        match make(name.path()) {
            Ok(made) => return Ok((made, name)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                name.release();
                taken = error;
            }
            Err(error) => return Err(error),
        }
    }
    Err(taken)
}

/// Creates a file without a name in the folder of `place`; `None` if the file system does not support such files.
#[cfg(target_os = "linux")]
fn unnamed(place: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    let folder = place.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = File::from(open(folder, flags, Mode::from_raw_mode(0o666)).ok()?);
    // A name is added through this path.
    open_file(&file).exists().then_some(file)
}

/// Adds the name `name`, which must be free, to a file without a name.
#[cfg(target_os = "linux")]
fn link(file: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, open_file(file), CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(target_os = "linux")]
fn open_file(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

/// The beginning and the end of the names of temporary files.
const PREFIX: &str = ".capeval.";
const SUFFIX: &str = ".part";

/// A temporary file, by its name: also of another program that writes like this one.
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
    fn two_files_change_together() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| folder.path().join(name).display().to_string());
        let both = || [&a, &b].map(|path| fs::read_to_string(path).unwrap());
        write_both((&a, |out| out.write_all(b"1")), (&b, |out| out.write_all(b"2"))).unwrap();
        assert_eq!(both(), ["1", "2"]);
        let fails = |_: &mut dyn Write| Err(io::Error::other("no more"));
        write_both((&a, |out| out.write_all(b"3")), (&b, fails)).unwrap_err();
        write_both((&a, fails), (&b, |out| out.write_all(b"4"))).unwrap_err();
        assert_eq!(both(), ["1", "2"]);
        write_both((&a, |out| out.write_all(b"5")), (&b, |out| out.write_all(b"6"))).unwrap();
        assert_eq!(both(), ["5", "6"]);
        assert_eq!(names(folder.path()), ["a", "b"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_unfinished_file_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json").display().to_string();
        for expected in [&[][..], &["out.json"]] {
            write_whole(&path, |out| {
                out.write_all(&[b'x'; 1 << 17])?;
                assert_eq!(names(folder.path()), expected);
                Ok(())
            })
            .unwrap();
        }
        assert_eq!(names(folder.path()), ["out.json"]);
    }

    #[test]
    fn a_file_with_a_temporary_name_takes_its_place_or_goes() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("out");
        let named = || {
            let (file, name) = with_free_name(&place, |name| File::create_new(name)).unwrap();
            Part { file, name: Some(name) }
        };
        let (first, second) = (named(), named());
        assert_eq!(names(folder.path()).len(), 2);
        drop(first);
        assert_eq!(names(folder.path()).len(), 1);
        second.take_place(&place).unwrap();
        assert_eq!(names(folder.path()), ["out"]);
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
