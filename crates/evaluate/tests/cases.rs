//! A few captions of our own with the digits that the reference programs give them.
//!
//! Made with pycocoevalcap 1.2 (`Bleu(4)`, `Rouge()`, `Cider()`), numpy 2.4 and CPython 3.11 on the texts as they
//! stand here, and with the Python 3 version of vrama91/cider for plain CIDEr
//! (`scripts/oracle/cider_variants.py`).
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use capeval_evaluate::{MetricScores, ReferenceSet, System, evaluate, registry};
use capeval_metric::Reading;
use capeval_text::{Texts, Tokenizer};

const SEGMENTS: [(&str, &[&str]); 7] = [
    (
        "a dog runs along the beach",
        &[
            "a brown dog runs on the beach",
            "a dog is running along the sand",
            "the dog runs along the water's edge",
        ],
    ),
    (
        "two children play with a red ball",
        &[
            "two kids are playing with a ball",
            "children play ball in a park",
            "two children play with a red ball",
        ],
    ),
    ("a man a man a man on a horse", &["a man rides a horse", "a man on a brown horse in a field"]),
    ("train", &["a train waits at the station", "the train", "an old steam train at a platform", "train"]),
    ("", &["a bowl of fruit on a table", "fruit in a bowl"]),
    (
        "a cat sleeps on the blue sofa next to a lamp and a plant by the window",
        &["a cat is sleeping on a sofa", "the cat sleeps on the blue sofa"],
    ),
    (
        "people people people",
        &["a crowd of people in the street", "many people walk down a street at night", "people"],
    ),
];

const CIDER_D: [f64; 7] = [
    3.3093008421886245,
    4.550954472410232,
    1.8112105255251498,
    1.6164525172273878,
    0.0,
    0.7509523318981963,
    0.45782818296472627,
];

fn references(images: &[usize]) -> ReferenceSet {
    let texts: Texts = images.iter().flat_map(|i| SEGMENTS[*i].1.iter().copied()).collect();
    let ends = images.iter().scan(0, |end, i| {
        *end += SEGMENTS[*i].1.len() as u64;
        Some(*end)
    });
    ReferenceSet::new(texts, ends.collect())
}

fn score_images(images: &[usize], metric: &capeval_metric::AnyMetric) -> MetricScores {
    let system = System {
        name: "own".into(),
        images: (0..images.len() as u32).collect(),
        texts: images.iter().map(|i| SEGMENTS[*i].0).collect(),
    };
    let metrics = [metric.clone()];
    evaluate(&mut references(images), &[system], &metrics, &()).swap_remove(0).metrics.swap_remove(0)
}

fn score(spec: &str) -> MetricScores {
    score_images(&[0, 1, 2, 3, 4, 5, 6], &registry::build(spec, &[("tok", "none")]).unwrap())
}

#[track_caller]
fn assert_equal(scores: &MetricScores, corpus: &[f64], segments: &[f64]) {
    assert_eq!(scores.segments(), segments);
    for (ours, theirs) in scores.corpus.iter().zip(corpus) {
        assert!((ours - theirs).abs() <= f64::EPSILON * theirs.abs(), "{ours} against {theirs}");
    }
}

#[test]
fn bleu_equals_pycocoevalcap() {
    let by_order: [[f64; 7]; 4] = [
        [
            0.8464817246084536,
            0.9999999997142859,
            0.6666666665185187,
            0.999999998000002,
            0.0,
            0.5294117646747406,
            0.3333333332222226,
        ],
        [
            0.8464817245943457,
            0.9999999997023811,
            0.5773502690573166,
            0.0009999999985000015,
            0.0,
            0.4455663943124747,
            1.290994448197892e-08,
        ],
        [
            0.6718529900315301,
            0.9999999996873018,
            0.45667114028786526,
            9.999999986666685e-05,
            0.0,
            0.37548955666810835,
            5.50321207812798e-11,
        ],
        [
            0.5408536607707535,
            0.9999999996672622,
            0.3549481055131488,
            3.162277656215536e-05,
            0.0,
            0.32635983263982343,
            6.389431039534237e-10,
        ],
    ];
    let segments: Vec<f64> = (0..7).flat_map(|k| by_order.map(|order| order[k])).collect();
    let corpus = [0.6976744185884263, 0.6292673300765327, 0.5438609971125753, 0.48121108414251607];
    assert_equal(&score("bleu"), &corpus, &segments);
}

