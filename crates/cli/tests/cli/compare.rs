//! `capeval compare`: tests of significance, their formats and exit codes.

use serde_json::Value;

use crate::program::{capeval, expect, json, quickstart, stdout, without_run};

fn args<'a>(files: &'a [String], rest: &[&'a str]) -> Vec<&'a str> {
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    [&["compare", "-r"], &files[..], rest].concat()
}

fn files(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| quickstart(name)).collect()
}

fn quick(rest: &[&str]) -> String {
    let files = files(&["references.json", "weak.json", "good.json"]);
    stdout(&args(&files, &[&["-m", "bleu,rouge-l,cider-d"], rest].concat()))
}

fn report(rest: &[&str]) -> Value {
    without_run(&quick(&[&["-f", "json"], rest].concat()))
}

#[test]
fn differences_are_shown_next_to_scores_with_their_tests() {
    expect("comparison.txt", &quick(&[]));
    expect("comparison.md", &quick(&["-f", "markdown", "--correction", "bh"]));
    expect("comparison.tex", &quick(&["-f", "latex", "--ci=99"]));
}

#[test]
fn every_format_gives_the_same_contrasts() {
    let whole = report(&[]);
    let measures = whole["comparisons"][0]["contrasts"].as_object().unwrap();
    let (jsonl, csv) = (quick(&["-f", "jsonl"]), quick(&["-f", "csv"]));
    let lines: Vec<Value> = jsonl.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!((lines.len(), rows.len()), (measures.len(), measures.len() + 1));
    for ((line, row), (key, contrast)) in lines.iter().zip(&rows[1..]).zip(measures) {
        assert_eq!((&line["measure"], row[2]), (&key.as_str().into(), key.as_str()));
        for (name, value) in contrast.as_object().unwrap() {
            assert_eq!(&line[name], value, "{name}");
        }
        for (column, value) in [
            ("difference", &contrast["difference"]),
            ("randomisation_adjusted", &contrast["randomisation"]["adjusted"]),
            ("high", &contrast["interval"][1]),
        ] {
            let at = rows[0].iter().position(|name| *name == column).unwrap();
            assert_eq!(row[at].parse::<f64>().unwrap(), value.as_f64().unwrap(), "{column}");
        }
    }
}

/// Each line or row of a comparison is complete without the others.
#[test]
fn a_line_and_a_row_say_on_their_own_what_was_computed() {
    let whole = report(&["--seed", "7", "--correction", "bh"]);
    let (jsonl, csv) = (
        quick(&["-f", "jsonl", "--seed", "7", "--correction", "bh"]),
        quick(&["-f", "csv", "--seed", "7", "--correction", "bh"]),
    );
    let line: Value = serde_json::from_str(jsonl.lines().last().unwrap()).unwrap();
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let row: Vec<&str> = csv.lines().last().unwrap().split(',').collect();
    assert_eq!(header.len(), row.len());
    let field = |name: &str| row[header.iter().position(|column| *column == name).unwrap()];
    for (k, side) in ["baseline", "system"].into_iter().enumerate() {
        let system = &whole["systems"][k];
        let (score, interval) = (&system["scores"]["cider-d"], &system["intervals"]["cider-d"]);
        assert_eq!((&line[format!("{side}_score")], &line[format!("{side}_interval")]), (score, interval));
        assert_eq!(field(&format!("{side}_score")).parse::<f64>().unwrap(), score.as_f64().unwrap());
        let low: f64 = field(&format!("{side}_low")).parse().unwrap();
        assert_eq!(low, interval[0].as_f64().unwrap());
        let signature = system["signatures"]["cider-d"].as_str().unwrap();
        assert_eq!(line[format!("{side}_signature")], signature);
        assert_eq!(field(&format!("{side}_signature")), signature);
    }
    assert_eq!((&line["resampling"], &line["correction"]), (&whole["resampling"], &"bh".into()));
    assert_eq!((&line["notices"], &line["images"]), (&whole["notices"], &12.into()));
    let drawn = ["level", "resamples", "seed", "correction", "images"].map(field);
    assert_eq!(drawn, ["0.95", "10000", "7", "bh", "12"]);
}

#[test]
fn intervals_are_those_of_score() {
    let files = files(&["references.json", "weak.json", "good.json"]);
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    let flags = ["-m", "bleu,rouge-l,cider-d", "--ci", "-f", "json"];
    let scored = stdout(&[&["score", "-r"], &names[..], &flags].concat());
    let scored: Value = serde_json::from_str(&scored).unwrap();
    assert_eq!(report(&[])["systems"], scored["systems"]);
}

