//! Tests that what cannot be done is refused in words that help, and that options without effect are reported.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{capeval, capeval_with, json, quickstart, said, scratch, stdout};

const SCORE: [&str; 4] = ["score", "-r", "references.json", "results.json"];

/// The error of a run that must fail with exit code 2 and print nothing.
fn refused(args: &[&str]) -> String {
    let run = capeval(args);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "capeval {}\n{}", args.join(" "), run.stderr);
    run.stderr
}

fn refused_with(args: &[&str], words: &[&str]) {
    let error = refused(args);
    for word in words {
        assert!(error.contains(word), "'{word}' is not said of capeval {}: {error}", args.join(" "));
    }
}

/// A file of the test's own with this text.
fn file(folder: &TempDir, name: &str, text: &str) -> String {
    let path = scratch(folder, name);
    fs::write(&path, text).unwrap();
    path
}

/// The notices of a report, their codes and sentences.
fn notices(report: &Value) -> Vec<(String, String)> {
    let text = |notice: &Value, key: &str| notice[key].as_str().unwrap().to_owned();
    let notices = report["notices"].as_array().unwrap();
    notices.iter().map(|notice| (text(notice, "code"), text(notice, "message"))).collect()
}

#[test]
fn a_failed_conversion_leaves_an_existing_file_alone_and_no_new_one_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (file(&folder, "keep.csv", "precious\n"), scratch(&folder, "new.csv"));
    for target in [&old, &new] {
        refused_with(
            &["convert", &quickstart("references.json"), "--format", "coco-results", "-o", target],
            &["caption"],
        );
    }
    assert_eq!(fs::read_to_string(&old).unwrap(), "precious\n");
    assert!(!fs::exists(&new).unwrap());
    stdout(&["convert", &quickstart("references.json"), "--format", "csv", "-o", &old]);
    assert!(fs::read_to_string(&old).unwrap().starts_with("image_id,caption\n"));
}

#[test]
fn columns_that_are_named_are_read_in_cocos_formats_and_refused_where_there_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let candidates = file(
        &folder,
        "c.json",
        r#"[{"image_id": 9, "key": 1, "caption": "wrong", "other": "right"}, {"image_id": 8, "key": 2, "caption": "wrong", "other": "left"}]"#,
    );
    let convert = |path: &str, args: &[&str]| {
        stdout(&[&["convert", path, "--format", "csv", "--role", "candidates"], args].concat())
    };
    let named = ["--id-column", "key", "--caption-column", "other"];
    assert_eq!(convert(&candidates, &named), "image_id,caption\n1,right\n2,left\n");
    assert_eq!(convert(&candidates, &["--caption-column", "other"]), "image_id,caption\n9,right\n8,left\n");
    let annotations = file(
        &folder,
        "a.json",
        r#"{"images": [{"id": 1}], "annotations": [{"image_id": 1, "caption": "wrong", "other": "right"}]}"#,
    );
    assert_eq!(convert(&annotations, &["--caption-column", "other"]), "image_id,caption\n1,right\n");
    refused_with(
        &["score", "-r", "references.json", "results.json", "--caption-column", "absent"],
        &["results.json:1:2", "\"image_id\", \"caption\"", "--caption-column"],
    );
    let dictionary = file(&folder, "d.json", r#"{"1": "a dog", "2": "a kite", "3": "a train"}"#);
    refused_with(
        &["score", "-r", "references.json", &dictionary, "--id-column", "key"],
        &["dict-json has no columns", "leave out --id-column"],
    );
    refused_with(
        &["score", "-r", &dictionary, "results.json", "--ref-caption-column", "other"],
        &["leave out --ref-caption-column"],
    );
}

