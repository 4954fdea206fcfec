//! Metrics that are the mean of others.

use capeval_evaluate::registry::build;
use capeval_evaluate::{MetricScores, ReferenceSet, System, evaluate};
use capeval_metric::{AnyMetric, Part, Resources};

fn metric(spec: &str) -> AnyMetric {
    build(spec, &[], &Resources::default()).unwrap()
}

fn part() -> Part {
    Part::score("both", "both", 0.0..=6.0)
}

#[test]
fn a_mean_of_metrics_is_that_of_their_scores() {
    let metrics = vec![metric("rouge-l"), metric("cider-d:n=2")];
    let mean = AnyMetric::average(metrics.clone(), part()).unwrap();
    let mut references: ReferenceSet =
        [vec!["a dog runs", "a brown dog"], vec!["two cats sleep"], vec!["a dog and a cat"]]
            .into_iter()
            .collect();
    let texts = ["a dog runs fast", "two cats", "birds"].into_iter().collect();
    let system = System { name: "s".to_owned(), images: vec![0, 1, 2], texts };
    let all: Vec<AnyMetric> = metrics.into_iter().chain([mean]).collect();
    let scored = evaluate(&mut references, &[system], &all, &()).swap_remove(0).metrics;
    let corpus: Vec<f64> = scored.iter().map(|metric| metric.corpus[0]).collect();
    assert_eq!(corpus[2].to_bits(), ((corpus[0] + corpus[1]) / 2.0).to_bits());
    assert!(corpus[0] > 0.0 && corpus[1] > 0.0);
    let segments: Vec<Vec<f64>> = scored.iter().map(MetricScores::segments).collect();
    for (k, mean) in segments[2].iter().enumerate() {
        assert_eq!(mean.to_bits(), ((segments[0][k] + segments[1][k]) / 2.0).to_bits(), "image {k}");
    }
    let signature = scored[2].signature.to_string();
    assert!(signature.starts_with("both|") && signature.matches("tok:ptb").count() == 1, "{signature}");
    assert!(signature.contains("n:2") && scored[2].metric.about().is_mean);
}

#[test]
fn metrics_that_read_text_differently_have_no_mean() {
    assert!(AnyMetric::average(vec![metric("bleu"), metric("rouge-l:tok=13a")], part()).is_none());
    assert!(AnyMetric::average(Vec::new(), part()).is_none());
}
