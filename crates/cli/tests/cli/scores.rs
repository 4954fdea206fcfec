//! Scores that someone else computed: in every command, under the policies of captions, and what is refused.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::program::{capeval, fixtures, json, path, scratch, stdout};

/// References, and captions of two systems, for so many images that resamples differ.
struct Corpus {
    folder: tempfile::TempDir,
}

const WORDS: [&str; 9] = ["a", "dog", "runs", "on", "the", "beach", "red", "kite", "flies"];

impl Corpus {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut next = 7_u64;
        let mut draw = move || {
            next = next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            WORDS[(next >> 33) as usize % WORDS.len()]
        };
        let mut text = |n: usize| (0..n).map(|_| draw()).collect::<Vec<_>>().join(" ");
        let file = |name: &str, lines: Vec<String>| {
            fs::write(folder.path().join(name), lines.join("\n")).unwrap();
        };
        let mut line = |id: usize, n: usize| format!("{{\"image_id\": {id}, \"caption\": \"{}\"}}", text(n));
        file("refs.jsonl", (0..160).map(|k| line(1 + k / 2, 7)).collect());
        file("a.jsonl", (0..80).map(|k| line(k + 1, 5)).collect());
        file("b.jsonl", (0..80).map(|k| line(80 - k, 7)).collect());
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        scratch(&self.folder, name)
    }

    fn with(&self, name: &str, content: &str) -> String {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// A command on the captions of both systems.
    fn run(&self, command: &str, rest: &[&str]) -> Value {
        let (refs, a, b) = (self.path("refs.jsonl"), self.path("a.jsonl"), self.path("b.jsonl"));
        json(&[&[command, "-r", &refs, &a, &b], rest].concat())
    }
}

/// The numbers that must be equal: scores, intervals and tests.
fn numbers(found: &Value) -> Value {
    let of_system =
        |system: &Value| serde_json::json!([system["name"], system["scores"], system["intervals"]]);
    let systems: Vec<Value> = found["systems"].as_array().unwrap().iter().map(of_system).collect();
    serde_json::json!([systems, found["comparisons"]])
}

#[test]
fn given_scores_have_the_intervals_and_p_values_of_the_metric_that_made_them() {
    let corpus = Corpus::new();
    let segments = corpus.path("segments.jsonl");
    let means = "rouge-l,cider-d,cider,rouge-score";
    let computed = corpus.run("compare", &["-m", means, "--resamples", "400", "--segments", &segments]);
    let given = json(&["compare", "--scores", &segments, "--resamples", "400"]);
    let pairs = computed["comparisons"].to_string();
    assert!(pairs.contains("randomisation") && pairs.len() > 500, "{pairs}");
    assert_eq!(numbers(&computed), numbers(&given));
    assert_eq!(computed["measures"], given["measures"], "labels, ranges and directions are known");

    let computed = corpus.run("score", &["-m", means, "--ci", "--resamples", "400"]);
    let given = json(&["score", "--scores", &segments, "--ci", "--resamples", "400"]);
    assert!(computed["systems"][0]["intervals"].to_string().len() > 50);
    assert_eq!(numbers(&computed), numbers(&given));
}

#[test]
fn metrics_of_two_machines_are_one_table_and_one_test() {
    let corpus = Corpus::new();
    let segments = corpus.path("rouge.jsonl");
    corpus.run("score", &["-m", "rouge-l", "--segments", &segments]);
    let together = ["--resamples", "300", "-m"];
    let whole = corpus.run("compare", &[&together[..], &["cider-d,rouge-l"]].concat());
    let joined = corpus.run("compare", &[&together[..], &["cider-d", "--scores", &segments]].concat());
    assert_eq!(numbers(&whole), numbers(&joined));
    let signature = joined["systems"][1]["signatures"]["rouge-l"].as_str().unwrap().to_owned();
    assert!(signature.starts_with("given|measure:rouge-l|file:"), "{signature}");

    // Both come from files: two of them with the same systems.
    let cider = corpus.path("cider.jsonl");
    corpus.run("score", &["-m", "cider-d", "--segments", &cider]);
    let files = json(&["compare", "--scores", &cider, "--scores", &segments, "--resamples", "300"]);
    assert_eq!(numbers(&whole), numbers(&files));
    assert_eq!(files["systems"][1]["signatures"]["rouge-l"], signature.as_str());
}

