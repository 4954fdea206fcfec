//! Boxes through the reader: m@kIoU, the benchmark and regions against the values of the programs, and refusals.

use capeval_dense::boxes::{
    BoxForm, BoxOptions, ChosenForm, Predictions, References, predictions, references, score,
};
use capeval_dense::{DenseReport, WordMetric, WordMetrics};
use capeval_evaluate::registry::Resources;
use capeval_testkit::real_text;
use serde_json::Value;

use crate::golden::{Tally, input, name};
use crate::support::{metrics, runs};

fn scored(files: (&str, &str), form: impl Into<ChosenForm>, metrics: &WordMetrics) -> DenseReport {
    let options = BoxOptions { forms: vec![form.into()], segments: true, intervals: None };
    let read = |name: &str| input(name).unwrap();
    let reference = references(&read(files.0), files.0).unwrap();
    let system = predictions(&read(files.1), files.1).unwrap();
    score((files.0, &reference), vec![("p".to_owned(), system)], &options, metrics).unwrap()
}

fn value(report: &DenseReport, name: &str, at: Option<&str>) -> Option<f64> {
    let measures = &report.systems[0].forms[0].measures;
    let measure = measures.iter().find(|measure| measure.name == name)?;
    match at {
        None => Some(measure.value.0),
        Some(at) => measure.at.iter().find(|(label, _)| label == at).map(|(_, value)| value.0),
    }
}

fn finish(what: &str, tally: &Tally) {
    eprintln!("{what}: {} values compared, {} differ", tally.n, tally.faults.len());
    assert!(tally.n > 0 && tally.faults.is_empty(), "{:#?}", &tally.faults[..tally.faults.len().min(20)]);
}

#[test]
fn objects_and_their_benchmark_equal_those_of_scan2cap() {
    let (Some(metrics), Some(golden)) = (metrics(), real_text("golden/dense/boxes3d.json.gz")) else {
        return;
    };
    let mut tally = Tally::default();
    for run in runs(&golden) {
        let is_benchmark = run.name == "scanbox";
        let (file, form) = match is_benchmark {
            true => ("inputs/scan_boxes_pred.json", BoxForm::Scan2CapBenchmark),
            false => ("inputs/scan_matched.json", BoxForm::Scan2Cap),
        };
        let report = scored(("inputs/scan_refs.json", file), form, &metrics);
        for (threshold, values) in run.value["values"].as_object().unwrap() {
            if !is_benchmark && threshold == "0" {
                continue;
            }
            let mut check = |measure: String, theirs: &Value| {
                tally.number(&format!("{form} {measure}"), value(&report, &measure, None), theirs);
            };
            for (key, theirs) in values.as_object().unwrap() {
                if !is_benchmark {
                    check(format!("{}@{threshold}", name(key)), theirs);
                    continue;
                }
                let part = key.trim_end_matches("-score");
                for (metric, ours) in [("cider", "cider-d"), ("rouge", "rouge-l"), ("meteor", "meteor")] {
                    check(format!("{ours}-{part}@{threshold}"), &theirs[metric]);
                }
                for (k, theirs) in theirs["bleu"].as_array().unwrap().iter().enumerate() {
                    check(format!("bleu-{}-{part}@{threshold}", k + 1), theirs);
                }
            }
        }
    }
    finish("boxes of scenes", &tally);
}