#[test]
fn the_seed_alone_decides_the_digits() {
    let one = report(&["--resamples", "997", "--seed", "3", "--threads", "1"]);
    assert_eq!(one, report(&["--resamples", "997", "--seed", "3", "--threads", "2"]));
    assert_ne!(one, report(&["--resamples", "997", "--seed", "4", "--threads", "2"]));
}

#[test]
fn exchanging_the_systems_changes_signs_and_no_p() {
    let contrast = |names: &[&str]| {
        let files = files(names);
        let text = stdout(&args(&files, &["-m", "bleu,cider-d", "-f", "json"]));
        let report: Value = serde_json::from_str(&text).unwrap();
        report["comparisons"][0]["contrasts"].clone()
    };
    let ab = contrast(&["references.json", "weak.json", "good.json"]);
    let ba = contrast(&["references.json", "good.json", "weak.json"]);
    for (key, a) in ab.as_object().unwrap() {
        let b = &ba[key];
        assert_eq!(a["difference"].as_f64().unwrap(), -b["difference"].as_f64().unwrap());
        assert_eq!((&a["wins"], &a["ties"], &a["losses"]), (&b["losses"], &b["ties"], &b["wins"]));
        for test in ["bootstrap", "randomisation", "exact", "sign"] {
            assert_eq!(a.get(test), b.get(test), "{key} {test}");
        }
        assert_eq!((&a["verdict"], &b["verdict"]), (&"better".into(), &"worse".into()));
    }
}

#[test]
fn a_system_does_not_differ_from_itself() {
    let files = files(&["references.json", "weak.json", "weak.json"]);
    let text = stdout(&args(&files, &["-m", "bleu,cider-d", "-f", "json"]));
    let report: Value = serde_json::from_str(&text).unwrap();
    for contrast in report["comparisons"][0]["contrasts"].as_object().unwrap().values() {
        assert_eq!((&contrast["ties"], &contrast["verdict"]), (&12.into(), &"undecided".into()));
        for test in ["bootstrap", "randomisation"] {
            assert_eq!(contrast[test]["p"], 1.0, "{test}");
        }
    }
}

#[test]
fn what_is_required_decides_the_exit_code() {
    let run = |names: &[&str], rest: &[&str]| {
        let files = files(names);
        let run = capeval(&args(&files, &[&["-m", "cider-d"], rest].concat()));
        (run.code, run.stderr)
    };
    let code = |names: &[&str], rest: &[&str]| run(names, rest).0;
    let (better, worse) =
        (["references.json", "weak.json", "good.json"], ["references.json", "good.json", "weak.json"]);
    assert_eq!(code(&better, &["--require", "better", "--on", "cider-d"]), 0);
    assert_eq!(code(&better, &["--require", "not-worse"]), 0);
    let failed = "failed: weak is worse than good by cider-d: -1.0756, p = 0.0005\n";
    assert_eq!(run(&worse, &["--require", "not-worse"]), (1, failed.to_owned()));
    assert_eq!(code(&worse, &[]), 0);
    assert_eq!(code(&better, &["--require", "better", "--on", "bleu"]), 2);
}

#[test]
fn the_reason_of_a_failure_is_said_even_to_those_who_want_only_results() {
    let files = files(&["references.json", "good.json", "weak.json"]);
    let run = capeval(&args(&files, &["-q", "-m", "cider-d", "--require", "not-worse"]));
    assert_eq!(
        (run.code, &*run.stderr),
        (1, "failed: weak is worse than good by cider-d: -1.0756, p = 0.0005\n")
    );
}