#[test]
fn the_order_of_rows_changes_nothing() {
    let corpus = Corpus::new();
    let segments = corpus.path("segments.jsonl");
    corpus.run("score", &["-m", "rouge-l", "--segments", &segments]);
    let text = fs::read_to_string(&segments).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.rotate_left(17);
    let shuffled = corpus.with("shuffled.jsonl", &lines.join("\n"));
    let compared = |path: &str| {
        let mut found = json(&["compare", "--scores", path, "--resamples", "300"]);
        // Systems are in the order of the file.
        let systems = found["systems"].as_array_mut().unwrap();
        systems.sort_by_key(|system| system["name"].to_string());
        systems
            .iter()
            .map(|s| [&s["scores"], &s["intervals"], &s["signatures"]].map(Value::to_string))
            .collect::<Vec<_>>()
    };
    assert_eq!(compared(&segments), compared(&shuffled));
}

#[test]
fn systems_may_be_files_or_a_column() {
    let corpus = Corpus::new();
    let column = corpus.with("all.csv", "image_id,model,clip\n1,a,0.5\n2,a,0.25\n1,b,1\n2,b,0\n");
    let a = corpus.with("a.csv", "image_id,clip\n1,0.5\n2,0.25\n");
    let b = corpus.with("b.json", "{\"2\": {\"clip\": 0}, \"1\": {\"clip\": 1}}");
    let scores = |args: &[&str]| {
        let found = json(&[&["score"], args].concat());
        let of = |system: &Value| format!("{} {}", system["name"], system["scores"]["clip"]);
        found["systems"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    let expected = ["\"a\" 0.375", "\"b\" 0.5"];
    assert_eq!(scores(&["--scores", &column]), expected);
    assert_eq!(scores(&["--scores", &a, "--scores", &b]), expected);
    let (named, other) =
        (format!("a={}", corpus.with("x.csv", "image_id,clip\n1,0.5\n2,0.25\n")), format!("b={b}"));
    assert_eq!(scores(&["--scores", &named, "--scores", &other]), expected);
    // Numbers without a name are called score, unless a name is given.
    let plain = corpus.with("plain.json", "{\"1\": 0.5, \"2\": 0.25}");
    let found = json(&["score", "--scores", &plain]);
    assert_eq!(found["systems"][0]["scores"]["score"], 0.375);
    assert_eq!(scores(&["--scores", &format!("mine:clip={plain}")]), ["\"mine\" 0.375"]);
    let list = corpus.with("list.json", "[0.5, 0.25]");
    let ids = corpus.with("ids.txt", "1\n2\n");
    assert_eq!(scores(&["--scores", &format!(":clip={list}"), "--score-ids", &ids]), ["\"list\" 0.375"]);
}

#[test]
fn the_only_system_with_captions_needs_no_name() {
    let corpus = Corpus::new();
    let rows: String = (1..81).map(|id| format!("{id},0.5\n")).collect();
    let clip = corpus.with("clip.csv", &format!("image_id,clip\n{rows}"));
    let (refs, a) = (corpus.path("refs.jsonl"), corpus.path("a.jsonl"));
    let found = json(&["score", "-r", &refs, &a, "-m", "rouge-l", "--scores", &clip]);
    assert_eq!(found["systems"][0]["scores"]["clip"], 0.5);
    assert!(found["systems"][0]["scores"]["rouge-l"].is_f64());
}

const LACKING: [(&str, &str, &str); 4] = [
    ("missing", "image_id,clip\n1,1\n2,0\n", "missing:skip(1)"),
    ("NaN", "image_id,clip\n1,1\n2,0\n3,NaN\n", "missing:skip(1)"),
    ("surplus", "image_id,clip\n1,1\n2,0\n3,1\n4,1\n", "surplus:ignore(1)"),
    ("several", "image_id,clip\n1,1\n2,0\n3,1\n3,0.5\n", "several:first(1)"),
];

#[test]
fn policies_of_captions_hold_for_scores() {
    let folder = tempfile::tempdir().unwrap();
    for (what, text, signed) in LACKING {
        let path = scratch(&folder, "clip.csv");
        fs::write(&path, text).unwrap();
        let args = ["score", "-r", "references.json", "results.json", "-m", "cider-d", "--scores", &path];
        let refused = capeval(&args);
        let (flag, value) = signed.split_once(':').unwrap();
        let value = value.split('(').next().unwrap();
        let remedy = format!("pass --{flag} {value}");
        assert!(refused.code == 2 && refused.stderr.contains(&remedy), "{what}: {}", refused.stderr);
        let found = json(&[&args[..], &[&format!("--{flag}"), value]].concat());
        for metric in ["clip", "cider-d"] {
            let signature = found["signatures"][metric].as_str().unwrap();
            let is_signed = signature.contains(signed);
            assert!(is_signed, "{what}: {metric}: {signature}");
        }
        let images = if flag == "missing" { 2 } else { 3 };
        assert_eq!(found["systems"][0]["images"], images, "{what}");
    }
    let path = scratch(&folder, "clip.csv");
    fs::write(&path, LACKING[0].1).unwrap();
    let partial = json(&[
        "score",
        "-r",
        "references.json",
        "partial.json",
        "-m",
        "cider-d",
        "--scores",
        &path,
        "--missing",
        "skip",
    ]);
    let signature = partial["signatures"]["clip"].as_str().unwrap();
    assert!(signature.contains("|missing:skip("), "{signature}");
    assert_eq!(
        signature.matches("missing:").count(),
        1,
        "captions and scores are counted together: {signature}"
    );
}

#[test]
fn without_captions_the_images_are_those_of_all_files() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b, list) = (scratch(&folder, "a.csv"), scratch(&folder, "b.csv"), scratch(&folder, "list.txt"));
    fs::write(&a, "image_id,clip\n1,1\n2,0\n3,0.5\n").unwrap();
    fs::write(&b, "image_id,clip\n2,1\n3,1\n4,0\n").unwrap();
    let both = ["--scores", &a, "--scores", &b];
    let refused = capeval(&[&["score"], &both[..]].concat());
    assert!(
        refused.stderr.contains("1 of 4 images in the scores has no score by clip for a: 4"),
        "{}",
        refused.stderr
    );
    let each = json(&[&["score"], &both[..], &["--missing", "skip"]].concat());
    assert_eq!((&each["systems"][0]["images"], &each["systems"][1]["images"]), (&3.into(), &3.into()));
    let common = json(&[&["compare"], &both[..], &["--missing", "skip", "--resamples", "50"]].concat());
    assert_eq!(common["systems"][0]["images"], 2);
    assert!(common["systems"][0]["signatures"]["clip"].as_str().unwrap().contains("missing:skip(2)"));
    fs::write(&list, "2\n3\n").unwrap();
    let listed = json(&[&["score"], &both[..], &["--images", &list]].concat());
    assert_eq!(
        (&listed["systems"][0]["scores"]["clip"], &listed["systems"][1]["scores"]["clip"]),
        (&0.25.into(), &1.0.into())
    );
    assert!(listed["signatures"]["clip"].as_str().unwrap().contains("|subset:2"));
}