#[test]
fn an_error_about_references_names_their_own_flags() {
    let folder = tempfile::tempdir().unwrap();
    refused_with(
        &["score", "-r", "columns.csv", "--ref-format", "csv", "results.json"],
        &["--ref-caption-column"],
    );
    let two = r#"[{"image_id": 1, "first": "a dog runs", "second": "two cats"}, {"image_id": 2, "first": "a bus",
        "second": "a man on a wave"}]"#;
    let two = file(&folder, "two.json", two);
    refused_with(&["score", "-r", &two, "results.json"], &["pass --ref-caption-column"]);
    let error = refused(&["convert", "columns.csv", "--input-format", "csv", "--format", "jsonl"]);
    assert!(error.contains("pass --caption-column"), "{error}");
    let rows = file(&folder, "rows.jsonl", "{\"caption\": \"a\"}\n{\"caption\": \"b\"}\n");
    let report = json(&["score", "-r", &rows, &rows]);
    let numbered =
        |notice: &&Value| notice["code"] == "row-numbers" && notice["remedy"] == "set id_column to name one";
    assert_eq!(report["notices"].as_array().unwrap().iter().filter(numbered).count(), 2, "{report}");
}

#[test]
fn a_page_may_not_go_where_the_report_or_the_segments_go() {
    let folder = tempfile::tempdir().unwrap();
    let (page, same) = (scratch(&folder, "p.html"), folder.path().join("./p.html"));
    let same = same.to_str().unwrap();
    let args = |other: &'static str| [&SCORE[..], &["--html", &page, other, same]].concat();
    refused_with(&args("-o"), &["--html and --output", "same file"]);
    refused_with(&args("--segments"), &["--html and --segments", "same file"]);
    let compare = ["compare", "-r", "references.json", "results.json", "b=results.json"];
    refused_with(&[&compare[..], &["--html", &page, "-o", &page]].concat(), &["same file"]);
    refused_with(
        &[&SCORE[..], &["-o", &page, "--segments", same]].concat(),
        &["same place", "--segments FILE"],
    );
}

#[test]
fn an_impossible_number_of_threads_is_refused_at_once() {
    for threads in ["0", "1025", "20000", "-1", "many"] {
        let option = format!("--threads={threads}");
        refused_with(&[&SCORE[..], &[&option]].concat(), &["must be a number from 1 to 1024"]);
    }
    assert_eq!(capeval(&[&SCORE[..], &["--threads", "3"]].concat()).code, 0);
}

#[test]
fn a_setting_that_is_given_twice_is_refused() {
    refused_with(&[&SCORE[..], &["-m", "bleu:n=4:n=3"]].concat(), &["bleu has n set twice, to 4 and to 3"]);
    refused_with(&["diversity", "results.json", "-m", "vocabulary:tok=13a:tok=ptb"], &["tok set twice"]);
    // A setting of a metric takes precedence over one for all metrics.
    assert_eq!(capeval(&[&SCORE[..], &["-m", "bleu:tok=13a", "-t", "ptb"]].concat()).code, 0);
}

#[test]
fn a_table_of_document_frequencies_must_be_long_enough_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let table = scratch(&folder, "four.df");
    stdout(&["df", "build", "references.json", "-o", &table]);
    let run = |args: &[&'static str]| [&SCORE[..], &["--df", &table], args].concat();
    refused_with(&run(&["-m", "cider-d:n=5"]), &["up to 4 words", "n=5", "df build -n 5"]);
    assert_eq!(capeval(&run(&["-m", "cider-d:n=3"])).code, 0);
    for args in [
        &["-m", "cider-d:idf=uniform"][..],
        &["-m", "cider-d", "--idf", "corpus"],
        &["-m", "cider-d", "--idf", "uniform"],
        &["-m", "bleu"],
    ] {
        refused_with(&run(args), &["the document frequencies of --df"]);
    }
    assert_eq!(capeval(&run(&["-m", "cider-d,cider-d:idf=corpus"])).code, 0);
}

#[test]
fn the_ends_of_rouges_own_intervals_have_no_interval() {
    let args = ["-m", "rouge155:average=resampled:confidence=95:measures=1", "--ci", "--resamples", "300"];
    let report = json(&[&SCORE[..], &args].concat());
    let system = &report["systems"][0];
    let intervals = system["intervals"].as_object().unwrap();
    assert_eq!(intervals.len(), 9);
    for (key, interval) in intervals {
        if key.ends_with("-low") || key.ends_with("-high") {
            assert_eq!(*interval, serde_json::json!([null, null]), "{key}");
        } else {
            let [low, value, high] =
                [&interval[0], &system["scores"][key], &interval[1]].map(|number| number.as_f64().unwrap());
            assert!(low <= value && value <= high, "{key}: {low} {value} {high}");
        }
    }
    let table = stdout(&[&SCORE[..], &args].concat());
    let ends: Vec<&str> = table.lines().filter(|line| line.contains("95%") && line.contains("end")).collect();
    assert_eq!(ends.len(), 6, "{table}");
    assert!(ends.iter().all(|line| !line.contains('[')), "{table}");
}