#[test]
fn regions_are_read_and_equal_those_of_scenic() {
    let (Some(metrics), Some(golden)) = (metrics(), real_text("golden/dense/regions.json.gz")) else {
        return;
    };
    let files = ("inputs/regions_refs.json", "inputs/regions_pred.json");
    let report = scored(files, BoxForm::DenseCapScenic, &metrics);
    let mut tally = Tally::default();
    for run in runs(&golden) {
        for (setting, values) in run.value["values"].as_object().unwrap() {
            let form = [("keep_empty", "keep-empty"), ("in_720", "in-720")];
            let form =
                form.iter().filter(|(ending, _)| setting.ends_with(ending)).map(|(_, setting)| *setting);
            let numpy = run.name.ends_with("numpy 1").then_some("numpy-1");
            let form = ["densecap-scenic"].into_iter().chain(form).chain(numpy).collect::<Vec<_>>().join(":");
            let report = scored(files, form.parse::<ChosenForm>().unwrap(), &metrics);
            assert_eq!(report.systems[0].forms[0].form, form);
            for (key, theirs) in values.as_object().unwrap() {
                let ours = match key.as_str() {
                    "mAP" => value(&report, "map", None),
                    "mAP_detection" => value(&report, "map-detection", None),
                    key => match key.strip_prefix("mAP_iou") {
                        Some(label) => value(&report, "map", Some(&label.replace('_', " "))),
                        None => value(&report, "map-detection", key.strip_prefix("mAP_detection_iou")),
                    },
                };
                tally.number(key, ours, theirs);
            }
        }
    }
    finish("regions", &tally);
    for (text, words) in [
        ("densecap-scenic:in-72", "did you mean in-720"),
        ("densecap-lua:keep-empty", "has no settings"),
        ("densecap", "did you mean densecap-"),
    ] {
        let refusal = text.parse::<ChosenForm>().unwrap_err();
        assert!(format!("{refusal}; {}", refusal.remedy().unwrap()).contains(words), "{refusal}");
    }
    // The Lua program keeps empty captions and boxes of no area, so it only comes near.
    let lua = scored(files, BoxForm::DenseCapLua, &metrics);
    let gap = value(&lua, "map-detection", None).unwrap() - value(&report, "map-detection", None).unwrap();
    assert!(gap.abs() < 0.05, "{gap}");
}

const OBJECTS: &str = r#"[
  {"scene_id": "s", "object_id": "1", "object_name": "chair", "token": ["a", "red", "chair"],
   "bbox": {"min": [0, 0, 0], "max": [1, 1, 1]}},
  {"scene_id": "s", "object_id": 2, "object_name": "table", "token": ["the", "table"],
   "bbox": {"center": [5, 5, 0.5], "size": [1, 1, 1]}}]"#;

/// The metrics that need no data.
fn light() -> WordMetrics {
    let wanted = [WordMetric::Bleu, WordMetric::Rouge, WordMetric::Cider];
    WordMetrics::new(&Resources::default(), &wanted).unwrap()
}

fn run(reference: &str, predicted: &str, form: BoxForm) -> Result<DenseReport, capeval_metric::Refusal> {
    let reference = references(reference, "r.json")?;
    let system = predictions(predicted, "p.json")?;
    let options = BoxOptions { forms: vec![form.into()], segments: false, intervals: None };
    score(("r.json", &reference), vec![("p".to_owned(), system)], &options, &light())
}

#[test]
fn boxes_and_matched_captions_of_the_same_objects_score_the_same() {
    let boxes = r#"{"s": [
        {"caption": "sos a red chair eos", "box": {"min": [0, 0, 0], "max": [1, 1, 0.8]}, "score": 0.9},
        {"caption": "sos no eos", "box": {"min": [0, 0, 0], "max": [1, 1, 0.3]}, "score": 0.8},
        {"caption": "sos the table eos", "box": {"min": [9, 9, 9], "max": [10, 10, 10]}, "score": 0.7}]}"#;
    let matched = r#"{"s|1|chair": {"caption": "sos a red chair eos", "iou": 0.8}}"#;
    let short = r#"{"s|1": {"caption": ["a red chair"], "iou": 0.8}}"#;
    let runs = [boxes, matched, short].map(|text| run(OBJECTS, text, BoxForm::Scan2Cap).unwrap());
    for name in ["cider-d@0.25", "bleu-4@0.5", "rouge-l@0.5"] {
        let values = runs.each_ref().map(|report| value(report, name, None).unwrap());
        assert!(values[0] > 0.0 && values.iter().all(|value| *value == values[0]), "{name}: {values:?}");
    }
    let remarks = &runs[2].systems[0].remarks;
    assert!(remarks[0].contains("1 object without a caption"), "{remarks:?}");
    assert!(remarks[1].contains("sos and eos were added"), "{remarks:?}");
    let benchmark = run(OBJECTS, boxes, BoxForm::Scan2CapBenchmark).unwrap();
    let of = |part: &str| value(&benchmark, &format!("rouge-l-{part}@0.5"), None).unwrap();
    // Three boxes and two objects, one of which has a right box.
    assert!((of("precision") * 3.0 - of("recall") * 2.0).abs() < 1e-12 && of("recall") > 0.0);
}