#[test]
fn direction_and_range_come_from_metrics_files_and_people() {
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "m.csv");
    fs::write(
        &path,
        "# {\"measures\": {\"cost\": {\"lower_is_better\": true, \"range\": [0, 4]}}}\nimage_id,TER,cost,wer,clip\n1,0.5,1,1,1\n2,0,2,1,0\n",
    )
    .unwrap();
    let found = json(&["score", "--scores", &path, "--lower-is-better", "wer"]);
    let better: Vec<&str> =
        found["measures"].as_array().unwrap().iter().map(|m| m["better"].as_str().unwrap()).collect();
    assert_eq!(better, ["lower", "lower", "lower", "higher"]);
    assert_eq!((&found["measures"][1]["min"], &found["measures"][1]["max"]), (&0.0.into(), &4.0.into()));
    let notices = stdout(&["score", "--scores", &path, "--lower-is-better", "wer"]);
    assert!(notices.contains("higher is taken to be better by clip; pass --lower-is-better"), "{notices}");
}

#[test]
fn every_output_has_given_scores() {
    let corpus = Corpus::new();
    let segments = corpus.path("segments.jsonl");
    corpus.run("score", &["-m", "rouge-l,cider-d", "--segments", &segments]);
    let args = ["compare", "--scores", &segments, "--all-pairs", "--sort", "cider-d", "--resamples", "50"];
    for format in ["table", "csv", "markdown", "latex", "jsonl", "json"] {
        let text = stdout(&[&args[..], &["-f", format]].concat());
        assert!(
            text.contains("given|measure:rouge-l") && text.to_lowercase().contains("cider-d"),
            "{format}: {text}"
        );
    }
    let (page, saved, again) =
        (corpus.path("page.html"), corpus.path("saved.json"), corpus.path("again.jsonl"));
    stdout(&[&args[..], &["--html", &page, "--save", &saved, "--segments", &again]].concat());
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.contains("ROUGE-L") && html.contains("\"texts\":false"), "there are no captions to show");
    assert!(!html.contains("words per caption"), "empty texts have no lengths");
    let shown = stdout(&["show", &saved, "-f", "csv"]);
    assert!(shown.contains("given|measure:cider-d"), "{shown}");
    // Reports of one system each are compared with the same digits, although their files differ.
    let pair = |at: usize| {
        let name = ["a", "b"][at];
        let of_one: Vec<String> = fs::read_to_string(&segments)
            .unwrap()
            .lines()
            .filter(|line| line.contains(&format!("\"system\":\"{name}\"")))
            .map(str::to_owned)
            .collect();
        let scores = corpus.with(&format!("{name}.of.jsonl"), &of_one.join("\n"));
        let report = corpus.path(&format!("{name}.report.json"));
        stdout(&["score", "--scores", &scores, "--save", &report]);
        report
    };
    let reports = json(&["compare", "--reports", &pair(0), &pair(1), "--resamples", "50"]);
    let whole = json(&["compare", "--scores", &segments, "--resamples", "50"]);
    assert_eq!(numbers(&reports), numbers(&whole));
    let explained = stdout(&["score", "--scores", &segments, "--explain", "7"]);
    assert!(explained.contains("given, not computed"), "{explained}");
}

