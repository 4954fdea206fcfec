//! `capeval prefer`: accuracies counted by hand, draws, formats, and what cannot be judged.

use serde_json::Value;

use crate::program::{capeval, expect, json, scratch, stdout};

const ARGS: [&str; 4] = ["prefer", "pairs.csv", "--scores", "caption_scores.csv"];

fn with(rest: &[&'static str]) -> Vec<&'static str> {
    [&ARGS[..], rest].concat()
}

/// By hand: of HC the first pair is right and the second tied; of HI two of three are right, and people are tied on
/// the last. The column `ter` is an error rate, 1 less the other.
#[test]
fn accuracies_equal_those_counted_by_hand() {
    let accuracy = |rules: &[&'static str], hc: f64, hi: f64, all: f64| {
        let found = json(&with(rules));
        for key in ["mine", "ter"] {
            let of = &found["accuracies"][key];
            let close = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 1e-15;
            assert!(close(&of["accuracy"]["HC"], hc), "{rules:?} {of}");
            assert!(close(&of["accuracy"]["HI"], hi), "{rules:?} {of}");
            assert!(close(&of["mean"], (hc + hi) / 2.0) && close(&of["all"], all), "{rules:?} {of}");
        }
        found
    };
    let found = accuracy(&["--human-ties", "skip"], 1.5 / 2.0, 2.0 / 3.0, 3.5 / 5.0);
    let pairs = &found["pairs"];
    assert_eq!((&pairs["pairs"], &pairs["tied"], &pairs["images"]), (&6.into(), &1.into(), &3.into()));
    assert_eq!(pairs["categories"], serde_json::json!({"HC": 2, "HI": 3}));
    let majority = (40.0 + 30.0 + 38.0 + 48.0 + 47.0 + 24.0) / 48.0 / 6.0;
    assert!((pairs["majority"].as_f64().unwrap() - majority).abs() < 1e-15);
    assert_eq!(found["accuracies"]["mine"]["tied"].as_f64(), Some(0.2));
    accuracy(&["--human-ties", "skip", "--metric-ties", "wrong"], 0.5, 2.0 / 3.0, 3.0 / 5.0);
    accuracy(&["--human-ties", "skip", "--metric-ties", "first"], 1.0, 2.0 / 3.0, 4.0 / 5.0);
    let found = accuracy(&[], 0.75, 2.5 / 4.0, 4.0 / 6.0);
    assert_eq!(found["pairs"]["categories"], serde_json::json!({"HC": 2, "HI": 4}));
    let protocol = serde_json::json!({"human_ties": "half", "metric_ties": "half"});
    assert_eq!(found["protocol"], protocol, "nothing was drawn");
}

#[test]
fn every_format_gives_the_same_accuracies() {
    expect("preference.txt", &stdout(&with(&["--ci", "--resamples", "500", "--human-ties", "skip"])));
    expect("preference.md", &stdout(&with(&["-f", "markdown", "--human-ties", "skip"])));
    expect("preference.tex", &stdout(&with(&["-f", "latex", "--human-ties", "skip"])));
    let whole = json(&with(&["--ci", "--resamples", "300"]));
    let jsonl = stdout(&with(&["--ci", "--resamples", "300", "-f", "jsonl"]));
    let lines: Vec<Value> = jsonl.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (line, (key, found)) in lines.iter().zip(whole["accuracies"].as_object().unwrap()) {
        assert_eq!(line["measure"], **key);
        for (name, value) in found.as_object().unwrap() {
            assert_eq!(&line[name], value, "{name}");
        }
    }
    let csv = stdout(&with(&["--ci", "--resamples", "300", "-f", "csv"]));
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let of: Vec<[&str; 2]> = rows.iter().skip(1).take(4).map(|row| [row[1], row[2]]).collect();
    assert_eq!(of, [["category", "HC"], ["category", "HI"], ["mean", ""], ["all", ""]]);
    for row in rows.iter().skip(1) {
        let found = &whole["accuracies"][row[0]];
        let pick = |from: &Value| {
            if row[1] == "category" { from["accuracy"][row[2]].clone() } else { from[row[1]].clone() }
        };
        assert_eq!(row[3].parse::<f64>().unwrap(), pick(found).as_f64().unwrap());
        assert_eq!(row[4].parse::<f64>().unwrap(), pick(&found["intervals"])[0].as_f64().unwrap());
    }
}

/// Eight references for each of twelve pairs, among which the better caption depends on the draw.
fn many_pairs(turned: bool) -> String {
    let nouns = ["dog", "cat", "bus", "tree", "man", "boat", "kite", "bird"];
    let mut lines: Vec<String> = (0..12)
        .map(|k| {
            let references: Vec<String> =
                nouns.iter().map(|noun| format!("a {noun} number {k} here")).collect();
            let (a, b) = (nouns[k % 8], nouns[(3 * k + 1) % 8]);
            let kind = if k % 2 == 0 { "HC" } else { "MM" };
            serde_json::json!({"image_id": k / 2, "captions": [format!("a {a}"), format!("the {b} here")],
                "votes": [k, 11 - k], "category": kind, "references": references})
            .to_string()
        })
        .collect();
    if turned {
        lines.reverse();
    }
    lines.join("\n")
}

#[test]
fn draws_depend_on_the_seed_and_not_on_threads_or_the_order_of_pairs() {
    let folder = tempfile::tempdir().unwrap();
    let (path, turned) = (scratch(&folder, "pairs.jsonl"), scratch(&folder, "turned.jsonl"));
    std::fs::write(&path, many_pairs(false)).unwrap();
    std::fs::write(&turned, many_pairs(true)).unwrap();
    let run_with = |path: &str, n: &str, rest: &[&str]| {
        let head = ["prefer", path, "-m", "cider-d,rouge-l", "--references-per-pair", n];
        json(&[&head, rest].concat())
    };
    let run = |path: &str, rest: &[&str]| run_with(path, "2", rest);
    let found = run(&path, &["--threads", "1"]);
    assert_eq!(found["accuracies"], run(&turned, &["--threads", "3"])["accuracies"]);
    let rouge = found["accuracies"]["rouge-l"]["by_draw"].as_array().unwrap();
    assert!(rouge.len() == 5 && rouge.iter().any(|draw| draw != &rouge[0]), "{rouge:?}");
    assert_ne!(found["accuracies"], run(&path, &["--draw-seed", "7"])["accuracies"]);
    let mean: f64 = rouge.iter().map(|draw| draw.as_f64().unwrap()).sum::<f64>() / 5.0;
    assert!((mean - found["accuracies"]["rouge-l"]["mean"].as_f64().unwrap()).abs() < 1e-12);
    // A draw is the same whether others are made or not.
    assert_eq!(
        run(&path, &["--draws", "2"])["accuracies"]["rouge-l"]["by_draw"].as_array().unwrap()[..],
        rouge[..2]
    );
    let signature = found["signatures"]["cider-d"].as_str().unwrap();
    let settings =
        "|own-reference:keep|references-per-pair:2|draws:5|draw-seed:12345|human-ties:half|metric-ties:half";
    assert!(signature.contains("|images:12|nrefs:2|") && signature.ends_with(settings), "{signature}");
    let all = run_with(&path, "all", &[]);
    assert_eq!(
        (&all["protocol"]["draws"], &all["protocol"]["references_per_pair"]),
        (&1.into(), &Value::Null)
    );
}

#[test]
fn an_image_is_one_whether_its_id_is_a_number_or_a_text_if_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "ids.jsonl");
    let pair = |id: Value, a: &str, kind: &str| {
        serde_json::json!({"image_id": id, "captions": [a, "a bus"], "votes": [3, 1], "category": kind,
            "references": ["a dog runs"]})
        .to_string()
    };
    std::fs::write(&path, [pair(1.into(), "a dog", "A"), pair("1".into(), "dogs", "B")].join("\n")).unwrap();
    let run = |rest: &[&str]| {
        json(&[&["prefer", &path, "-m", "rouge-l", "--ci", "--resamples", "200"], rest].concat())
    };
    assert_eq!(run(&[])["pairs"]["images"], 2);
    let found = run(&["--ids", "text"]);
    assert_eq!(found["pairs"]["images"], 1);
    let codes: Vec<&Value> = found["notices"].as_array().unwrap().iter().map(|n| &n["code"]).collect();
    assert!(codes.contains(&&Value::from("rare-categories")), "{codes:?}");
}

