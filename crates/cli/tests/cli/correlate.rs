//! `capeval correlate`: coefficients, formats, the published numbers, and what cannot be correlated.

use serde_json::Value;

use crate::program::{capeval, expect, json, real, scratch, stdout};

const ARGS: [&str; 6] = ["correlate", "ratings.csv", "-r", "references.json", "-m", "bleu,cider-d"];

fn with(rest: &[&'static str]) -> Vec<&'static str> {
    [&ARGS[..], rest].concat()
}

#[test]
fn coefficients_are_in_adjacent_columns() {
    expect("correlation.txt", &stdout(&ARGS));
    expect("correlation.md", &stdout(&with(&["-f", "markdown", "--ci", "--resamples", "500"])));
    expect("correlation.tex", &stdout(&with(&["-f", "latex"])));
}

#[test]
fn every_format_gives_the_same_coefficients() {
    let ci = ["--ci", "--resamples", "300"];
    let whole = json(&with(&ci));
    let measures = whole["correlations"].as_object().unwrap();
    assert_eq!(measures.keys().collect::<Vec<_>>(), ["bleu-1", "bleu-2", "bleu-3", "bleu-4", "cider-d"]);
    let (jsonl, csv) = (
        stdout(&with(&[&ci[..], &["-f", "jsonl"]].concat())),
        stdout(&with(&[&ci[..], &["-f", "csv"]].concat())),
    );
    let lines: Vec<Value> = jsonl.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    for ((line, row), (key, found)) in lines.iter().zip(&rows[1..]).zip(measures) {
        assert_eq!((&line["measure"], row[0]), (&key.as_str().into(), key.as_str()));
        for (name, value) in found.as_object().unwrap() {
            assert_eq!(&line[name], value, "{name}");
        }
        for name in ["pearson", "tau_c", "accuracy"] {
            let at = rows[0].iter().position(|column| *column == name).unwrap();
            assert_eq!(row[at].parse::<f64>().unwrap(), found[name].as_f64().unwrap(), "{name}");
            let low = row[at + 1].parse::<f64>().unwrap();
            assert_eq!(low, found["intervals"][name][0].as_f64().unwrap(), "{name}");
        }
    }
    let human = &whole["ratings"];
    assert_eq!((&human["ratings"], &human["items"], &human["images"]), (&27.into(), &9.into(), &3.into()));
    assert!(human["krippendorff_alpha"].as_f64().unwrap() > 0.7);
}

/// Each line or row of a correlation is complete without the others.
#[test]
fn a_line_and_a_row_hold_systems_williams_test_and_their_own_signature() {
    let ci = ["--ci=90", "--resamples", "300", "--seed", "5"];
    let whole = json(&with(&ci));
    let jsonl = stdout(&with(&[&ci[..], &["-f", "jsonl"]].concat()));
    let csv = stdout(&with(&[&ci[..], &["-f", "csv"]].concat()));
    let lines: Vec<Value> = jsonl.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let field =
        |row: usize, name: &str| rows[row][rows[0].iter().position(|column| *column == name).unwrap()];
    let number = |row: usize, name: &str| field(row, name).parse::<f64>().unwrap();
    for (row, (key, metric)) in
        [("bleu-1", "bleu"), ("bleu-4", "bleu"), ("cider-d", "cider-d")].into_iter().enumerate()
    {
        let at = [1, 4, 5][row];
        assert_eq!(rows[at].len(), rows[0].len());
        let (line, found) = (&lines[at - 1], &whole["correlations"][key]);
        let signature = whole["signatures"][metric].as_str().unwrap();
        assert_eq!((&line["signature"], field(at, "signature")), (&signature.into(), signature));
        assert_eq!((&line["notices"], &line["resampling"]), (&whole["notices"], &whole["resampling"]));
        assert_eq!(
            ["level", "resamples", "seed", "systems"].map(|name| field(at, name)),
            ["0.9", "300", "5", "3"]
        );
        for name in ["pearson", "tau_b", "accuracy"] {
            let value = found["system_level"][name].as_f64().unwrap();
            assert_eq!(number(at, &format!("system_level_{name}")), value);
            assert_eq!(line["system_level"][name], value);
        }
        for name in ["krippendorff_alpha", "fleiss_kappa"] {
            assert_eq!(number(at, name), whole["ratings"][name].as_f64().unwrap());
        }
        assert_eq!(line["williams"].as_array().unwrap().len(), 4);
    }
    // The test of two measures, from the side of each.
    let tests = whole["williams"].as_array().unwrap();
    let test = tests.iter().find(|test| test["a"] == "bleu-4" && test["b"] == "cider-d").unwrap();
    assert_eq!(number(4, "cider-d_williams_t"), test["t"].as_f64().unwrap());
    assert_eq!(number(5, "bleu-4_williams_t"), -test["t"].as_f64().unwrap());
    assert_eq!(number(5, "bleu-4_williams_p"), test["p"].as_f64().unwrap());
    assert_eq!(number(5, "bleu-4_williams_r"), test["r_ab"].as_f64().unwrap());
    assert_eq!(number(5, "williams_r"), test["r_b"].as_f64().unwrap());
    assert_eq!(number(5, "williams_df"), test["degrees_of_freedom"].as_f64().unwrap());
    assert_eq!(field(5, "cider-d_williams_t"), "");
}

/// `capeval correlate ratings.csv --scores pair_scores.csv`, against scipy 1.17: `pearsonr`, `spearmanr` and
/// `kendalltau` (b and c) of the 27 ratings, and of the means of the three systems.
#[test]
fn given_scores_are_correlated_as_scipy_does() {
    let found = json(&["correlate", "ratings.csv", "--scores", "pair_scores.csv"]);
    let mine = &found["correlations"]["mine"];
    let expected = [
        ("pearson", 0.9190832984120602),
        ("spearman", 0.9176632538905006),
        ("tau_b", 0.8314866976075042),
        ("tau_c", 0.8742569730224051),
    ];
    for (name, expected) in expected {
        let value = mine[name].as_f64().unwrap();
        assert!((value - expected).abs() < 1e-12, "{name} is {value}, not {expected}");
    }
    assert_eq!(mine["accuracy"], 1.0);
    assert_eq!(
        (&mine["system_level"]["systems"], &mine["system_level"]["spearman"]),
        (&3.into(), &1.0.into())
    );
    // An error rate that agrees has a negative coefficient and a high accuracy.
    let ter = &found["correlations"]["ter"];
    assert!(
        ter["pearson"].as_f64().unwrap() < -0.9
            && ter["accuracy"] == 1.0
            && ter["system_level"]["accuracy"] == 1.0
    );
    assert_eq!(found["williams"].as_array().unwrap().len(), 1);
}

#[test]
fn the_order_of_ratings_changes_no_digit() {
    let text = std::fs::read_to_string(crate::program::fixtures().join("ratings.csv")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].reverse();
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "ratings.csv");
    std::fs::write(&path, lines.join("\n")).unwrap();
    let rest = ["-r", "references.json", "-m", "bleu,cider-d", "--ci", "--resamples", "200"];
    let turned = json(&[&["correlate", &path], &rest[..]].concat());
    let plain = json(&[&["correlate", "ratings.csv"], &rest[..]].concat());
    assert_eq!(turned["correlations"], plain["correlations"]);
    assert_eq!(turned["williams"], plain["williams"]);
}

#[test]
fn the_seed_alone_decides_the_intervals() {
    let run = |seed: &'static str, threads: &'static str| {
        json(&with(&["--ci", "--resamples", "101", "--seed", seed, "--threads", threads]))
    };
    assert_eq!(run("1", "1"), run("1", "3"));
    assert_ne!(run("1", "1")["correlations"], run("2", "1")["correlations"]);
}

#[test]
fn points_are_available() {
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "points.jsonl");
    stdout(&[&ARGS[..], &["--unit", "item", "--segments", &path]].concat());
    let text = std::fs::read_to_string(&path).unwrap();
    let points: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(points.len(), 9);
    assert_eq!(points[0]["image_id"], 1);
    assert!(points.iter().all(|point| point["scores"]["cider-d"].is_f64()));
}

