//! The commands that turn a bundle of another site into a draft, and a benchmark into an archive.

use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use capeval_benchmarks::settings::Benchmark;
use capeval_benchmarks::{bundles, exports, plan};
use capeval_site::prelude::*;
use clap::Args;

#[derive(Args)]
pub(super) struct ImportBundle {
    /// The bundle: a ZIP archive or a folder with competition.yaml or challenge_config.yaml.
    bundle: PathBuf,
    /// Folder to create, for the plan and its files.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Email address of a host; repeatable.
    #[arg(long, value_name = "EMAIL")]
    host: Vec<String>,
}

pub(super) fn import(given: &ImportBundle) -> anyhow::Result<()> {
    let (_, mut text) = bundles::import(&given.bundle, &given.out, &given.host, u64::MAX)?;
    let file = given.out.join(plan::FILE);
    text.push_str(&format!("\ncapeval-server admin benchmark apply {}\n", file.display()));
    // A reader such as `head` may close the pipe early.
    let _ = io::stdout().write_all(text.as_bytes());
    Ok(())
}

pub(super) async fn export(app: &App, slug: &str, out: &Path) -> anyhow::Result<()> {
    let sql = "SELECT * FROM benchmark WHERE slug = $1";
    let benchmark: Option<Benchmark> = app.store.fetch_optional(sql, args![slug]).await?;
    let benchmark = benchmark.with_context(|| format!("there is no benchmark {slug}"))?;
    let mut file = exports::write_archive(app, &benchmark).await?;
    file.rewind()?;
    let path = out.to_str().with_context(|| format!("{} is no path in UTF-8", out.display()))?;
    capeval_files::write_whole(path, |target| io::copy(&mut file, target).map(drop))?;
    writeln!(io::stdout(), "{}", out.display())?;
    Ok(())
}