#[test]
fn segments_name_the_pair_its_votes_and_its_scores() {
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "rows.jsonl");
    stdout(&[&ARGS[..], &["--segments", &path, "--human-ties", "skip"]].concat());
    let text = std::fs::read_to_string(&path).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected = serde_json::json!({"image_id": 1, "category": "HC", "captions": ["p2 a", "p2 b"],
        "votes": [30.0, 18.0], "scores": {"mine": [0.5, 0.5], "ter": [0.5, 0.5]}, "right": {"mine": 0.5, "ter": 0.5}});
    assert_eq!((rows.len(), &rows[1]), (6, &expected));
    assert_eq!(rows[5]["right"]["mine"], Value::Null);
}

#[test]
fn references_of_pairs_may_contain_their_own_captions() {
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "own.csv");
    let pairs =
        "image_id,caption_a,caption_b,winner\n1,A dog runs along  the beach.,a cat,a\n2,a kite,a bus,a\n";
    std::fs::write(&path, pairs).unwrap();
    let run = |what: &str| {
        json(&["prefer", &path, "-r", "references.json", "-m", "rouge-l", "--own-reference", what])
    };
    for (what, n) in [("keep", 2), ("remove", 2), ("skip", 1)] {
        let found = run(what);
        assert_eq!(found["pairs"]["pairs"], n, "{what}");
        assert_eq!(found["notices"][0]["code"], format!("own-reference:{what}"));
        assert!(found["signatures"]["rouge-l"].as_str().unwrap().contains(&format!("own-reference:{what}")));
    }
}

