//! Computes SODA for the videos of a file: the captions that are compared, and precision, recall and F1 of each video.

use indexmap::IndexMap;
use rayon::prelude::*;

use crate::Stop;
use crate::event::{Event, Video};
use crate::form::SodaMetric;
use crate::overlap::{ordered_overlap, overlap};
use crate::proposals::f1;
use crate::reading::{ReadTexts, Readings, Texts, ascii};
use crate::soda::{best_matching, traced_pairs};
use crate::words::{MeasuredPairs, PairMetric, VideoNgrams, WantedPairs};

/// The most pairs of events of a video that are matched.
const MOST_CELLS: u64 = 1 << 32;

/// The type of SODA: what is matched, and what is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SodaType {
    /// Matched by overlap from a threshold on, summed by score: types a and b.
    Traced,
    /// Overlap times score: type c.
    Product,
    /// Overlap alone: type d.
    Overlap,
}

/// How a program prepares the events for SODA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SodaSource {
    /// True if the events of all reference files are one list, rather than each file compared alone.
    pub is_merged: bool,
    /// True if predictions are sorted by start.
    pub sorts_predictions: bool,
    /// True if references are sorted by start.
    pub sorts_references: bool,
    /// True if characters beyond ASCII become blanks.
    pub is_ascii: bool,
    /// True if the two ends of an event are put in order.
    pub is_ordered: bool,
    /// True if the references of all files are one text for the tokenizer.
    pub is_one_text: bool,
    /// True if the scores of predictions are put in the order of their numbers written as text, so that those of more
    /// than ten predictions change places.
    pub is_shuffled: bool,
    /// True if the arguments of the metric change places, so that the prediction is the reference.
    pub is_swapped: bool,
    /// True if each video is a file of its own for the tokenizer.
    pub is_video_alone: bool,
}

impl SodaSource {
    /// As fujiso/SODA prepares merged files.
    pub const MERGED: Self = Self {
        is_merged: true,
        sorts_predictions: true,
        sorts_references: true,
        is_ascii: true,
        is_ordered: false,
        is_one_text: false,
        is_shuffled: false,
        is_swapped: true,
        is_video_alone: false,
    };
    /// As fujiso/SODA, each video on its own, so that no other one can change its tokens.
    pub const ALONE: Self = Self { is_video_alone: true, ..Self::MERGED };
    /// As fujiso/SODA prepares several references: each file alone and unsorted.
    pub const MULTI: Self = Self { is_merged: false, sorts_references: false, ..Self::MERGED };
    /// As scenic does.
    pub const SCENIC: Self = Self {
        sorts_predictions: false,
        is_ascii: false,
        is_ordered: true,
        is_one_text: true,
        is_shuffled: true,
        ..Self::MULTI
    };
    /// As SoccerNet does.
    pub const SOCCERNET: Self = Self { is_swapped: false, ..Self::MERGED };

    /// The events of the videos that have predictions, with the numbers of their texts; of one reference file alone, if
    /// `only` names it.
    pub fn events<'a>(self, videos: &[Video<'a>], only: Option<usize>, texts: &mut Texts) -> SodaEvents<'a> {
        let mut number = |event: &'a Event| {
            let caption = &event.caption;
            (event, if self.is_ascii { texts.number(&ascii(caption)) } else { texts.number(caption) })
        };
        let (mut all, mut without_events) = (IndexMap::new(), None);
        for (v, video) in videos.iter().enumerate() {
            let given = match only {
                Some(file) => &video.references[file..=file],
                None => &video.references[..],
            };
            if given.iter().all(Option::is_none) {
                continue;
            }
            let mut files = given.iter().flatten();
            let is_empty = |events: &&[Event]| events.is_empty();
            let lacks_events = match self.is_merged || self.is_one_text {
                true => files.all(is_empty),
                false => files.any(is_empty),
            };
            if lacks_events {
                without_events = without_events.or(Some(v));
            }
            let Some(predictions) = video.predictions else { continue };
            let mut predictions: Vec<_> = predictions.iter().map(&mut number).collect();
            if self.sorts_predictions {
                predictions.sort_by(|a, b| a.0.start.total_cmp(&b.0.start));
            }
            let given = given.iter().map(|file| file.filter(|events| self.is_merged || !events.is_empty()));
            let mut files: Vec<Option<Vec<_>>> = match self.is_merged {
                true => vec![Some(given.flatten().flatten().map(&mut number).collect())],
                false => given.map(|file| Some(file?.iter().map(&mut number).collect())).collect(),
            };
            if self.sorts_references {
                for events in files.iter_mut().flatten() {
                    events.sort_by(|a: &(&Event, u32), b| a.0.start.total_cmp(&b.0.start));
                }
            }
            let mut scored: Vec<usize> = (0..predictions.len()).collect();
            if self.is_shuffled {
                scored.sort_by_cached_key(ToString::to_string);
            }
            all.insert(v, SodaVideo { predictions, scored, files });
        }
        SodaEvents { source: self, videos: all, without_events }
    }
}

