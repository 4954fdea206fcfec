//! CIDEr-D of small corpora that share their texts, such as the events of one video at several overlaps: n-grams are
//! counted once, and weighted again for each corpus.
//!
//! Quirk kept on purpose: in a corpus of one pair every weight is `log 1 = 0`, and so is the score.

use std::f64::consts::E;
use std::hint::black_box;

use capeval_text::Symbol;
use capeval_text::ngrams::NONE;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::rarity::Weights;

/// The length of the longest n-grams, as in the reference program.
const ORDER: usize = 4;
/// The standard deviation of the length penalty, as in the reference program.
const SIGMA: f64 = 6.0;

/// The n-grams of texts, numbered over all of them.
#[derive(Default)]
pub struct EventNgrams {
    /// An n-gram is another one, or [`NONE`], and a word after it.
    numbers: HashMap<(u32, Symbol), u32, FixedState>,
    texts: Vec<TextNgrams>,
    /// By n-gram, its count in the text at hand.
    counts: Vec<u32>,
}

struct TextNgrams {
    /// Each distinct n-gram with its count, in order of first appearance, words first.
    ngrams: Vec<(u32, u32)>,
    ends: [usize; ORDER],
    n_bigrams: usize,
}

/// A corpus over such texts: the number of its references that contain each n-gram.
pub struct EventCorpus {
    images: Vec<u32>,
    weights: Weights,
}

impl EventNgrams {
    /// Adds a text, whose number is the number of those before it.
    pub fn push(&mut self, words: &[Symbol]) {
        let mut ngrams: Vec<(u32, u32)> = Vec::new();
        let mut prefixes = vec![NONE; words.len()];
        let mut ends = [0; ORDER];
        for (n, end) in ends.iter_mut().enumerate() {
            let start = ngrams.len();
            for (prefix, word) in prefixes.iter_mut().zip(words.get(n..).unwrap_or_default()) {
                let next = self.numbers.len() as u32;
                let number = *self.numbers.entry((*prefix, *word)).or_insert(next);
                *prefix = number;
                if self.counts.len() <= number as usize {
                    self.counts.push(0);
                }
                let count = &mut self.counts[number as usize];
                if *count == 0 {
                    ngrams.push((number, 0));
                }
                *count += 1;
            }
            for (number, count) in &mut ngrams[start..] {
                *count = std::mem::take(&mut self.counts[*number as usize]);
            }
            *end = ngrams.len();
        }
        self.texts.push(TextNgrams { ngrams, ends, n_bigrams: words.len().saturating_sub(1) });
    }

    /// The corpus whose images have one reference each, given by number.
    pub fn corpus(&self, references: impl Iterator<Item = usize>) -> EventCorpus {
        let mut images = vec![0; self.numbers.len()];
        let mut n = 0;
        for reference in references {
            n += 1;
            for (number, _) in &self.texts[reference].ngrams {
                images[*number as usize] += 1;
            }
        }
        EventCorpus { images, weights: Weights::over(n) }
    }

    /// CIDEr-D of a candidate with one reference.
    pub fn score(&mut self, corpus: &EventCorpus, candidate: usize, reference: usize) -> f64 {
        let Self { texts, counts, .. } = self;
        let (candidate, reference) = (&texts[candidate], &texts[reference]);
        for (number, count) in &reference.ngrams {
            counts[*number as usize] = *count;
        }
        let mut total = 0.0;
        let mut start = 0;
        for n in 0..ORDER {
            let (mut product, mut norm) = (0.0, 0.0);
            for (number, count) in &candidate.ngrams[start..candidate.ends[n]] {
                let (element, square) = corpus.element(*number, *count);
                norm += square;
                let theirs = counts[*number as usize];
                if theirs > 0 {
                    let other = corpus.element(*number, theirs).0;
                    product += element.min(other) * other;
                }
            }
            let theirs = &reference.ngrams[reference.start(n)..reference.ends[n]];
            let square = |(number, count): &(u32, u32)| corpus.element(*number, *count).1;
            let (norm, other) = (f64::sqrt(norm), theirs.iter().map(square).sum::<f64>().sqrt());
            if norm != 0.0 && other != 0.0 {
                product /= norm * other;
            }
            let delta = candidate.n_bigrams as f64 - reference.n_bigrams as f64;
            total += product * f64::powf(black_box(E), -delta.powi(2) / (2.0 * SIGMA.powi(2)));
            start = candidate.ends[n];
        }
        for (number, _) in &reference.ngrams {
            counts[*number as usize] = 0;
        }
        total / ORDER as f64 * 10.0
    }

    /// Returns true if one of these texts has a word.
    pub fn have_words(&self, mut texts: impl Iterator<Item = usize>) -> bool {
        texts.any(|text| !self.texts[text].ngrams.is_empty())
    }
}

impl TextNgrams {
    fn start(&self, n: usize) -> usize {
        if n == 0 { 0 } else { self.ends[n - 1] }
    }
}

impl EventCorpus {
    /// The element of an n-gram in a vector, and its square.
    fn element(&self, number: u32, count: u32) -> (f64, f64) {
        let images = self.images.get(number as usize).copied().unwrap_or(0);
        self.weights.element(f64::from(count), images)
    }
}
