//! `capeval score --explain`: explanations of scores.

use crate::program::{capeval, expect, stdout};

#[test]
fn a_tree_leads_from_counts_to_scores() {
    let out = stdout(&["score", "-r", "references.json", "results.json", "--explain", "1"]);
    let (_, tree) = out.split_once("\nimage 1 · results\n").unwrap();
    expect("explain.txt", tree);
}

#[test]
fn systems_and_images_are_explained_one_after_the_other() {
    let files = ["score", "-r", "references.json", "a=results.json", "b=results.json"];
    let out = stdout(&[&files[..], &["-m", "ter,chrf", "--explain", "3", "--explain", "1"]].concat());
    let titles: Vec<&str> = out.lines().filter(|line| line.starts_with("image ")).collect();
    assert_eq!(titles, ["image 3 · a", "image 3 · b", "image 1 · a", "image 1 · b"]);
    assert!(out.contains("TER  ") && out.contains("chrF  "));
}

#[test]
fn an_image_that_no_system_was_scored_on_cannot_be_explained() {
    let run = capeval(&["score", "-r", "references.json", "results.json", "--explain", "77"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("image 77 cannot be explained"), "{}", run.stderr);
}

#[test]
fn a_text_id_that_looks_like_a_number_is_found() {
    let out = stdout(&["score", "-r", "text_ids.json", "text_ids.json", "--explain", "1"]);
    assert!(out.contains("image \"1\" · text_ids"), "{out}");
}
