//! Development tasks: `cargo xtask test`, `ci`, `tidy`, `docs`, `site`, `goldens`, `browser`, `bench`, `dist` and
//! others.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program")]

mod absent;
mod bench;
mod borders;
mod browser;
mod dist;
mod event_page;
mod goldens;
mod machine;
mod nouns;
mod profiles;
mod python;
mod release;
mod site;
mod speech;
mod suite;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

use crate::suite::{Build, Suite};

const USAGE: &str = "\
usage: cargo xtask CHORE

  tidy            check the import table and that every module says in one sentence what it is for
  docs [--check]  write docs/reference, and what Python says about choices, from the code, or check that they are up to
                  date
  site            build the documentation as a site into target/site, and check it
  pictures        draw the pictures of the documentation again, from the program
  goldens [ARG …] recompute the golden values in testdata with the reference programs; ARGs are those of
                  oracle/goldens.py; needs CAPEVAL_ORACLE=/path/to/python with the programs
  test            run rules, format, lints and all Rust tests: what to run before a commit
  ci              run every check and every test: also documentation, a browser, and the Python package
  dist            build the program as it is shipped, and as users build it, check that both are stripped, and run
                  the golden tests on both
  release         go through the checklist of a release: versions, crates, wheel, dependencies
  version X.Y.Z   set the version
  features        check and test the server with its features `otel` and `s3`, which `ci` leaves out, since they need a
                  second build
  python          build the wheel, install it into a fresh virtual environment and test it there
  browser [DIR]   open a page of `score --html` in Chromium and test it; leaves screenshots in DIR
  bench [--peer]  time capeval on data/coco of CAPEVAL_TEST_DATA; with --peer also pycocoevalcap, which needs
                  CAPEVAL_ORACLE=/path/to/python with pycocoevalcap installed, and Java; with
                  CAPEVAL_PYTHON=/path/to/python, which has capeval installed, also the package
  bench --check [--update]
                  count the instructions and the peak memory of ten runs of the program as it is shipped, and of
                  three as tests build it, with valgrind; compare them with xtask/bench/counts.json, or write them
                  there
  bench --ledger  time each stage of scoring, and files of a thousand to three million images; write docs/why/speed.md
  bench NAME [ARG …]
                  run another program of xtask/bench: costs (of each metric, for its card), rivals (ROUGE, BLEU
                  and chrF beside fast packages), server (under load), spice (beside the Java program)";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args[..] {
        ["tidy"] => tidy::run(&root()),
        ["docs"] => suite::docs(&Build::new(&root(), Suite::Test), &[]),
        ["docs", "--check"] => suite::docs(&Build::new(&root(), Suite::Test), &["--check"]),
        ["site"] => site::run(&root(), &Build::new(&root(), Suite::Test)),
        ["release"] => release::check(&root()),
        ["version", version] => release::set_version(&root(), version),
        ["pictures"] => site::pictures(&root(), &Build::new(&root(), Suite::Test)),
        ["goldens", ref rest @ ..] => goldens::run(&root(), rest),
        ["test"] => Suite::Test.run(&root()),
        ["ci"] => Suite::Ci.run(&root()),
        ["dist"] => dist::run(&root()),
        ["features"] => suite::features(&root()),
        ["python"] => python::run(&root(), &Build::new(&root(), Suite::Test)),
        ["browser"] => browser::run(&root(), &Build::new(&root(), Suite::Test), None),
        ["browser", dir] => {
            browser::run(&root(), &Build::new(&root(), Suite::Test), Some(&PathBuf::from(dir)))
        }
        ["bench"] => bench::run(&root(), &coco(), None, package()),
        ["bench", "--ledger", ref rest @ ..] => bench::ledger(&root(), &coco(), rest),
        ["bench", "--check", ref rest @ ..] => bench::check(&root(), &coco(), rest),
        ["bench", "--peer"] => match std::env::var("CAPEVAL_ORACLE") {
            Ok(python) => bench::run(&root(), &coco(), Some(&python), package()),
            Err(_) => Err(anyhow::anyhow!("set CAPEVAL_ORACLE to a Python with pycocoevalcap 1.2")),
        },
        ["bench", name, ref rest @ ..] => bench::one(&root(), name, rest),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("xtask: {e:#}");
            ExitCode::FAILURE
        }
    }
}

/// The Python whose package `capeval` is timed.
fn package() -> Option<String> {
    std::env::var("CAPEVAL_PYTHON").ok().filter(|python| !python.is_empty())
}

/// The folder of COCO's captions.
fn coco() -> PathBuf {
    machine::test_data().join("data/coco")
}

/// The root of the workspace, the parent folder of this crate.
fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
