//! Counts what a file of results contains and lacks compared with the references, and says so in words.

use capeval_choice::counted;
use serde::{Deserialize, Serialize};

use crate::checks::with_or_without_prefix;
use crate::{Event, EventFile};

/// The numbers of what a file of results has and lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Predicted events of videos that the references have.
    pub events: usize,
    /// Videos of the references without predictions.
    pub missing: usize,
    /// Videos of the references with an empty list.
    pub empty: usize,
    /// Videos that the references lack.
    pub surplus: usize,
    /// Events that end before they start.
    pub reversed: usize,
    /// Events that start after the end of their video, as the references have it.
    #[serde(default)]
    pub late: usize,
    /// Events after the first 1,000 of a video, which all forms but SODA leave out.
    pub cut: usize,
}

impl Counts {
    pub(crate) fn of(references: &[EventFile], file: &EventFile) -> Self {
        let is_known = |id: &str| references.iter().any(|reference| reference.videos.contains_key(id));
        let mut counts = Self::default();
        for (id, events) in &file.videos {
            if !is_known(id) {
                counts.surplus += 1;
                continue;
            }
            counts.events += events.len();
            counts.empty += usize::from(events.is_empty());
            counts.reversed += events.iter().filter(|event| event.end < event.start).count();
            let duration = references.iter().find_map(|reference| reference.durations.get(id));
            let is_late = |event: &&Event| duration.is_some_and(|end| event.start > *end);
            counts.late += events.iter().filter(is_late).count();
            counts.cut += events.len().saturating_sub(crate::pairs::MOST_PREDICTIONS);
        }
        let videos = crate::event::Video::all(references, file);
        counts.missing = videos.iter().filter(|video| video.predictions.is_none()).count();
        counts
    }

    pub(crate) fn remarks(&self, file: &EventFile) -> Vec<String> {
        let Self { missing, empty, surplus, reversed, late, cut, .. } = *self;
        let mut remarks = Vec::new();
        let mut say = |n: usize, one: &str, what: &str| {
            if n > 0 {
                remarks.push(format!("{}: {} {what}", file.name, counted(n, one)));
            }
        };
        say(
            missing,
            "video",
            "of the references without predictions: 0 in most forms, left out in vidchapters, vtimellm, mart-repetition and vist",
        );
        say(empty, "video", "with an empty list of predictions, which counts 0");
        say(surplus, "video", "that the references lack, left out");
        say(reversed, "event", "with a start after the end, never matched but by scenic and timechat");
        say(late, "event", "with a start after the end of the video: make sure that times are in seconds");
        say(cut, "event", "after the first 1,000 of a video, left out by all forms but SODA's");
        remarks
    }
}

/// A remark on predicted times that are fractions of the videos, where references have seconds.
pub(crate) fn fractions(references: &[EventFile], file: &EventFile) -> Option<String> {
    const FEWEST: usize = 3;
    const SECONDS: f64 = 2.0;
    let known = |id: &String| references.iter().find_map(|reference| reference.videos.get(id));
    let shared: Vec<(&Vec<Event>, &Vec<Event>)> =
        file.videos.iter().filter_map(|(id, events)| Some((events, known(id)?))).collect();
    let last = |events: &[Event]| events.iter().map(|event| event.end).fold(0.0, f64::max);
    let mut predicted = shared.iter().flat_map(|(events, _)| *events);
    let n = shared.iter().map(|(events, _)| events.len()).sum::<usize>();
    let are_fractions = n >= FEWEST
        && predicted.all(|event| (0.0..=1.0).contains(&event.start) && (0.0..=1.0).contains(&event.end))
        && shared.iter().any(|(events, _)| events.iter().any(|event| event.end > event.start));
    let n_longer = shared.iter().filter(|(_, references)| last(references) > SECONDS).count();
    let end = shared.iter().map(|(_, references)| last(references)).fold(0.0, f64::max);
    (are_fractions && n_longer * 2 > shared.len()).then(|| {
        format!(
            "{}: all times are between 0 and 1, and those of the references go up to {end}: times are seconds, so \
             multiply fractions by the duration of each video",
            file.name
        )
    })
}

impl EventFile {
    /// Adds or removes `v_` before all ids if none of them is in the references otherwise, and says so.
    pub fn match_ids(&mut self, references: &[Self]) -> Option<String> {
        let is_known = |id: &str| references.iter().any(|file| file.videos.contains_key(id));
        if self.videos.keys().any(|id| is_known(id)) {
            return None;
        }
        if !self.videos.keys().any(|id| is_known(&with_or_without_prefix(id))) {
            return None;
        }
        let before = self.videos.len();
        self.videos = std::mem::take(&mut self.videos)
            .into_iter()
            .map(|(id, events)| (with_or_without_prefix(&id), events))
            .collect();
        if self.videos.len() < before {
            return Some(format!(
                "{}: some ids with and without v_ became equal, and the later ones count",
                self.name
            ));
        }
        Some(format!("{}: ids match the references once v_ is added or removed, which was done", self.name))
    }
}