#[test]
fn rouge_l_equals_pycocoevalcap() {
    let segments =
        [0.7587064676616916, 1.0, 0.6777777777777778, 1.0, 0.0, 0.5406203840472673, 0.5495495495495495];
    assert_equal(&score("rouge-l"), &[0.6466648827194695], &segments);
}

#[test]
fn cider_d_equals_pycocoevalcap() {
    assert_equal(&score("cider-d"), &[1.7852426960306167], &CIDER_D);
}

#[test]
fn plain_cider_equals_vrama91() {
    let segments = [
        3.3555840208441072,
        4.560213981033057,
        3.4235985291974114,
        1.8284636953987898,
        0.0,
        3.0116129132382943,
        1.6028032499439024,
    ];
    assert_equal(&score("cider"), &[2.5403251985222233], &segments);
}

#[test]
fn a_saved_table_gives_few_images_the_scores_of_many() {
    let mut all = references(&[0, 1, 2, 3, 4, 5, 6]);
    let table = all.document_frequencies(Reading::Tokens(Tokenizer::None), 4).unwrap();
    assert_eq!((table.n_images(), table.frequency(["a"]), table.frequency(["a", "man"])), (7, 7, 1));
    let metric = registry::build_with("cider-d", &[("tok", "none")], Some(&Arc::new(table))).unwrap();
    for (image, expected) in CIDER_D.iter().enumerate() {
        assert_eq!(score_images(&[image], &metric).segments(), [*expected], "image {image}");
    }
    assert!(metric.signature().get("idf").is_some_and(|idf| idf.starts_with("table(")));
}

#[test]
fn one_image_scores_zero_by_cider_and_says_why() {
    let scores = score_images(&[1], &registry::build("cider-d", &[("tok", "none")]).unwrap());
    assert_eq!(scores.corpus, [0.0]);
    assert_eq!(scores.remarks[0].code, "one-image");
    assert!(scores.remarks[0].message.contains("--df") && scores.remarks[0].message.contains("uniform"));
}

/// The scores of one candidate beside its references.
fn score_one(spec: &str, candidate: &str, references: &[&str]) -> MetricScores {
    let mut set = ReferenceSet::new(references.iter().copied().collect(), vec![references.len() as u64]);
    let system = System { name: "one".into(), images: vec![0], texts: std::iter::once(candidate).collect() };
    let metrics = [registry::build(spec, &[]).unwrap()];
    evaluate(&mut set, &[system], &metrics, &()).swap_remove(0).metrics.swap_remove(0)
}

/// The worked example of unigram CIDEr: 3/√30 before it is multiplied by 10.
#[test]
fn cider_of_chinese_characters_with_uniform_weights() {
    let scores = score_one("cider:n=1:idf=uniform:tok=char", "我吃饭了吗", &["他早上吃饭了"]);
    assert!((scores.corpus[0] - 10.0 * 3.0 / 30f64.sqrt()).abs() < 1e-12);
    let scores = score_one("cider:n=1:tok=char", "我吃饭了吗", &["他早上吃饭了"]);
    assert_eq!((scores.corpus[0], scores.remarks[0].code), (0.0, "one-image"));
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
        let plain = registry::build(metric, &[]).unwrap().signature().clone();
        let set = registry::build(&format!("{metric}:{setting}"), &[]).unwrap().signature().clone();
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
        assert!(registry::build(&spec(wrong), &[]).is_err(), "{wrong}");
    }
}