#[test]
fn options_that_reach_no_metric_are_refused_and_those_that_reach_some_say_which() {
    let folder = tempfile::tempdir().unwrap();
    let model = scratch(&folder, "m.arpa");
    said(&["lm", "train", &quickstart("references.json"), "-o", &model]);
    refused_with(&[&SCORE[..], &["-m", "bleu", "--idf", "uniform"]].concat(), &["--idf", "CIDEr"]);
    refused_with(&[&SCORE[..], &["-m", "bleu", "--lm", &model]].concat(), &["--lm", "-m perplexity"]);
    refused_with(
        &[&SCORE[..], &["-m", "rouge155", "--rouge-data", "."]].concat(),
        &["--rouge-data", "stop=yes"],
    );
    let report = json(&[&SCORE[..], &["-m", "bleu,ter,chrf,rouge155:measures=1", "-t", "13a"]].concat());
    let kept: Vec<String> =
        notices(&report).into_iter().filter(|(code, _)| code == "tokenizer-kept").map(|(_, m)| m).collect();
    assert_eq!(kept.len(), 1);
    assert!(kept[0].contains("13a does not apply to ter, chrf, rouge155"), "{kept:?}");
    let report = json(&[&SCORE[..], &["-m", "bleu", "-t", "13a"]].concat());
    assert!(notices(&report).iter().all(|(code, _)| code != "tokenizer-kept"));
}

#[test]
fn errors_show_confidence_levels_as_they_were_typed() {
    refused_with(
        &[&SCORE[..], &["--ci=101"]].concat(),
        &["'101' is not a confidence level", "between 0 and 100"],
    );
    refused_with(&[&SCORE[..], &["--ci", "99"]].concat(), &["99:", "--ci=99"]);
    let codes = |resamples: &str| -> Vec<String> {
        let report = json(&[&SCORE[..], &["--ci", "--resamples", resamples]].concat());
        notices(&report).into_iter().map(|(code, _)| code).collect()
    };
    assert!(codes("1").contains(&"few-resamples".to_owned()));
    assert!(!codes("200").contains(&"few-resamples".to_owned()));
}

