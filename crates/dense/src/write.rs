//! Writes files of events in the formats that programs read, and says what a format cannot represent.

use capeval_choice::{Refusal, Remedy, counted, named};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use crate::read::{ReadOptions, read};
use crate::{Event, EventFile};

named! {
    /// A form of files of events.
    pub enum EventFormat ("form of events") {
        ActivityNet = "activitynet", "events by video, as references of ActivityNet Captions";
        Results = "activitynet-results", "events by video, as results of ActivityNet Captions";
        YouCook2 = "youcook2", "a database of annotations, as YouCook2 has it";
        Lines = "events-jsonl", "JSON Lines with video, start, end and caption";
        Table = "events-csv", "a table with the columns video, start, end and caption";
        VtimeLlm = "vtimellm", "VTimeLLM's log, in whole percent of the video";
        TimeChat = "timechat", "a text for each video, each caption after its times, as TimeChat reads it";
    }
}

/// The largest difference between times that no notice names.
const ROUNDING: f64 = 1e-6;

/// The file in a form, and what it does not hold.
///
/// # Errors
/// When the form has times in percent and a duration is not known.
pub fn write(file: &EventFile, format: EventFormat) -> Result<(String, Option<String>), Refusal> {
    let written = match format {
        EventFormat::ActivityNet => text(&videos(file, |id, events| {
            let times: Vec<[f64; 2]> = events.iter().map(|event| [event.start, event.end]).collect();
            let captions: Vec<&str> = events.iter().map(|event| event.caption.as_str()).collect();
            with_duration(file, id, json!({ "timestamps": times, "sentences": captions }))
        })),
        EventFormat::Results => {
            let event =
                |event: &Event| json!({ "sentence": event.caption, "timestamp": [event.start, event.end] });
            let results = videos(file, |_, events| events.iter().map(event).collect());
            text(&json!({ "version": "VERSION 1.0", "results": results, "external_data": {} }))
        }
        EventFormat::YouCook2 => {
            let database = videos(file, |id, events| {
                let event = |(k, event): (usize, &Event)| json!({ "segment": [event.start, event.end], "id": k, "sentence": event.caption });
                let events: Value = events.iter().enumerate().map(event).collect();
                with_duration(file, id, json!({ "annotations": events }))
            });
            text(&json!({ "database": database }))
        }
        EventFormat::Lines => {
            let line = |(id, event): (&String, &Event)| {
                let Event { start, end, caption } = event;
                json!({ "video": id, "start": start, "end": end, "caption": caption }).to_string() + "\n"
            };
            rows(file).map(line).collect()
        }
        EventFormat::Table => table(file)?,
        EventFormat::VtimeLlm => log(file)?,
        EventFormat::TimeChat => text(&videos(file, |_, events| {
            let event =
                |Event { start, end, caption }: &Event| format!("{start:?} - {end:?} seconds, {caption}");
            Value::from(events.iter().map(event).collect::<Vec<_>>().join(" "))
        })),
    };
    let options = ReadOptions { durations: file.durations.clone(), ..ReadOptions::default() };
    let lost = match read(&written, &file.name, &options) {
        Ok(again) => loss(file, &again, format),
        Err(_) if file.videos.is_empty() => None,
        Err(refusal) => Some(format!("what is written cannot be read again: {refusal}")),
    };
    Ok((written, lost))
}

fn text(value: &Value) -> String {
    format!("{value}\n")
}

fn videos(file: &EventFile, of: impl Fn(&str, &[Event]) -> Value) -> Value {
    Value::Object(file.videos.iter().map(|(id, events)| (id.clone(), of(id, events))).collect::<Map<_, _>>())
}

fn rows(file: &EventFile) -> impl Iterator<Item = (&String, &Event)> {
    file.videos.iter().flat_map(|(id, events)| events.iter().map(move |event| (id, event)))
}

fn with_duration(file: &EventFile, id: &str, mut video: Value) -> Value {
    if let Some(seconds) = file.durations.get(id) {
        video["duration"] = json!(seconds);
    }
    video
}

fn table(file: &EventFile) -> Result<String, Refusal> {
    let unwritten = |error: &dyn std::fmt::Display| Refusal::new(format!("{}: {error}", file.name));
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record(["video", "start", "end", "caption"]).map_err(|error| unwritten(&error))?;
    for (id, event) in rows(file) {
        let [start, end] = [event.start, event.end].map(|time| format!("{time:?}"));
        out.write_record([id, &start, &end, &event.caption]).map_err(|error| unwritten(&error))?;
    }
    let bytes = out.into_inner().map_err(|error| unwritten(&error))?;
    String::from_utf8(bytes).map_err(|error| unwritten(&error))
}

fn log(file: &EventFile) -> Result<String, Refusal> {
    let mut out = String::new();
    for (id, events) in &file.videos {
        let Some(duration) = file.durations.get(id).filter(|seconds| **seconds > 0.0) else {
            return Err(Refusal::new(format!(
                "{}: the duration of {id} is not known, and a log of VTimeLLM has times in percent of it",
                file.name
            ))
            .with_remedy(Remedy::say("choose another form, or add a field duration to each video")));
        };
        let percent = |time: f64, less: f64| ((100.0 * time / duration).round() - less).clamp(0.0, 99.0);
        let event = |event: &Event| {
            let [start, end] = [percent(event.start, 0.0), percent(event.end, 1.0)];
            json!({ "timestamps": format!("from {start:02} to {end:02}"), "event": event.caption })
        };
        let answer = Value::from_iter(events.iter().map(event)).to_string();
        out += &format!("{}\n", json!({ "video_id": id, "task": "captioning", "answer": answer }));
    }
    Ok(out)
}

/// What is not read again as it was.
fn loss(file: &EventFile, again: &EventFile, format: EventFormat) -> Option<String> {
    let by_id: IndexMap<&str, &Vec<Event>> =
        again.videos.iter().map(|(id, all)| (id.as_str(), all)).collect();
    let (mut n_videos, mut n_times, mut n_captions) = (0, 0, 0);
    for (id, events) in &file.videos {
        let Some(found) = by_id.get(id.as_str()).filter(|found| found.len() == events.len()) else {
            n_videos += 1;
            continue;
        };
        for (event, found) in events.iter().zip(found.iter()) {
            let differs = |a: f64, b: f64| (a - b).abs() > ROUNDING;
            n_times += usize::from(differs(event.start, found.start) || differs(event.end, found.end));
            n_captions += usize::from(event.caption != found.caption);
        }
    }
    let said = [
        (n_videos, "video", "without events or with other ones"),
        (n_times, "event", "with other times"),
        (n_captions, "event", "with another caption"),
    ];
    let said = said.into_iter().filter(|(n, ..)| *n > 0);
    let said: Vec<String> = said.map(|(n, what, how)| format!("{} {how}", counted(n, what))).collect();
    (!said.is_empty())
        .then(|| format!("the form {} does not hold everything: {}", format.name(), said.join(", ")))
}
