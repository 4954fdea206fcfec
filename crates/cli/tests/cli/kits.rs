//! Kits: each gives its sample the scores of its field's program, and what people set beside one wins.

use std::path::{Path, PathBuf};
use std::process::Command;

use capeval_testkit::skip;
use serde_json::Value;

use crate::goldens::is_installed;
use crate::program::{capeval, capeval_in, scratch};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/kits")
}

fn read(name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder().join(name)).unwrap()).unwrap()
}

/// The output of a run with the data that are installed, and what it says.
fn run(args: &[&str]) -> (String, String) {
    let cache = tempfile::tempdir().unwrap();
    let output = Command::new(crate::program::path())
        .args(args)
        .env("CAPEVAL_CACHE", cache.path())
        .current_dir(folder())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{args:?}: {stderr}");
    (stdout, stderr)
}

/// The scores of the sample of a kit, with all notices.
fn report(kit: &str, sample: &Value, more: &[&str]) -> Value {
    let [references, candidates] = ["references", "candidates"].map(|side| sample[side].as_str().unwrap());
    let mut args = vec!["score", "--kit", kit, "-r", references, candidates, "-f", "json"];
    if let Some(column) = sample["ref-caption-column"].as_str() {
        args.extend(["--ref-caption-column", column]);
    }
    args.extend(more);
    serde_json::from_str(&run(&args).0).unwrap()
}

#[test]
fn every_kit_gives_its_sample_the_scores_of_its_program() {
    let missing = ["meteor", "spice"].map(|name| (name, !is_installed(name)));
    missing
        .iter()
        .filter(|(_, is)| *is)
        .for_each(|(name, _)| skip(name, &format!("the data of {name} are not installed")));
    let (samples, golden) = (read("samples.json"), read("golden.json"));
    let list = run(&["kit", "list"]).0;
    let kits: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(kits.len(), samples.as_object().unwrap().len(), "{kits:?}");
    for kit in kits {
        let (shown, _) = run(&["kit", "show", kit]);
        assert!(shown.contains(&format!("name = \"{kit}\"")) && shown.contains("[program]"), "{shown}");
        let wanted = golden[kit].as_object().unwrap();
        if missing.iter().any(|(name, is)| *is && wanted.contains_key(*name)) {
            continue;
        }
        let report = report(kit, &samples[kit], &[]);
        let system = &report["systems"][0];
        for (key, value) in wanted {
            let (ours, theirs) = (system["scores"][key].as_f64(), value.as_f64().unwrap());
            assert!(
                ours.is_some_and(|ours| (ours - theirs).abs() < 1e-12),
                "{kit}: {key} is {ours:?}, and {theirs} in its program"
            );
        }
        for signature in system["signatures"].as_object().unwrap().values() {
            assert!(signature.as_str().unwrap().contains(&format!("|kit:{kit}|")), "{signature}");
        }
    }
}

#[test]
fn the_flags_that_a_kit_stands_for_give_the_same_table() {
    let (shown, _) = run(&["kit", "show", "vlmevalkit"]);
    let flags = shown.lines().next().unwrap().split_once("capeval score ").unwrap().1;
    let sides = ["-r", "vlmevalkit.tsv", "vlmevalkit.tsv"];
    let by_flags = run(&[&["score"][..], &flags.split(' ').collect::<Vec<_>>(), &sides].concat()).0;
    let by_kit = run(&[&["score", "--kit", "vlmevalkit"][..], &sides].concat()).0;
    assert_eq!(by_kit.replace("|kit:vlmevalkit", ""), by_flags);
    assert!(by_kit.contains("62.319"), "times 100, with three digits: {by_kit}");
}

