//! Comparisons: families of tests, the images that are compared, and notices about them.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use capeval::choice::Code;
use capeval::corpus::probabilities::read_probabilities;
use capeval::corpus::{Captions, Ids, Missing, ReadOptions, SegmentId, read_bytes};
use capeval::evaluate::{Progress, Stage};
use capeval::report::Verdict;
use capeval::stats::Resampling;
use capeval::{
    CompareOptions, CompareRequest, MetricOptions, PerplexityOptions, PerplexityRequest, PerplexitySource,
    ScoreOptions, ScoreRequest, compare, explain, perplexity, score,
};

const FULL: &str = "a dog runs along the beach";
const HALF: &str = "a dog runs";

/// Captions of images 0 to 59; those that `full` picks equal the reference.
fn captions(name: &str, full: impl Fn(i64) -> bool) -> Captions {
    let mut captions = Captions::new(name);
    (0..60).for_each(|image| captions.push(SegmentId::from(image), if full(image) { FULL } else { HALF }));
    captions
}

/// One exact p-value among seven tests is corrected as one of seven: 2/2⁶ times 7 is more than 0.05.
#[test]
fn an_exact_p_value_is_corrected_among_all_contrasts() {
    let mut systems = vec![("base".to_owned(), captions("base", |image| image % 2 == 0))];
    for k in 0..6 {
        // Differs on all images, half of them each way, so that there is no exact test and nothing to find.
        systems.push((format!("noise-{k}"), captions("noise", |image| image % 2 != 0)));
    }
    systems.push(("six".to_owned(), captions("six", |image| image % 2 == 0 || image < 12)));
    let options = CompareOptions {
        score: ScoreOptions { metrics: MetricOptions::new(["rouge-l"]), ..ScoreOptions::default() },
        resampling: Resampling { resamples: 1000, ..Resampling::default() },
        ..CompareOptions::default()
    };
    let request = CompareRequest::new(captions("references", |_| true), systems);
    let found = compare(CompareRequest { options, ..request }).unwrap();
    let contrasts: Vec<_> = found.pairs.iter().map(|pair| pair.contrasts[0]).collect();
    let (six, noise) = contrasts.split_last().unwrap();
    let exact = six.permutation.unwrap();
    assert_eq!((exact.value, exact.adjusted), (2.0 / 64.0, 7.0 * 2.0 / 64.0));
    assert_eq!(six.verdict, Verdict::Undecided);
    assert!(
        noise.iter().all(|contrast| contrast.permutation.is_none() && contrast.randomisation.value > 0.5)
    );
}

fn skipping(systems: Vec<(String, Captions)>) -> ScoreRequest<'static> {
    ScoreRequest {
        options: ScoreOptions {
            metrics: MetricOptions::new(["rouge-l"]),
            missing: Missing::Skip,
            ..ScoreOptions::default()
        },
        ..ScoreRequest::new(captions("references", |_| true), systems)
    }
}

