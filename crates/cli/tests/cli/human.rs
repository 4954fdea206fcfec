//! The human row: each reference held out in turn.

use serde_json::{Value, json as value};

use crate::program::{capeval, json, scratch, stdout};

/// Four images with three, two, two and one references.
const REFERENCES: [(u32, &[&str]); 4] = [
    (7, &["A dog runs on the grass.", "The brown dog is running.", "A dog plays outside with a t."]),
    (3, &["Two children fly a kite.", "A kite flown by two kids on a beach."]),
    (5, &["A man rides a bike down the road.", "The man is on a bike."]),
    (9, &["A lonely caption."]),
];

fn write(folder: &tempfile::TempDir, name: &str, captions: &Value) -> String {
    let path = scratch(folder, name);
    std::fs::write(&path, captions.to_string()).unwrap();
    path
}

/// The references as rows in the order of images, without those that `keep` refuses.
fn rows(keep: impl Fn(&[&str], usize) -> bool) -> Value {
    let row = |(id, texts): &(u32, &[&str])| {
        let kept = texts.iter().enumerate().filter(|(k, _)| keep(texts, *k));
        kept.map(|(_, text)| value!({"image_id": id, "caption": text})).collect::<Vec<_>>()
    };
    REFERENCES.iter().flat_map(row).collect()
}

#[test]
fn the_human_row_is_the_mean_of_rounds_that_hold_out_one_reference_of_every_image() {
    let folder = tempfile::tempdir().unwrap();
    let all = write(&folder, "all.json", &rows(|_, _| true));
    let metrics = ["-m", "bleu,rouge-l,cider-d"];
    let report = json(&[&["human", "-r", &all][..], &metrics].concat());
    let human = &report["systems"][0];
    assert_eq!(
        (&human["name"], &human["images"], &human["references"]),
        (&value!("human"), &value!(3), &value!(7))
    );
    assert_eq!(report["notices"][0]["code"], "single-references");
    assert_eq!(report["notices"][0]["ids"], value!([9]));
    assert!(human["signatures"]["bleu"].as_str().unwrap().contains("|nrefs:1-2|held-out:1(3)|"));

    let held_out = |texts: &[&str], k: usize, round: usize| texts.len() > 1 && round % texts.len() == k;
    let rounds: Vec<Value> = (0..3)
        .map(|round| {
            let references = rows(|texts, k| texts.len() > 1 && !held_out(texts, k, round));
            let references = write(&folder, "others.json", &references);
            let candidates = write(&folder, "one.json", &rows(|texts, k| held_out(texts, k, round)));
            json(&[&["score", "-r", &references, &candidates][..], &metrics].concat())
        })
        .collect();
    for (key, score) in human["scores"].as_object().unwrap() {
        let of_round = |round: &Value| round["systems"][0]["scores"][key].as_f64().unwrap();
        let mean = rounds.iter().map(of_round).sum::<f64>() / 3.0;
        assert!((score.as_f64().unwrap() - mean).abs() < 1e-15, "{key}: {score} is not {mean}");
    }

    let prepared = scratch(&folder, "all.capeval");
    stdout(&["prepare", &all, "-o", &prepared]);
    assert_eq!(
        json(&[&["human", "-r", &prepared][..], &metrics].concat())["systems"][0]["scores"],
        human["scores"]
    );
}

#[test]
fn the_human_row_has_intervals_and_scores_of_images_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let all = write(&folder, "all.json", &rows(|_, _| true));
    let segments = scratch(&folder, "segments.jsonl");
    let args = ["human", "-r", &all, "-m", "rouge-l", "--ci", "--resamples", "500", "--segments", &segments];
    let human = json(&args)["systems"][0].clone();
    let [low, high] = [0, 1].map(|end| human["intervals"]["rouge-l"][end].as_f64().unwrap());
    let score = human["scores"]["rouge-l"].as_f64().unwrap();
    assert!(low < score && score < high, "{low} {score} {high}");
    let lines = std::fs::read_to_string(&segments).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mean = lines.iter().map(|line| line["scores"]["rouge-l"].as_f64().unwrap()).sum::<f64>() / 3.0;
    assert_eq!((lines.len(), &lines[0]["image_id"]), (3, &value!(7)));
    assert!((mean - score).abs() < 1e-15);
    for form in ["table", "jsonl", "csv", "markdown", "latex"] {
        assert!(stdout(&["human", "-r", &all, "-m", "rouge-l", "-f", form]).contains("human"), "{form}");
    }
}

