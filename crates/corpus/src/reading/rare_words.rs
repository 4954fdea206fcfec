//! Checks the pairing a second time, by rare words alone.
//!
//! If captions follow a template, as radiology reports do, the words of the template hide those that distinguish
//! images, and many references are equal. So words of more than half of the images are left out, images with equal
//! references or without other words do not count, and each caption is compared with several other images.

use std::collections::HashMap;

use super::words::{Words, best_overlap, words};

/// The most rows that are looked at.
const MOST_ROWS: usize = 1500;

/// The other images that a caption is compared with.
const OTHERS: usize = 3;

/// The gain by rare words of each of `n` rows that is looked at, with its row; images that do not differ, or have no
/// rare word, have none.
pub(super) fn gains<'t>(
    n: usize,
    caption: &impl Fn(usize) -> &'t str,
    references: &impl Fn(usize) -> Vec<&'t str>,
) -> Vec<(usize, f64)> {
    let bags = |row: usize| -> Vec<Words> { references(row).into_iter().map(words).collect() };
    let step = n.div_ceil(MOST_ROWS).max(1);
    let looked: Vec<(usize, Vec<Words>)> = (0..n).step_by(step).map(|row| (row, bags(row))).collect();
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for (_, own) in &looked {
        let mut distinct: Words = own.iter().flatten().copied().collect();
        distinct.sort_unstable();
        distinct.dedup();
        distinct.into_iter().for_each(|word| *counts.entry(word).or_default() += 1);
    }
    let is_rare = |word: &u64| 2 * counts.get(word).copied().unwrap_or_default() <= looked.len();
    let rare = |bag: &Words| -> Words { bag.iter().copied().filter(is_rare).collect() };
    let all = |bags: &[Words]| -> Vec<Words> {
        let mut bags: Vec<Words> = bags.iter().map(rare).collect();
        bags.sort_unstable();
        bags
    };
    let gain = |(row, own): &(usize, Vec<Words>)| {
        let (caption, own) = (rare(&words(caption(*row))), all(own));
        let others = (1..=OTHERS).map(|k| all(&bags((row + n * k / (OTHERS + 1)) % n)));
        let others: Vec<f64> =
            others.filter(|other| *other != own).map(|other| best_overlap(&caption, &other)).collect();
        let mean = others.iter().sum::<f64>() / others.len() as f64;
        let says_something = !caption.is_empty() || own.iter().any(|bag| !bag.is_empty());
        (says_something && !others.is_empty()).then(|| (*row, best_overlap(&caption, &own) - mean))
    };
    looked.iter().filter_map(gain).collect()
}