/// The events of a source by the index of their video, each with the number of its text.
pub(crate) struct SodaEvents<'a> {
    source: SodaSource,
    pub(crate) videos: IndexMap<usize, SodaVideo<'a>>,
    /// The first video that has no events to compare with, predicted or not.
    without_events: Option<usize>,
}

/// The events of a video as they are matched.
pub(crate) struct SodaVideo<'a> {
    pub predictions: Vec<(&'a Event, u32)>,
    /// By prediction, the one whose score takes its place.
    scored: Vec<usize>,
    pub files: Vec<Option<Vec<(&'a Event, u32)>>>,
}

impl SodaVideo<'_> {
    /// Returns false if a file has so many events that matching takes too long.
    pub fn can_match(&self, file: &[(&Event, u32)]) -> bool {
        file.len() as u64 * self.predictions.len() as u64 <= MOST_CELLS
    }
}

/// Precision, recall and F1 of a video.
pub(crate) type Triple = [f64; 3];

impl SodaEvents<'_> {
    /// Replaces the numbers of texts by those of their readings.
    pub fn read(&mut self, readings: &mut Readings) {
        let Self { source, videos, without_events: _ } = self;
        if source.is_video_alone {
            for video in videos.values_mut() {
                replace(video.predictions.iter_mut().collect(), readings);
                video
                    .files
                    .iter_mut()
                    .flatten()
                    .for_each(|file| replace(file.iter_mut().collect(), readings));
            }
            return;
        }
        replace(videos.values_mut().flat_map(|video| &mut video.predictions).collect(), readings);
        let n_files = videos.values().map(|video| video.files.len()).max().unwrap_or(0);
        if source.is_one_text {
            let files = videos.values_mut().flat_map(|video| video.files.iter_mut().flatten().flatten());
            return replace(files.collect(), readings);
        }
        for k in 0..n_files {
            let events = videos.values_mut().flat_map(|video| video.files[k].iter_mut().flatten());
            replace(events.collect(), readings);
        }
    }

    /// Takes the first of all readings with the same tokens.
    pub fn settle(&mut self, read: &ReadTexts) {
        for video in self.videos.values_mut() {
            let files = video.files.iter_mut().flatten().flatten();
            files.chain(&mut video.predictions).for_each(|event| event.1 = read.same(event.1));
        }
    }

    /// Adds the pairs of type `kind` that must be measured.
    pub fn want(&self, kind: SodaType, metric: PairMetric, thresholds: &[f64], wanted: &mut WantedPairs) {
        for video in self.videos.values() {
            for file in video.files.iter().flatten().filter(|file| video.can_match(file)) {
                match kind {
                    SodaType::Overlap => {}
                    SodaType::Product => {
                        for row in file {
                            for (column, scored) in video.predictions.iter().zip(&video.scored) {
                                if self.overlap(row, column, 0.0) > 0.0 {
                                    wanted.add(metric, self.pair(row.1, video.predictions[*scored].1));
                                }
                            }
                        }
                    }
                    SodaType::Traced => {
                        for threshold in thresholds {
                            for (i, j) in self.traced(video, file, *threshold) {
                                wanted.add(metric, self.pair(file[i].1, video.predictions[j].1));
                            }
                        }
                    }
                }
            }
        }
    }

    /// The first video that a program cannot score.
    pub fn stop(&self, videos: &[Video<'_>]) -> Option<Stop> {
        if let Some(v) = self.without_events {
            return Some(Stop::NoEvents(videos[v].id.to_owned()));
        }
        self.videos.iter().find_map(|(v, video)| {
            let id = || videos[*v].id.to_owned();
            let is_large = video.files.iter().flatten().any(|file| !video.can_match(file));
            is_large.then(|| Stop::TooManyEvents(id()))
        })
    }

    /// The first video for which CIDEr-D has no document with a word, where the programs stop.
    pub fn blank(&self, kind: SodaType, metric: SodaMetric, read: &ReadTexts) -> Option<usize> {
        if kind == SodaType::Overlap || pair_metric(metric).is_some() || self.source.is_video_alone {
            return None;
        }
        let is_blank = |event: &(&Event, u32)| read.sentences.words(event.1 as usize).is_empty();
        let lacks_words = |video: &SodaVideo<'_>| match self.source.is_swapped {
            true => !video.predictions.is_empty() && video.predictions.iter().all(is_blank),
            false => !video.predictions.is_empty() && video.files.iter().flatten().flatten().any(is_blank),
        };
        self.videos.iter().find(|(_, video)| lacks_words(video)).map(|(v, _)| *v)
    }

    /// The scores of each video by the index of its video: for each file that has it and each threshold.
    pub fn scores(
        &self,
        kind: SodaType,
        metric: SodaMetric,
        thresholds: &[f64],
        (measured, read): (&MeasuredPairs<'_>, &ReadTexts),
    ) -> IndexMap<usize, Vec<Option<Vec<Triple>>>> {
        let of_video = |(v, video): (&usize, &SodaVideo<'_>)| {
            let files = video.files.iter().map(|file| {
                let file = file.as_ref()?;
                if video.predictions.is_empty() {
                    // An empty list counts 0 where it is no stop.
                    return Some(vec![[0.0; 3]; thresholds.len()]);
                }
                let score = self.scorer(video, file, metric, (measured, read));
                let of = |threshold: &f64| {
                    let value = self.value(video, file, (kind, *threshold), &score);
                    let (p, r) = (value / video.predictions.len() as f64, value / file.len() as f64);
                    [p, r, f1(p, r)]
                };
                Some(thresholds.iter().map(of).collect())
            });
            (*v, files.collect())
        };
        let all: Vec<(&usize, &SodaVideo<'_>)> = self.videos.iter().collect();
        all.into_par_iter().map(of_video).collect::<Vec<_>>().into_iter().collect()
    }

    fn value(
        &self,
        video: &SodaVideo<'_>,
        file: &[(&Event, u32)],
        (kind, threshold): (SodaType, f64),
        score: &dyn Fn(usize, usize) -> f64,
    ) -> f64 {
        let size = (file.len(), video.predictions.len());
        let overlap = |i: usize, j: usize| self.overlap(&file[i], &video.predictions[j], threshold);
        match kind {
            SodaType::Traced => {
                let pairs = self.traced(video, file, threshold);
                pairs.into_iter().rev().map(|(i, j)| score(i, j)).sum()
            }
            SodaType::Overlap => best_matching(size, overlap),
            SodaType::Product => best_matching(size, |i, j| {
                let overlap = overlap(i, j);
                if overlap > 0.0 { overlap * score(i, j) } else { 0.0 }
            }),
        }
    }

    fn scorer<'s>(
        &'s self,
        video: &'s SodaVideo<'_>,
        file: &'s [(&Event, u32)],
        metric: SodaMetric,
        (measured, read): (&'s MeasuredPairs<'_>, &'s ReadTexts),
    ) -> Box<dyn Fn(usize, usize) -> f64 + 's> {
        let Some((metric, part)) = pair_metric(metric) else {
            let numbers =
                |events: &[(&Event, u32)]| events.iter().map(|(_, text)| *text).collect::<Vec<u32>>();
            let (rows, columns) = (numbers(file), numbers(&video.predictions));
            if !self.source.is_swapped {
                // Each reference is its own document as often as there are predictions, so no n-gram has weight.
                return Box::new(|_, _| 0.0);
            }
            let scores = VideoNgrams::default().ciders(read, &rows, &columns);
            return Box::new(move |i, j| scores[i * columns.len() + j]);
        };
        Box::new(move |i, j| {
            let pair = self.pair(file[i].1, video.predictions[video.scored[j]].1);
            measured.segment(metric, pair)[part]
        })
    }

    fn traced(&self, video: &SodaVideo<'_>, file: &[(&Event, u32)], threshold: f64) -> Vec<(usize, usize)> {
        traced_pairs((file.len(), video.predictions.len()), |i, j| {
            self.overlap(&file[i], &video.predictions[j], threshold)
        })
    }

    /// The overlap of a reference event and a prediction; 0 below the threshold.
    pub fn overlap(&self, row: &(&Event, u32), column: &(&Event, u32), threshold: f64) -> f64 {
        let of = if self.source.is_ordered { ordered_overlap } else { overlap };
        let overlap = of(column.0, row.0);
        if overlap < threshold { 0.0 } else { overlap }
    }

    /// The candidate and the reference of a reference event and a prediction.
    pub fn pair(&self, reference: u32, prediction: u32) -> (u32, u32) {
        if self.source.is_swapped { (reference, prediction) } else { (prediction, reference) }
    }
}

fn replace(events: Vec<&mut (&Event, u32)>, readings: &mut Readings) {
    let numbers: Vec<u32> = events.iter().map(|event| event.1).collect();
    for (event, reading) in events.into_iter().zip(readings.file(&numbers)) {
        event.1 = reading;
    }
}

/// The metric of pairs and its part; `None` for CIDEr-D, which needs the other captions of the video.
pub(crate) fn pair_metric(metric: SodaMetric) -> Option<(PairMetric, usize)> {
    match metric {
        SodaMetric::Cider => None,
        SodaMetric::Meteor => Some((PairMetric::Meteor, 0)),
        SodaMetric::Rouge => Some((PairMetric::Rouge, 0)),
        SodaMetric::Bleu1 => Some((PairMetric::Bleu, 0)),
        SodaMetric::Bleu2 => Some((PairMetric::Bleu, 1)),
        SodaMetric::Bleu3 => Some((PairMetric::Bleu, 2)),
        SodaMetric::Bleu4 => Some((PairMetric::Bleu, 3)),
    }
}
