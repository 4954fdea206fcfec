//! Shows image by image how two files of captions differ.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use capeval::ScoreOptions;
use capeval::choice::SegmentId;
use capeval::report::SystemReport;
use serde::{Deserialize, Serialize};

use crate::dense::{DenseSet, in_text};
use crate::metrics::{MeasureInfo, described};
use crate::scoring::{Set, candidates, options, scored};

/// The most images whose scores are told one by one.
const POINTS: usize = 400;

/// The images on which each file is better that are told.
const LISTED: usize = 20;

/// Scores two files of captions image by image, by several reference sets.
#[derive(Serialize, Deserialize)]
pub struct Contrast {
    pub one: PathBuf,
    pub other: PathBuf,
    /// The reference sets.
    pub sets: Vec<Set>,
    /// The squares along each axis in which many images are counted.
    pub squares: usize,
}

/// The differences of two files image by image, by one reference set.
#[derive(Debug, Serialize, Deserialize)]
pub struct SetContrast {
    /// The id of the set.
    pub set: String,
    pub measures: Vec<MeasureContrast>,
}

/// The differences of two files image by image, by one measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasureContrast {
    /// The key of the measure.
    pub key: String,
    /// The number of images.
    pub images: usize,
    /// The least and the greatest score of an image.
    pub range: (f64, f64),
    /// Scores by the one and the other file, with the number of images that have them. Those of many images are the
    /// middles of squares.
    pub points: Vec<(f64, f64, u32)>,
    /// The images on which the one and on which the other file is better, those that differ most first.
    pub better: [Vec<ImageContrast>; 2],
}

/// An image of which two files have captions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImageContrast {
    pub image: SegmentId,
    pub scores: [f64; 2],
    pub captions: [String; 2],
}

/// The scores of both files for an image.
type ScorePair<'s> = (&'s SegmentId, [f64; 2]);

impl Contrast {
    pub(crate) fn perform(self) -> anyhow::Result<Vec<SetContrast>> {
        self.sets.iter().map(|set| contrast(&self, set)).collect()
    }
}

/// The captions of a file by image, or the events of each video in words.
fn captions(set: &Set, path: &Path) -> anyhow::Result<HashMap<SegmentId, String>> {
    Ok(match DenseSet::open(set)? {
        Some(dense) => {
            let videos = dense.events(path)?.videos;
            videos.iter().map(|(id, events)| (SegmentId::from(id.as_str()), in_text(events))).collect()
        }
        None => candidates(path)?.iter().map(|(id, text)| (id.clone(), text.to_owned())).collect(),
    })
}

fn contrast(task: &Contrast, set: &Set) -> anyhow::Result<SetContrast> {
    let captions = &[captions(set, &task.one)?, captions(set, &task.other)?];
    let files: [(&str, &Path); 2] = [("one", &task.one), ("other", &task.other)];
    let report = scored(set, &files, ScoreOptions { segments: true, ..options(set) }, Vec::new())?;
    let measures = described(&report.head.measures);
    let [one, other] = &report.systems[..] else { anyhow::bail!("the engine gave no scores") };
    let others = by_image(other, measures.len());
    let of_measure = |(k, measure): (usize, &MeasureInfo)| {
        let scored = by_image(one, measures.len()).into_iter().filter_map(|(id, values)| {
            let scores = [*values.get(k)?, *others.get(id)?.get(k)?];
            scores.iter().all(|score| score.is_finite()).then_some((id, scores))
        });
        let mut scored: Vec<ScorePair> = scored.collect();
        scored.sort_by(|a, b| a.0.cmp(b.0));
        MeasureContrast {
            key: measure.key.clone(),
            images: scored.len(),
            range: range(&scored),
            points: points(&scored, task.squares),
            better: [1.0, -1.0].map(|sign| {
                let sign = if measure.lower_is_better { -sign } else { sign };
                better(&scored, sign, captions)
            }),
        }
    };
    Ok(SetContrast { set: set.id.clone(), measures: measures.iter().enumerate().map(of_measure).collect() })
}

