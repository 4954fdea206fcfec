//! Compiled data as people carry them from machine to machine: a bundle, which is one zip file with the files of a
//! folder for data, or such a folder.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;

use capeval_choice::{Refusal, Remedy};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{CompiledData, DataKind, Progress};
use crate::hash::sha256;
use crate::{Bytes, Error, Home};

/// The file of a bundle with the hash of each other file, in the form of the program sha256sum.
const SUMS: &str = "SHA256SUMS";

/// A bundle to write: installed data, read and verified.
pub struct Bundle {
    /// The data, each after those that it needs.
    pub kinds: Vec<&'static DataKind>,
    /// The name and the content of each file.
    files: Vec<(String, Vec<u8>)>,
}

impl Bundle {
    /// A bundle of these data and of those that they need. Every byte is verified.
    pub fn of(
        home: &Home,
        named: &[&'static DataKind],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, Error> {
        let mut kinds: Vec<&'static DataKind> = Vec::new();
        for kind in named.iter().flat_map(|kind| kind.needs.iter().map(|need| need.kind).chain([*kind])) {
            if !kinds.iter().any(|known| known.name == kind.name) {
                kinds.push(kind);
            }
        }
        let mut files = Vec::new();
        for kind in &kinds {
            progress(Progress { stage: "verifying", done: 0, total: None });
            if home.verify(kind)?.is_none() {
                return Err(Refusal::new(kind.absence()).with_remedy(kind.remedy()).into());
            }
            for (name, path) in [(kind.file_name(), home.file(kind)), (kind.notice_name(), home.notice(kind))]
            {
                files.push((name, read(&path)?));
            }
        }
        Ok(Self { kinds, files })
    }

    /// Writes the zip file. It is made in memory first: the library prints what fails while it writes.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        let mut sums = String::new();
        for (name, bytes) in &self.files {
            zip.start_file(name.as_str(), options).map_err(io::Error::other)?;
            zip.write_all(bytes)?;
            sums += &line(name, bytes)?;
        }
        zip.start_file(SUMS, options).map_err(io::Error::other)?;
        zip.write_all(sums.as_bytes())?;
        out.write_all(zip.finish().map_err(io::Error::other)?.get_ref())
    }
}

/// The line of a file among the hashes.
fn line(name: &str, bytes: &[u8]) -> io::Result<String> {
    Ok(format!("{}  {name}\n", sha256(bytes)?))
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|cause| Error::system("read the file", path.display(), cause))
}

/// Returns true if compiled data of this kind are in a bundle or a folder.
pub(crate) fn holds(source: &Path, kind: &DataKind) -> bool {
    let name = kind.file_name();
    if source.is_dir() {
        return source.join(name).is_file();
    }
    let archive = File::open(source).ok().and_then(|file| ZipArchive::new(BufReader::new(file)).ok());
    archive.is_some_and(|archive| archive.index_for_name(&name).is_some())
}

/// The compiled data of this kind in a bundle or a folder, which holds them, verified in every byte.
pub(crate) fn compiled(source: &Path, kind: &DataKind) -> Result<CompiledData, Error> {
    let wrong = |refusal: Refusal| Error::content(source.display(), refusal);
    let (bytes, notice) = if source.is_dir() {
        (read(&source.join(kind.file_name()))?, read(&source.join(kind.notice_name()))?)
    } else {
        let file =
            File::open(source).map_err(|cause| Error::system("open the file", source.display(), cause))?;
        let damaged = |error: ZipError| wrong(damage(&error.to_string()));
        let mut archive = ZipArchive::new(BufReader::new(file)).map_err(damaged)?;
        let sums = member(&mut archive, SUMS).map_err(wrong)?;
        let sums = String::from_utf8_lossy(&sums).into_owned();
        let mut listed = |name: String| {
            let bytes = member(&mut archive, &name)?;
            let is_listed = line(&name, &bytes).is_ok_and(|line| sums.contains(&line));
            if is_listed { Ok(bytes) } else { Err(damage(&format!("{name} has another hash"))) }
        };
        (listed(kind.file_name()).map_err(wrong)?, listed(kind.notice_name()).map_err(wrong)?)
    };
    let bytes = Arc::new(bytes);
    let fingerprint = (kind.verify)(Bytes::copy(&bytes)).map_err(wrong)?;
    let is_recognized = fingerprint == kind.published;
    let notice = String::from_utf8_lossy(&notice).into_owned();
    Ok(CompiledData { bytes, notice, is_recognized, fingerprint })
}

fn member<R: Read + Seek>(archive: &mut ZipArchive<R>, name: &str) -> Result<Vec<u8>, Refusal> {
    let mut file = archive.by_name(name).map_err(|error| damage(&format!("{name}: {error}")))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|error| damage(&format!("{name}: {error}")))?;
    Ok(bytes)
}

fn damage(what: &str) -> Refusal {
    Refusal::new(format!("this bundle is damaged: {what}")).with_remedy(Remedy::say("copy or fetch it again"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::Home;
    use crate::home::tests::{RULES, WORDS};

    #[test]
    fn a_bundle_or_a_folder_gives_back_what_was_installed_and_damage_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().join("data"));
        std::fs::create_dir(home.folder()).unwrap();
        for kind in [&WORDS, &RULES] {
            std::fs::write(home.file(kind), kind.name.repeat(1000)).unwrap();
            std::fs::write(home.notice(kind), "whose they are").unwrap();
        }
        let bundle = folder.path().join("bundle.zip");
        // With the rules come the words that they need.
        let packed = Bundle::of(&home, &[&RULES], &mut |_| {}).unwrap();
        assert_eq!(packed.kinds.iter().map(|kind| kind.name).collect::<Vec<_>>(), ["words", "rules"]);
        packed.write(&mut File::create(&bundle).unwrap()).unwrap();
        for source in [bundle.as_path(), home.folder()] {
            assert!(holds(source, &WORDS) && holds(source, &RULES));
            let other = Home::new(folder.path().join("other"));
            let installed = other.install(&RULES, Some(source), &[], &mut |_| {}).unwrap();
            assert_eq!(std::fs::read(&installed.file).unwrap(), "rules".repeat(1000).as_bytes());
            assert_eq!(std::fs::read(&installed.notice).unwrap(), b"whose they are");
            std::fs::remove_dir_all(other.folder()).unwrap();
        }
        assert!(!holds(&folder.path().join("none"), &WORDS) && !holds(folder.path(), &WORDS));
        let whole = std::fs::read(&bundle).unwrap();
        let other = Bundle { files: vec![("words.bin".to_owned(), b"others".to_vec())], ..packed };
        let mut changed = Vec::new();
        other.write(&mut changed).unwrap();
        // A notice that is missing, and a byte that is wrong.
        let at = whole.windows(9).position(|part| part == b"rules.bin").unwrap() + 12;
        let flipped = [&whole[..at], &[whole[at] ^ 0x55], &whole[at + 1..]].concat();
        for (content, kind) in [(&changed, &WORDS), (&flipped, &RULES)] {
            std::fs::write(&bundle, content).unwrap();
            let error = compiled(&bundle, kind).err().unwrap().to_string();
            assert!(error.contains("this bundle is damaged"), "{error}");
        }
        std::fs::write(&bundle, &whole[..whole.len() - 30]).unwrap();
        assert!(!holds(&bundle, &WORDS), "a bundle without its end is none");
    }
}
