//! The numbers that pycocoevalcap publishes for its own example, and those in the documentation of other packages.

use std::process::Command;

use capeval_testkit::skip;
use serde_json::{Value, json};

use crate::goldens::is_installed;
use crate::program::{json as report, real, scratch, stdout};

#[test]
fn the_published_numbers_come_out() {
    let Some(references) = real("data/coco/captions_val2014.json.gz") else { return };
    let Some(candidates) = real("data/coco/fakecap_results.json") else { return };
    let args = ["score", "-r", &references, &candidates, "--missing", "skip"];
    let report = report(&args);
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

/// With METEOR's resources as the user has installed them.
#[test]
fn the_published_meteor_comes_out_once_its_data_are_installed() {
    let Some(references) = real("data/coco/captions_val2014.json.gz") else { return };
    let Some(candidates) = real("data/coco/fakecap_results.json") else { return };
    let caches = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(crate::program::path());
        let output = command.args(args).env("CAPEVAL_CACHE", caches.path()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    if !is_installed("meteor") {
        skip("meteor", "the data of meteor are not installed");
        return;
    }
    let args = ["score", "-r", &references, &candidates, "--missing", "skip"];
    let report: Value = serde_json::from_str(&run(&[&args[..], &["-f", "json"]].concat())).unwrap();
    // pycocoevalcap 1.2 on the same files; published as 0.195.
    let meteor = report["systems"][0]["scores"]["meteor"].as_f64().unwrap();
    assert_eq!(meteor.to_bits(), 0.195_254_671_777_802_84_f64.to_bits(), "{meteor}");
    let table = run(&args);
    let row = table.lines().find(|line| line.starts_with("METEOR")).unwrap();
    assert!(row.ends_with("0.195"), "{table}");
}

/// An example in the documentation of another package: whose it is, metric, key, captions, references, and the value.
type Example = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static [&'static str]],
    f64,
);

/// Values that other packages publish in their documentation, with as many digits, as fractions or percentages as
/// capeval gives them: torchmetrics 1.0 (docstrings of `torchmetrics.text`), Hugging Face evaluate 0.4 (metric cards),
/// aac-metrics 0.4.6 (README). torchmetrics smooths chrF as `eff=no` does.
const EXAMPLES: &[Example] = &[
    ("torchmetrics BLEUScore", "bleu:tok=none", "bleu-4", MAT, MAT_REFERENCES, 0.7598),
    ("torchmetrics SacreBLEUScore", "sacrebleu", "sacrebleu", MAT, MAT_REFERENCES, 75.98),
    ("torchmetrics CHRFScore", "chrf:words=2:eff=no", "chrf++", MAT, MAT_REFERENCES, 86.40),
    ("torchmetrics TranslationEditRate", "ter", "ter", MAT, MAT_REFERENCES, 15.38),
    ("torchmetrics ROUGEScore", "rouge-score", "rouge-score-1-f", JOHN, JOHN_REFERENCES, 0.75),
    ("torchmetrics ROUGEScore", "rouge-score", "rouge-score-2-f", JOHN, JOHN_REFERENCES, 0.0),
    ("torchmetrics ROUGEScore", "rouge-score", "rouge-score-l-f", JOHN, JOHN_REFERENCES, 0.5),
    ("torchmetrics ROUGEScore", "rouge-score", "rouge-score-lsum-f", JOHN, JOHN_REFERENCES, 0.5),
    ("evaluate bleu", "bleu:tok=13a", "bleu-4", KENOBI, KENOBI_REFERENCES, 1.0),
    ("evaluate sacrebleu", "sacrebleu", "sacrebleu", MORPORK, MORPORK_REFERENCES, 39.763_536_438_352_52),
    // The card prints what is the precision; the F-score, which the program gives, is a third.
    (
        "evaluate rouge",
        "rouge-score",
        "rouge-score-1-p",
        &["hello goodbye", "ankh morpork"],
        &[&["goodbye"], &["general kenobi"]],
        0.25,
    ),
    ("evaluate chrf", "chrf", "chrf", FRIENDLY, FRIENDLY_REFERENCES, 84.642_148_917_383_34),
    ("evaluate chrf", "chrf:words=2", "chrf++", FRIENDLY, FRIENDLY_REFERENCES, 82.872_637_329_063_15),
    ("evaluate chrf", "chrf:words=2:case=lc", "chrf++", FRIENDLY, FRIENDLY_REFERENCES, 92.128_531_198_292_02),
    ("evaluate ter", "ter:case=mixed", "ter", MATCH, MATCH_REFERENCES, 150.0),
    ("evaluate ter", "ter:punct=no", "ter", MATCH, MATCH_REFERENCES, 100.0),
    ("evaluate ter", "ter:case=mixed", "ter", TWO, TWO_REFERENCES, 62.5),
    ("evaluate ter", "ter:case=mixed:norm=yes", "ter", TWO, TWO_REFERENCES, 57.142_857_142_857_14),
    ("aac-metrics evaluate", "bleu", "bleu-1", RAIN, RAIN_REFERENCES, 0.4278),
    ("aac-metrics cider_d", "cider-d", "cider-d", RAIN, RAIN_REFERENCES, 0.9614),
];

const MAT: &[&str] = &["the cat is on the mat"];
const MAT_REFERENCES: &[&[&str]] = &[&["there is a cat on the mat", "a cat is on the mat"]];
const JOHN: &[&str] = &["My name is John"];
const JOHN_REFERENCES: &[&[&str]] = &[&["Is your name John"]];
const KENOBI: &[&str] = &["hello there general kenobi", "foo bar foobar"];
const KENOBI_REFERENCES: &[&[&str]] =
    &[&["hello there general kenobi", "hello there !"], &["foo bar foobar"]];
const MORPORK: &[&str] = &["hello there general kenobi", "on our way to ankh morpork"];
const MORPORK_REFERENCES: &[&[&str]] =
    &[&["hello there general kenobi", "hello there !"], &["goodbye ankh morpork", "ankh morpork"]];
const FRIENDLY: &[&str] = &[
    "The relationship between cats and dogs is not exactly friendly.",
    "a good bookshop is just a genteel black hole that knows how to read.",
];
const FRIENDLY_REFERENCES: &[&[&str]] = &[
    &["The relationship between dogs and cats is not exactly friendly."],
    &["A good bookshop is just a genteel Black Hole that knows how to read."],
];
const MATCH: &[&str] = &[
    "does this sentence match??",
    "what about this sentence?",
    "What did the TER metric user say to the developer?",
];
const MATCH_REFERENCES: &[&[&str]] = &[
    &["does this sentence match", "does this sentence match!?!"],
    &["wHaT aBoUt ThIs SeNtEnCe?", "wHaT aBoUt ThIs SeNtEnCe?"],
    &["Your jokes are...", "...TERrible"],
];
const TWO: &[&str] = MATCH.first_chunk::<2>().unwrap();
const TWO_REFERENCES: &[&[&str]] = MATCH_REFERENCES.first_chunk::<2>().unwrap();
const RAIN: &[&str] = &["a man is speaking", "rain falls"];
const RAIN_REFERENCES: &[&[&str]] = &[
    &["a man speaks.", "someone speaks.", "a man is speaking while a bird is chirping in the background"],
    &["rain is falling hard on a surface"],
];

#[test]
fn examples_of_other_packages_come_out() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: Value| {
        let path = scratch(&folder, name);
        std::fs::write(&path, content.to_string()).unwrap();
        path
    };
    for (whose, metric, key, captions, references, published) in EXAMPLES {
        let by_id = |texts: Vec<Value>| {
            texts.into_iter().enumerate().map(|(k, text)| (k.to_string(), text)).collect()
        };
        let references = write(
            "references.json",
            Value::Object(by_id(references.iter().map(|texts| json!(texts)).collect())),
        );
        let captions =
            write("captions.json", Value::Object(by_id(captions.iter().map(|text| json!(text)).collect())));
        let report = report(&["score", "-r", &references, &captions, "-m", metric]);
        let ours = report["systems"][0]["scores"][key].as_f64().unwrap();
        // Half a unit of the last digit that is published, and what sums in another order may differ by.
        let digits = published.to_string().split('.').nth(1).map_or(0, str::len) as i32;
        let tolerance = if digits > 10 { 1e-12 * published } else { 0.5 * 10_f64.powi(-digits.max(2)) };
        assert!((ours - published).abs() <= tolerance, "{whose}, {metric}: {key} is {ours}, not {published}");
    }
}
