//! Laws of diversity; `testdata/diversity.toml` has what ruotianluo/self-critical.pytorch computes.

use std::collections::BTreeMap;

use capeval_evaluate::ReferenceSet;
use capeval_evaluate::diversity::{CaptionSystem, evaluate_sets};
use capeval_evaluate::registry::{CORPUS_KINDS, build_corpus};
use capeval_text::Texts;
use proptest::prelude::*;

fn texts(images: &[Vec<String>]) -> (Texts, Vec<u64>) {
    let texts = images.iter().flatten().map(String::as_str).collect();
    let ends = images.iter().scan(0, |end, captions| {
        *end += captions.len() as u64;
        Some(*end)
    });
    (texts, ends.collect())
}

fn run(captions: &[Vec<String>], references: &[Vec<String>]) -> BTreeMap<String, f64> {
    let metrics: Vec<_> = CORPUS_KINDS
        .iter()
        .map(|kind| build_corpus(kind.name, &[("tok", "whitespace")]).expect("known"))
        .collect();
    let (reference_texts, ends) = texts(references);
    let mut set = ReferenceSet::new(reference_texts, ends);
    let (texts, ends) = texts(captions);
    let system = CaptionSystem { name: "system".into(), texts, ends };
    evaluate_sets(&mut set, &system, &metrics)
        .into_iter()
        .flat_map(|scores| scores.parts.into_iter().map(|part| part.key).zip(scores.values))
        .collect()
}

fn images(images: &[&[&str]]) -> Vec<Vec<String>> {
    images.iter().map(|captions| captions.iter().map(|text| (*text).to_owned()).collect()).collect()
}

fn captions() -> Vec<Vec<String>> {
    images(&[
        &["a dog runs on grass", "a brown dog runs", "a dog runs on grass"],
        &["two men ride bikes", "men on bikes", "people ride two bikes on a road"],
    ])
}

#[test]
fn a_repeated_caption_is_novel_twice_and_distinct_once() {
    let scores = run(&captions(), &images(&[&["a dog runs"], &["two men ride bikes"]]));
    assert!((scores["novel"] - 5.0 / 6.0).abs() < 1e-15);
    assert!((scores["distinct-captions"] - 5.0 / 6.0).abs() < 1e-15);
}

#[test]
fn pairs_of_words_are_divided_by_the_number_of_words() {
    let scores = run(&images(&[&["a b c d"]]), &[]);
    assert!((scores["div-1"] - 1.0).abs() < 1e-6 && (scores["div-2"] - 0.75).abs() < 1e-6);
}

#[test]
fn equal_captions_have_no_diversity_and_unlike_ones_have_all() {
    let references = images(&[&["a b"], &["c d"], &["e f"]]);
    let same = run(&images(&[&["a b", "a b", "a b"]]), &references);
    assert!(same["self-cider"] == 0.0 && (same["mbleu-1"] - 1.0).abs() < 1e-6);
    let unlike = run(&images(&[&["a b", "c d", "e f"]]), &references);
    assert!((unlike["self-cider"] - 1.0).abs() < 1e-9 && unlike["mbleu-1"] < 1e-6);
}

#[test]
fn images_with_one_caption_are_left_out_with_a_remark() {
    let metric = build_corpus("self-cider:tok=whitespace", &[]).expect("known");
    let (reference_texts, ends) = texts(&images(&[&["a b"], &["c"]]));
    let mut set = ReferenceSet::new(reference_texts, ends);
    let (texts, ends) = texts(&images(&[&["a b", "c"], &["a b"]]));
    let system = CaptionSystem { name: "system".into(), texts, ends };
    let scores = evaluate_sets(&mut set, &system, &[metric]).remove(0);
    assert!(scores.values[0].is_finite());
    assert!(scores.notices[0].message.starts_with("1 of 2 images"), "{}", scores.notices[0].message);
}

#[test]
fn names_are_found_in_the_ways_that_the_field_writes_them() {
    let signature = |spec: &str| build_corpus(spec, &[]).expect(spec).signature().to_string();
    for spec in ["SELF_CIDER:tok=whitespace", "Self-CIDEr:tok=whitespace"] {
        assert_eq!(signature(spec), signature("self-cider:tok=whitespace"));
    }
    assert_eq!(signature("mBLEU"), signature("mbleu"));
}

#[test]
fn unknown_metrics_and_settings_are_refused() {
    assert!(build_corpus("dive", &[]).is_err() && build_corpus("div:order=2", &[]).is_err());
    assert!(build_corpus("div:n=10", &[]).is_err() && build_corpus("mbleu:n=2", &[]).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_captions_have_finite_scores_that_no_order_of_images_changes(
        captions in prop::collection::vec(prop::collection::vec("([abc] ?|\\PC){0,8}", 0..5), 0..8),
        references in prop::collection::vec(prop::collection::vec("([abc] ?){0,8}", 0..3), 0..4),
    ) {
        let scores = run(&captions, &references);
        let reversed: Vec<_> = captions.iter().rev().cloned().collect();
        let again = run(&reversed, &references);
        for (key, value) in &scores {
            prop_assert!(value.is_finite() && *value >= -1e-12, "{key}: {value}");
            prop_assert_eq!(value, &again[key], "{}", key);
        }
    }

    #[test]
    fn images_in_many_copies_score_as_one_copy(n in 1_usize..3000) {
        let many: Vec<_> = captions().into_iter().cycle().take(2 * n).collect();
        let (one, all) = (run(&captions(), &[]), run(&many, &[]));
        for key in ["div-1", "div-2", "mbleu-1", "vocabulary", "mean-length"] {
            prop_assert!((one[key] - all[key]).abs() < 1e-9, "{}", key);
        }
    }
}
