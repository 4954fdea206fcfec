//! Texts that are no captions, on the command line: refused, accepted, removed; and no false alarm on real captions.

use std::fs;

use serde_json::Value;

use crate::program::{capeval_in, real, scratch};

/// Eight captions, in the order of their references.
const CAPTIONS: &[&str] = &[
    "a brown dog runs along the beach",
    "two children fly a red kite",
    "a green train at a small station",
    "a man rides a tall wave on a surfboard",
    "a white bowl of tomato soup on a table",
    "an old clock tower above the roofs",
    "a gray cat sleeps on a keyboard",
    "bicycles parked against a red brick wall",
];

const REFERENCES: &[&str] = &[
    "a dog running on a beach",
    "two kids are flying a kite",
    "a train stops at a station",
    "a surfer on a big wave",
    "a bowl of soup and a spoon",
    "a tower with a clock",
    "a cat lying on a keyboard",
    "some bicycles near a wall",
];

/// Scores what `change` makes of the captions.
fn score(change: impl Fn(&str) -> String, more: &[&str]) -> (i32, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, texts: Vec<String>| {
        let all: serde_json::Map<String, Value> =
            texts.into_iter().enumerate().map(|(k, text)| (k.to_string(), Value::from(text))).collect();
        fs::write(scratch(&folder, name), Value::from(all).to_string()).unwrap();
    };
    write("refs.json", REFERENCES.iter().map(|text| (*text).to_owned()).collect());
    write("mine.json", CAPTIONS.iter().map(|text| change(text)).collect());
    let [references, mine] = ["refs.json", "mine.json"].map(|name| scratch(&folder, name));
    let args = ["score", "-r", &references, &mine, "-m", "bleu,cider-d", "-f", "json"];
    capeval_in(folder.path(), &[&args[..], more].concat())
}

fn scores(stdout: &str) -> Value {
    serde_json::from_str::<Value>(stdout).unwrap()["systems"][0]["scores"].clone()
}

#[test]
fn what_makes_scores_meaningless_is_refused_with_ways_out_that_work() {
    let (_, plain, _) = score(str::to_owned, &[]);
    type Change = fn(&str) -> String;
    let kinds: &[(Change, &str, &str)] = &[
        (|text| format!("<think>\nOkay.\n</think>\n\n{text}"), "thoughts", "--clean thoughts"),
        (|text| format!("```\n{text}\n```"), "code fence", "--clean fences"),
        (
            |text| format!("```json\n{{\"caption\": \"{text}\"}}\n```"),
            "code fence",
            "--clean fences,structured-text",
        ),
        (|text| format!("b'{text}'"), "bytes", "--clean byte-strings"),
        (|text| format!("Ġ{}", text.replace(' ', "Ġ")), "subwords", "--clean subword-marks"),
    ];
    for (change, said, flags) in kinds {
        let (code, _, stderr) = score(change, &[]);
        let one_line = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(code, 2, "{one_line}");
        assert!(one_line.contains("8 of 8 captions of mine") && one_line.contains(said), "{one_line}");
        assert!(one_line.contains(flags) && one_line.contains("--accept "), "{one_line}");
        let flags: Vec<&str> = flags.split(' ').collect();
        let (code, stdout, stderr) = score(change, &flags);
        assert_eq!((code, scores(&stdout)), (0, scores(&plain)), "{stderr}");
        let kinds = flags[1].replace(',', "(8)+") + "(8)";
        assert!(stdout.contains(&format!("|clean:{kinds}|")), "{stdout}");
        let accepted = one_line.rsplit_once("--accept ").unwrap().1.split(' ').next().unwrap().to_owned();
        let (code, stdout, _) = score(change, &["--accept", &accepted]);
        assert!(code == 0 && stdout.contains("\"accept:"), "{stdout}");
    }
}

#[test]
fn kinds_are_a_closed_list() {
    let (code, _, stderr) = score(str::to_owned, &["--accept", "thought"]);
    assert!(code == 2 && stderr.contains("thoughts"), "{stderr}");
    let (code, _, stderr) = score(str::to_owned, &["--clean", "thought"]);
    assert!(code == 2 && stderr.contains("special-tokens"), "{stderr}");
}

