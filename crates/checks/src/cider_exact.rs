//! CIDEr and CIDEr-D in f64 are what whole numbers of 128 bits give: document frequencies, products and norms are
//! counted apart from the engine, without rounding, up to the root and the last division.
//!
//! The logarithms of document frequencies are those of f64, as in the formula that the programs compute; each is a
//! whole number of 2^-53, so that sums of products of 24 words fit into 128 bits.

use std::collections::{BTreeMap, BTreeSet};

use capeval_evaluate::registry::{self, Resources};
use capeval_evaluate::{ReferenceSet, System, evaluate};

/// The longest n-grams.
const ORDER: usize = 4;
/// The most words of a caption.
const N_WORDS: usize = 24;
const SIGMA: f64 = 6.0;

type Words = Vec<String>;
/// An n-gram with its weight in a caption, in units of 2^-53.
type Vector<'w> = BTreeMap<&'w [String], u128>;

/// Captions of images, the first of which in each is the candidate, with a letter for each word.
fn images(bytes: &[u8]) -> Vec<Vec<Words>> {
    let word = |byte: &u8| char::from(b'a' + byte % 8).to_string();
    let caption = |bytes: &[u8]| bytes.iter().take(N_WORDS).map(word).collect();
    let image = |bytes: &[u8]| bytes.split(|byte| *byte == 254).take(4).map(caption).collect();
    bytes.split(|byte| *byte == 255).take(16).map(image).collect()
}

fn references(image: &[Words]) -> &[Words] {
    if image.len() > 1 { &image[1..] } else { image }
}

/// The vector of a caption for n-grams of `n` words.
fn vector<'w>(caption: &'w [String], n: usize, weight: &dyn Fn(&[String]) -> f64) -> Vector<'w> {
    let mut counts: Vector<'_> = BTreeMap::new();
    caption.windows(n).for_each(|ngram| *counts.entry(ngram).or_default() += 1);
    let whole = |weight: f64| {
        let units = weight * (1u64 << 53) as f64;
        assert!(units >= 0.0 && units.fract() == 0.0, "{weight}");
        units as u128
    };
    counts.into_iter().map(|(ngram, count)| (ngram, count * whole(weight(ngram)))).collect()
}

fn product(a: &Vector<'_>, b: &Vector<'_>, is_clipped: bool) -> u128 {
    let part = |(ngram, own): (&&[String], &u128)| {
        b.get(ngram).map_or(0, |other| if is_clipped { *own.min(other) } else { *own } * other)
    };
    a.iter().map(part).sum()
}

/// The score of a candidate, in which all but roots, quotients and the penalty are exact.
fn exact(image: &[Words], is_clipped: bool, weight: &dyn Fn(&[String]) -> f64) -> f64 {
    let own: Vec<Vector<'_>> = (1..=ORDER).map(|n| vector(&image[0], n, weight)).collect();
    let (mut sum, others) = (0.0, references(image));
    for reference in others {
        let lengths = [&image[0], reference].map(|words| words.len().saturating_sub(1) as f64);
        let delta = lengths[0] - lengths[1];
        let penalty = if is_clipped { (-delta * delta / (2.0 * SIGMA * SIGMA)).exp() } else { 1.0 };
        for (own, n) in own.iter().zip(1..) {
            let other = vector(reference, n, weight);
            let [a, b] = [own, &other].map(|one| (product(one, one, false) as f64).sqrt());
            if a > 0.0 && b > 0.0 {
                sum += product(own, &other, is_clipped) as f64 / a / b * penalty;
            }
        }
    }
    sum / ORDER as f64 / others.len() as f64 * 10.0
}

pub fn check(bytes: &[u8]) {
    let images = images(bytes);
    let text = |words: &Words| words.join(" ");
    let candidates: Vec<String> = images.iter().map(|captions| text(&captions[0])).collect();
    let texts: Vec<Vec<String>> =
        images.iter().map(|captions| references(captions).iter().map(text).collect()).collect();
    let rows: Vec<Vec<&str>> = texts.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    let mut frequencies: BTreeMap<&[String], u32> = BTreeMap::new();
    for captions in &images {
        let ngrams =
            (1..=ORDER).flat_map(|n| references(captions).iter().flat_map(move |words| words.windows(n)));
        ngrams
            .collect::<BTreeSet<_>>()
            .into_iter()
            .for_each(|ngram| *frequencies.entry(ngram).or_default() += 1);
    }
    let rarity = |ngram: &[String]| {
        let df = frequencies.get(ngram).copied().unwrap_or(0).max(1);
        (images.len() as f64).ln() - f64::from(df).ln()
    };
    for (name, is_clipped) in [("cider", false), ("cider-d", true)] {
        for (idf, weight) in
            [("corpus", &rarity as &dyn Fn(&[String]) -> f64), ("uniform", &|_: &[String]| 1.0)]
        {
            let settings = [("tok", "none"), ("idf", idf)];
            let metric = registry::build(name, &settings, &Resources::default()).expect("it needs no data");
            let numbers = (0..images.len() as u32).collect();
            let texts = candidates.iter().map(String::as_str).collect();
            let system = System { name: String::new(), images: numbers, texts };
            let scores = evaluate(&mut ReferenceSet::of_rows(&rows), &[system], &[metric], &());
            for (image, score) in images.iter().zip(scores[0].metrics[0].segments()) {
                let exact = exact(image, is_clipped, weight);
                // Nothing is subtracted, so every rounding adds half a unit in the last place at most.
                let slack = 64.0 * f64::EPSILON * exact;
                assert!((score - exact).abs() <= slack, "{name}, {idf}: {score} is not {exact}");
            }
        }
    }
}
