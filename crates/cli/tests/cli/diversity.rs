//! Diversity and coverage from the command line.

use serde_json::{Value, json as value};

use crate::program::{capeval, json, quickstart, scratch, stdout};

/// Two images with three captions each, references of three.
fn files(folder: &tempfile::TempDir) -> (String, String) {
    let rows = |images: &[(u32, &[&str])]| -> Value {
        let row = |(id, texts): &(u32, &[&str])| {
            texts.iter().map(|text| value!({"image_id": id, "caption": text})).collect::<Vec<_>>()
        };
        images.iter().flat_map(row).collect()
    };
    let captions = rows(&[
        (2, &["two men ride bikes", "men on bikes", "people ride two bikes on a road"]),
        (1, &["a dog runs on grass", "a brown dog runs", "a dog runs on grass"]),
    ]);
    let references = rows(&[
        (1, &["a dog runs", "the dog is on the grass"]),
        (2, &["two men ride bikes", "a man on a bike"]),
        (3, &["a cat sits"]),
    ]);
    let paths = (scratch(folder, "captions.json"), scratch(folder, "references.json"));
    std::fs::write(&paths.0, captions.to_string()).unwrap();
    std::fs::write(&paths.1, references.to_string()).unwrap();
    paths
}

#[test]
fn a_small_system_is_scored_by_all_metrics_and_signed() {
    let folder = tempfile::tempdir().unwrap();
    let (captions, references) = files(&folder);
    let report =
        json(&["diversity", &captions, "-r", &references, "--train", &references, "-t", "whitespace"]);
    let scores = &report["systems"][0]["scores"];
    // `testdata/diversity.toml` has the scores of these captions by the reference programs.
    assert_eq!(scores["novel"], 5.0 / 6.0);
    assert_eq!(report["notices"], value!([]));
    assert!(report["signatures"]["self-cider"].as_str().unwrap().contains("|df-images:3|captions:3|"));
}

/// The score of some captions of images by one measure.
fn diversity(folder: &tempfile::TempDir, captions: &Value, references: &Value, metric: &str) -> (f64, Value) {
    let paths = ["c.json", "r.json"].map(|name| scratch(folder, name));
    std::fs::write(&paths[0], captions.to_string()).unwrap();
    std::fs::write(&paths[1], references.to_string()).unwrap();
    let report = json(&["diversity", &paths[0], "-r", &paths[1], "-m", metric, "-t", "whitespace"]);
    let key = if metric == "mbleu" { "mbleu-1" } else { metric };
    (report["systems"][0]["scores"][key].as_f64().unwrap(), report)
}

/// All words of the first image are in the references of each image, so they have no weight; the captions of the second
/// have nothing in common.
#[test]
fn images_without_self_cider_are_left_out_of_the_mean() {
    let folder = tempfile::tempdir().unwrap();
    let references = value!({"1": ["a dog"], "2": ["a dog"]});
    let captions = value!({"1": ["a dog", "a dog"], "2": ["a cat", "two birds"]});
    let (score, report) = diversity(&folder, &captions, &references, "self-cider");
    assert!((score - 1.0).abs() < 1e-12, "{score}");
    assert!(report["notices"].to_string().contains("1 of 2 images have no Self-CIDEr"), "{report}");
}

/// Of two captions that are as far from three words, the one of two words counts for the length, as in COCO's BLEU.
#[test]
fn of_other_captions_as_close_in_length_the_shorter_counts() {
    let folder = tempfile::tempdir().unwrap();
    let captions = value!({"1": ["one dog runs", "one dog", "one dog runs fast"]});
    let (score, _) = diversity(&folder, &captions, &value!({"1": ["a dog"]}), "mbleu");
    // Three of three words; two of two, which are one too few; three of four.
    let expected = (1.0 + (-0.5_f64).exp() + 0.75) / 3.0;
    assert!((score - expected).abs() < 1e-6, "{score} is not {expected}");
}