#[test]
fn a_file_without_captions_is_called_that() {
    let folder = tempfile::tempdir().unwrap();
    let none = file(&folder, "none.json", r#"{"annotations": []}"#);
    let out = scratch(&folder, "out");
    for args in [
        &["prepare", &none, "-o", &out][..],
        &["df", "build", &none, "-o", &out],
        &["diversity", &none],
        &["lm", "train", &none, "-o", &out],
    ] {
        let error = refused(args);
        assert!(error.contains("holds no captions"), "{error}");
        assert!(!error.contains("compare"), "{error}");
        assert_eq!(error.matches("none.json").count(), 1, "{error}");
    }
    for text in ["{}", "[]"] {
        let empty = file(&folder, "empty.json", text);
        let error = refused(&["score", "-r", "references.json", &empty]);
        assert!(error.contains("empty.json: holds no captions") && !error.contains("--missing"), "{error}");
    }
    let error = refused(&["lm", "train", "references.json", "--no-fallback", "-o", &out]);
    assert!(error.contains("leave out --no-fallback"), "{error}");
}

#[test]
fn lists_of_ids_show_different_images() {
    let folder = tempfile::tempdir().unwrap();
    let row = |id: u32| format!("{{\"image_id\": {id}, \"caption\": \"a\"}}");
    let rows: Vec<String> = [1, 2, 3, 77, 77, 77, 77, 77, 78].map(row).to_vec();
    let candidates = file(&folder, "c.json", &format!("[{}]", rows.join(",")));
    let error = refused(&["score", "-r", "references.json", &candidates]);
    assert!(error.contains(": 77, 78\n"), "{error}");
}

#[test]
fn a_missing_file_is_named_with_who_wanted_it() {
    let folder = tempfile::tempdir().unwrap();
    let list = file(&folder, "list.txt", "# files\nabsent-a absent-b\n");
    let error = refused(&["score", "--rouge-list", &list]);
    assert!(error.contains("list.txt:2: absent-") && error.contains("no such file"), "{error}");
    assert!(!error.contains("os error"), "{error}");
    let error = refused(&["data", "install", "meteor", "--from", "nofile"]);
    assert!(error.contains("nofile: cannot open the file: no such file"), "{error}");
    assert!(!error.contains("os error"), "{error}");
}

#[test]
fn diversity_names_what_it_needs_and_reads_numbered_columns() {
    refused_with(
        &["diversity", "results.json", "-m", "self-cider"],
        &["references", "help: pass --references FILE"],
    );
    refused_with(&["diversity", "results.json", "-m", "novelty"], &["help: pass --train FILE"]);
    assert!(!stdout(&["diversity", "--help"]).contains("--segments"));
    let folder = tempfile::tempdir().unwrap();
    let clotho = file(
        &folder,
        "clotho.csv",
        "file_name,caption_1,caption_2,caption_3\nx.wav,a bird sings,birds sing,a bird\ny.wav,rain,it rains,rain falls\n",
    );
    let report = json(&["diversity", &clotho, "-m", "vocabulary,div"]);
    assert!(report["signatures"]["div"].as_str().unwrap().contains("|captions:3|"), "{report}");
}

#[test]
fn perplexities_without_tokens_have_a_notice() {
    let run = capeval_with(&["perplexity", "-", "--format", "json"], "{\"id\": 1, \"probs\": []}");
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let codes: Vec<String> = notices(&report).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["no-tokens"]);
    let run =
        capeval_with(&["perplexity", "-"], "{\"id\": 1, \"probs\": [1]}\n{\"id\": 1, \"probs\": [0.5]}");
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("segment 1 appears twice"), "{}", run.stderr);
}

#[test]
fn words_that_a_model_does_not_know_are_counted_in_score_as_in_perplexity() {
    let folder = tempfile::tempdir().unwrap();
    let model = scratch(&folder, "m.arpa");
    let (references, good) = (quickstart("references.json"), quickstart("good.json"));
    said(&["lm", "train", "references.json", "-o", &model]);
    let unknown = |report: Value| notices(&report).into_iter().find(|(code, _)| code == "unknown-words");
    let by_perplexity = unknown(json(&["perplexity", "--lm", &model, &good]));
    assert!(by_perplexity.is_some());
    assert_eq!(by_perplexity, unknown(json(&["perplexity", "--lm", &model, &good])));
    let score = ["score", "-r", &references, &good, "-m", "perplexity"];
    assert_eq!(by_perplexity, unknown(json(&[&score[..], &["--lm", &model]].concat())));
    assert_eq!(unknown(json(&score)), None);
}

#[test]
fn systems_have_one_name_each() {
    let names = |args: &[&str]| -> Vec<String> {
        let report = json(&[&["score", "-r", "references.json"], args].concat());
        let systems = report["systems"].as_array().unwrap();
        systems.iter().map(|system| system["name"].as_str().unwrap().to_owned()).collect()
    };
    let absolute = crate::program::fixtures().join("results.json");
    let absolute = absolute.to_str().unwrap();
    assert_eq!(names(&[absolute, absolute]), ["results", "results-2"]);
    refused_with(&["score", "-r", "references.json", "a=results.json", "a=results.json"], &["called 'a'"]);
    refused_with(
        &[&["score", "-r", "references.json", "a=results.json"][..], &["--name", "x"]].concat(),
        &["--name"],
    );
}

