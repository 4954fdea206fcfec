//! Large sets of real captions: segment and corpus scores against those of the reference programs.
//!
//! Captions and golden values lie in the folder of real data, which CONTRIBUTING.md describes. A test whose files are
//! missing prints `skipped: …` and passes; the cases of `testdata` run anyway.

use std::collections::HashMap;

use capeval_evaluate::registry::{self, Resources};
use capeval_testkit::{real, real_text};
use serde_json::Value;

use crate::support::{build, build_from, meteor_resources, score};

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

/// A candidate and its references.
type Segment = (String, Vec<String>);

/// Scores the segments and compares every number with the golden file, whose ids are in the same order.
fn compare_all(label: &str, segments: &[Segment], tokenizer: &str, golden: &Value) {
    let resources = Resources::default().with(meteor_resources());
    let wanted = ["bleu", "rouge-l", "cider-d", "meteor"];
    let wanted = &wanted[..if resources.has::<capeval_meteor::Resources>() { 4 } else { 3 }];
    let wanted: Vec<String> = wanted.iter().map(|metric| format!("{metric}:tok={tokenizer}")).collect();
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    let scores = score(&build_from(&wanted, &resources), segments);
    let names: HashMap<&str, &str> = NAMES.into();
    for metric in &scores {
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

/// A JSON file.
fn json(name: &str) -> Option<Value> {
    Some(serde_json::from_str(&real_text(name)?).unwrap())
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|s| s.as_str().unwrap().to_owned()).collect()
}

/// Reads a file of captions by image id.
fn captions(path: &str) -> Option<HashMap<String, Vec<String>>> {
    let path = real(path)?;
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
fn compare_files(references: &str, candidates: &str, golden: &str) {
    let (Some(references), Some(candidates), Some(golden_file)) =
        (captions(references), captions(candidates), json(golden))
    else {
        return;
    };
    // One of the files was made with the images' file names for ids.
    let number = |id: String| match id.strip_prefix("COCO_val2014_") {
        Some(name) => name.trim_end_matches(".jpg").trim_start_matches('0').to_owned(),
        None => id,
    };
    let ids: Vec<String> = strings(&golden_file["ids"]).into_iter().map(number).collect();
    let segment = |id: &String| (candidates[id][0].clone(), references[id].clone());
    let segments: Vec<Segment> = ids.iter().map(segment).collect();
    compare_all(golden, &segments, "ptb", &golden_file);
}

#[test]
fn scores_equal_pycocoevalcap_on_its_own_tokens() {
    let Some(golden) = json("golden/coco_fakecap.json.gz") else { return };
    let references = golden["tokens"]["refs"].as_array().unwrap().iter().map(strings);
    let segments: Vec<Segment> = strings(&golden["tokens"]["hyp"]).into_iter().zip(references).collect();
    compare_all("fakecap tokens", &segments, "none", &golden);
}

#[test]
fn scores_of_the_published_example_are_equal() {
    compare_files(
        "data/coco/captions_val2014.json.gz",
        "data/coco/fakecap_results.json",
        "golden/coco_fakecap.json.gz",
    );
}

#[test]
fn scores_of_40504_leave_one_out_images_are_equal() {
    compare_files(
        "data/coco/loo_refs.json.gz",
        "data/coco/loo_hyps.json.gz",
        "golden/coco_loo_40504.json.gz",
    );
}

#[test]
fn scores_of_six_published_systems_are_equal() {
    for system in
        ["satic", "scn_lstm", "showedittell_rl", "showedittell_xe", "smurf_m2transformer_c2", "magic_magic"]
    {
        compare_files(
            "data/coco_karpathy_test/refs.json.gz",
            &format!("data/coco_karpathy_test/systems/{system}.json.gz"),
            &format!("golden/karpathy_{system}.json.gz"),
        );
    }
}

/// The 1,000 images of coco-caption's example, as `oracle.py` read them, with their golden scores.
fn fakecap() -> Option<(Value, Vec<Segment>)> {
    let golden = json("golden/coco_fakecap.json.gz")?;
    let results = json("data/coco/fakecap_results.json")?;
    let captions = json("data/coco/captions_val2014.json.gz")?;
    let clean = |text: &Value| text.as_str().unwrap().replace('\r', " ").trim().to_owned();
    let mut references: HashMap<i64, Vec<String>> = HashMap::new();
    for annotation in captions["annotations"].as_array().unwrap() {
        let image = annotation["image_id"].as_i64().unwrap();
        references.entry(image).or_default().push(clean(&annotation["caption"]));
    }
    let candidates: HashMap<i64, String> = results
        .as_array()
        .unwrap()
        .iter()
        .map(|result| (result["image_id"].as_i64().unwrap(), clean(&result["caption"])))
        .collect();
    let ids: Vec<i64> =
        golden["ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().parse().unwrap()).collect();
    let segments = ids.iter().map(|id| (candidates[id].clone(), references[id].clone())).collect();
    Some((golden, segments))
}

fn suite(name: &str) -> Vec<String> {
    registry::SUITES.iter().find(|suite| suite.name == name).unwrap().metrics()
}

#[test]
fn rouge_155_equals_the_perl_script_on_a_thousand_images() {
    let Some((golden, segments)) = fakecap() else { return };
    let (mut n_values, mut n_averages) = (0, 0);
    for (name, stem) in [("rouge-1.5.5", ""), ("rouge-155-stem", "stem.")] {
        for (formula, letter) in [("average", "A"), ("best", "B")] {
            let spec = format!("{}:formula={formula}", suite(name)[0]);
            let scores = score(&build(&[spec]), &segments).swap_remove(0);
            let parts = scores.metric.parts();
            let segments = scores.segments();
            for (p, part) in parts.iter().enumerate() {
                // `ROUGE-SU* F (1.5.5)` is `rouge155.A.ROUGE-SU*.F` there.
                let label: Vec<&str> = part.label.split(' ').collect();
                let key = format!("rouge155.{stem}{letter}.{}.{}", label[0], label[1]);
                let expected = golden["segment"][&key].as_array().unwrap();
                for (ours, theirs) in segments.iter().skip(p).step_by(parts.len()).zip(expected) {
                    assert_eq!(*ours, theirs.as_f64().unwrap(), "{key}");
                    n_values += 1;
                }
                assert_eq!(scores.corpus[p], golden["corpus"][&key].as_f64().unwrap(), "{key} on average");
                n_averages += 1;
            }
        }
    }
    assert_eq!((n_values, n_averages), (120_000, 120));
}

#[test]
fn rouge_score_equals_the_python_package_on_a_thousand_images() {
    let Some((golden, segments)) = fakecap() else { return };
    let all = score(&build(&suite("rouge-score")), &segments);
    for (scores, stem) in all.iter().zip(["", ".stem"]) {
        let parts = scores.metric.parts();
        let segments = scores.segments();
        for (p, part) in parts.iter().enumerate() {
            let label: Vec<&str> = part.label.split(' ').collect();
            let name = match label[1] {
                "F" => "fmeasure",
                "R" => "recall",
                _ => "precision",
            };
            let key = format!("rouge_score.{}{stem}.{name}", label[0]);
            let expected = golden["segment"][&key].as_array().unwrap();
            for (ours, theirs) in segments.iter().skip(p).step_by(parts.len()).zip(expected) {
                assert_eq!(*ours, theirs.as_f64().unwrap(), "{key}");
            }
            let mean = golden["corpus"][&key].as_f64().unwrap();
            assert!((scores.corpus[p] - mean).abs() <= 1e-12, "{key} on average");
        }
    }
}

#[test]
fn sacrebleu_equals_the_python_package_on_a_thousand_images() {
    let Some((golden, segments)) = fakecap() else { return };
    let names = ["sacrebleu.BLEU", "sacrebleu.chrF2", "sacrebleu.chrF2++", "sacrebleu.TER"];
    for (metric, name) in score(&build(&suite("sacrebleu-family")), &segments).iter().zip(names) {
        let theirs = golden["segment"][name].as_array().unwrap();
        let ours = metric.segments();
        assert_eq!(ours.len(), theirs.len());
        let differences = ours.iter().zip(theirs).map(|(a, b)| (a - b.as_f64().unwrap()).abs());
        let worst = differences.fold(0.0, f64::max);
        let corpus = (metric.corpus[0] - golden["corpus"][name].as_f64().unwrap()).abs();
        eprintln!("{name}: segments differ by at most {worst:e}, the corpus by {corpus:e}");
        assert!(worst <= 1e-9 && corpus <= 1e-9, "{name}");
    }
}
