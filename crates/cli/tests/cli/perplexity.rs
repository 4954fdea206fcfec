//! Perplexities and language models from the command line.

use serde_json::Value;

use crate::program::{capeval, capeval_with, json, quickstart, said, scratch, stdout};

/// Probabilities of the worked example; its perplexity is 2.12.
const EXAMPLE: [f64; 7] = [0.6, 0.8, 0.3, 0.4, 0.3, 0.5, 0.6];

fn of(lines: &str, args: &[&str]) -> Value {
    let run = capeval_with(&[&["perplexity", "-", "--format", "json"], args].concat(), lines);
    assert!(run.code == 0 && run.stderr.lines().all(|line| line.starts_with("wrote ")), "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

fn score(report: &Value, key: &str) -> f64 {
    report["systems"][0]["scores"][key].as_f64().unwrap()
}

#[test]
fn the_worked_example_has_perplexity_2_12_in_every_form() {
    let logs = |log: fn(f64) -> f64| format!("{{\"id\": 1, \"logprobs\": {:?}}}", EXAMPLE.map(log));
    for (line, args) in [
        (format!("{{\"id\": 1, \"probs\": {EXAMPLE:?}}}"), &[][..]),
        (logs(f64::ln), &[]),
        (logs(f64::log2), &["--log", "2"]),
        (logs(f64::log10), &["--log", "10"]),
    ] {
        assert_eq!(format!("{:.2}", score(&of(&line, args), "perplexity")), "2.12");
    }
}

#[test]
fn ends_count_in_one_number_and_not_in_the_other() {
    let report =
        of("{\"id\": 1, \"probs\": [0.5, 0.5], \"end\": 0.125}\n{\"id\": 2, \"probs\": [0.25]}", &[]);
    assert_eq!(
        (score(&report, "perplexity"), score(&report, "perplexity:end=no")),
        (f64::exp2(1.75), f64::exp2(4.0 / 3.0))
    );
    assert_eq!(report["notices"][0]["code"], "no-end-symbol");
}

#[test]
fn a_zero_probability_is_infinite_and_names_its_segment() {
    let lines = "{\"id\": \"x\", \"probs\": [0.5]}\n{\"id\": \"y\", \"probs\": [0]}";
    let report = of(lines, &[]);
    assert_eq!(report["systems"][0]["scores"]["perplexity"], "inf");
    assert!(report["notices"][0]["message"].as_str().unwrap().contains("segment y has probability 0"));
    assert!(capeval_with(&["perplexity", "-"], lines).stdout.contains('∞'));
}

#[test]
fn every_segment_has_its_perplexity() {
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "segments.jsonl");
    of("{\"id\": 3, \"probs\": [0.5]}\n{\"id\": \"b\", \"probs\": [0.125]}", &["--segments", &path]);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["image_id"], &lines[0]["scores"]["perplexity"]), (&3.into(), &2.0.into()));
    assert_eq!((&lines[1]["image_id"], &lines[1]["scores"]["perplexity"]), (&"b".into(), &8.0.into()));
}

#[test]
fn a_model_trained_on_references_scores_as_the_metric_does() {
    let folder = tempfile::tempdir().unwrap();
    let model = scratch(&folder, "model.arpa");
    let (references, good, weak) =
        (quickstart("references.json"), quickstart("good.json"), quickstart("weak.json"));
    let said = said(&["lm", "train", &references, "-o", &model, "-n", "2"]);
    assert!(said.contains("to 2 words") && said.contains("note: too few captions"), "{said}");
    let report = json(&["perplexity", "--lm", &model, &good, &weak]);
    let metric = ["-m", "perplexity:n=2,perplexity:n=2:end=no,perplexity:n=2:unknown=no"];
    let scored = json(&[&["score", "-r", &references, &good, &weak], &metric[..]].concat());
    for system in 0..2 {
        let (a, b) = (&report["systems"][system]["scores"], &scored["systems"][system]["scores"]);
        for (a, b) in a.as_object().unwrap().values().zip(b.as_object().unwrap().values()) {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a / b - 1.0).abs() < 1e-6, "{a} {b}: an ARPA file holds 32-bit numbers");
        }
    }
    assert_eq!(report["notices"][0]["code"], "unknown-words");
    let saved = json(&["score", "-r", &references, &good, "-m", "perplexity", "--lm", &model]);
    assert_eq!(saved["systems"][0]["scores"]["perplexity"], report["systems"][0]["scores"]["perplexity"]);
    assert!(stdout(&["lm", "show", &model]).contains("order        2"));
}

#[test]
fn what_is_no_model_and_no_probability_is_refused() {
    let good = quickstart("good.json");
    for (args, expected) in [
        (&["perplexity", &good][..], "pass --lm FILE to score captions"),
        (&["perplexity", "--lm", &good, &good], "this is not an ARPA file"),
        (&["perplexity", "-t", "ptb", &good], "--lm"),
        (&["perplexity", "--id-column", "key", &good], "leave out --id-column"),
        (&["perplexity", "--caption-column", "text", &good], "leave out --caption-column"),
        (&["perplexity", "--input-format", "csv", &good], "leave out --input-format"),
        (&["perplexity", "--percent", &good], "leave out --percent"),
        (&["lm", "train", &good, "--no-fallback", "-o", "-"], "fallback"),
        (&["score", "-r", &good, &good, "-m", "perplexity:lm=file"], "--lm FILE"),
    ] {
        let run = capeval(args);
        assert!(run.code == 2 && run.stderr.contains(expected), "{}", run.stderr);
    }
}