/// Systems and people, as references and candidates.
const REAL: &[(&str, &str, &[&str])] = &[
    ("coco/captions_val2014.json.gz", "coco/fakecap_results.json", &["--missing", "skip"]),
    ("coco/loo_refs.json.gz", "coco/loo_hyps.json.gz", &[]),
    ("multi30k/train.1.en.gz", "multi30k/train.2.en.gz", &[]),
    ("multi30k/train.3.en.gz", "multi30k/train.4.en.gz", &[]),
    ("multi30k/train.4.en.gz", "multi30k/train.5.en.gz", &[]),
    ("multi30k/val.1.de.gz", "multi30k/val.2.de.gz", &[]),
    ("multi30k/val.3.de.gz", "multi30k/val.4.de.gz", &[]),
    ("multi30k/val.1.en.gz", "multi30k/val.5.en.gz", &[]),
    ("multi30k/test_2016.1.en.gz", "multi30k/test_2016.2.en.gz", &[]),
    ("multi30k/test_2016.1.de.gz", "multi30k/test_2016.2.de.gz", &[]),
    ("audio/clotho_eval.csv.gz", "audio/clotho_eval.csv.gz", CLOTHO),
    ("audio/example_1.csv.gz", "audio/example_1.csv.gz", &["--empty", "keep"]),
    ("audio/example_2.csv.gz", "audio/example_2.csv.gz", &[]),
    ("flickr8k/Flickr8k.token.txt.gz", "flickr8k/Flickr8k.token.txt.gz", &["--several", "last"]),
    (
        "dense/pdvc/anet_entities_val_1_para.json.gz",
        "dense/pdvc/anet_entities_val_2_para.json.gz",
        &["--missing", "skip"],
    ),
    ("dense/mdvc/results_val_1_e30.json.gz", "dense/mdvc/results_val_2_e30.json.gz", PARAGRAPHS),
];

/// A caption of a sound against the other four.
const CLOTHO: &[&str] =
    &["--caption-column", "caption_1", "--ref-caption-column", "caption_2,caption_3,caption_4,caption_5"];

/// Two systems' captions of moments, as a paragraph for each video.
const PARAGRAPHS: &[&str] = &[
    "--caption-column",
    "{sentence}",
    "--ref-caption-column",
    "{sentence}",
    "--missing",
    "skip",
    "--surplus",
    "ignore",
];

/// The notices of the judge that a run has.
fn alarms(stdout: &str) -> Vec<String> {
    const OTHERS: &[&str] = &[
        "tokenised",
        "untokenised",
        "not-english",
        "missing:skip",
        "reading",
        "line-numbers",
        "row-numbers",
        "few-images",
        "surplus:ignore",
        "images-without-references",
        "single-references",
        "id-column",
        "swapped",
        "open-captions",
        "copy-of-references",
        "no-meteor",
        "no-spice",
        "empty:keep",
        "several:last",
    ];
    let report: Value = serde_json::from_str(stdout).unwrap();
    let notices = report["notices"].as_array().unwrap().iter();
    let told = notices.filter(|notice| !OTHERS.contains(&notice["code"].as_str().unwrap()));
    told.map(|notice| notice["message"].to_string()).collect()
}

#[test]
fn real_captions_are_captions() {
    let folder = tempfile::tempdir().unwrap();
    let run = |references: &str, candidates: &str, more: &[&str]| {
        let args = ["score", "-r", references, candidates, "-m", "bleu,cider-d", "-f", "json"];
        let (code, stdout, stderr) = capeval_in(folder.path(), &[&args[..], more].concat());
        assert_eq!(code, 0, "{candidates}: {stderr}");
        assert_eq!(alarms(&stdout), Vec::<String>::new(), "{candidates}");
    };
    for (references, candidates, more) in REAL {
        if let Some((references, candidates)) =
            real(&format!("data/{references}")).zip(real(&format!("data/{candidates}")))
        {
            run(&references, &candidates, more);
        }
    }
    let Some(references) = real("data/coco_karpathy_test/refs.json.gz") else { return };
    let systems = std::path::Path::new(&references).with_file_name("systems");
    for file in fs::read_dir(systems).unwrap() {
        let file = file.unwrap().path();
        run(
            &references,
            file.to_str().unwrap(),
            &["--ids", "text", "--missing", "skip", "--surplus", "ignore"],
        );
    }
    // Long captions are captions, and are said to be long, and to begin alike.
    let Some(long) = real("data/long/llava_default.json.gz") else { return };
    let args =
        ["score", "-r", &references, &long, "--ids", "text", "--missing", "skip", "-m", "bleu", "-f", "json"];
    let (_, stdout, _) = capeval_in(folder.path(), &args);
    let found = alarms(&stdout);
    let are_told = matches!(found.as_slice(), [one, other] if one.contains("image features") && other.contains("times longer"));
    assert!(are_told, "{found:?}");
}
