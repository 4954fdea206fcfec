//! The data of NLTK, which its users have in a folder: unpacked, or as its downloader leaves them, in ZIP archives.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use capeval_choice::{Argument, Refusal, Remedy};
use zip::ZipArchive;

use crate::Error;
use crate::bytes::read;
use crate::path::expanded;

/// The largest file in an archive.
const LARGEST: u64 = 256 << 20;

/// A folder with data of NLTK.
#[derive(Clone, Debug)]
pub struct NltkData {
    folders: Vec<PathBuf>,
    /// True if the user named it.
    is_named: bool,
}

impl NltkData {
    /// The folder of this path, or, without one, those in which NLTK looks: `NLTK_DATA`, the user's and the system's.
    pub fn new(folder: Option<&str>) -> Self {
        if let Some(folder) = folder {
            return Self { folders: vec![PathBuf::from(&*expanded(folder))], is_named: true };
        }
        let variable = std::env::var_os("NLTK_DATA").unwrap_or_default();
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let mut folders: Vec<PathBuf> =
            std::env::split_paths(&variable).filter(|path| !path.as_os_str().is_empty()).collect();
        folders.extend(home.map(|home| home.join("nltk_data")));
        let system = ["/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib"];
        folders.extend(system.map(|folder| Path::new(folder).join("nltk_data")));
        Self { folders, is_named: false }
    }

    /// The file `name` of a package such as `tokenizers/punkt_tab`.
    ///
    /// # Errors
    /// When none of the folders has it.
    pub fn file(&self, package: &str, name: &str) -> Result<Vec<u8>, Error> {
        let leaf = package.rsplit('/').next().unwrap_or(package);
        for folder in &self.folders {
            let plain = folder.join(package).join(name);
            if plain.is_file() {
                return Ok(read(&plain.to_string_lossy())?.to_vec());
            }
            let archive = folder.join(format!("{package}.zip"));
            if archive.is_file() {
                let path = archive.to_string_lossy().into_owned();
                let bytes = read(&path)?;
                return unpacked(&bytes, &format!("{leaf}/{name}"))
                    .map_err(|why| Error::content(&path, Refusal::new(why)));
            }
        }
        let places: Vec<String> = self.folders.iter().map(|folder| folder.display().to_string()).collect();
        let places = if self.is_named { places.join("") } else { format!("any of {}", places.join(", ")) };
        Err(Refusal::new(format!("{package} of NLTK's data is not in {places}"))
            .with_remedy(
                Remedy::say(format!("run `python -m nltk.downloader {leaf}`"))
                    .or(Remedy::give(Argument::NltkData).to("say where it is")),
            )
            .into())
    }
}

fn unpacked(archive: &[u8], name: &str) -> Result<Vec<u8>, String> {
    let mut archive =
        ZipArchive::new(Cursor::new(archive)).map_err(|error| format!("this is no ZIP archive ({error})"))?;
    let file = archive.by_name(name).map_err(|_| format!("{name} is not in it"))?;
    let mut bytes = Vec::new();
    match file.take(LARGEST + 1).read_to_end(&mut bytes) {
        Ok(n) if n as u64 <= LARGEST => Ok(bytes),
        Ok(_) => Err(format!("{name} is larger than {} MB", LARGEST >> 20)),
        Err(error) => Err(format!("{name} cannot be unpacked ({error})")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    #[test]
    fn files_are_found_unpacked_and_in_archives() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_string_lossy().into_owned();
        let data = NltkData::new(Some(&root));
        let error = data.file("corpora/wordnet", "noun.exc").unwrap_err();
        assert_eq!(error.to_string(), format!("corpora/wordnet of NLTK's data is not in {root}"));
        assert!(error.remedy().unwrap().to_string().contains("python -m nltk.downloader wordnet"));
        fs::create_dir(folder.path().join("corpora")).unwrap();
        let mut archive =
            zip::ZipWriter::new(fs::File::create(folder.path().join("corpora/wordnet.zip")).unwrap());
        archive.start_file("wordnet/noun.exc", zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(b"geese goose\n").unwrap();
        archive.finish().unwrap();
        assert_eq!(data.file("corpora/wordnet", "noun.exc").unwrap(), b"geese goose\n");
        let error = data.file("corpora/wordnet", "verb.exc").unwrap_err().to_string();
        assert!(error.ends_with("wordnet.zip: wordnet/verb.exc is not in it"), "{error}");
        fs::create_dir(folder.path().join("corpora/wordnet")).unwrap();
        fs::write(folder.path().join("corpora/wordnet/noun.exc"), "oxen ox\n").unwrap();
        assert_eq!(data.file("corpora/wordnet", "noun.exc").unwrap(), b"oxen ox\n");
        fs::write(folder.path().join("corpora/omw.zip"), "no").unwrap();
        assert!(data.file("corpora/omw", "x").unwrap_err().to_string().contains("this is no ZIP archive"));
    }
}