/// The scores of each image by all measures.
fn by_image(system: &SystemReport, measures: usize) -> HashMap<&SegmentId, &[f64]> {
    let segments = system.segments.iter();
    segments
        .flat_map(|segments| segments.ids.iter().zip(segments.values.chunks_exact(measures.max(1))))
        .collect()
}

fn range(scored: &[ScorePair]) -> (f64, f64) {
    let scores = scored.iter().flat_map(|(_, scores)| scores);
    scores.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), score| (low.min(*score), high.max(*score)))
}

/// The scores of a few images one by one, or of many in squares.
fn points(scored: &[ScorePair], squares: usize) -> Vec<(f64, f64, u32)> {
    if scored.len() <= POINTS {
        return scored.iter().map(|(_, [one, other])| (*one, *other, 1)).collect();
    }
    let (low, high) = range(scored);
    let side = if high > low { (high - low) / squares as f64 } else { 1.0 };
    let square = |score: f64| (((score - low) / side) as usize).min(squares - 1);
    let middle = |square: usize| low + (square as f64 + 0.5) * side;
    let mut counts = vec![0_u32; squares * squares];
    for (_, [one, other]) in scored {
        counts[square(*other) * squares + square(*one)] += 1;
    }
    let filled = counts.into_iter().enumerate().filter(|(_, count)| *count > 0);
    filled.map(|(k, count)| (middle(k % squares), middle(k / squares), count)).collect()
}

/// The images on which the first score, times `sign`, is the greater one, those that differ most first.
fn better(scored: &[ScorePair], sign: f64, captions: &[HashMap<SegmentId, String>; 2]) -> Vec<ImageContrast> {
    let gain = |[one, other]: &[f64; 2]| sign * (one - other);
    let mut better: Vec<&ScorePair> = scored.iter().filter(|(_, scores)| gain(scores) > 0.0).collect();
    // Of equal differences, the first images come first.
    better.sort_by(|a, b| gain(&b.1).total_cmp(&gain(&a.1)));
    let shown = better.into_iter().take(LISTED).map(|(image, scores)| ImageContrast {
        image: (*image).clone(),
        scores: *scores,
        captions: [0, 1].map(|k| captions[k].get(*image).cloned().unwrap_or_default()),
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(n: i64) -> Vec<SegmentId> {
        (0..n).map(SegmentId::Integer).collect()
    }

    #[test]
    fn images_that_differ_most_come_first() {
        let ids = ids(4);
        let scored: Vec<ScorePair> =
            ids.iter().zip([[0.1, 0.1], [0.5, 0.2], [0.9, 0.1], [0.0, 0.4]]).collect();
        let captions =
            ["one", "other"].map(|text| ids.iter().map(|id| (id.clone(), text.to_owned())).collect());
        let listed = |sign| {
            better(&scored, sign, &captions).into_iter().map(|of| of.image.to_string()).collect::<Vec<_>>()
        };
        assert_eq!((listed(1.0), listed(-1.0)), (vec!["2".to_owned(), "1".to_owned()], vec!["3".to_owned()]));
        assert_eq!(better(&scored, -1.0, &captions)[0].captions, ["one", "other"]);
    }

    #[test]
    fn many_images_are_counted_in_squares() {
        let ids = ids(1_000);
        let scored: Vec<ScorePair> = ids
            .iter()
            .enumerate()
            .map(|(k, id)| (id, [f64::from(u8::from(k % 2 == 0)), f64::from(u8::from(k < 10))]))
            .collect();
        let points = points(&scored, 4);
        assert_eq!(points, [(0.125, 0.125, 495), (0.875, 0.125, 495), (0.125, 0.875, 5), (0.875, 0.875, 5)]);
        assert_eq!(super::points(&scored[..3], 4).len(), 3);
    }
}
