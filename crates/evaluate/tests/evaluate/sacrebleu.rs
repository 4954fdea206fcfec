//! Laws and settings of sacreBLEU's metrics, CIDEr-R and perplexity; `testdata/sacrebleu.toml` has their quirks.

use capeval_choice::Code;
use capeval_evaluate::registry::{self, Resources};
use proptest::prelude::*;

use crate::support::{build, score, score_one};

#[test]
fn a_model_of_few_captions_says_that_its_discounts_are_made_up() {
    let scores =
        score_one("perplexity:tok=whitespace:n=2", "a b", &["a b c", "a b", "a c b", "c", "b a", "a a b c"]);
    assert_eq!(scores.notices[0].code, Code::FallbackDiscounts);
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
    let signatures: Vec<String> = specs
        .iter()
        .map(|spec| registry::build(spec, &[], &Resources::default()).unwrap().signature().to_string())
        .collect();
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
        assert!(registry::build(spec, &[], &Resources::default()).is_err(), "{spec}");
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
fn long_texts_have_scores() {
    let text = |seed: usize| {
        let mut state = seed;
        let mut word = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!("w{}", (state >> 33) % 500)
        };
        (0..10_000).map(|_| word()).collect::<Vec<_>>().join(" ")
    };
    // `cargo xtask bench` shows that their time and memory grow in line with the number of words.
    for metric in score(&build(&FAMILY), &[(text(1), vec![text(2), text(1) + " x"])]) {
        assert!(metric.corpus[0].is_finite());
    }
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
        for metric in score(&build(&FAMILY), &segments) {
            let part = &metric.metric.parts()[0];
            for value in metric.corpus.iter().copied().chain(metric.segments()) {
                prop_assert!(value >= part.min && value <= part.max.min(1e9) * (1.0 + 1e-12), "{value}");
            }
        }
    }

    #[test]
    fn a_candidate_among_its_references_is_perfect(text in "[a-d ]{1,40}", other in "[a-d ]{0,40}") {
        prop_assume!(text.contains(|c| c != ' '));
        for metric in score(&build(&["sacrebleu", "chrf", "chrf++", "ter"]), &[(text.clone(), vec![other, text])]) {
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
        let edits = score_one("ter", &a, &[&b]).segments()[0] * b_words.len() as f64 / 100.0;
        prop_assert!(edits <= row[b_words.len()] as f64 + 1e-9);
        prop_assert!(edits >= a_words.len().abs_diff(b_words.len()) as f64 - 1e-9);
    }
}
