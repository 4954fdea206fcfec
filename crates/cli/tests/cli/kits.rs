//! Kits: each gives its sample the scores of its field's program, and what people set beside one wins.

use std::path::{Path, PathBuf};
use std::process::Command;

use capeval::Kit;
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
    // Anything else that a sample names is a flag.
    let flags: Vec<(String, &str)> = sample
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, _)| !["kit", "references", "candidates"].contains(&name.as_str()))
        .map(|(name, value)| (format!("--{name}"), value.as_str().unwrap()))
        .collect();
    args.extend(flags.iter().flat_map(|(flag, value)| [flag.as_str(), value]));
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
    for kit in &kits {
        let (shown, _) = run(&["kit", "show", kit]);
        assert!(shown.contains(&format!("name = \"{kit}\"")) && shown.contains("[program]"), "{shown}");
        assert!(samples.get(kit).is_some(), "{kit} has no sample");
    }
    for (name, sample) in samples.as_object().unwrap() {
        // Some kits have another sample with groups.
        let kit = sample["kit"].as_str().unwrap_or(name);
        assert!(kits.contains(&kit), "there is no kit {kit}");
        let wanted = golden[name].as_object().unwrap();
        // What a kit computes needs data, whether or not its program prints it.
        let metrics = Kit::named(kit).unwrap().options.metrics;
        let computes = |name: &str| metrics.iter().any(|metric| metric.split(':').next() == Some(name));
        if missing.iter().any(|(name, is)| *is && (wanted.contains_key(*name) || computes(name))) {
            continue;
        }
        let report = report(kit, sample, &[]);
        let system = &report["systems"][0];
        for (key, value) in wanted {
            // The value of a group is behind an @.
            let found = match key.split_once('@') {
                None => &system["scores"][key],
                Some((key, group)) => {
                    let mut rows = report["groups"][0]["groups"].as_array().unwrap().iter();
                    &rows.find(|row| row["group"] == *group).unwrap()["scores"][key]
                }
            };
            let (ours, theirs) = (found.as_f64(), value.as_f64().unwrap());
            assert!(
                ours.is_some_and(|ours| (ours - theirs).abs() < 1e-12),
                "{name}: {key} is {ours:?}, and {theirs} in its program"
            );
        }
        for signature in system["signatures"].as_object().unwrap().values() {
            assert!(signature.as_str().unwrap().contains(&format!("|kit:{kit}|")), "{signature}");
        }
        let by_group = report["groups"].as_array().into_iter().flatten();
        for signature in by_group.flat_map(|by| by["signatures"].as_object().unwrap().values()) {
            let signature = signature.as_str().unwrap();
            assert!(
                signature.contains("|group-df:own") && signature.contains(&format!("|kit:{kit}|")),
                "{signature}"
            );
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

/// Other document frequencies make other numbers, however they are given.
#[test]
fn a_saved_table_takes_the_name_of_a_kit_away_that_has_none() {
    let scratch_folder = tempfile::tempdir().unwrap();
    let [mine, table] = ["mine.toml", "table.df"].map(|name| scratch(&scratch_folder, name));
    let text = "name = \"mine\"\nsummary = \"x\"\n[options]\nmetrics = [\"cider-d\"]\n";
    std::fs::write(&mine, text).unwrap();
    run(&["df", "build", "coco.json", "-o", &table]);
    let scored = ["score", "--kit", &mine, "-r", "coco.json", "coco-results.json"];
    let own = run(&scored).0;
    assert!(own.contains("|idf:corpus|") && own.contains("|kit:mine|"), "{own}");
    let other = run(&[&scored[..], &["--df", &table]].concat()).0;
    assert!(other.contains("|idf:table") && !other.contains("|kit:mine|"), "{other}");
    assert!(other.contains("has other values for idf"), "{other}");
}

/// What every reader of its scores must know holds for scores that are not quite its own, too.
#[test]
fn the_warning_of_a_kit_stays_where_its_options_are_changed() {
    let scratch_folder = tempfile::tempdir().unwrap();
    let mine = scratch(&scratch_folder, "mine.toml");
    let text = "name = \"mine\"\nsummary = \"x\"\nwarning = \"only for our own table\"\n\
                [options]\nmetrics = [\"bleu\"]\n";
    std::fs::write(&mine, text).unwrap();
    let sides = ["-r", "coco.json", "coco-results.json"];
    let (table, _) = run(&[&["score", "--kit", &mine, "-t", "13a"][..], &sides].concat());
    assert!(table.contains("has other values for tokenizer"), "{table}");
    assert!(table.contains("only for our own table"), "{table}");
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

#[test]
fn keys_of_a_kit_do_what_their_flags_do() {
    let scratch_folder = tempfile::tempdir().unwrap();
    let mine = scratch(&scratch_folder, "mine.toml");
    let text = "name = \"mine\"\nsummary = \"x\"\n[options]\nmetrics = [\"cider-d\", \"rouge-l\"]\n\
                ref-drop = [\"is_rejected\", \"is_precanned\"]\nderive = [\"half = cider-d / 2\", \"both = mean(half, rouge-l)\"]\n\
                group-by = [\"references:count\", \"words:references=8,12\"]\ngroup-df = \"all\"\n\
                missing = \"skip\"\nsurplus = \"ignore\"\n";
    std::fs::write(&mine, text).unwrap();
    let sides = ["-r", "vizwiz.json", "vizwiz-results.json"];
    let by_kit = run(&[&["score", "--kit", &mine][..], &sides].concat()).0;
    // The flags that it prints are words of a shell.
    let shown = run(&["kit", "show", &mine]).0;
    let command = shown.lines().next().unwrap().strip_prefix("# The same as: capeval ").unwrap();
    let words =
        Command::new("sh").args(["-c", &format!("printf '%s\\n' {command}")]).output().unwrap().stdout;
    let words = String::from_utf8(words).unwrap();
    let by_flags = run(&[&words.lines().collect::<Vec<_>>()[..], &sides].concat()).0;
    assert_eq!(by_kit.replace("|kit:mine", ""), by_flags);
    assert!(by_kit.contains("|ref-drop:is_rejected+is_precanned|kit:mine|"), "{by_kit}");
    assert!(
        by_kit.contains("(group-df:all)") && by_kit.contains("half") && by_kit.contains("both"),
        "{by_kit}"
    );

    let head = ["score", "--kit", &mine];
    let fewer = run(&[&head[..], &["-m", "rouge-l"], &sides].concat()).0;
    assert!(!fewer.contains("half") && fewer.contains("|kit:mine|"), "{fewer}");
    let without = run(&[&head[..], &["--group-by", "none"], &sides].concat()).0;
    assert!(
        !without.contains("group-df:") && without.contains("|kit:mine|"),
        "no other digit changes: {without}"
    );
    for other in [&["--ref-drop", "none"][..], &["--derive", "third = cider-d / 3"], &["--group-df", "own"]] {
        let (table, _) = run(&[&head[..], other, &sides].concat());
        let name = other[0].trim_start_matches('-').replace('_', "-");
        assert!(!table.contains("|kit:mine|"), "{table}");
        assert!(table.contains(&format!("has other values for {name}")), "{table}");
    }
}

/// Kits that are none, as people write them: the file, the flags beside it, and the words that say what is wrong.
#[test]
fn bad_kits_are_refused_in_words() {
    type Content<'c> = Option<&'c [u8]>;
    const HEAD: &str = "name = \"mine\"\nsummary = \"x\"\n";
    let of = |options: &str| format!("{HEAD}[options]\n{options}\n").into_bytes();
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(HEAD.bytes().flat_map(|byte| [byte, 0])).collect();
    let huge = format!("{HEAD}notes = [\"{}\"]\n", "x".repeat(10 << 20)).into_bytes();
    let cases: Vec<(Vec<u8>, &[&str])> = vec![
        (Vec::new(), &["missing field `name`"]),
        (of("group_by = [\"domain\"]"), &["line 4: a kit has no key 'group_by'; did you mean group-by?"]),
        (of("drop-refs = [\"a\"]"), &["line 4: a kit has no key 'drop-refs'"]),
        (of("metrics = \"bleu\""), &["line 4: invalid type: string", "docs/guides/kits.md"]),
        (of("derive = {sm = \"mean(bleu-1)\"}"), &["line 4: invalid type: map"]),
        (of("digits = \"two\""), &["line 4: invalid type: string"]),
        (of("digits = 300"), &["line 4: "]),
        (of("percent = 1"), &["line 4: invalid type: integer"]),
        (of("missing = \"drop\""), &["line 4: ", "choose from error, skip, empty"]),
        (of("group-df = \"each\""), &["line 4: ", "choose from own, all"]),
        (of("metrics = [\"bleau\"]"), &["no metric is called 'bleau'", "did you mean bleu?"]),
        (of("metrics = [\"bleu:m=2\"]"), &["bleu has no setting 'm'"]),
        (of("metrics = [\"bleu\"]\ntokenizer = \"ptbb\""), &["no tokenizer is called 'ptbb'"]),
        (of("metrics = [\"bleu\"]\nderive = [\"sm = mean(meteor)\"]"), &["nothing is called 'meteor'"]),
        (of("metrics = [\"bleu\"]\nderive = [\"a = b\", \"b = a\"]"), &["a = b", "nothing is called 'b'"]),
        (of("metrics = [\"bleu\"]\nderive = [\"bleu-1 / 2\"]"), &["bleu-1 / 2"]),
        (of("metrics = [\"bleu\"]\ngroup-by = [\"domian\"]"), &["nothing groups images by 'domian'"]),
        (
            of("metrics = [\"bleu\"]\nref-drop = [\"is_rejcted\"]"),
            &["it has no key 'is_rejcted'", "--ref-drop none"],
        ),
        (of("metrics = [\"bleu\"]\nsplit = [\"test\"]"), &["it has no splits"]),
        (of("metrics = [\"bleu\"]\nidf = \"uniform\""), &["--idf applies to CIDEr"]),
        (b"name = \"mine\"\nname = \"x\"\nsummary = \"x\"".to_vec(), &["line 2: duplicate key"]),
        (b"{\"name\": \"mine\"}".to_vec(), &["line 1: "]),
        (b"name = \"mine\"\nsummary = 3".to_vec(), &["line 2: invalid type: integer"]),
        (b"name = \"\"\nsummary = \"x\"".to_vec(), &["a kit cannot be called \"\""]),
        (b"name = \"\xff\"".to_vec(), &["UTF-8"]),
        (huge, &["it has 10.5 MB, and a kit has at most 1 MB"]),
    ];
    let folder_of = tempfile::tempdir().unwrap();
    let sides =
        ["coco.json", "coco-results.json"].map(|name| folder().join(name).to_str().unwrap().to_owned());
    let refused = |name: &str, content: Content<'_>, more: &[&str]| {
        if let Some(content) = content {
            std::fs::write(folder_of.path().join(name), content).unwrap();
        }
        let path = if name.ends_with(".toml") { scratch(&folder_of, name) } else { name.to_owned() };
        let head = ["score", "--kit", &path, "-r", &sides[0], &sides[1]];
        let (code, stdout, stderr) = capeval_in(folder_of.path(), &[&head[..], more].concat());
        assert!(!stderr.contains("panicked"), "{stderr}");
        (code, stdout, stderr)
    };
    for (content, words) in &cases {
        let (code, stdout, stderr) = refused("mine.toml", Some(content), &[]);
        let shown = String::from_utf8_lossy(&content[..content.len().min(200)]);
        assert!(code == 2 && stdout.is_empty(), "{shown}: {code} {stdout}");
        assert!(stderr.contains("mine.toml: ") || stderr.contains("help: "), "{shown}: {stderr}");
        let stderr = stderr.replace("\nhelp: ", "; ");
        for word in *words {
            assert!(stderr.contains(word), "{shown}: {word} is not in {stderr}");
        }
    }
    std::fs::create_dir(folder_of.path().join("folder.toml")).unwrap();
    let (code, table, _) = refused("mine.toml", Some(&utf16), &["-m", "bleu"]);
    assert!(code == 0 && table.contains("|kit:mine|"), "text in UTF-16 is text: {table}");
    for (name, words) in [
        ("folder.toml", "is a directory"),
        ("none.toml", "none.toml"),
        ("", "no kit is called ''"),
        ("../vizwiz", "no kit"),
    ] {
        let (code, _, stderr) = refused(name, None, &[]);
        assert!(code == 2 && stderr.contains(words), "{name}: {stderr}");
    }
}