#[test]
fn what_is_no_box_is_refused_with_its_place() {
    let good = r#"{"s|1|chair": {"caption": "sos a eos", "iou": 0.8}}"#;
    let cases = [
        ("{}", good, "no list of objects"),
        ("[]", good, "an empty list"),
        (r#"[{"scene_id": "s"}]"#, good, "entry 1 has no scene_id and object_id"),
        (r#"[{"scene_id": "s", "object_id": 1}]"#, good, "entry 1 has no token"),
        (r#"[{"scene_id": "s", "object_id": 1, "token": [1]}]"#, good, "no text"),
        (r#"[{"scene_id": "s", "object_id": 1, "token": ["a"], "bbox": [1, 2, 3]}]"#, good, "eight corners"),
        (
            r#"{"annotations": [{"image_id": 1, "bbox": [1, 2], "caption": "a"}]}"#,
            good,
            "entry 1 has no bbox",
        ),
        (
            r#"{"annotations": [{"image_id": 1.5, "bbox": [1, 2, 3, 4], "caption": "a"}]}"#,
            good,
            "whole number",
        ),
        (r#"{"annotations": []}"#, "[]", "r.json has no images"),
        (OBJECTS, r#"{"s|1|chair": {"caption": "a", "iou": 2}}"#, "from 0 to 1"),
        (OBJECTS, r#"{"s|1|chair": {"caption": "a"}}"#, "has no iou"),
        (OBJECTS, r#"{"s|1|chair": {"iou": 0.5}}"#, "has no caption"),
        (OBJECTS, r#"{"chair": {"caption": "a", "iou": 0.5}}"#, "no key such as scene|object|name"),
        (OBJECTS, r#"{"s": [{"caption": "a", "box": [[0, 0, 0]]}]}"#, "s, box 1 has no box of eight corners"),
        (OBJECTS, r#"{"s": [{"box": {"min": [0, 0, 0], "max": [1, 1, 1]}}]}"#, "s, box 1 has no caption"),
        (OBJECTS, r#"[{"image_id": 1, "bbox": [1, 2, 3, 4], "caption": "a"}]"#, "has no score"),
        (OBJECTS, r#"[{"image_id": 1, "bbox": [1, 2, 3, 4], "caption": "a", "score": 1}]"#, "cannot compare"),
        (OBJECTS, "7", "no predictions"),
        (OBJECTS, "{\"s\": [NaN]}", "line 1"),
    ];
    for (reference, predicted, part) in cases {
        let refusal = run(reference, predicted, BoxForm::Scan2Cap).expect_err(part);
        let said = format!("{refusal}; {}", refusal.remedy().unwrap());
        assert!(said.contains(part), "{predicted}: {said}");
    }
    let said = run(OBJECTS, good, BoxForm::Scan2CapBenchmark).unwrap_err();
    assert!(said.remedy().unwrap().to_string().contains("how many boxes"), "{said}");
    let missing = run(
        OBJECTS,
        r#"{"t": [{"caption": "a", "box": {"min": [0, 0, 0], "max": [1, 1, 1]}}]}"#,
        BoxForm::Scan2CapBenchmark,
    );
    let report = missing.unwrap();
    assert!(report.systems[0].forms[0].stops[0].contains("scene s has no boxes"));
    assert!(report.systems[0].remarks[0].contains("1 scene that the references lack"));
    let (References::Objects(_), Predictions::Scenes(_)) =
        (references(OBJECTS, "r").unwrap(), predictions("{\"s\": []}", "p").unwrap())
    else {
        panic!("other kinds");
    };
}
