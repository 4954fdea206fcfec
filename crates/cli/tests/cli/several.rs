//! Several candidates for an image, and several runs of a system.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{capeval, scratch};

const CAPTIONS: [(i64, [&str; 3]); 3] = [
    (1, ["a dog runs", "a dog runs on the beach", "cat"]),
    (2, ["two cats", "cats sleeping on a sofa", "sofa"]),
    (3, ["bus", "a red bus", "the bus stops"]),
];

struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Self {
        let files = Self { folder: tempfile::tempdir().unwrap() };
        let references = json!({
            "1": ["a dog runs on the beach", "a brown dog is running on sand"],
            "2": ["two cats sit on a sofa", "cats sleeping"],
            "3": ["a red bus stops", "the bus is red"],
        });
        files.write("references.json", &references);
        let record = |id: i64, text: &str| json!({"image_id": id, "caption": text});
        let all = CAPTIONS.iter().flat_map(|(id, texts)| texts.iter().map(move |text| record(*id, text)));
        files.write("all.json", &Value::from_iter(all.clone()));
        files.write("uneven.json", &Value::from_iter(all.take(8)));
        for k in 0..3 {
            let run = CAPTIONS.iter().map(|(id, texts)| record(*id, texts[k]));
            files.write(&format!("run{}.json", k + 1), &Value::from_iter(run));
        }
        files
    }

    fn path(&self, name: &str) -> String {
        scratch(&self.folder, name)
    }

    fn write(&self, name: &str, value: &Value) {
        fs::write(self.path(name), value.to_string()).unwrap();
    }

    fn run(&self, command: &str, rest: &[&str]) -> crate::program::Run {
        capeval(
            &[&[command, "-r", &self.path("references.json"), "-f", "json", "--ids", "text"], rest].concat(),
        )
    }

    fn report(&self, rest: &[&str]) -> Value {
        let run = self.run("score", rest);
        assert_eq!(run.code, 0, "{}", run.stderr);
        serde_json::from_str(&run.stdout).unwrap()
    }

    /// The scores of the only system of a report.
    fn scores(&self, rest: &[&str]) -> Value {
        self.report(rest)["systems"][0]["scores"].clone()
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

const METRICS: [&str; 2] = ["-m", "bleu,cider-d,ter"];

#[test]
fn means_are_those_of_the_runs_and_an_oracle_takes_the_best_of_each_image() {
    let files = Files::new();
    let of = |name: &str, rest: &[&str]| files.scores(&[&[&*files.path(name)], &METRICS[..], rest].concat());
    let runs: Vec<Value> = (1..=3).map(|k| of(&format!("run{k}.json"), &[])).collect();
    let (all, pattern) = ("all.json", format!("mine={}", files.path("run*.json")));
    let mean = of(all, &["--several", "mean"]);
    let of_runs = files.scores(&[&["--runs", &*pattern], &METRICS[..]].concat());
    for (key, value) in mean.as_object().unwrap() {
        let expected: f64 = runs.iter().map(|run| number(&run[key])).sum::<f64>() / 3.0;
        assert!((number(value) - expected).abs() < 1e-12, "{key}: {value} {expected}");
        assert!((number(&of_runs[key]) - expected).abs() < 1e-12, "{key}");
    }
    // The second caption of each image is the best one by CIDEr-D; of TER, the lowest is the best.
    assert_eq!(of(all, &["--several", "best:cider-d"]), runs[1]);
    let best = of(all, &["--several", "best:ter"]);
    assert!(runs.iter().all(|run| number(&best["ter"]) <= number(&run["ter"])), "{best}");
    assert_eq!(of(all, &["--several", "first"]), runs[0]);
    assert_eq!(of(all, &["--several", "last"]), runs[2]);
    let each = of(all, &["--several", "each"]);
    assert!((number(&each["cider-d"]) - number(&mean["cider-d"])).abs() < 1e-12);
    assert!((number(&each["bleu-1"]) - number(&mean["bleu-1"])).abs() > 0.01, "BLEU is no mean");
}

#[test]
fn what_was_put_together_is_signed_and_said() {
    let files = Files::new();
    let report = files.report(&[&files.path("all.json"), "-m", "cider-d", "--several", "best:cider-d"]);
    let signature =
        |report: &Value| report["systems"][0]["signatures"]["cider-d"].as_str().unwrap().to_owned();
    assert!(signature(&report).contains("|several:best:cider-d(3)|"), "{report}");
    let pattern = format!("mine={}", files.path("run*.json"));
    let report = files.report(&["--runs", &pattern, "-m", "cider-d", "--ci"]);
    assert!(signature(&report).contains("|runs:3|"), "{report}");
    let message = report["notices"][0]["message"].as_str().unwrap();
    assert!(
        message.starts_with("mine is the mean of 3 runs; their standard deviations are cider-d 1.6"),
        "{message}"
    );
    assert_eq!(report["systems"].as_array().unwrap().len(), 1);
}

#[test]
fn deviations_over_runs_stand_beside_the_means_in_every_form() {
    let files = Files::new();
    let runs: Vec<f64> = (1..=3)
        .map(|k| number(&files.scores(&[&files.path(&format!("run{k}.json")), "-m", "cider-d"])["cider-d"]))
        .collect();
    let mean = runs.iter().sum::<f64>() / 3.0;
    let expected = (runs.iter().map(|run| (run - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
    let (pattern, one) = (format!("mine={}", files.path("run*.json")), files.path("run1.json"));
    let args = ["--runs", &pattern, &one, "-m", "cider-d"];
    let report = files.report(&args);
    // Files come before runs.
    let [single, mine] = [0, 1].map(|k| report["systems"][k].clone());
    assert_eq!((single["runs"].is_null(), mine["runs"]["n"].as_u64()), (true, Some(3)), "{report}");
    assert!((number(&mine["runs"]["deviations"]["cider-d"]) - expected).abs() < 1e-12, "{report}");
    let shown = |more: &[&str]| {
        let of = ["score", "-r", &*files.path("references.json"), "--ids", "text"].map(str::to_owned);
        let of: Vec<&str> = of.iter().map(String::as_str).collect();
        let run = capeval(&[&of[..], &args[..], more].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stdout
    };
    let text = format!("{mean:.3} ± {expected:.3}");
    assert!(
        shown(&["-f", "table"]).contains(&text)
            && shown(&["-f", "markdown"]).contains(&format!("± {expected:.3}"))
    );
    let table = shown(&["-f", "table"]);
    assert!(table.contains("±: standard deviation over 3 runs"), "{table}");
    let (latex, csv) = (shown(&["-f", "latex"]), shown(&["-f", "csv"]));
    assert!(latex.contains(&format!("$\\pm {expected:.3}$")), "{latex}");
    let rows: Vec<Vec<&str>> = csv.lines().map(|row| row.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|column| *column == name).unwrap();
    assert_eq!(rows[2][column("runs")], "3", "{csv}");
    assert!((rows[2][column("cider-d_sd")].parse::<f64>().unwrap() - expected).abs() < 1e-12, "{csv}");
    assert_eq!((rows[1][column("runs")], rows[1][column("cider-d_sd")]), ("", ""), "{csv}");
    // A saved report says the same, also in percent.
    let saved = files.path("saved.json");
    shown(&["--save", &saved]);
    let again = capeval(&["show", &saved]).stdout;
    assert!(again.contains(&text), "{again}");
}

#[test]
fn an_image_with_fewer_candidates_has_a_mean_of_scores_but_none_of_corpus_scores() {
    let files = Files::new();
    let uneven = files.path("uneven.json");
    let items = files.path("items.jsonl");
    let scores = files.scores(&[&uneven, "-m", "cider-d", "--several", "mean", "--segments", &items]);
    let rows = fs::read_to_string(&items).unwrap();
    let values: Vec<f64> = rows
        .lines()
        .map(|row| number(&serde_json::from_str::<Value>(row).unwrap()["scores"]["cider-d"]))
        .collect();
    assert!((values.iter().sum::<f64>() / 3.0 - number(&scores["cider-d"])).abs() < 1e-12);
    let refused = files.run("score", &[&uneven, "-m", "bleu", "--several", "mean"]);
    assert!(refused.code == 2 && refused.stderr.contains("--several each"), "{}", refused.stderr);
    assert_eq!(files.run("score", &[&uneven, "-m", "bleu", "--several", "each"]).code, 0);
}

#[test]
fn runs_are_tested_as_one_system() {
    let files = Files::new();
    let [one, two, three] = ["run1.json", "run2.json", "run3.json"].map(|name| files.path(name));
    let (a, b) = (format!("a={one},{two}"), format!("b={two},{three}"));
    let run = files.run("compare", &["--runs", &a, "--runs", &b, "-m", "bleu,cider-d"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["comparisons"].as_array().unwrap().len(), 1);
    let single = files.run("compare", &[&one, "--runs", &b, "-m", "cider-d"]);
    assert_eq!(single.code, 0, "{}", single.stderr);
    let refused = files.run("compare", &[&one, "--runs", &b, "-m", "bleu"]);
    assert!(refused.code == 2 && refused.stderr.contains("different numbers of runs"), "{}", refused.stderr);
}

#[test]
fn what_cannot_be_put_together_is_refused_with_what_works() {
    let files = Files::new();
    let (all, page) = (files.path("all.json"), files.path("page.html"));
    let one = files.path("run1.json");
    let lone = format!("a={}", files.path("run1.json"));
    let none = format!("a={}", files.path("nothing*.json"));
    let cases: [(&[&str], &str); 8] = [
        (&[&one, "--several", "best:nope"], "no measure that is computed is called 'nope'"),
        (&[&all], "--several each to score all of them"),
        (&[&all, "--several", "best:cider"], "did you mean cider-d?"),
        (&[&all, "--several", "average"], "choose from error, first, last, best:METRIC, mean, each"),
        (&[&all, "--several", "mean", "--html", &page], "leave out the page"),
        (&[&all, "--several", "mean", "--human"], "score one candidate"),
        (&["--runs", &lone], "at least two runs"),
        (&["--runs", &none], "no file is called"),
    ];
    for (rest, words) in cases {
        let run = files.run("score", &[rest, &METRICS[..]].concat());
        assert!(run.code == 2 && run.stdout.is_empty(), "{rest:?}: {}", run.code);
        assert!(run.stderr.contains(words), "'{words}' is not said: {}", run.stderr);
    }
}

#[test]
fn an_image_with_several_candidates_in_one_record_is_placed() {
    let files = Files::new();
    let beams = |texts: [&str; 3]| texts.map(|text| json!({"caption": text, "log_probability": -1.5}));
    let record = |id: i64, texts: [&str; 3]| json!({"image_id": id, "captions": beams(texts)});
    let records: Vec<Value> = CAPTIONS.iter().map(|(id, texts)| record(*id, *texts)).collect();
    files.write("records.json", &Value::from_iter(records.clone()));
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    fs::write(files.path("lines.jsonl"), lines.join("\n")).unwrap();
    for (name, place) in [
        ("records.json", "has several in record 1"),
        ("lines.jsonl", "has several in record 1"),
        ("all.json", "at caption 1 and caption 2"),
    ] {
        let run = capeval(&["score", "-m", "bleu", "-r", &files.path("references.json"), &files.path(name)]);
        assert_ne!(run.code, 0, "{name}");
        assert!(run.stderr.contains(&format!("(the first one {place})")), "{name}: {}", run.stderr);
    }
}