/// The case, the pairs, the other arguments, and the words that the error must contain.
const CASES: &[(&str, &str, &[&str], &[&str])] = &[
    (
        "no references",
        "image_id,caption_a,caption_b,winner\n1,a,b,a\n",
        &[],
        &["need references", "--scores"],
    ),
    (
        "unknown images",
        "image_id,caption_a,caption_b,winner\n1,a,b,a\n9,a,b,b\n",
        &["-r", "references.json"],
        &["1 of 2 pairs", "such as 9", "--surplus ignore"],
    ),
    (
        "only ties",
        "image_id,caption_a,caption_b,winner\n1,a,b,tie\n",
        &["-r", "references.json", "--human-ties", "skip"],
        &["neither caption of any pair", "--human-ties half"],
    ),
    (
        "no scores",
        "image_id,caption_a,caption_b,winner\n1,p1 a,p1 c,a\n",
        &["--scores", "caption_scores.csv"],
        &["1 of 1 pairs", "without a score"],
    ),
    (
        "scores without captions",
        "image_id,caption_a,caption_b,winner\n1,a,b,a\n",
        &["--scores", "pair_scores.csv"],
        &["is without its caption"],
    ),
    (
        "no column",
        "image_id,caption,rating\n1,a,2\n",
        &["-r", "references.json"],
        &["two captions", "caption_a"],
    ),
    ("a MATLAB file", "MATLAB 5.0 MAT-file", &["-r", "references.json"], &["scripts/pascal50s.py", "scipy"]),
    (
        "no draw",
        "image_id,caption_a,caption_b,winner\n1,a,b,a\n",
        &["-r", "references.json", "--draws", "0"],
        &["0 times", "from 1 to 10000"],
    ),
    ("no reference", "", &["--references-per-pair", "0"], &["whole number", "all"]),
    ("a unit", "", &["--unit", "item"], &["--unit"]),
    ("draws of scores", "", &["--scores", "caption_scores.csv", "--draws", "3"], &["--draws"]),
];

#[test]
fn pairs_that_cannot_be_judged_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "wrong.csv");
    for (what, pairs, rest, words) in CASES {
        std::fs::write(&path, pairs).unwrap();
        let run = capeval(&[&["prefer", &path], *rest].concat());
        assert!(run.code == 2 && run.stdout.is_empty(), "{what}: {} {}", run.code, run.stdout);
        for word in *words {
            assert!(run.stderr.contains(word), "{what}: '{word}' is not said: {}", run.stderr);
        }
    }
    let run = capeval(&["correlate", "ratings.csv", "-r", "references.json", "--draws", "3"]);
    assert!(run.code == 2 && run.stderr.contains("--draws"), "{}", run.stderr);
}

/// Beside `--scores` alone nothing is read, scored or drawn, so that flags about it would be without effect.
#[test]
fn flags_without_effect_are_refused_together_with_scores() {
    let ratings = ["correlate", "ratings.csv", "--scores", "pair_scores.csv"];
    for flag in [
        ["--own-reference", "skip"],
        ["--surplus", "ignore"],
        ["--ref-format", "coco"],
        ["--ref-id-column", "id"],
        ["--split", "test"],
        ["--tokenizer", "13a"],
        ["--idf", "uniform"],
        ["--df", "table"],
        ["--lm", "model.arpa"],
        ["--spice-cache", "parses"],
        ["--references-per-pair", "all"],
        ["--draws", "3"],
        ["--draw-seed", "3"],
    ] {
        let draws = flag[0].contains("draw") || flag[0].contains("pair");
        for args in [&ARGS[..], &ratings].into_iter().take(if draws { 1 } else { 2 }) {
            let run = capeval(&[args, &flag].concat());
            let is_named =
                run.stderr.contains(&format!("{} has no effect on scores that are given", flag[0]));
            assert!(run.code != 0 && is_named, "{flag:?}: {}", run.stderr);
        }
    }
}

#[test]
fn help_tells_what_pairs_and_segments_are() {
    let words = |command: &str| stdout(&[command, "--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
    let help = words("correlate");
    assert!(help.contains("every rated caption with its scores"), "{help}");
    let words = words("prefer");
    assert!(words.contains("every pair with its scores"), "{words}");
    assert!(
        words.contains("0 and 1 are the first and the second") && words.contains("docs/guides/pairs.md"),
        "{words}"
    );
    assert!(!words.contains("the scores of every image") && !help.contains("the scores of every image"));
}

#[test]
fn percent_multiplies_accuracies_by_100() {
    let whole = json(&with(&["--percent"]));
    let plain = json(&ARGS);
    assert_eq!(whole["accuracies"], plain["accuracies"]);
    let table = stdout(&with(&["--percent"]));
    let mean = plain["accuracies"]["mine"]["mean"].as_f64().unwrap();
    assert!(table.contains(&format!("{:.1}", 100.0 * mean)), "{table}");
    assert!(table.contains("note: accuracies are multiplied by 100"), "{table}");
}
