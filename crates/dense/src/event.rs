//! The data of this crate: events in time with captions, by video and file.

use indexmap::IndexMap;

/// A caption of a part of a video.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The start in seconds.
    pub start: f64,
    /// The end in seconds; before the start, if the file says so.
    pub end: f64,
    /// The caption.
    pub caption: String,
}

/// The events of a file, by video, in the order of the file: order is part of what the programs compute.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventFile {
    /// The name of the file, for messages.
    pub name: String,
    /// The events of each video.
    pub videos: IndexMap<String, Vec<Event>>,
    /// The duration of each video in seconds, if the file says it.
    pub durations: IndexMap<String, f64>,
    /// The number of times that are percent in the file.
    pub percent: usize,
    /// The keys `version` and `external_data` that the first programs require of results and that are missing.
    pub missing_keys: Vec<&'static str>,
}

/// What one video has in all files.
#[derive(Clone, Debug)]
pub(crate) struct Video<'a> {
    pub id: &'a str,
    /// The predicted events; `None` if the results lack the video.
    pub predictions: Option<&'a [Event]>,
    /// The events of each reference file that has the video.
    pub references: Vec<Option<&'a [Event]>>,
}

impl<'a> Video<'a> {
    /// The videos of the reference files, in order of first appearance.
    pub fn all(references: &'a [EventFile], predictions: &'a EventFile) -> Vec<Self> {
        let mut ids: indexmap::IndexSet<&str> = indexmap::IndexSet::new();
        for file in references {
            ids.extend(file.videos.keys().map(String::as_str));
        }
        let of = |file: &'a EventFile, id: &str| file.videos.get(id).map(Vec::as_slice);
        ids.into_iter()
            .map(|id| Self {
                id,
                predictions: of(predictions, id),
                references: references.iter().map(|file| of(file, id)).collect(),
            })
            .collect()
    }

    /// The first `most` predicted events, which are all that a program reads; none if the results lack the video.
    pub fn first_predictions(&self, most: usize) -> &'a [Event] {
        let all = self.predictions.unwrap_or_default();
        &all[..all.len().min(most)]
    }
}
