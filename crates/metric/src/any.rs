//! Type-erased metrics, as the engine stores them.
//!
//! A metric's author implements `Metric` with named statistics; the driver stores `AnyMetric`, one plain type, over a
//! private twin trait. Metrics are many and open, so they are trait objects; tokenizers are few and are compared,
//! hashed and printed, so they are an enum.

use std::sync::Arc;

use capeval_choice::{Formula, Notice};
use capeval_stats::Table;

use crate::average::{self, Average};
use crate::derived::DerivedMetric;
use crate::metric::Learns;
use crate::product::Product;
use crate::runs::Runs;
use crate::{
    About, Excess, Explanation, Figures, Input, Memo, Metric, Part, References, Segment, Signature,
    Statistics,
};

/// A metric of any kind, without type parameters and cheap to clone.
#[derive(Clone)]
pub struct AnyMetric {
    metric: Arc<dyn ErasedMetric>,
    about: Arc<About>,
}

/// A metric with the model that it fitted to references.
pub struct FittedMetric {
    fitted: Box<dyn ErasedFittedMetric>,
    about: Arc<About>,
}

/// A fitted metric with buffers, for use on one thread.
pub struct Worker<'f>(Box<dyn ErasedWorker + 'f>);

impl AnyMetric {
    /// Wraps a typed metric.
    pub fn new<M: Metric + 'static>(metric: M) -> Self {
        let mut about = metric.about();
        if size_of::<M::Model>() == 0 {
            about.learns = Learns::Nothing;
        }
        Self { metric: Arc::new(metric), about: Arc::new(about) }
    }

    /// The mean of the first scores of `members`, under the key, the label and the range of `part`; `None` if they do
    /// not read text in the same way.
    pub fn average(members: Vec<Self>, part: Part) -> Option<Self> {
        let about = average::about(members.iter().map(Self::about), part.clone())?;
        Some(Self { metric: Arc::new(Average::new(members, part)), about: Arc::new(about) })
    }

    /// The first score of each segment by `base` times the first one by `factor`, under the key, the label and the
    /// range of `part`.
    pub fn product(base: Self, factor: Self, part: Part) -> Self {
        let product = Product::new(base, factor, part);
        let about = Arc::new(product.about());
        Self { metric: Arc::new(product), about }
    }

    /// The metric for tables whose rows hold those of `n_runs` runs side by side; its corpus score is the mean of
    /// theirs.
    pub fn of_runs(self, n_runs: usize) -> Self {
        let runs = Runs::new(self, n_runs);
        let about = Arc::new(runs.about());
        Self { metric: Arc::new(runs), about }
    }

    /// The number that `formula` makes of scores, for tables whose rows hold those of `members` side by side; `names`
    /// are those of the scores of each member. `None` without members.
    pub fn derived(
        members: Vec<Self>,
        names: Vec<Vec<String>>,
        formula: Formula,
        part: Part,
        signature: Signature,
    ) -> Option<Self> {
        let derived = DerivedMetric::new(members, names, formula);
        let about = Arc::new(derived.about(part, signature)?);
        Some(Self { metric: Arc::new(derived), about })
    }

    /// The metric whose scores multiply those of another, if this is such a [product](Self::product).
    pub fn factor(&self) -> Option<&Self> {
        self.metric.factor()
    }

    /// The same product with another factor that is described in the same way; `None` if this is no product.
    pub fn with_factor(&self, factor: Self) -> Option<Self> {
        Some(Self { metric: self.metric.with_factor(factor)?, about: Arc::clone(&self.about) })
    }

    /// The same metric for captions whose neighbours in a file are unknown: with the tokenizer `ptb-each` in place of
    /// `ptb`.
    pub fn each(mut self) -> Self {
        let reading = self.about.input.reading.each();
        if let Some(tokenizer) = reading.tokenizer().filter(|_| reading != self.about.input.reading) {
            let about = Arc::make_mut(&mut self.about);
            about.input.reading = reading;
            about.signature.change("tok", tokenizer);
        }
        self
    }

    /// The description of the metric.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Everything that can change a score.
    pub fn signature(&self) -> &Signature {
        &self.about.signature
    }

    /// The input that the metric needs.
    pub fn input(&self) -> Input {
        self.about.input
    }

    /// The scores that the metric computes, described.
    pub fn parts(&self) -> &[Part] {
        &self.about.parts
    }

    /// Fits the metric to the references.
    pub fn fit(&self, references: &References<'_>) -> FittedMetric {
        FittedMetric { fitted: Arc::clone(&self.metric).fit(references), about: Arc::clone(&self.about) }
    }

    /// Takes notes on the references for later runs, and calls `advance` with the number of references after some are
    /// done.
    pub fn remember(&self, references: &References<'_>, advance: &(dyn Fn(usize) + Sync)) -> Vec<Memo> {
        self.metric.remember(references, advance)
    }

    /// Numbers of each reference for later runs on the same images.
    pub fn figures(&self, references: &References<'_>) -> Vec<Figures> {
        self.metric.figures(references)
    }

    /// The limit that a caption exceeds, in words, if the metric ignores what comes after it.
    pub fn excess(&self, caption: &str) -> Option<Excess> {
        self.metric.excess(caption)
    }

    /// Turns summed statistics into one value per part.
    pub fn score(&self, row: &[f64], values: &mut [f64]) {
        self.metric.score(row, values);
    }

    /// Turns the statistics of all segments into one value per part.
    pub fn score_table(&self, table: &Table, values: &mut [f64]) {
        self.metric.score_table(table, values);
    }

    /// Turns one segment's statistics into one value per part.
    pub fn score_segment(&self, row: &[f64], values: &mut [f64]) {
        self.metric.score_segment(row, values);
    }
}

