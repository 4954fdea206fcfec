//! Reads VTimeLLM's log: answers of a model in JSON Lines, with times in percent of the video, as its evaluation reads
//! them.
//!
//! Quirks kept on purpose: times are read by their place in the text (`from 05 to 29`), events before an error are
//! kept, neighbours with the same caption are merged, and an end is moved by one percent.

use capeval_choice::Refusal;

use super::similarity::ratio;
use super::{Builder, Json, time::Time};

/// The similarity above which neighbours are one event.
const SAME: f64 = 0.98;

/// An event in whole percent.
struct Answer {
    start: f64,
    end: f64,
    caption: String,
}

/// Returns true for lines of such a log.
pub(super) fn is_log(lines: &[Json]) -> bool {
    let is_answer = |line: &Json| ["task", "answer", "video_id"].iter().all(|key| line.get(key).is_some());
    !lines.is_empty() && lines.iter().all(is_answer)
}

/// Adds the videos of a log; the durations are those of the references.
pub(super) fn log(lines: &[Json], out: &mut Builder<'_>) -> Result<(), Refusal> {
    // A later line of a video replaces what the earlier said, in its place.
    let mut answers: indexmap::IndexMap<String, Vec<Answer>> = indexmap::IndexMap::new();
    for line in lines {
        if line.get("task").and_then(Json::text) != Some("captioning") {
            continue;
        }
        let text = |key| line.get(key).and_then(Json::text).unwrap_or_default();
        answers.insert(text("video_id").to_owned(), events(text("answer")));
    }
    for (id, events) in answers {
        out.video(&id);
        for Answer { start, end, caption } in merged(events) {
            let Some(duration) = out.known_duration(&id) else {
                return Err(out.refuse(
                    format_args!("the log has times in percent of {id}, whose duration is not known"),
                    "give references that have the video, with its duration in seconds",
                ));
            };
            let both = [start * duration / 100.0, (end + 1.0) * duration / 100.0].map(Time::Seconds);
            out.count_percent();
            out.event(&id, (both[0], both[1]), &caption)?;
        }
    }
    Ok(())
}

/// The events of an answer up to the first that cannot be read.
fn events(answer: &str) -> Vec<Answer> {
    let list = answer.split('\n').find_map(|line| line.get(line.find('[')?..=line.rfind(']')?));
    let Some(Json::List(items)) = list.and_then(|list| Json::read(list, "").ok()) else { return Vec::new() };
    let event = |item: &Json| {
        let times: Vec<char> = item.get("timestamps")?.text()?.chars().collect();
        let whole = |digits: &[char]| digits.iter().collect::<String>().trim().parse::<i32>().ok();
        let start = whole(times.get(5..times.len().min(7))?)?;
        let end = whole(&times[times.len().saturating_sub(2)..])?;
        let caption = item.get("event")?.text()?.to_owned();
        Some(Answer { start: f64::from(start), end: f64::from(end), caption })
    };
    items.iter().map_while(event).collect()
}

fn merged(events: Vec<Answer>) -> Vec<Answer> {
    let mut kept: Vec<Answer> = Vec::new();
    for next in events {
        match kept.last_mut() {
            Some(last)
                if (-1.0..=1.0).contains(&(next.start - last.end))
                    && ratio(&last.caption, &next.caption) > SAME =>
            {
                last.end = next.end;
            }
            _ => kept.push(next),
        }
    }
    kept
}
