//! Laws, settings and notices of the ROUGE family, smoothed BLEU and METEOR of 2005.
//!
//! Worked examples and quirks with the digits of the reference programs are in `testdata`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use capeval_evaluate::registry::{self, Resources};
use capeval_text::{Exceptions, StopWords};

use crate::support::{build, score, score_one};

/// The scores of one segment by key, without the metric's name before it.
fn one(spec: &str, candidate: &str, references: &[&str]) -> HashMap<String, f64> {
    let scores = score_one(spec, candidate, references);
    let name = format!("{}-", scores.signature.metric());
    let keys = scores.metric.parts().iter().map(|part| part.key.trim_start_matches(&name).to_owned());
    keys.zip(scores.segments()).collect()
}

#[test]
fn a_reference_without_words_counts_0_where_the_script_fails() {
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

#[test]
fn other_scripts_score_0_with_a_remark_unless_another_tokenizer_is_chosen() {
    let segments = [("两只小狗", vec!["两只小狗在草地上"]), ("a dog", vec!["a dog"])];
    for spec in ["rouge-score", "rouge155"] {
        let scores = score(&build(&[spec]), &segments).swap_remove(0);
        assert_eq!(scores.segments()[0], 0.0);
        assert_eq!(scores.notices.len(), 1);
        assert!(scores.notices[0].message.contains("1 of 2 references"), "{:?}", scores.notices);
    }
    let scores = score(&build(&["rouge-score:tok=char"]), &segments).swap_remove(0);
    assert_eq!(scores.segments()[2], 1.0);
    assert!(scores.notices.is_empty());
}

#[test]
fn lin_and_och_leave_out_missing_n_grams() {
    let score =
        |candidate: &str| one("sentence-bleu:smooth=add-one:tok=whitespace", candidate, &["the train"]);
    assert_eq!(score("the train")["sentence-bleu"], 1.0);
    assert_eq!([score("a bus")["sentence-bleu"], score("")["sentence-bleu"]], [0.0; 2]);
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

// Signatures and settings.

fn resources() -> Resources {
    let mut exceptions = Exceptions::default();
    exceptions.read(&b"geese goose\nwere be\nran run\narguing argue\n"[..]).unwrap();
    let stop_words = StopWords::read(&b"the\na\nof\n"[..]).unwrap();
    Resources::default().with(Some(Arc::new(exceptions))).with(Some(Arc::new(stop_words)))
}

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
    let sign = |spec: &&str| registry::build(spec, &[], &resources()).unwrap().signature().to_string();
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
        ("rouge155:words=5:bytes=5", "not to both"),
        ("rouge155:measures=1+x", "not '1+x'"),
        ("rouge155:alpha=2", "from 0 to 1"),
        ("rouge155:words=0", "from 1 to"),
        ("rouge-score:stem=x", "porter-nltk"),
        ("sentence-bleu:smooth=8", "6 or 7"),
    ] {
        let error = registry::build(spec, &[], &Resources::default()).map(|_| ()).unwrap_err().to_string();
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
