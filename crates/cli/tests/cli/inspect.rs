//! How files are read, as `capeval inspect` and reports say.

use std::fs;

use serde_json::Value;

use crate::program::capeval_in;

const REFERENCES: &str = r#"{"v1": ["a dog runs along the beach"], "v2": ["two children fly a kite"],
    "v3": ["a train stops at a station"], "v4": ["a man rides a surfboard"], "v5": ["soup in a bowl"]}"#;

const CANDIDATES: &str = r#"{"q": "v1", "text": "Describe the picture.", "said": "a dog runs on the beach", "other": "two children with a kite"}
{"q": "v2", "text": "Describe the picture.", "said": "two children with a kite", "other": "a red train at a station"}
{"q": "v3", "text": "Describe the picture.", "said": "a red train at a station", "other": "a man on a surfboard"}
{"q": "v4", "text": "Describe the picture.", "said": "a man on a surfboard", "other": "a bowl of soup"}
{"q": "v5", "text": "Describe the picture.", "said": "a bowl of soup", "other": "a dog runs on the beach"}"#;

/// Runs the program on files: standard output and standard error, of a run with this exit code.
fn run(files: &[(&str, &str)], args: &[&str], code: i32) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    files.iter().for_each(|(name, text)| fs::write(path(name), text).unwrap());
    let is_file = |arg: &str| files.iter().any(|(name, _)| *name == arg);
    let args: Vec<String> =
        args.iter().map(|arg| if is_file(arg) { path(arg) } else { (*arg).to_owned() }).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (found, out, err) = capeval_in(folder.path(), &args);
    assert_eq!(found, code, "{args:?}: {out}{err}");
    (out, err)
}

#[test]
fn a_reading_is_shown_in_full_with_what_else_could_be_meant() {
    let files = [("refs.json", REFERENCES), ("mine.jsonl", CANDIDATES)];
    let (text, _) = run(&files, &["inspect", "mine.jsonl", "-r", "refs.json"], 0);
    for line in [
        "format    dict-json",
        "format    jsonl",
        "id        \"q\": its values are ids of the other side",
        "caption   \"said\": its words fit the other side; \"other\" could be meant as well",
        "captions  5 captions of 5 images",
        "first     \"v1\": a dog runs on the beach",
        "pairs     by ids; t = ",
        "otherwise pass --caption-column other to score that one",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let (json, _) = run(&files, &["inspect", "mine.jsonl", "-r", "refs.json", "--json"], 0);
    let found: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(found["sources"][1]["caption"]["because"], "words");
    let (text, _) = run(
        &[("refs.json", REFERENCES), ("a.json", "{\"x\": \"a dog\"}")],
        &["inspect", "a.json", "-r", "refs.json"],
        0,
    );
    assert!(text.contains("refused: ") && text.contains("none of its image ids"), "{text}");
    let (text, _) = run(&files, &["inspect", "-r", "refs.json"], 0);
    assert!(text.contains("references") && text.contains("\"(key)\": the format says so"), "{text}");
}

#[test]
fn a_report_keeps_how_its_files_were_read() {
    let files = [("refs.json", REFERENCES), ("mine.jsonl", CANDIDATES)];
    let (json, _) = run(&files, &["score", "-r", "refs.json", "mine.jsonl", "-m", "bleu", "-f", "json"], 0);
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["reading"][1]["caption"]["columns"][0], "said");
    assert_eq!(report["reading"][1]["pairing"]["by"], "ids");
    assert!(report["reading"][1]["pairing"]["t"].as_f64().unwrap() > 3.0);
    let off = ["score", "-r", "refs.json", "mine.jsonl", "-m", "bleu", "-f", "json", "--pairing", "off"];
    let report: Value = serde_json::from_str(&run(&files, &off, 0).0).unwrap();
    assert_eq!(report["reading"][1]["pairing"]["t"], Value::Null);
}

#[test]
fn pairs_by_position_are_always_said() {
    let files = [("r.txt", "a dog\na cat"), ("m.txt", "one dog\none cat")];
    let (text, _) = run(&files, &["score", "-r", "r.txt", "m.txt", "-m", "bleu"], 0);
    assert!(text.contains("2 images, 2 references, paired by position"), "{text}");
    let files = [("refs.json", REFERENCES), ("mine.jsonl", CANDIDATES)];
    let (text, _) =
        run(&files, &["score", "-r", "refs.json", "mine.jsonl", "-m", "bleu", "--explain", "v1"], 0);
    assert!(!text.contains("by position") && text.contains("fit their own references by t = "), "{text}");
}

#[test]
fn spice_of_the_reference_program_is_its_overall_score() {
    let row = |id: usize, f: f64| {
        format!(
            r#"{{"image_id": {id}, "CIDEr": {id}, "SPICE": {{"Relation": {{"f": 0.0}}, "Color": {{"f": NaN}}, "All": {{"pr": 0.5, "f": {f}}}}}}}"#
        )
    };
    let file = format!("[{}, {}]", row(0, 0.1), row(1, 0.3));
    let (json, _) =
        run(&[("evalImgs.json", &file)], &["score", "--scores", "evalImgs.json", "-f", "json"], 0);
    let report: Value = serde_json::from_str(&json).unwrap();
    let scores = &report["systems"][0]["scores"];
    let spice =
        scores.as_object().unwrap().iter().find(|(key, _)| key.to_lowercase().contains("spice")).unwrap().1;
    assert!((spice.as_f64().unwrap() - 0.2).abs() < 1e-12, "{scores}");
}

#[test]
fn dense_captions_are_refused_with_what_can_be_scored() {
    let references = r#"{"a": {"timestamps": [[0.8, 19.8], [17.4, 60]], "sentences": ["a woman sits", " she plays"]},
        "b": {"timestamps": [[0, 50]], "sentences": ["two men play"]}}"#;
    let results = r#"{"results": {"a": [{"sentence": "a woman is sitting", "timestamp": [0, 20]}, {"sentence": "she plays",
        "timestamp": [20, 60]}], "b": [{"sentence": "men play", "timestamp": [0, 49]}]}}"#;
    let files = [("r.json", references), ("m.json", results)];
    let (_, said) = run(&files, &["score", "-r", "r.json", "m.json", "-m", "bleu"], 2);
    assert!(said.contains("captions with times in \"timestamps\" (dense video captions)"), "{said}");
    assert!(
        said.contains(
            "run `capeval dense -r REFERENCES FILE` to match the moments, or pass --ref-caption-column {sentences} to score all \
             captions of a video as one paragraph"
        ),
        "{said}"
    );
    let joined = ["--ref-caption-column", "{sentences}", "--caption-column", "{sentence}"];
    let (text, _) =
        run(&files, &[&["score", "-r", "r.json", "m.json", "-m", "bleu"], &joined[..]].concat(), 0);
    assert!(text.contains("2 images, 2 references"), "{text}");
}

#[test]
fn a_comma_in_a_caption_is_named() {
    let files = [
        ("r.json", r#"{"1": ["a dog"], "2": ["a cat"]}"#),
        ("m.csv", "image_id,caption\n1,a dog\n2,a cat, and more"),
    ];
    let (_, said) = run(&files, &["score", "-r", "r.json", "m.csv", "-m", "bleu"], 2);
    assert!(said.contains("put a caption with a comma in it into quotation marks"), "{said}");
}