#[test]
fn metrics_are_correlated_beside_given_scores() {
    let found = json(&[
        "correlate",
        "ratings.csv",
        "-r",
        "references.json",
        "-m",
        "rouge-l",
        "--scores",
        "pair_scores.csv",
    ]);
    let alone = json(&["correlate", "ratings.csv", "--scores", "pair_scores.csv"]);
    let computed = json(&["correlate", "ratings.csv", "-r", "references.json", "-m", "rouge-l"]);
    let of = |found: &Value, key: &str| found["correlations"][key]["pearson"].clone();
    assert_eq!(of(&found, "mine"), of(&alone, "mine"));
    assert_eq!(of(&found, "rouge-l"), of(&computed, "rouge-l"));
    assert_eq!(found["williams"].as_array().unwrap().len(), 3, "each pair of the three is tested");
    let signature = alone["signatures"]["mine"].as_str().unwrap();
    assert!(
        signature.starts_with("given|measure:mine|file:") && !signature.contains("own-reference"),
        "{signature}"
    );
}

#[test]
fn metrics_prefer_captions_beside_given_scores() {
    let folder = tempfile::tempdir().unwrap();
    let (pairs, scores) = (scratch(&folder, "pairs.jsonl"), scratch(&folder, "scores.csv"));
    fs::write(
        &pairs,
        "{\"image_id\": 1, \"captions\": [\"a dog runs\", \"a cat\"], \"winner\": \"a\", \"references\": [\"a dog\"]}\n\
         {\"image_id\": 2, \"captions\": [\"a bus\", \"a kite flies\"], \"winner\": \"b\", \"references\": [\"a kite\"]}\n",
    )
    .unwrap();
    fs::write(&scores, "image_id,caption,clip\n1,a dog runs,1\n1,a cat,0\n2,a bus,1\n2,a kite flies,0\n")
        .unwrap();
    let found = json(&["prefer", &pairs, "-m", "rouge-l", "--scores", &scores]);
    let accuracy = |key: &str| found["accuracies"][key]["mean"].as_f64().unwrap();
    assert_eq!((accuracy("rouge-l"), accuracy("clip")), (1.0, 0.5));
    assert!(found["protocol"]["draws"].is_number(), "references were drawn for the metric");
}

/// The fault, the content of `x.csv`, other arguments, and words of the error and its remedy.
type Case = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

const CAPTIONS: [&str; 6] = ["score", "-r", "references.json", "results.json", "-m", "cider-d"];
const OK: &str = "image_id,clip\n1,0.5\n2,0.4\n3,0.7\n";

