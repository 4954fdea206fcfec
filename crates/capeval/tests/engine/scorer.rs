//! A scorer gives the digits of `score`, in any batch, in any order, on any number of threads.

use std::sync::Arc;

use capeval::corpus::{Captions, Ids, SegmentId};
use capeval::evaluate::registry::kinds;
use capeval::frequencies::DocumentFrequencies;
use capeval::metric::{Reading, Resources};
use capeval::text::{Texts, Tokenizer};
use capeval::{MetricOptions, ScoreOptions, ScoreRequest, Scorer, score, select_metrics};

const WORDS: &[&str] = &[
    "a", "the", "dog", "cat", "runs", "on", "grass", "it's", "two", "Dogs", "red", "bus.", "3 1/2", "Straße",
];

/// Captions from a fixed sequence of numbers.
struct Source(u64);

impl Source {
    fn number(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn caption(&mut self, extra: &[&str]) -> String {
        let n = 1 + self.number(12);
        let words: Vec<&str> = (0..n)
            .map(|_| {
                let k = self.number(WORDS.len() + extra.len());
                WORDS.get(k).or_else(|| extra.get(k - WORDS.len())).copied().unwrap_or_default()
            })
            .collect();
        words.join(" ")
    }
}

const N_IMAGES: i64 = 60;

fn references() -> Captions {
    let (mut source, mut captions) = (Source(1), Captions::new("references"));
    for image in 0..N_IMAGES {
        for _ in 0..1 + source.number(5) {
            captions.push(SegmentId::from(image), &source.caption(&["people", "sit"]));
        }
    }
    captions
}

/// Candidates with words that no reference holds.
fn candidates(seed: u64) -> Vec<String> {
    let mut source = Source(seed);
    (0..N_IMAGES).map(|_| source.caption(&["unheard", "of", "words", "giraffe"])).collect()
}

fn all_metrics() -> MetricOptions {
    let specs = kinds().filter(|kind| kind.need.is_none()).map(|kind| kind.name);
    MetricOptions::new(specs.chain(["cider-d:stem=snowball-english", "rouge-score:stem=porter-nltk"]))
}

/// The scores of every image by `score`, for one system.
fn expected(metrics: &MetricOptions, resources: &Resources, captions: &[String]) -> Vec<f64> {
    let mut system = Captions::new("system");
    for (image, caption) in (0..).zip(captions) {
        system.push(SegmentId::from(image), caption);
    }
    let request = ScoreRequest {
        options: ScoreOptions { metrics: metrics.clone(), segments: true, ..ScoreOptions::default() },
        resources: resources.clone(),
        ..ScoreRequest::new(references(), [("s", system)])
    };
    score(request).unwrap().systems.remove(0).segments.unwrap().values
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn check(table: Option<&Arc<DocumentFrequencies>>) {
    let (metrics, resources) = (all_metrics(), Resources::default().with(table.cloned()));
    let built = select_metrics(&metrics, &resources).unwrap().metrics;
    let scorer = Scorer::new(references().into(), Ids::default(), built, table, &()).unwrap();
    let n_parts = scorer.engine().n_parts();
    let systems: Vec<Vec<String>> = (5..8).map(candidates).collect();
    let all: Vec<Vec<f64>> =
        systems.iter().map(|captions| expected(&metrics, &resources, captions)).collect();

    // Three samples per image, in an order that mixes images and samples.
    let mut order: Vec<(usize, usize)> =
        (0..systems.len()).flat_map(|s| (0..N_IMAGES as usize).map(move |image| (s, image))).collect();
    let mut source = Source(9);
    for k in (1..order.len()).rev() {
        order.swap(k, source.number(k + 1));
    }
    for (batch, threads) in [(order.len(), 2), (7, 1), (1, 1)] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for part in order.chunks(batch).take(20) {
            let images: Vec<u32> = part
                .iter()
                .map(|(_, image)| scorer.image(&SegmentId::from(*image as i64)).unwrap())
                .collect();
            let texts: Texts = part.iter().map(|(s, image)| systems[*s][*image].as_str()).collect();
            let found = pool.install(|| scorer.engine().score(&images, &texts));
            for ((s, image), values) in part.iter().zip(found.values.chunks_exact(n_parts)) {
                let wanted = &all[*s][image * n_parts..(image + 1) * n_parts];
                let keys: Vec<&str> = scorer.measures().iter().map(|measure| measure.key.as_str()).collect();
                assert_eq!(
                    bits(values),
                    bits(wanted),
                    "image {image} of {s}: {values:?} {wanted:?} {keys:?}"
                );
            }
        }
    }
}

#[test]
fn a_scorer_gives_the_digits_of_score_by_every_metric() {
    check(None);
}

#[test]
fn a_scorer_with_a_table_gives_the_digits_of_score() {
    // Over other captions, so that the table knows candidates' words that the references lack.
    let mut others = references();
    let mut source = Source(77);
    for image in N_IMAGES..2 * N_IMAGES {
        others.push(SegmentId::from(image), &source.caption(&["giraffe", "unheard", "of"]));
    }
    let reading = Reading::Tokens(Tokenizer::Ptb);
    let table = capeval::document_frequencies(others, Ids::default(), reading, 4).unwrap();
    check(Some(&Arc::new(table)));
}

#[test]
fn captions_as_numbers_give_the_digits_of_their_words() {
    let words = ["a", "dog", "runs", "giraffe", "the", "cat", "on", "grass"];
    let metrics = capeval::metrics(["cider-d", "bleu", "rouge-l"], &[("tok", "none")]).unwrap();
    let scorer = Scorer::new(references().into(), Ids::default(), metrics, None, &()).unwrap();
    // Numbers from 5 on have no words, so they are words that are in no reference.
    let codes = scorer.engine().codes(words.iter().take(5).copied()).unwrap();
    let batch: Vec<Vec<u32>> =
        vec![vec![0, 1, 2], vec![3, 3, 3], vec![], vec![0, 90, 90, 91], vec![4, 1, 2, 0, 1]];
    let spelt =
        |k: &u32| words.iter().take(5).nth(*k as usize).map_or(format!("unknown{k}"), |w| (*w).to_owned());
    let texts: Vec<String> =
        batch.iter().map(|caption| caption.iter().map(spelt).collect::<Vec<_>>().join(" ")).collect();
    let images = [3, 3, 4, 5, 6];
    let by_text = scorer.engine().score(&images, &texts.iter().map(String::as_str).collect());
    let ends: Vec<u64> = batch
        .iter()
        .scan(0, |end, caption| {
            *end += caption.len() as u64;
            Some(*end)
        })
        .collect();
    let by_code = scorer.engine().score_codes(&codes, &images, &batch.concat(), &ends);
    for (k, (a, b)) in by_text.values.iter().zip(&by_code.values).enumerate() {
        assert_eq!(a.to_bits(), b.to_bits(), "number {k}");
    }
}

#[test]
fn numbers_are_refused_by_metrics_that_look_into_words() {
    let refused = |specs: &[&str]| {
        let metrics = capeval::metrics(specs.iter().copied(), &[]).unwrap();
        let scorer = Scorer::new(references().into(), Ids::default(), metrics, None, &()).unwrap();
        scorer.engine().codes(["a"]).is_err()
    };
    assert!(refused(&["chrf"]) && refused(&["rouge-score"]) && refused(&["bleu", "bleu:tok=13a"]));
    assert!(!refused(&["bleu", "cider", "rouge-l"]));
}

#[test]
fn a_batch_is_read_caption_by_caption_and_its_signature_says_so() {
    let metrics = capeval::metrics(["rouge-l", "bleu:tok=13a"], &[]).unwrap();
    let mut references = Captions::new("references");
    references.push(SegmentId::from(1), "a shirt with a t.");
    references.push(SegmentId::from(2), "a dog");
    let scorer = Scorer::new(references.into(), Ids::default(), metrics, None, &()).unwrap();
    let tokenizers = |k: usize| scorer.engine().metrics()[k].signature().get("tok").unwrap().to_owned();
    assert_eq!([tokenizers(0), tokenizers(1)], ["ptb-each", "13a"]);
    let texts: Texts = ["a shirt with a t.", "a dog", "a shirt with a t."].into_iter().collect();
    let scores = scorer.engine().score(&[0, 1, 0], &texts);
    assert_eq!(scores.values[0], scores.values[2 * scores.n_parts]);
}