#[test]
fn what_is_set_beside_a_kit_wins_and_takes_its_name_away() {
    let sample = &read("samples.json")["r2gen"];
    let signatures = |more: &[&str]| {
        let report = report("r2gen", sample, more);
        let notices = report["notices"].to_string() + &report["systems"][0]["notices"].to_string();
        let signatures = report["systems"][0]["signatures"].as_object().unwrap();
        (signatures.values().next().unwrap().as_str().unwrap().to_owned(), notices)
    };
    let (fewer, notices) = signatures(&["-m", "rouge-l"]);
    assert!(
        fewer.starts_with("rouge-l|beta:1.2|best:each|tok:none|") && fewer.contains("|kit:r2gen|"),
        "{fewer}"
    );
    assert!(!notices.contains("kit-changed"), "{notices}");
    let (other, notices) = signatures(&["-m", "bleu,rouge-l", "-t", "13a"]);
    assert!(other.contains("tok:13a") && !other.contains("kit:"), "{other}");
    assert!(notices.contains("the kit r2gen has other values for tokenizer"), "{notices}");
    let (suite, notices) = signatures(&["-s", "sacrebleu-family"]);
    assert!(suite.starts_with("sacrebleu|") && !suite.contains("kit:"), "{suite}");
    assert!(notices.contains("the kit r2gen has other values for metrics"), "{notices}");
}

#[test]
fn people_write_their_own_kits() {
    let scratch_folder = tempfile::tempdir().unwrap();
    let mine = scratch(&scratch_folder, "mine.toml");
    let text = "name = \"my-field\"\nsummary = \"BLEU by words\"\nwarning = \"only for our own table\"\n\
                [options]\nmetrics = [\"bleu:n=2\"]\ntokenizer = \"whitespace\"\nmissing = \"empty\"\ndigits = 5\n";
    std::fs::write(&mine, text).unwrap();
    let (shown, _) = run(&["kit", "show", &mine]);
    let flags =
        "# The same as: capeval score --metrics=bleu:n=2 --tokenizer=whitespace --missing=empty --digits=5\n";
    assert_eq!(shown, format!("{flags}{text}"));
    let (table, _) = run(&["score", "--kit", &mine, "-r", "coco.json", "coco-results.json"]);
    assert!(table.contains("|tok:whitespace|nrefs:2-3|kit:my-field|"), "{table}");
    assert!(table.contains("only for our own table") && table.contains("BLEU-2"), "{table}");
    let (compared, _) =
        run(&["compare", "--kit", &mine, "-r", "coco.json", "coco-results.json", "b=coco-results.json"]);
    assert!(compared.contains("|kit:my-field|"), "{compared}");

    let refused = |from: &str, to: &str| {
        std::fs::write(&mine, text.replace(from, to)).unwrap();
        let args = ["score", "--kit", &mine, "-r", "x.json", "y.json"];
        let (code, stdout, stderr) = capeval_in(scratch_folder.path(), &args);
        assert_eq!(code, 2, "{stdout}");
        stderr
    };
    let key = refused("missing", "mising");
    assert!(key.contains("mine.toml: line 7: a kit has no key 'mising'"), "{key}");
    assert!(key.contains("did you mean missing?"), "{key}");
    let value = refused("\"empty\"", "\"emty\"");
    assert!(value.contains("mine.toml: line 7: ") && value.contains("did you mean empty?"), "{value}");
    let list = refused("[\"bleu:n=2\"]", "\"bleu:n=2\"");
    assert!(list.contains("mine.toml: line 5: invalid type: string"), "{list}");
    let name = refused("my-field", "My field");
    assert!(name.contains("a kit cannot be called \"My field\""), "{name}");
    let metric = refused("bleu:n=2", "blue");
    assert!(metric.contains("no metric is called 'blue'"), "{metric}");
}

#[test]
fn kits_that_do_not_exist_are_refused_with_the_nearest() {
    let unknown = capeval(&["score", "--kit", "viswiz", "-r", "x.json", "y.json"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("no kit is called 'viswiz'"), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("did you mean vizwiz?"), "{}", unknown.stderr);
    let absent = capeval(&["kit", "show", "none.toml"]);
    assert!(
        absent.code == 2 && absent.stderr.contains("none.toml: cannot open the file"),
        "{}",
        absent.stderr
    );
    let scores = capeval(&["score", "--kit", "vizwiz", "--scores", "clip.csv"]);
    assert!(scores.code == 2 && scores.stderr.contains("a kit is for captions"), "{}", scores.stderr);
}
