//! Computes precision and recall of predicted events without their captions.
//!
//! Each reference file is compared separately. The best file counts for precision and for recall, so a video may take
//! one from the first file and the other from the second.

use crate::Stop;
use crate::event::{Event, Video};

/// The number of predictions that a form divides by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Base {
    /// The index of the last prediction, so one less than there are; an empty list takes that of the video before.
    LastIndex,
    /// All; an empty list takes that of the video before, which gives 0.
    Count,
    /// All, and at least 1.
    AtLeastOne,
}

/// The precision and recall of a video at each threshold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Proposals {
    pub precision: Vec<f64>,
    pub recall: Vec<f64>,
}

/// Computes precision and recall of each video at `n` thresholds; `meets(prediction, reference, k)` returns true if two
/// events meet at threshold number `k`. Predictions of a video are cut to the first `most`.
pub(crate) fn proposals(
    videos: &[&Video<'_>],
    (n, most): (usize, usize),
    base: Base,
    meets: impl Fn(&Event, &Event, usize) -> bool,
) -> Result<Vec<Proposals>, Stop> {
    let mut last_index = None;
    let mut all = Vec::with_capacity(videos.len());
    for video in videos {
        let predictions = video.first_predictions(most);
        let mut best = Proposals { precision: vec![0.0; n], recall: vec![0.0; n] };
        for events in video.references.iter().flatten() {
            let n_predictions = match (base, video.predictions) {
                (_, None) | (Base::AtLeastOne, _) => predictions.len().max(1),
                (Base::LastIndex | Base::Count, Some(_)) => {
                    last_index = predictions.len().checked_sub(1).or(last_index);
                    let last = last_index.ok_or_else(|| Stop::FirstEmpty(video.id.to_owned()))?;
                    let divisor = if base == Base::LastIndex { last } else { last + 1 };
                    if divisor == 0 {
                        return Err(Stop::OnePrediction(video.id.to_owned()));
                    }
                    divisor
                }
            };
            if events.is_empty() {
                return Err(Stop::NoEvents(video.id.to_owned()));
            }
            for k in 0..n {
                let met = |prediction: &&Event| events.iter().any(|event| meets(prediction, event, k));
                let n_met = predictions.iter().filter(met).count();
                let found = |event: &&Event| predictions.iter().any(|prediction| meets(prediction, event, k));
                let n_found = events.iter().filter(found).count();
                best.precision[k] = best.precision[k].max(n_met as f64 / n_predictions as f64);
                best.recall[k] = best.recall[k].max(n_found as f64 / events.len() as f64);
            }
        }
        all.push(best);
    }
    Ok(all)
}

/// The harmonic mean of precision and recall; 0 if both are 0.
pub(crate) fn f1(precision: f64, recall: f64) -> f64 {
    if precision + recall > 0.0 { 2.0 * recall * precision / (recall + precision) } else { 0.0 }
}