/// A row names its caption, so that it can be identified, and read with `--scores`.
#[test]
fn points_name_their_caption_system_and_ratings() {
    let folder = tempfile::tempdir().unwrap();
    let (ratings, path) = (scratch(&folder, "named.csv"), scratch(&folder, "points.jsonl"));
    let table =
        "image_id,caption,system,rater_1,rater_2\n1,a dog,ours,4,3\n1,a cat,theirs,1,2\n2,a kite,ours,5,5\n";
    std::fs::write(&ratings, table).unwrap();
    let args = ["correlate", &ratings, "-r", "references.json", "-m", "rouge-l"];
    let read = || -> Vec<Value> {
        let text = std::fs::read_to_string(&path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    stdout(&[&args[..], &["--segments", &path]].concat());
    let points = read();
    assert_eq!(points.len(), 6);
    let keys: Vec<&String> = points[0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["system", "image_id", "caption", "rating", "ratings", "scores"]);
    let of = |point: &Value| {
        [&point["system"], &point["caption"], &point["rating"], &point["ratings"]]
            .map(Value::to_string)
            .join(" ")
    };
    assert_eq!(of(&points[0]), "\"theirs\" \"a cat\" 1.0 [1.0,2.0]");
    assert_eq!(of(&points[3]), "\"ours\" \"a dog\" 4.0 [3.0,4.0]");
    let (scored, given) = (json(&args), json(&["correlate", &ratings, "--scores", &path]));
    // The rows describe captions, and can replace metrics.
    assert_eq!(scored["correlations"]["rouge-l"]["pearson"], given["correlations"]["rouge-l"]["pearson"]);
    stdout(&[&args[..], &["--segments", &path, "--unit", "item"]].concat());
    assert_eq!(of(&read()[1]), "\"ours\" \"a dog\" 3.5 [3.0,4.0]");
}

#[test]
fn captions_among_their_own_references_are_noticed_and_can_be_removed_or_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "own.csv");
    let own =
        "image_id,caption,rating\n1,A dog runs along  the beach.,4\n1,a cat,1\n2,a kite,3\n3,a train,2\n";
    std::fs::write(&path, own).unwrap();
    let run = |what: &str| {
        json(&["correlate", &path, "-r", "references.json", "-m", "rouge-l", "--own-reference", what])
    };
    let (keep, remove, skip) = (run("keep"), run("remove"), run("skip"));
    for (found, code) in
        [(&keep, "own-reference:keep"), (&remove, "own-reference:remove"), (&skip, "own-reference:skip")]
    {
        assert_eq!((&found["notices"][0]["code"], &found["notices"][0]["count"]), (&code.into(), &1.into()));
        assert!(found["signatures"]["rouge-l"].as_str().unwrap().contains(code));
    }
    assert_eq!((&keep["ratings"]["items"], &skip["ratings"]["items"]), (&4.into(), &3.into()));
    assert_ne!(keep["correlations"], remove["correlations"]);
}

