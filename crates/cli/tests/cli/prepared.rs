//! Prepared references and tables of document frequencies.

use std::fs;

use crate::program::{capeval, fixtures, json, quickstart, said, scratch, stdout};

#[test]
fn prepared_references_change_no_digit() {
    let folder = tempfile::tempdir().unwrap();
    let prepared = scratch(&folder, "references.capeval");
    let (references, good) = (quickstart("references.json"), quickstart("good.json"));
    let said = said(&["prepare", &references, "-o", &prepared]);
    assert!(said.starts_with(&format!("wrote {prepared}, ")), "{said}");
    assert!(said.ends_with("kB: 60 references of 12 images\n"), "{said}");
    for metrics in ["coco", "all"] {
        let fresh = json(&["score", "-r", &references, &good, "-m", metrics]);
        let ready = json(&["score", "-r", &prepared, &good, "-m", metrics]);
        assert_eq!(fresh["systems"], ready["systems"]);
        assert_eq!(fresh["references"]["references"], ready["references"]["references"]);
    }
    let list = scratch(&folder, "list");
    fs::write(&list, "103\n101\n112\n").unwrap();
    let fresh = json(&["score", "-r", &references, &good, "--images", &list]);
    let ready = json(&["score", "-r", &prepared, &good, "--images", &list]);
    assert_eq!(fresh["systems"], ready["systems"]);
    assert_eq!(fresh["references"]["references"], ready["references"]["references"]);
}

#[test]
fn flags_about_reading_are_refused_beside_prepared_references() {
    let folder = tempfile::tempdir().unwrap();
    let prepared = scratch(&folder, "references.capeval");
    let good = quickstart("good.json");
    said(&["prepare", &quickstart("references.json"), "-o", &prepared]);
    for flag in [["--split", "test"], ["--ref-drop", "is_rejected"], ["--ref-id-column", "id"]] {
        let args = [&["score", "-r", &prepared, &good, "-m", "rouge-l"][..], &flag].concat();
        let refused = capeval(&args);
        let words = format!("{} has no effect on prepared references", flag[0]);
        assert!(refused.code == 2 && refused.stderr.contains(&words), "{}", refused.stderr);
    }
}

#[test]
fn references_are_cleaned_when_they_are_prepared_and_captions_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let [marked, prepared, bare] = ["marked.json", "cleaned", "bare"].map(|name| scratch(&folder, name));
    let text = fs::read_to_string(quickstart("references.json")).unwrap();
    let mut references: serde_json::Value = serde_json::from_str(&text).unwrap();
    for annotation in references["annotations"].as_array_mut().unwrap() {
        annotation["caption"] = format!("<s> {} </s>", annotation["caption"].as_str().unwrap()).into();
    }
    fs::write(&marked, references.to_string()).unwrap();
    let good = quickstart("good.json");
    let said = said(&["prepare", &marked, "--clean", "special-tokens", "-o", &prepared]);
    assert!(said.contains("60 captions of the references were rid of"), "{said}");
    let score = |references: &str, more: &[&str]| {
        json(&[&["score", "-r", references, &good, "-m", "cider-d"], more].concat())["systems"].clone()
    };
    let fresh = score(&marked, &["--clean", "special-tokens"]);
    assert!(fresh.to_string().contains("|clean:special-tokens(60)|"), "{fresh}");
    assert_eq!(score(&prepared, &["--clean", "special-tokens"]), fresh);
    assert_eq!(score(&prepared, &[]), fresh, "captions are cleaned as the references were");
    // Others are refused, with what works.
    let refused = capeval(&["score", "-r", &prepared, &good, "--clean", "quotes"]);
    let words = "pass --clean special-tokens to clean captions as the references";
    assert!(refused.code == 2 && refused.stderr.contains(words), "{}", refused.stderr);
    stdout(&["prepare", &marked, "-o", &bare]);
    let refused = capeval(&["score", "-r", &bare, &good, "--clean", "special-tokens"]);
    let words = "run `capeval prepare REFERENCES --clean special-tokens -o FILE`";
    assert!(refused.code == 2 && refused.stderr.contains(words), "{}", refused.stderr);
}

#[test]
fn stale_truncated_and_foreign_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (source, prepared) = (scratch(&folder, "references.json"), scratch(&folder, "prepared"));
    fs::copy(fixtures().join("references.json"), &source).unwrap();
    stdout(&["prepare", &source, "-o", &prepared]);
    stdout(&["score", "-r", &prepared, "results.json"]);

    let refused = |args: &[&str], word: &str| {
        let run = capeval(args);
        assert!(run.code == 2 && run.stderr.contains(word), "{word}: {}", run.stderr);
    };
    refused(&["score", "-r", "references.json", &prepared], "not candidates");
    refused(&["score", "-r", "references.json", "-r", &prepared, "results.json"], "alone");

    let bytes = fs::read(&prepared).unwrap();
    let damaged = scratch(&folder, "damaged");
    fs::write(&damaged, &bytes[..bytes.len() / 2]).unwrap();
    refused(&["score", "-r", &damaged, "results.json"], "damaged: ");

    let text = fs::read_to_string(&source).unwrap();
    fs::write(&source, text.replace("dog", "horse")).unwrap();
    refused(&["score", "-r", &prepared, "results.json"], "stale");
}

#[test]
fn a_table_over_the_corpus_gives_the_scores_of_the_corpus() {
    let folder = tempfile::tempdir().unwrap();
    let (table, pickle, back) =
        (scratch(&folder, "q.df"), scratch(&folder, "q.p"), scratch(&folder, "back.df"));
    let (references, good) = (quickstart("references.json"), quickstart("good.json"));
    stdout(&["df", "build", &references, "-o", &table]);
    stdout(&["df", "convert", &table, "--format", "pickle", "-o", &pickle]);
    stdout(&["df", "convert", &pickle, "-o", &back]);
    assert_eq!(fs::read(&table).unwrap(), fs::read(&back).unwrap());

    let corpus = json(&["score", "-r", &references, &good, "-m", "cider-d,cider"]);
    for df in [&table, &pickle] {
        let tabled = json(&["score", "-r", &references, &good, "-m", "cider-d,cider", "--df", df]);
        assert_eq!(corpus["systems"][0]["scores"], tabled["systems"][0]["scores"]);
        assert!(tabled["signatures"]["cider-d"].as_str().unwrap().contains("|idf:table("));
    }
    let (other, both) = (scratch(&folder, "other.df"), scratch(&folder, "both.df"));
    stdout(&["df", "build", &good, "-o", &other]);
    let said = said(&["df", "merge", &table, &other, "-o", &both]);
    assert!(said.contains("of 24 images"), "{said}");
    let count = |table: &str| -> u32 {
        let shown = stdout(&["df", "show", table, "next to", "no such words"]);
        let count = shown.strip_suffix("\tnext to\n0\tno such words\n").unwrap();
        count.parse().unwrap()
    };
    assert_eq!((count(&table), count(&both)), (4, 4 + count(&other)));
}
