//! Settings that make no sense are refused with what does, and those that are allowed give numbers.

use capeval_evaluate::registry::{build, kinds};
use capeval_evaluate::{ReferenceSet, System, evaluate};
use capeval_metric::setting::Values;
use capeval_metric::{Resources, Setting};
use capeval_text::Texts;

fn refusal(spec: &str) -> Option<String> {
    build(spec, &[], &Resources::default()).err().map(|error| error.to_string())
}

#[test]
fn absurd_numbers_are_refused_with_what_will_do() {
    let mut tried = 0;
    for kind in kinds() {
        for Setting { name, values, .. } in kind.settings {
            let wanted = match values {
                Values::Count(range) => format!("a whole number from {} to {}", range.start(), range.end()),
                Values::Number(_) => format!("a number from {values}"),
                _ => continue,
            };
            for value in ["1e200", "-1e200", "-1", "NaN", "inf", "99999999999999999999", "x", ""] {
                let spec = format!("{}:{name}={value}", kind.name);
                let error = refusal(&spec).unwrap_or_else(|| panic!("{spec} is taken"));
                assert!(error.contains(&wanted) && error.contains(value), "{spec}: {error}");
                tried += 1;
            }
        }
    }
    assert!(tried >= 200, "{tried}");
    for value in ["1e200", "-1", "0", "100", "NaN", "x", ""] {
        let error = refusal(&format!("rouge155:average=resampled:confidence={value}")).unwrap();
        assert!(error.contains("between 0 and 100") && error.contains(value), "{error}");
    }
    for weights in ["1e200/1/1/1", "1e-200/1/1/1", "0/0/0/0", "-1/1/1/1", "1/1/1", "NaN/1/1/1"] {
        let error = refusal(&format!("cider-d:weights={weights}")).unwrap();
        assert!(error.contains("1e-9 to 1e9"), "{error}");
    }
    for measure in ["w1e200", "w1e-200", "s99999999"] {
        let error = refusal(&format!("rouge155:measures={measure}")).unwrap();
        assert!(error.contains("from 0.1 to 10") && error.contains("1000000"), "{error}");
    }
}

#[test]
fn a_misspelt_name_gets_the_nearest_as_remedy() {
    let remedy = |spec: &str| {
        let error = build(spec, &[], &Resources::default()).err().unwrap();
        error.remedy().unwrap().to_string()
    };
    assert!(remedy("blue").starts_with("did you mean bleu?"));
    assert!(remedy("bleu:refln=closest").starts_with("did you mean reflen?"));
    assert!(remedy("bleu:reflen=close").starts_with("did you mean closest?"));
    assert!(remedy("bleu:tok=ptv").starts_with("did you mean ptb?"));
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
    let metrics: Vec<_> = specs.iter().map(|spec| build(spec, &[], &Resources::default()).unwrap()).collect();
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

#[test]
fn names_of_scores_lead_to_the_metrics_that_have_them() {
    for (name, what) in [
        ("BLEU-4", "BLEU-4 is one of the scores of the metric bleu"),
        ("bleu_n", "bleu_n is one of the scores of the metric bleu"),
        ("rouge1", "rouge1 is one of the scores of the metrics rouge155 and rouge-score"),
        ("ROUGE-N", "ROUGE-N is one of the scores of the metrics rouge155 and rouge-score"),
        ("rouge", "rouge is one of the scores of the metrics rouge155 and rouge-score"),
        ("rougeL", "no metric is called 'rougeL'"),
        ("CIDErD", "no metric is called 'CIDErD'"),
        ("rougeLsum", "rougeLsum is one of the scores of the metric rouge-score"),
        ("rouge_su4", "rouge_su4 is one of the scores of the metric rouge155"),
        ("rouge-w", "rouge-w is one of the scores of the metric rouge155"),
        ("Self-CIDEr", "Self-CIDEr measures diversity (self-cider), not quality"),
        ("div-2", "div-2 measures diversity (div), not quality"),
        ("CIDEr", "two metrics are called 'CIDEr'"),
        ("rougge", "no metric is called 'rougge'"),
        ("b", "no metric is called 'b'"),
    ] {
        assert_eq!(refusal(name).as_deref(), Some(what));
    }
}
