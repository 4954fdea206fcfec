//! Metrics that are hosts' programs: an archive with a program and its description, which child processes run in a
//! sandbox.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, ensure};
use capeval_site::blobs::Blobs;
use capeval_site::jobs::child;
use capeval_site::prelude::*;
use capeval_tasks::{Allowance, Metrics, Program};
use tempfile::TempDir;

use crate::bundles::archive::Bundle;
use crate::settings::Phase;

/// What every program needs of the system.
const SYSTEM: [&str; 7] =
    ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/dev/null", "/dev/urandom"];

/// An unpacked archive: its folder, that of the description within, and the name of the description.
struct UnpackedProgram {
    root: TempDir,
    folder: PathBuf,
    description: String,
}

/// Unpacks an archive, to at most so many bytes.
fn unpack(archive: &Path, drafts: &Path, most: u64) -> anyhow::Result<UnpackedProgram> {
    // A damaged archive is no failure of the server.
    let told = |error: anyhow::Error| anyhow::Error::msg(format!("{error:#}"));
    let bundle = Bundle::of_archive(archive, most).map_err(told)?;
    let names = bundle.list("");
    let depth = |name: &&String| name.matches('/').count();
    let descriptions = || names.iter().filter(|name| name.ends_with(".toml"));
    let found = descriptions()
        .min_by_key(depth)
        .context(reason!("the archive has no description, a file such as metric.toml beside the program"))?;
    let others = descriptions().filter(|other| depth(other) == depth(&found)).count() - 1;
    ensure!(others == 0, reason!("the archive has several descriptions, such as {}: keep one", found));
    let root = TempDir::new_in(drafts)?;
    for name in &names {
        let path = root.path().join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        bundle.copy(name, &mut File::create(&path)?).map_err(told)?;
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    }
    let (inner, description) = found.rsplit_once('/').unwrap_or(("", found));
    Ok(UnpackedProgram { folder: root.path().join(inner), description: description.to_owned(), root })
}

/// Refuses a program where there may be none.
pub fn require_allowed(app: &App) -> anyhow::Result<()> {
    ensure!(
        cfg!(target_os = "linux") && !app.settings.program_folders.is_empty(),
        reason!("this site runs no programs: ask those who run it for the setting program_folders")
    );
    Ok(())
}

/// The keys of the measures of a program, whose archive is stored.
pub fn measures(hidden: &Blobs, hash: &str, most: u64) -> anyhow::Result<Vec<String>> {
    let unpacked = unpack(&hidden.fetch(hash)?, &hidden.drafts(), most)?;
    capeval_tasks::program_measures(&unpacked.folder, &unpacked.description)
}

/// The program of a phase in a folder of its own, for a child.
pub async fn of_phase(app: &App, phase: &Phase) -> anyhow::Result<Option<Program>> {
    let Some(hash) = phase.program_hash.clone() else { return Ok(None) };
    require_allowed(app)?;
    let (archive, drafts) = (app.hidden.ready(&hash).await?, app.hidden.drafts());
    let most = app.settings.unpacked_mib << 20;
    let UnpackedProgram { root, folder, description } =
        tokio::task::spawn_blocking(move || unpack(&archive, &drafts, most)).await??;
    let held: Arc<TempDir> = Arc::new(root);
    Ok(Some(Program { folder, description, archive: hash, is_told: false, held: Some(held) }))
}

/// What a child may use that measures by these metrics, beside these files.
pub fn allowance<'m>(
    app: &App,
    metrics: impl IntoIterator<Item = &'m Metrics>,
    files: impl IntoIterator<Item = PathBuf>,
) -> Allowance {
    let mut all: Vec<PathBuf> = files.into_iter().collect();
    let mut programs = false;
    for of_set in metrics {
        all.extend(of_set.files());
        programs |= of_set.program.is_some();
    }
    if programs {
        all.extend(SYSTEM.map(PathBuf::from));
        all.extend(app.settings.program_folders.iter().map(PathBuf::from));
        all.push(app.program.clone());
    }
    Allowance { programs, ..child::allowance(app, child::readable(app, all)) }
}
