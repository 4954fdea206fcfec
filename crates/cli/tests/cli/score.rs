//! `capeval score`: reports in every format, systems, policies, notices.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::program::{
    capeval, capeval_with, expect, fixtures, json, quickstart, scratch, stdout, without_run,
};

const KEYS: [&str; 6] = ["bleu-1", "bleu-2", "bleu-3", "bleu-4", "rouge-l", "cider-d"];

fn quick(rest: &[&str]) -> String {
    let files = [quickstart("references.json"), quickstart("good.json"), quickstart("weak.json")];
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    stdout(&[&["score", "-r"], &files[..], rest].concat())
}

#[test]
fn two_systems_are_shown_side_by_side() {
    expect("two_systems.txt", &quick(&[]));
}

#[test]
fn one_system_has_no_best() {
    expect("one_system.txt", &stdout(&["score", "-r", "references.json", "results.json"]));
}

#[test]
fn many_systems_are_shown_in_rows() {
    let systems: Vec<String> = (1..=9).map(|k| format!("system_number_{k}=results.json")).collect();
    let systems: Vec<&str> = systems.iter().map(String::as_str).collect();
    let args =
        [&["score", "-r", "references.json", "partial.json", "--missing", "skip"], &systems[..]].concat();
    expect("many_systems.txt", &stdout(&args));
}

#[test]
fn markdown_and_latex_mark_the_best() {
    expect("two_systems.md", &quick(&["-f", "markdown"]));
    expect("two_systems.tex", &quick(&["-f", "latex", "--digits", "2"]));
}

#[test]
fn json_is_one_object_with_systems_signatures_and_notices() {
    let report: Value = serde_json::from_str(&quick(&["-f", "json"])).unwrap();
    let systems = report["systems"].as_array().unwrap();
    assert_eq!(systems.iter().map(|s| &s["name"]).collect::<Vec<_>>(), ["good", "weak"]);
    for system in systems {
        let scores = system["scores"].as_object().unwrap();
        assert_eq!(scores.keys().collect::<Vec<_>>(), KEYS);
        assert_eq!(system["signatures"], report["signatures"]);
    }
    let bleu = report["signatures"]["bleu"].as_str().unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert!(bleu.starts_with("bleu|") && bleu.ends_with(&format!("|nrefs:5|capeval:{version}")), "{bleu}");
    assert_eq!(report["notices"], serde_json::json!([]));
}

#[test]
fn every_format_gives_the_same_digits() {
    let report: Value = serde_json::from_str(&quick(&["-f", "json"])).unwrap();
    let lines: Vec<Value> =
        quick(&["-f", "jsonl"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let csv = quick(&["-f", "csv"]);
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][..3], ["system", "images", "bleu-1"]);
    for (k, system) in report["systems"].as_array().unwrap().iter().enumerate() {
        assert_eq!(lines[k]["scores"], system["scores"]);
        for (c, key) in KEYS.iter().enumerate() {
            assert_eq!(rows[0][c + 2], *key);
            assert_eq!(rows[k + 1][c + 2].parse::<f64>().unwrap(), system["scores"][key].as_f64().unwrap());
        }
    }
}

#[test]
fn segments_are_json_lines_in_full_precision() {
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "segments.jsonl");
    let report: Value = serde_json::from_str(&quick(&["-f", "json", "--segments", &path])).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 24);
    assert_eq!((&lines[0]["system"], &lines[0]["image_id"]), (&"good".into(), &101.into()));
    assert_eq!(lines[0]["scores"].as_object().unwrap().keys().collect::<Vec<_>>(), KEYS);
    for system in report["systems"].as_array().unwrap() {
        let mine = lines.iter().filter(|line| line["system"] == system["name"]);
        let mean = mine.map(|line| line["scores"]["cider-d"].as_f64().unwrap()).sum::<f64>() / 12.0;
        assert!((mean - system["scores"]["cider-d"].as_f64().unwrap()).abs() < 1e-12);
    }
}

#[test]
fn threads_change_no_digit() {
    let report = |threads: &str| without_run(&quick(&["-f", "json", "--threads", threads])).to_string();
    assert_eq!(report("1"), report("3"));
}

