//! Paragraphs, stories, objects and repetition against the values of the reference programs.

use capeval_dense::read::{ReadOptions, read};
use capeval_dense::regions::{Region, RegionOptions, SizedImage, regions};
use capeval_dense::texts::{
    Album, SceneObject, TextScores, joined_paragraphs, objects, paragraphs, repetition, stories,
};
use capeval_testkit::real_text;
use serde_json::Value;

use crate::golden::{Tally, input, name};
use crate::support::{events, metrics, resources, runs};

/// Compares the scores of texts with values over all and of each item.
fn compare(tally: &mut Tally, place: &str, scores: &TextScores, values: &Value, items: Option<&Value>) {
    let measure = |golden: &str| {
        let name = name(golden.trim_start_matches("para_").trim_start_matches("Para_"));
        scores.measures.iter().find(|measure| measure.name == name)
    };
    for (golden, theirs) in values.as_object().unwrap().iter().filter(|(key, _)| !key.starts_with("num_")) {
        tally.number(&format!("{place} {golden}"), measure(golden).map(|measure| measure.value), theirs);
    }
    for (id, theirs) in items.and_then(Value::as_object).into_iter().flatten() {
        let at = scores.ids.iter().position(|known| known == id);
        for (golden, theirs) in theirs.as_object().unwrap() {
            let ours = measure(golden).and_then(|measure| Some(measure.videos.get(at?)?[0]));
            tally.number(&format!("{place} {id} {golden}"), ours, theirs);
        }
    }
}

fn finish(what: &str, tally: &Tally) {
    eprintln!("{what}: {} values compared, {} differ", tally.n, tally.faults.len());
    assert!(tally.n > 0 && tally.faults.is_empty(), "{:#?}", &tally.faults[..tally.faults.len().min(20)]);
}

#[test]
fn paragraphs_equal_those_of_mart_and_pdvc() {
    let Some(metrics) = metrics() else { return };
    let mut tally = Tally::default();
    for file in ["synthetic", "mdvc"] {
        let Some(golden) = real_text(&format!("golden/dense/{file}.json.gz")) else { return };
        for run in runs(&golden) {
            if !matches!(run.value["program"].as_str(), Some("pdvcpara" | "martpara")) {
                continue;
            }
            let about = &run.value["run"];
            let references: Vec<_> = about["references"]
                .as_array()
                .unwrap()
                .iter()
                .map(|name| {
                    serde_json::from_str::<Value>(&input(name.as_str().unwrap()).unwrap())
                        .unwrap()
                        .as_object()
                        .unwrap()
                        .iter()
                        .map(|(id, text)| (id.clone(), text.as_str().unwrap().to_owned()))
                        .collect()
                })
                .collect();
            let predictions = events("p", &input(about["predictions"].as_str().unwrap()).unwrap());
            let scores = paragraphs(&references, &predictions, &metrics).unwrap();
            let videos = serde_json::to_value(&run.videos).unwrap();
            compare(&mut tally, &run.name, &scores, &run.value["values"], Some(&videos));
        }
    }
    finish("paragraphs", &tally);
}

#[test]
fn joined_paragraphs_equal_those_of_scenic_and_timechat() {
    let Some(metrics) = metrics() else { return };
    let mut tally = Tally::default();
    let Some(golden) = real_text("golden/dense/synthetic.json.gz") else { return };
    let run = runs(&golden).into_iter().find(|run| run.value["program"] == "scenicpara").unwrap();
    let file = |name: &str| events(name, &input(name).unwrap());
    let references = ["inputs/syn_ref_a.json", "inputs/syn_ref_b.json"].map(file);
    let scores = joined_paragraphs(&references, &file("inputs/syn_pred.json"), " ", &metrics).unwrap();
    compare(&mut tally, "scenic", &scores, &run.value["values"], None);
    let golden = real_text("golden/dense/timechat.json.gz").unwrap();
    let run = runs(&golden).into_iter().find(|run| run.name == "timechat timechat").unwrap();
    let file = |name: &str| read(&input(name).unwrap(), name, &ReadOptions::default()).unwrap();
    let references = [file("data/timechat/example_gt_file.json")];
    let predictions = file("data/timechat/example_pred_file.json");
    let scores = joined_paragraphs(&references, &predictions, ". ", &metrics).unwrap();
    compare(&mut tally, "timechat", &scores, &run.value["para"], None);
    finish("joined paragraphs", &tally);
}

