//! Segment and corpus scores against those of pycocoevalcap 1.2, on its own tokens.
//!
//! The golden files lie beside the project (`../shared/golden`, made by `oracle.py --only coco`); without
//! them the tests say so and pass.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says what it compared"
)]

mod beside;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use capeval_evaluate::registry::Resources;
use capeval_evaluate::{ReferenceSet, System, evaluate, registry};
use capeval_text::Texts;
use serde_json::Value;

use beside::{json, shared};

/// METEOR's resources as `capeval data install meteor` has left them; without them METEOR is not compared.
fn meteor_resources() -> Option<Arc<capeval_meteor::Resources>> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let home = || variable("HOME").map(|home| home.join(".local/share"));
    let folder = variable("CAPEVAL_DATA")
        .or_else(|| Some(variable("XDG_DATA_HOME").or_else(home)?.join("capeval")))
        .unwrap_or_default();
    let Ok(bytes) = std::fs::read(folder.join("meteor-1.5.bin")) else {
        eprintln!("METEOR is not compared: run `capeval data install meteor`");
        return None;
    };
    let resources = capeval_meteor::Resources::open(Arc::new(bytes), capeval_meteor::Check::Content);
    Some(Arc::new(resources.unwrap()))
}

/// The largest relative difference, and how many values differ in any bit.
fn compare(ours: &[f64], golden: &[f64]) -> (f64, usize) {
    assert_eq!(ours.len(), golden.len());
    let worst =
        ours.iter().zip(golden).map(|(a, b)| if a == b { 0.0 } else { (a - b).abs() / b.abs().max(1e-300) });
    (worst.fold(0.0, f64::max), ours.iter().zip(golden).filter(|(a, b)| a.to_bits() != b.to_bits()).count())
}

const NAMES: [(&str, &str); 7] = [
    ("meteor", "METEOR"),
    ("bleu-1", "Bleu_1"),
    ("bleu-2", "Bleu_2"),
    ("bleu-3", "Bleu_3"),
    ("bleu-4", "Bleu_4"),
    ("rouge-l", "ROUGE_L"),
    ("cider-d", "CIDEr"),
];

/// Scores the segments and holds every number against the golden file, whose ids are in the same order.
fn hold(label: &str, references: &[Vec<String>], candidates: &[String], tokenizer: &str, golden: &Value) {
    let ends = references.iter().scan(0, |end, refs| {
        *end += refs.len() as u64;
        Some(*end)
    });
    let ends = ends.collect();
    let texts: Texts = references.iter().flatten().map(String::as_str).collect();
    let mut set = ReferenceSet::new(texts, ends);
    let system = System {
        name: label.into(),
        images: (0..candidates.len() as u32).collect(),
        texts: candidates.iter().map(String::as_str).collect(),
    };
    let resources = Resources { meteor: meteor_resources(), ..Resources::default() };
    let wanted = ["bleu", "rouge-l", "cider-d", "meteor"];
    let wanted = &wanted[..if resources.meteor.is_some() { 4 } else { 3 }];
    let common = [("tok", tokenizer)];
    let metrics: Vec<_> =
        wanted.iter().map(|m| registry::build_from(m, &common, &resources).unwrap()).collect();
    let scores = evaluate(&mut set, &[system], &metrics, &());
    let names: HashMap<&str, &str> = NAMES.into();
    for metric in &scores[0].metrics {
        let parts = metric.metric.parts();
        let segments = metric.segments();
        for (p, part) in parts.iter().enumerate() {
            let name = names[part.key.as_str()];
            let ours: Vec<f64> = segments.iter().skip(p).step_by(parts.len()).copied().collect();
            let theirs = golden["segment"][name].as_array().unwrap();
            let theirs: Vec<f64> = theirs.iter().map(|x| x.as_f64().unwrap()).collect();
            let (worst, differing) = compare(&ours, &theirs);
            let corpus = golden["corpus"][name].as_f64().unwrap();
            let n = ours.len();
            eprintln!(
                "{label} {name}: {differing} of {n} segments differ, by at most {worst:e}; corpus {} against {corpus}",
                metric.corpus[p]
            );
            if part.key == "meteor" {
                // METEOR's statistics are whole numbers, so that nothing is lost in sums.
                assert!(differing == 0 && metric.corpus[p].to_bits() == corpus.to_bits(), "{label}: METEOR");
            }
            assert!(worst <= 1e-12, "{label}: {name} differs by {worst:e}");
            assert!((metric.corpus[p] - corpus).abs() <= 1e-12 * corpus, "{label}: {name} of the corpus");
        }
    }
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|s| s.as_str().unwrap().to_owned()).collect()
}

/// Reads a file of captions by image id.
fn captions(path: &str) -> Option<HashMap<String, Vec<String>>> {
    let path = shared(path)?;
    let file = std::fs::File::open(&path).unwrap();
    let options = capeval_corpus::ReadOptions::references();
    let captions = capeval_corpus::read(file, &path.display().to_string(), &options).unwrap();
    let mut by_id: HashMap<String, Vec<String>> = HashMap::new();
    for (id, text) in captions.iter() {
        by_id.entry(id.to_string()).or_default().push(text.to_owned());
    }
    Some(by_id)
}

/// Scores raw captions, tokenised here, against what the reference programs gave.
fn hold_files(references: &str, candidates: &str, golden: &str) {
    let (Some(references), Some(candidates), Some(path)) =
        (captions(references), captions(candidates), shared(golden))
    else {
        return;
    };
    let golden_file = json(&path);
    // One of the files was made with the images' file names for ids.
    let number = |id: String| match id.strip_prefix("COCO_val2014_") {
        Some(name) => name.trim_end_matches(".jpg").trim_start_matches('0').to_owned(),
        None => id,
    };
    let ids: Vec<String> = strings(&golden_file["ids"]).into_iter().map(number).collect();
    let references: Vec<Vec<String>> = ids.iter().map(|id| references[id].clone()).collect();
    let candidates: Vec<String> = ids.iter().map(|id| candidates[id][0].clone()).collect();
    hold(golden, &references, &candidates, "ptb", &golden_file);
}

#[test]
fn scores_equal_pycocoevalcap_on_its_own_tokens() {
    let Some(path) = shared("golden/coco_fakecap.json.gz") else { return };
    let golden = json(&path);
    let candidates = strings(&golden["tokens"]["hyp"]);
    let references: Vec<Vec<String>> =
        golden["tokens"]["refs"].as_array().unwrap().iter().map(strings).collect();
    hold("fakecap tokens", &references, &candidates, "none", &golden);
}

#[test]
fn scores_of_the_published_example_are_equal() {
    hold_files(
        "data/coco/captions_val2014.json.gz",
        "data/coco/fakecap_results.json",
        "golden/coco_fakecap.json.gz",
    );
}

#[test]
fn scores_of_40504_leave_one_out_images_are_equal() {
    hold_files("data/coco/loo_refs.json.gz", "data/coco/loo_hyps.json.gz", "golden/coco_loo_40504.json.gz");
}

#[test]
fn scores_of_six_published_systems_are_equal() {
    for system in
        ["satic", "scn_lstm", "showedittell_rl", "showedittell_xe", "smurf_m2transformer_c2", "magic_magic"]
    {
        hold_files(
            "data/coco_karpathy_test/refs.json.gz",
            &format!("data/coco_karpathy_test/systems/{system}.json.gz"),
            &format!("golden/karpathy_{system}.json.gz"),
        );
    }
}
