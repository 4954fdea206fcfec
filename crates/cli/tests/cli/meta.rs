//! `capeval meta`: the list of benchmarks, runs on small files, and what is refused.

use std::fs;

use serde_json::Value;

use crate::program::{capeval, json, stdout};

/// A folder with small files of THumB and of PASCAL-50S, in their documented forms.
pub fn data() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let rows = [
        ("1", "a dog runs on the sand", 5),
        ("1", "a cat sleeps", 1),
        ("2", "two children fly a kite", 4),
        ("2", "a man", 2),
    ];
    let rows = rows.map(|(id, text, rating)| {
        format!("{{\"SYS\": \"x\", \"seg_id\": \"{id}\", \"hyp\": \"{text}\", \"human_score\": {rating}}}\n")
    });
    let references = "{\"seg_id\": \"1\", \"refs\": [\"a dog runs\", \"the dog on the sand\"]}\n\
                      {\"seg_id\": \"2\", \"refs\": [\"two children fly kites\"]}\n";
    let pairs = r#"{"HC": [{"image": "a.jpg", "captions": ["a dog runs", "a cat"], "label": 0, "references": ["a dog runs on sand"]}]}"#;
    for (name, content) in [
        ("mscoco_THumB-1.0.jsonl", rows.concat()),
        ("mscoco_references.json", references.to_owned()),
        ("pascal_50s.json", pairs.to_owned()),
    ] {
        fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

/// The arguments of a run on the small files.
fn args<'a>(folder: &'a str, names: &[&'a str], rest: &[&'a str]) -> Vec<&'a str> {
    [
        &["meta", "run"],
        names,
        &["--data", folder, "--subset", "-m", "rouge-l,cider-d", "--resamples", "50"],
        rest,
    ]
    .concat()
}

#[test]
fn benchmarks_are_listed_and_shown() {
    let list = stdout(&["meta", "list"]);
    for name in [
        "flickr8k-expert",
        "flickr8k-cf",
        "composite",
        "pascal-50s",
        "thumb",
        "polaris",
        "nebula",
        "foil",
        "capeval1k",
        "msvd-eval",
        "longcap-arena-a-desc",
    ] {
        assert!(list.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}\n{list}");
    }
    assert!(list.contains("(read: not tried on the real file)"), "{list}");
    let shown = stdout(&["meta", "show", "flickr8k-cf"]);
    for part in
        ["CrowdFlowerAnnotations.txt", "own references: remove", "cider-d 24.6", "24.619", "known", "sha256"]
    {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let whole: Value = serde_json::from_str(&stdout(&["meta", "show", "composite", "-f", "json"])).unwrap();
    assert_eq!((&whole[0]["name"], &whole[0]["coefficient"]), (&"composite".into(), &"tau-c".into()));
    let all: Value = serde_json::from_str(&stdout(&["meta", "list", "-f", "json"])).unwrap();
    assert_eq!(all.as_array().unwrap().len(), list.lines().count());
}

#[test]
fn every_format_and_the_page_show_the_same_run() {
    let folder = data();
    let path = folder.path().display().to_string();
    let names = ["thumb", "pascal-50s"];
    let table = stdout(&args(&path, &names, &["--differences"]));
    assert!(table.contains("THumB 1.0 Pearson r") && table.contains("PASCAL-50S accuracy"), "{table}");
    assert!(table.contains("100.0") && table.contains("differences in Pearson r"), "{table}");
    let latex = stdout(&args(&path, &names, &["-f", "latex"]));
    let body = latex.split("\\begin").nth(1).unwrap();
    assert!(body.starts_with("{tabular}{lrrrr}") && !body.contains('≈') && !body.contains('†'), "{latex}");
    let page = folder.path().join("page.html").display().to_string();
    let whole = json(&args(&path, &names, &["--html", &page]));
    let found = &whole["benchmarks"]["thumb"];
    assert_eq!((&found["points"], &found["images"], &found["subset"]), (&4.into(), &2.into(), &true.into()));
    let value = found["measures"]["rouge-l"]["values"][0]["value"].as_f64().unwrap();
    assert!(table.contains(&format!("{:.1}", 100.0 * value)), "{value}\n{table}");
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.contains("THumB 1.0") && html.contains("<svg"));
    let csv = stdout(&args(&path, &names, &["-f", "csv"]));
    let n_columns = csv.lines().next().unwrap().split(',').count();
    assert_eq!(n_columns, 20, "{csv}");
    let jsonl = stdout(&args(&path, &names, &["-f", "jsonl"]));
    assert_eq!(jsonl.lines().count(), 4);
    let segments = folder.path().join("rows.jsonl").display().to_string();
    stdout(&args(&path, &names, &["--segments", &segments]));
    assert_eq!(fs::read_to_string(&segments).unwrap().lines().count(), 5);
}