#[test]
fn score_adds_the_human_row_on_the_images_of_its_systems() {
    let folder = tempfile::tempdir().unwrap();
    let all = write(&folder, "all.json", &rows(|_, _| true));
    let some = write(
        &folder,
        "some.json",
        &value!([{"image_id": 7, "caption": "a dog"}, {"image_id": 3, "caption": "two kites"}]),
    );
    let metrics = ["-m", "bleu,cider-d"];
    let beside =
        json(&[&["score", "-r", &all, &some, "--missing", "skip", "--human"][..], &metrics].concat());
    let images = write(&folder, "images.json", &value!([7, 3]));
    let alone = json(&[&["human", "-r", &all, "--images", &images][..], &metrics].concat());
    assert_eq!(beside["systems"][1], alone["systems"][0]);
    assert_eq!(beside["systems"].as_array().unwrap().len(), 2);
    let codes: Vec<&str> =
        beside["notices"].as_array().unwrap().iter().filter_map(|notice| notice["code"].as_str()).collect();
    assert_eq!(codes, ["missing:skip", "human-references"]);
}

#[test]
fn references_that_repeat_are_no_reason_for_a_notice() {
    let folder = tempfile::tempdir().unwrap();
    let all = write(&folder, "all.json", &value!({"1": ["a dog", "a dog"], "2": ["two cats", "two cats"]}));
    let found = json(&["human", "-r", &all, "-m", "rouge-l"]);
    assert_eq!((&found["notices"], &found["systems"][0]["scores"]["rouge-l"]), (&value!([]), &value!(1.0)));
}

#[test]
fn references_without_words_are_held_out_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let row = |id: u32, caption: &str| value!({"image_id": id, "caption": caption});
    let some = value!([row(1, "a dog"), row(1, "..."), row(2, "two cats"), row(2, "")]);
    let some = write(&folder, "some.json", &some);
    let report = json(&["human", "-r", &some, "-m", "rouge-l"]);
    assert_eq!(report["systems"][0]["scores"]["rouge-l"], 0.0);
}

#[test]
fn the_human_row_of_a_sorted_page_stays_behind_the_systems() {
    let folder = tempfile::tempdir().unwrap();
    let all = write(&folder, "all.json", &rows(|_, _| true));
    let captions = |text: &str| {
        REFERENCES.iter().map(|(id, _)| value!({"image_id": id, "caption": text})).collect::<Value>()
    };
    let [worse, better] = [("worse", "x"), ("better", "a dog on a beach")]
        .map(|(name, text)| format!("{name}={}", write(&folder, &format!("{name}.json"), &captions(text))));
    let page = scratch(&folder, "page.html");
    let args = ["score", "-r", &all, &worse, &better, "-m", "rouge-l", "--human", "--sort", "rouge-l"];
    let table = stdout(&[&args[..], &["--html", &page]].concat());
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("\"systems\":[\"better\",\"worse\"]"), "each image has the captions of its system");
    let ranks: Vec<(&str, &str)> = table
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(name, _)| ["better", "worse", "human"].contains(name))
        .map(|(name, rest)| (name, rest.split_whitespace().next().unwrap_or("")))
        .collect();
    assert_eq!(ranks, [("better", "1"), ("worse", "3"), ("human", "2")], "{table}");
}

#[test]
fn references_of_which_none_can_be_held_out_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let single = write(&folder, "single.json", &value!([{"image_id": 1, "caption": "a dog"}]));
    let run = capeval(&["human", "-r", &single, "-m", "bleu"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("no image has two references"), "{}", run.stderr);
    let named = format!("human={single}");
    let run = capeval(&["score", "-r", &single, &named, "--human"]);
    assert!(run.stderr.contains("a system is called 'human'"), "{}", run.stderr);
}
