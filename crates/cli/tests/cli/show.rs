//! `--save`, `capeval show` and `capeval compare --reports`: reports that are read again.

use std::fs;

use serde_json::Value;

use crate::program::{Run, capeval, capeval_with, quickstart, scratch, stdout};

const FORMATS: [&str; 6] = ["table", "json", "jsonl", "csv", "markdown", "latex"];

/// The arguments that score or compare two systems.
fn two(command: &str) -> Vec<String> {
    let files = ["references.json", "good.json", "weak.json"].map(quickstart);
    let [references, good, weak] = files;
    let mut args = vec![command.to_owned(), "-r".to_owned(), references, good, weak];
    args.extend(["-m", "bleu,rouge-l,cider-d"].map(str::to_owned));
    if command == "compare" {
        args.extend(["--resamples", "200"].map(str::to_owned));
    }
    args
}

fn of<'a>(args: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    args.iter().map(String::as_str).chain(more.iter().copied()).collect()
}

/// The text without the run, which is that of the last command.
fn without_run(text: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    value.as_object_mut().unwrap().remove("run");
    value.to_string()
}

#[test]
fn a_saved_result_is_shown_as_it_was_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let (report, segments, shown) =
        (scratch(&folder, "report.json"), scratch(&folder, "a.jsonl"), scratch(&folder, "b.jsonl"));
    for (command, more) in [("score", &["--ci"][..]), ("compare", &["--all-pairs", "--sort", "cider-d"])] {
        let args = two(command);
        for format in FORMATS {
            let more = [more, &["-f", format, "--save", &report, "--segments", &segments]].concat();
            let first = stdout(&of(&args, &more));
            for file in [&report, "-"] {
                let text = fs::read_to_string(&report).unwrap();
                let run = capeval_with(&["show", file, "-f", format], &text);
                assert_eq!((run.code, run.stderr.as_str()), (0, ""));
                assert_eq!(without_run(&run.stdout), without_run(&first), "{command} {format} {file}");
            }
        }
        stdout(&["show", &report, "-o", &scratch(&folder, "table.txt"), "--segments", &shown]);
        assert_eq!(fs::read(&segments).unwrap(), fs::read(&shown).unwrap(), "{command}");
        // What is printed as JSON is read, too, and only lacks the scores of images.
        let printed = stdout(&of(&args, &[more, &["-f", "json"]].concat()));
        let table = stdout(&of(&args, more));
        assert_eq!(capeval_with(&["show", "-"], &printed).stdout, table, "{command}");
        let run = capeval_with(&["show", "-", "--segments", &shown], &printed);
        assert!(run.code == 2 && run.stderr.contains("no scores of images"), "{}", run.stderr);
    }
}

