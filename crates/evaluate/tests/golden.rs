//! Segment and corpus scores against those of pycocoevalcap 1.2, on its own tokens.
//!
//! The golden files lie beside the project (`../shared/golden`, made by `oracle.py --only coco`); without
//! them the tests say so and pass.

use std::collections::HashMap;
use std::io::Read;
use std::path::PathBuf;

use capeval_evaluate::{ReferenceSet, System, evaluate, registry};
use capeval_text::Texts;
use serde_json::Value;

fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var("CAPEVAL_SHARED")
        .map_or_else(|_| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let path = root.join(path);
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
        return None;
    }
    Some(path)
}

fn json(path: &std::path::Path) -> Value {
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The largest relative difference, and how many values differ in any bit.
fn compare(ours: &[f64], golden: &[f64]) -> (f64, usize) {
    assert_eq!(ours.len(), golden.len());
    let worst =
        ours.iter().zip(golden).map(|(a, b)| if a == b { 0.0 } else { (a - b).abs() / b.abs().max(1e-300) });
    (worst.fold(0.0, f64::max), ours.iter().zip(golden).filter(|(a, b)| a.to_bits() != b.to_bits()).count())
}

#[test]
fn scores_equal_pycocoevalcap_on_its_own_tokens() {
    let Some(path) = shared("golden/coco_fakecap.json.gz") else { return };
    let golden = json(&path);
    let strings = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|s| s.as_str().unwrap().to_owned()).collect()
    };
    let candidates = strings(&golden["tokens"]["hyp"]);
    let references: Vec<Vec<String>> =
        golden["tokens"]["refs"].as_array().unwrap().iter().map(strings).collect();
    let ends = references
        .iter()
        .scan(0, |end, refs| {
            *end += refs.len() as u64;
            Some(*end)
        })
        .collect();
    let texts: Texts = references.iter().flatten().map(String::as_str).collect();
    let mut set = ReferenceSet::new(texts, ends);
    let system = System {
        name: "fakecap".into(),
        images: (0..candidates.len() as u32).collect(),
        texts: candidates.iter().map(String::as_str).collect(),
    };
    let metrics: Vec<_> =
        ["bleu", "rouge-l", "cider-d"].map(|m| registry::build(m, &[("tok", "none")]).unwrap()).into();
    let scores = evaluate(&mut set, &[system], &metrics, &());
    let names: HashMap<&str, &str> = [
        ("bleu-1", "Bleu_1"),
        ("bleu-2", "Bleu_2"),
        ("bleu-3", "Bleu_3"),
        ("bleu-4", "Bleu_4"),
        ("rouge-l", "ROUGE_L"),
        ("cider-d", "CIDEr"),
    ]
    .into();
    for metric in &scores[0].metrics {
        let parts = metric.metric.parts();
        let segments = metric.segments();
        for (p, part) in parts.iter().enumerate() {
            let name = names[part.key.as_str()];
            let ours: Vec<f64> = segments.iter().skip(p).step_by(parts.len()).copied().collect();
            let theirs: Vec<f64> =
                golden["segment"][name].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
            let (worst, differing) = compare(&ours, &theirs);
            let corpus = golden["corpus"][name].as_f64().unwrap();
            eprintln!(
                "{name}: {differing} of {} segments differ, by at most {worst:e}; corpus {} against {corpus}",
                ours.len(),
                metric.corpus[p]
            );
            assert!(worst <= 1e-12, "{name} differs by {worst:e}");
            assert!((metric.corpus[p] - corpus).abs() <= 1e-12 * corpus, "{name} of the corpus");
        }
    }
}
