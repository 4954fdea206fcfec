//! Scores against those of sacreBLEU 2.6.0: single segments with their quirks, and the COCO example.
//!
//! The values in this file are `sentence_score(candidate, references).score` of sacreBLEU 2.6.0 with the
//! options that the settings name; `scripts/oracle/sacrebleu_compare.py` compares many more.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod beside;

use std::collections::HashMap;

use capeval_evaluate::{MetricScores, ReferenceSet, System, evaluate, registry};
use capeval_text::Texts;
use proptest::prelude::*;

use beside::{json, shared};

fn run(specs: &[&str], segments: &[(String, Vec<String>)]) -> Vec<MetricScores> {
    let metrics: Vec<_> = specs.iter().map(|spec| registry::build(spec, &[]).unwrap()).collect();
    let texts: Texts = segments.iter().flat_map(|(_, refs)| refs.iter().map(String::as_str)).collect();
    let ends = segments.iter().scan(0, |end, (_, refs)| {
        *end += refs.len() as u64;
        Some(*end)
    });
    let mut set = ReferenceSet::new(texts, ends.collect());
    let system = System {
        name: "system".into(),
        images: (0..segments.len() as u32).collect(),
        texts: segments.iter().map(|(candidate, _)| candidate.as_str()).collect(),
    };
    evaluate(&mut set, &[system], &metrics, &()).remove(0).metrics
}

fn score(spec: &str, candidate: &str, references: &[&str]) -> f64 {
    let references = references.iter().map(|text| (*text).to_owned()).collect();
    run(&[spec], &[(candidate.to_owned(), references)])[0].segments()[0]
}

#[track_caller]
fn check(spec: &str, candidate: &str, references: &[&str], expected: f64) {
    let ours = score(spec, candidate, references);
    assert!((ours - expected).abs() <= 1e-9, "{spec} of {candidate:?}: {ours} against {expected}");
}

