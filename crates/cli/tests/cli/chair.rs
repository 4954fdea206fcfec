//! CHAIR on the command line.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program::{capeval_in, scratch};

fn testdata(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/chair").join(name);
    path.canonicalize().unwrap().display().to_string()
}

#[test]
fn invented_objects_are_counted_and_explained() {
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        fs::write(scratch(&place, name), text).unwrap();
        scratch(&place, name)
    };
    let refs = write("refs.json", r#"{"1": ["a dog and a man"], "2": ["nothing"]}"#);
    let captions = write("captions.json", r#"{"1": "two dogs and a horse", "2": "a puppy"}"#);
    let instances = write("instances.json", r#"{"1": ["dog"], "2": ["cat", "car"]}"#);
    let (objects, nltk) = (testdata("objects.txt"), testdata("nltk_data"));
    let given = ["--objects", &objects, "--nltk-data", &nltk];
    let run = |more: &[&str]| {
        let args = ["score", "-r", &refs, &captions, "-m", "chair:words=pattern,rouge-l"];
        capeval_in(place.path(), &[&args[..], &given, more].concat())
    };
    let (code, stdout, stderr) = run(&["--instances", &instances, "-f", "json", "--ci"]);
    assert_eq!(code, 0, "{stderr}");
    let report: Value = serde_json::from_str(&stdout).unwrap();
    let scores = &report["systems"][0]["scores"];
    assert_eq!((&scores["chair-i"], &scores["chair-s"]), (&Value::from(2.0 / 3.0), &Value::from(1.0)));
    assert!(report["systems"][0]["intervals"]["chair-i"].is_array(), "{stdout}");
    let (code, stdout, stderr) = run(&["--instances", &instances, "--explain", "1"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("hallucinated mentions") && stdout.contains("horse"), "{stdout}");
    let (_, stdout, _) = run(&[]);
    assert!(stdout.contains("instances:none") && stdout.contains("CHAIR knows no instances"), "{stdout}");
    let bad = write("bad.json", r#"{"1": ["cow"]}"#);
    let (code, _, stderr) = run(&["--instances", &bad]);
    let said = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        code == 2 && said.contains("bad.json: image 1: the object \"cow\" is not in the list of objects"),
        "{said}"
    );
}
