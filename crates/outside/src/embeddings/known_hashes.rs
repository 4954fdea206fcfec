//! Hashes of large files, which are computed once as long as a file stays as it is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use capeval::Picture;
use capeval_choice::Refusal;
use capeval_files::{cache_folder, picture_file, write_whole};
use serde::{Deserialize, Serialize};

use crate::embeddings::hash;

/// The known facts about a file.
#[derive(Clone, Serialize, Deserialize)]
struct FileHash {
    /// Its size and the time of its last change.
    state: String,
    sha256: String,
}

/// The SHA-256 of a file.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn of(path: &Path) -> Result<String, Refusal> {
    of_within(path, cache_folder().map(|folder| folder.join("hashes.json")))
}

fn of_within(path: &Path, list: Option<PathBuf>) -> Result<String, Refusal> {
    let (path, state) = match picture_file(path)? {
        Picture::File { path, state } => (path, state),
        Picture::Held => return Err(Refusal::new("no file").at(path.display())),
    };
    let list = list.map(|list| list.display().to_string());
    // What cannot be read is begun again.
    let read = |list: &String| serde_json::from_slice(&capeval_files::read(list).ok()?).ok();
    let mut all: BTreeMap<String, FileHash> = list.as_ref().and_then(read).unwrap_or_default();
    if let Some(known) = all.get(&path).filter(|known| known.state == state) {
        return Ok(known.sha256.clone());
    }
    let bytes = capeval_files::open(&path).map_err(|error| Refusal::new(error.to_string()))?;
    let sha256 = hash::of(&bytes);
    all.insert(path, FileHash { state, sha256: sha256.clone() });
    if let Some(list) = list {
        if let Some(folder) = Path::new(&list).parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        // What cannot be kept is computed again.
        let _ = write_whole(&list, |out| Ok(serde_json::to_writer(out, &all)?));
    }
    Ok(sha256)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_again_once_it_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let (file, list) = (folder.path().join("weights"), folder.path().join("cache/hashes.json"));
        let now = || of_within(&file, Some(list.clone())).unwrap();
        std::fs::write(&file, "one").unwrap();
        let first = now();
        assert_eq!(first, hash::of(b"one"));
        // What the list says is believed.
        let lie = std::fs::read_to_string(&list).unwrap().replace(&first, "lie");
        std::fs::write(&list, lie).unwrap();
        assert_eq!(now(), "lie");
        std::fs::write(&file, "another").unwrap();
        assert_eq!(now(), hash::of(b"another"));
        std::fs::write(&list, "damaged").unwrap();
        assert_eq!(now(), hash::of(b"another"));
        assert!(of_within(&folder.path().join("none"), None).is_err());
    }
}
