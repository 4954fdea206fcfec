//! Every case of `testdata/*.toml` from the command line: files in, digits out.

use std::path::Path;
use std::process::Command;

use capeval_testkit::{Case, Scores, cases, files, skip};
use serde_json::{Value, json};

use crate::program::{capeval, fixtures, scratch};

#[test]
fn golden_values_come_out_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let [meteor, spice] = ["meteor", "spice"].map(|name| {
        let is_installed = is_installed(name);
        if !is_installed {
            skip(name, &format!("the data of {name} are not installed"));
        }
        is_installed
    });
    let cases: Vec<Case> = files().iter().flat_map(|file| cases(file)).collect();
    let wanted =
        cases.iter().filter(|case| (meteor || !case.needs_meteor()) && (spice || !case.needs_spice()));
    let differences: Vec<String> =
        wanted.filter_map(|case| case.check(&scores(case, &folder)).err()).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Returns true if data are installed where the program looks for them.
pub fn is_installed(name: &str) -> bool {
    let output = Command::new(crate::program::path()).args(["data", "list"]).output().unwrap();
    let list = String::from_utf8(output.stdout).unwrap();
    list.lines().any(|line| line.split_whitespace().take(2).eq([name, "installed,"]))
}

/// The program's scores for a case.
fn scores(case: &Case, folder: &tempfile::TempDir) -> Scores {
    let path = |name: &str| scratch(folder, name);
    let (references, candidates, segments) =
        (path("references.jsonl"), path("candidates.jsonl"), path("out.jsonl"));
    let (mut reference_lines, mut candidate_lines) = (String::new(), String::new());
    for (id, segment) in case.segments().into_iter().enumerate() {
        let line = |captions: &[String]| json!({"image_id": id, "captions": captions}).to_string() + "\n";
        reference_lines += &line(&segment.references);
        if !segment.captions.is_empty() {
            candidate_lines += &line(&segment.captions);
        }
    }
    std::fs::write(&references, reference_lines).unwrap();
    std::fs::write(&candidates, candidate_lines).unwrap();
    let mut args = if is_for_sets(case) {
        vec!["diversity", &candidates, "--train", &references]
    } else {
        vec!["score", &candidates, "--empty", "keep", "--segments", &segments]
    };
    args.extend(["-r", &references, "-m", &case.metric, "-f", "json"]);
    let data = path("rouge");
    if !case.exceptions.is_empty() || !case.stop_words.is_empty() {
        rouge_data(Path::new(&data), case);
        args.extend(["--rouge-data", &data]);
    }
    let output = if case.needs_meteor() {
        let command = Command::new(crate::program::path())
            .args(&args)
            .env("CAPEVAL_CACHE", folder.path())
            .current_dir(fixtures())
            .output();
        String::from_utf8(command.unwrap().stdout).unwrap()
    } else {
        let run = capeval(&args);
        assert_eq!(run.code, 0, "{}: {}", case.metric, run.stderr);
        run.stdout
    };
    let report: Value = serde_json::from_str(&output).unwrap();
    let lines = if args.contains(&"--segments") {
        std::fs::read_to_string(&segments).unwrap()
    } else {
        String::new()
    };
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut scores = Scores::default();
    for (key, corpus) in report["systems"][0]["scores"].as_object().unwrap() {
        // Where there is no score, JSON has null.
        let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
        scores.insert(key, number(corpus), rows.iter().map(|row| number(&row["scores"][key])).collect());
    }
    scores
}

/// Returns true if the metric takes all captions of an image.
fn is_for_sets(case: &Case) -> bool {
    case.segments().iter().any(|segment| segment.captions.len() != 1)
}

/// A folder of ROUGE-1.5.5's data as `--rouge-data` takes it.
fn rouge_data(folder: &Path, case: &Case) {
    let exceptions = folder.join("WordNet-2.0-Exceptions");
    std::fs::create_dir_all(&exceptions).unwrap();
    std::fs::write(folder.join("smart_common_words.txt"), case.stop_words.join("\n") + "\n").unwrap();
    for name in ["noun", "verb", "adj", "adv"] {
        let lines = if name == "noun" { case.exceptions.join("\n") + "\n" } else { String::new() };
        std::fs::write(exceptions.join(name).with_extension("exc"), lines).unwrap();
    }
}