/// The captions of image 1 are a reference and another: the former loses itself, the latter nothing.
#[test]
fn a_caption_that_is_held_out_is_compared_with_the_other_references() {
    let folder = tempfile::tempdir().unwrap();
    let (path, rows) = (scratch(&folder, "own.csv"), scratch(&folder, "rows.jsonl"));
    let own =
        "image_id,caption,rating\n1,A dog runs along the beach.,4\n1,a dog runs,1\n2,a kite,3\n3,a train,2\n";
    std::fs::write(&path, own).unwrap();
    let scores = |what: &str| -> Vec<f64> {
        let args = ["correlate", &path, "-r", "references.json", "-m", "rouge-l", "--segments", &rows];
        let found = json(&[&args[..], &["--own-reference", what]].concat());
        assert_eq!(found["notices"][0]["code"], format!("own-reference:{what}"));
        let rows = std::fs::read_to_string(&rows).unwrap();
        let row =
            |line: &str| serde_json::from_str::<Value>(line).unwrap()["scores"]["rouge-l"].as_f64().unwrap();
        rows.lines().map(row).collect()
    };
    let (keep, remove, held_out) = (scores("keep"), scores("remove"), scores("hold-out"));
    assert!(keep[0] == 1.0 && remove[0] < 1.0 && remove[1] < keep[1], "{keep:?} {remove:?}");
    assert_eq!(held_out, [remove[0], keep[1], keep[2], keep[3]]);
}

