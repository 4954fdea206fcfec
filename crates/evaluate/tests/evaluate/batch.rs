//! Tests what a scorer of batches does once for a batch, and what numbers may stand for.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use capeval_evaluate::batch::MAX_CODE;
use capeval_evaluate::{BatchScorer, ReferenceSet, System, evaluate, registry};
use capeval_metric::{
    About, AnyMetric, Input, Mean, Metric, Part, Reading, References, Resources, Segment, Signature,
};
use capeval_testkit::PATIENCE;
use capeval_text::{Texts, Tokenizer};

/// A metric that learns how many words there are, and counts how often it is asked to.
struct Counting(Arc<AtomicUsize>);

struct Words(usize);

impl Metric for Counting {
    type Model = Words;
    type Stats = Mean;
    type Scratch = ();

    fn about(&self) -> About {
        let input = Input::new(Reading::Tokens(Tokenizer::None));
        let part = Part::score("counting", "counting", 0.0..=f64::INFINITY);
        About::new(Signature::new("counting"), input, Mean::columns(), vec![part])
    }

    fn fit(&self, references: &References<'_>) -> Words {
        self.0.fetch_add(1, Ordering::Relaxed);
        Words(references.vocabulary.len())
    }

    fn measure(&self, model: &Words, segment: &Segment<'_>, (): &mut ()) -> Mean {
        Mean::of(segment.words.iter().filter(|word| word.index() < model.0).count() as f64)
    }

    fn score(&self, stats: &Mean, values: &mut [f64]) {
        values.fill(stats.value());
    }
}

fn set(images: &[&[&str]]) -> ReferenceSet {
    images.iter().map(|texts| texts.iter().copied()).collect()
}

#[test]
fn what_is_learnt_from_new_words_is_learnt_once_for_a_batch() {
    let fits = Arc::new(AtomicUsize::new(0));
    let metric = AnyMetric::new(Counting(Arc::clone(&fits)));
    let scorer = BatchScorer::new(set(&[&["a dog"], &["two cats"]]), vec![metric], [].into_iter(), &());
    assert_eq!(fits.swap(0, Ordering::Relaxed), 1);
    let texts: Vec<String> = (0..400).map(|k| format!("a dog{k} and cat{k}")).collect();
    let texts: Texts = texts.iter().map(String::as_str).collect();
    let images: Vec<u32> = (0..400).map(|k| k % 2).collect();
    assert_eq!(scorer.score(&images, &texts).values, [4.0; 400]);
    assert_eq!(fits.swap(0, Ordering::Relaxed), 1);
    let known: Texts = ["a dog", "two cats"].into_iter().collect();
    assert_eq!(scorer.score(&[0, 1], &known).values, [2.0; 2]);
    assert_eq!(fits.load(Ordering::Relaxed), 0, "there was nothing new");
}

/// A slow metric, whose score of each segment is whether another one was measured at the same time.
#[derive(Default)]
struct Meeting {
    arrived: Mutex<usize>,
    all_are_here: Condvar,
}

impl Metric for Meeting {
    type Model = ();
    type Stats = Mean;
    type Scratch = ();

    fn about(&self) -> About {
        let input = Input::new(Reading::Tokens(Tokenizer::None));
        let part = Part::score("meeting", "meeting", 0.0..=1.0);
        About::new(Signature::new("meeting"), input, Mean::columns(), vec![part]).slow(true)
    }

    fn fit(&self, _: &References<'_>) {}

    fn measure(&self, (): &(), _: &Segment<'_>, (): &mut ()) -> Mean {
        let mut arrived = self.arrived.lock().unwrap();
        *arrived += 1;
        self.all_are_here.notify_all();
        let (arrived, _) = self.all_are_here.wait_timeout_while(arrived, PATIENCE, |n| *n < 2).unwrap();
        Mean::of(if *arrived < 2 { 0.0 } else { 1.0 })
    }

    fn score(&self, stats: &Mean, values: &mut [f64]) {
        values.fill(stats.value());
    }
}

#[test]
fn threads_share_out_few_captions_where_a_metric_is_slow() {
    let threads = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let texts: Texts = ["a dog", "two cats"].into_iter().collect();
    threads.install(|| {
        let metric = || vec![AnyMetric::new(Meeting::default())];
        let references = || set(&[&["a dog"], &["two cats"]]);
        let scorer = BatchScorer::new(references(), metric(), [].into_iter(), &());
        assert_eq!(scorer.score(&[0, 1], &texts).values, [1.0; 2], "in a batch");
        let system = System { name: String::new(), images: vec![0, 1], texts: texts.clone() };
        let scored = evaluate(&mut references(), &[system], &metric(), &());
        assert_eq!(scored[0].metrics[0].corpus, [1.0], "in an evaluation");
    });
}

/// A slow metric that notes the order in which candidates are measured.
#[derive(Clone, Default)]
struct Noting(Arc<Mutex<Vec<usize>>>);

impl Metric for Noting {
    type Model = ();
    type Stats = Mean;
    type Scratch = ();

    fn about(&self) -> About {
        let input = Input::new(Reading::Tokens(Tokenizer::Whitespace));
        let part = Part::score("noting", "Noting", 0.0..=1.0);
        About::new(Signature::new("noting"), input, Mean::columns(), vec![part]).slow(true)
    }

    fn fit(&self, _: &References<'_>) {}

    fn measure(&self, (): &(), segment: &Segment<'_>, (): &mut ()) -> Mean {
        self.0.lock().unwrap().push(segment.image);
        Mean::of(segment.image as f64)
    }

    fn score(&self, stats: &Mean, values: &mut [f64]) {
        values.fill(stats.value());
    }
}

#[test]
fn a_slow_metric_measures_the_longest_captions_first() {
    let threads = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let noting = Noting::default();
    let texts: Texts = ["one", "a long one", "one", "the same"].into_iter().collect();
    let system = System { name: String::new(), images: vec![0, 1, 2, 3], texts };
    let mut references = set(&[&["a dog"], &["a dog"], &["a dog", "the longest of all of them"], &["a dog"]]);
    let scored =
        threads.install(|| evaluate(&mut references, &[system], &[AnyMetric::new(noting.clone())], &()));
    assert_eq!(*noting.0.lock().unwrap(), [2, 1, 3, 0]);
    assert_eq!(scored[0].metrics[0].segments(), [0.0, 1.0, 2.0, 3.0], "in the order of images");
}

#[test]
fn numbers_of_any_size_are_words_of_their_digits() {
    let great = MAX_CODE - 1;
    let spelt = format!("12 {great} 007 9");
    let build = |name| registry::build(name, &[("tok", "none")], &Resources::default()).unwrap();
    let metrics = vec![build("bleu"), build("rouge-l")];
    let scorer = BatchScorer::new(set(&[&[&spelt]]), metrics, [].into_iter(), &());
    let codes = scorer.digits().unwrap();
    let whole = scorer.score_codes(&codes, &[0], &[12, great, 7, 9], &[4]).values;
    let text: Texts = [format!("12 {great} 7 9").as_str()].into_iter().collect();
    assert_eq!(whole, scorer.score(&[0], &text).values, "007 are not the digits of a number");
    assert!(whole[0] > 0.7 && whole[0] < 0.8);
    let others = scorer.score_codes(&codes, &[0], &[great - 1, MAX_CODE], &[2]).values;
    assert!(others[0] < 1e-9, "{others:?}");
}