#[test]
fn unavailable_metrics_are_left_out_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let (captions, _) = files(&folder);
    let codes = |args: &[&str]| {
        let report = json(&[&["diversity"], args].concat());
        let notices = report["notices"].as_array().unwrap().clone();
        notices.iter().map(|notice| notice["code"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(codes(&[&captions]), ["no-self-cider", "no-novelty"]);
    let good = quickstart("good.json");
    assert_eq!(codes(&[&good]), ["no-div", "no-mbleu", "no-self-cider", "no-novelty"]);
    let both = codes(&[&captions, &good]);
    assert_eq!(both[4..], ["different-images", "different-numbers"]);
    for (metric, expected) in [
        ("self-cider", "needs references"),
        ("novelty", "trained on"),
        ("bleu", "no metric is called 'bleu'"),
        ("div:n=0", "a whole number from 1 to 9"),
    ] {
        let run = capeval(&["diversity", &captions, "-m", metric]);
        assert!(run.code == 2 && run.stderr.contains(expected), "{}", run.stderr);
    }
}

#[test]
fn systems_are_shown_side_by_side_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let (captions, references) = files(&folder);
    let args = ["diversity", &captions, &format!("refs={references}"), "-m", "vocabulary"];
    let csv = stdout(&[&args[..], &["-f", "csv"]].concat());
    assert!(csv.starts_with("system,images,vocabulary,mean-length,distinct-captions,"), "{csv}");
    assert!(stdout(&args).contains("Vocabulary") && stdout(&args).contains("refs"));
}

#[test]
fn no_mean_length_is_the_best() {
    let folder = tempfile::tempdir().unwrap();
    let [short, long, page] = ["short.txt", "long.txt", "page.html"].map(|name| scratch(&folder, name));
    std::fs::write(&short, "a dog runs\na cat\n").unwrap();
    std::fs::write(&long, "a big dog runs far\nthe cat\n").unwrap();
    let args = ["diversity", &short, &long, "-m", "vocabulary"];
    let report = json(&args);
    let better: Vec<&str> =
        report["measures"].as_array().unwrap().iter().map(|m| m["better"].as_str().unwrap()).collect();
    assert_eq!(better, ["higher", "neither", "higher"]);
    let markdown = stdout(&[&args[..], &["-f", "markdown", "--html", &page]].concat());
    let html = std::fs::read_to_string(&page).unwrap();
    let lengths = report["systems"].as_array().unwrap().iter().map(|s| s["scores"]["mean-length"].as_f64());
    for length in lengths.map(|length| format!("{:.3}", length.unwrap())) {
        assert!(markdown.contains(&length) && !markdown.contains(&format!("**{length}**")), "{markdown}");
        assert!(html.contains(&length) && !html.contains(&format!("<b>{length}</b>")), "{length}");
    }
    assert!(markdown.contains("**"), "the largest vocabulary is the best: {markdown}");
}

#[test]
fn errors_about_training_captions_name_their_own_flags() {
    let good = quickstart("good.json");
    let folder = tempfile::tempdir().unwrap();
    let odd = scratch(&folder, "odd.csv");
    std::fs::write(&odd, "name,words,others\n1,a dog,a bus\n2,a cat,a car\n").unwrap();
    for (file, words) in [
        (odd.as_str(), &["--train-caption-column"][..]),
        ("truncated.json", &["get the file again", "truncated.json:2"]),
    ] {
        let run = capeval(&["diversity", &good, "--train", file]);
        assert_eq!(run.code, 2);
        assert!(run.stderr.contains("--train: ") && !run.stderr.contains("--ref-"), "{}", run.stderr);
        assert!(words.iter().all(|word| run.stderr.contains(word)), "{}", run.stderr);
    }
    let two = capeval(&["diversity", &good, "--train", &odd, "--train", "references.json"]);
    assert!(two.code == 2 && !two.stderr.contains("--ref-"), "{}", two.stderr);
    // The remedy of the error works.
    let flags = ["--train-format", "csv", "--train-id-column", "name", "--train-caption-column", "words"];
    let report = json(&[&["diversity", &good, "--train", &odd, "-m", "novelty"][..], &flags].concat());
    assert_eq!(report["systems"][0]["scores"]["novel"], 1.0);
    let alone = capeval(&["diversity", &good, "--train-format", "csv"]);
    assert!(alone.code == 2 && alone.stderr.contains("--train"), "{}", alone.stderr);
}

#[test]
fn a_number_of_words_is_shown_as_a_whole_number() {
    let good = quickstart("good.json");
    for format in ["table", "markdown", "latex"] {
        let text = stdout(&["diversity", &good, "-m", "vocabulary", "-f", format, "--digits", "5"]);
        let (has, has_not) = (text.contains("73"), text.contains("73."));
        assert!(has && !has_not && text.contains("10.00000"), "{text}");
    }
}

#[test]
fn notices_report_what_the_reader_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "plain.txt");
    std::fs::write(&path, "a dog\na cat\n").unwrap();
    let report = json(&["diversity", &path, "-m", "vocabulary"]);
    let score = json(&["score", "-r", &path, &path, "-m", "rouge-l"]);
    let told =
        |report: &Value| report["notices"].as_array().unwrap().iter().any(|n| n["code"] == "row-numbers");
    assert_eq!(told(&report), told(&score), "{report}");
}

#[test]
fn percent_multiplies_shares_by_100_but_no_counts() {
    let folder = tempfile::tempdir().unwrap();
    let (captions, _) = files(&folder);
    let report = json(&["diversity", &captions]);
    let table = stdout(&["diversity", &captions, "--percent"]);
    let div = report["systems"][0]["scores"]["div-1"].as_f64().unwrap();
    assert!(table.contains(&format!("{:.1}", 100.0 * div)), "{table}");
    assert!(table.contains("note: scores are multiplied by 100, but not "), "{table}");
}

#[test]
fn the_page_shows_what_the_captions_look_like() {
    let folder = tempfile::tempdir().unwrap();
    let (captions, references) = files(&folder);
    let page = scratch(&folder, "page.html");
    stdout(&["diversity", &captions, "--html", &page]);
    let without = std::fs::read_to_string(&page).unwrap();
    for part in ["Length", "Vocabulary growth", "Distinct n-grams"] {
        assert!(without.contains(&format!("<figcaption>{part}</figcaption>")), "{part}");
    }
    assert!(!without.contains("New n-grams"));
    assert!(
        without.contains("Most frequent captions of captions") && without.contains("a dog runs on grass")
    );
    stdout(&["diversity", &captions, "--train", &references, "--html", &page]);
    let with = std::fs::read_to_string(&page).unwrap();
    assert!(with.contains("New n-grams"));
}
