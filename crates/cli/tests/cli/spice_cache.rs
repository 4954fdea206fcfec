//! `--spice-cache`: refused where it has no effect, and with SPICE's data, if they are installed, read and written.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use capeval_testkit::skip;
use serde_json::Value;

use crate::goldens::is_installed;
use crate::program::{capeval, fixtures, scratch, without_run};

const SCORE: [&str; 4] = ["score", "-r", "references.json", "results.json"];

#[test]
fn a_cache_without_use_is_refused_and_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = scratch(&folder, "parses");
    for metrics in ["bleu", "coco"] {
        let run = capeval(&[&SCORE[..], &["-m", metrics, "--spice-cache", &path]].concat());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
        assert!(run.stderr.contains("parses: no metric uses this cache of SPICE's parses"), "{}", run.stderr);
        assert!(run.stderr.contains("leave out --spice-cache, or choose spice or spider"), "{}", run.stderr);
    }
    let run = capeval(&[&SCORE[..], &["-m", "spicy", "--spice-cache", &path]].concat());
    assert!(run.stderr.contains("did you mean spice?"), "{}", run.stderr);
    assert!(fs::metadata(path).is_err());
}

/// A run with the data that are installed, and a folder for caches that holds none.
fn run(args: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    run_with(args, folder.path())
}

/// A run with the data that are installed, and this folder for caches.
fn run_with(args: &[&str], caches: &Path) -> Output {
    let mut program = Command::new(crate::program::path());
    program.args(args).env("CAPEVAL_CACHE", caches).current_dir(fixtures()).output().unwrap()
}

#[test]
fn parses_are_kept_in_the_folder_of_the_user_unless_none_are_wanted() {
    if !is_installed("spice") || !is_installed("meteor") {
        skip("spice", "the data of spice are not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let caches = folder.path().join("new");
    let score = |args: &[&str]| {
        let output = run_with(&[&SCORE[..], args].concat(), &caches);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.as_str()), (Some(0), ""));
        String::from_utf8(output.stdout).unwrap()
    };
    score(&["-m", "bleu"]);
    let plain = score(&["-m", "spice", "--spice-cache", "none"]);
    assert!(!caches.exists(), "nothing is kept");
    assert_eq!(score(&["-m", "spice"]), plain);
    let file = caches.join("spice.parses");
    let written = fs::metadata(&file).unwrap().modified().unwrap();
    assert_eq!(score(&["-m", "spice"]), plain);
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), written, "nothing was parsed");
    let listed = String::from_utf8(run_with(&["data", "list"], &caches).stdout).unwrap();
    assert!(listed.contains("SPICE's parses: 0.0 MB") && listed.contains("spice.parses"), "{listed}");

    fs::write(&file, "something else").unwrap();
    assert_eq!(score(&["-m", "spice"]), plain, "a cache that no one named is no reason to fail");
    assert_eq!(fs::read(&file).unwrap(), b"something else");
}

/// The time is that of short captions, so it is the least one however many threads there are.
#[test]
fn many_new_captions_are_announced_before_they_are_parsed() {
    if !is_installed("spice") || !is_installed("meteor") {
        skip("spice", "the data of spice are not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [refs, more, mine, path, other] =
        ["refs.json", "more.json", "mine.json", "parses", "other"].map(|name| scratch(&folder, name));
    let captions = |noun: &str, n: usize| -> Value {
        (0..n)
            .map(|k| (format!("{k}"), format!("{noun} {k}").into()))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    fs::write(&refs, captions("dogs", 501).to_string()).unwrap();
    fs::write(&more, captions("dogs", 1900).to_string()).unwrap();
    fs::write(&mine, captions("cats", 501).to_string()).unwrap();
    let said = |refs: &str, path: &str| {
        let output =
            run(&["score", "-r", refs, &mine, "--missing", "skip", "-m", "spice", "--spice-cache", path]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let first = said(&refs, &path);
    let note = "note: SPICE parses 1002 new captions, which takes about 1 second\n";
    assert!(first.starts_with(note) && first.contains("parses of 1002 new captions"), "{first}");
    assert_eq!(said(&refs, &path), "", "nothing is parsed");
    assert!(said(&more, &other).starts_with(note), "images without a candidate are left out");
}

#[test]
fn parses_survive_runs_and_scores_stay_as_they_are() {
    if !is_installed("spice") || !is_installed("meteor") {
        skip("spice", "the data of spice are not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [path, prepared, page] =
        ["parses", "references.prepared", "page.html"].map(|name| scratch(&folder, name));
    let report = |args: &[&str]| {
        let output = run(&[&SCORE[..], &["-f", "json"], args].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{said}");
        (without_run(&String::from_utf8(output.stdout).unwrap()), said)
    };
    let wrote = |said: &str| said.contains(&format!("wrote {path}, "));
    let (plain, _) = report(&["-m", "spice"]);
    let cached = |metrics: &str| report(&["-m", metrics, "--spice-cache", &path]);
    let (first, said) = cached("spice");
    assert!(first == plain && wrote(&said), "{said}");
    for metrics in ["spice", "spider", "coco"] {
        assert!(!wrote(&cached(metrics).1), "{metrics} parses nothing");
    }
    let output = run(&["prepare", "references.json", "-m", "spice", "--spice-cache", &path, "-o", &prepared]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(&format!("wrote {prepared}, ")) && !wrote(&said), "{said}");

    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[1..]).unwrap();
    let args = [&SCORE[..], &["-m", "spice", "--spice-cache", &path]].concat();
    let output = run(&args);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("not a SPICE cache"));
    assert_eq!(fs::read(&path).unwrap(), whole[1..]);
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let (again, said) = cached("spice");
    let of_cache = |notice: &&Value| notice["code"] == "spice-cache";
    let notices = again["notices"].as_array().unwrap();
    assert_eq!(notices.iter().filter(of_cache).count(), 1, "{notices:?}");
    assert!(again["systems"][0]["scores"] == plain["systems"][0]["scores"] && wrote(&said));
    assert!(fs::read(&path).unwrap() == whole, "the same parses give the same file");

    for output in [["-o", &path], ["--segments", &path], ["--html", &path]] {
        let output = run(&[&args[..], &output].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("an input file cannot also be the output"), "{said}");
    }
    let absent = scratch(&folder, "absent/parses");
    let output = run(&[&SCORE[..], &["-m", "spice", "--html", &page, "--spice-cache", &absent]].concat());
    assert!(String::from_utf8(output.stderr).unwrap().contains("cannot write the file"));
    assert!(fs::metadata(page).is_err());
}