#[test]
fn captions_that_differ_from_references_in_case_and_punctuation_can_be_removed_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "own.csv");
    let own = "image_id,caption,rating\n1,a dog runs along the beach,4\n1,a cat,1\n2,a kite,3\n3,a train,2\n";
    std::fs::write(&path, own).unwrap();
    let run = |what: &str| {
        json(&["correlate", &path, "-r", "references.json", "-m", "rouge-l", "--own-reference", what])
    };
    let (remove, same) = (run("remove"), run("remove-same-words"));
    assert_eq!(same["notices"][0]["code"], "own-reference:remove-same-words");
    assert_eq!(same["notices"][0]["count"], 1);
    assert_ne!(remove["notices"][0]["code"], "own-reference:remove");
    assert_ne!(same["correlations"], remove["correlations"]);
}

#[test]
fn rows_without_rating_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "gaps.csv");
    std::fs::write(&path, "image_id,caption,rating\n1,a dog,4\n1,a cat,\n2,a kite,3\n3,a train,\n").unwrap();
    let found = json(&["correlate", &path, "-r", "references.json", "-m", "rouge-l"]);
    assert_eq!(
        (&found["notices"][0]["code"], &found["notices"][0]["count"]),
        (&"no-rating".into(), &2.into())
    );
    assert_eq!(found["ratings"]["ratings"], 2);
}

#[test]
fn two_systems_have_no_correlation() {
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "two.csv");
    let text = "image_id,caption,system,rating\n1,a dog,a,4\n1,a cat,b,1\n2,a kite,a,3\n2,a man,b,1\n";
    std::fs::write(&path, text).unwrap();
    let args = ["correlate", &path, "-r", "references.json", "-m", "rouge-l"];
    let found = json(&args);
    let systems = &found["correlations"]["rouge-l"]["system_level"];
    assert_eq!(
        (&systems["systems"], &systems["pearson"], &systems["tau_b"]),
        (&2.into(), &Value::Null, &Value::Null)
    );
    assert!(systems["accuracy"].is_f64());
    assert!(found["notices"].as_array().unwrap().iter().any(|notice| notice["code"] == "two-systems"));
    assert!(stdout(&args).contains("system level (2 systems)"));
}

/// The largest number has 309 digits when it is written out.
#[test]
fn huge_ratings_do_not_fill_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "huge.csv");
    std::fs::write(&path, "image_id,caption,rating\n1,a dog,1e308\n2,a kite,3\n").unwrap();
    let text = stdout(&["correlate", &path, "-r", "references.json", "-m", "rouge-l"]);
    assert!(text.contains("from 3 to 1.0000e308") && !text.contains("0000000000"), "{text}");
}

