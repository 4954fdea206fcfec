//! The evidence behind SODA_c: which prediction is matched with which reference, with which overlap, and how well their
//! words agree.

use capeval_report::{
    EventLink, EventLinks, LEAST_OVERLAP, PredictedEvents, TimedCaption, Timeline, Timelines,
};
use indexmap::IndexMap;
use rayon::prelude::*;

use crate::event::{Event, EventFile, Video};
use crate::matching::{SodaEvents, SodaSource, SodaVideo};
use crate::soda::matched_pairs;
use crate::words::{MeasuredPairs, PairMetric};

/// The most pairs of events of a video whose matching is traced, which takes a byte for each.
const MOST_TRACED: usize = 1 << 26;

/// For each video with predictions, by its index, how these fit each reference file.
pub(crate) type VideoLinks = IndexMap<usize, Vec<Option<EventLinks>>>;

/// Returns true for the sources whose matching is the evidence: each reference file alone, prepared as fujiso/SODA
/// does.
pub(crate) fn is_kept((source, only): (SodaSource, Option<usize>)) -> bool {
    source == SodaSource::MERGED && only.is_some()
}

/// The evidence of all videos from the events of each reference file.
pub(crate) fn of_videos<'e>(
    sources: impl Iterator<Item = (Option<usize>, &'e SodaEvents<'e>)>,
    n_files: usize,
    measured: &MeasuredPairs<'_>,
) -> VideoLinks {
    let mut all = VideoLinks::new();
    for (file, events) in sources {
        let videos: Vec<(&usize, &SodaVideo<'_>)> = events.videos.iter().collect();
        let links = videos.into_par_iter().map(|(v, video)| (*v, links(events, video, measured)));
        for (v, links) in links.collect::<Vec<_>>() {
            let files = all.entry(v).or_insert_with(|| vec![None; n_files]);
            if let Some(place) = file.and_then(|file| files.get_mut(file)) {
                *place = links;
            }
        }
    }
    all
}

/// How the predictions of a video fit the events of one file.
fn links(events: &SodaEvents<'_>, video: &SodaVideo<'_>, measured: &MeasuredPairs<'_>) -> Option<EventLinks> {
    let [Some(references)] = &video.files[..] else { return None };
    let predictions = &video.predictions;
    if references.len().saturating_mul(predictions.len()) > MOST_TRACED {
        return None;
    }
    let overlap = |i: usize, j: usize| events.overlap(&references[i], &predictions[j], 0.0);
    let score = |i: usize, j: usize| {
        measured.segment(PairMetric::Meteor, events.pair(references[i].1, predictions[j].1))[0]
    };
    let link = |reference: usize, j: usize, is_match: bool| {
        let (overlap, score) = (overlap(reference, j), score(reference, j));
        EventLink { reference, overlap, score, is_match }
    };
    let nearest = |j: usize| {
        let overlaps =
            (0..references.len()).map(|i| (i, overlap(i, j))).filter(|(_, overlap)| *overlap > 0.0);
        overlaps.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| link(i, j, false))
    };
    let mut links: Vec<Option<EventLink>> = (0..predictions.len()).map(nearest).collect();
    let size = (references.len(), predictions.len());
    let value = |i: usize, j: usize| {
        let overlap = overlap(i, j);
        if overlap > 0.0 { overlap * score(i, j) } else { 0.0 }
    };
    for (i, j) in matched_pairs(size, value) {
        links[j] = Some(link(i, j, true));
    }
    let is_missed = |i: &usize| (0..predictions.len()).all(|j| overlap(*i, j) < LEAST_OVERLAP);
    Some(EventLinks { links, missed: (0..references.len()).filter(is_missed).collect() })
}

impl EventFile {
    /// The events of the reference files on an axis of time, without systems.
    pub(crate) fn timelines(references: &[Self]) -> Timelines {
        let none = Self::default();
        let duration = |id: &str| references.iter().find_map(|file| file.durations.get(id).copied());
        let of_video = |video: Video<'_>| Timeline {
            id: video.id.to_owned(),
            duration: duration(video.id),
            references: video.references.iter().map(|events| events.map(by_start)).collect(),
            systems: Vec::new(),
        };
        Timelines {
            references: references.iter().map(|file| file.name.clone()).collect(),
            systems: Vec::new(),
            videos: Video::all(references, &none).into_iter().map(of_video).collect(),
        }
    }

    /// Adds the events of this file of results to `timelines`, with their evidence.
    pub(crate) fn add_to(&self, timelines: &mut Timelines, name: &str, mut evidence: VideoLinks) {
        timelines.systems.push(name.to_owned());
        let n_files = timelines.references.len();
        for (v, video) in timelines.videos.iter_mut().enumerate() {
            let events = self.videos.get(&video.id).map(|events| PredictedEvents {
                events: by_start(events),
                files: evidence.swap_remove(&v).unwrap_or_else(|| vec![None; n_files]),
            });
            video.systems.push(events);
        }
    }
}

/// The events in the order in which they are matched.
fn by_start(events: &[Event]) -> Vec<TimedCaption> {
    let mut sorted: Vec<&Event> = events.iter().collect();
    sorted.sort_by(|a, b| a.start.total_cmp(&b.start));
    sorted.into_iter().map(|event| TimedCaption(event.start, event.end, event.caption.clone())).collect()
}
