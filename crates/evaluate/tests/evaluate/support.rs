//! Helpers that the tests share: scoring a few segments, METEOR's resources, and the files beside the project.

use std::sync::Arc;

use capeval_evaluate::registry::Resources;
use capeval_evaluate::{MetricScores, ReferenceSet, System, evaluate, registry};
use capeval_metric::AnyMetric;
use capeval_testkit::installed;

/// Builds metrics without data other than what capeval brings.
pub fn build<S: AsRef<str>>(specs: &[S]) -> Vec<AnyMetric> {
    build_from(specs, &Resources::default())
}

/// Builds metrics.
pub fn build_from<S: AsRef<str>>(specs: &[S], resources: &Resources) -> Vec<AnyMetric> {
    let build = |spec: &str| registry::build(spec, &[], resources).unwrap_or_else(|e| panic!("{spec}: {e}"));
    specs.iter().map(|spec| build(spec.as_ref())).collect()
}

/// Scores segments by several metrics.
pub fn score<C: AsRef<str>, R: AsRef<str>>(
    metrics: &[AnyMetric],
    segments: &[(C, Vec<R>)],
) -> Vec<MetricScores> {
    let mut set: ReferenceSet =
        segments.iter().map(|(_, references)| references.iter().map(AsRef::as_ref)).collect();
    let system = System {
        name: "system".into(),
        images: (0..segments.len() as u32).collect(),
        texts: segments.iter().map(|(candidate, _)| candidate.as_ref()).collect(),
    };
    evaluate(&mut set, &[system], metrics, &()).swap_remove(0).metrics
}

/// Scores one segment by one metric.
pub fn score_one(spec: &str, candidate: &str, references: &[&str]) -> MetricScores {
    score(&build(&[spec]), &[(candidate, references.to_vec())]).swap_remove(0)
}

/// METEOR's resources as `capeval data install meteor` has left them; `None`, with a word on it, if there are none.
pub fn meteor_resources() -> Option<Arc<capeval_meteor::Resources>> {
    let file = std::fs::read(installed("meteor")?).unwrap();
    Some(Arc::new(capeval_meteor::Resources::open(Arc::new(file)).unwrap()))
}

/// METEOR's resources as the dictionary of SPICE.
struct Dictionary(Arc<capeval_meteor::Resources>);

impl capeval_spice::Synonyms for Dictionary {
    fn synsets(&self, word: &str, synsets: &mut Vec<u32>) {
        self.0.synsets(word, synsets);
    }
}

/// The same for SPICE's grammar and its dictionary.
pub fn spice_data() -> Option<Arc<capeval_spice::Data>> {
    let file = std::fs::read(installed("spice")?).unwrap();
    let grammar = capeval_spice::Grammar::open(Arc::new(file)).unwrap();
    let dictionary = meteor_resources()?;
    let fingerprint = dictionary.fingerprint();
    Some(Arc::new(capeval_spice::Data::new(grammar, Dictionary(dictionary), &fingerprint)))
}