/// The words w`from`, …, w`to − 1`.
fn words(from: usize, to: usize) -> String {
    (from..to).map(|k| format!("w{k}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn bleu_counts_an_n_gram_as_often_as_one_reference_holds_it() {
    let references = ["the cat is on the mat", "there is a cat on the mat"];
    let candidate = "the the the the the the the";
    check("sacrebleu", candidate, &references, 7.809849842300637);
    // The worked example: the clipped precision of single words is 2/7.
    check("sacrebleu:n=1:smooth=none", candidate, &references, 100.0 * 2.0 / 7.0);
}

#[test]
fn an_empty_reference_counts_as_a_reference_of_length_zero() {
    check("sacrebleu", "a dog", &["", "a dog runs on the grass"], 100.0);
    check("sacrebleu", "a dog", &["a dog runs on the grass"], 13.533528323661276);
    check("sacrebleu", "", &["a dog"], 0.0);
}

#[test]
fn orders_that_one_side_lacks_are_left_out_of_chrf() {
    check("chrf", "ab", &["abcdefgh"], 23.404255319148938);
    check("chrf", "abcdefgh", &["ab"], 55.0);
    check("chrf", "", &["abc"], 0.0);
}

#[test]
fn epsilon_stands_for_precisions_of_empty_orders() {
    check("chrf:eff=no", "ab", &["abcdefgh"], 7.775524002704529);
    let tiny = score("chrf:eff=no", "", &["abc"]);
    assert!((tiny - 5e-15).abs() < 1e-20, "{tiny}");
}

#[test]
fn chrf_takes_the_best_reference_of_each_segment() {
    check("chrf", "the cat sat", &["the cat sits", "a cat"], 61.034534424114085);
}

#[test]
fn white_space_is_dropped_or_kept_as_it_stands() {
    check("chrf", "a b\u{3000}c", &["abc"], 100.0);
    check("chrf:space=yes", " a b", &["a b"], 89.84375);
}

#[test]
fn one_mark_is_split_off_each_word_at_its_end_first() {
    check("chrf++:chars=1:words=1", "(hi)", &["(hi )"], 68.18181818181819);
    check("chrf++:chars=1:words=1", "(hi )", &["( hi )"], 100.0);
    check("chrf++:chars=1:words=1", "!", &["!"], 100.0);
}

#[test]
fn lower_casing_knows_final_sigma() {
    check("chrf:case=lc", "ΣΑΣ", &["σας"], 100.0);
    check("ter", "ΣΑΣ", &["σας"], 0.0);
}

#[test]
fn a_shift_is_one_edit() {
    check("ter", "b c d e a", &["a b c d e"], 20.0);
    check("ter", &format!("{} x y z", words(0, 10)), &[&format!("x y z {}", words(0, 10))], 100.0 / 13.0);
}

#[test]
fn a_shifted_run_has_at_most_ten_words() {
    for (n, edits) in [(10, 1.0), (11, 2.0)] {
        let (a, b) = (words(0, n), words(20, 20 + n));
        check("ter", &format!("{a} {b}"), &[&format!("{b} {a}")], 100.0 * edits / (2 * n) as f64);
    }
}

#[test]
fn a_shift_goes_at_most_fifty_words_far() {
    for (n, edits) in [(50, 1.0), (51, 6.0)] {
        let rest = words(0, n);
        check("ter", &format!("{rest} a b c"), &[&format!("a b c {rest}")], 100.0 * edits / (n + 3) as f64);
    }
}

#[test]
fn the_beam_misses_matches_far_from_the_diagonal() {
    // Dropping the first 60 words would do, but the cells on that way are never computed.
    let candidate = format!("{} {}", words(100, 160), words(0, 60));
    check("ter", &candidate, &[&words(0, 60)], 114.99999999999999);
}

#[test]
fn after_a_thousand_tried_shifts_the_search_stops() {
    // 11 edits; the reference program without its limit finds 10.
    let candidate = "a a b c a c b b a a b b c c c b a b c c c a b b c c c b b b c c b b c a c a b c";
    let reference = "b b c b b b c c c b b b c b c b b a c b b b c a c a a b b b c a c c c b a c c c";
    check("ter", candidate, &[reference], 100.0 * 11.0 / 40.0);
}

#[test]
fn case_counts_in_ter_only_when_asked_for() {
    check("ter", "A b", &["a b"], 0.0);
    check("ter:case=mixed", "A b", &["a b"], 50.0);
}

#[test]
fn empty_texts_have_a_translation_edit_rate_too() {
    check("ter", "a b", &[""], 100.0);
    check("ter", "", &[""], 0.0);
    check("ter", "", &["a b"], 100.0);
}

#[test]
fn the_fewest_edits_are_divided_by_the_mean_reference_length() {
    check("ter", "a b c", &["a b x", "a b c d e f"], 100.0 / 4.5);
}

#[test]
fn references_are_normalised_twice_and_candidates_once() {
    check("ter:norm=yes", "dog's's", &["dog's's"], 66.66666666666666);
    check("ter:norm=yes", "It's\t...'s\t.", &["It's\t...'s\t."], 28.57142857142857);
    check("ter:norm=yes", "the dog's.", &["the dog 's ."], 50.0);
}

#[test]
fn punctuation_and_chinese_are_handled_when_asked_for() {
    check("ter:punct=no", "a, b!", &["a b"], 0.0);
    check("ter:punct=no:asian=yes", "两只，狗。", &["两只狗"], 0.0);
    check("ter:norm=yes:asian=yes", "两只狗", &["两只小狗"], 25.0);
}

#[test]
fn cider_r_scores_as_in_its_authors_program() {
    // gabrielsantosrv/coco-caption, `CiderRScorer` on these segments.
    let segments = [
        ("a dog dog runs on grass", ["a dog runs on the grass", "the t-shirt dog"]),
        ("two men ride bikes", ["two men ride bikes", "a man on a bike , on a road , in the rain"]),
        ("t shirt", ["a t-shirt", "a cat sits"]),
    ]
    .map(|(candidate, references)| (candidate.to_owned(), references.map(str::to_owned).to_vec()));
    let scores = run(&["cider-r:tok=none"], &segments).remove(0).segments();
    for (ours, theirs) in scores.iter().zip([2.06177938818399, 5.0, 0.0]) {
        assert!((ours - theirs).abs() < 1e-12, "{ours} against {theirs}");
    }
}

#[test]
fn perplexity_is_that_of_a_model_of_all_references() {
    // Of these six captions lmplz -o 2 --discount_fallback gives -0.30866393 for a after <s>,
    // -0.45781612 for b after a, and -0.37816307 for </s> after b.
    let references = ["a b c", "a b", "a c b", "c", "b a", "a a b c"].map(str::to_owned).to_vec();
    let segments = [("a b".to_owned(), references)];
    let specs = ["perplexity:tok=whitespace:n=2", "perplexity:tok=whitespace:n=2:end=no"];
    let scores = run(&specs, &segments);
    let expected = [(0.30866393 + 0.45781612 + 0.37816307) / 3.0, (0.30866393 + 0.45781612) / 2.0];
    for (metric, expected) in scores.iter().zip(expected) {
        assert!((metric.corpus[0].log10() - expected).abs() < 1e-6);
        assert_eq!(metric.remarks[0].code, "fallback-discounts");
    }
}

#[test]
fn every_setting_shows_in_the_signature() {
    let specs = [
        "sacrebleu",
        "sacrebleu:tok=zh",
        "sacrebleu:n=3",
        "sacrebleu:case=lc",
        "sacrebleu:smooth=none",
        "sacrebleu:smooth=floor",
        "sacrebleu:smooth=floor:by=0.2",
        "sacrebleu:smooth=add-k",
        "sacrebleu:smooth=add-k:by=2",
        "sacrebleu:eff=no",
        "sacrebleu:eff=yes",
        "chrf",
        "chrf:chars=5",
        "chrf:words=1",
        "chrf++",
        "chrf:beta=3",
        "chrf:case=lc",
        "chrf:space=yes",
        "chrf:eff=no",
        "ter",
        "ter:case=mixed",
        "ter:norm=yes",
        "ter:punct=no",
        "ter:asian=yes",
        "cider-r",
        "cider-r:n=3",
        "cider-r:idf=uniform",
        "cider-r:stem=snowball-english",
        "cider-r:tok=none",
        "perplexity",
        "perplexity:n=2",
        "perplexity:end=no",
        "perplexity:tok=none",
    ];
    let signatures: Vec<String> =
        specs.iter().map(|spec| registry::build(spec, &[]).unwrap().signature().to_string()).collect();
    for (k, signature) in signatures.iter().enumerate() {
        assert!(!signatures[..k].contains(signature), "{} is as an earlier one", specs[k]);
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    for spec in [
        "sacrebleu:smooth=lin",
        "sacrebleu:by=-1:smooth=floor",
        "sacrebleu:by=1",
        "sacrebleu:n=0",
        "sacrebleu:tok=13b",
        "chrf:chars=0",
        "chrf:chars=64:words=1",
        "chrf:beta=0",
        "ter:norm=maybe",
        "perplexity:n=17",
        "perplexity:n=0",
        "cider-r:n=10",
    ] {
        assert!(registry::build(spec, &[]).is_err(), "{spec}");
    }
}

const FAMILY: [&str; 8] = [
    "perplexity:tok=whitespace",
    "cider-r:tok=none",
    "sacrebleu",
    "chrf",
    "chrf++",
    "chrf:eff=no",
    "ter",
    "ter:norm=yes:asian=yes",
];

#[test]
fn long_texts_take_linear_time_and_memory() {
    let text = |seed: usize| {
        let mut state = seed;
        let mut word = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!("w{}", (state >> 33) % 500)
        };
        (0..10_000).map(|_| word()).collect::<Vec<_>>().join(" ")
    };
    let start = std::time::Instant::now();
    for metric in run(&FAMILY, &[(text(1), vec![text(2), text(1) + " x"])]) {
        assert!(metric.corpus[0].is_finite());
    }
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_has_finite_scores(
        segments in prop::collection::vec(
            ("([ab.,'\n&;-]|\\PC| |\u{3042}|狗|'s ){0,25}",
             prop::collection::vec("([ab.,'\n&;-]|\\PC| |狗|'s ){0,25}", 0..4)),
            1..6,
        )
    ) {
        for metric in run(&FAMILY, &segments) {
            let part = &metric.metric.parts()[0];
            for value in metric.corpus.iter().copied().chain(metric.segments()) {
                prop_assert!(value >= part.min && value <= part.max.min(1e9) * (1.0 + 1e-12), "{value}");
            }
        }
    }

    #[test]
    fn a_candidate_among_its_references_is_perfect(text in "[a-d ]{1,40}", other in "[a-d ]{0,40}") {
        prop_assume!(text.contains(|c| c != ' '));
        for metric in run(&["sacrebleu", "chrf", "chrf++", "ter"], &[(text.clone(), vec![other, text])]) {
            let perfect = if metric.metric.parts()[0].key == "ter" { 0.0 } else { 100.0 };
            prop_assert!((metric.segments()[0] - perfect).abs() < 1e-9);
        }
    }

    #[test]
    fn edits_never_exceed_those_without_shifts(a in "[a-c ]{0,30}", b in "[a-c ]{1,30}") {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let (a_words, b_words) = (words(&a), words(&b));
        prop_assume!(!b_words.is_empty());
        let mut row: Vec<usize> = (0..=b_words.len()).collect();
        for (i, x) in a_words.iter().enumerate() {
            let mut diagonal = std::mem::replace(&mut row[0], i + 1);
            for (j, y) in b_words.iter().enumerate() {
                let kept = diagonal + usize::from(x != y);
                diagonal = row[j + 1];
                row[j + 1] = kept.min(row[j] + 1).min(diagonal + 1);
            }
        }
        let edits = score("ter", &a, &[&b]) * b_words.len() as f64 / 100.0;
        prop_assert!(edits <= row[b_words.len()] as f64 + 1e-9);
        prop_assert!(edits >= a_words.len().abs_diff(b_words.len()) as f64 - 1e-9);
    }
}

#[test]
fn scores_equal_sacrebleu_on_the_coco_example() {
    let (Some(golden), Some(captions), Some(results)) = (
        shared("golden/coco_fakecap.json.gz"),
        shared("data/coco/captions_val2014.json.gz"),
        shared("data/coco/fakecap_results.json"),
    ) else {
        return;
    };
    let (golden, captions, results) = (json(&golden), json(&captions), json(&results));
    let mut references: HashMap<u64, Vec<String>> = HashMap::new();
    for annotation in captions["annotations"].as_array().unwrap() {
        let caption = annotation["caption"].as_str().unwrap().to_owned();
        references.entry(annotation["image_id"].as_u64().unwrap()).or_default().push(caption);
    }
    let candidates: HashMap<u64, &str> = results
        .as_array()
        .unwrap()
        .iter()
        .map(|result| (result["image_id"].as_u64().unwrap(), result["caption"].as_str().unwrap()))
        .collect();
    let segments: Vec<(String, Vec<String>)> = golden["ids"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| {
            let id = id.as_u64().or_else(|| id.as_str()?.parse().ok()).unwrap();
            (candidates[&id].to_owned(), references[&id].clone())
        })
        .collect();
    let names = ["sacrebleu.BLEU", "sacrebleu.chrF2", "sacrebleu.chrF2++", "sacrebleu.TER"];
    for (metric, name) in run(&["sacrebleu", "chrf", "chrf++", "ter"], &segments).iter().zip(names) {
        let theirs = golden["segment"][name].as_array().unwrap();
        let ours = metric.segments();
        assert_eq!(ours.len(), theirs.len());
        let differences = ours.iter().zip(theirs).map(|(a, b)| (a - b.as_f64().unwrap()).abs());
        let worst = differences.fold(0.0, f64::max);
        let corpus = (metric.corpus[0] - golden["corpus"][name].as_f64().unwrap()).abs();
        eprintln!("{name}: segments differ by at most {worst:e}, the corpus by {corpus:e}");
        assert!(worst <= 1e-9 && corpus <= 1e-9, "{name}");
    }
}
