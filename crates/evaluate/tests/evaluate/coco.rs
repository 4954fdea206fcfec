//! Quirks, laws and settings of BLEU, ROUGE-L and CIDEr as COCO computes them.

use std::sync::Arc;

use capeval_choice::Code;
use capeval_evaluate::{ReferenceSet, registry};
use capeval_metric::{Reading, Resources};
use capeval_text::Tokenizer;

use crate::support::{score, score_one};

#[test]
fn a_saved_table_gives_few_images_the_scores_of_many() {
    let case =
        capeval_testkit::cases("cider").into_iter().find(|case| case.name == "tokenized_scenes").unwrap();
    let segments: Vec<_> = case
        .segments()
        .into_iter()
        .map(|segment| (segment.captions[0].clone(), segment.references))
        .collect();
    let mut set: ReferenceSet =
        segments.iter().map(|(_, references)| references.iter().map(String::as_str)).collect();
    let table = set.document_frequencies(Reading::Tokens(Tokenizer::None), 4).unwrap();
    assert_eq!((table.n_images(), table.frequency(["a"]), table.frequency(["a", "man"])), (7, 7, 1));
    let metric =
        registry::build("cider-d", &[("tok", "none")], &Resources::default().with(Some(Arc::new(table))))
            .unwrap();
    assert!(metric.signature().get("idf").is_some_and(|idf| idf.starts_with("table(")));
    let metrics = [metric];
    for (segment, expected) in segments.into_iter().zip(&case.segment["cider-d"]) {
        assert_eq!(score(&metrics, &[segment]).swap_remove(0).segments(), [*expected]);
    }
}

#[test]
fn one_image_scores_zero_by_cider_and_says_why() {
    let scores = score_one("cider-d:tok=none", "a red ball", &["a red ball", "two kids with a ball"]);
    assert_eq!(scores.corpus, [0.0]);
    assert_eq!(scores.notices[0].code, Code::OneImage);
    let remedy = scores.notices[0].remedy.as_ref().unwrap().to_string();
    assert!(remedy.contains("idf to \"uniform\""), "{remedy}");
}

/// The worked example of unigram CIDEr: 3/√30 before it is multiplied by 10.
#[test]
fn cider_of_chinese_characters_with_uniform_weights() {
    let scores = score_one("cider:n=1:idf=uniform:tok=char", "我吃饭了吗", &["他早上吃饭了"]);
    assert!((scores.corpus[0] - 10.0 * 3.0 / 30f64.sqrt()).abs() < 1e-12);
    let scores = score_one("cider:n=1:tok=char", "我吃饭了吗", &["他早上吃饭了"]);
    assert_eq!(scores.corpus[0], 0.0);
    assert_eq!(scores.notices[0].code, Code::OneImage);
}

/// The example of the BLEU paper: seven times the same word, of which a reference has two.
#[test]
fn matches_are_clipped_to_the_reference_that_has_most() {
    let references = ["the cat is on the mat", "there is a cat on the mat"];
    let scores = score_one("bleu:n=1:tok=none", "the the the the the the the", &references);
    let row = scores.table.rows().next().unwrap();
    let column = |name: &str| row[scores.table.columns().iter().position(|c| c.name == name).unwrap()];
    assert_eq!((column("matches-1"), column("totals-1")), (2.0, 7.0));
}

#[test]
fn length_penalty_counts_bigrams() {
    // A caption of one word and an empty one are equally long: both have no bigram.
    let one = score_one("cider-d:n=1:idf=uniform:tok=none", "a", &["a"]);
    let other = score_one("cider-d:n=1:idf=uniform:tok=none", "a", &["a b c d e f g h"]);
    assert_eq!(one.corpus, [10.0]);
    // With n = 1 the reference program counts no bigrams at all, so lengths never differ.
    assert!((other.corpus[0] - 10.0 / 8f64.sqrt()).abs() < 1e-12);
    let long = score_one("cider-d:n=2:idf=uniform:tok=none", "a", &["a b c d e f g h"]);
    let penalty = (-(7f64.powi(2)) / 72.0).exp();
    assert!((long.corpus[0] - 10.0 / 2.0 / 8f64.sqrt() * penalty).abs() < 1e-12);
}

