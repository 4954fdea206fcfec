//! Counts lengths, words, n-grams and repeated captions, for the page of a report on diversity.

use std::collections::{HashMap, HashSet};

use capeval_evaluate::ReferenceSet;
use capeval_evaluate::diversity::{CaptionSystem, read_with};
use capeval_metric::Input;
use capeval_report::{NgramCount, Profile};
use capeval_text::{Sentences, Symbol};

/// The length of the longest n-grams.
const ORDER: usize = 4;

/// The number of points of the growth of the vocabulary.
const POINTS: usize = 100;

/// The number of captions that are listed.
const LISTED: usize = 10;

/// The profile of a system's captions in the words that a metric with this input reads. N-grams are new if `training`,
/// when it has captions, lacks them.
pub fn profile(training: &mut ReferenceSet, system: &CaptionSystem, input: Input) -> Profile {
    read_with(training, system, input, |training, own| {
        let captions = (0..own.len()).map(|k| own.words(k));
        let longest = captions.clone().map(<[_]>::len).max().unwrap_or(0);
        let mut lengths = vec![0; if own.is_empty() { 0 } else { longest + 1 }];
        captions.clone().for_each(|words| lengths[words.len()] += 1);
        Profile {
            lengths,
            growth: growth(captions.clone().flatten().copied()),
            ngrams: (1..=ORDER).map(|n| ngrams(own, training, n)).collect(),
            frequent: frequent(captions.enumerate(), |k| system.texts.get(k)),
        }
    })
}

/// The number of distinct words in the first words.
fn growth(words: impl Iterator<Item = Symbol> + Clone) -> Vec<(usize, usize)> {
    let n = words.clone().count();
    let step = n.div_ceil(POINTS).max(1);
    let mut seen = HashSet::new();
    let mut points = vec![(0, 0)];
    for (k, word) in words.enumerate() {
        seen.insert(word);
        if (k + 1) % step == 0 || k + 1 == n {
            points.push((k + 1, seen.len()));
        }
    }
    points
}

fn ngrams(own: &Sentences, training: &Sentences, n: usize) -> NgramCount {
    let mut counts: HashMap<&[Symbol], usize> = HashMap::new();
    for k in 0..own.len() {
        own.words(k).windows(n).for_each(|ngram| *counts.entry(ngram).or_default() += 1);
    }
    let (n_all, n_distinct) = (counts.values().sum(), counts.len());
    // Training captions are many more than those of a system, so they are looked up and not kept.
    for k in 0..training.len() {
        training.words(k).windows(n).for_each(|ngram| {
            counts.remove(ngram);
        });
    }
    let n_new = (!training.is_empty()).then(|| counts.values().sum());
    NgramCount { n: n_all, n_distinct, n_new }
}

/// The captions that occur most often, of equally frequent ones the earlier first, each as it is first written.
fn frequent<'c, 't>(
    captions: impl Iterator<Item = (usize, &'c [Symbol])>,
    text: impl Fn(usize) -> &'t str,
) -> Vec<(String, usize)> {
    let mut found: HashMap<&[Symbol], (usize, usize)> = HashMap::new();
    for (k, words) in captions {
        found.entry(words).or_insert((k, 0)).1 += 1;
    }
    let mut repeated: Vec<(usize, usize)> = found.into_values().filter(|(_, times)| *times > 1).collect();
    repeated.sort_unstable_by_key(|(first, times)| (usize::MAX - times, *first));
    repeated.into_iter().take(LISTED).map(|(first, times)| (text(first).to_owned(), times)).collect()
}

#[cfg(test)]
mod tests {
    use capeval_corpus::{Captions, ReadOptions, read_bytes};
    use capeval_report::NgramCount;

    use crate::{DiversityOptions, DiversityRequest, diversity};

    fn captions(json: &str) -> Captions {
        read_bytes(json.as_bytes(), "a.json", &ReadOptions::references()).expect("captions")
    }

    #[test]
    fn captions_are_counted_in_words_of_the_tokenizer() {
        let own = captions(r#"{"1": ["A dog.", "A dog runs"], "2": ["a dog", "", "a cat"]}"#);
        let request = DiversityRequest {
            training: Some(captions(r#"{"1": ["the dog runs"]}"#)),
            options: DiversityOptions { profiles: true, ..DiversityOptions::default() },
            ..DiversityRequest::new([("a", own)])
        };
        let report = diversity(request).expect("a report");
        let [profile] = &report.profiles[..] else { panic!("one profile for each system") };
        assert_eq!(profile.lengths, [1, 0, 3, 1]);
        assert_eq!(profile.growth.last(), Some(&(9, 4)));
        let count = |n, n_distinct, n_new| NgramCount { n, n_distinct, n_new: Some(n_new) };
        // "a" and "cat" are new, "a dog" and "a cat", and "a dog runs".
        assert_eq!(profile.ngrams, [count(9, 4, 5), count(5, 3, 4), count(1, 1, 1), count(0, 0, 0)]);
        assert_eq!(profile.frequent, [("A dog.".to_owned(), 2)]);
    }
}
