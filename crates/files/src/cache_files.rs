//! Files of a cache in folders: how large they are, and which make room for new ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The files with this extension, which belong to a cache.
pub struct CacheFiles {
    /// The extension.
    pub extension: &'static str,
    /// The most bytes of all files together.
    pub most_bytes: u64,
}

impl CacheFiles {
    /// The files in a folder: the time of the last change, the path and the size, from the oldest to the newest.
    pub fn list(&self, folder: &Path) -> Vec<(SystemTime, PathBuf, u64)> {
        let files = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| {
            let entry = entry.ok()?;
            let (path, metadata) = (entry.path(), entry.metadata().ok()?);
            let is_ours = path.extension().is_some_and(|extension| extension == self.extension);
            is_ours.then_some((metadata.modified().ok()?, path, metadata.len()))
        });
        let mut files: Vec<_> = files.collect();
        files.sort_unstable();
        files
    }

    /// The bytes of all files in these folders.
    pub fn size(&self, folders: &[PathBuf]) -> u64 {
        folders.iter().flat_map(|folder| self.list(folder)).map(|(.., bytes)| bytes).sum()
    }

    /// Removes the oldest files in these folders, but not the one at `path`, if all take too much space.
    pub fn remove_oldest(&self, folders: &[PathBuf], path: &Path) {
        let mut files: Vec<_> = folders.iter().flat_map(|folder| self.list(folder)).collect();
        let mut bytes: u64 = files.iter().map(|(.., bytes)| bytes).sum();
        files.sort_unstable();
        for (_, oldest, size) in files.into_iter().filter(|(_, other, _)| other != path) {
            if bytes <= self.most_bytes {
                return;
            }
            // If it stays, the next run removes it.
            let _ = fs::remove_file(oldest);
            bytes -= size;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_oldest_files_of_all_folders_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let folders = ["one", "two"].map(|name| folder.path().join(name));
        folders.iter().for_each(|folder| fs::create_dir(folder).unwrap());
        let files = [(0, "old.scores", 3), (1, "new.scores", 1), (1, "other.txt", 9), (0, "mine.scores", 5)];
        let path = |folder: usize, name| folders[folder].join(name);
        for (folder, name, age) in files {
            let file = File::create(path(folder, name)).unwrap();
            file.set_len(100).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - age)).unwrap();
        }
        let cache = CacheFiles { extension: "scores", most_bytes: 200 };
        assert_eq!(cache.size(&folders), 300);
        cache.remove_oldest(&folders, &path(0, "mine.scores"));
        let are_there = files.map(|(folder, name, _)| path(folder, name).exists());
        assert_eq!(are_there, [false, true, true, true]);
    }
}