#[test]
fn a_check_fails_where_a_published_value_is_not_met() {
    let folder = data();
    let path = folder.path().display().to_string();
    // Nothing is published of THumB here; on one pair, every accuracy differs from that of 4,000.
    assert_eq!(capeval(&args(&path, &["thumb"], &["--check"])).code, 0);
    let run = capeval(&args(&path, &["pascal-50s"], &["--check"]));
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.contains("not met: accuracy of cider-d on pascal-50s is 50.0, and 79.6 in clipscore"),
        "{}",
        run.stderr
    );
    assert_eq!(capeval(&args(&path, &["pascal-50s"], &[])).code, 0);
}

#[test]
fn scores_may_be_of_one_benchmark() {
    let folder = data();
    let path = folder.path().display().to_string();
    let scores = folder.path().join("clip.csv");
    fs::write(&scores, "image_id,caption,CLIPScore\n1,a dog runs on the sand,0.9\n1,a cat sleeps,0.2\n2,two children fly a kite,0.7\n2,a man,0.1\n").unwrap();
    let named = format!("thumb={}", scores.display());
    let whole = json(&args(&path, &["thumb", "pascal-50s"], &["--scores", &named]));
    let keys = |name: &str| {
        whole["benchmarks"][name]["measures"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(
        (keys("thumb"), keys("pascal-50s")),
        (
            vec!["rouge-l".into(), "cider-d".into(), "CLIPScore".into()],
            vec!["rouge-l".into(), "cider-d".into()]
        )
    );
}

/// The command, and parts of what it says.
#[test]
fn what_cannot_be_run_is_refused_with_what_to_do() {
    let folder = data();
    let path = folder.path().display().to_string();
    let scores = folder.path().join("clip.csv").display().to_string();
    fs::write(&scores, "image_id,caption,clip\n1,a dog runs on the sand,0.9\n").unwrap();
    let of_other = format!("composite={scores}");
    let cases: &[(&[&str], &[&str])] = &[
        (&["meta"], &["Usage"]),
        (&["meta", "show"], &["required"]),
        (&["meta", "show", "flickr8k"], &["flickr8k", "flickr8k-cf"]),
        (&["meta", "run", "thumb"], &["--data"]),
        (&["meta", "run", "--data", &path], &["required"]),
        (&["meta", "run", "tumb", "--data", &path], &["tumb", "thumb"]),
        (
            &["meta", "run", "thumb", "--data", "/none/such"],
            &["/none/such: cannot look into the folder: no such file or directory"],
        ),
        (&["meta", "run", "thumb", "--data", &scores], &["this is a file", "give the folder that it is in"]),
        (
            &["meta", "run", "composite", "--data", &path],
            &[
                "composite: ",
                "(4 files) has none of its files: composite.json",
                "get them from annotations/composite.json",
            ],
        ),
        (
            &["meta", "run", "thumb", "--data", &path, "-m", "rouge-l"],
            &[
                "holds 2 images and 4 ratings, and the real file 500 images and 2500 ratings",
                "get it from github.com/jungokasai/THumB",
                "--subset",
            ],
        ),
        (&["meta", "run", "thumb", "--data", &path, "--subset", "-m", "blue"], &["blue", "bleu"]),
        (&["meta", "run", "thumb", "--data", &path, "--subset", "--ci", "200"], &["200"]),
        (&["meta", "run", "thumb", "--data", &path, "--subset", "--resamples", "0"], &["0"]),
        (
            &["meta", "run", "thumb", "--data", &path, "--subset", "--scores", &of_other],
            &["scores are given for composite, which is not among the benchmarks"],
        ),
        (
            &["meta", "run", "thumb", "--data", &path, "--subset", "--scores", &scores],
            &["3 of 4 rated items have no score"],
        ),
        (
            &["meta", "run", "thumb", "--data", &path, "--subset", "--scores", &scores, "--tokenizer", "13a"],
            &["--tokenizer has no effect on scores that are given"],
        ),
        (
            &["meta", "run", "thumb", "--data", &path, "--subset", "--scores", "/none.csv"],
            &["/none.csv: cannot open the file"],
        ),
    ];
    for (args, parts) in cases {
        let run = capeval(args);
        assert!(run.code != 0 && run.stdout.is_empty(), "{args:?}: {}\n{}", run.code, run.stdout);
        for part in *parts {
            assert!(run.stderr.contains(part), "{args:?} does not say {part:?}:\n{}", run.stderr);
        }
        assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    }
}
