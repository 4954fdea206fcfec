//! The numbers that pycocoevalcap publishes for its own example.

use std::process::Command;

use capeval_testkit::skip;
use serde_json::Value;

use crate::goldens::is_installed;
use crate::program::{json, shared, stdout};

#[test]
fn the_published_numbers_come_out() {
    let Some(references) = shared("data/coco/captions_val2014.json.gz") else { return };
    let Some(candidates) = shared("data/coco/fakecap_results.json") else { return };
    let args = ["score", "-r", &references, &candidates, "--missing", "skip"];
    let report = json(&args);
    let scores = &report["systems"][0]["scores"];
    let published = [
        ("bleu-1", 0.579),
        ("bleu-2", 0.404),
        ("bleu-3", 0.279),
        ("bleu-4", 0.191),
        ("rouge-l", 0.396),
        ("cider-d", 0.600),
    ];
    let table = stdout(&args);
    for (key, value) in published {
        let ours = scores[key].as_f64().unwrap();
        assert!((ours - value).abs() < 0.0005, "{key} is {ours}, not {value}");
        assert!(table.contains(&format!("{value:.3}")), "{key}\n{table}");
    }
    assert_eq!(report["systems"][0]["images"], 1000);
    assert_eq!(report["notices"][0]["code"], "missing:skip");
    assert_eq!(report["notices"][0]["count"], 39504);
}

/// With METEOR's resources as the user has installed them.
#[test]
fn the_published_meteor_comes_out_once_its_data_are_installed() {
    let Some(references) = shared("data/coco/captions_val2014.json.gz") else { return };
    let Some(candidates) = shared("data/coco/fakecap_results.json") else { return };
    let caches = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(crate::program::path());
        let output = command.args(args).env("CAPEVAL_CACHE", caches.path()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    if !is_installed("meteor") {
        skip("meteor", "METEOR's resources are not installed; run `capeval data install meteor`");
        return;
    }
    let args = ["score", "-r", &references, &candidates, "--missing", "skip"];
    let report: Value = serde_json::from_str(&run(&[&args[..], &["-f", "json"]].concat())).unwrap();
    // pycocoevalcap 1.2 on the same files; published as 0.195.
    let meteor = report["systems"][0]["scores"]["meteor"].as_f64().unwrap();
    assert_eq!(meteor.to_bits(), 0.195_254_671_777_802_84_f64.to_bits(), "{meteor}");
    let table = run(&args);
    let row = table.lines().find(|line| line.starts_with("METEOR")).unwrap();
    assert!(row.ends_with("0.195"), "{table}");
}
