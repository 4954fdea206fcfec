//! Captions of boxes from the command line.

use std::fs;

use capeval_testkit::installed;

use crate::program::{path, scratch, stdout};

const OBJECTS: &str = r#"[
  {"scene_id": "s", "object_id": "1", "object_name": "chair", "token": ["a", "red", "chair"]},
  {"scene_id": "s", "object_id": "2", "object_name": "table", "token": ["the", "table"]}]"#;
const MATCHED: &str = r#"{"s|1|chair": {"caption": "sos a red chair eos", "iou": 0.4}}"#;

#[test]
fn objects_are_scored_saved_and_shown_without_data() {
    let folder = tempfile::tempdir().unwrap();
    let [references, results, saved, page, objects] =
        ["r.json", "p.json", "o.capeval", "o.html", "o.jsonl"].map(|name| scratch(&folder, name));
    fs::write(&references, OBJECTS).unwrap();
    fs::write(&results, MATCHED).unwrap();
    let run = |more: &[&str]| {
        let common = ["boxes", "-r", &references, &results, "--metrics", "bleu,cider-d"];
        stdout(&[&common, more].concat())
    };
    let table = run(&["--save", &saved, "--html", &page, "--segments", &objects]);
    assert!(table.contains("2 objects of") && table.contains("cider-d@0.25"), "{table}");
    assert!(table.contains("1 object without a caption"), "{table}");
    assert_eq!(fs::read_to_string(&objects).unwrap().lines().count(), 2);
    assert!(fs::read_to_string(&page).unwrap().contains("Captions of objects"));
    let shown = stdout(&["show", &saved, "--format", "csv"]);
    assert_eq!(shown, run(&["--format", "csv"]), "a saved result is the result");
    let value = |name: &str| -> f64 {
        let row = shown.lines().find(|line| line.starts_with(&format!("p,scan2cap,{name},"))).unwrap();
        row.split(',').nth(4).unwrap().parse().unwrap()
    };
    assert!(value("cider-d@0.25") > value("cider-d@0.5"), "the overlap is .4");
    assert!(value("bleu-1@0.5") > 0.0, "an empty pair still earns points");
    let list = stdout(&["boxes", "forms"]);
    assert!(list.contains("scan2cap-benchmark") && list.contains("by reading"), "{list}");
    let output = std::process::Command::new(path())
        .args(["boxes", "-r", &references, &results, "--form", "scan3cap", "--metrics", "bleu"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("did you mean scan2cap"), "{said}");
}

#[test]
fn every_format_says_why_a_form_has_no_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let [references, results] = ["r.json", "p.json"].map(|name| scratch(&folder, name));
    let corners = "[[0,0,0],[1,0,0],[1,1,0],[0,1,0],[0,0,1],[1,0,1],[1,1,1],[0,1,1]]";
    let object =
        r#"[{"scene_id": "s", "object_id": "1", "object_name": "chair", "token": ["a", "chair"], "bbox": "#;
    fs::write(&references, format!("{object}{corners}}}]")).unwrap();
    fs::write(&results, format!(r#"{{"s": [{{"caption": "sos a chair eos", "box": {corners}}}]}}"#)).unwrap();
    let events = scratch(&folder, "v.json");
    fs::write(&events, r#"{"v": [{"timestamp": [0, 1], "sentence": "a dog"}]}"#).unwrap();
    let of_boxes = ["boxes", "-r", &references, &results, "--form", "scan2cap-ap", "-m", "bleu"];
    let of_events = ["dense", "-r", &events, &events, "--form", "soda-c", "-m", "bleu"];
    for command in [of_boxes, of_events] {
        for format in ["table", "csv", "json", "jsonl", "markdown", "latex"] {
            let said = stdout(&[&command[..], &["--format", format]].concat()).to_lowercase();
            assert!(said.contains("meteor"), "{format}: {said}");
        }
    }
}

#[test]
fn paragraphs_and_stories_are_forms_of_dense() {
    let folder = tempfile::tempdir().unwrap();
    let [references, results] = ["r.json", "p.json"].map(|name| scratch(&folder, name));
    fs::write(&references, r#"{"v_1": "A man rides. He falls.", "v_2": "A dog barks."}"#).unwrap();
    fs::write(
        &results,
        r#"{"results": {"v_1": [{"sentence": "a man rides", "timestamp": [0, 1]}, {"sentence": "a man falls", "timestamp": [1, 2]}]}}"#,
    )
    .unwrap();
    let run = |form: &str| {
        let metrics = ["--metrics", "bleu,rouge-l,cider-d", "--format", "csv"];
        stdout(&[&["dense", "-r", &references, &results, "--form", form][..], &metrics].concat())
    };
    let value = |text: &str, name: &str| -> f64 {
        let row =
            text.lines().find(|line| line.contains(&format!(",{name},"))).unwrap_or_else(|| panic!("{text}"));
        row.split(',').nth(4).unwrap().parse().unwrap()
    };
    assert!(value(&run("mart-paragraph"), "bleu-4") > 0.0);
    // `a man` is said twice: one of four pairs of words.
    assert_eq!(value(&run("mart-repetition"), "re2"), 0.25);
    assert!(value(&run("vist"), "rouge-l") > 0.0);
    if installed("meteor").is_none() {
        return;
    }
    let output = std::process::Command::new(path())
        .args(["dense", "-r", &references, &results, "--form", "capeval", "--metrics", "bleu"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("has no times"), "a form of events needs times: {said}");
}
