//! The committed golden values: a worked example and hostile videos, scored by the reference programs.

use serde_json::Value;

use crate::golden::check_runs;
use crate::support::runs;

#[test]
fn the_committed_examples_equal_those_of_the_programs() {
    let golden: Value = serde_json::from_str(include_str!("../../../../testdata/dense/micro.json")).unwrap();
    let file = |name: &str| golden["inputs"][name.rsplit('/').next().unwrap()].to_string();
    check_runs("committed", runs(&golden["runs"].to_string()), file);
}
