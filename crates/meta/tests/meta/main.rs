//! Benchmarks on small files of the documented forms, and on real ones where they are at hand.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod damaged;
mod forms;
#[cfg(feature = "parquet")]
mod parquet;
mod real;
mod refusals;

use std::fs;
use std::path::Path;

use capeval::choice::Plain;
use capeval::corpus::scores::read_scores;
use capeval::metric::Resources;
use capeval::report::{Form, Style, write};
use capeval::stats::Resampling;
use capeval::{GivenScores, MetricOptions};
use capeval_meta::{BenchmarkScores, Error, MetaOptions, MetaReport, MetaRequest, benchmark, run};

/// A folder with files.
fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

fn options(metrics: &[&str]) -> MetaOptions {
    MetaOptions {
        metrics: MetricOptions::new(metrics.iter().copied()),
        intervals: Resampling { resamples: 20, ..Resampling::default() },
        subset: true,
        ..MetaOptions::default()
    }
}

/// Runs benchmarks on the files of a folder.
fn run_with(
    names: &[&str],
    folder: &Path,
    scores: Vec<BenchmarkScores>,
    options: MetaOptions,
) -> Result<MetaReport, Error> {
    run(MetaRequest {
        benchmarks: names.iter().map(|name| benchmark(name).unwrap()).collect(),
        data: folder.display().to_string(),
        scores,
        options,
        resources: Resources::default(),
        progress: &(),
    })
}

/// Runs one benchmark on a part of its files.
fn run_on(name: &str, files: &[(&str, &[u8])], metrics: &[&str]) -> Result<MetaReport, Error> {
    run_with(&[name], folder(files).path(), Vec::new(), options(metrics))
}

fn scores(benchmark: Option<&str>, text: &str) -> BenchmarkScores {
    let scores = read_scores(text.as_bytes(), "scores.csv", None).unwrap();
    let scores = GivenScores::new(scores, None, "scores").unwrap();
    BenchmarkScores { benchmark: benchmark.map(str::to_owned), scores }
}

fn text(report: &MetaReport, form: Form) -> String {
    let mut out = Vec::new();
    write(report, form, &Style { digits: 1, ..Style::default() }, &Plain, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The customary coefficient of a measure on the first benchmark.
fn value(report: &MetaReport, key: &str) -> Option<f64> {
    report.outcomes[0].measured(key)?.customary()?.value
}