#[test]
fn conditions_are_required_of_the_systems_that_they_do_not_name() {
    let folder = tempfile::tempdir().unwrap();
    let saved = crate::program::scratch(&folder, "monday.json");
    let (references, good, weak) =
        (quickstart("references.json"), quickstart("good.json"), quickstart("weak.json"));
    let score = |system: &str, rest: &[&str]| {
        let flags = ["score", "-r", &references, system, "-m", "cider-d,bleu", "-q"];
        let run = capeval(&[&flags, rest].concat());
        (run.code, run.stderr)
    };
    assert_eq!(score(&good, &["--save", &saved]).0, 0);
    let base = ["--base", &*saved];
    let with = |rest: &[&'static str]| score(&weak, &[&base, rest].concat());
    assert_eq!(score(&weak, &["--require", "cider-d>=0.1", "--require", "bleu-4-1<0"]), (0, String::new()));
    let failed = "failed: weak does not meet mean(bleu-1, bleu-4) > 0.9: ";
    let (code, said) = score(&weak, &["--require", "mean(bleu-1, bleu-4) > 0.9"]);
    assert!(code == 1 && said.starts_with(failed), "{said}");
    let (code, said) = with(&["--require", "cider-d >= monday - 0.01"]);
    assert!(code == 1 && said.starts_with("failed: weak does not meet cider-d >= monday - 0.01: "), "{said}");
    assert_eq!(with(&["--require", "cider-d <= monday[cider-d]"]).0, 0);
    for (requirement, words) in [
        ("cider >= 1", "nothing is called 'cider'"),
        ("cider-d >= tuesday", "character 12"),
        ("cider-d >> 1", "character 10"),
        ("better", "only a comparison"),
        ("beter", "did you mean better?"),
        ("cider-d >= cider-d[bleu-4]", "no system is called 'cider-d'"),
    ] {
        let (code, said) = with(&["--require", requirement]);
        assert!(code == 2 && said.contains(words), "{requirement}: {said}");
    }
    // Scores of other settings are no base.
    let other = capeval(&[
        "score",
        "-r",
        &references,
        &weak,
        "-m",
        "cider-d:sigma=4",
        "--base",
        &saved,
        "--require",
        "cider-d>=monday",
    ]);
    assert!(other.code == 2 && other.stderr.contains("sigma is 4 and 6"), "{}", other.stderr);
    let compare = |rest: &[&str]| {
        let files = ["compare", "-r", &references, &good, &weak, "-m", "cider-d"];
        let run = capeval(&[&files, rest].concat());
        (run.code, run.stderr)
    };
    let (code, said) = compare(&["--require", "cider-d>=good-0.01", "--require", "not-worse"]);
    assert!(code == 1 && said.lines().count() == 2, "{said}");
    assert_eq!(compare(&["--require", "cider-d<good"]).0, 0);
}

/// No exchange of 200 gives as large a difference as BLEU-1 to BLEU-3 have: p is 1/201 at most, and times 4 by Holm,
/// which is more than that of BLEU-4, too. Without a correction, BLEU-4 has a p-value of its own.
#[test]
fn a_p_value_that_is_the_least_of_the_resamples_is_a_bound() {
    let files = files(&["references.json", "good.json", "weak.json"]);
    for (correction, of_bleu_4, bound) in [("holm", true, "≤0.0200"), ("none", false, "≤0.0050")] {
        let options = ["-m", "bleu", "--resamples", "200", "--correction", correction];
        let table = capeval(&args(&files, &options)).stdout;
        let bounds: Vec<bool> = table.lines().skip(2).take(4).map(|row| row.contains("≤")).collect();
        assert_eq!(bounds, [true, true, true, of_bleu_4], "{table}");
        assert!(table.contains(bound), "{table}");
    }
}

/// Ten exchanges give p-values of 1/11 at least, which no correction makes smaller; four tests corrected by Holm need
/// 4 / (n + 1) < 0.05, so n = 80 (79 gives 0.05 itself, but for rounding).
#[test]
fn too_few_resamples_for_the_number_of_tests_are_noticed_and_refused() {
    let files = files(&["references.json", "good.json", "weak.json"]);
    let run = |resamples: &str, rest: &[&str]| {
        let flags = ["-m", "bleu", "-f", "json", "--resamples", resamples];
        capeval(&args(&files, &[&flags, rest].concat()))
    };
    let codes = |resamples: &str, rest: &[&str]| -> Vec<String> {
        let report: Value = serde_json::from_str(&run(resamples, rest).stdout).unwrap();
        let notices = report["notices"].as_array().unwrap();
        notices.iter().map(|notice| notice["code"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(codes("10", &[]), ["too-few-resamples"]);
    assert_eq!(codes("78", &[]), ["too-few-resamples"]);
    assert!(codes("80", &[]).is_empty());
    assert!(codes("20", &["--correction", "none"]).is_empty());
    assert!(codes("20", &["--correction", "bh"]).is_empty());
    for requirement in ["not-worse", "better"] {
        let refused = run("10", &["--require", requirement]);
        assert!(refused.code == 2 && refused.stdout.is_empty());
        for word in ["10 resamples and 4 tests", "--resamples "] {
            assert!(refused.stderr.contains(word), "{}", refused.stderr);
        }
    }
    assert_eq!(run("1000", &["--require", "not-worse"]).code, 1);
}

/// Under a model in which unknown words have probability 0, perplexities are infinite and cannot be compared.
#[test]
fn what_is_required_of_a_score_that_is_no_number_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let model = crate::program::scratch(&folder, "model.arpa");
    let arpa = "\\data\\\nngram 1=4\n\n\\1-grams:\n-99\t<s>\n-0.5\t</s>\n-0.3\ta\n-inf\t<unk>\n\n\\end\\\n";
    std::fs::write(&model, arpa).unwrap();
    let files = files(&["references.json", "good.json", "weak.json"]);
    let run = |rest: &[&str]| {
        capeval(&args(&files, &[&["-m", "perplexity,rouge-l", "--lm", &model], rest].concat()))
    };
    let report: Value = serde_json::from_str(&run(&["-f", "json"]).stdout).unwrap();
    assert_eq!(report["systems"][1]["scores"]["perplexity"], "inf");
    for requirement in ["not-worse", "better"] {
        let refused = run(&["--require", requirement]);
        assert!(refused.code == 2 && refused.stdout.is_empty(), "{} {}", refused.code, refused.stdout);
        for word in ["perplexity", "not finite", "--segments", "--on"] {
            assert!(refused.stderr.contains(word), "'{word}' is not said: {}", refused.stderr);
        }
        assert_eq!(run(&["--require", requirement, "--on", "rouge-l"]).code, 1);
    }
}

/// `capeval score --ci` gives them no interval either.
#[test]
fn the_ends_of_rouges_own_intervals_have_no_test() {
    let files = files(&["references.json", "weak.json", "good.json"]);
    let metric = ["-m", "rouge155:measures=1:average=resampled:samples=50:confidence=95"];
    let run = |rest: &[&str]| capeval(&args(&files, &[&metric, rest].concat()));
    let report: Value = serde_json::from_str(&run(&["-f", "json"]).stdout).unwrap();
    let contrasts = report["comparisons"][0]["contrasts"].as_object().unwrap();
    let has = |value: &Value| value.as_f64().is_some();
    for (key, contrast) in contrasts {
        let is_end = key.ends_with("-low") || key.ends_with("-high");
        assert_eq!(has(&report["systems"][0]["intervals"][key][0]), !is_end, "{key}");
        assert_eq!(has(&contrast["interval"][0]), !is_end, "{key}");
        assert_eq!(has(&contrast["randomisation"]["p"]), !is_end, "{key}");
        assert!(has(&contrast["difference"]), "{key}");
    }
    assert_eq!(report["notices"][0]["code"], "interval-ends");
    assert!(!run(&[]).stdout.contains("[–"));
    assert_eq!(run(&["--require", "better"]).code, 0);
    let on_end = run(&["--require", "better", "--on", "rouge155-1-f-low"]);
    assert!(on_end.code == 2 && on_end.stderr.contains("bound of an interval"), "{}", on_end.stderr);
}

#[test]
fn exact_tests_need_no_resamples() {
    let files = files(&["references.json", "good.json", "weak.json"]);
    let flags = ["-m", "cider-d", "--resamples", "5", "--require", "not-worse"];
    assert_eq!(capeval(&args(&files, &flags)).code, 1);
}

#[test]
fn few_images_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| crate::program::scratch(&folder, name);
    let captions = |text: &str| format!(r#"[{{"image_id": 1, "caption": "{text}"}}]"#);
    std::fs::write(path("a.json"), captions("a dog runs on the beach")).unwrap();
    std::fs::write(path("b.json"), captions("a cat")).unwrap();
    let (a, b) = (path("a.json"), path("b.json"));
    let rest = ["-r", "references.json", &a, &b, "-m", "rouge-l", "--missing", "skip", "-f", "json"];
    let code = |args: &[&str]| {
        let report: Value = serde_json::from_str(&capeval(args).stdout).unwrap();
        report["notices"].as_array().unwrap().iter().any(|notice| notice["code"] == "few-images")
    };
    assert!(code(&[&["compare"], &rest[..]].concat()));
    let two = ["-r", "references.json", "results.json", "-m", "rouge-l", "-f", "json"];
    assert!(code(&[&["score", "--ci"], &two[..]].concat()));
    assert!(!code(&[&["score"], &two[..]].concat()));
}

#[test]
fn all_pairs_are_available_on_request() {
    let files = files(&["references.json", "weak.json", "good.json", "weak.json"]);
    let flags = ["-m", "cider-d", "-f", "csv", "--all-pairs", "--name", "a", "--name", "b", "--name", "c"];
    let text = stdout(&args(&files, &flags));
    let pairs: Vec<String> = text.lines().skip(1).map(|line| line[..3].to_owned()).collect();
    assert_eq!(pairs, ["a,b", "a,c", "b,c"]);
}

#[test]
fn only_images_that_all_describe_are_compared() {
    let args = ["compare", "-r", "references.json", "results.json", "two=partial.json", "-m", "rouge-l"];
    let refused = capeval(&args);
    assert!(refused.code == 2 && refused.stderr.contains("--missing skip"), "{}", refused.stderr);
    let run = capeval(&[&args[..], &["--missing", "skip", "-f", "json"]].concat());
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(report["systems"].as_array().unwrap().iter().all(|system| system["images"] == 1));
    assert_eq!(report["notices"][0]["code"], "common-images");
}

#[test]
fn comparisons_that_cannot_be_are_refused() {
    let cases: [(&[&str], &str); 6] = [
        (&["results.json"], "at least two systems"),
        (&["results.json", "b=results.json", "--ci=0"], "such as 95"),
        (&["results.json", "--ci", "99"], "write --ci=99"),
        (&["results.json", "b=results.json", "--correction", "fdr"], "bonferroni"),
        (&["results.json", "b=results.json", "--resamples", "many"], "whole number"),
        (&["results.json", "b=results.json", "--on", "bleu-4"], "--require"),
    ];
    for (rest, word) in cases {
        let run = capeval(&[&["compare", "-r", "references.json"], rest].concat());
        assert!(run.code == 2 && run.stdout.is_empty(), "{rest:?}: {}", run.code);
        assert!(run.stderr.contains(word), "'{word}' is not said: {}", run.stderr);
    }
}

#[test]
fn three_systems_share_a_table_with_the_letters_of_their_groups() {
    let (references, good, weak) =
        (quickstart("references.json"), quickstart("good.json"), quickstart("weak.json"));
    let (best, same) = (format!("best={good}"), format!("same={good}"));
    let args = ["compare", "-r", &references, &weak, &best, &same, "-m", "rouge-l,ter"];
    let beside_the_first = stdout(&args);
    assert!(beside_the_first.starts_with("System   ROUGE-L        TER\n"), "{beside_the_first}");
    assert!(beside_the_first.contains("\nweak     0.400     "), "{beside_the_first}");
    assert!(beside_the_first.contains("\nbest     0.600 +   "), "{beside_the_first}");
    assert!(
        beside_the_first.contains("\n+ better than weak, - worse, = neither, at 95%"),
        "{beside_the_first}"
    );
    let all = stdout(&[&args[..], &["--all-pairs", "--sort", "ter"]].concat());
    let rows: Vec<Vec<&str>> =
        all.lines().skip(2).take(3).map(|row| row.split_whitespace().collect()).collect();
    let marks = rows.iter().map(|row| (row[0], row[1], row[3], row[5])).collect::<Vec<_>>();
    assert_eq!(marks, [("best", "1", "a", "a"), ("same", "1", "a", "a"), ("weak", "3", "b", "b")], "{all}");
    for form in ["markdown", "latex"] {
        let whole = stdout(&[&args[..], &["-f", form]].concat());
        assert!(whole.contains("0.600 +") || whole.contains("\\scriptsize +"), "{whole}");
        assert!(whole.matches("better/equal/worse").count() > 1, "the tables of pairs follow: {whole}");
    }
    // Without all pairs, no two systems but the first and another are known to differ.
    let unranked = stdout(&[&args[..], &["--sort", "ter"]].concat());
    assert!(unranked.starts_with("System   ROUGE-L "), "{unranked}");
    let sorted = json(&[&args[..], &["--sort", "ter"]].concat());
    let of_pairs = |report: &Value| {
        let pairs = report["comparisons"].as_array().unwrap();
        pairs.iter().map(|pair| (pair["baseline"].clone(), pair["system"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(of_pairs(&sorted), of_pairs(&json(&args)));
    assert_eq!(sorted["systems"][0]["name"], "best");
}
