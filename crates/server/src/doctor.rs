//! Checks that the data, the machine and the settings are in order.

use std::collections::HashSet;
use std::fs::File;

use capeval_files::{DATA, DataKind, Home};
use capeval_site::backup::nightly;
use capeval_site::blobs::FOLDERS;
use capeval_site::invariants::{self, Breach};
use capeval_site::jobs::child;
use capeval_site::named_files;
use capeval_site::prelude::*;
use capeval_site::space::{self, Space};
use capeval_tasks::{Possible, absence, missing_data};

/// The free bytes under which there is not enough space.
const SPACE: u64 = 1 << 30;

/// The milliseconds by which clocks may differ.
const DRIFT: i64 = 5_000;

/// The days after which a nightly backup should have been made again.
const STALE: i64 = 2;

/// A finding of a check.
pub struct Finding {
    /// Its subject.
    pub about: &'static str,
    /// Its text.
    pub text: String,
    /// True if an administrator should act.
    pub is_problem: bool,
}

fn good(about: &'static str, text: impl Into<String>) -> Finding {
    Finding { about, text: text.into(), is_problem: false }
}

fn bad(about: &'static str, text: impl Into<String>) -> Finding {
    Finding { about, text: text.into(), is_problem: true }
}

/// The most rows that a finding names.
const NAMED: usize = 5;

/// Looks at everything; at the rows and the content of all files only if `is_deep`.
pub async fn examine(app: &App, is_deep: bool) -> anyhow::Result<Vec<Finding>> {
    let mut findings = vec![
        good("data", app.folder.display().to_string()),
        good("database", format!("{}, version {} of the tables", app.store.kind(), app.schema.version())),
        good("accounts", people::count(&app.store).await?.to_string()),
        sandbox(app).await,
        clock(app).await?,
    ];
    findings.extend(files(app, is_deep).await?);
    if is_deep {
        findings.extend(rows(app).await?);
    }
    findings.extend(space(app));
    findings.extend(metric_data(app));
    findings.extend(phases(app).await?);
    findings.push(backups(app).await?);
    findings.extend(settings(app));
    #[cfg(unix)]
    findings.extend(settings_file(app));
    Ok(findings)
}

/// Tries what a job of this system must not be able to do.
async fn sandbox(app: &App) -> Finding {
    match child::probe(app).await {
        Ok(Possible { socket, file, program, process, memory, environment }) => {
            let word = |possible: bool| if possible { "possible" } else { "refused" };
            let (network, files, programs) = (word(socket), word(file), word(program));
            let (processes, memory, variables) = (word(process), word(memory), word(environment));
            let text = format!(
                "network {network}, other files {files}, other programs {programs}, other processes {processes}, \
                 more memory {memory}, variables {variables}"
            );
            Finding { about: "sandbox", is_problem: text.contains("possible"), text }
        }
        Err(failure) => bad("sandbox", format!("jobs cannot run: {failure:?}")),
    }
}

async fn clock(app: &App) -> anyhow::Result<Finding> {
    let now = clock::now();
    let sql = match app.store {
        // SQLite has no clock of its own; the newest note must not be of the future.
        Store::Sqlite { .. } => "SELECT MAX(at) FROM audit",
        Store::Postgres(..) => "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
    };
    let known: Option<i64> = app.store.fetch_one(sql, args![]).await?;
    Ok(match (&app.store, known) {
        (Store::Sqlite { .. }, Some(newest)) if newest > now + DRIFT => bad(
            "clock",
            format!(
                "it is {}, but the newest record is from {}",
                clock::readable(now),
                clock::readable(newest)
            ),
        ),
        (Store::Postgres(..), Some(other)) if (other - now).abs() > DRIFT => bad(
            "clock",
            format!("it is {} here, but {} in the database", clock::readable(now), clock::readable(other)),
        ),
        _ => good("clock", clock::readable(now)),
    })
}

/// The invariants that rows break.
async fn rows(app: &App) -> anyhow::Result<Vec<Finding>> {
    let broken = invariants::breaches(&mut app.store.snapshot().await?, app.features).await?;
    let finding = |Breach { invariant, by }: Breach| {
        let named = by.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join("; ");
        let more = if by.len() > NAMED { format!("; and {} more", by.len() - NAMED) } else { String::new() };
        bad("rows", format!("it does not hold that {}: {named}{more}: {}", invariant.holds, invariant.remedy))
    };
    let n_held = invariants::all(app.features).count() - broken.len();
    let held = good("rows", format!("{n_held} invariants hold"));
    Ok(broken.into_iter().map(finding).chain([held]).collect())
}

