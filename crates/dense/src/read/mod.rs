//! Reads files of events in the formats in use. Their structure shows which values are times, which are captions, and
//! which name a video.

mod json;
mod shape;
mod similarity;
mod soccernet;
mod table;
mod texts;
mod time;
mod vtimellm;

use std::collections::BTreeSet;

use capeval_choice::Refusal;
use indexmap::IndexMap;

pub use json::Json;
pub use texts::{read_references, read_results};

use crate::{Event, EventFile};
use time::Time;

/// Finds the answer after the thoughts with which a text begins: `Some(None)` without an answer, `None` without
/// thoughts.
pub type ThoughtsJudge = for<'t> fn(&'t str) -> Option<Option<&'t str>>;

/// What a file does not say itself.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The duration of videos in seconds, for times in percent; usually those of the references.
    pub durations: IndexMap<String, f64>,
    /// The frames per second, for times in frames.
    pub fps: Option<f64>,
    /// Accept texts without times, for forms that compare whole texts.
    pub takes_texts: bool,
    /// The judge of thoughts: it finds the answer after those with which a text begins.
    pub after_thoughts: Option<ThoughtsJudge>,
}

/// Reads the events of a file: JSON, JSON Lines, or a table with a header.
///
/// # Errors
/// When it has another structure, or a time is no number, or an event lacks its caption; with the place and a remedy.
pub fn read(text: &str, name: &str, options: &ReadOptions) -> Result<EventFile, Refusal> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.trim_start();
    if first.is_empty() {
        return Err(Refusal::new(format!("{name} is empty")).with_remedy(EXPECTED));
    }
    if !first.starts_with(['{', '[']) {
        return table::read(text, name, options);
    }
    read_json(&json(text, name)?, name, options)
}

/// Reads JSON, or JSON Lines as a list.
pub(crate) fn json(text: &str, name: &str) -> Result<Json, Refusal> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    Json::read(text, name).or_else(|refusal| {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let parsed: Result<Vec<Json>, Refusal> = lines.map(|line| Json::read(line, name)).collect();
        // The refusal of the whole text has the better place.
        parsed.ok().filter(|lines| lines.len() > 1).map(Json::List).ok_or(refusal)
    })
}

/// Reads the events of a value.
///
/// # Errors
/// As [`read`].
pub fn read_json(json: &Json, name: &str, options: &ReadOptions) -> Result<EventFile, Refusal> {
    let mut file = Builder::new(name, options);
    if let Some(games) = soccernet::games(json, name) {
        games.into_iter().try_for_each(|(game, events)| soccernet::game(&game, events, &mut file))?;
    } else if let Some(lines) = json.list().filter(|lines| vtimellm::is_log(lines)) {
        vtimellm::log(lines, &mut file)?;
    } else {
        shape::file(json, &mut file)?;
    }
    file.finish()
}

/// What a file of events looks like, for those whose file does not.
pub(crate) const EXPECTED: &str = "give JSON such as {\"v_1\": {\"timestamps\": [[0, 10]], \"sentences\": [\"a man rides\"]}} \
    or {\"results\": {\"v_1\": [{\"timestamp\": [0, 10], \"sentence\": \"a man rides\"}]}}, or a table with the columns \
    video, start, end and caption";

/// A file while it is read.
pub(crate) struct Builder<'o> {
    file: EventFile,
    options: &'o ReadOptions,
    /// The videos that have times in percent, and whose duration is not known.
    without_duration: BTreeSet<String>,
}

impl<'o> Builder<'o> {
    fn new(name: &str, options: &'o ReadOptions) -> Self {
        let file = EventFile { name: name.to_owned(), ..EventFile::default() };
        Self { file, options, without_duration: BTreeSet::new() }
    }

    /// A refusal about this file.
    pub fn refuse(
        &self,
        message: impl std::fmt::Display,
        remedy: impl Into<capeval_choice::Remedy>,
    ) -> Refusal {
        Refusal::new(format!("{}: {message}", self.file.name)).with_remedy(remedy)
    }

    /// Returns true if a text begins with thoughts of a language model.
    pub fn has_thoughts(&self, text: &str) -> bool {
        self.options.after_thoughts.is_some_and(|after| after(text).is_some())
    }

    /// Starts a video, which may have no events.
    pub fn video(&mut self, id: &str) {
        self.file.videos.entry(id.to_owned()).or_default();
    }

    /// Returns true if the file has the video already.
    pub fn has(&self, id: &str) -> bool {
        self.file.videos.contains_key(id)
    }

    /// The duration of a video, from this file or from the options.
    pub fn known_duration(&self, id: &str) -> Option<f64> {
        self.file.durations.get(id).or_else(|| self.options.durations.get(id)).copied()
    }

    pub fn duration(&mut self, id: &str, seconds: f64) {
        self.file.durations.insert(id.to_owned(), seconds);
    }

    /// Counts an event whose times were in percent before they were read.
    pub fn count_percent(&mut self) {
        self.file.percent += 2;
    }

    pub fn missing_keys(&mut self, keys: Vec<&'static str>) {
        self.file.missing_keys = keys;
    }

    /// The frames per second, if someone has said.
    pub fn fps(&self) -> Option<f64> {
        self.options.fps
    }

    /// Adds an event.
    pub fn event(&mut self, id: &str, (start, end): (Time, Time), caption: &str) -> Result<(), Refusal> {
        let mut seconds = [0.0; 2];
        for (value, time) in seconds.iter_mut().zip([start, end]) {
            *value = match time {
                Time::Seconds(seconds) => seconds,
                Time::Percent(percent) => {
                    self.file.percent += 1;
                    if !(0.0..=100.0).contains(&percent) {
                        return Err(self.refuse(
                            format_args!("{id} has a time at {percent} %"),
                            "give percent from 0 to 100, or seconds without a sign",
                        ));
                    }
                    let Some(duration) = self.known_duration(id) else {
                        self.without_duration.insert(id.to_owned());
                        continue;
                    };
                    percent * duration / 100.0
                }
            };
        }
        let [start, end] = seconds;
        let event = Event { start, end, caption: caption.to_owned() };
        self.file.videos.entry(id.to_owned()).or_default().push(event);
        Ok(())
    }

    fn finish(self) -> Result<EventFile, Refusal> {
        if let Some(id) = self.without_duration.first() {
            return Err(self.refuse(
                format_args!("{id} has times in percent, and its duration is not known"),
                "add a field duration with its seconds to each video of the references",
            ));
        }
        Ok(self.file)
    }
}
