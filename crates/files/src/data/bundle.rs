//! Compiled data as people carry them from machine to machine: a bundle, which is one zip file with the files of a
//! folder for data, or such a folder.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;

use capeval_choice::{Refusal, Remedy};
use sha2::{Digest, Sha256};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{Compiled, DATA, DataKind, Progress};
use crate::{Bytes, Error, Home, write_whole};

/// The file of a bundle with the hash of each other file, in the form of the program sha256sum.
const SUMS: &str = "SHA256SUMS";

/// Writes installed data to a bundle, with those that they need. Every byte is verified first.
pub fn write_bundle(
    home: &Home,
    kinds: &[&'static DataKind],
    file: &str,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<&'static DataKind>, Error> {
    let is_wanted = |kind: &DataKind| {
        let is = |other: &DataKind| other.name == kind.name;
        kinds.iter().any(|wanted| is(wanted) || wanted.needs.iter().any(|need| is(need.kind)))
    };
    let wanted: Vec<&'static DataKind> = DATA.iter().filter(|kind| is_wanted(kind)).copied().collect();
    for kind in &wanted {
        progress(Progress { stage: "verifying", done: 0, total: None });
        if home.verify(kind)?.is_none() {
            return Err(Refusal::new(kind.absence()).with_remedy(kind.remedy()).into());
        }
    }
    let mut files = Vec::new();
    for kind in &wanted {
        for path in [home.file(kind), home.notice(kind)] {
            let size = std::fs::metadata(&path)
                .map_err(|cause| Error::system("open the file", path.display(), cause))?
                .len();
            files.push((path, size));
        }
    }
    let total = files.iter().map(|(_, size)| size).sum();
    let mut done = 0;
    let mut packed = Vec::new();
    let wrong = |path: &Path, cause| Error::system("read the file", path.display(), cause);
    for (path, size) in &files {
        progress(Progress { stage: "packing", done, total: Some(total) });
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|mut file| file.read_to_end(&mut bytes))
            .map_err(|cause| wrong(path, cause))?;
        done += size;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        packed.push((name, bytes));
    }
    write_whole(file, |mut out| {
        // A zip is written from its start to its end, so that it can go into a pipe.
        let mut zip = ZipWriter::new_stream(&mut out);
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        let mut sums = String::new();
        for (name, bytes) in &packed {
            zip.start_file(name.as_str(), options).map_err(io::Error::other)?;
            zip.write_all(bytes)?;
            sums += &format!("{}  {name}\n", hash(bytes));
        }
        zip.start_file(SUMS, options).map_err(io::Error::other)?;
        zip.write_all(sums.as_bytes())?;
        zip.finish().map_err(io::Error::other).map(drop)
    })?;
    Ok(wanted)
}

/// Whether compiled data of this kind are in a bundle or a folder.
pub(crate) fn holds(source: &Path, kind: &DataKind) -> bool {
    let name = kind.file_name();
    if source.is_dir() {
        return source.join(name).is_file();
    }
    let archive = File::open(source).ok().and_then(|file| ZipArchive::new(BufReader::new(file)).ok());
    archive.is_some_and(|archive| archive.index_for_name(&name).is_some())
}

/// The compiled data of this kind in a bundle or a folder, which holds them, verified in every byte.
pub(crate) fn compiled(source: &Path, kind: &DataKind) -> Result<Compiled, Error> {
    let wrong = |refusal: Refusal| Error::content(source.display(), refusal);
    let (bytes, notice) = if source.is_dir() {
        let read = |name: String| {
            let path = source.join(name);
            std::fs::read(&path).map_err(|cause| Error::system("read the file", path.display(), cause))
        };
        (read(kind.file_name())?, read(kind.notice_name())?)
    } else {
        let file =
            File::open(source).map_err(|cause| Error::system("open the file", source.display(), cause))?;
        let damaged = |error: ZipError| wrong(damage(&error.to_string()));
        let mut archive = ZipArchive::new(BufReader::new(file)).map_err(damaged)?;
        let mut read = |name: &str| member(&mut archive, name).map_err(wrong);
        let sums = read(SUMS)?;
        let sums = String::from_utf8_lossy(&sums).into_owned();
        let mut listed = |name: String| {
            let bytes = read(&name)?;
            let line = format!("{}  {name}", hash(&bytes));
            if sums.lines().any(|known| known == line) {
                Ok(bytes)
            } else {
                Err(wrong(damage(&format!("{name} has another hash"))))
            }
        };
        (listed(kind.file_name())?, listed(kind.notice_name())?)
    };
    let bytes = Arc::new(bytes);
    let fingerprint = (kind.verify)(Bytes::copy(&bytes)).map_err(wrong)?;
    let is_recognized = fingerprint == kind.published;
    let notice = String::from_utf8_lossy(&notice).into_owned();
    Ok(Compiled { bytes, notice, is_recognized, fingerprint })
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

/// The SHA-256 of bytes in hexadecimal digits.
fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
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
        pack(&home, &[&WORDS, &RULES], &bundle);
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
        for (at, kind) in [(200, &WORDS), (whole.len() / 2, &RULES)] {
            let mut changed = whole.clone();
            changed[at] ^= 0x55;
            std::fs::write(&bundle, &changed).unwrap();
            let error = compiled(&bundle, kind).err().unwrap().to_string();
            assert!(error.contains("this bundle is damaged"), "{error}");
        }
        std::fs::write(&bundle, &whole[..whole.len() - 30]).unwrap();
        assert!(!holds(&bundle, &WORDS), "a bundle without its end is none");
    }

    /// Writes a bundle of kinds that are not in `DATA`.
    fn pack(home: &Home, kinds: &[&DataKind], file: &Path) {
        let mut zip = ZipWriter::new(File::create(file).unwrap());
        let mut sums = String::new();
        for path in kinds.iter().flat_map(|kind| [home.file(kind), home.notice(kind)]) {
            let (name, bytes) = (path.file_name().unwrap().to_str().unwrap(), std::fs::read(&path).unwrap());
            let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
            zip.start_file(name, stored).unwrap();
            zip.write_all(&bytes).unwrap();
            sums += &format!("{}  {name}\n", hash(&bytes));
        }
        zip.start_file(SUMS, SimpleFileOptions::default()).unwrap();
        zip.write_all(sums.as_bytes()).unwrap();
        zip.finish().unwrap();
    }
}
