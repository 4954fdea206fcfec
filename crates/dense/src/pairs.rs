//! The pairs of a prediction and a reference that a form compares at a threshold.
//!
//! A prediction is compared with each reference that it overlaps enough, so a prediction that overlaps five references
//! is in five pairs. A prediction that overlaps none is compared with a meaningless text; the programs differ in that
//! text and in how often they add it.

use crate::event::{Event, Video};
use crate::overlap::{ordered_overlap, overlap};
use crate::reading::{Texts, ascii};

/// The treatment of a prediction that meets no reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Garbage {
    /// `abc123!@#`, if no other pair of the video follows, because the next one takes its place.
    LastOnly,
    /// `abc123!@#`, once for each reference file, until one has met the prediction.
    PerFile,
    /// `abc123!@#`, once.
    Fixed,
    /// A random word, once.
    Random,
}

/// The rule by which a form finds its pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairRule {
    pub garbage: Garbage,
    /// True if characters beyond ASCII become blanks.
    pub is_ascii: bool,
    /// True if the two ends of an event are put in order.
    pub is_ordered: bool,
    /// True if an overlap must exceed the threshold.
    pub is_strict: bool,
    /// True if each video is a file of its own for the tokenizer.
    pub is_video_alone: bool,
    pub thresholds: &'static [f64],
}

/// The thresholds of the first evaluation, and of nearly all since then.
pub(crate) const THRESHOLDS: &[f64] = &[0.3, 0.5, 0.7, 0.9];

/// The number of predictions of a video that the programs read.
pub(crate) const MOST_PREDICTIONS: usize = 1_000;

/// The text that the first programs compare a prediction without a match with: one token, but four words for METEOR.
const FIXED: &str = "abc123!@#";

impl PairRule {
    /// The rule of the evaluation of 2019.
    pub const LATER: Self = Self {
        garbage: Garbage::Random,
        is_ascii: true,
        is_ordered: false,
        is_strict: false,
        is_video_alone: false,
        thresholds: THRESHOLDS,
    };

    /// The overlap of two events.
    pub fn overlap(&self, prediction: &Event, reference: &Event) -> f64 {
        if self.is_ordered { ordered_overlap(prediction, reference) } else { overlap(prediction, reference) }
    }

    fn meets(&self, overlap: f64, threshold: f64) -> bool {
        if self.is_strict { overlap > threshold } else { overlap >= threshold }
    }

    /// The number of an event's text as this rule reads it.
    pub fn text(&self, texts: &mut Texts, event: &Event) -> u32 {
        if self.is_ascii { texts.number(&ascii(&event.caption)) } else { texts.number(&event.caption) }
    }

    /// The pairs of a video at each threshold, as numbers of texts. `word` is the number of the random word.
    pub fn pairs(&self, video: &Video<'_>, texts: &mut Texts, word: u32) -> Vec<Vec<(u32, u32)>> {
        let predictions = video.first_predictions(MOST_PREDICTIONS);
        let candidates: Vec<u32> = predictions.iter().map(|event| self.text(texts, event)).collect();
        let files: Vec<(&[Event], Vec<u32>)> = video
            .references
            .iter()
            .flatten()
            .map(|events| (*events, events.iter().map(|event| self.text(texts, event)).collect()))
            .collect();
        let garbage = match self.garbage {
            Garbage::Random => word,
            Garbage::LastOnly | Garbage::PerFile | Garbage::Fixed => texts.number(FIXED),
        };
        let mut all = vec![Vec::new(); self.thresholds.len()];
        // A pair whose place the next one takes.
        let mut pending: Vec<Option<(u32, u32)>> = vec![None; self.thresholds.len()];
        for (prediction, candidate) in predictions.iter().zip(candidates) {
            let mut has_met = vec![false; self.thresholds.len()];
            for (events, numbers) in &files {
                for (event, reference) in events.iter().zip(numbers) {
                    let overlap = self.overlap(prediction, event);
                    for (t, threshold) in self.thresholds.iter().enumerate() {
                        if self.meets(overlap, *threshold) {
                            all[t].push((candidate, *reference));
                            pending[t] = None;
                            has_met[t] = true;
                        }
                    }
                }
                for t in 0..self.thresholds.len() {
                    match self.garbage {
                        Garbage::PerFile if !has_met[t] => all[t].push((candidate, garbage)),
                        Garbage::LastOnly if !has_met[t] => pending[t] = Some((candidate, garbage)),
                        _ => {}
                    }
                }
            }
            for (pairs, has_met) in all.iter_mut().zip(&has_met) {
                if !has_met && matches!(self.garbage, Garbage::Fixed | Garbage::Random) {
                    pairs.push((candidate, garbage));
                }
            }
        }
        for (pairs, pending) in all.iter_mut().zip(pending) {
            pairs.extend(pending);
        }
        all
    }
}
