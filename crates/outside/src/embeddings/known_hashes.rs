//! Keeps the hashes of large files, which are computed again only if a file changes.

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

/// The hashes of files, by their paths from the root, of this run and of earlier ones.
#[derive(Default)]
pub(crate) struct KnownHashes {
    /// The file that keeps them; `None` if they do not survive the run.
    list: Option<String>,
    all: BTreeMap<String, FileHash>,
    has_new: bool,
}

impl KnownHashes {
    /// The hashes in the list with this name in the user's folder for caches.
    pub fn of_user(name: &str) -> Self {
        Self::read(cache_folder().map(|folder| folder.join(name)))
    }

    fn read(list: Option<PathBuf>) -> Self {
        let list = list.map(|list| list.display().to_string());
        // What cannot be read is begun again.
        let read = |list: &String| serde_json::from_slice(&capeval_files::read(list).ok()?).ok();
        Self { all: list.as_ref().and_then(read).unwrap_or_default(), list, has_new: false }
    }

    /// The SHA-256 of a file, if it was computed in this state.
    pub fn find(&self, path: &str, state: &str) -> Option<&str> {
        let known = self.all.get(path).filter(|known| known.state == state)?;
        Some(&known.sha256)
    }

    /// Adds the SHA-256 of a file in this state.
    pub fn add(&mut self, path: String, state: String, sha256: String) {
        self.all.insert(path, FileHash { state, sha256 });
        self.has_new = true;
    }

    /// Keeps the hashes for later runs, if there are new ones. What cannot be kept is computed again.
    pub fn keep(&mut self) {
        let Some(list) = self.list.as_ref().filter(|_| std::mem::take(&mut self.has_new)) else { return };
        if let Some(folder) = Path::new(list).parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        let _ = write_whole(list, |out| Ok(serde_json::to_writer(out, &self.all)?));
    }
}

/// The SHA-256 of a file.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn of(path: &Path) -> Result<String, Refusal> {
    of_within(path, KnownHashes::of_user("hashes.json"))
}

fn of_within(path: &Path, mut all: KnownHashes) -> Result<String, Refusal> {
    let (path, state) = match picture_file(path)? {
        Picture::File { path, state } => (path, state),
        Picture::Held => return Err(Refusal::new("no file").at(path.display())),
    };
    if let Some(known) = all.find(&path, &state) {
        return Ok(known.to_owned());
    }
    let bytes = capeval_files::open(&path).map_err(|error| Refusal::new(error.to_string()))?;
    let sha256 = hash::of(&bytes);
    all.add(path, state, sha256.clone());
    all.keep();
    Ok(sha256)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_again_once_it_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let (file, list) = (folder.path().join("weights"), folder.path().join("cache/hashes.json"));
        let now = || of_within(&file, KnownHashes::read(Some(list.clone()))).unwrap();
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
        assert!(of_within(&folder.path().join("none"), KnownHashes::default()).is_err());
    }
}
