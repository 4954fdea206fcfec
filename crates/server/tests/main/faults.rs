//! Every system call of the commands that write fails once: the database and the files are as before or as wanted, and
//! errors say of what.
//!
//! Without `CAPEVAL_FAULTS=1`, a few faults of each command are tried.

use std::fs;
use std::path::Path;

use capeval_server::FEATURES;
use capeval_site::app::App;
use capeval_site::settings::Settings;
use capeval_testkit::faults::{Trial, can_inject, step};
use capeval_testkit::skip;

use crate::benchmarks::references;
use crate::support::process::command;
use crate::support::{breaches, run_in_real_time};

/// Commands, the folder of their data, and other files that they must have written when they end well.
const WRITERS: &[(&str, &str, &str)] = &[
    ("--data fresh admin collection apply c.toml", "fresh/", ""),
    ("--data site admin benchmark apply plan.toml", "site/", ""),
    ("--data site backup made", "site/", "made/manifest.json made/database.jsonl.gz"),
    ("--data restored restore saved", "restored/", ""),
];

const PLAN: &str = "slug = 'b'\ntitle = 'B'\nrules = 'New'\n[[phases]]\nslug = 'p'\ntitle = 'P'\nmetrics = ['bleu', 'cider-d']\n\
    [[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n";

#[test]
fn whatever_call_fails_the_data_are_whole() {
    if !can_inject() {
        return skip("strace", "strace is missing, or may not trace");
    }
    let only = std::env::var("CAPEVAL_FAULTS_OF").unwrap_or_default();
    let folder = tempfile::tempdir().unwrap();
    let seed = folder.path().join("seed");
    fs::create_dir(&seed).unwrap();
    fs::write(seed.join("c5.json"), references(5, 5)).unwrap();
    fs::write(seed.join("c.toml"), "slug = 'c'\ntitle = 'C'\nlanguages = ['en']\nlicences = ['CC0-1.0']\n")
        .unwrap();
    fs::write(seed.join("plan.toml"), PLAN.replace("New", "Old")).unwrap();
    let plan = seed.join("plan.toml").display().to_string();
    command(&seed.join("site"), "", &["admin", "benchmark", "apply", &plan], "");
    command(&seed.join("site"), "", &["backup", &seed.join("saved").display().to_string()], "");
    fs::write(seed.join("plan.toml"), PLAN).unwrap();
    let mut findings = Vec::new();
    for (args, data, outputs) in WRITERS.iter().filter(|(args, ..)| args.contains(&only)) {
        let args: Vec<&str> = args.split(' ').collect();
        let outputs: Vec<&str> = outputs.split_whitespace().collect();
        let check = |place: &Path, is_killed: bool| wrong(&place.join(data), is_killed);
        let trial = Trial {
            program: env!("CARGO_BIN_EXE_capeval-server"),
            args: &args,
            seed: &seed,
            outputs: &outputs,
            has_old: false,
            refused: 1,
            state: data,
            check: Some(&check),
        };
        let tally = trial.run(&folder.path().join("place"), step(997));
        println!("{}: {tally}", args.join(" "));
        findings.extend(tally.findings);
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

/// What is wrong with the data in a folder.
fn wrong(data: &Path, is_killed: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    if !is_killed {
        let drafts =
            ["blobs/new", "hidden/new"].into_iter().filter_map(|name| fs::read_dir(data.join(name)).ok());
        wrong.extend(
            drafts.flatten().map(|entry| format!("{} is left behind", entry.unwrap().path().display())),
        );
    }
    if !data.join("capeval.db").exists() {
        return wrong;
    }
    let folder = data.to_owned();
    let (sender, found) = std::sync::mpsc::channel();
    run_in_real_time(async move {
        let found = match App::open(folder, Settings::default(), FEATURES).await {
            Ok(app) => breaches(&app).await,
            Err(error) => vec![format!("{error:#}")],
        };
        sender.send(found).unwrap();
    });
    wrong.extend(found.recv().unwrap());
    wrong
}