#[test]
fn perfect_short_captions_do_not_reach_ten() {
    assert_eq!(score_one("cider-d:idf=uniform:tok=none", "train", &["train"]).corpus, [2.5]);
    let two = score_one("cider-d:idf=uniform:tok=none", "a train", &["a train"]).corpus[0];
    assert!((two - 5.0).abs() < 1e-12);
    assert!(
        (score_one("cider-d:idf=uniform:tok=none", "a b c d", &["a b c d"]).corpus[0] - 10.0).abs() < 1e-12
    );
}

#[test]
fn precision_and_recall_may_come_from_different_references() {
    let scores = score_one("rouge-l:tok=none", "a b", &["a b c d e f", "a"]);
    assert_eq!(scores.corpus, [1.0], "no reference is perfect");
}

#[test]
fn an_empty_caption_has_one_empty_token() {
    assert_eq!(score_one("rouge-l:tok=none", "", &[""]).corpus, [1.0]);
    assert_eq!(score_one("rouge-l:tok=ptb", ".", &["!"]).corpus, [1.0], "nothing is left of either");
    assert_eq!(score_one("rouge-l:tok=none", "a  b", &["a b"]).segments()[0], {
        let (precision, recall, beta2) = (2.0 / 3.0, 1.0, 1.44);
        (1.0 + beta2) * precision * recall / (recall + beta2 * precision)
    });
}

#[test]
fn a_score_of_bleu_is_never_exactly_one() {
    let scores = score_one("bleu:tok=none", "a b c d e", &["a b c d e"]);
    assert!(scores.corpus.iter().all(|x| *x < 1.0 && *x > 1.0 - 1e-8), "{:?}", scores.corpus);
    let scores = score_one("bleu:tok=none", "x", &["a b c d e"]);
    assert!(scores.corpus.iter().all(|x| *x >= 0.0 && *x < 1e-3), "{:?}", scores.corpus);
}

#[test]
fn the_shorter_of_two_equally_close_references_counts() {
    let scores = score_one("bleu:n=1:tok=none", "a b c", &["a b c d", "a b"]);
    assert_eq!(scores.table.rows().next().unwrap()[1], 2.0);
}

/// Both have the score 0, and the counts of the first are those of the corpus.
#[test]
fn the_first_of_two_equally_good_references_counts() {
    let scores = score_one("meteor-2005", "a b", &["c", "c d e"]);
    assert_eq!(scores.table.rows().next().unwrap()[1], 1.0);
}

#[test]
fn every_setting_is_signed() {
    let settings = [
        ("bleu", "n=3"),
        ("bleu", "reflen=average"),
        ("bleu", "tok=13a"),
        ("rouge-l", "beta=1"),
        ("rouge-l", "tok=none"),
        ("cider-d", "n=3"),
        ("cider-d", "sigma=5"),
        ("cider-d", "idf=uniform"),
        ("cider-d", "stem=snowball-english"),
        ("cider-d", "tok=char"),
        ("cider-d", "weights=0.4/0.3/0.2/0.1"),
        ("cider", "n=3"),
        ("cider", "idf=uniform"),
        ("cider", "stem=snowball-english"),
    ];
    for (metric, setting) in settings {
        let plain = registry::build(metric, &[], &Resources::default()).unwrap().signature().clone();
        let set = registry::build(&format!("{metric}:{setting}"), &[], &Resources::default())
            .unwrap()
            .signature()
            .clone();
        assert_ne!(plain, set, "{metric}:{setting}");
    }
}

#[test]
fn weights_of_orders_replace_the_mean() {
    let spec = |weights: &str| format!("cider-d:tok=none:idf=uniform:weights={weights}");
    let score = |weights: &str| score_one(&spec(weights), "a b c", &["a b d"]).corpus[0];
    assert!((score("0.25/0.25/0.25/0.25") - score("equal")).abs() < 1e-12);
    assert!((score("1/0/0/0") - 10.0 * 2.0 / 3.0).abs() < 1e-12);
    for wrong in ["1/0", "a/b/c/d", "-1/0/0/0", ""] {
        assert!(registry::build(&spec(wrong), &[], &Resources::default()).is_err(), "{wrong}");
    }
}