#[test]
fn repetition_equals_that_of_mart() {
    let mut tally = Tally::default();
    for file in ["synthetic", "mdvc", "timechat"] {
        let Some(golden) = real_text(&format!("golden/dense/{file}.json.gz")) else { return };
        for run in runs(&golden) {
            if run.value["program"] != "repetition" {
                continue;
            }
            let about = &run.value["run"];
            let references = events("r", &input(about["references"][0].as_str().unwrap()).unwrap());
            let predictions = events("p", &input(about["predictions"].as_str().unwrap()).unwrap());
            let scores = repetition(&references, &predictions);
            if run.value.get("errors").is_some() {
                assert!(scores.unwrap_err().to_string().contains("IndexError"));
                continue;
            }
            let videos = serde_json::to_value(&run.videos).unwrap();
            compare(&mut tally, &run.name, &scores.unwrap(), &run.value["values"], Some(&videos));
        }
    }
    finish("repetition", &tally);
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[test]
fn stories_equal_those_of_vist() {
    let (Some(metrics), Some(golden)) = (metrics(), real_text("golden/dense/stories.json.gz")) else {
        return;
    };
    let run = runs(&golden).into_iter().next().unwrap();
    let albums: Value = serde_json::from_str(&input("inputs/stories.json").unwrap()).unwrap();
    let album = |(id, value): (&String, &Value)| {
        let prediction = match &value["prediction"] {
            Value::String(text) => vec![text.clone()],
            list => list.as_array().map(|_| texts(list))?,
        };
        let stories = value["stories"].as_array().unwrap().iter().map(texts).collect();
        Some(Album { id: id.clone(), stories, prediction })
    };
    let albums: Vec<Album> = albums.as_object().unwrap().iter().filter_map(album).collect();
    let scores = stories(&albums, &metrics).unwrap();
    let mut tally = Tally::default();
    compare(&mut tally, "vist", &scores, &run.value["values"], run.value.get("per_album"));
    finish("stories", &tally);
}

#[test]
fn objects_equal_those_of_scan2cap() {
    let (Some(metrics), Some(golden)) = (metrics(), real_text("golden/dense/boxes3d.json.gz")) else {
        return;
    };
    let run = runs(&golden).into_iter().find(|run| run.name == "scan").unwrap();
    let rows: Value = serde_json::from_str(&input("inputs/scan_refs.json").unwrap()).unwrap();
    let matched: Value = serde_json::from_str(&input("inputs/scan_matched.json").unwrap()).unwrap();
    let mut all: Vec<SceneObject> = Vec::new();
    for row in rows.as_array().unwrap() {
        let part = |key: &str| row[key].as_str().unwrap();
        let id = format!("{}|{}|{}", part("scene_id"), part("object_id"), part("object_name"));
        if !all.iter().any(|object| object.id == id) {
            let found = matched
                .get(&id)
                .map(|one| (one["caption"].as_str().unwrap().to_owned(), one["iou"].as_f64().unwrap()));
            all.push(SceneObject { id: id.clone(), found, ..SceneObject::default() });
        }
        let object = all.iter_mut().find(|object| object.id == id).unwrap();
        object.descriptions.push(texts(&row["token"]));
    }
    let mut tally = Tally::default();
    let columns = texts(&run.value["columns"]);
    for (threshold, values) in run.value["values"].as_object().unwrap() {
        let scores = objects(&all, threshold.parse().unwrap(), &metrics).unwrap();
        let of_object = |row: &Value| -> Value {
            columns.iter().cloned().zip(row.as_array().unwrap().iter().cloned()).collect()
        };
        let rows = run.value["per_object"][threshold].as_object().unwrap();
        let items: Value = rows.iter().map(|(id, row)| (id.clone(), of_object(row))).collect();
        compare(&mut tally, threshold, &scores, values, Some(&items));
    }
    finish("objects", &tally);
    // The reader of events knows nothing of objects.
    assert!(read("{\"a\": {\"caption\": \"x\", \"iou\": 1}}", "f", &ReadOptions::default()).is_err());
}

#[test]
fn regions_equal_those_of_scenic() {
    let (Some(resources), Some(golden)) = (resources(), real_text("golden/dense/regions.json.gz")) else {
        return;
    };
    let parse = |name: &str| serde_json::from_str::<Value>(&input(name).unwrap()).unwrap();
    let (references, predictions) = (parse("inputs/regions_refs.json"), parse("inputs/regions_pred.json"));
    let region = |value: &Value| Region {
        image: value["image_id"].as_i64().unwrap(),
        bbox: [0, 1, 2, 3].map(|side| value["bbox"][side].as_f64().unwrap()),
        caption: value["caption"].as_str().unwrap().to_owned(),
        score: value["score"].as_f64().unwrap_or(0.0),
    };
    let list = |value: &Value| value.as_array().unwrap().iter().map(region).collect::<Vec<_>>();
    let image = |value: &Value| SizedImage {
        id: value["id"].as_i64().unwrap(),
        longer_side: value["width"].as_f64().unwrap().max(value["height"].as_f64().unwrap()),
    };
    let images: Vec<SizedImage> = references["images"].as_array().unwrap().iter().map(image).collect();
    let (references, predictions) = (list(&references["annotations"]), list(&predictions));
    let mut tally = Tally::default();
    for run in runs(&golden) {
        for (setting, values) in run.value["values"].as_object().unwrap() {
            let options = RegionOptions {
                ignores_empty: !setting.ends_with("keep_empty"),
                in_720: setting.ends_with("in_720"),
                is_numpy_2: !run.name.ends_with("numpy 1"),
                ..RegionOptions::default()
            };
            let scores = regions(&images, &references, &predictions, options, &resources).unwrap();
            for (name, theirs) in values.as_object().unwrap() {
                let ours = scores.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
                tally.number(&format!("{} {setting} {name}", run.name), ours, theirs);
            }
        }
    }
    finish("regions", &tally);
}