/// The case, the ratings, the other arguments, and the words that the error must contain.
const CASES: &[(&str, &str, &[&str], &[&str])] = &[
    (
        "unknown images",
        "image_id,caption,rating\n1,a,1\n9,b,2\n",
        &["-r", "references.json"],
        &["1 of 2", "9", "--surplus ignore"],
    ),
    (
        "only unknown images",
        "image_id,caption,rating\n9,b,2\n",
        &["-r", "references.json", "--surplus", "ignore"],
        &["1 of 1"],
    ),
    (
        "no references",
        "image_id,caption,rating\n1,a,1\n",
        &[],
        &["need references", "--references", "--scores"],
    ),
    (
        "an empty caption",
        "image_id,caption,rating\n1,a,1\n2,,2\n",
        &["-r", "references.json"],
        &["line 3", "empty caption"],
    ),
    ("an empty list", "[]", &["-r", "references.json"], &["no rating in this file"]),
    (
        "scores of other systems",
        "image_id,system,rating\n1,mine,1\n1,yours,2\n",
        &["--scores", "of_systems.csv"],
        &["image 1 by system 'mine'", "'ours', 'theirs'"],
    ),
    ("no captions", "image_id,rating\n1,1\n", &["-r", "references.json"], &["--caption-column", "--scores"]),
    (
        "no number",
        "image_id,caption,rating\n1,a,NaN\n",
        &["-r", "references.json"],
        &["ratings.csv:2", "not a finite number"],
    ),
    ("an empty file", "", &["-r", "references.json"], &["is empty"]),
    ("no rating", "image_id,caption,rating\n1,a,\n", &["-r", "references.json"], &["no rating"]),
    (
        "a caption that is not there",
        "1.jpg\t2.jpg#7\t1\t2\t3\n",
        &["-r", "flickr.txt"],
        &["2.jpg#7", "holds all captions"],
    ),
    (
        "no score for an item",
        "image_id,rating\n1,1\n7,2\n",
        &["--scores", "one_score.csv"],
        &["1 of 2", "no score", "7"],
    ),
    (
        "scores of several captions",
        "image_id,rating\n1,1\n",
        &["--scores", "two_scores.csv"],
        &["several scores", "caption or system"],
    ),
    ("a wrong unit", "image_id,rating\n1,1\n", &["--unit", "word"], &["rating", "item"]),
];

#[test]
fn ratings_that_cannot_be_correlated_are_refused() {
    for (what, ratings, rest, words) in CASES {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| scratch(&folder, name);
        std::fs::write(path("ratings.csv"), ratings).unwrap();
        std::fs::write(path("flickr.txt"), "1.jpg#0\ta dog\n2.jpg#0\ta cat\n").unwrap();
        std::fs::write(path("one_score.csv"), "image_id,m\n1,0.5\n").unwrap();
        std::fs::write(path("of_systems.csv"), "image_id,system,m\n1,ours,0.5\n1,theirs,0.7\n").unwrap();
        std::fs::write(path("two_scores.csv"), "image_id,m\n1,0.5\n1,0.7\n").unwrap();
        let rest: Vec<String> = rest
            .iter()
            .map(|arg| if arg.contains('_') || *arg == "flickr.txt" { path(arg) } else { (*arg).to_owned() })
            .collect();
        let mut args = vec!["correlate".to_owned(), path("ratings.csv")];
        args.extend(rest);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let run = capeval(&args);
        assert!(run.code == 2 && run.stdout.is_empty(), "{what}: {} {}", run.code, run.stdout);
        for word in *words {
            assert!(run.stderr.contains(word), "{what}: '{word}' is not said: {}", run.stderr);
        }
    }
}

#[test]
fn ratings_and_scores_that_never_vary_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "constant.csv");
    std::fs::write(&path, "image_id,caption,rating\n1,a dog,3\n2,a kite,3\n3,a train,3\n").unwrap();
    let found =
        json(&["correlate", &path, "-r", "references.json", "-m", "rouge-l", "--ci", "--resamples", "50"]);
    let codes: Vec<&Value> = found["notices"].as_array().unwrap().iter().map(|n| &n["code"]).collect();
    assert!(codes.contains(&&"constant-ratings".into()) && codes.contains(&&"one-rater".into()), "{codes:?}");
    assert_eq!(found["correlations"]["rouge-l"]["pearson"], Value::Null);
    std::fs::write(&path, "image_id,caption,rating\n1,zzz,1\n2,zzz,2\n3,zzz,3\n").unwrap();
    let found = json(&["correlate", &path, "-r", "references.json", "-m", "rouge-l"]);
    let codes: Vec<&Value> = found["notices"].as_array().unwrap().iter().map(|n| &n["code"]).collect();
    assert!(codes.contains(&&"constant-scores".into()), "{codes:?}");
}

