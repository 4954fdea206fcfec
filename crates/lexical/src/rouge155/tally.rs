//! Hits and counts of a candidate with one or several references.

use super::round::to_five_decimals;

capeval_choice::named! {
    /// The combination of several references.
    pub enum Formula ("formula") {
        Average = "average", "formula A: hits and counts are added up over the references";
        Best = "best", "formula B: those of the reference with the best recall, the first of equal ones";
    }
}

impl Formula {
    pub(super) fn pool(self, tallies: impl Iterator<Item = Tally>) -> Tally {
        let mut pooled = Tally::default();
        let mut best = -1.0;
        for tally in tallies {
            match self {
                Self::Average => {
                    pooled.hits += tally.hits;
                    pooled.reference += tally.reference;
                    pooled.candidate += tally.candidate;
                }
                Self::Best if tally.recall > best => {
                    best = tally.recall;
                    pooled = tally;
                }
                Self::Best => {}
            }
        }
        pooled
    }
}

/// The hits and counts of a candidate and a reference.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Tally {
    pub(super) hits: f64,
    /// The count of the reference.
    pub(super) reference: f64,
    /// The count of the candidate.
    pub(super) candidate: f64,
    /// The recall by which the best reference is chosen.
    pub(super) recall: f64,
}

impl Tally {
    /// A tally whose recall is rounded before references are compared, as for ROUGE-N and -S.
    pub(super) fn rounded(hits: u64, reference: u64, candidate: u64) -> Self {
        let plain = Self::plain(hits, reference, candidate);
        Self { recall: to_five_decimals(plain.recall), ..plain }
    }

    /// A tally whose recall is not rounded, as for ROUGE-L.
    pub(super) fn plain(hits: u64, reference: u64, candidate: u64) -> Self {
        let (hits, reference, candidate) = (hits as f64, reference as f64, candidate as f64);
        Self { hits, reference, candidate, recall: ratio(hits, reference) }
    }

    /// R, P and F to five decimals, F from the rounded R and P; `weight` is that of ROUGE-W.
    pub(super) fn rounded_scores(&self, weight: Option<f64>, alpha: f64) -> [f64; 3] {
        let share = |count: f64| {
            let share = ratio(self.hits, count);
            to_five_decimals(weight.map_or(share, |weight| share.powf(1.0 / weight)))
        };
        let (r, p) = (share(self.reference), share(self.candidate));
        [r, p, to_five_decimals(f_measure(r, p, alpha))]
    }
}

fn ratio(hits: f64, count: f64) -> f64 {
    if count == 0.0 { 0.0 } else { hits / count }
}

/// `PR / ((1 − α)P + αR)`; 0 if the denominator is 0.
pub(super) fn f_measure(r: f64, p: f64, alpha: f64) -> f64 {
    let weighted = (1.0 - alpha) * p + alpha * r;
    if weighted > 0.0 { p * r / weighted } else { 0.0 }
}
