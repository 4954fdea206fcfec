//! Diversity and coverage: how different the captions of a system are, from each other and from others.
//!
//! These metrics look at all captions of a system, several per image where it has them, and fulfil the
//! contract of [`CorpusMetric`](capeval_metric::CorpusMetric). One file each.

mod coverage;
mod distinct;
mod eigenvalues;
mod mutual_bleu;
mod self_cider;

pub use coverage::{Novelty, WordStock};
pub use distinct::Distinct;
pub use mutual_bleu::MutualBleu;
pub use self_cider::SelfCider;

use capeval_stats::ExactSum;

/// The mean over images; 0 for none.
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len();
    if n == 0 { 0.0 } else { values.collect::<ExactSum>().value() / n as f64 }
}
