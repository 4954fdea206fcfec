//! A saved result of dense captions, of whose videos the browser's tests open the page: it needs no data of METEOR.

use serde_json::{Value, json};

/// The number of videos; the first have 1, 5 and 200 events, and captions that a page must not execute.
const VIDEOS: usize = 300;

/// The result of the systems "first" and "second" against the files "val_1" and "val_2".
pub fn result() -> String {
    let videos: Vec<Value> = (0..VIDEOS).map(video).collect();
    let timelines =
        json!({ "references": ["val_1", "val_2"], "systems": ["first", "second"], "videos": videos });
    let system = |name: &str, value: f64| {
        let measure = json!({ "name": "soda-c", "value": value, "interval": [value - 0.01, value + 0.01], "at": [], "videos": [] });
        let form = json!({ "form": "capeval", "videos": [], "measures": [measure], "stops": [] });
        let counts = json!({ "events": 9, "missing": 1, "empty": 0, "surplus": 0, "reversed": 0, "cut": 0 });
        json!({ "name": name, "counts": counts, "remarks": ["1 video is missing"], "forms": [form] })
    };
    let head = json!({
        "version": "0.1.0", "metrics": [], "measures": [], "run": null, "in_percent": false,
        "resampling": { "resamples": 1_000, "seed": 1, "level": 0.95 },
    });
    json!({
        "result": "dense-captions", "capeval": "0.1.0", "notices": [], "head": head,
        "references": ["val_1", "val_2"], "n_videos": VIDEOS,
        "systems": [system("first", 0.31), system("second", 0.28)], "timelines": timelines,
    })
    .to_string()
}

/// Video number `v`: the second reference file lacks every fourth, and the first system the last one.
fn video(v: usize) -> Value {
    let n = [1, 5, 200].get(v).copied().unwrap_or(2 + v % 5);
    let long = 10.0 * n as f64;
    let references: Vec<Value> = (0..n).map(|k| event(k, 8.0, "a man rides a brown horse")).collect();
    let caption = match v {
        0 => "</script><script>document.title='taken'</script> a man \"><img src=x> \u{202e}",
        _ => "a man rides a horse over the fence",
    };
    let predictions: Vec<Value> =
        (0..n).map(|k| event(k, if k % 4 == 1 { 30.0 } else { 7.0 }, caption)).collect();
    // Every second prediction is matched; the others overlap a reference, one without any word of it, or none.
    let link = |k: usize| match k % 4 {
        0 => json!({ "reference": k, "overlap": 0.875, "score": 0.4, "is_match": true }),
        1 => json!({ "reference": k - 1, "overlap": 0.4, "score": 0.3, "is_match": false }),
        2 => json!({ "reference": k, "overlap": 0.875, "score": 0.01, "is_match": true }),
        _ => Value::Null,
    };
    let missed: Vec<usize> = (0..n).filter(|k| k % 4 == 3).collect();
    let links = json!({ "links": (0..n).map(link).collect::<Vec<_>>(), "missed": missed });
    let has_second = v % 4 != 3;
    let files = |has_second: bool| json!([links, if has_second { links.clone() } else { Value::Null }]);
    let predicted = json!({ "events": predictions, "files": files(has_second) });
    let first = if v + 1 == VIDEOS { Value::Null } else { predicted.clone() };
    json!({
        "id": format!("v_{v}"), "duration": long,
        "references": [references, if has_second { json!(references) } else { Value::Null }],
        "systems": [first, predicted],
    })
}

fn event(k: usize, seconds: f64, caption: &str) -> Value {
    let start = 10.0 * k as f64;
    json!([start, start + seconds, format!("{caption} {k}")])
}
