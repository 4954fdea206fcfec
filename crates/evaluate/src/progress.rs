//! Progress reports.

/// A stage of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Tokenising captions.
    Reading,
    /// Fitting metrics to references.
    Fitting,
    /// Measuring candidates.
    Measuring,
    /// Writing a page, which explains the scores of each image.
    Writing,
    /// Resampling images, for intervals and tests; progress counts resamples.
    Resampling,
}

/// Receives progress reports; all methods may be called from any thread.
pub trait Progress: Sync {
    /// Called when `stage` begins, with its number `n` of captions or resamples.
    fn begin(&self, _stage: Stage, _n: usize) {}
    /// Called before the candidates of a system are measured: the `number`th of `n` systems.
    fn system(&self, _name: &str, _number: usize, _n: usize) {}
    /// Called when `n` more of them are done, and with 0 before a part that may take long. It may unwind, which ends
    /// the work: parts that were dealt out already are begun nevertheless, and ended by their first call.
    fn advance(&self, _n: usize) {}
    /// Called with what to show beside the progress, such as what the work has cost so far.
    fn remark(&self, _text: &str) {}
}

/// Ignores all progress.
impl Progress for () {}
