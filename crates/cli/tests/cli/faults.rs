//! Every command that writes, with each of its system calls failing once: files are old or new, errors name them, and
//! nothing is left behind.
//!
//! Without `CAPEVAL_FAULTS=1`, one fault of a few hundred is tried for each command.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;

use capeval_testkit::faults::{Trial, can_inject, step};
use capeval_testkit::skip;

use crate::data::wheel;
use crate::program::{fixtures, path, quickstart};

/// Commands, and the files that they must have written when they end well.
const WRITERS: &[(&str, &str)] = &[
    (
        "score -r references.json good.json -m bleu,cider-d -o o.json --segments o.jsonl --html o.html --save o.capeval",
        "o.json o.jsonl o.html o.capeval",
    ),
    ("score -r prepared weak.json -m bleu -f csv", ""),
    ("score -r references.json good.json -m perplexity --lm lm.arpa -o o.md --group-by groups.csv", "o.md"),
    (
        "compare -r references.json good.json weak.json -m bleu --resamples 20 -o o.json --html o.html --save o.capeval",
        "o.json o.html o.capeval",
    ),
    ("show saved.capeval --html o.html -o o.csv", "o.html o.csv"),
    ("prepare references.json -m bleu,cider-d -o o.prepared --threads 1", "o.prepared"),
    ("df build references.json -o o.df", "o.df"),
    ("lm train references.json -n 2 -o o.arpa", "o.arpa"),
    ("convert references.json --format csv -o o.csv", "o.csv"),
    ("tokenize --file lines.txt -o o.txt", "o.txt"),
    ("inspect good.json -r references.json -o o.json", "o.json"),
    ("diversity good.json -o o.json", "o.json"),
    ("perplexity probabilities.jsonl -o o.json --segments o.jsonl", "o.json o.jsonl"),
    (
        "correlate ratings.csv -r three.json -m bleu -o o.json --html o.html --segments o.jsonl",
        "o.json o.html o.jsonl",
    ),
    ("prefer pairs.csv -r three.json -m bleu -o o.json --segments o.jsonl", "o.json o.jsonl"),
    ("human -r references.json -m bleu -o o.json", "o.json"),
    (
        "dense -r events.json moments.json -m bleu -o o.json --html o.html --segments o.jsonl --save o.capeval",
        "o.json o.html o.jsonl o.capeval",
    ),
    (
        "boxes -r objects.json matched.json --metrics bleu -o o.json --html o.html --segments o.jsonl --save o.capeval",
        "o.json o.html o.jsonl o.capeval",
    ),
    ("data install meteor --from tiny.whl", "data/meteor-1.5.bin data/meteor-1.5.NOTICE.txt"),
    ("embed --model MODEL --texts good.json -o o.safetensors", "o.safetensors"),
    ("kit show nocaps", ""),
    ("man pages", "pages/capeval.1 pages/capeval-score.1"),
];

/// Files that the commands read.
fn write_inputs(folder: &Path) {
    let write = |name: &str, content: &[u8]| fs::write(folder.join(name), content).unwrap();
    let copy = |from: &Path, name: &str| write(name, &fs::read(from).unwrap());
    for name in ["references.json", "good.json", "weak.json"] {
        copy(Path::new(&quickstart(name)), name);
    }
    for name in ["ratings.csv", "pairs.csv", "probabilities.jsonl"] {
        copy(&fixtures().join(name), name);
    }
    copy(&fixtures().join("references.json"), "three.json");
    write("lines.txt", b"A dog runs.\nIt's a cat!\n");
    write("groups.csv", b"image_id,kind\n101,a\n102,b\n");
    write(
        "events.json",
        br#"{"v": {"duration": 20, "timestamps": [[0, 10]], "sentences": ["A man rides."]}}"#,
    );
    write("moments.json", br#"{"results": {"v": [{"sentence": "A man rides", "timestamp": [0, 9]}]}}"#);
    write(
        "objects.json",
        br#"[{"scene_id": "s", "object_id": "1", "object_name": "chair", "token": ["a", "chair"]}]"#,
    );
    write("matched.json", br#"{"s|1|chair": {"caption": "sos a chair eos", "iou": 0.4}}"#);
    write("tiny.whl", &wheel());
    for args in [
        "prepare references.json -m bleu -o prepared",
        "lm train references.json -n 2 -o lm.arpa",
        "score -r references.json good.json -m bleu --save saved.capeval",
    ] {
        let output = Command::new(path()).args(args.split(' ')).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn whatever_call_fails_files_are_old_or_new_and_errors_name_them() {
    if !can_inject() {
        return skip("strace", "strace is missing, or may not trace");
    }
    let only = std::env::var("CAPEVAL_FAULTS_OF").unwrap_or_default();
    let folder = tempfile::tempdir().unwrap();
    let seed = folder.path().join("seed");
    fs::create_dir(&seed).unwrap();
    write_inputs(&seed);
    let model = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/neural/clip-quick")
        .canonicalize()
        .unwrap();
    let mut findings = Vec::new();
    for (args, outputs) in WRITERS.iter().filter(|(args, _)| args.starts_with(&only)) {
        let args: Vec<&str> =
            args.split(' ').map(|arg| if arg == "MODEL" { model.to_str().unwrap() } else { arg }).collect();
        let outputs: Vec<&str> = outputs.split_whitespace().collect();
        for has_old in [false, true] {
            let trial = Trial {
                program: path(),
                args: &args,
                seed: &seed,
                outputs: &outputs,
                has_old,
                refused: 2,
                state: "cache/",
                check: None,
            };
            let tally = trial.run(&folder.path().join("place"), step(97));
            eprintln!("{}{}: {tally}", args.join(" "), if has_old { " (again)" } else { "" });
            findings.extend(tally.findings);
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}