#[test]
fn json_says_which_command_made_it_and_when() {
    let output = Command::new(crate::program::path())
        .args(["score", "-r", "references.json", "results.json", "-m", "bleu", "-f", "json"])
        .current_dir(fixtures())
        .env("SOURCE_DATE_EPOCH", "1709164800")
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let run = &report["run"];
    assert_eq!(run["date"], "2024-02-29T00:00:00Z");
    let command: Vec<&str> = run["command"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(command[1..], ["score", "-r", "references.json", "results.json", "-m", "bleu", "-f", "json"]);
    assert!(run["system"].as_str().unwrap().contains(std::env::consts::ARCH));
    let lengths = &report["systems"][0]["lengths"];
    let [candidates, references, ratio] =
        ["candidates", "references", "ratio"].map(|name| lengths[name].as_f64().unwrap());
    assert_eq!(ratio, candidates / references);
}

#[test]
fn percent_multiplies_scores_of_papers_by_100_in_tables_only() {
    let metrics = ["-m", "bleu,cider-d,ter"];
    let percent = [&metrics[..], &["--percent"]].concat();
    let table = quick(&percent);
    let row = |label: &str| {
        let line = table.lines().find(|line| line.starts_with(label)).unwrap();
        line.split_whitespace().rev().take(3).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("BLEU-1"), ["65.5", "90.8*", "0–100"], "{table}");
    assert_eq!(row("CIDEr-D"), ["47.8", "155.3*", "0–1000"], "{table}");
    assert_eq!(row("TER"), ["71.0", "54.8*", "0–∞"], "{table}");
    assert!(table.contains("note: scores are multiplied by 100, but not ter"), "{table}");
    let intervals = quick(&[&percent[..], &["--ci", "--digits", "2", "-f", "markdown"]].concat());
    assert!(intervals.contains("**90.83** \\[8") || intervals.contains("**90.83** [8"), "{intervals}");
    for form in ["csv", "jsonl"] {
        let plain = quick(&[&metrics[..], &["-f", form]].concat());
        assert_eq!(quick(&[&percent[..], &["-f", form]].concat()), plain);
    }
    let (references, good, weak) =
        (quickstart("references.json"), quickstart("good.json"), quickstart("weak.json"));
    let compared = stdout(&["compare", "-r", &references, &weak, &good, "-m", "bleu", "--percent"]);
    assert!(compared.contains("BLEU-1   65.5   90.8   +25.3 [+19.2, +33.0]*"), "{compared}");
}

#[test]
fn what_is_left_out_is_signed_and_said() {
    let skipped = json(&["score", "-r", "references.json", "partial.json", "--missing", "skip"]);
    assert_eq!(skipped["systems"][0]["images"], 1);
    assert!(skipped["signatures"]["cider-d"].as_str().unwrap().contains("|missing:skip(2)|"));
    let codes: Vec<&Value> = skipped["notices"].as_array().unwrap().iter().map(|n| &n["code"]).collect();
    assert_eq!(codes, ["missing:skip", "one-image"]);

    let empty = json(&["score", "-r", "references.json", "partial.json", "--missing", "empty"]);
    assert_eq!(empty["systems"][0]["images"], 3);
    assert!(empty["signatures"]["bleu"].as_str().unwrap().contains("|missing:empty(2)|"));
}

#[test]
fn systems_with_different_images_are_distinguished() {
    let text =
        stdout(&["score", "-r", "references.json", "results.json", "partial.json", "--missing", "skip"]);
    expect("different_images.txt", &text);
}

#[test]
fn policies_decide_about_mismatches_between_files() {
    let score = |candidates: &str, policy: &[&str]| {
        let report = json(&[&["score", "-r", "references.json", candidates], policy].concat());
        report["systems"][0]["scores"]["rouge-l"].as_f64().unwrap()
    };
    let whole = score("results.json", &[]);
    assert_eq!(score("surplus.json", &["--surplus", "ignore"]), whole);
    assert_eq!(score("twice.json", &["--several", "first"]), whole);
    assert!(score("twice.json", &["--several", "last"]) != whole);
    assert_eq!(score("text_ids.json", &["--ids", "text"]), whole);
    assert!(
        score("empty_caption.json", &["--empty", "keep"]) < score("empty_caption.json", &["--empty", "skip"])
    );
}

#[test]
fn a_list_of_images_restricts_the_corpus() {
    let folder = tempfile::tempdir().unwrap();
    let list = scratch(&folder, "list.txt");
    for text in ["1\n3\n", "[1, 3]"] {
        fs::write(&list, text).unwrap();
        let report = json(&["score", "-r", "references.json", "results.json", "--images", &list]);
        assert_eq!(
            (&report["systems"][0]["images"], &report["references"]["images"]),
            (&2.into(), &2.into())
        );
        assert!(report["signatures"]["bleu"].as_str().unwrap().contains("|subset:2|"));
        assert_eq!(report["notices"][0]["code"], "subset");
    }
}

#[test]
fn variants_of_a_metric_are_shown_side_by_side() {
    let metrics = "cider-d,cider-d:sigma=4,cider-d:idf=uniform";
    let report = json(&["score", "-r", "references.json", "results.json", "-m", metrics]);
    let scores = report["systems"][0]["scores"].as_object().unwrap();
    assert_eq!(scores.keys().collect::<Vec<_>>(), ["cider-d", "cider-d:sigma=4", "cider-d:idf=uniform"]);
}

#[test]
fn text_that_does_not_suit_its_tokenizer_is_noticed() {
    let report = json(&["score", "-r", "references.json", "results.json", "-t", "none"]);
    assert_eq!(report["notices"][0]["code"], "untokenised");
    let table = stdout(&["score", "-r", "references.json", "results.json", "-t", "none"]);
    assert!(table.contains("note: the references look untokenised"), "{table}");
}

#[test]
fn a_dash_means_standard_input() {
    let results = fs::read_to_string(fixtures().join("results.json")).unwrap();
    let run = capeval_with(&["score", "-r", "references.json", "-", "-f", "json"], &results);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let file = json(&["score", "-r", "references.json", "results.json"]);
    assert_eq!(report["systems"][0]["name"], "stdin");
    assert_eq!(report["systems"][0]["scores"], file["systems"][0]["scores"]);
}

#[test]
fn several_files_of_plain_text_are_one_reference_each() {
    let report = json(&["score", "-r", "two_lines.txt", "-r", "two_lines.txt", "mine=two_lines.txt"]);
    assert_eq!(report["systems"][0]["name"], "mine");
    assert!(report["signatures"]["bleu"].as_str().unwrap().contains("|nrefs:2|"));
    assert!(report["systems"][0]["scores"]["rouge-l"].as_f64().unwrap() > 0.999);
}

#[test]
fn a_report_can_be_written_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "report.json");
    fs::write(&path, "x".repeat(10_000)).unwrap();
    assert_eq!(stdout(&["score", "-r", "references.json", "results.json", "-f", "json", "-o", &path]), "");
    let written = without_run(&fs::read_to_string(&path).unwrap());
    assert_eq!(written, json(&["score", "-r", "references.json", "results.json"]));
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let mut child = Command::new(crate::program::path())
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