/// The numbers of the literature (CLIPScore, EMNLP 2021, table 1 and 2, to one decimal there), to three decimals as
/// pycocoevalcap 1.2 and scipy 1.17 give them: times 100.
#[test]
fn published_correlations_come_out() {
    let metrics = ["-m", "bleu,rouge-l,cider-d"];
    let check = |found: &Value, coefficient: &str, expected: &[(&str, f64)]| {
        for (key, value) in expected {
            let ours = found["correlations"][key][coefficient].as_f64().unwrap() * 100.0;
            assert!((ours - value).abs() < 0.0005, "{key} {coefficient} is {ours}, not {value}");
        }
    };
    let names = ["bleu-1", "bleu-4", "rouge-l", "cider-d"];
    let of = |values: [f64; 4]| -> Vec<(&'static str, f64)> { names.into_iter().zip(values).collect() };
    if let Some(ratings) = real("data/flickr8k/expert_clipscore_form.json.gz") {
        let found = json(&[&["correlate", &ratings], &metrics[..]].concat());
        assert_eq!(found["ratings"]["points"], 16_992);
        check(&found, "tau_c", &of([32.324, 30.776, 32.314, 43.891]));
        check(&found, "tau_b", &of([32.175, 30.599, 32.139, 43.602]));
    }
    let files =
        real("data/flickr8k/CrowdFlowerAnnotations.txt.gz").zip(real("data/flickr8k/Flickr8k.token.txt.gz"));
    if let Some((ratings, captions)) = files {
        let rest = ["-r", &captions, "--own-reference", "remove"];
        let found = json(&[&["correlate", &ratings], &rest[..], &metrics[..]].concat());
        assert_eq!(found["ratings"]["points"], 47_830);
        check(&found, "tau_b", &of([17.946, 16.863, 19.903, 24.619]));
    }
}

/// From Flickr8k's own file, without the captions that belong to their image, come the same pairs and ratings as
/// in CLIPScore's form.
#[test]
fn flickr8ks_own_file_gives_the_published_numbers_too() {
    let files =
        real("data/flickr8k/ExpertAnnotations.txt.gz").zip(real("data/flickr8k/Flickr8k.token.txt.gz"));
    let Some((ratings, captions)) = files else { return };
    let found = json(&["correlate", &ratings, "-r", &captions, "--own-reference", "skip", "-m", "bleu"]);
    assert_eq!(found["ratings"]["points"], 16_992);
    let tau_c = found["correlations"]["bleu-1"]["tau_c"].as_f64().unwrap() * 100.0;
    assert!((tau_c - 32.324).abs() < 0.0005, "{tau_c}");
}

#[test]
fn percent_multiplies_coefficients_by_100_but_not_their_strength() {
    let rows = |options: &[&'static str]| -> Vec<Vec<String>> {
        let table = stdout(&with(options));
        let rows = table.lines().filter(|line| line.starts_with("BLEU-4") || line.starts_with("CIDEr-D"));
        // The rows after these are of Williams' test.
        rows.take(2).map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
    };
    let (plain, percent) = (rows(&["--digits", "4"]), rows(&["--digits", "2", "--percent"]));
    for (a, b) in plain.iter().flatten().zip(percent.iter().flatten()) {
        match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(a), Ok(b)) => assert!((100.0 * a - b).abs() < 1e-9, "{a} {b}"),
            _ => assert_eq!(a, b),
        }
    }
    assert_eq!(json(&with(&["--percent"]))["correlations"], json(&ARGS)["correlations"]);
    let table = stdout(&with(&["--percent"]));
    assert!(table.contains("note: coefficients and accuracies are multiplied by 100"), "{table}");
}

#[test]
fn ratings_beside_references_that_were_numbered_are_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let rows = r#"{"question_id": 901, "caption": "a dog runs"}"#;
    let references = scratch(&folder, "refs.jsonl");
    std::fs::write(&references, format!("{rows}\n")).unwrap();
    let ratings = scratch(&folder, "ratings.csv");
    std::fs::write(&ratings, "image_id,caption,rating\n901,a dog,3\n902,a cat,4\n").unwrap();
    let run = capeval(&["correlate", &ratings, "-r", &references, "-m", "bleu"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    for words in ["without a reference", "numbered", "--ref-id-column"] {
        assert!(run.stderr.contains(words), "{words}: {}", run.stderr);
    }
}
