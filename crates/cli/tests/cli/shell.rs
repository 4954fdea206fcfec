//! Tests what a shell connects to the program: files appear whole or not at all, pipes are read once.

use std::fs;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::program::{capeval, fixtures, json, quickstart, said, scratch};
use crate::submit::server;

const PRECIOUS: &str = "precious\n";

/// Every way of writing a file: the command, which ends with the flag that names the file.
fn writers() -> Vec<Vec<String>> {
    let (references, good, weak) =
        (quickstart("references.json"), quickstart("good.json"), quickstart("weak.json"));
    let (references, good, weak) = (references.as_str(), good.as_str(), weak.as_str());
    let score = ["score", "-r", references, good, "-m", "bleu"];
    let compare = ["compare", "-r", references, good, weak, "-m", "bleu", "--resamples", "100"];
    let diversity = ["diversity", good];
    let correlate = ["correlate", "ratings.csv", "-r", "references.json", "-m", "bleu"];
    let prefer = ["prefer", "pairs.csv", "-r", "references.json", "-m", "bleu"];
    let perplexity = ["perplexity", "probabilities.jsonl"];
    let mut writers: Vec<Vec<&str>> = Vec::new();
    for (command, flags) in [
        (&score[..], &["--output", "--segments", "--html"][..]),
        (&compare, &["--output", "--html"]),
        (&correlate, &["--output", "--segments", "--html"]),
        (&prefer, &["--output", "--segments"]),
        (&diversity, &["--output"]),
        (&perplexity, &["--output", "--segments"]),
        (&["tokenize", good], &["--output"]),
        (&["convert", references, "--format", "csv"], &["--output"]),
        (&["prepare", references, "-m", "bleu"], &["--output"]),
        (&["df", "build", references], &["--output"]),
        (&["lm", "train", references, "-n", "2"], &["--output"]),
    ] {
        writers.extend(flags.iter().map(|flag| [command, &[*flag]].concat()));
    }
    writers.into_iter().map(|args| args.into_iter().map(str::to_owned).collect()).collect()
}

/// Runs `capeval` by a shell that prepares the process by `script` before it executes `"$@"`.
fn in_shell(script: &str, args: &[String]) -> Output {
    let program = crate::program::path();
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "sh", program]).args(args);
    shell.env("CAPEVAL_DATA", fixtures().join("no-data")).current_dir(fixtures()).output().unwrap()
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_full_disk_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let file = scratch(&folder, "old");
    for mut args in writers() {
        fs::write(&file, PRECIOUS).unwrap();
        args.push(file.clone());
        let run = in_shell("trap '' XFSZ; ulimit -f 0; exec \"$@\"", &args);
        let error = String::from_utf8(run.stderr).unwrap();
        let command = args.join(" ");
        assert_eq!(run.status.code(), Some(2), "{command}: {error}");
        assert!(error.contains(&format!("{file}: cannot write the file")), "{command}: {error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), PRECIOUS, "{command}");
        assert_eq!(names(&folder), ["old"], "{command}");
    }
}

#[test]
fn a_file_that_was_written_is_named_with_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let file = scratch(&folder, "new");
    for mut args in writers() {
        args.push(file.clone());
        let run = in_shell("exec \"$@\"", &args);
        let error = String::from_utf8(run.stderr).unwrap();
        let command = args.join(" ");
        assert_eq!(run.status.code(), Some(0), "{command}: {error}");
        assert!(error.lines().any(|line| line.starts_with(&format!("wrote {file}, "))), "{command}: {error}");
        assert_eq!(names(&folder), ["new"], "{command}");
        fs::remove_file(&file).unwrap();
    }
    assert_eq!(said(&["convert", &quickstart("good.json"), "--format", "csv", "-o", "/dev/null"]), "");
}

