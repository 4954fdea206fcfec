//! Diversity and coverage: how much the captions of a system differ from each other and from training captions.
//!
//! These metrics are computed from all captions of a system, one or several per image, and implement
//! [`CorpusMetric`](capeval_metric::CorpusMetric). There is one file per metric.

pub mod coverage;
pub mod distinct;
mod eigenvalues;
pub mod mutual_bleu;
pub mod self_cider;

pub use coverage::{Novelty, WordStock};
pub use distinct::Distinct;
pub use mutual_bleu::MutualBleu;
pub use self_cider::SelfCider;

use capeval_stats::ExactSum;

const SHETTY: &str = "Shetty et al. 2017, Speaking the Same Language: Matching Machine to Human Captions by \
     Adversarial Training";
const SELF_CRITICAL: &str = "ruotianluo/self-critical.pytorch";

/// The mean over images; 0 without images.
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len();
    if n == 0 { 0.0 } else { values.collect::<ExactSum>().value() / n as f64 }
}
