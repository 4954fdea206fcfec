//! How far the work has come, for whoever wants to know.

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Cutting captions into words.
    Reading,
    /// Learning from the references.
    Fitting,
    /// Judging candidates.
    Measuring,
    /// Drawing images again and again, for intervals and tests; what is counted are resamples.
    Resampling,
}

/// Hears of the work's progress; every method may be called from any thread.
pub trait Progress: Sync {
    /// `stage` begins, with `n` captions or resamples to go.
    fn begin(&self, _stage: Stage, _n: usize) {}
    /// `n` more of them are done. It may unwind, which ends the work.
    fn advance(&self, _n: usize) {}
}

/// Nobody listens.
impl Progress for () {}
