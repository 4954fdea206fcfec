//! The files of a bundle, which is a ZIP archive or a folder. No program in it is run, and no path leads out of it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// The most files of an archive.
const MOST_FILES: usize = 20_000;

/// The most bytes of a page, or of the description.
const TEXT: u64 = 4 << 20;

/// An archive may unpack to this many bytes, or to [`MAX_RATIO`] times its own.
const UNPACKED: u64 = 64 << 20;

/// Text and JSON unpack to 3 to 30 times their size, data that are made to fill a disk to 1000 times.
const MAX_RATIO: u64 = 50;

/// The files of a bundle.
pub struct Bundle {
    root: Root,
    /// The paths of all files, with `/` between names.
    names: BTreeMap<String, Place>,
    /// The folder of the description, with `/` at its end unless it is empty.
    base: String,
}

enum Root {
    Folder,
    Archive { archive: RefCell<ZipArchive<BufReader<File>>>, left: RefCell<u64> },
}

#[derive(Clone, Debug)]
enum Place {
    Path(PathBuf),
    Index(usize),
}

/// A file of a bundle, or the files of a folder of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Member {
    File(String),
    /// The path of the folder, with `/` at its end.
    Folder(String),
}

impl Bundle {
    /// Opens an archive or a folder; an archive may unpack to `most` bytes.
    pub fn open(path: &Path, most: u64) -> anyhow::Result<Self> {
        let named = || path.display().to_string();
        let is_folder = fs::metadata(path).with_context(named)?.is_dir();
        let opened = if is_folder { Self::of_folder(path) } else { Self::of_archive(path, most) };
        opened.with_context(named)
    }

    fn of_folder(path: &Path) -> anyhow::Result<Self> {
        let root = path.canonicalize()?;
        let listed = capeval_files::files_in(&root.to_string_lossy())?;
        // Links that lead elsewhere are not part of the bundle.
        let inside = listed.into_iter().filter_map(|file| {
            let real = Path::new(&file).canonicalize().ok().filter(|real| real.starts_with(&root))?;
            let name = Path::new(&file).strip_prefix(&root).ok()?.to_str()?.replace('\\', "/");
            Some((name, Place::Path(real)))
        });
        Ok(Self { root: Root::Folder, names: inside.collect(), base: String::new() })
    }

    /// Opens an archive, which may unpack to `most` bytes.
    pub fn of_archive(path: &Path, most: u64) -> anyhow::Result<Self> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let archive =
            ZipArchive::new(BufReader::new(file)).context("this is no ZIP archive, and no folder")?;
        ensure!(archive.len() <= MOST_FILES, "the archive contains more than {MOST_FILES} files");
        let mut names = BTreeMap::new();
        for index in 0..archive.len() {
            let Some(name) = archive.name_for_index(index) else { continue };
            let name = name?.replace('\\', "/");
            if name.ends_with('/') || is_left_out(&name) {
                continue;
            }
            let name =
                joined("", &name).with_context(|| format!("the path {name} leads out of the archive"))?;
            names.insert(name, Place::Index(index));
        }
        let left = RefCell::new(UNPACKED.max(size.saturating_mul(MAX_RATIO)).min(most));
        Ok(Self { root: Root::Archive { archive: RefCell::new(archive), left }, names, base: String::new() })
    }

    /// Finds the description, which has one of these names, and returns its path; what it names is beside it.
    pub fn find_description(&mut self, names: &[&str]) -> anyhow::Result<String> {
        let own = |path: &str| path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        let depth = |path: &str| path.matches('/').count();
        let all: Vec<&String> = self.names.keys().filter(|path| names.contains(&&*own(path))).collect();
        let least = all.iter().map(|path| depth(path)).min();
        let found: Vec<&&String> = all.iter().filter(|path| Some(depth(path)) == least).collect();
        match found[..] {
            [] => bail!("there is none of {} in it", names.join(", ")),
            [path] => {
                let path = path.to_string();
                self.base = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
                Ok(path)
            }
            [one, other, ..] => {
                bail!("it contains several challenges, such as {one} and {other}: give the folder of one")
            }
        }
    }

    /// The file or the folder that the description names. A folder stands for its archive, too.
    pub fn find(&self, given: &str) -> Option<Member> {
        let path = joined(&self.base, &given.replace('\\', "/"))?;
        if self.names.contains_key(&path) {
            return Some(Member::File(path));
        }
        let is_folder = |folder: &String| self.names.keys().any(|name| name.starts_with(folder.as_str()));
        let bare = path.strip_suffix(".zip").unwrap_or(&path);
        [format!("{path}/"), format!("{bare}/")].into_iter().find(is_folder).map(Member::Folder)
    }

    /// The paths of the files in a folder, or of all.
    pub fn list(&self, folder: &str) -> Vec<String> {
        self.names.keys().filter(|name| name.starts_with(folder) && !is_left_out(name)).cloned().collect()
    }

    /// The content of a page, or of the description.
    pub fn text(&self, path: &str) -> anyhow::Result<String> {
        let mut bytes = Vec::new();
        self.read(path, |file| file.take(TEXT + 1).read_to_end(&mut bytes))?;
        ensure!(bytes.len() as u64 <= TEXT, "{path} is larger than {} MiB", TEXT >> 20);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(text.strip_prefix('\u{feff}').map_or(text.clone(), str::to_owned))
    }

    /// Copies a file.
    pub fn copy(&self, path: &str, out: &mut impl Write) -> anyhow::Result<u64> {
        let mut n = 0;
        self.read(path, |file| {
            n = io::copy(file, out)?;
            Ok(0)
        })?;
        Ok(n)
    }

    /// Packs a folder as an archive, equal whenever its files are.
    pub fn pack(&self, folder: &str, out: impl Write + Seek) -> anyhow::Result<()> {
        let mut archive = ZipWriter::new(out);
        let options = SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
        for path in self.list(folder) {
            archive.start_file(path.strip_prefix(folder).unwrap_or(&path), options)?;
            self.copy(&path, &mut archive)?;
        }
        archive.finish()?.flush()?;
        Ok(())
    }

    fn read(&self, path: &str, act: impl FnOnce(&mut dyn Read) -> io::Result<usize>) -> anyhow::Result<()> {
        let place = self.names.get(path).with_context(|| format!("{path} does not exist"))?;
        match (&self.root, place) {
            (Root::Archive { archive, left }, Place::Index(index)) => {
                let mut archive = archive.borrow_mut();
                let entry = archive.by_index(*index).with_context(|| path.to_owned())?;
                let before = *left.borrow();
                let mut limited = entry.take(before + 1);
                let done = act(&mut limited).with_context(|| path.to_owned());
                let after = limited.limit();
                ensure!(
                    after > 0,
                    "the archive unpacks to more than is allowed, or than {MAX_RATIO} times its size, at {path}"
                );
                *left.borrow_mut() = after - 1;
                done.map(drop)
            }
            (_, Place::Path(file)) => {
                let mut file = File::open(file).with_context(|| path.to_owned())?;
                act(&mut file).with_context(|| path.to_owned()).map(drop)
            }
            (Root::Folder, Place::Index(_)) => Ok(()),
        }
    }
}

