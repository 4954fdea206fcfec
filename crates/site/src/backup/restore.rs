//! Checks a backup, and makes the data of a server from it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, bail};
use flate2::read::GzDecoder;

use super::{Manifest, ROWS, SETTINGS, file};
use crate::blobs::{Blobs, FOLDERS};
use crate::feature::{self, Features};
use crate::settings::Settings;
use crate::store::{DATABASE, Import, Schema, Store, is_empty};
use crate::{args, named_files};

/// The most differences that an error lists.
const LISTED: usize = 10;

/// Findings of a check that are no reason to refuse the backup.
#[derive(Debug)]
pub struct CheckedBackup {
    /// The manifest.
    pub manifest: Manifest,
    /// The number of rows.
    pub rows: usize,
    /// Files that rows name and that the backup lacks, since they were missing when it was made.
    pub missing: Vec<String>,
}

/// Checks a backup: every file by its hash, and every row by loading it into an empty database.
pub async fn check(from: &Path, features: Features) -> anyhow::Result<CheckedBackup> {
    let schema = feature::schema(features);
    let manifest = read(from, &schema).await?;
    let folder = tempfile::tempdir()?;
    let store = Store::open("", folder.path(), 1, &schema).await?;
    let rows = load(&store, &schema, from, &[]).await?;
    let mut snapshot = store.snapshot().await?;
    let known: HashSet<&str> = manifest.files.iter().map(|entry| entry.path.as_str()).collect();
    let missing: Vec<String> = named_files::all(&mut snapshot, features)
        .await?
        .into_iter()
        .filter(|name| !known.contains(name.as_str()))
        .collect();
    drop(snapshot);
    store.close().await;
    if let Some(lost) = missing.iter().find(|name| !manifest.missing.contains(name)) {
        bail!("the rows reference {lost}, which the backup does not have");
    }
    Ok(CheckedBackup { rows, missing, manifest })
}

async fn read(from: &Path, schema: &Schema) -> anyhow::Result<Manifest> {
    let manifest = Manifest::read(from)?;
    if manifest.tables != schema.version() {
        bail!(
            "the backup was created by version {} of the program, whose tables are others: restore it with that one",
            manifest.program
        );
    }
    let (read, folder) = (manifest.clone(), from.to_owned());
    let differences = tokio::task::spawn_blocking(move || read.differences(&folder)).await??;
    if !differences.is_empty() {
        let more = differences.len().saturating_sub(LISTED);
        let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
        let listed = differences.into_iter().take(LISTED).collect::<Vec<_>>().join("\n  ");
        bail!("the backup is damaged:\n  {listed}{more}");
    }
    Ok(manifest)
}

async fn load(store: &Store, schema: &Schema, from: &Path, then: &[&'static str]) -> anyhow::Result<usize> {
    let lines = BufReader::new(GzDecoder::new(File::open(from.join(ROWS))?)).lines();
    let (mut import, mut rows) = (Import::default(), 0);
    let mut tx = store.begin().await?;
    for line in lines {
        let line = line.with_context(|| format!("{ROWS} is damaged"))?;
        import.line(&mut tx, schema, &line).await.with_context(|| format!("{ROWS}, row {}", rows + 1))?;
        rows += usize::from(line.starts_with('['));
    }
    for sql in then {
        tx.execute(sql, args![]).await?;
    }
    tx.commit().await?;
    Ok(rows)
}

/// Makes the data of a server in `folder` and in the database of the settings, both of which must be empty.
/// If it refuses, no row has been added. Links that were open when the backup was made end, since they may have been
/// used after that.
pub async fn restore(
    from: &Path,
    folder: &Path,
    settings: &Settings,
    features: Features,
) -> anyhow::Result<CheckedBackup> {
    // In the transaction that adds the rows, so that no link works whenever this is killed.
    let end_links = [
        "DELETE FROM account_link",
        "DELETE FROM invitation WHERE used_at IS NULL",
        "DELETE FROM sign_in_attempt",
    ];
    fill(from, folder, settings, features, &end_links).await
}

/// The same with everything as it was, but for what the statements `then` do.
pub(super) async fn fill(
    from: &Path,
    folder: &Path,
    settings: &Settings,
    features: Features,
    then: &[&'static str],
) -> anyhow::Result<CheckedBackup> {
    let (checked, schema) = (check(from, features).await?, feature::schema(features));
    require_own_stores(from, folder, settings)?;
    require_empty(folder, settings)?;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let before = names(folder)?;
    let poured = pour(from, folder, settings, &checked, &schema, then).await;
    if poured.is_err() {
        // So that it can be repeated, and no server serves what is there of it.
        for name in names(folder)?.difference(&before) {
            let path = folder.join(name);
            let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
    poured.map(|()| checked)
}

/// The names of all that is in a folder.
fn names(folder: &Path) -> anyhow::Result<HashSet<OsString>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    Ok(entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<Result<_, _>>()?)
}

async fn pour(
    from: &Path,
    folder: &Path,
    settings: &Settings,
    checked: &CheckedBackup,
    schema: &Schema,
    then: &[&'static str],
) -> anyhow::Result<()> {
    let store = Store::open(&settings.database, folder, settings.connections, schema).await?;
    let mut snapshot = store.snapshot().await?;
    if !is_empty(&mut snapshot, schema).await? {
        bail!("the database is in use; restore into an empty one");
    }
    drop(snapshot);
    for (name, blobs) in FOLDERS.into_iter().zip(Blobs::of_site(folder, settings)?) {
        let prefix = format!("{name}/");
        for entry in checked.manifest.files.iter().filter(|entry| entry.path.starts_with(&prefix)) {
            let put = File::open(file(from, entry)).and_then(|file| blobs.put(file));
            let hash = put.with_context(|| entry.path.clone())?;
            anyhow::ensure!(hash == entry.sha256, "{} changed while it was read", entry.path);
        }
    }
    let (given, settings) = (from.join(SETTINGS), folder.join(SETTINGS));
    if given.exists() && !settings.exists() {
        fs::copy(given, settings)?;
    }
    load(&store, schema, from, then).await?;
    store.close().await;
    Ok(())
}

/// Refuses a backup whose settings would have the restored server open another database or bucket: the old one, which
/// may be in use.
fn require_own_stores(from: &Path, folder: &Path, settings: &Settings) -> anyhow::Result<()> {
    let given = from.join(SETTINGS);
    if !given.exists() || folder.join(SETTINGS).exists() {
        return Ok(());
    }
    let table: toml::Table =
        fs::read_to_string(&given)?.parse().with_context(|| given.display().to_string())?;
    for (what, own) in [("database", &settings.database), ("bucket", &settings.bucket)] {
        let named = table.get(what).and_then(toml::Value::as_str).unwrap_or("");
        if !named.is_empty() && named != own {
            bail!(
                "{} names another {what} than the one to restore into, and would come into {}: put a {SETTINGS} there \
                 first that names the new one",
                given.display(),
                folder.display()
            );
        }
    }
    Ok(())
}

fn require_empty(folder: &Path, settings: &Settings) -> anyhow::Result<()> {
    // A database of SQLite that will be restored into is looked into.
    let mut is_used = !settings.database.is_empty() && folder.join(DATABASE).exists();
    for name in FOLDERS.map(|name| folder.join(name)).into_iter().filter(|name| name.exists()) {
        is_used |= !Blobs::open(name)?.list()?.is_empty();
    }
    if is_used {
        bail!("{} is in use; restore into an empty folder", folder.display());
    }
    Ok(())
}
