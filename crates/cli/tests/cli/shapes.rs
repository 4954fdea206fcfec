//! One shape of JSON over all commands that report.

use serde_json::{Value, json as value};

use crate::program::{capeval_with, json, quickstart, stdout};

const PROBABILITIES: &str = "{\"id\": 1, \"probs\": [0.6, 0.8]}";

fn reports() -> [(&'static str, Value); 5] {
    let [references, good, weak] = ["references.json", "good.json", "weak.json"].map(quickstart);
    let metrics = ["-m", "bleu,cider-d", "-f", "json"];
    let perplexity = capeval_with(&["perplexity", "-", "-f", "json"], PROBABILITIES).stdout;
    [
        ("score", json(&["score", "-r", &references, &good, "-m", "bleu,cider-d"])),
        (
            "compare",
            serde_json::from_str(&stdout(
                &[&["compare", "-r", &references, &weak, &good], &metrics[..]].concat(),
            ))
            .unwrap(),
        ),
        ("correlate", json(&["correlate", "ratings.csv", "-r", "references.json", "-m", "bleu,cider-d"])),
        ("perplexity", serde_json::from_str(&perplexity).unwrap()),
        ("diversity", json(&["diversity", &good, "-m", "vocabulary"])),
    ]
}

#[test]
fn every_report_has_measures_signatures_notices_and_version_in_one_shape() {
    for (command, report) in reports() {
        let measures = report["measures"].as_array().unwrap();
        assert!(!measures.is_empty(), "{command}");
        for measure in measures {
            for key in ["key", "label", "better", "min", "max", "number"] {
                assert!(measure.get(key).is_some(), "{command}: a measure has no {key}");
            }
        }
        let signatures = report["signatures"].as_object().unwrap();
        assert!(!signatures.is_empty(), "{command}");
        let named = |(metric, signature): (&String, &Value)| {
            signature.as_str().unwrap().split('|').next() == Some(metric)
        };
        assert!(signatures.iter().all(named), "{command}: {signatures:?}");
        assert!(report["notices"].is_array() && report["capeval"].is_string(), "{command}");
        // What maps measures to numbers has the keys of the list.
        let keys: Vec<&str> = measures.iter().map(|measure| measure["key"].as_str().unwrap()).collect();
        let map = match command {
            "correlate" => &report["correlations"],
            "compare" => &report["comparisons"][0]["contrasts"],
            _ => &report["systems"][0]["scores"],
        };
        assert_eq!(map.as_object().unwrap().keys().collect::<Vec<_>>(), keys, "{command}");
    }
}

#[test]
fn a_report_holds_no_policy_that_decided_nothing() {
    for (command, report) in reports() {
        let expected = match command {
            "score" | "compare" => {
                assert_eq!(report["references"]["images"], 12);
                value!({
                    "missing": "error", "surplus": "error", "duplicate": "error", "empty": "error", "ids": "as-given"
                })
            }
            "diversity" => value!({"ids": "as-given"}),
            _ => Value::Null,
        };
        assert_eq!(report["policy"], expected, "{command}");
        let has_references = matches!(command, "score" | "compare");
        assert_eq!(report.get("references").is_some(), has_references, "{command}");
    }
}

/// In lists a system has its `name` and a measure its `key`; lines and rows say `system` and `measure`.
#[test]
fn lines_and_rows_call_systems_and_measures_alike() {
    let [references, good, weak] = ["references.json", "good.json", "weak.json"].map(quickstart);
    let cases: [(&[&str], &[&str]); 5] = [
        (&["score", "-r", &references, &good], &["system"]),
        (&["compare", "-r", &references, &weak, &good], &["baseline", "system", "measure"]),
        (&["correlate", "ratings.csv", "-r", "references.json"], &["measure"]),
        (&["diversity", &good], &["system"]),
        (&["score", "-r", &references, &good, "--ci"], &["system"]),
    ];
    for (args, keys) in cases {
        let metrics: &[&str] = if args[0] == "diversity" { &[] } else { &["-m", "cider-d"] };
        let of = |format: &str| stdout(&[args, metrics, &["-f", format]].concat());
        let (jsonl, csv) = (of("jsonl"), of("csv"));
        let line: Value = serde_json::from_str(jsonl.lines().next().unwrap()).unwrap();
        let (header, row) = csv.split_once('\n').unwrap();
        let (header, row): (Vec<&str>, Vec<&str>) = (header.split(',').collect(), row.split(',').collect());
        for key in keys {
            let at = header.iter().position(|column| column == key);
            assert_eq!(line[*key], row[at.unwrap()], "{args:?} {key}");
        }
        assert!(line["notices"].is_array() && header.contains(&"notices"), "{args:?}");
    }
}