#[test]
fn help_can_be_pasted_and_lists_only_available_choices() {
    let help = stdout(&["correlate", "--help"]);
    let commands = help.lines().filter(|line| line.trim_start().starts_with("capeval correlate"));
    assert!(commands.clone().count() >= 5);
    assert!(commands.clone().all(|line| line.chars().count() < 80), "{help}");
    let error = refused(&["convert", "references.json", "--format", "parquet"]);
    assert!(error.contains("possible values: coco, coco-results"), "{error}");
    assert!(!error.contains("karpathy"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let list = file(&folder, "ids.txt", "2\n");
    let report = json(&[&SCORE[..], &["--images", &list]].concat());
    assert!(notices(&report).iter().any(|(_, text)| text.starts_with("only the listed image of 3 is")));
}

#[test]
fn an_error_among_listed_images_names_the_line_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let (captions, list) = (scratch(&folder, "twice.csv"), scratch(&folder, "ids.txt"));
    fs::write(&captions, "image_id,caption\n1,a dog\n2,a kite\n3,a train\n2,a red kite\n").unwrap();
    fs::write(&list, "2\n3\n").unwrap();
    let args = ["score", "-r", "references.json", &captions, "-m", "rouge-l"];
    let (whole, listed) = (refused(&args), refused(&[&args[..], &["--images", &list]].concat()));
    assert!(whole.contains("twice.csv:5"), "{whole}");
    assert!(listed.contains("twice.csv:5") && listed.contains("line 3"), "{listed}");
}

#[test]
fn commands_without_a_report_tell_what_was_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| scratch(&folder, name);
    let image = |id: u32, split: &str| {
        format!(r#"{{"cocoid": {id}, "split": "{split}", "sentences": [{{"raw": "a dog runs"}}]}}"#)
    };
    let (karpathy, out) = (path("karpathy.json"), path("out"));
    fs::write(&karpathy, format!(r#"{{"images": [{}, {}]}}"#, image(1, "train"), image(2, "restval")))
        .unwrap();
    let run = capeval(&["convert", &karpathy, "--format", "jsonl", "--split", "train"]);
    assert_eq!((run.code, run.stdout.lines().count()), (0, 1));
    assert!(run.stderr.starts_with("note: ") && run.stderr.contains("1 images of restval"), "{}", run.stderr);
    let commands: [&[&str]; 3] = [&["prepare"], &["df", "build"], &["lm", "train", "-n", "2"]];
    for command in commands {
        let run = capeval(&[command, &[&karpathy, "--split", "train", "-o", &out]].concat());
        assert!(run.code == 0 && run.stderr.contains("note: the split train"), "{command:?}: {}", run.stderr);
    }
    let both = capeval(&["convert", &karpathy, "--format", "jsonl", "--split", "train,restval"]);
    assert_eq!((both.stdout.lines().count(), both.stderr.as_str()), (2, ""));
}

#[test]
fn standard_input_is_read_once() {
    for args in [
        &["score", "-r", "-", "-"][..],
        &["compare", "-r", "-", "-", "results.json"],
        &["human", "-r", "-", "--images", "-"],
        &["diversity", "-", "-r", "-"],
        &["perplexity", "--lm", "-", "-"],
        &["correlate", "-", "-r", "-"],
        &["prefer", "-", "--scores", "-"],
    ] {
        refused_with(args, &["standard input (-) can be read only once", "help: give files for the others"]);
    }
}

#[test]
fn pictures_that_belong_to_no_image_are_refused_with_names_that_do() {
    let folder = tempfile::tempdir().unwrap();
    file(&folder, "cat.jpg", "");
    let page = scratch(&folder, "page.html");
    let pictures = folder.path().display().to_string();
    let args = [&SCORE[..], &["-m", "bleu", "--html", &page, "--pictures", &pictures]].concat();
    refused_with(&args, &["is named after an image id", "help: name files after ids, such as 42.jpg"]);
}

#[test]
#[cfg(unix)]
fn another_name_of_an_input_is_not_an_output() {
    let folder = tempfile::tempdir().unwrap();
    let references = file(&folder, "references.json", r#"{"1": ["a dog"]}"#);
    let link = scratch(&folder, "link.json");
    fs::hard_link(&references, &link).unwrap();
    refused_with(
        &["convert", &references, "--format", "csv", "-o", &link],
        &["an input file cannot also be the output"],
    );
}

#[test]
fn tables_of_document_frequencies_are_neither_zeros_nor_json() {
    let folder = tempfile::tempdir().unwrap();
    for (content, what) in [("\0\0\0\0", "these are binary data"), ("{}", "this is JSON")] {
        let table = file(&folder, "table", content);
        let args = [&SCORE[..], &["-m", "cider-d", "--df", &table]].concat();
        refused_with(&args, &[what, "not a table of document frequencies", "help: run `capeval df build"]);
    }
}

#[test]
fn tables_with_short_rows_are_refused_and_those_with_semicolons_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let table = file(&folder, "a.csv", "image_id;caption\n1;a dog, and a cat\n2;a bus\n3;a tree\n");
    let report = json(&["score", "-r", &table, "results.json", "-m", "bleu"]);
    assert_eq!(report["systems"][0]["images"], 3);
    let table = file(&folder, "b.csv", "image_id,caption\n1\n");
    refused_with(&["score", "-r", &table, "results.json"], &["this row has 1 field and the header has 2"]);
}

#[test]
fn two_systems_with_the_same_captions_are_noticed() {
    let report = json(&["score", "-r", "references.json", "a=results.json", "b=results.json", "-m", "bleu"]);
    let said = ("same-captions".to_owned(), "a and b have the same captions".to_owned());
    assert!(notices(&report).contains(&said), "{:?}", notices(&report));
}

#[test]
#[cfg(unix)]
fn an_argument_that_is_not_utf_8_is_named() {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::process::CommandExt;
    let name = std::ffi::OsStr::from_bytes(b"b\xff.json");
    let run = std::process::Command::new(crate::program::path()).arg("convert").arg(name).output().unwrap();
    let error = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(
        error.contains(r#"the argument "b\xFF.json" is not UTF-8"#) && error.contains("help: rename"),
        "{error}"
    );
    // The name by which the program was called is no argument.
    let mut renamed = std::process::Command::new(crate::program::path());
    assert!(renamed.arg0(name).arg("--version").output().unwrap().status.success());
}

#[test]
fn captions_that_ptb_each_may_read_otherwise_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let references = file(&folder, "references.json", r#"{"1": ["a shirt with a t."], "2": ["a dog"]}"#);
    let candidates = file(&folder, "candidates.json", r#"{"1": "a man with a t.", "2": "a dog"}"#);
    let count = |tokenizer: &str| {
        let report = json(&["score", "-r", &references, &candidates, "-m", "bleu", "-t", tokenizer]);
        let notices = report["notices"].as_array().unwrap().clone();
        notices.iter().find(|notice| notice["code"] == "open-captions").map(|notice| notice["count"].clone())
    };
    assert_eq!(count("ptb-each"), Some(2.into()));
    assert_eq!(count("ptb"), None);
    let prepared = folder.path().join("references.capeval").to_str().unwrap().to_owned();
    assert_eq!(capeval(&["prepare", &references, "-m", "bleu", "-t", "ptb-each", "-o", &prepared]).code, 0);
    let one = file(&folder, "one.json", r#"{"2": "a dog"}"#);
    let args = ["score", "-r", &prepared, &one, "-m", "bleu", "-t", "ptb-each", "--missing", "skip"];
    let notices = json(&args)["notices"].as_array().unwrap().clone();
    assert!(notices.iter().all(|notice| notice["code"] != "open-captions"), "of images that are not scored");
}

#[test]
fn tokens_of_language_models_in_captions_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "decoded.jsonl");
    let rows = [(1, "a dog </s>"), (2, "two cats"), (3, "a kite<|im_end|><pad>")];
    let lines = rows.map(|(id, text)| format!("{{\"image_id\": {id}, \"caption\": \"{text}\"}}\n"));
    fs::write(&path, lines.concat()).unwrap();
    let found = json(&["score", "-r", "references.json", &path, "-m", "bleu"]);
    let notice = &found["notices"][0];
    assert_eq!((&notice["code"], &notice["count"]), (&"special-tokens".into(), &2.into()), "{notice}");
    assert_eq!((&notice["system"], &notice["ids"]), (&"decoded".into(), &serde_json::json!([1, 3])));
}
