//! Helpers that the tests share: METEOR's data, event files, and golden files.

use std::collections::BTreeMap;
use std::sync::Arc;

use capeval_dense::{Event, EventFile, WordMetric, WordMetrics};
use capeval_evaluate::registry::Resources;
use capeval_testkit::installed;
use serde_json::Value;

/// METEOR's installed data; `None`, with a word on it, if there are none.
pub fn resources() -> Option<Resources> {
    let file = std::fs::read(installed("meteor")?).unwrap();
    let resources = capeval_meteor::Resources::open(Arc::new(file)).unwrap();
    Some(Resources::default().with(Some(Arc::new(resources))))
}

/// The metrics with METEOR's installed data.
pub fn metrics() -> Option<WordMetrics> {
    Some(WordMetrics::new(&resources()?, WordMetric::ALL).unwrap())
}

fn event(times: &Value, caption: &Value) -> Event {
    Event {
        start: times[0].as_f64().unwrap(),
        end: times[1].as_f64().unwrap(),
        caption: caption.as_str().unwrap().to_owned(),
    }
}

/// Events in the form of ActivityNet.
pub fn events(name: &str, text: &str) -> EventFile {
    let value: Value = serde_json::from_str(text).unwrap();
    let mut file = EventFile { name: name.to_owned(), ..EventFile::default() };
    let videos = value.get("results").unwrap_or(&value).as_object().unwrap();
    if value.get("results").is_some() {
        let keys = ["version", "external_data"].into_iter();
        file.missing_keys = keys.filter(|key| value.get(key).is_none()).collect();
    }
    for (id, video) in videos {
        let found = match video {
            Value::Array(found) => {
                found.iter().map(|one| event(&one["timestamp"], &one["sentence"])).collect()
            }
            _ => {
                let times = video["timestamps"].as_array().unwrap().iter();
                times.zip(video["sentences"].as_array().unwrap()).map(|(a, b)| event(a, b)).collect()
            }
        };
        file.videos.insert(id.clone(), found);
    }
    file
}

/// A run of a golden file.
pub struct Run {
    pub name: String,
    pub value: Value,
    /// The values of each video, by metric: of SODA, by type and metric as in `c/f`.
    pub videos: BTreeMap<String, BTreeMap<String, Value>>,
}

/// All runs of a golden file, with columns that refer to others replaced by what they say.
pub fn runs(text: &str) -> Vec<Run> {
    type Columns = BTreeMap<String, Vec<Value>>;
    fn unpack(
        whole: &str,
        packed: &Value,
        seen: &mut BTreeMap<String, (Vec<String>, Columns)>,
    ) -> Vec<String> {
        let videos: Vec<String> = match &packed["videos"] {
            Value::Array(ids) => ids.iter().map(|id| id.as_str().unwrap().to_owned()).collect(),
            same => seen[same["same_as"].as_str().unwrap()].0.clone(),
        };
        let mut columns = Columns::new();
        for (metric, column) in packed.as_object().unwrap().iter().filter(|(key, _)| *key != "videos") {
            let values = match column {
                Value::Array(values) => values.clone(),
                _ => {
                    let (base_videos, base) = &seen[column["same_as"].as_str().unwrap()];
                    let base = &base[column["column"].as_str().unwrap()];
                    let mut by_video: BTreeMap<&str, &Value> =
                        base_videos.iter().map(String::as_str).zip(base).collect();
                    for (video, value) in column["except"].as_object().unwrap() {
                        by_video.insert(video, value);
                    }
                    videos.iter().map(|video| by_video[video.as_str()].clone()).collect()
                }
            };
            columns.insert(metric.clone(), values);
        }
        seen.insert(whole.to_owned(), (videos.clone(), columns));
        videos
    }
    let golden: Value = serde_json::from_str(text).unwrap();
    let mut seen = BTreeMap::new();
    let mut runs = Vec::new();
    for (name, value) in golden.as_object().unwrap() {
        let mut of_video: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
        let packed = &value["per_video"];
        let mut parts = Vec::new();
        if packed.get("videos").is_some() {
            parts.push((name.clone(), String::new(), packed));
        } else if let Some(kinds) = packed.as_object() {
            for (kind, packed) in kinds.iter().filter(|(_, packed)| packed.get("videos").is_some()) {
                parts.push((format!("{name}/{kind}"), format!("{kind}/"), packed));
            }
        }
        for (whole, prefix, packed) in parts {
            let videos = unpack(&whole, packed, &mut seen);
            for (metric, column) in &seen[&whole].1 {
                for (video, value) in videos.iter().zip(column) {
                    of_video
                        .entry(video.clone())
                        .or_default()
                        .insert(format!("{prefix}{metric}"), value.clone());
                }
            }
        }
        runs.push(Run { name: name.clone(), value: value.clone(), videos: of_video });
    }
    runs
}
