//! The committed golden values: a worked example and hostile videos, scored by the reference programs.

use serde_json::Value;

use capeval_dense::boxes::{BoxForm, BoxOptions, predictions, references, score};

use crate::golden::{Tally, check_runs};
use crate::support::{metrics, runs};

#[test]
fn the_committed_random_videos_equal_those_of_the_programs() {
    let golden: Value = serde_json::from_str(include_str!("../../../../testdata/dense/random.json")).unwrap();
    check_runs("random", runs(&golden["runs"].to_string()), |name| golden["inputs"][name].to_string());
}

#[test]
fn the_committed_objects_equal_those_of_scan2cap() {
    let Some(metrics) = metrics() else { return };
    let golden: Value =
        serde_json::from_str(include_str!("../../../../testdata/dense/objects.json")).unwrap();
    let reference = references(&golden["references"].to_string(), "r").unwrap();
    let system = predictions(&golden["matched"].to_string(), "p").unwrap();
    let options = BoxOptions { forms: vec![BoxForm::Scan2Cap.into()], segments: false, intervals: None };
    let report = score(("r", &reference), vec![("p".to_owned(), system)], &options, &metrics).unwrap();
    let mut tally = Tally::default();
    for (name, theirs) in golden["values"].as_object().unwrap() {
        let measures = &report.systems[0].forms[0].measures;
        let ours = measures.iter().find(|measure| measure.name == *name).map(|measure| measure.value.0);
        tally.number(name, ours, theirs);
    }
    assert!(tally.n == 14 && tally.faults.is_empty(), "{:?}", tally.faults);
}

#[test]
fn the_committed_examples_equal_those_of_the_programs() {
    let golden: Value = serde_json::from_str(include_str!("../../../../testdata/dense/micro.json")).unwrap();
    let file = |name: &str| golden["inputs"][name.rsplit('/').next().unwrap()].to_string();
    check_runs("committed", runs(&golden["runs"].to_string()), file);
}