fn few(resampled: ScoreRequest<'_>) -> CompareRequest<'_> {
    resamples(resampled, 200)
}

fn resamples(resampled: ScoreRequest<'_>, resamples: usize) -> CompareRequest<'_> {
    let resampling = Resampling { resamples, ..Resampling::default() };
    resampled.map(|score| CompareOptions { score, resampling, ..CompareOptions::default() })
}

/// The captions of a table, which are lists written as text, with a notice.
fn lines(name: &str, lines: usize) -> Captions {
    let rows: Vec<String> = (0..lines).map(|image| format!("{image},['{HALF}']\n")).collect();
    let text = format!("image_id,caption\n{}", rows.concat());
    read_bytes(text.as_bytes(), name, &ReadOptions::candidates()).unwrap()
}

#[test]
fn notices_of_skipped_images_are_true_of_each_system() {
    let systems = || vec![("a".to_owned(), lines("a.csv", 40)), ("b".to_owned(), lines("b.csv", 20))];
    let found = compare(few(skipping(systems()))).unwrap();
    let notices = found.report.head.notices.iter();
    let told: Vec<(String, Option<&str>, Option<usize>)> =
        notices.map(|n| (n.code.to_string(), n.system.as_deref(), n.count)).collect();
    for (system, count) in [("a", 20), ("b", 40)] {
        assert!(told.contains(&("missing:skip".to_owned(), Some(system), Some(count))), "{told:?}");
    }
    assert_eq!(told.iter().filter(|(code, ..)| *code == "common-images").count(), 1);
    assert!(told.iter().any(|(code, ..)| *code == "lists-in-text"), "{told:?}");
    assert!(found.report.systems.iter().all(|system| system.n_images == 20));
    for system in &found.report.systems {
        assert!(system.signatures[0].to_string().contains("missing:skip(40)"), "{}", system.signatures[0]);
    }

    let images = Some(vec![SegmentId::from(1)]);
    let one = skipping(systems()).map(|options| ScoreOptions { images, ..options });
    let found = compare(few(one)).unwrap();
    assert!(found.report.head.notices.iter().all(|notice| notice.code != Code::CommonImages));
    assert_eq!(found.report.systems[0].n_images, 1);
}

#[test]
fn systems_without_a_common_image_are_not_compared() {
    let of = |name: &str, images: std::ops::Range<i64>| {
        let mut captions = Captions::new(name);
        images.for_each(|image| captions.push(SegmentId::from(image), HALF));
        (name.to_owned(), captions)
    };
    let refused = compare(few(skipping(vec![of("a", 0..30), of("b", 30..60)]))).unwrap_err().to_string();
    assert!(refused.contains("no image is described by all systems"), "{refused}");
}

#[test]
fn intervals_do_not_depend_on_the_type_of_ids() {
    let interval = |id: fn(i64) -> SegmentId| {
        let with = |captions: Captions| {
            let mut other = Captions::new(captions.source());
            (0_i64..).zip(captions.iter()).for_each(|(image, (_, text))| other.push(id(image), text));
            other
        };
        let report = score(ScoreRequest {
            options: ScoreOptions {
                ids: Ids::Text,
                intervals: Some(Resampling { resamples: 100, ..Resampling::default() }),
                metrics: MetricOptions::new(["rouge-l"]),
                ..ScoreOptions::default()
            },
            ..ScoreRequest::new(
                with(captions("r", |_| true)),
                [("a", with(captions("a", |image| image % 7 == 3)))],
            )
        });
        report.unwrap().systems[0].intervals.clone().unwrap()
    };
    let numbers = interval(SegmentId::from);
    assert_eq!(numbers, interval(|image| SegmentId::from(image.to_string().as_str())));
}

#[test]
fn more_resamples_than_memory_should_hold_are_refused_before_any_work() {
    let resampling = Resampling { resamples: Resampling::MAX_RESAMPLES, ..Resampling::default() };
    let request = || {
        let systems = ["a", "b", "c"].map(|name| (name.to_owned(), captions(name, |_| true))).into();
        let metrics = MetricOptions::new(["bleu", "rouge-l", "cider-d"]);
        let request = ScoreRequest { progress: &NoWork, ..skipping(systems) };
        request.map(|options| ScoreOptions { metrics, ..options })
    };
    let compared = compare(resamples(request(), Resampling::MAX_RESAMPLES));
    let scored = score(request().map(|options| ScoreOptions { intervals: Some(resampling), ..options }));
    for refused in [compared.unwrap_err().to_string(), scored.unwrap_err().to_string()] {
        assert!(refused.contains("more than can be held"), "{refused}");
    }
}

struct NoWork;

impl Progress for NoWork {
    fn begin(&self, stage: Stage, _: usize) {
        panic!("{stage:?} has begun");
    }
}

/// Ends the work in the middle of the resamples of one kind.
struct Stop {
    rounds: AtomicUsize,
    resampled: AtomicUsize,
    at_round: usize,
}

impl Progress for Stop {
    fn begin(&self, stage: Stage, _: usize) {
        if stage == Stage::Resampling {
            self.rounds.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn advance(&self, n: usize) {
        if self.rounds.load(Ordering::Relaxed) == self.at_round
            && self.resampled.fetch_add(n, Ordering::Relaxed) >= 50
        {
            resume_unwind(Box::new("stopped"));
        }
    }
}

#[test]
fn resampling_can_be_ended_in_the_middle() {
    for at_round in [1, 2] {
        let stop = Stop { rounds: 0.into(), resampled: 0.into(), at_round };
        let systems = ["a", "b"].map(|name| (name.to_owned(), captions(name, |_| true))).into();
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let request = ScoreRequest { progress: &stop, ..skipping(systems) };
            compare(resamples(request, 100_000)).map(drop)
        }));
        assert_eq!(ended.unwrap_err().downcast_ref(), Some(&"stopped"));
        assert_eq!(stop.rounds.load(Ordering::Relaxed), at_round);
    }
}

#[test]
fn perplexities_of_other_captions_do_not_compare() {
    let of = |name: &str, ids: &[i64]| {
        let lines: String = ids.iter().map(|id| format!("{{\"id\": {id}, \"probs\": [0.5]}}\n")).collect();
        (name.to_owned(), read_probabilities(lines.as_bytes(), name).unwrap())
    };
    let same = |a: &[i64], b: &[i64]| {
        let source = PerplexitySource::Probabilities(vec![of("a", a), of("b", b)]);
        perplexity(PerplexityRequest { source, options: PerplexityOptions::default() }).unwrap().same_images
    };
    assert!(same(&[1, 2], &[2, 1]));
    assert!(!same(&[1, 2], &[1, 3]));
}

#[test]
fn many_images_are_explained_each_with_its_own_caption() {
    let holes = |name: &str, step: usize| {
        let mut captions = Captions::new(name);
        for image in (0..60_i64).step_by(step) {
            captions.push(SegmentId::from(image), &format!("a dog number{image}"));
        }
        (name.to_owned(), captions)
    };
    let images: Vec<SegmentId> =
        (0..60_i64).rev().step_by(2).map(|image| SegmentId::from(image - 1)).collect();
    let found = explain(skipping(vec![holes("two", 2), holes("three", 3)]), images).unwrap();
    assert_eq!(found.len(), 30 + 10);
    for explained in found {
        assert_eq!(explained.caption, format!("a dog number{}", explained.id));
        assert!(format!("{:?}", explained.metrics).contains(&format!("number{}", explained.id)));
    }
}

#[test]
fn notices_speak_of_document_frequencies_only_where_they_are_counted() {
    let message = |metric: &str, code: &'static str| {
        let (mut references, mut candidates) = (Captions::new("references"), Captions::new("mine"));
        for image in 0..3 {
            references.push(SegmentId::from(image), "a dog runs along the beach");
        }
        candidates.push(SegmentId::from(0), "a dog runs");
        let request = ScoreRequest {
            options: ScoreOptions {
                metrics: MetricOptions::new([metric]),
                missing: Missing::Skip,
                images: Some(vec![SegmentId::from(0), SegmentId::from(1)]),
                ..ScoreOptions::default()
            },
            ..ScoreRequest::new(references, [("mine", candidates)])
        };
        let report = score(request).unwrap();
        let notice = report.head.notices.iter().find(|notice| notice.code.to_string() == code);
        notice.unwrap().message.clone()
    };
    for code in ["missing:skip", "subset"] {
        let counted = message("cider-d", code);
        assert!(counted.ends_with(", document frequencies included"), "{counted}");
        for metric in ["bleu", "cider-d:idf=uniform"] {
            assert_eq!(
                format!("{}, document frequencies included", message(metric, code)),
                counted,
                "{metric}"
            );
        }
    }
}
