//! The structure of JSON with events: objects and lists of videos, of events, and of columns.

use capeval_choice::{Argument, Refusal, Remedy};

use super::time::{Time, events_in_text, span, time};
use super::{Builder, EXPECTED, Json};

/// The keys beside `results` that the first programs require.
const REQUIRED: [&str; 2] = ["version", "external_data"];

/// Adds the events of a whole file.
pub(super) fn file(json: &Json, out: &mut Builder<'_>) -> Result<(), Refusal> {
    if let Some(results) = json.get("results") {
        out.missing_keys(REQUIRED.into_iter().filter(|key| json.get(key).is_none()).collect());
        return videos(results, out);
    }
    // One key around the videos, such as `annotations` or `database`, beside others that describe the file.
    if let Some(fields) = json.fields() {
        let around: Vec<&Json> =
            fields.iter().map(|(_, value)| value).filter(|value| contains_videos(value)).collect();
        if let [one] = around[..]
            && !fields.iter().all(|(_, value)| is_events(value))
        {
            return videos(one, out);
        }
    }
    videos(json, out)
}

/// Returns true for lists and objects of what has a video's events.
fn contains_videos(json: &Json) -> bool {
    match json {
        Json::Object(fields) => !fields.is_empty() && fields.iter().all(|(_, value)| is_events(value)),
        Json::List(list) => !list.is_empty() && list.iter().all(names_video),
        _ => false,
    }
}

/// Returns true for the events of a video: a list of objects, or columns of times and captions.
fn is_events(json: &Json) -> bool {
    match json {
        Json::List(list) => {
            list.iter().all(|one| one.fields().is_some())
                && (list.is_empty() || !list.iter().all(names_video))
        }
        Json::Object(fields) => fields.iter().any(|(_, value)| {
            is_list_of_spans(value) || value.list().is_some_and(|list| !list.is_empty() && is_events(value))
        }),
        _ => false,
    }
}

/// Returns true for an entry that names its video, and not only itself.
fn names_video(json: &Json) -> bool {
    let is_own = |key: &str| matches!(key.to_ascii_lowercase().as_str(), "id" | "name");
    let fields = json.fields().unwrap_or_default();
    let is_nested = fields.iter().any(|(_, value)| is_list_of_spans(value));
    let others: Vec<(String, Json)> =
        fields.iter().filter(|(key, _)| is_nested || !is_own(key)).cloned().collect();
    id_of(&Json::Object(others)).is_some()
}

fn videos(json: &Json, out: &mut Builder<'_>) -> Result<(), Refusal> {
    match json {
        Json::Object(fields) => fields.iter().try_for_each(|(id, value)| {
            out.video(id);
            video(id, value, out)
        }),
        Json::List(list) => list.iter().enumerate().try_for_each(|(k, one)| {
            let Some(id) = id_of(one) else {
                return Err(out.refuse(
                    format_args!("entry {} names no video", k + 1),
                    "name the video of each entry by a field such as video_id",
                ));
            };
            let has_lists = one.fields().into_iter().flatten().any(|(_, value)| {
                value.list().is_some_and(|list| {
                    list.is_empty()
                        || list.iter().any(|item| item.list().is_some() || item.fields().is_some())
                })
            });
            if has_lists && out.has(&id) {
                return Err(out
                    .refuse(format_args!("the video {id} occurs twice"), "merge its events into one entry"));
            }
            out.video(&id);
            if has_lists { video(&id, one, out) } else { record(&id, one, out) }
        }),
        other => Err(out.refuse(format_args!("{} instead of videos", other.kind()), EXPECTED)),
    }
}

/// The name of the video of an entry; of a path, the last part.
pub(super) fn id_of(json: &Json) -> Option<String> {
    let fields = json.fields()?;
    let named = |name: &str| {
        let plain = name.to_ascii_lowercase().replace(['_', '-'], "");
        [
            "videoid",
            "video",
            "vid",
            "imageid",
            "videoname",
            "youtubeid",
            "albumid",
            "albumflickrid",
            "id",
            "name",
        ]
        .iter()
        .position(|known| *known == plain)
    };
    let (_, value) =
        fields.iter().filter_map(|(key, value)| Some((named(key)?, value))).min_by_key(|(rank, _)| *rank)?;
    id_text(value)
}

