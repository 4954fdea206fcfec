//! A receiver of progress reports may end the work.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use capeval::corpus::{Captions, Ids, SegmentId};
use capeval::evaluate::{Progress, Stage};
use capeval::metric::Resources;
use capeval::{MetricOptions, PrepareOptions, PrepareRequest, prepare};

/// Continues for a number of readings of the references.
struct Patience {
    left: AtomicUsize,
    begun: AtomicUsize,
}

impl Progress for Patience {
    fn begin(&self, _: Stage, _: usize) {
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    fn advance(&self, _: usize) {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            resume_unwind(Box::new("enough"));
        }
    }
}

fn references() -> Captions {
    let mut references = Captions::new("references");
    for (id, text) in [(7, "a dog runs"), (7, "the dog ran"), (8, "two cats")] {
        references.push(SegmentId::from(id), text);
    }
    references
}

#[test]
fn preparing_references_and_fitting_metrics_end_when_somebody_has_enough() {
    const NAMES: [&str; 3] = ["bleu", "sacrebleu", "chrf"];
    let prepared = |progress: &Patience| {
        let options = PrepareOptions { metrics: MetricOptions::new(NAMES), ..PrepareOptions::default() };
        let (references, sources, resources) = (references(), Vec::new(), Resources::default());
        prepare(PrepareRequest { references, sources, options, resources, progress })
    };
    let scorer = |progress: &Patience| {
        let metrics = capeval::metrics(NAMES, &[]).unwrap();
        capeval::Scorer::new(references().into(), Ids::default(), metrics, None, progress)
    };
    for readings in 1..=3 {
        let patience = || Patience { left: AtomicUsize::new(readings), begun: AtomicUsize::new(0) };
        let (first, second) = (patience(), patience());
        assert!(catch_unwind(AssertUnwindSafe(|| prepared(&first).is_ok())).is_err(), "{readings}");
        assert!(catch_unwind(AssertUnwindSafe(|| scorer(&second).is_ok())).is_err(), "{readings}");
        assert_eq!([first, second].map(|p| p.begun.into_inner()), [1, 1], "it was still reading");
    }
    let patience = || Patience { left: AtomicUsize::new(100), begun: AtomicUsize::new(0) };
    let (first, second) = (patience(), patience());
    assert!(prepared(&first).is_ok() && scorer(&second).is_ok());
    // Preparing reads; only a scorer fits metrics as well.
    assert_eq!([first, second].map(|p| p.begun.into_inner()), [1, 2]);
}