#[test]
fn metrics_whose_data_are_missing_are_left_out_of_a_suite_and_named() {
    let report = json(&["score", "-s", "coco", "-r", "references.json", "results.json"]);
    assert!(report["systems"][0]["scores"].get("meteor").is_none());
    assert_eq!(report["notices"][0]["code"], "no-meteor");
    let run = capeval(&["score", "-m", "meteor", "-r", "references.json", "results.json"]);
    assert!(run.code == 2 && run.stderr.contains("capeval data install meteor"), "{}", run.stderr);
}

#[test]
fn lines_counted_from_0_do_not_go_with_a_list_of_images() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let reference = |id: u32| {
        format!("{{\"image_id\": {id}, \"caption\": \"{}\"}}", ["a dog", "a cat", "a bird"][id as usize])
    };
    let references = write("refs.jsonl", &[0, 1, 2].map(reference).join("\n"));
    let candidates = write("out.txt", "a dog\na cat\na bird\n");
    let args = ["score", "-m", "bleu", "-r", &references, &candidates];
    assert!(json(&args)["systems"][0]["scores"]["bleu-1"].as_f64().unwrap() > 0.99);
    for listed in ["1\n2\n", "0\n1\n2\n"] {
        let list = write("images.txt", listed);
        let run = capeval(&[&args[..], &["--images", &list]].concat());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
        assert!(
            run.stderr.contains("out.txt has no ids") && run.stderr.contains("help: give ids"),
            "{}",
            run.stderr
        );
    }
    // Fewer lines than images are counted from 1, with a list and without.
    let candidates = write("two.txt", "a cat\na bird\n");
    let args = ["score", "-m", "bleu", "-r", &references, &candidates, "--missing", "skip"];
    let list = write("images.txt", "1\n");
    let scores =
        |more: &[&str]| json(&[&args[..], more].concat())["systems"][0]["scores"]["bleu-1"].as_f64().unwrap();
    assert!(scores(&[]) > 0.99 && scores(&["--images", &list]) > 0.99);
}

