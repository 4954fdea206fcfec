//! Looks at the first batches of a training loop: at texts that are no captions, at what all captions or references
//! have in common, and at captions that do not fit the references of their own images.
//!
//! A batch has few images, and several captions of each, so the first caption of each image is kept until there are
//! enough of them to tell. After that, a batch costs the look at one flag.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use capeval_choice::NoticeCode;
use capeval_corpus::fit_some;
use capeval_report::Notice;

use crate::not_captions::{Caption, CaptionCheck, check_texts};
use crate::{PairingCheck, Scorer, shapes};

/// The captions in which texts that are none are looked for, and the most of a batch that is looked at.
const CHECKED: usize = 1000;

/// The most captions that are looked at until there are enough images.
const LOOKED: usize = 20_000;

/// Images on which captions and references are compared; with all images that there are, some fewer do.
const ENOUGH_IMAGES: usize = 100;

/// The first batches of a reward.
pub struct FirstBatches {
    looks_at_pairs: bool,
    is_done: AtomicBool,
    seen: Mutex<SeenCaptions>,
}

/// What was seen of the first batches.
#[derive(Default)]
struct SeenCaptions {
    /// The number of captions.
    n: usize,
    /// The first caption of each image.
    by_image: BTreeMap<usize, String>,
    images_are_known: bool,
    /// What was said.
    told: Vec<Notice>,
}

impl FirstBatches {
    /// The most captions of a batch that are looked at.
    pub const SAMPLE: usize = CHECKED;

    /// Nothing seen yet.
    pub fn new(pairing: PairingCheck) -> Self {
        let looks_at_pairs = pairing == PairingCheck::Check;
        Self { looks_at_pairs, is_done: AtomicBool::new(false), seen: Mutex::default() }
    }

    /// Returns true until enough captions were seen.
    pub fn are_wanted(&self) -> bool {
        !self.is_done.load(Ordering::Relaxed)
    }

    /// Looks at captions of `images`; returns what is wrong with them, each thing once for all batches. Token ids are
    /// spelt out as `texts`, which are not checked (`are_texts`), but compared with the references.
    pub fn look(&self, scorer: &Scorer, images: &[u32], texts: &[&str], are_texts: bool) -> Vec<Notice> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::new();
        if are_texts && seen.n < CHECKED {
            found = check_texts(texts.get(..CHECKED).unwrap_or(texts));
        }
        seen.n += texts.len().max(1);
        let looks_at_images = self.looks_at_pairs || are_texts;
        if looks_at_images && !seen.images_are_known {
            for (image, text) in images.iter().zip(texts) {
                if seen.by_image.len() < ENOUGH_IMAGES.max(CHECKED) {
                    seen.by_image.entry(*image as usize).or_insert_with(|| (*text).to_owned());
                }
            }
            let n_images = scorer.ids().len();
            if seen.by_image.len() >= ENOUGH_IMAGES.min(n_images) {
                found.extend(self.looks_at_pairs.then(|| of_pairs(scorer, &seen.by_image)).flatten());
                if are_texts {
                    found.extend(of_all(scorer, &seen.by_image));
                }
                seen.images_are_known = true;
                seen.by_image = BTreeMap::new();
            }
        }
        let images_are_known = !looks_at_images || seen.images_are_known || seen.n >= LOOKED;
        if seen.n >= CHECKED && images_are_known {
            self.is_done.store(true, Ordering::Relaxed);
        }
        let mut new: Vec<Notice> = Vec::new();
        for notice in found {
            let is_told = |code: &NoticeCode| seen.told.iter().chain(&new).any(|told| told.code == *code);
            if !is_told(&notice.code) {
                new.push(notice);
            }
        }
        seen.told.extend(new.iter().cloned());
        new
    }

    /// What was said of the batches so far.
    pub fn told(&self) -> Vec<Notice> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).told.clone()
    }
}

/// A notice if captions do not fit the references of their own images.
fn of_pairs(scorer: &Scorer, captions: &BTreeMap<usize, String>) -> Option<Notice> {
    let rows: Vec<(usize, &str)> = captions.iter().map(|(image, text)| (*image, &**text)).collect();
    let references = scorer.engine().references();
    let fit = fit_some(references.n_images(), &rows, |image| references.of(image).collect());
    shapes::unfit("the first batches", &fit, "make sure that each caption has the id of its own image")
}

/// What a report would say of a caption of each image, and of the references of these images.
fn of_all(scorer: &Scorer, captions: &BTreeMap<usize, String>) -> Vec<Notice> {
    let engine = scorer.engine();
    let id = |image: &usize| scorer.ids().get(*image);
    let texts: Vec<Caption<'_>> =
        captions.iter().filter_map(|(image, text)| Some((id(image)?, &**text))).collect();
    let of_image = |image: &usize| {
        let references = id(image).map(|id| engine.references().of(*image).map(move |text| (id, text)));
        references.into_iter().flatten()
    };
    let references: Vec<Caption<'_>> = captions.keys().flat_map(of_image).collect();
    let n = references.len();
    let check =
        CaptionCheck::new(&[], n, |step| references.into_iter().step_by(step).collect(), engine.metrics());
    check.tell(&[("the first batches", texts)])
}
