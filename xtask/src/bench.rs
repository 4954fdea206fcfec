//! Times capeval and pycocoevalcap in the same run, from files to table.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// The number of runs of capeval; the reference program takes minutes and runs only once.
const RUNS: usize = 11;

/// Times both programs on the leave-one-out files of `data`.
pub fn run(root: &Path, data: &Path) -> Result<()> {
    build(root)?;
    let capeval = root.join("target/release/capeval");
    let scratch = root.join("target/bench");
    std::fs::create_dir_all(&scratch)?;
    let files = [("loo_refs.json.gz", "loo_refs.json"), ("loo_hyps.json.gz", "loo_hyps.json")];
    for (packed, plain) in files {
        unpack(&data.join(packed), &scratch.join(plain))?;
    }
    let (refs, hyps) = (scratch.join("loo_refs.json"), scratch.join("loo_hyps.json"));
    let prepared = scratch.join("loo_refs.capeval");

    println!("40,504 leave-one-out images of COCO val2014: BLEU-1..4, ROUGE-L, CIDEr-D, files to table");
    let score = |references: &Path| {
        let mut command = Command::new(&capeval);
        command.args(["score", "--missing", "skip", "-r"]).arg(references).arg(&hyps);
        command
    };
    let plain = time("capeval", RUNS, || score(&refs))?;
    time("capeval, one thread", RUNS, || {
        let mut command = score(&refs);
        command.args(["--threads", "1"]);
        command
    })?;
    time("capeval prepare", 3, || {
        let mut command = Command::new(&capeval);
        command.arg("prepare").arg(&refs).arg("-o").arg(&prepared);
        command
    })?;
    let stored = time("capeval, prepared references", RUNS, || score(&prepared))?;
    let Ok(python) = std::env::var("CAPEVAL_ORACLE") else {
        println!(
            "pycocoevalcap was skipped; set CAPEVAL_ORACLE to a Python with pycocoevalcap 1.2, and install Java"
        );
        return Ok(());
    };
    let theirs = time("pycocoevalcap", 1, || {
        let mut command = Command::new(&python);
        command.arg(root.join("scripts/oracle/coco_time.py")).arg(&refs).arg(&hyps);
        command
    })?;
    let ratio = |ours: Duration| theirs.as_secs_f64() / ours.as_secs_f64();
    println!(
        "{:>8.0} times as fast from files, {:.0} times with prepared references",
        ratio(plain),
        ratio(stored)
    );
    Ok(())
}

fn build(root: &Path) -> Result<()> {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--package", "capeval-cli"])
        .current_dir(root)
        .status()
        .context("cargo build")?;
    if !status.success() {
        bail!("the release build failed");
    }
    Ok(())
}

fn unpack(packed: &Path, plain: &Path) -> Result<()> {
    if plain.exists() {
        return Ok(());
    }
    let output = Command::new("gzip").arg("-dc").arg(packed).output().context("gzip")?;
    if !output.status.success() {
        bail!("{} could not be unpacked", packed.display());
    }
    std::fs::write(plain, output.stdout).with_context(|| plain.display().to_string())
}

/// Runs a command `runs` times, prints the spread, and returns the median.
fn time(label: &str, runs: usize, command: impl Fn() -> Command) -> Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..runs {
        let start = Instant::now();
        let status = command().stdout(Stdio::null()).status().with_context(|| label.to_owned())?;
        times.push(start.elapsed());
        if !status.success() {
            bail!("{label} failed");
        }
    }
    times.sort();
    let (fastest, median, slowest) = (times[0], times[runs / 2], times[runs - 1]);
    println!("{label:<32} {median:>10.3?}  ({fastest:.3?} to {slowest:.3?}, {runs} runs)");
    Ok(median)
}
