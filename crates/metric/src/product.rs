//! Metrics that multiply the score of each segment by a factor that is known otherwise, such as SPIDEr-FL.

use std::sync::Arc;

use capeval_choice::Notice;
use capeval_stats::Table;

use crate::any::{ErasedFittedMetric, ErasedMetric, ErasedWorker};
use crate::{
    About, AnyMetric, Excess, Explanation, Figures, FittedMetric, Mean, Memo, Part, References, Rule,
    Segment, Signature, Statistics, Step, Worker,
};

/// The first score of each segment by one metric, times the first one by another. The corpus score is the mean.
pub(crate) struct Product {
    base: AnyMetric,
    factor: AnyMetric,
    part: Part,
}

impl Product {
    pub(crate) fn new(base: AnyMetric, factor: AnyMetric, part: Part) -> Self {
        Self { base, factor, part }
    }

    /// The description: text is read as the base reads it, and the settings of the base come first.
    pub(crate) fn about(&self) -> About {
        let base = self.base.about();
        let mut signature = Signature::new(&self.part.key);
        for (name, value) in base.signature.settings().chain(self.factor.signature().settings()) {
            signature.push(name, value);
        }
        About::new(signature, base.input, Mean::columns(), vec![self.part.clone()])
            .learns(base.learns)
            .slow(base.is_slow)
            .limited(base.is_limited)
            .reading_texts(base.reads_texts || self.factor.about().reads_texts)
            .made_for(base.languages.clone())
    }
}

/// Writes the mean of these statistics.
fn mean(row: &[f64], values: &mut [f64]) {
    values.fill(Mean::load(row).value());
}

impl ErasedMetric for Product {
    fn fit(self: Arc<Self>, references: &References<'_>) -> Box<dyn ErasedFittedMetric> {
        let (base, factor) = (self.base.fit(references), self.factor.fit(references));
        Box::new(FittedProduct { product: self, base, factor })
    }

    fn remember(&self, references: &References<'_>, advance: &(dyn Fn(usize) + Sync)) -> Vec<Memo> {
        self.base.remember(references, advance)
    }

    fn figures(&self, references: &References<'_>) -> Vec<Figures> {
        self.base.figures(references)
    }

    fn excess(&self, caption: &str) -> Option<Excess> {
        self.base.excess(caption)
    }

    fn score(&self, row: &[f64], values: &mut [f64]) {
        mean(row, values);
    }

    fn score_table(&self, table: &Table, values: &mut [f64]) {
        mean(&table.total(), values);
    }

    fn score_segment(&self, row: &[f64], values: &mut [f64]) {
        mean(row, values);
    }

    fn factor(&self) -> Option<&AnyMetric> {
        Some(&self.factor)
    }

    fn with_factor(&self, factor: AnyMetric) -> Option<Arc<dyn ErasedMetric>> {
        Some(Arc::new(Self { base: self.base.clone(), factor, part: self.part.clone() }))
    }
}

struct FittedProduct {
    product: Arc<Product>,
    base: FittedMetric,
    factor: FittedMetric,
}

impl ErasedFittedMetric for FittedProduct {
    fn worker(&self) -> Worker<'_> {
        let member = |metric: &AnyMetric| Buffers {
            row: vec![0.0; metric.about().columns.len()],
            values: vec![0.0; metric.parts().len()],
        };
        Worker::new(ProductWorker {
            product: &self.product,
            workers: [self.base.worker(), self.factor.worker()],
            buffers: [member(&self.product.base), member(&self.product.factor)],
        })
    }

    fn sign(&self, signature: &mut Signature) {
        self.base.sign(signature);
        self.factor.sign(signature);
    }

    fn notices(&self) -> Vec<Notice> {
        self.base.notices().into_iter().chain(self.factor.notices()).collect()
    }
}

struct ProductWorker<'f> {
    product: &'f Product,
    /// Of the base and the factor.
    workers: [Worker<'f>; 2],
    buffers: [Buffers; 2],
}

/// The statistics and scores of a segment.
struct Buffers {
    row: Vec<f64>,
    values: Vec<f64>,
}

impl ErasedWorker for ProductWorker<'_> {
    fn measure(&mut self, segment: &Segment<'_>, row: &mut [f64]) {
        let metrics = [&self.product.base, &self.product.factor];
        let members = metrics.into_iter().zip(&mut self.workers).zip(&mut self.buffers);
        let firsts = members.map(|((metric, worker), Buffers { row, values })| {
            row.fill(0.0);
            worker.measure(segment, row);
            metric.score_segment(row, values);
            values.first().copied().unwrap_or_default()
        });
        Mean::of(firsts.product()).store(row);
    }

    fn explain(&mut self, segment: &Segment<'_>) -> Explanation {
        let explained = self.workers.iter_mut().map(|worker| worker.explain(segment));
        let mut explained: Vec<Explanation> = explained.collect();
        let firsts: Vec<Step> = explained.iter().filter_map(|one| one.scores.first().cloned()).collect();
        let value = firsts.iter().map(|step| step.value.unwrap_or_default()).product();
        let step = Step::of(&self.product.part.label, value, Rule::PRODUCT, firsts);
        // The words are those that the base reads.
        Explanation { scores: vec![step], ..explained.swap_remove(0) }
    }
}