const BESIDE_CAPTIONS: &[Case] = &[
    (
        "a lacking score",
        "image_id,clip\n1,0.5\n2,0.4\n",
        &[],
        &["1 of 3 images in references.json has no score by clip: 3", "--missing skip"],
    ),
    (
        "NaN",
        "image_id,clip\n1,0.5\n2,NaN\n3,0.1\n",
        &[],
        &["x.csv:3: 1 of 3 images", "no score by clip but NaN: 2", "--missing skip"],
    ),
    (
        "an image without references",
        "image_id,clip\n1,0.5\n2,0.4\n3,0.7\n9,1\n",
        &[],
        &["x.csv:5: 1 score by clip has no reference in references.json: 9", "--surplus ignore"],
    ),
    (
        "several scores",
        "image_id,clip\n1,0.5\n2,0.4\n3,0.7\n3,1\n",
        &[],
        &[
            "1 image has several scores by clip: 3 (the first one at line 4 and line 5)",
            "--several first or --several last",
        ],
    ),
    (
        "other images",
        "image_id,clip\nx,0.5\ny,0.4\n",
        &[],
        &[
            "none of its image ids (\"x\", \"y\") has a reference in references.json",
            "are these the right two files?",
        ],
    ),
    (
        "ids of another type",
        "[{\"image_id\": \"1\", \"clip\": 0.5}, {\"image_id\": \"2\", \"clip\": 1}, {\"image_id\": \"3\", \"clip\": 1}]",
        &[],
        &[
            "3 image ids are given as strings here (\"1\", \"2\", \"3\") and as numbers in references.json",
            "--ids text",
        ],
    ),
    (
        "a metric that is computed",
        "image_id,cider-d\n1,0.5\n2,0.4\n3,0.7\n",
        &[],
        &["cider-d is both computed and given in", "pass --metrics LIST to choose other metrics, or rename"],
    ),
    (
        "another system",
        "image_id,system,clip\n1,results,1\n2,results,1\n3,results,1\n1,yours,1\n",
        &[],
        &["has scores of yours, and the captions are of results", "the same name, as NAME=FILE"],
    ),
    (
        "a direction of nothing",
        OK,
        &["--lower-is-better", "clap"],
        &["no score is called clap", "did you mean clip?"],
    ),
    (
        "a missing score as empty",
        "image_id,clip\n1,0.5\n",
        &["--missing", "empty"],
        &["2 of 3 images", "pass --missing skip"],
    ),
    ("a human row", OK, &["--human"], &["people's captions have no given scores"]),
];

const ALONE: &[Case] = &[
    (
        "metrics",
        OK,
        &["-m", "cider-d"],
        &["metrics compare captions with references, and there are only scores", "leave out --metrics"],
    ),
    ("references", OK, &["-r", "references.json"], &["--references has no effect on scores that are given"]),
    ("a tokenizer", OK, &["--tokenizer", "13a"], &["--tokenizer has no effect on scores that are given"]),
    (
        "captions without references",
        OK,
        &["results.json"],
        &["captions are compared with references, and there are none", "pass -r FILE"],
    ),
    (
        "an unknown image",
        OK,
        &["--images", "unlisted.txt"],
        &["listed images has no score in", "remove it from the list"],
    ),
    (
        "words",
        "image_id,clip\n1,high\n",
        &[],
        &["x.csv:2: the score by clip is \"high\", not a number", "leave the column out if it is no measure"],
    ),
    (
        "infinity",
        "image_id,clip\n1,inf\n",
        &[],
        &["x.csv:2: the score by clip is inf, which is not a finite number"],
    ),
    (
        "no ids",
        "clip\n0.5\n",
        &[],
        &[
            "there is no image_id, only scores; the columns are \"clip\"",
            "call the column or key of the images image_id",
        ],
    ),
    ("only ids", "image_id\n1\n", &[], &["there are no scores in this file"]),
    ("an index of pandas", ",image_id,clip\n0,1,0.5\n", &[], &["column 1 has no name", "index=False"]),
    (
        "a list without ids",
        "[0.5, 0.25]",
        &[],
        &["holds 2 numbers without ids", "pass --score-ids FILE to say which images they are of"],
    ),
    (
        "a report",
        "{\"capeval\": \"1\", \"systems\": [], \"measures\": []}",
        &[],
        &["this is a report", "written beside it"],
    ),
    (
        "beyond its range",
        "# {\"measures\": {\"clip\": {\"range\": [0, 1]}}}\nimage_id,clip\n1,7\n",
        &[],
        &["x.csv:3: the score by clip is 7, outside of its range from 0 to 1"],
    ),
    (
        "a misspelt description",
        "# {\"measures\": {\"clip\": {\"lower\": true}}}\nimage_id,clip\n1,7\n",
        &[],
        &["the description of its measures: unknown field `lower`"],
    ),
    ("an empty file", "", &[], &["the file is empty"]),
];

