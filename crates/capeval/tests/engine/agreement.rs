//! Resamples of ratings and of pairs: progress, interruption, and limits.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use capeval::corpus::ratings::{self, RatingOptions};
use capeval::corpus::scores::read_scores;
use capeval::corpus::{Captions, SegmentId};
use capeval::evaluate::{Progress, Stage};
use capeval::stats::Resampling;
use capeval::{
    CorrelateOptions, CorrelateRequest, Error, GivenScores, MetricOptions, PreferOptions, PreferRequest,
    correlate, prefer,
};

const RATINGS: &str = "image_id,caption,rating\n1,a dog,3\n1,a cat,1\n2,a bird,2\n3,a fox,4\n3,an owl,4\n";
const PAIRS: &str =
    "image_id,caption_a,caption_b,winner\n1,a dog,a cat,a\n2,a bird,a bear,b\n3,a fox,an owl,a\n";
const SCORES: &str = "image_id,caption,ours\n1,a dog,0.5\n1,a cat,0.2\n2,a bird,0.2\n2,a bear,0.6\n3,a fox,0.9\n3,an owl,0.1\n";

fn metrics() -> MetricOptions {
    MetricOptions::new(["bleu", "rouge-l", "cider-d"])
}

fn references() -> Captions {
    let mut references = Captions::new("references");
    for (id, text) in [(1, "a dog runs"), (2, "a bird sings"), (3, "a fox sleeps")] {
        references.push(SegmentId::from(id), text);
    }
    references
}

type Way = fn(Option<Resampling>, bool, &dyn Progress) -> Result<(), Error>;

/// Correlates, or prefers; by given scores or by metrics.
const WAYS: [Way; 2] = [
    |intervals, given, progress| {
        let ratings = ratings::read_ratings(RATINGS.as_bytes(), "ratings", &RatingOptions::default())?;
        let scores = GivenScores::new(read_scores(SCORES.as_bytes(), "scores", None)?, None, "scores")?;
        correlate(CorrelateRequest {
            options: CorrelateOptions {
                intervals,
                metrics: if given { MetricOptions::default() } else { metrics() },
                ..CorrelateOptions::default()
            },
            progress,
            scores: given.then_some(scores).into_iter().collect(),
            references: (!given).then(references),
            ..CorrelateRequest::new(ratings)
        })
        .map(drop)
    },
    |intervals, given, progress| {
        let choices = ratings::read_pairs(PAIRS.as_bytes(), "pairs")?;
        let scores = GivenScores::new(read_scores(SCORES.as_bytes(), "scores", None)?, None, "scores")?;
        prefer(PreferRequest {
            options: PreferOptions {
                intervals,
                metrics: if given { MetricOptions::default() } else { metrics() },
                ..PreferOptions::default()
            },
            progress,
            scores: given.then_some(scores).into_iter().collect(),
            references: (!given).then(references),
            ..PreferRequest::new(choices)
        })
        .map(drop)
    },
];

fn resamples(resamples: usize) -> Option<Resampling> {
    Some(Resampling { resamples, ..Resampling::default() })
}

/// Ends the work after a number of resamples; reading scores before that counts for nothing.
struct Stop {
    is_resampling: AtomicBool,
    begun: AtomicUsize,
    heard: AtomicUsize,
    at: usize,
}

impl Stop {
    fn at(at: usize) -> Self {
        Self { is_resampling: false.into(), begun: 0.into(), heard: 0.into(), at }
    }
}

impl Progress for Stop {
    fn begin(&self, stage: Stage, n: usize) {
        let is_resampling = stage == Stage::Resampling;
        self.is_resampling.store(is_resampling, Ordering::Relaxed);
        self.begun.fetch_add(if is_resampling { n } else { 0 }, Ordering::Relaxed);
    }

    fn advance(&self, n: usize) {
        let is_resampling = self.is_resampling.load(Ordering::Relaxed);
        if is_resampling && self.heard.fetch_add(n, Ordering::Relaxed) >= self.at {
            resume_unwind(Box::new("stopped"));
        }
    }
}

#[test]
fn progress_is_reported_for_every_resample() {
    for way in WAYS {
        let listener = Stop::at(usize::MAX);
        way(resamples(1_001), true, &listener).unwrap();
        assert_eq!((listener.begun.into_inner(), listener.heard.into_inner()), (1_001, 1_001));
    }
}

#[test]
fn resampling_can_be_ended_in_the_middle() {
    for way in WAYS {
        let stop = Stop::at(50);
        let ended = catch_unwind(AssertUnwindSafe(|| way(resamples(1_000_000), true, &stop)));
        assert_eq!(ended.unwrap_err().downcast_ref(), Some(&"stopped"));
        let heard = stop.heard.into_inner();
        assert!(heard < 100_000, "{heard} of 1,000,000");
    }
}

/// Panics when any work begins.
struct NoWork;

impl Progress for NoWork {
    fn begin(&self, stage: Stage, _: usize) {
        panic!("{stage:?} has begun");
    }
}

#[test]
fn more_resamples_than_memory_should_hold_are_refused_before_any_work() {
    // A measure has five coefficients, or three accuracies; the metrics have six measures.
    for (way, each) in WAYS.into_iter().zip([5, 3]) {
        let most = Resampling::MAX_VALUES / (6 * each);
        let refused = way(resamples(most + 1), false, &NoWork).unwrap_err();
        let remedy = refused.remedy().unwrap().to_string();
        assert!(remedy.starts_with(&format!("set resamples to \"{most}\"")), "{refused}; {remedy}");
    }
}
