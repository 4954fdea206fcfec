//! Events of videos in time, which of them were matched, and what is wrong with each, for pages.

use capeval_choice::Refusal;
use serde::{Deserialize, Serialize};

use crate::damaged;

/// The events of all videos: those of the references, and those that systems predicted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Timelines {
    /// The names of the reference files.
    pub references: Vec<String>,
    /// The names of the systems.
    pub systems: Vec<String>,
    /// The videos.
    pub videos: Vec<Timeline>,
}

/// The events of one video.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Timeline {
    /// The id.
    pub id: String,
    /// The duration in seconds, if a file says it.
    pub duration: Option<f64>,
    /// The events of each reference file, by start; `None` if the file lacks the video.
    pub references: Vec<Option<Vec<TimedCaption>>>,
    /// The events of each system; `None` if its file lacks the video.
    pub systems: Vec<Option<PredictedEvents>>,
}

/// A caption with its start and its end in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimedCaption(pub f64, pub f64, pub String);

/// The events that a system predicts in a video.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PredictedEvents {
    /// The events, by start.
    pub events: Vec<TimedCaption>,
    /// How they fit each reference file; `None` if the file lacks the video or they were not matched.
    pub files: Vec<Option<EventLinks>>,
}

/// How the events of a prediction fit those of a reference file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventLinks {
    /// For each predicted event, the reference that it is matched with or, without a match, overlaps most; `None` if it
    /// overlaps none.
    pub links: Vec<Option<EventLink>>,
    /// The references that no predicted event overlaps by [`LEAST_OVERLAP`].
    pub missed: Vec<usize>,
}

/// A predicted event and a reference that it overlaps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventLink {
    /// The index of the reference.
    pub reference: usize,
    /// The intersection of the two over their union.
    pub overlap: f64,
    /// The score of their captions.
    pub score: f64,
    /// True if they are a pair of the best matching, which is what counts.
    pub is_match: bool,
}

/// The least overlap at which an event is found: the lowest threshold of dense captions.
pub const LEAST_OVERLAP: f64 = 0.3;

/// A pair of events whose captions score less says something else.
const LEAST_SCORE: f64 = 0.05;

/// An event that lasts so many times as long as the reference is too long.
const MOST_TIMES: f64 = 2.0;

/// What is wrong with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventError {
    /// A reference that no predicted event overlaps enough.
    Missed,
    /// A predicted event whose reference is matched with another one.
    Doubled,
    /// A predicted event that lasts much longer than its reference.
    TooLong,
    /// A predicted event in its place whose caption says something else.
    WrongWords,
    /// A predicted event where no reference is.
    Elsewhere,
}

impl EventError {
    /// All errors, in the order of their bits.
    pub const ALL: [Self; 5] =
        [Self::Missed, Self::Doubled, Self::TooLong, Self::WrongWords, Self::Elsewhere];

    /// The words for an event with this error.
    pub fn label(self) -> &'static str {
        match self {
            Self::Missed => "missed",
            Self::Doubled => "doubled",
            Self::TooLong => "too long",
            Self::WrongWords => "wrong words",
            Self::Elsewhere => "no reference there",
        }
    }

    /// What the words mean.
    pub fn meaning(self) -> String {
        match self {
            Self::Missed => format!("no prediction overlaps the reference by {LEAST_OVERLAP}"),
            Self::Doubled => {
                format!("overlaps by {LEAST_OVERLAP} a reference that is matched with another prediction")
            }
            Self::TooLong => format!("lasts more than {MOST_TIMES} times as long as its reference"),
            Self::WrongWords => {
                format!("overlaps its reference by {LEAST_OVERLAP}, and their METEOR is below {LEAST_SCORE}")
            }
            Self::Elsewhere => format!("overlaps no reference by {LEAST_OVERLAP}"),
        }
    }
}

impl TimedCaption {
    fn seconds(&self) -> f64 {
        self.1 - self.0
    }
}