impl FittedMetric {
    pub(crate) fn into_erased(self) -> Box<dyn ErasedFittedMetric> {
        self.fitted
    }

    /// A worker for one thread.
    pub fn worker(&self) -> Worker<'_> {
        self.fitted.worker()
    }

    /// The signature of the metric, including what the model adds.
    pub fn signature(&self) -> Signature {
        let mut signature = self.about.signature.clone();
        self.sign(&mut signature);
        signature
    }

    /// Adds what the model adds to a signature.
    pub(crate) fn sign(&self, signature: &mut Signature) {
        self.fitted.sign(signature);
    }

    /// Remarks on the model for readers of the scores.
    pub fn notices(&self) -> Vec<Notice> {
        self.fitted.notices()
    }
}

impl<'f> Worker<'f> {
    pub(crate) fn new(worker: impl ErasedWorker + 'f) -> Self {
        Self(Box::new(worker))
    }

    /// Writes the statistics of `segment` into `row`.
    pub fn measure(&mut self, segment: &Segment<'_>, row: &mut [f64]) {
        self.0.measure(segment, row);
    }

    /// Explains how the scores of `segment` are computed.
    pub fn explain(&mut self, segment: &Segment<'_>) -> Explanation {
        self.0.explain(segment)
    }
}

pub(crate) trait ErasedMetric: Send + Sync {
    fn fit(self: Arc<Self>, references: &References<'_>) -> Box<dyn ErasedFittedMetric>;
    fn remember(&self, references: &References<'_>, advance: &(dyn Fn(usize) + Sync)) -> Vec<Memo>;
    fn figures(&self, references: &References<'_>) -> Vec<Figures>;
    fn excess(&self, caption: &str) -> Option<Excess>;
    fn score(&self, row: &[f64], values: &mut [f64]);
    fn score_table(&self, table: &Table, values: &mut [f64]);
    fn score_segment(&self, row: &[f64], values: &mut [f64]);
    fn factor(&self) -> Option<&AnyMetric> {
        None
    }
    fn with_factor(&self, _factor: AnyMetric) -> Option<Arc<dyn ErasedMetric>> {
        None
    }
}

pub(crate) trait ErasedFittedMetric: Send + Sync {
    fn worker(&self) -> Worker<'_>;
    fn sign(&self, signature: &mut Signature);
    fn notices(&self) -> Vec<Notice>;
}

pub(crate) trait ErasedWorker: Send {
    fn measure(&mut self, segment: &Segment<'_>, row: &mut [f64]);
    fn explain(&mut self, segment: &Segment<'_>) -> Explanation;
}

impl<M: Metric + 'static> ErasedMetric for M {
    fn fit(self: Arc<Self>, references: &References<'_>) -> Box<dyn ErasedFittedMetric> {
        let model = Metric::fit(&*self, references);
        Box::new(TypedFittedMetric { metric: self, model })
    }

    fn remember(&self, references: &References<'_>, advance: &(dyn Fn(usize) + Sync)) -> Vec<Memo> {
        Vec::from_iter(Metric::remember(self, references, advance))
    }

    fn figures(&self, references: &References<'_>) -> Vec<Figures> {
        Vec::from_iter(Metric::figures(self, references))
    }

    fn excess(&self, caption: &str) -> Option<Excess> {
        Metric::excess(self, caption)
    }

    fn score(&self, row: &[f64], values: &mut [f64]) {
        Metric::score(self, &M::Stats::load(row), values);
    }

    fn score_table(&self, table: &Table, values: &mut [f64]) {
        Metric::score_table(self, table, values);
    }

    fn score_segment(&self, row: &[f64], values: &mut [f64]) {
        Metric::score_segment(self, &M::Stats::load(row), values);
    }
}

struct TypedFittedMetric<M: Metric> {
    metric: Arc<M>,
    model: M::Model,
}

impl<M: Metric> ErasedFittedMetric for TypedFittedMetric<M> {
    fn worker(&self) -> Worker<'_> {
        Worker::new(TypedWorker { fitted: self, scratch: M::Scratch::default() })
    }

    fn sign(&self, signature: &mut Signature) {
        self.metric.sign_model(&self.model, signature);
    }

    fn notices(&self) -> Vec<Notice> {
        self.metric.notices(&self.model)
    }
}

struct TypedWorker<'f, M: Metric> {
    fitted: &'f TypedFittedMetric<M>,
    scratch: M::Scratch,
}

impl<M: Metric> ErasedWorker for TypedWorker<'_, M> {
    fn measure(&mut self, segment: &Segment<'_>, row: &mut [f64]) {
        let TypedFittedMetric { metric, model } = self.fitted;
        metric.measure(model, segment, &mut self.scratch).store(row);
    }

    fn explain(&mut self, segment: &Segment<'_>) -> Explanation {
        let TypedFittedMetric { metric, model } = self.fitted;
        metric.explain(model, segment, &mut self.scratch)
    }
}