/// A text or number that names something; of a path, the last part.
pub(super) fn id_text(json: &Json) -> Option<String> {
    match json {
        Json::Text(text) => text.rsplit('/').next().map(str::to_owned),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Adds the events of one video.
fn video(id: &str, json: &Json, out: &mut Builder<'_>) -> Result<(), Refusal> {
    match json {
        Json::List(list) => list.iter().try_for_each(|one| record(id, one, out)),
        Json::Text(text) => match written(text) {
            Some(json) => video(id, &json, out),
            None => spoken(id, text, out),
        },
        Json::Object(fields) => {
            if let Some(duration) = duration(json) {
                let Some(seconds) = duration.filter(|seconds| *seconds >= 0.0) else {
                    return Err(out.refuse(
                        format_args!("the duration of {id} is no number of seconds"),
                        "give a number of seconds, or leave the field out",
                    ));
                };
                out.duration(id, seconds);
            }
            if let Some((_, times)) = fields.iter().find(|(_, value)| is_list_of_spans(value)) {
                return columns(id, times.list().unwrap_or_default(), json, out);
            }
            let lists: Vec<&[Json]> = fields
                .iter()
                .filter_map(|(_, value)| {
                    value.list().filter(|list| list.iter().all(|one| one.fields().is_some()))
                })
                .collect();
            match lists[..] {
                [list] => list.iter().try_for_each(|one| record(id, one, out)),
                // `timestamps` and `sentences` of a video without events.
                [_, ..] if lists.iter().all(|list| list.is_empty()) => Ok(()),
                _ => Err(out.refuse(format_args!("the events of {id} cannot be found"), EXPECTED)),
            }
        }
        other => Err(out.refuse(format_args!("{id} has {} instead of events", other.kind()), EXPECTED)),
    }
}

/// The duration of a video; the inner `None` if it is no number.
fn duration(json: &Json) -> Option<Option<f64>> {
    let value = ["duration", "video_duration", "length"].iter().find_map(|key| json.get(key))?;
    Some(seconds(value))
}

fn seconds(json: &Json) -> Option<f64> {
    match json {
        Json::Number(number) => Some(*number),
        Json::Text(text) => match time(text)? {
            Time::Seconds(seconds) => Some(seconds),
            Time::Percent(_) => None,
        },
        _ => None,
    }
}

fn is_list_of_spans(json: &Json) -> bool {
    json.list().is_some_and(|list| !list.is_empty() && list.iter().all(is_span))
}

/// Returns true for two times, whatever they say: what is wrong in them is found when they are read.
fn is_span(json: &Json) -> bool {
    match json {
        Json::List(both) => {
            both.iter().all(|one| matches!(one, Json::Number(_) | Json::Text(_) | Json::Null))
        }
        Json::Text(text) => span(text).is_some(),
        _ => false,
    }
}

/// Adds events whose times and captions are columns.
fn columns(id: &str, times: &[Json], json: &Json, out: &mut Builder<'_>) -> Result<(), Refusal> {
    let fields = json.fields().unwrap_or_default();
    let texts = |value: &Json| {
        let list = value.list()?;
        list.iter().map(|one| one.text().map(str::to_owned)).collect::<Option<Vec<String>>>()
    };
    let lists: Vec<Vec<String>> = fields
        .iter()
        .filter(|(_, value)| !is_list_of_spans(value))
        .filter_map(|(_, value)| texts(value))
        .collect();
    let captions = match &lists[..] {
        [one] => one.clone(),
        [] => cut(json, times.len()).ok_or_else(|| {
            out.refuse(
                format_args!("{id} has {} times and no list of as many captions", times.len()),
                "give a caption for each pair of times, in a list beside them",
            )
        })?,
        several => match several.iter().filter(|list| list.len() == times.len()).collect::<Vec<_>>()[..] {
            [one] => one.clone(),
            _ => {
                return Err(out.refuse(
                    format_args!("{id} has {} lists of texts", several.len()),
                    "keep only the list of captions",
                ));
            }
        },
    };
    if captions.len() != times.len() {
        return Err(out.refuse(
            format_args!("{id} has {} times and {} captions", times.len(), captions.len()),
            "give a caption for each pair of times",
        ));
    }
    for (value, caption) in times.iter().zip(captions) {
        let both = both_times(id, value, out)?;
        out.event(id, both, &caption)?;
    }
    Ok(())
}

/// The captions of one text, cut as TimeChat cuts it: `pure_cap` at `. `, and `caption` at full stops.
fn cut(json: &Json, n: usize) -> Option<Vec<String>> {
    let pieces: Vec<String> = match (json.get("pure_cap"), json.get("caption")) {
        (Some(whole), _) => whole.text()?.split(". ").map(|piece| format!("{piece}.")).collect(),
        (None, whole) => {
            let pieces = whole?.text()?.split('.').filter(|piece| piece.chars().count() > 5);
            pieces.map(|piece| format!("{}.", piece.trim_matches(' '))).collect()
        }
    };
    (pieces.len() == n).then_some(pieces)
}

/// Adds an event, or the events of a text.
fn record(id: &str, json: &Json, out: &mut Builder<'_>) -> Result<(), Refusal> {
    if let Some(text) = json.text().filter(|text| events_in_text(text).is_ok()) {
        return spoken(id, text, out);
    }
    let Some(fields) = json.fields() else {
        return Err(out.refuse(format_args!("{id} has {} instead of an event", json.kind()), EXPECTED));
    };
    let both = times_of(id, fields, out)?;
    let caption = caption_of(id, fields, out)?;
    match both {
        Some(both) => out.event(id, both, caption),
        None if written(caption).is_some() || events_in_text(caption).is_ok() => {
            video(id, &Json::Text(caption.to_owned()), out)
        }
        None => Err(out.refuse(
            format_args!("an event of {id} has no start and end"),
            "give timestamp: [start, end], or the fields start and end",
        )),
    }
}

/// The list or object of a text in JSON, or in a code fence, as language models write it.
pub(super) fn written(text: &str) -> Option<Json> {
    let inner = match text.split_once("```") {
        Some((_, rest)) => {
            let inner = rest.split_once("```").map_or(rest, |(inner, _)| inner);
            inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric())
        }
        None => text,
    };
    let inner = inner.trim();
    if !(inner.starts_with(['[', '{']) && inner.ends_with([']', '}'])) {
        return None;
    }
    let read = Json::read(inner, "").or_else(|_| Json::read(&inner.replace('\'', "\""), ""));
    let has_events = |json: &Json| match json {
        Json::List(list) => !list.is_empty() && list.iter().all(|one| one.fields().is_some()),
        Json::Object(_) => true,
        _ => false,
    };
    read.ok().filter(has_events)
}

fn spoken(id: &str, text: &str, out: &mut Builder<'_>) -> Result<(), Refusal> {
    if out.has_thoughts(text) {
        return Err(out.refuse(
            format_args!("the text of {id} contains thoughts of a language model"),
            "keep the answer that follows them",
        ));
    }
    let found = events_in_text(text).map_err(|start| {
        out.refuse(
            format_args!("the text of {id} has no times: {start:?}"),
            "write each caption after its times, as in: 0.0 - 12.5 seconds, a man sings.",
        )
    })?;
    found.into_iter().try_for_each(|(start, end, caption)| out.event(id, (start, end), &caption))
}

/// Two times in one value.
fn both_times(id: &str, json: &Json, out: &Builder<'_>) -> Result<(Time, Time), Refusal> {
    let found = match json {
        Json::List(both) => match &both[..] {
            [start, end] => one_time(start).zip(one_time(end)),
            _ => None,
        },
        Json::Text(text) => span(text),
        _ => None,
    };
    found.ok_or_else(|| {
        out.refuse(
            format_args!("the times of an event of {id} are not a start and an end: {}", shown(json)),
            "give two numbers of seconds, or two texts such as 1:30",
        )
    })
}

fn one_time(json: &Json) -> Option<Time> {
    match json {
        Json::Number(seconds) => Some(Time::Seconds(*seconds)),
        Json::Text(text) => time(text),
        _ => None,
    }
}

fn shown(json: &Json) -> String {
    let text = match json {
        Json::Text(text) => text.clone(),
        Json::List(list) => {
            let items: Vec<String> = list.iter().map(shown).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Number(number) => number.to_string(),
        other => other.kind().to_owned(),
    };
    text.chars().take(60).collect()
}

/// The start and the end of an event: a field with both, or two fields by name.
fn times_of(id: &str, fields: &[(String, Json)], out: &Builder<'_>) -> Result<Option<(Time, Time)>, Refusal> {
    if let Some((_, both)) = fields.iter().find(|(_, value)| matches!(value, Json::List(_))) {
        return both_times(id, both, out).map(Some);
    }
    let named = |names: &[&str]| {
        fields.iter().find(|(key, value)| {
            let plain = key.to_ascii_lowercase();
            names.iter().any(|name| plain.contains(name)) && !matches!(value, Json::Object(_))
        })
    };
    let (start, end) = (named(&["start", "begin", "onset"]), named(&["end", "stop", "offset", "finish"]));
    if let (Some((key, start)), Some((other, end))) = (start, end) {
        let mut both = [Time::Seconds(0.0); 2];
        for (found, (key, value)) in both.iter_mut().zip([(key, start), (other, end)]) {
            *found = one_named_time(id, key, value, out)?;
        }
        return Ok(Some((both[0], both[1])));
    }
    let spans = fields.iter().filter(|(key, _)| key.to_ascii_lowercase().contains("time"));
    spans.map(|(_, value)| value).next().map(|value| both_times(id, value, out)).transpose()
}

/// A time whose key may say its unit: frames, milliseconds or percent.
fn one_named_time(id: &str, key: &str, json: &Json, out: &Builder<'_>) -> Result<Time, Refusal> {
    let Some(found) = one_time(json) else {
        return Err(out.refuse(
            format_args!("the {key} of an event of {id} is no time: {}", shown(json)),
            "give a number of seconds, or a text such as 1:30",
        ));
    };
    let lower = key.to_ascii_lowercase();
    let Time::Seconds(value) = found else { return Ok(found) };
    if lower.contains("frame") {
        let Some(fps) = out.fps() else {
            return Err(out.refuse(
                format_args!("{key} counts frames, and the frames per second are not known"),
                Remedy::give(Argument::Fps),
            ));
        };
        return Ok(Time::Seconds(value / fps));
    }
    if lower.contains("percent") {
        return Ok(Time::Percent(value));
    }
    let is_milli = lower.ends_with("_ms") || lower.contains("milli");
    Ok(Time::Seconds(if is_milli { value / 1000.0 } else { value }))
}

/// The caption of an event: the value of a key that files use for captions, or else the only text that is no time and
/// no name.
fn caption_of<'j>(id: &str, fields: &'j [(String, Json)], out: &Builder<'_>) -> Result<&'j str, Refusal> {
    let known = ["sentence", "caption", "text", "description", "comment", "anonymized", "event", "answer"];
    for name in known {
        let of = |(key, value): &'j (String, Json)| {
            let plain = key.to_ascii_lowercase();
            (plain == name || plain == format!("{name}s")).then_some(value)
        };
        if let Some(value) = fields.iter().find_map(of) {
            return value.text().ok_or_else(|| {
                out.refuse(
                    format_args!("a caption of {id} is {}", value.kind()),
                    "give a text; an empty one counts as a caption without words",
                )
            });
        }
    }
    let texts: Vec<&(String, Json)> = fields
        .iter()
        .filter(|(key, value)| {
            let plain = key.to_ascii_lowercase();
            value.text().is_some_and(|text| span(text).is_none() && time(text).is_none())
                && !plain.ends_with("id")
                && plain != "video"
        })
        .collect();
    match texts[..] {
        [(_, Json::Text(text))] => Ok(text),
        [] => Err(out.refuse(
            format_args!("an event of {id} has no caption"),
            "give a field such as sentence; an empty text counts as a caption without words",
        )),
        _ => {
            let names: Vec<&str> = texts.iter().map(|(key, _)| key.as_str()).collect();
            Err(out.refuse(
                format_args!("an event of {id} has several texts: {}", names.join(", ")),
                "call the caption sentence",
            ))
        }
    }
}
