//! Captions of a few words: scores are the same on one thread and on several, from captions and from prepared
//! references, and beside another system.

use std::sync::LazyLock;

use capeval_evaluate::prepared::PreparedReferences;
use capeval_evaluate::registry::{self, Resources};
use capeval_evaluate::{ReferenceSet, System, SystemScores, evaluate};
use capeval_metric::AnyMetric;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::prepared::aligned;
use crate::words::text;

const METRICS: [&str; 5] = ["bleu", "rouge-l", "cider", "cider-d", "chrf"];

/// Words that tokenizers treat in different ways.
const WORDS: [&str; 24] = [
    "a", "dog", "cat", "runs", "sits", "on", "red", "sofa", "the", "dogs", "1/2", "no.", "U.S.", "can't",
    "``", "-lrb-", ".", "!", "é", "犬", "U.", "\u{2028}", "\u{a0}", "-",
];

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started")
}

static POOLS: LazyLock<[ThreadPool; 2]> = LazyLock::new(|| [pool(1), pool(3)]);

fn metrics() -> Vec<AnyMetric> {
    METRICS
        .iter()
        .map(|name| registry::build(name, &[], &Resources::default()).expect("these need no data"))
        .collect()
}

/// Every digit of scores and of the statistics behind them.
fn bits(scores: &[SystemScores]) -> Vec<u64> {
    let metrics = scores.iter().flat_map(|system| &system.metrics);
    let values = metrics.flat_map(|metric| metric.corpus.iter().chain(metric.table.rows().flatten()));
    values.map(|value| value.to_bits()).collect()
}

/// Captions of images: lines, the first of which in each image is the candidate.
pub fn captions(bytes: &[u8]) -> Vec<Vec<String>> {
    let captions =
        |image: &[u8]| image.split(|byte| *byte == 254).take(4).map(|bytes| text(&WORDS, bytes)).collect();
    bytes.split(|byte| *byte == 255).take(24).map(captions).collect()
}

pub fn check(bytes: &[u8]) {
    let images = captions(bytes);
    let references: Vec<&[String]> = images
        .iter()
        .map(|captions| if captions.len() > 1 { &captions[1..] } else { &captions[..] })
        .collect();
    let ends: Vec<u64> = references
        .iter()
        .scan(0, |end, captions| {
            *end += captions.len() as u64;
            Some(*end)
        })
        .collect();
    let set = || {
        ReferenceSet::new(
            references.iter().flat_map(|captions| captions.iter()).map(String::as_str).collect(),
            ends.clone(),
        )
    };
    let n = images.len() as u32;
    let candidates = || images.iter().map(|captions| captions[0].as_str());
    let system = || System { name: "s".to_owned(), images: (0..n).collect(), texts: candidates().collect() };
    let metrics = metrics();

    let mut one = set();
    let scores = POOLS[0].install(|| evaluate(&mut one, &[system()], &metrics, &()));
    let expected = bits(&scores);
    let several = POOLS[1].install(|| evaluate(&mut set(), &[system(), system()], &metrics, &()));
    assert_eq!(bits(&several[..1]), expected, "three threads and two systems");

    let ids = (0..i64::from(n)).map(Into::into).collect();
    let mut file = Vec::new();
    PreparedReferences::new(ids, one, Vec::new()).write(&mut file).expect("writing to a vector cannot fail");
    let prepared = PreparedReferences::open(aligned(&file)).expect("the written file can be read");
    let mut references = prepared.references().expect("the written file is whole");
    assert_eq!(bits(&evaluate(&mut references, &[system()], &metrics, &())), expected, "prepared references");
}
