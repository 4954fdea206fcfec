//! The numbers that pycocoevalcap publishes for its own example.

use crate::program::{json, shared, stdout};

#[test]
fn the_published_numbers_come_out() {
    let Some(references) = shared("data/coco/captions_val2014.json.gz") else { return };
    let Some(candidates) = shared("data/coco/fakecap_results.json") else { return };
    let args = ["score", "-r", &references, &candidates, "--missing", "skip"];
    let report = json(&args);
    let scores = &report["systems"][0]["scores"];
    let published = [
        ("bleu-1", 0.579),
        ("bleu-2", 0.404),
        ("bleu-3", 0.279),
        ("bleu-4", 0.191),
        ("rouge-l", 0.396),
        ("cider-d", 0.600),
    ];
    let table = stdout(&args);
    for (key, value) in published {
        let ours = scores[key].as_f64().unwrap();
        assert!((ours - value).abs() < 0.0005, "{key} is {ours}, not {value}");
        assert!(table.contains(&format!("{value:.3}")), "{key}\n{table}");
    }
    assert_eq!(report["systems"][0]["images"], 1000);
    assert_eq!(report["notices"][0]["code"], "missing:skip");
    assert_eq!(report["notices"][0]["count"], 39504);
}
