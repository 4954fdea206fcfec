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
}

/// Hears of the work's progress; every method may be called from any thread.
pub trait Progress: Sync {
    /// `stage` begins, with `n` captions to go.
    fn begin(&self, _stage: Stage, _n: usize) {}
    /// `n` more captions are done.
    fn advance(&self, _n: usize) {}
}

/// Nobody listens.
impl Progress for () {}