fn refused(what: &str, args: &[&str], words: &[&str]) {
    let run = capeval(args);
    assert!(run.code == 2 && run.stdout.is_empty(), "{what}: {} {} {}", run.code, run.stdout, run.stderr);
    let said = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(said.contains(word), "{what}: '{word}' is not said: {said}");
    }
}

#[test]
fn scores_that_cannot_be_used_are_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "x.csv");
    for (what, text, rest, words) in BESIDE_CAPTIONS {
        fs::write(&path, text).unwrap();
        refused(what, &[&CAPTIONS[..], &["--scores", &path], rest].concat(), words);
    }
    for (what, text, rest, words) in ALONE {
        fs::write(&path, text).unwrap();
        refused(what, &[&["score", "--scores", &path], *rest].concat(), words);
    }
}

#[test]
fn files_that_do_not_fit_each_other_are_refused_with_both_names() {
    let folder = tempfile::tempdir().unwrap();
    let [clip, other, systems] = ["clip.csv", "pac.csv", "systems.csv"].map(|name| scratch(&folder, name));
    fs::write(&clip, OK).unwrap();
    fs::write(&other, OK.replace("clip", "pac")).unwrap();
    fs::write(&systems, "image_id,system,clip\n1,a,1\n1,b,1\n").unwrap();
    let (a, b) = (format!("a={clip}"), format!("b={other}"));
    refused(
        "other measures",
        &["score", "--scores", &a, "--scores", &b],
        &[
            "has scores by clip of a, and none of b, which is in",
            "as in NAME=FILE, since each needs every measure",
        ],
    );
    refused(
        "twice",
        &["score", "--scores", &clip, "--scores", &clip],
        &["clip has scores by clip in two files"],
    );
    let named = format!("mine={systems}");
    refused(
        "one name",
        &["score", "--scores", &named],
        &["one name, mine, for the scores of 2 systems: a, b", "leave the name out"],
    );
    refused("one system", &["compare", "--scores", &clip], &["a comparison needs at least two systems"]);
    let two = ["score", "-r", "references.json", "results.json", "x=results.json", "-m", "cider-d"];
    let given = format!("results={clip}");
    refused(
        "a system without scores",
        &[&two[..], &["--scores", &given]].concat(),
        &["has scores by clip of results, and none of x, which has captions"],
    );
    refused(
        "reports",
        &["compare", "--reports", "a.json", "--scores", &clip],
        &["--scores", "cannot be used with"],
    );
}

/// Every command of docs/guides/own-scores.md, on files called as there. METEOR and SPICE would need their data.
#[test]
fn the_commands_of_the_documentation_run() {
    let page = include_str!("../../../../docs/guides/own-scores.md");
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| fs::write(folder.path().join(name), content).unwrap();
    for (name, fixture) in [
        ("refs.json", "references.json"),
        ("mine.json", "results.json"),
        ("a.json", "results.json"),
        ("b.json", "results.json"),
        ("ratings.csv", "ratings.csv"),
        ("pairs.csv", "pairs.csv"),
        ("caption_scores.csv", "caption_scores.csv"),
    ] {
        fs::copy(fixtures().join(fixture), folder.path().join(name)).unwrap();
    }
    for name in ["clip.csv", "a.csv", "b.csv"] {
        file(name, OK);
    }
    for name in ["clip_a.json", "clip_b.json"] {
        file(name, "{\"1\": {\"clip\": 1}, \"2\": {\"clip\": 0.5}, \"3\": {\"clip\": 0}}");
    }
    let row = |system: &str, id: i32| {
        format!("{{\"system\":\"{system}\",\"image_id\":{id},\"scores\":{{\"clip\":0.5}}}}\n")
    };
    file(
        "clip.jsonl",
        &["a", "b"].iter().flat_map(|name| (1..4).map(|id| row(name, id))).collect::<String>(),
    );
    let commands: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("capeval ")).collect();
    assert_eq!(commands.len(), 8, "{commands:?}");
    for command in commands {
        let command = command.replace("meteor,spice", "rouge-l,cider-d");
        let run = Command::new(path())
            .args(command.split_whitespace())
            .env("CAPEVAL_DATA", fixtures().join("no-data"))
            .env("CAPEVAL_CACHE", fixtures().join("no-data"))
            .current_dir(folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success() && !run.stdout.is_empty(), "{command}: {said}");
    }
}