impl EventLinks {
    /// What is wrong with each of the predicted `events`.
    pub fn errors(&self, events: &[TimedCaption], references: &[TimedCaption]) -> Vec<Vec<EventError>> {
        let mut is_taken = vec![false; references.len()];
        for link in self.links.iter().flatten().filter(|link| link.is_match) {
            if let Some(taken) = is_taken.get_mut(link.reference) {
                *taken = true;
            }
        }
        let of_event = |(event, link): (&TimedCaption, &Option<EventLink>)| {
            let Some(link) = link else { return vec![EventError::Elsewhere] };
            let is_there = link.overlap >= LEAST_OVERLAP;
            let is_doubled = !link.is_match && is_taken.get(link.reference).copied().unwrap_or(false);
            let reference = references.get(link.reference);
            let is_long =
                reference.is_some_and(|reference| event.seconds() > MOST_TIMES * reference.seconds());
            let holds = |error: &EventError| match error {
                EventError::Missed => false,
                EventError::Doubled => is_there && is_doubled,
                EventError::TooLong => is_long,
                EventError::WrongWords => is_there && link.score < LEAST_SCORE,
                EventError::Elsewhere => !is_there && !link.is_match,
            };
            EventError::ALL.into_iter().filter(holds).collect()
        };
        events.iter().zip(&self.links).map(of_event).collect()
    }

    /// SODA_c of the video: the F1 of the overlaps times scores of all matches; 0 without events.
    pub fn score(&self, n_references: usize) -> f64 {
        let matches = self.links.iter().flatten().filter(|link| link.is_match);
        let sum: f64 = matches.map(|link| link.overlap * link.score).sum();
        let (precision, recall) = (sum / self.links.len() as f64, sum / n_references as f64);
        if sum > 0.0 { 2.0 * recall * precision / (recall + precision) } else { 0.0 }
    }

    fn is_sound(&self, n_events: usize, n_references: usize) -> bool {
        let links = self.links.iter().flatten().map(|link| link.reference);
        self.links.len() == n_events && links.chain(self.missed.iter().copied()).all(|at| at < n_references)
    }
}

impl Timelines {
    /// Checks that all parts belong together.
    pub fn check(&self) -> Result<(), Refusal> {
        let of_system = |video: &Timeline, system: &PredictedEvents| {
            let fits = |(links, references): (&Option<EventLinks>, &Option<Vec<TimedCaption>>)| match links {
                Some(links) => links.is_sound(system.events.len(), references.as_ref().map_or(0, Vec::len)),
                None => true,
            };
            system.files.len() == video.references.len()
                && system.files.iter().zip(&video.references).all(fits)
        };
        let is_sound = |video: &Timeline| {
            video.references.len() == self.references.len()
                && video.systems.len() == self.systems.len()
                && video.systems.iter().flatten().all(|system| of_system(video, system))
        };
        if self.videos.iter().all(is_sound) { Ok(()) } else { Err(damaged("a video has other events")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caption(start: f64, end: f64) -> TimedCaption {
        TimedCaption(start, end, String::new())
    }

    #[test]
    fn each_error_has_its_rule() {
        let references = [caption(0.0, 10.0), caption(20.0, 25.0), caption(50.0, 60.0)];
        let events = [
            caption(0.0, 10.0),
            caption(0.0, 9.0),
            caption(15.0, 27.0),
            caption(50.0, 60.0),
            caption(80.0, 90.0),
        ];
        let link =
            |reference, overlap, score, is_match| Some(EventLink { reference, overlap, score, is_match });
        let links = EventLinks {
            links: vec![
                link(0, 1.0, 0.5, true),
                link(0, 0.9, 0.4, false),
                link(1, 0.25, 0.3, true),
                link(2, 1.0, 0.0, false),
                None,
            ],
            missed: vec![1],
        };
        let all = links.errors(&events, &references);
        let errors = |k: usize| all[k].iter().map(|error| error.label()).collect::<Vec<_>>();
        assert_eq!(errors(0), [""; 0]);
        assert_eq!(errors(1), ["doubled"]);
        assert_eq!(errors(2), ["too long"]);
        assert_eq!(errors(3), ["wrong words"]);
        assert_eq!(errors(4), ["no reference there"]);
        // (1.0 * 0.5 + 0.25 * 0.3) of 5 and of 3.
        assert!((links.score(3) - 2.0 * 0.575 / 8.0).abs() < 1e-15);
    }
}
