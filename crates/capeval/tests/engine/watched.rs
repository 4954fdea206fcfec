//! A receiver of progress reports may end the work.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use capeval::corpus::{Captions, Ids, SegmentId};
use capeval::evaluate::{Progress, Stage};
use capeval::metric::Resources;
use capeval::{MetricOptions, PrepareOptions, PrepareRequest, ScoreOptions, ScoreRequest, prepare, score};

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

/// Ends the work when the first images are measured, and counts those that are measured nevertheless.
#[derive(Default)]
struct Impatience {
    is_measuring: AtomicUsize,
    has_enough: AtomicUsize,
    measured: AtomicUsize,
}

impl Progress for Impatience {
    fn begin(&self, stage: Stage, _: usize) {
        self.is_measuring.store(usize::from(stage == Stage::Measuring), Ordering::Relaxed);
    }

    fn advance(&self, n: usize) {
        if n > 0 && self.is_measuring.load(Ordering::Relaxed) == 1 {
            self.measured.fetch_add(1, Ordering::Relaxed);
            self.has_enough.store(1, Ordering::Relaxed);
        }
        if self.has_enough.load(Ordering::Relaxed) == 1 {
            resume_unwind(Box::new("enough"));
        }
    }
}

#[test]
fn what_was_dealt_out_is_not_measured_after_somebody_has_enough() {
    const THREADS: usize = 2;
    let mut captions = Captions::new("captions");
    (0..1000).for_each(|image| captions.push(SegmentId::from(image), "a dog runs"));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(THREADS).build().unwrap();
    let progress = Impatience::default();
    let request = ScoreRequest {
        options: ScoreOptions { metrics: MetricOptions::new(["rouge-l"]), ..ScoreOptions::default() },
        progress: &progress,
        ..ScoreRequest::new(captions.clone(), [("a", captions)])
    };
    let ended = catch_unwind(AssertUnwindSafe(|| pool.install(|| score(request).is_ok())));
    assert!(ended.is_err());
    // Each thread may have been in the middle of a part.
    let measured = progress.measured.into_inner();
    assert!((1..=THREADS).contains(&measured), "{measured} parts");
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