#[test]
fn a_saved_report_may_be_sorted_multiplied_and_put_on_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let (report, page) = (scratch(&folder, "report.json"), scratch(&folder, "page.html"));
    let args = two("score");
    stdout(&of(&args, &["--save", &report]));
    let expected = stdout(&of(&args, &["--percent", "--sort", "rouge-l"]));
    assert_eq!(stdout(&["show", &report, "--percent", "--sort", "rouge-l"]), expected);
    let run = capeval(&["show", &report, "--html", &page]);
    assert!(run.code == 0 && run.stderr.contains("the page has no images"), "{}", run.stderr);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("good") && page.contains("CIDEr-D"));
    let unknown = capeval(&["show", &report, "--sort", "meteor"]);
    assert!(
        unknown.code == 2 && unknown.stderr.contains("no measure is called 'meteor'"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn numbers_that_are_none_and_infinite_ones_survive() {
    let folder = tempfile::tempdir().unwrap();
    let report = scratch(&folder, "report.json");
    let lines = "{\"id\": \"x\", \"probs\": [0.5]}\n{\"id\": \"y\", \"probs\": [0]}";
    for format in FORMATS {
        let first = capeval_with(&["perplexity", "-", "-f", format], lines).stdout;
        if format == "json" {
            fs::write(&report, &first).unwrap();
            assert_eq!(without_run(&stdout(&["show", &report, "-f", "json"])), without_run(&first));
            assert!(stdout(&["show", &report]).contains('∞'));
        }
    }
}

#[test]
fn what_is_no_report_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let report = scratch(&folder, "report.json");
    stdout(&of(&two("score"), &["--save", &report]));
    let whole: Value = serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap();
    let refused = |text: &str| {
        let run: Run = capeval_with(&["show", "-"], text);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{text}");
        run.stderr
    };
    let correlation =
        stdout(&["correlate", "ratings.csv", "-r", "references.json", "-m", "bleu", "-f", "json"]);
    let lines = stdout(&of(&two("score"), &["-f", "jsonl"]));
    for (text, words) in [
        ("", "not a report of capeval"),
        ("[]", "not a report of capeval"),
        ("{\"capeval\": \"0.1.0\"}", "not a report that this version can read"),
        (
            &correlation,
            "not a report of scores or a comparison of systems: of other results, only saved files are read",
        ),
        (&lines, "JSON Lines, not a report"),
    ] {
        let said = refused(text);
        assert!(said.contains(words) && said.contains("help: "), "{said}");
    }
    let changed = |path: &str, value: Value| {
        let mut changed = whole.clone();
        *changed.pointer_mut(path).unwrap() = value;
        refused(&changed.to_string())
    };
    for (path, value) in [
        ("/metrics/0/measures", Value::from(5)),
        ("/metrics/0/measures", Value::from(u64::MAX)),
        ("/systems/0/scores", serde_json::json!({"bleu-1": 1})),
        ("/systems/1/segments/ids", serde_json::json!([1])),
        ("/systems/1/signatures", serde_json::json!({})),
    ] {
        let said = changed(path, value);
        assert!(said.contains("the result is damaged: "), "{said}");
    }
    for (path, value) in [("/measures/0/better", "up".into()), ("/systems/0/scores/bleu-1", "much".into())] {
        let said: String = changed(path, value);
        assert!(said.contains("not a report that this version can read"), "{said}");
    }
}

#[test]
fn systems_of_saved_reports_are_compared_as_their_captions_are() {
    let folder = tempfile::tempdir().unwrap();
    let [references, good, weak] = ["references.json", "good.json", "weak.json"].map(quickstart);
    let [first, second, both] = ["first.json", "second.json", "both.json"].map(|name| scratch(&folder, name));
    let score = |file: &str, metrics: &str, path: &str| {
        stdout(&["score", "-r", &references, file, "-m", metrics, "--save", path, "-q"]);
    };
    score(&good, "bleu,rouge-l,cider-d", &first);
    score(&weak, "rouge-l,cider-d,bleu:n=4,ter", &second);
    let draws = ["--resamples", "300", "-f", "json"];
    let found =
        |args: &[&str]| -> Value { serde_json::from_str(&stdout(&[args, &draws[..]].concat())).unwrap() };
    let of_reports = found(&["compare", "--reports", &first, &second]);
    let of_captions = found(&["compare", "-r", &references, &good, &weak, "-m", "bleu,rouge-l,cider-d"]);
    for key in ["rouge-l", "cider-d"] {
        let path = format!("/comparisons/0/contrasts/{key}");
        let (one, other) = (of_reports.pointer(&path).unwrap(), of_captions.pointer(&path).unwrap());
        for field in ["difference", "interval", "wins", "losses", "cohens_d", "superiority", "verdict"] {
            assert_eq!(one[field], other[field], "{key} {field}");
        }
        for test in ["bootstrap", "randomisation", "sign"] {
            assert_eq!(one[test]["p"], other[test]["p"], "{key} {test}");
        }
    }
    let bleu = of_reports.pointer("/comparisons/0/contrasts/bleu-4").unwrap();
    assert_eq!(
        bleu["difference"],
        of_captions.pointer("/comparisons/0/contrasts/bleu-4/difference").unwrap().clone()
    );
    assert_eq!(bleu["tested"], false);
    let codes: Vec<&str> = of_reports["notices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|notice| notice["code"].as_str().unwrap())
        .collect();
    assert!(codes.contains(&"no-statistics") && codes.contains(&"other-metrics"), "{codes:?}");

    // Of a report with several systems, all are compared; names may be given to reports of one.
    stdout(&["score", "-r", &references, &good, &weak, "-m", "rouge-l", "--save", &both, "-q"]);
    let named = format!("third={second}");
    let three =
        found(&["compare", "--reports", &both, &named, "--all-pairs", "--save", &scratch(&folder, "c.json")]);
    assert_eq!(three["comparisons"].as_array().unwrap().len(), 3);
    let again = capeval(&["show", &scratch(&folder, "c.json")]);
    assert!(again.code == 0 && again.stdout.contains("third"), "{}", again.stderr);
}

#[test]
fn reports_that_cannot_be_compared_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [references, good, weak] = ["references.json", "good.json", "weak.json"].map(quickstart);
    let path = |name: &str| scratch(&folder, name);
    let save = |name: &str, args: &[&str]| {
        stdout(&[&["score", "-q", "--save", &path(name)], args].concat());
        path(name)
    };
    let one = save("one", &["-r", &references, &good, "-m", "rouge-l"]);
    let other_words = save("words", &["-r", &references, &weak, "-m", "rouge-l:tok=13a"]);
    let other_metric = save("metric", &["-r", &references, &weak, "-m", "cider-d"]);
    let other_images = save("images", &["-r", "references.json", "results.json", "-m", "rouge-l"]);
    let changed = fs::read_to_string(&references).unwrap().replacen("a ", "one ", 1);
    fs::write(path("changed.json"), changed).unwrap();
    let other_references = save("references", &["-r", &path("changed.json"), &weak, "-m", "rouge-l"]);
    let printed = stdout(&["score", "-r", &references, &weak, "-m", "rouge-l", "-f", "json"]);
    fs::write(path("printed"), printed).unwrap();
    let bare = path("printed");
    for (files, words) in [
        (&[&one][..], "at least two systems"),
        (&[&one, &one], "two systems are called 'good'"),
        (&[&one, &other_words], "by different rouge-l: tok is ptb and 13a"),
        (&[&one, &other_metric], "no metric in common"),
        (&[&one, &other_images], "different images"),
        (&[&one, &other_references], "against different references"),
        (&[&one, &bare], "no scores of images"),
    ] {
        let files: Vec<&str> = files.iter().map(|file| file.as_str()).collect();
        let run = capeval(&[&["compare", "--reports"], &files[..]].concat());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""));
        assert!(run.stderr.contains(words), "{words}: {}", run.stderr);
    }
    for flag in [["-r", "references.json"], ["-m", "bleu"], ["--missing", "skip"], ["--id-column", "x"]] {
        let run = capeval(&[&["compare", "--reports", &one, &bare], &flag[..]].concat());
        assert!(run.code == 2 && run.stderr.contains("cannot be used with"), "{}", run.stderr);
    }
    let run = capeval(&["compare", &one, &bare, "-m", "bleu"]);
    assert!(run.code == 2 && run.stderr.contains("pass -r FILE"), "{}", run.stderr);
}
