//! Summarises files of events as they were read: videos, events, times and ids, and how results fit the references.

use std::fmt;

use capeval_choice::counted;
use capeval_report::TimedCaption;
use serde::Serialize;

use crate::EventFile;
use crate::counts::Counts;

/// What was read of files of events.
#[derive(Clone, Debug, Serialize)]
pub struct EventInspection {
    /// Each file, the references first.
    pub files: Vec<InspectedFile>,
}

/// What was read of one file.
#[derive(Clone, Debug, Serialize)]
pub struct InspectedFile {
    /// The name.
    pub name: String,
    /// True for references.
    pub is_reference: bool,
    /// The number of videos.
    pub videos: usize,
    /// The number of events.
    pub events: usize,
    /// The number of videos without events.
    pub empty: usize,
    /// The number of ids that begin with `v_`.
    pub prefixed: usize,
    /// The number of videos whose duration the file says.
    pub durations: usize,
    /// The number of times that were percent of the video; the others are seconds.
    pub percent: usize,
    /// The greatest time in seconds.
    pub last: f64,
    /// The first video, and its first event.
    pub first: Option<(String, Option<TimedCaption>)>,
    /// How results fit the references, if there are any.
    pub fit: Vec<String>,
}

impl EventInspection {
    /// Looks at references and results.
    pub fn of(references: &[EventFile], results: Vec<EventFile>) -> Self {
        let mut files: Vec<InspectedFile> =
            references.iter().map(|file| InspectedFile::of(file, true)).collect();
        for mut file in results {
            let mut found = InspectedFile::of(&file, false);
            if !references.is_empty() {
                let n = |file: &EventFile| {
                    let is_known = |id: &&String| references.iter().any(|one| one.videos.contains_key(*id));
                    file.videos.keys().filter(is_known).count()
                };
                let prefix = file.match_ids(references);
                let counts = Counts::of(references, &file);
                found.fit.push(format!("{} of the references", counted(n(&file), "video")));
                found.fit.extend(prefix.into_iter().chain(counts.remarks(&file)));
            }
            files.push(found);
        }
        Self { files }
    }
}

impl InspectedFile {
    fn of(file: &EventFile, is_reference: bool) -> Self {
        let events = || file.videos.values().flatten();
        let first = file.videos.first().map(|(id, events)| {
            let event =
                events.first().map(|event| TimedCaption(event.start, event.end, event.caption.clone()));
            (id.clone(), event)
        });
        Self {
            name: file.name.clone(),
            is_reference,
            videos: file.videos.len(),
            events: events().count(),
            empty: file.videos.values().filter(|events| events.is_empty()).count(),
            prefixed: file.videos.keys().filter(|id| id.starts_with("v_")).count(),
            durations: file.durations.len(),
            percent: file.percent,
            last: events().map(|event| event.start.max(event.end)).fold(0.0, f64::max),
            first,
            fit: Vec::new(),
        }
    }
}

impl fmt::Display for EventInspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for file in &self.files {
            let InspectedFile { name, is_reference, videos, events, empty, prefixed, .. } = file;
            let side = if *is_reference { "references" } else { "results" };
            writeln!(
                f,
                "{name}: {side} of dense captions, {} with {}",
                counted(*videos, "video"),
                counted(*events, "event")
            )?;
            if *empty > 0 {
                writeln!(f, "  {} without events", counted(*empty, "video"))?;
            }
            let ids = match prefixed {
                0 => "ids without v_".to_owned(),
                n if n == videos => "ids with v_".to_owned(),
                n => format!("{n} ids with v_, the others without"),
            };
            let unit = if file.percent > 0 { "percent of the video" } else { "seconds" };
            let durations = match file.durations {
                0 => "no durations".to_owned(),
                n => format!("durations of {}", counted(n, "video")),
            };
            writeln!(f, "  {ids}; times in {unit}, up to {:?} s; {durations}", file.last)?;
            match &file.first {
                Some((id, Some(TimedCaption(start, end, caption)))) => {
                    writeln!(f, "  first: {id}, {start:?} to {end:?} s: {caption}")?;
                }
                Some((id, None)) => writeln!(f, "  first: {id}, without events")?,
                None => {}
            }
            file.fit.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
        }
        Ok(())
    }
}
