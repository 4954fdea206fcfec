//! `capeval score --ci`: confidence intervals in every format.

use serde_json::Value;

use crate::program::{expect, json, quickstart, scratch, stdout, without_run};

fn quick(rest: &[&str]) -> String {
    let files = [quickstart("references.json"), quickstart("good.json"), quickstart("weak.json")];
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    stdout(&[&["score", "-r"], &files[..], &["-m", "bleu,cider-d"], rest].concat())
}

fn report(rest: &[&str]) -> Value {
    without_run(&quick(&[&["-f", "json"], rest].concat()))
}

#[test]
fn intervals_follow_their_scores() {
    expect("intervals.txt", &quick(&["--ci"]));
    expect("intervals.md", &quick(&["--ci=90%", "-f", "markdown"]));
    expect("intervals.tex", &quick(&["--ci=0.9", "-f", "latex"]));
}

#[test]
fn every_format_gives_the_same_intervals() {
    let report = report(&["--ci"]);
    let resampling = serde_json::json!(
        {"method": "percentile bootstrap", "level": 0.95, "resamples": 10_000, "seed": 12_345}
    );
    assert_eq!(report["resampling"], resampling);
    let csv = quick(&["--ci", "-f", "csv"]);
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let jsonl = quick(&["--ci", "-f", "jsonl"]);
    let lines: Vec<Value> = jsonl.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (k, system) in report["systems"].as_array().unwrap().iter().enumerate() {
        assert_eq!((&lines[k]["system"], &lines[k]["intervals"]), (&system["name"], &system["intervals"]));
        let drawn = ["level", "resamples", "seed"].map(|name| {
            let column = rows[0].iter().position(|column| *column == name).unwrap();
            rows[k + 1][column]
        });
        assert_eq!(drawn, ["0.95", "10000", "12345"]);
        assert_eq!(lines[k]["resampling"], resampling);
        for (key, ends) in system["intervals"].as_object().unwrap() {
            for (end, name) in [(0, "low"), (1, "high")] {
                let column = rows[0].iter().position(|c| *c == format!("{key}_{name}")).unwrap();
                assert_eq!(rows[k + 1][column].parse::<f64>().unwrap(), ends[end].as_f64().unwrap());
            }
        }
    }
}

#[test]
fn intervals_hold_their_scores_and_widen_with_their_level() {
    let (narrow, wide) = (report(&["--ci=80"]), report(&["--ci=99"]));
    for (narrow, wide) in
        narrow["systems"].as_array().unwrap().iter().zip(wide["systems"].as_array().unwrap())
    {
        for (key, score) in narrow["scores"].as_object().unwrap() {
            let end = |system: &Value, k: usize| system["intervals"][key][k].as_f64().unwrap();
            let score = score.as_f64().unwrap();
            assert!(end(narrow, 0) < score && score < end(narrow, 1), "{key}");
            assert!(end(wide, 0) < end(narrow, 0) && end(narrow, 1) < end(wide, 1), "{key}");
        }
    }
}

#[test]
fn without_the_flag_there_are_none() {
    let report = report(&[]);
    assert!(report.get("resampling").is_none() && report["systems"][0].get("intervals").is_none());
    let csv = quick(&["-f", "csv"]);
    assert!(["_low", "seed", "resamples"].iter().all(|name| !csv.contains(name)));
}

#[test]
fn the_seed_alone_decides_the_draws() {
    let one = report(&["--ci", "--resamples", "1003", "--seed", "7", "--threads", "1"]);
    assert_eq!(one, report(&["--ci", "--resamples", "1003", "--seed", "7", "--threads", "3"]));
    assert_ne!(one, report(&["--ci", "--resamples", "1003", "--seed", "8"]));
}

#[test]
fn the_order_of_files_and_the_other_systems_change_no_digit_of_an_interval() {
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "references.json");
    let mut references: Value =
        serde_json::from_str(&std::fs::read_to_string(quickstart("references.json")).unwrap()).unwrap();
    // Images in reverse, each with its references in order.
    let annotations = references["annotations"].as_array_mut().unwrap();
    annotations.sort_by_key(|annotation| -annotation["image_id"].as_i64().unwrap());
    std::fs::write(&path, references.to_string()).unwrap();
    let alone = json(&["score", "-r", &path, &quickstart("weak.json"), "-m", "bleu,cider-d", "--ci"]);
    let both = report(&["--ci"]);
    assert_eq!(alone["systems"][0]["intervals"], both["systems"][1]["intervals"]);
}

#[test]
fn an_interval_of_one_image_is_noticed() {
    let args = ["score", "-r", "references.json", "partial.json", "--missing", "skip", "--ci"];
    let report = json(&args);
    let codes: Vec<&Value> = report["notices"].as_array().unwrap().iter().map(|n| &n["code"]).collect();
    assert!(codes.contains(&&"interval-of-one-image".into()), "{codes:?}");
    let system = &report["systems"][0];
    assert_eq!(system["intervals"]["rouge-l"][0], system["scores"]["rouge-l"]);
}
