//! Numbers made of measures.

use std::collections::BTreeMap;

use capeval::stats::resample::{draws, exchange};
use capeval::stats::{Matrix, Resampling};
use serde_json::Value;

use crate::program::{Run, capeval, quickstart};

const METRICS: [&str; 2] = ["-m", "bleu,rouge-l,cider-d,ter"];

fn run(command: &str, systems: &[&str], rest: &[&str]) -> Run {
    let refs = quickstart("references.json");
    let systems: Vec<String> = systems.iter().map(|name| quickstart(name)).collect();
    let systems: Vec<&str> = systems.iter().map(String::as_str).collect();
    capeval(&[&[command, "-r", &refs], &systems[..], &METRICS[..], rest].concat())
}

fn report(rest: &[&str]) -> Value {
    let run = run("score", &["good.json"], &[rest, &["-f", "json"]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn a_derived_number_is_the_formula_of_the_scores() {
    let report = report(&[
        "--derive",
        "sm = mean(bleu-4, rouge-l, cider-d)",
        "--derive",
        "twice = 2 × sm",
        "--derive",
        "good = 1 - ter",
    ]);
    let score = |key: &str| report["systems"][0]["scores"][key].as_f64().unwrap();
    let sm = (score("bleu-4") + score("rouge-l") + score("cider-d")) / 3.0;
    assert_eq!(score("sm"), sm);
    assert_eq!(score("twice"), 2.0 * sm);
    let measures = report["measures"].as_array().unwrap();
    let measure = |key: &str| measures.iter().find(|measure| measure["key"] == key).unwrap();
    assert_eq!((&measure("sm")["better"], measure("sm")["max"].as_f64()), (&"higher".into(), Some(4.0)));
    assert_eq!(measure("good")["better"], "higher");
    assert!(report["signatures"]["sm"].as_str().unwrap().contains("formula:mean(bleu-4, rouge-l, cider-d)"));
    assert!(report["notices"].to_string().contains("mixed-ranges"));
}

/// The percentiles of the formula over the resamples of its members are those of the program's own intervals: a
/// multiple of one measure has the multiple of its interval.
#[test]
fn intervals_come_from_the_same_resamples() {
    let report = report(&["--derive", "percent_4 = 100*bleu-4", "--ci", "--resamples", "200"]);
    let ends = |key: &str| {
        let ends = report["systems"][0]["intervals"][key].as_array().unwrap().clone();
        ends.iter().map(|end| end.as_f64().unwrap()).collect::<Vec<_>>()
    };
    let scaled: Vec<f64> = ends("bleu-4").iter().map(|end| 100.0 * end).collect();
    assert!(ends("percent_4").iter().zip(&scaled).all(|(a, b)| (a - b).abs() < 1e-9), "{scaled:?}");
}

#[test]
fn groups_and_requirements_have_derived_numbers() {
    let derive = ["--derive", "sm = mean(bleu-4, rouge-l)", "--group-by", "words:candidate"];
    let report = report(&derive);
    for row in report["groups"][0]["groups"].as_array().unwrap() {
        let score = |key: &str| row["scores"][key].as_f64().unwrap();
        assert!((score("sm") - (score("bleu-4") + score("rouge-l")) / 2.0).abs() < 1e-15);
    }
    let required = run("score", &["good.json"], &[&derive[..], &["--require", "sm >= 2"]].concat());
    assert_eq!(required.code, 1, "{}", required.stderr);
}

#[test]
fn a_number_without_a_value_is_named() {
    let derive = ["--derive", "x = rouge-l / (bleu-4 - bleu-4)", "--derive", "y = gmean(rouge-l, -1)"];
    let report = report(&derive);
    let notices = report["notices"].as_array().unwrap();
    let told: Vec<&str> = notices
        .iter()
        .filter(|notice| notice["code"] == "no-value")
        .map(|notice| notice["message"].as_str().unwrap())
        .collect();
    let count = |words: &str| told.iter().filter(|message| message.contains(words)).count();
    assert!(count("x of ") > 0 && count("is infinite") > 0 && count("is no number") > 0, "{told:?}");
}

#[test]
fn bad_formulas_are_refused_with_what_to_do() {
    for (formula, words) in [
        ("sm = mean(bleu-4, metoer)", "nothing is called 'metoer'"),
        ("sm = mean(bleu-4, meteor)", "nothing is called 'meteor'"),
        ("mean(bleu-4)", "it has no name"),
        ("a b = bleu-4", "cannot be the name of a measure"),
        ("bleu-4 = rouge-l", "is something else already"),
        ("x = bleu-4 / 0", "it divides by zero"),
        ("x = bleu-4 / (2 - 2)", "it divides by zero"),
        ("x = 5", "it names no measure"),
        ("x = ", "a value is expected"),
        ("x = median(bleu-4)", "no function is called 'median'"),
        ("x = bleu-4; sideways", "no direction"),
        ("x = percent(bleu-4, ter)", "percent takes one value"),
    ] {
        let run = run("score", &["good.json"], &["--derive", formula]);
        assert_eq!(run.code, 2, "{formula}: {}", run.stdout);
        assert!(run.stderr.contains(words) && run.stderr.contains("help: "), "{formula}: {}", run.stderr);
    }
}

/// ROUGE-L and CIDEr-D of each image of a system, in the order of their ids.
fn means(segments: &str, system: &str) -> Vec<[f64; 2]> {
    let lines = std::fs::read_to_string(segments).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_system = lines.filter(|line| line["system"] == system).map(|line| {
        let score = |key: &str| line["scores"][key].as_f64().unwrap();
        (line["image_id"].as_u64().unwrap(), [score("rouge-l"), score("cider-d")])
    });
    of_system.collect::<BTreeMap<_, _>>().into_values().collect()
}

/// The draws are the documented ones, of images in the order of their ids; all else is counted here.
#[test]
fn intervals_of_derived_numbers_are_those_of_a_program_that_resamples_outside() {
    let folder = tempfile::tempdir().unwrap();
    let segments = crate::program::scratch(&folder, "segments.jsonl");
    let (seed, resamples) = (7_u64, 300_usize);
    let report = report(&[
        "--derive",
        "both = gmean(rouge-l, 1 + cider-d) / max(rouge-l, 0.1)",
        "--ci",
        "--seed",
        &seed.to_string(),
        "--resamples",
        &resamples.to_string(),
        "--segments",
        &segments,
    ]);
    let images = means(&segments, "good");
    let resampling = Resampling { resamples, seed, ..Resampling::default() };
    let mut drawn = draws::<1, f64>(
        images.len(),
        resampling,
        1,
        |_| (),
        |counts, value| {
            let sum = |m: usize| images.iter().zip(counts).map(|(scores, [n])| scores[m] * n).sum::<f64>();
            let [rouge, cider] = [0, 1].map(|m| sum(m) / images.len() as f64);
            value[0] = (rouge * (1.0 + cider)).sqrt() / rouge.max(0.1);
        },
    );
    drawn.sort_by(f64::total_cmp);
    let percentile = |share: f64| {
        let at = share * (drawn.len() - 1) as f64;
        let (low, high) = (drawn[at.floor() as usize], drawn[at.ceil() as usize]);
        low + (high - low) * at.fract()
    };
    let ends = &report["systems"][0]["intervals"]["both"];
    for (k, share) in [0.025, 0.975].into_iter().enumerate() {
        let (found, expected) = (ends[k].as_f64().unwrap(), percentile(share));
        assert!((found - expected).abs() < 1e-12, "{ends}: {expected} at {share}");
    }
}

/// The exchanges are the documented ones, of images in the order of their ids; all else is counted here.
#[test]
fn p_values_of_derived_numbers_are_those_of_a_program_that_exchanges_outside() {
    let folder = tempfile::tempdir().unwrap();
    let segments = crate::program::scratch(&folder, "segments.jsonl");
    let options = ["--derive", "both = rouge-l / (1 + 0.7*cider-d)", "--resamples", "300", "--seed", "7"];
    let run = run(
        "compare",
        &["weak.json", "good.json"],
        &[&options[..], &["--segments", &segments, "-f", "json"]].concat(),
    );
    let found: Value = serde_json::from_str(&run.stdout).expect(&run.stderr);
    let [weak, good] = ["weak", "good"].map(|system| means(&segments, system));
    let n = weak.len();
    let columns: Vec<Vec<f64>> = (0..n).map(|k| (0..n).map(|row| f64::from(k == row)).collect()).collect();
    let resampling = Resampling { resamples: 300, seed: 7, ..Resampling::default() };
    let difference = |exchanged: &[f64]| {
        let mean = |m: usize, of: [&[[f64; 2]]; 2]| {
            (0..n).map(|k| of[usize::from(exchanged[k] == 1.0)][k][m]).sum::<f64>() / n as f64
        };
        let both = |of| mean(0, of) / (1.0 + 0.7 * mean(1, of));
        both([&good, &weak]) - both([&weak, &good])
    };
    let differences = exchange(
        &Matrix::from_columns(&columns),
        resampling,
        1,
        |_| (),
        |exchanged, value| value[0] = difference(exchanged),
    );
    let observed = difference(&vec![0.0; n]).abs();
    let reached = differences.iter().filter(|d| d.abs() >= observed - 1e-12).count();
    assert!(0 < reached && reached < 300, "{reached} of 300 exchanges reach {observed}");
    let p = &found["comparisons"][0]["contrasts"]["both"]["randomisation"]["p"];
    assert_eq!(p.as_f64(), Some((reached + 1) as f64 / 301.0), "{found}");
}
