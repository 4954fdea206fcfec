//! Computes rewards for training: SODA_c and F1 of many candidates for the same videos.
//!
//! A reward depends on its candidate and its video alone, so each is a file of its own for the tokenizer.

use capeval_choice::Refusal;

use crate::event::Video;
use crate::form::SodaMetric;
use crate::overlap::overlap;
use crate::pairs::THRESHOLDS;
use crate::proposals::{Base, f1, proposals};
use crate::run::SharedScores;
use crate::scores::mean;
use crate::{Event, EventFile, WordMetrics};

/// The rewards of a candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reward {
    /// SODA_c: that of the form `soda-c` for this video.
    pub soda_c: f64,
    /// F1 of precision and recall, each the mean over the overlaps .3, .5, .7 and .9: that of the form `capeval`.
    pub f1: f64,
}

/// The rewards of candidates, each the events that are predicted for a video of the references; 0 without events.
///
/// # Errors
/// When the references lack a video or its events, or the metric is not among `metrics`.
pub fn reward(
    references: &[EventFile],
    candidates: &[(&str, &[Event])],
    metric: SodaMetric,
    metrics: &WordMetrics,
) -> Result<Vec<Reward>, Refusal> {
    let mut files = vec![EventFile::default(); references.len()];
    let mut predictions = EventFile::default();
    for (k, (id, events)) in candidates.iter().enumerate() {
        let mut n_events = 0;
        for (file, own) in files.iter_mut().zip(references) {
            if let Some(events) = own.videos.get(*id).filter(|events| !events.is_empty()) {
                n_events += events.len();
                file.videos.insert(k.to_string(), events.clone());
            }
        }
        if n_events == 0 {
            return Err(Refusal::new(format!("the references have no events of the video {id}"))
                .with_remedy("give references of all videos that candidates are of"));
        }
        // An empty list is a stop of SODA, and 0 here.
        if !events.is_empty() {
            predictions.videos.insert(k.to_string(), events.to_vec());
        }
    }
    let mut rewards = vec![Reward::default(); candidates.len()];
    let shared = SharedScores::alone(&files, &predictions, metric, metrics);
    let soda = match shared.first_soda() {
        Some(Err(stop)) => return Err(Refusal::new(stop.to_string())),
        Some(Ok(soda)) => soda,
        None => return Ok(rewards),
    };
    for (v, values) in soda {
        let place = shared.videos[*v].id.parse::<usize>().unwrap_or_default();
        rewards[place].soda_c = values[0].as_ref().map_or(0.0, |at| at[0][2]);
    }
    let videos: Vec<&Video<'_>> = shared.videos.iter().collect();
    let found = proposals(&videos, (THRESHOLDS.len(), usize::MAX), Base::AtLeastOne, |a, b, k| {
        overlap(a, b) > THRESHOLDS[k]
    });
    for (video, found) in videos.iter().zip(found.into_iter().flatten()) {
        let of = |values: &[f64]| mean(values.iter().copied());
        let place = video.id.parse::<usize>().unwrap_or_default();
        rewards[place].f1 = f1(of(&found.precision), of(&found.recall));
    }
    Ok(rewards)
}
