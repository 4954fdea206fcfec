//! Settings that make no sense are refused with what does, and those that are allowed give numbers.

use capeval_evaluate::registry::{KINDS, Resources, build};
use capeval_evaluate::{ReferenceSet, System, evaluate};
use capeval_text::Texts;

/// Numeric settings, and what an error of theirs must name.
const NUMBERS: &[(&str, &str)] = &[
    ("rouge-l:beta", "1e-9 to 1e9"),
    ("chrf:beta", "1e-9 to 1e9"),
    ("chrf++:beta", "1e-9 to 1e9"),
    ("cider-d:sigma", "1e-9 to 1e9"),
    ("cider-d-paper:sigma", "1e-9 to 1e9"),
    ("sacrebleu:smooth=floor:by", "1e-9 to 1e9"),
    ("sacrebleu:smooth=add-k:by", "1e-9 to 1e9"),
    ("rouge155:alpha", "0 to 1"),
    ("rouge155:average=resampled:confidence", "between 0 and 100"),
    ("rouge155:samples", "1 to 10000000"),
    ("rouge155:words", "1 to 1000000000"),
    ("rouge155:bytes", "1 to 1000000000"),
    ("bleu:n", "1 to 9"),
    ("rouge-score:n", "1 to 9"),
    ("sentence-bleu:n", "1 to 9"),
    ("sacrebleu:n", "1 to 9"),
    ("cider:n", "1 to 9"),
    ("perplexity:n", "1 to 16"),
    ("chrf:chars", "1 to 64"),
    ("chrf:words", "1 to 64"),
];

#[test]
fn absurd_numbers_are_refused_with_what_will_do() {
    for (setting, wanted) in NUMBERS {
        for value in ["1e200", "-1e200", "1e-200", "-1", "NaN", "inf", "99999999999999999999", "x", ""] {
            let Err(error) = build(&format!("{setting}={value}"), &[]) else {
                // So small an alpha is 0, and so small a confidence one that nobody has.
                assert!(value == "1e-200" && wanted.contains("0 "), "{setting}={value} is taken");
                continue;
            };
            let error = error.to_string();
            let named = error.contains(wanted) || error.contains("a whole number");
            assert!(named && error.contains(value), "{setting}={value}: {error}");
        }
    }
    for weights in ["1e200/1/1/1", "1e-200/1/1/1", "0/0/0/0", "-1/1/1/1", "1/1/1", "NaN/1/1/1"] {
        let error = build(&format!("cider-d:weights={weights}"), &[]).err().unwrap().to_string();
        assert!(error.contains("1e-9 to 1e9"), "{error}");
    }
    for measure in ["w1e200", "w1e-200", "s99999999"] {
        let error = build(&format!("rouge155:measures={measure}"), &[]).err().unwrap().to_string();
        assert!(error.contains("from 0.1 to 10") && error.contains("1000000"), "{error}");
    }
}

#[test]
fn the_ends_of_what_is_allowed_give_finite_scores() {
    let texts = |texts: &[&str]| texts.iter().copied().collect::<Texts>();
    let specs = [
        "rouge-l:beta=1e-9",
        "rouge-l:beta=1e9",
        "chrf:beta=1e-9",
        "chrf:beta=1e9",
        "cider-d:sigma=1e-9",
        "cider-d:sigma=1e9",
        "cider-d-paper:sigma=1e-9",
        "cider-d:weights=1e9/1e-9/0/1",
        "sacrebleu:smooth=floor:by=1e-9",
        "sacrebleu:smooth=add-k:by=1e9",
        "rouge155:measures=w0.1+w10+s1000000+su1000000",
        "rouge155:alpha=0",
        "rouge155:alpha=1",
        "chrf:chars=1:words=63",
    ];
    let long = "a dog runs ".repeat(400);
    let metrics: Vec<_> = specs.iter().map(|spec| build(spec, &[]).unwrap()).collect();
    let mut set = ReferenceSet::new(texts(&["a dog runs", &long, "two cats", "", "a b c"]), vec![2, 4, 5]);
    let captions = texts(&[&long, "two cats", ""]);
    let system = System { name: "x".into(), images: vec![0, 1, 2], texts: captions };
    for scores in evaluate(&mut set, &[system], &metrics, &()) {
        for (metric, spec) in scores.metrics.iter().zip(specs) {
            let all = metric.corpus.iter().chain(metric.segments().iter()).copied().collect::<Vec<f64>>();
            assert!(all.iter().all(|value| value.is_finite()), "{spec}: {all:?}");
        }
    }
}

/// A new metric with a numeric setting must stand in the table above.
#[test]
fn every_numeric_setting_is_tried() {
    let tried = |metric: &str, setting: &str| {
        NUMBERS.iter().any(|(spec, _)| {
            let (settings, last) = spec.rsplit_once(':').unwrap();
            settings.split(':').next() == Some(metric) && last == setting
        })
    };
    for kind in KINDS.iter().filter(|kind| kind.is_available(&Resources::default())) {
        for setting in kind.settings.iter().filter(|setting| setting.default.parse::<f64>().is_ok()) {
            // Orders are alike in all metrics, chrF++ is chrF with other defaults.
            let alike = setting.name == "n" || kind.name == "chrf++";
            assert!(alike || tried(kind.name, setting.name), "{}:{}", kind.name, setting.name);
        }
    }
}
