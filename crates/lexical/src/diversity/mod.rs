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

/// The mean of each of `n` values that follow each other again and again in `values`; 0 if there are none.
fn means(values: &[f64], n: usize) -> Vec<f64> {
    let mean = |k| {
        let values = values.iter().skip(k).step_by(n);
        let count = values.len();
        if count == 0 { 0.0 } else { values.copied().collect::<ExactSum>().value() / count as f64 }
    };
    (0..n).map(mean).collect()
}