/// Checks that the files that rows name exist, and that there are no others; if `is_deep`, that each is what its name
/// says.
async fn files(app: &App, is_deep: bool) -> anyhow::Result<Vec<Finding>> {
    let mut snapshot = app.store.snapshot().await?;
    let named: HashSet<String> = named_files::all(&mut snapshot, app.features).await?.into_iter().collect();
    drop(snapshot);
    let own = app.clone();
    let list = move || {
        let (mut present, mut damaged) = (HashSet::new(), Vec::new());
        for (folder, blobs) in FOLDERS.into_iter().zip([&own.blobs, &own.hidden]) {
            for hash in blobs.list()? {
                let path = named_files::path(folder, &hash);
                let digest = || ids::digest_of(File::open(blobs.fetch(&hash)?)?);
                if is_deep && !digest().is_ok_and(|digest| digest == hash) {
                    damaged.push(path.clone());
                }
                present.insert(path);
            }
        }
        Ok::<_, std::io::Error>((present, damaged))
    };
    let (present, damaged) = tokio::task::spawn_blocking(list).await??;
    let missing: Vec<&String> = named.difference(&present).collect();
    let surplus = present.difference(&named).count();
    let mut findings = vec![match missing[..] {
        [] => good("files", format!("{} referenced, none missing", named.len())),
        [first, ..] => bad("files", format!("{} referenced but missing, such as {first}", missing.len())),
    }];
    if let [first, ..] = &damaged[..] {
        let text = format!("{} damaged, such as {first}: copy them from a backup", damaged.len());
        findings.push(bad("files", text));
    }
    if surplus > 0 {
        findings.push(good("files", format!("{surplus} unreferenced; the server removes them after a day")));
    }
    Ok(findings)
}

fn space(app: &App) -> Option<Finding> {
    let Space { free, size: _ } = space::of(&app.folder)?;
    let text = format!("{} MiB free", free >> 20);
    Some(Finding { about: "disk", text, is_problem: free < SPACE })
}

fn metric_data(app: &App) -> Vec<Finding> {
    let verify = |kind: &DataKind| app.settings.data_home()?.verify(kind);
    DATA.iter()
        .map(|kind| match verify(kind) {
            Ok(Some(_)) => good(kind.title, "installed and complete"),
            Ok(None) => good(kind.title, "not installed"),
            Err(error) => bad(kind.title, error.to_string()),
        })
        .collect()
}

/// Phases whose metrics lack their data.
async fn phases(app: &App) -> anyhow::Result<Vec<Finding>> {
    let home = app.data().map(Home::new);
    let sql = "SELECT benchmark.slug, phase.slug, phase.metrics FROM phase \
               JOIN benchmark ON benchmark.id = phase.benchmark ORDER BY benchmark.slug, phase.position";
    let phases: Vec<(String, String, String)> = app.store.fetch(sql, args![]).await?;
    let mut findings = Vec::new();
    for (benchmark, phase, metrics) in phases {
        let metrics: Vec<String> = serde_json::from_str(&metrics)?;
        let missing = missing_data(&metrics, home.as_ref());
        if !missing.is_empty() {
            findings.push(bad("metrics", format!("{benchmark}/{phase}: {}", absence(&missing))));
        }
    }
    Ok(findings)
}

async fn backups(app: &App) -> anyhow::Result<Finding> {
    if app.settings.backup_hour < 0 {
        return Ok(good("backup", "nightly backups are off"));
    }
    let folder = nightly::folder(app);
    let newest = nightly::days(&folder)?.last().copied();
    let today = clock::now() / clock::DAY;
    let since: Option<i64> = app.store.fetch_one("SELECT MIN(at) FROM audit", args![]).await?;
    let expected = since.map_or(today, |time| time / clock::DAY);
    Ok(match newest {
        Some(day) if today - day <= STALE => good(
            "backup",
            format!("the latest is from {}, in {}", clock::day(day * clock::DAY), folder.display()),
        ),
        Some(day) => bad("backup", format!("the latest is from {}", clock::day(day * clock::DAY))),
        None if today - expected > STALE => bad("backup", format!("none in {}", folder.display())),
        None => {
            good("backup", format!("none yet; the server creates one each night in {}", folder.display()))
        }
    })
}

/// Settings that do not fit together.
fn settings(app: &App) -> Vec<Finding> {
    let settings = &app.settings;
    let mut findings = Vec::new();
    if !settings.is_local() && !settings.is_secure() {
        let text = "other machines reach the server without TLS: set public_url to its https:// address";
        findings.push(bad("settings", text));
    }
    if !settings.public_url.is_empty() && settings.proxies.is_empty() {
        let text = "proxies is empty: limits count all visitors behind a reverse proxy as one";
        findings.push(bad("settings", text));
    }
    findings
}

/// The file of settings, if it has a password and others may read it.
#[cfg(unix)]
fn settings_file(app: &App) -> Option<Finding> {
    use std::os::unix::fs::PermissionsExt;
    let path = app.folder.join("server.toml");
    let mode = std::fs::metadata(&path).ok()?.permissions().mode();
    let table: toml::Table = std::fs::read_to_string(&path).ok()?.parse().ok()?;
    let described = app.settings.described();
    let has_secret = described.iter().any(|(name, value, _)| value == "(set)" && table.contains_key(*name));
    let path = path.display();
    let text = format!("other users of this machine can read the passwords in {path}: chmod 600 {path}");
    (has_secret && mode & 0o077 != 0).then(|| bad("settings", text))
}
