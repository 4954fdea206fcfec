//! Backups: a folder with all rows and all files, made while the site is in use, and checked before it is restored.
//!
//! Rows are written as lines of text, the same for SQLite and PostgreSQL, so no program of the database is needed
//! and a backup of the one can be restored into the other. Rows are read first, from one snapshot; files are named
//! after their content and never change, so those that the rows name are there afterwards.

mod manifest;
pub mod moving;
pub mod nightly;
mod restore;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use flate2::Compression;
use flate2::write::GzEncoder;

pub use manifest::{Entry, Manifest};
pub use restore::{CheckedBackup, check, restore};

use crate::app::App;
use crate::blobs::{Blobs, FOLDERS};
use crate::store::{Schema, Tx};
use crate::{clock, named_files};

/// The rows.
const ROWS: &str = "database.jsonl.gz";

/// The file of settings in the folder of the data.
const SETTINGS: &str = "server.toml";

/// The prefix of the names of unfinished backups.
const UNFINISHED: &str = ".unfinished-backup-";

/// Makes a backup in the new folder `to`, which appears whole or not at all.
pub async fn make(app: &App, to: &Path) -> anyhow::Result<Manifest> {
    anyhow::ensure!(!to.exists(), "{} exists already", to.display());
    let parent = match to.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    fs::create_dir_all(&parent).with_context(|| parent.display().to_string())?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(UNFINISHED);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // It holds references and hashes of passwords.
        builder.permissions(fs::Permissions::from_mode(0o700));
    }
    let draft = builder.tempdir_in(&parent).with_context(|| parent.display().to_string())?;
    let mut snapshot = app.store.snapshot().await?;
    let rows = write_rows(&mut snapshot, &app.schema, draft.path().join(ROWS)).await;
    rows.with_context(|| format!("cannot write the backup {}", to.display()))?;
    let named = named_files::all(&mut snapshot, app.features).await?;
    drop(snapshot);
    let (app, place, to) = (app.clone(), to, to.to_owned());
    let finish = move || -> anyhow::Result<Manifest> {
        let folder = draft.path();
        for (name, blobs) in FOLDERS.into_iter().zip([&app.blobs, &app.hidden]) {
            link_all(blobs, &folder.join(name))?;
        }
        let settings = app.folder.join(SETTINGS);
        if settings.exists() {
            fs::copy(settings, folder.join(SETTINGS))?;
        }
        let missing = named.into_iter().filter(|name| !folder.join(name).exists()).collect();
        let manifest = Manifest {
            format: manifest::FORMAT,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            tables: app.schema.version(),
            database: app.store.kind().to_owned(),
            made_at: clock::iso(clock::now()),
            files: manifest::entries(folder)?,
            missing,
        };
        manifest.write(folder)?;
        fs::rename(folder, &to).with_context(|| to.display().to_string())?;
        let _ = draft.keep();
        File::open(parent)?.sync_all()?;
        Ok(manifest)
    };
    let manifest = tokio::task::spawn_blocking(finish).await?;
    let manifest = manifest.with_context(|| format!("cannot write the backup {}", place.display()))?;
    for name in &manifest.missing {
        tracing::error!(name, "a row names a file that does not exist");
    }
    Ok(manifest)
}

async fn write_rows(snapshot: &mut Tx, schema: &Schema, path: PathBuf) -> anyhow::Result<()> {
    let (send, mut receive) = tokio::sync::mpsc::channel::<Vec<u8>>(4);
    let file = File::create(path)?;
    let writer = tokio::task::spawn_blocking(move || {
        let mut encoder = GzEncoder::new(file, Compression::fast());
        while let Some(lines) = receive.blocking_recv() {
            encoder.write_all(&lines)?;
        }
        encoder.finish()?.sync_all()
    });
    let sent = snapshot.export(schema, send).await;
    // If the disk is full, the writer says so; the sender only knows that its receiver is gone.
    writer.await??;
    sent
}

/// Links all files into `to`, or copies them where the file system has no links.
fn link_all(blobs: &Blobs, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for hash in blobs.list()? {
        let folder = to.join(&hash[..2]);
        fs::create_dir_all(&folder)?;
        let to = folder.join(&hash);
        let linked = blobs.fetch(&hash).and_then(|from| match fs::hard_link(&from, &to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                fs::copy(&from, &to)?;
                File::open(&to)?.sync_all()
            }
            linked => linked,
        });
        match linked {
            // No row names a file that is removed while it is copied.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            linked => linked?,
        }
    }
    Ok(())
}

/// A file of a backup.
fn file(folder: &Path, entry: &Entry) -> PathBuf {
    folder.join(&entry.path)
}
