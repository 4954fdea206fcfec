//! Explains a CIDEr score by the contribution of each n-gram.

use capeval_metric::{Explanation, Metric, Rule, Segment, Step};
use capeval_text::Symbol;
use capeval_text::ngrams::MAX_ORDER;

use super::{Cider, Clipping, Model, Scratch, Source};
use crate::explain::{places, spelt};

/// A candidate and its references.
struct ComparedSegment<'a> {
    segment: &'a Segment<'a>,
    references: Vec<&'a [Symbol]>,
    /// The factor of each reference for the difference in length.
    penalties: Vec<f64>,
    /// The norm of each reference, order by order.
    reference_norms: &'a [f64],
    /// The sum that each reference has added to the score so far, times the number of references.
    nearness: Vec<f64>,
}

impl Cider {
    /// The score as the sum over orders of the contributions of n-grams, and the similarity with each reference.
    pub(super) fn explained(
        &self,
        model: &Model,
        segment: &Segment<'_>,
        scratch: &mut Scratch,
    ) -> Explanation {
        let mut explanation = Explanation::over_words(segment);
        let score = self.measure(model, segment, scratch).value();
        let reference_norms = self.norms_of(model, segment);
        let norms = scratch.weigh(self, model, segment);
        let references: Vec<_> = segment.reference_words().collect();
        let penalties: Vec<f64> =
            references.iter().map(|words| self.penalty(model, segment, words, scratch)).collect();
        let nearness = vec![0.0; references.len()];
        let mut compared = ComparedSegment { segment, references, penalties, reference_norms, nearness };
        let mut orders = Vec::with_capacity(self.order + 1);
        for (n, own_norm) in norms.iter().enumerate().take(self.order.min(MAX_ORDER)) {
            orders.push(self.explained_order(model, scratch, &mut compared, n, *own_norm));
        }
        let ComparedSegment { references, penalties, nearness, .. } = compared;
        let near = references.len();
        let each = nearness.into_iter().zip(&penalties).zip(&references).enumerate();
        let each = each.map(|(r, ((value, penalty), words))| {
            let step = Step::given(format!("reference {}", r + 1), value);
            let step = if self.clipping == Clipping::None { step } else { step.fact("penalty", *penalty) };
            step.fact("words", words.len() as f64)
        });
        let heading = Step::heading("nearness to each reference, whose mean is the score", each.collect());
        orders.push(heading.fact("candidate words", segment.words.len() as f64));
        let step = Step::of(self.names().1, score, Rule::SUM, orders);
        let step = match (&model.source, near) {
            (_, 0) => step.noted("there is no reference"),
            (Source::Corpus, _) => step.fact("images", model.n_images as f64),
            (Source::Table(table), _) => step.fact("images", table.table.n_images() as f64),
            (Source::Uniform, _) => step.noted("every n-gram weighs the same"),
        };
        explanation.scores.push(step);
        explanation
    }

    /// The part of the score that the shared n-grams of `n + 1` words add.
    fn explained_order(
        &self,
        model: &Model,
        scratch: &Scratch,
        compared: &mut ComparedSegment<'_>,
        n: usize,
        own_norm: f64,
    ) -> Step {
        let ComparedSegment { segment, references, penalties, reference_norms, nearness } = compared;
        let weight = match &self.weights {
            None => 1.0 / self.order as f64,
            Some(weights) => weights.get(n).copied().unwrap_or(0.0),
        };
        // The factor of a product of elements in the score.
        let scale = |r: usize| {
            let norm = reference_norms[r * self.order + n];
            let scale = if own_norm != 0.0 && norm != 0.0 { 1.0 / (own_norm * norm) } else { 1.0 };
            10.0 * weight * scale * penalties[r]
        };
        let scales: Vec<f64> = (0..references.len()).map(scale).collect();
        let shared = &scratch.shared[scratch.bounds[n]..scratch.bounds[n + 1]];
        let mut ngrams: Vec<Step> = Vec::with_capacity(shared.len());
        for shared in shared {
            let k = shared.ngram as usize;
            let ngram = segment.ngrams().words(k);
            let mut adds = 0.0;
            for (r, words) in references.iter().enumerate() {
                let count = segment.ngrams().reference_counts(r)[k];
                if count > 0 {
                    let reference = self.tf(count, words.len(), n) * shared.idf;
                    let candidate = match self.clipping {
                        Clipping::None => shared.element,
                        Clipping::Gaussian { .. } | Clipping::Robust { .. } => shared.element.min(reference),
                    };
                    let product = candidate * reference * scales[r];
                    nearness[r] += product;
                    adds += product / references.len() as f64;
                }
            }
            let count = segment.ngrams().all()[k].count;
            let step =
                Step::given(spelt(segment, &ngram), adds).fact("tf", self.tf(count, segment.words.len(), n));
            let step = match model.source {
                Source::Uniform => step,
                Source::Corpus | Source::Table(_) => step.fact("images with it", f64::from(shared.images)),
            };
            ngrams.push(step.fact("idf", shared.idf).matched(places(segment, &ngram)));
        }
        let adds = ngrams.iter().filter_map(|ngram| ngram.value).sum();
        let order = Step::of(format!("{}-grams", n + 1), adds, Rule::SUM, ngrams);
        order.fact("different in the candidate", segment.ngrams().order(n).len() as f64)
    }
}
