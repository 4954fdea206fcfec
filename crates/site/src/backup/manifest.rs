//! The manifest of a backup.

use std::fs::{self, File};
use std::io;
use std::path::{Component, Path};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use crate::ids;

/// The version of the form of backups.
pub const FORMAT: u32 = 1;

/// The file.
const NAME: &str = "manifest.json";

/// The list of all files of a backup, with how it was made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the form.
    pub format: u32,
    /// The version of the program that made it.
    pub program: String,
    /// The version of the tables.
    pub tables: usize,
    /// The kind of database that it was made from.
    pub database: String,
    /// The time when it was made.
    pub made_at: String,
    /// The files, without this one.
    pub files: Vec<Entry>,
    /// Files that rows name and that were missing already.
    pub missing: Vec<String>,
}

/// A file of a backup.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// The path in the backup.
    pub path: String,
    /// The number of bytes.
    pub size: u64,
    /// The hash of its content.
    pub sha256: String,
}

/// All files in a folder, which are named after their content or else read.
pub fn entries(folder: &Path) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    collect(folder, "", &mut entries)?;
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
}

fn collect(folder: &Path, prefix: &str, entries: &mut Vec<Entry>) -> io::Result<()> {
    for found in fs::read_dir(folder.join(prefix))? {
        let found = found?;
        let name = found.file_name().to_string_lossy().into_owned();
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
        if found.file_type()?.is_dir() {
            collect(folder, &path, entries)?;
            continue;
        }
        let is_named_by_content = prefix.contains('/');
        let sha256 = if is_named_by_content { name } else { hash(&found.path())? };
        entries.push(Entry { path, size: found.metadata()?.len(), sha256 });
    }
    // The names in a folder are on the disk once the folder is.
    File::open(folder.join(prefix))?.sync_all()
}

fn hash(path: &Path) -> io::Result<String> {
    ids::digest_of(File::open(path)?)
}

impl Manifest {
    pub(super) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let file = File::create(folder.join(NAME))?;
        serde_json::to_writer_pretty(&file, self)?;
        file.sync_all()?;
        Ok(File::open(folder)?.sync_all()?)
    }

    /// Reads the manifest of a backup.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join(NAME);
        let text = fs::read(&path)
            .with_context(|| format!("{} is not a backup: {}", folder.display(), path.display()))?;
        let manifest: Self = serde_json::from_slice(&text).with_context(|| path.display().to_string())?;
        if manifest.format > FORMAT {
            bail!("the backup was created by the newer version {} of the program", manifest.program);
        }
        for Entry { path, .. } in &manifest.files {
            let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
            anyhow::ensure!(
                is_inside && !path.is_empty(),
                "the manifest names a file outside of the backup: {path}"
            );
        }
        Ok(manifest)
    }

    /// The differences between the manifest and the files of a backup, a sentence each.
    pub fn differences(&self, folder: &Path) -> anyhow::Result<Vec<String>> {
        let mut differences = Vec::new();
        for entry in &self.files {
            let path = super::file(folder, entry);
            match fs::metadata(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    differences.push(format!("{} is missing", entry.path));
                }
                Err(error) => return Err(error).with_context(|| path.display().to_string()),
                Ok(found) if found.len() != entry.size => {
                    differences.push(format!("{} has {} bytes, not {}", entry.path, found.len(), entry.size));
                }
                Ok(_) => {
                    if hash(&path)? != entry.sha256 {
                        differences.push(format!("{} has changed", entry.path));
                    }
                }
            }
        }
        Ok(differences)
    }
}