#[test]
fn references_may_come_from_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let (references, good, prepared) =
        (quickstart("references.json"), quickstart("good.json"), scratch(&folder, "prepared"));
    said(&["prepare", &references, "-m", "bleu", "-o", &prepared]);
    let score = |pipe: &str| {
        let script = format!("{pipe} | \"$0\" score -m bleu --format json -r /dev/stdin \"$1\"");
        let mut shell = Command::new("sh");
        let run = shell.args(["-c", &script, crate::program::path(), &good]).output().unwrap();
        assert!(run.status.success(), "{pipe}: {}", String::from_utf8_lossy(&run.stderr));
        let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        report["systems"][0]["scores"].clone()
    };
    let expected = json(&["score", "-m", "bleu", "-r", &references, &good])["systems"][0]["scores"].clone();
    for pipe in [format!("cat {references}"), format!("gzip -c {references}"), format!("cat {prepared}")] {
        assert_eq!(score(&pipe), expected, "{pipe}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_a_failure_with_words() {
    for args in [&["--help"][..], &["score", "--help"], &["--version"], &["score", "-V"]] {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        let full = in_shell("exec \"$@\" >/dev/full", &args);
        assert_eq!(full.status.code(), Some(2), "{args:?}");
        let said = String::from_utf8(full.stderr).unwrap();
        assert!(
            said.starts_with("error: cannot write to standard output: no space left on device"),
            "{said}"
        );
        assert!(said.contains("\nhelp: "), "{said}");
        assert_eq!(in_shell("\"$@\" | true", &args).status.code(), Some(0));
    }
}

#[test]
fn a_home_folder_behind_a_name_is_found() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(fixtures().join("results.json"), folder.path().join("mine.json")).unwrap();
    let out = "--output=~/report.json";
    let args = ["score", "-r", "references.json", "a=~/mine.json", "-m", "bleu", "-f", "json", out];
    let run = Command::new(crate::program::path())
        .args(args)
        .env("HOME", folder.path())
        .current_dir(fixtures())
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert!(folder.path().join("report.json").is_file());
}

#[test]
fn without_a_home_metrics_without_data_are_left_out() {
    let run = Command::new(crate::program::path())
        .args(["score", "-r", "references.json", "results.json", "-f", "json"])
        .env_remove("HOME")
        .env_remove("XDG_DATA_HOME")
        .env_remove("CAPEVAL_DATA")
        .current_dir(fixtures())
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    let notices = report["notices"].as_array().unwrap();
    let left_out = |data: &str| notices.iter().any(|n| n["message"].as_str().unwrap().contains(data));
    assert!(left_out("METEOR") && left_out("SPICE"), "{notices:?}");
    let named = Command::new(crate::program::path())
        .args(["score", "-r", "references.json", "results.json", "-m", "meteor"])
        .env_remove("HOME")
        .env_remove("XDG_DATA_HOME")
        .env_remove("CAPEVAL_DATA")
        .current_dir(fixtures())
        .output()
        .unwrap();
    assert_eq!(named.status.code(), Some(2));
    assert!(String::from_utf8(named.stderr).unwrap().contains("not installed"));
}

#[test]
fn a_closed_standard_output_is_an_error_and_one_that_goes_nowhere_is_not() {
    let args: Vec<String> =
        ["score", "-r", "references.json", "results.json", "-m", "bleu"].map(str::to_owned).into();
    let closed = in_shell("exec \"$@\" >&-", &args);
    assert_eq!(closed.status.code(), Some(2));
    assert!(String::from_utf8(closed.stderr).unwrap().contains("standard output is closed"));
    for nowhere in ["exec \"$@\" >/dev/null", "exec \"$@\" <>/dev/null >&0"] {
        assert_eq!(in_shell(nowhere, &args).status.code(), Some(0), "{nowhere}");
    }
}

#[test]
fn files_are_fetched_only_if_the_network_is_allowed() {
    let results = fs::read_to_string(fixtures().join("results.json")).unwrap();
    let (address, requests) = server(vec![(200, serde_json::from_str(&results).unwrap())]);
    let address = format!("{address}/results.json");
    let score = |more: &[&str]| {
        capeval(&[&["score", "-r", "references.json", &address, "-m", "bleu"], more].concat())
    };
    let refused = score(&[]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("this is an address"), "{}", refused.stderr);
    assert!(requests.lock().unwrap().is_empty());
    let fetched = score(&["--allow-network"]);
    assert_eq!(fetched.code, 0, "{}", fetched.stderr);
    assert_eq!(requests.lock().unwrap().len(), 1);
    let local = capeval(&["score", "-r", "references.json", "results.json", "-m", "bleu"]);
    assert_eq!(fetched.stdout, local.stdout);
}
