//! Helpers that the tests share: scoring a few segments, METEOR's resources, and the files beside the project.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capeval_evaluate::registry::Resources;
use capeval_evaluate::{MetricScores, ReferenceSet, System, evaluate, registry};
use capeval_metric::AnyMetric;
use capeval_testkit::skip;
use serde_json::Value;

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
    let resources = capeval_meteor::Resources::open(Arc::new(installed("meteor")?));
    Some(Arc::new(resources.unwrap()))
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
    let grammar = capeval_spice::Grammar::open(Arc::new(installed("spice")?)).unwrap();
    let dictionary = meteor_resources()?;
    let fingerprint = dictionary.fingerprint();
    Some(Arc::new(capeval_spice::Data::new(grammar, Dictionary(dictionary), &fingerprint)))
}

/// The content of the file that `capeval data install` wrote.
fn installed(name: &str) -> Option<Vec<u8>> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let home = || variable("HOME").map(|home| home.join(".local/share"));
    let folder = variable("CAPEVAL_DATA")
        .or_else(|| Some(variable("XDG_DATA_HOME").or_else(home)?.join("capeval")))
        .unwrap_or_default();
    let file = if name == "meteor" { "meteor-1.5.bin" } else { "spice-1.0.bin" };
    let bytes = std::fs::read(folder.join(file)).ok();
    if bytes.is_none() {
        skip(name, &format!("the data of {name} are not installed; run `capeval data install {name}`"));
    }
    bytes
}

/// The path of a shared file; `None`, with a word on it, if there is none.
pub fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var("CAPEVAL_SHARED")
        .map_or_else(|_| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let path = root.join(path);
    if !path.exists() {
        skip("shared", &format!("{} is not there", path.display()));
        return None;
    }
    Some(path)
}

/// A JSON file, which may be gzipped.
pub fn json(path: &Path) -> Value {
    let bytes = std::fs::read(path).unwrap();
    let mut text = String::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    } else {
        text = String::from_utf8(bytes).unwrap();
    }
    serde_json::from_str(&text).unwrap()
}