#[test]
fn systems_are_sorted_by_a_measure_with_their_ranks() {
    let (references, good, weak) =
        (quickstart("references.json"), quickstart("good.json"), quickstart("weak.json"));
    let (twin, explained) = (format!("twin={good}"), ["-m", "ter,bleu", "--sort"]);
    let args = [&["score", "-r", &references, &weak, &good, &twin][..], &explained].concat();
    for key in ["ter", "bleu-4"] {
        let table = stdout(&[&args[..], &[key]].concat());
        let rows: Vec<Vec<&str>> =
            table.lines().skip(2).take(3).map(|row| row.split_whitespace().take(2).collect()).collect();
        assert_eq!(rows, [["good", "1"], ["twin", "1"], ["weak", "3"]], "{table}");
    }
    let tree = stdout(&[&args[..], &["bleu-4", "--explain", "101"]].concat());
    let titles: Vec<&str> = tree.lines().filter(|line| line.starts_with("image ")).collect();
    assert_eq!(titles.len(), 3, "{tree}");
    let run = capeval(&[&args[..], &["bleu4"]].concat());
    assert!(
        run.stderr.contains("--sort: no measure is called 'bleu4'\nhelp: did you mean bleu-4?"),
        "{}",
        run.stderr
    );
}

#[test]
fn the_ending_of_a_file_names_its_format_in_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let (references, good, weak) =
        (quickstart("references.json"), quickstart("good.json"), quickstart("weak.json"));
    let commands: [&[&str]; 4] = [
        &["score", "-r", &references, &good, "-m", "rouge-l"],
        &["compare", "-r", &references, &good, &weak, "-m", "rouge-l", "--resamples", "10"],
        &["human", "-r", &references, "-m", "rouge-l"],
        &["diversity", &good, "-m", "vocabulary"],
    ];
    let endings = [
        ("csv", "csv"),
        ("json", "json"),
        ("JSONL", "jsonl"),
        ("md", "markdown"),
        ("tex", "latex"),
        ("out", "table"),
    ];
    for (k, command) in commands.into_iter().enumerate() {
        // All share the rule.
        for &(ending, form) in endings.iter().take(if k == 0 { endings.len() } else { 1 }) {
            let path = scratch(&folder, &format!("{}.{ending}", command[0]));
            assert_eq!(stdout(&[command, &["-o", &path]].concat()), "");
            let (file, shown) =
                (fs::read_to_string(&path).unwrap(), stdout(&[command, &["-f", form]].concat()));
            match form {
                "json" => assert_eq!(without_run(&file), without_run(&shown)),
                _ => assert_eq!(file, shown, "{} {ending}", command[0]),
            }
        }
        let page = scratch(&folder, &format!("{}.html", command[0]));
        assert_eq!(stdout(&[command, &["-o", &page]].concat()), "");
        assert!(fs::read_to_string(&page).unwrap().starts_with("<!doctype html>"), "{page}");
    }
    let path = scratch(&folder, "other.csv");
    let run = capeval(&[commands[0], &["-o", &path, "-f", "json"]].concat());
    assert!(
        run.code == 2 && run.stderr.contains("names another format than --format json"),
        "{}",
        run.stderr
    );
    assert!(!fs::exists(&path).unwrap());
    stdout(&[commands[0], &["-o", &path, "-f", "csv"]].concat());
    let page = scratch(&folder, "titled.html");
    stdout(&[commands[0], &["-o", &page, "--title", "Mine"]].concat());
    assert!(fs::read_to_string(&page).unwrap().contains("<title>Mine"));
}