/// Files that systems add to archives.
fn is_left_out(path: &str) -> bool {
    path.split('/').any(|name| name == "__MACOSX" || name == ".DS_Store")
}

/// A path relative to a folder, without `.` and `..`; `None` if it leads out of the bundle.
fn joined(base: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    if path.starts_with('/') || path.contains('\0') || path.as_bytes().get(1) == Some(&b':') {
        return None;
    }
    for part in base.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zip(files: &[(&str, &[u8])]) -> tempfile::NamedTempFile {
        let mut writer = ZipWriter::new(tempfile::NamedTempFile::new().unwrap());
        for (name, bytes) in files {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn what_the_description_names_is_beside_it() {
        let file = zip(&[
            ("x/competition.yaml", b"a"),
            ("x/old/competition.yaml", b"b"),
            ("x/data/ref.json", b"[]"),
            ("top.txt", b"t"),
            ("__MACOSX/x/competition.yaml", b""),
        ]);
        let mut bundle = Bundle::open(file.path(), u64::MAX).unwrap();
        let path = bundle.find_description(&["competition.yaml"]).unwrap();
        assert_eq!((path.as_str(), bundle.text(&path).unwrap().as_str()), ("x/competition.yaml", "a"));
        assert_eq!(bundle.find("./data/ref.json"), Some(Member::File("x/data/ref.json".to_owned())));
        for folder in ["data", "data/", "data.zip"] {
            assert_eq!(bundle.find(folder), Some(Member::Folder("x/data/".to_owned())), "{folder}");
        }
        assert_eq!(bundle.find("../top.txt"), Some(Member::File("top.txt".to_owned())));
        for outside in ["../../etc/passwd", "/etc/passwd", "C:\\x", "none.json"] {
            assert_eq!(bundle.find(outside), None, "{outside}");
        }
        let mut packed = io::Cursor::new(Vec::new());
        bundle.pack("x/data/", &mut packed).unwrap();
        assert_eq!(ZipArchive::new(packed).unwrap().file_names().count(), 1);
    }

    #[test]
    fn bombs_and_paths_that_lead_out_are_refused() {
        let zeros = vec![0; (UNPACKED + 1) as usize];
        let bundle = Bundle::open(zip(&[("a.json", &zeros)]).path(), u64::MAX).unwrap();
        assert!(bundle.copy("a.json", &mut io::sink()).unwrap_err().to_string().contains("times its size"));
        let error = |files: &[(&str, &[u8])]| {
            format!("{:#}", Bundle::open(zip(files).path(), u64::MAX).err().unwrap())
        };
        assert!(error(&[("../a", b"x")]).contains("leads out"));
        let text = tempfile::NamedTempFile::new().unwrap();
        assert!(
            format!("{:#}", Bundle::open(text.path(), u64::MAX).err().unwrap()).contains("no ZIP archive")
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_out_of_a_folder_are_not_part_of_it() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::NamedTempFile::new().unwrap());
        std::os::unix::fs::symlink(outside.path(), folder.path().join("ref.json")).unwrap();
        fs::write(folder.path().join("own.json"), "[]").unwrap();
        let bundle = Bundle::open(folder.path(), u64::MAX).unwrap();
        assert_eq!(bundle.list(""), ["own.json"]);
    }
}
