//! Reads SoccerNet's files: events at one moment of a half of a game, scored in windows of 30 seconds.

use capeval_choice::Refusal;

use super::time::{Time, time};
use super::{Builder, Json};

/// The labels that the evaluation counts.
const LABELS: [&str; 13] = [
    "corner",
    "substitution",
    "y-card",
    "whistle",
    "soccer-ball",
    "injury",
    "penalty",
    "yr-card",
    "r-card",
    "soccer-ball-own",
    "penalty-missed",
    "",
    "comments",
];

/// Half of a window, in seconds.
const HALF_WINDOW: f64 = 15.0;

/// The games of a file: one, or several by name; `None` if it is no file of SoccerNet.
pub(super) fn games<'j>(json: &'j Json, name: &str) -> Option<Vec<(String, &'j [Json])>> {
    if let Some(events) = events(json) {
        return Some(vec![(name.to_owned(), events)]);
    }
    let fields = json.fields().filter(|fields| !fields.is_empty())?;
    fields.iter().map(|(game, value)| Some((game.clone(), events(value)?))).collect()
}

fn events(json: &Json) -> Option<&[Json]> {
    let list = json.get("annotations").or_else(|| json.get("predictions"))?.list()?;
    list.iter().all(|event| event.get("gameTime").is_some()).then_some(list)
}

/// Adds the two halves of a game, sorted by start.
pub(super) fn game(name: &str, events: &[Json], out: &mut Builder<'_>) -> Result<(), Refusal> {
    let halves = [format!("{name} #1"), format!("{name} #2")];
    halves.iter().for_each(|half| out.video(half));
    let mut found: Vec<(usize, f64, &str)> = Vec::new();
    for event in events {
        let given = event.get("gameTime").and_then(Json::text).unwrap_or_default();
        let half = given.chars().next().and_then(|half| half.to_digit(10));
        let clock = given.rsplit(' ').next().unwrap_or_default();
        let (Some(half), Some((minutes, seconds))) = (half, clock.split_once(':')) else {
            return Err(refuse(out, name, given));
        };
        let label = event.get("label").and_then(Json::text).unwrap_or_default();
        if half > 2 || half == 0 || !LABELS.contains(&label) {
            continue;
        }
        let (Some(Time::Seconds(minutes)), Some(Time::Seconds(seconds))) = (time(minutes), time(seconds))
        else {
            return Err(refuse(out, name, given));
        };
        let caption = event.get("anonymized").or_else(|| event.get("comment")).and_then(Json::text);
        let Some(caption) = caption else {
            return Err(out.refuse(
                format_args!("{name} has an event at {given} without a caption"),
                "give the field anonymized in labels, and comment in predictions",
            ));
        };
        found.push((half as usize - 1, minutes * 60.0 + seconds, caption));
    }
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    for (half, moment, caption) in found {
        let window = [moment - HALF_WINDOW, moment + HALF_WINDOW].map(Time::Seconds);
        out.event(&halves[half], (window[0], window[1]), caption)?;
    }
    Ok(())
}

fn refuse(out: &Builder<'_>, name: &str, given: &str) -> Refusal {
    out.refuse(
        format_args!("{name} has an event at {given:?}, which is no time of a game"),
        "write the half and the clock, as in 1 - 12:30",
    )
}
