//! Third-party data: METEOR's resources installed from every kind of source, refused when damaged, removed.
//!
//! The sources are the made-up word lists of `crates/meteor/tests/tiny`, packed as the published package packs
//! its own.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use capeval_testkit::skip;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::program::{Run, fixtures};

fn tiny(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../meteor/tests/tiny").join(name)).unwrap()
}

fn zip(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn jar() -> Vec<u8> {
    zip(&[
        ("function/english.words", tiny("english.words")),
        ("nonbreaking/english.prefixes", tiny("english.prefixes")),
        ("synonym/english.synsets", tiny("english.synsets")),
        ("synonym/english.exceptions", tiny("english.exceptions")),
        ("synonym/COPYING.WORDNET", b"The licence of a made-up WordNet.".to_vec()),
    ])
}

fn table() -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&tiny("paraphrase-en")).unwrap();
    packed.finish().unwrap()
}

pub fn wheel() -> Vec<u8> {
    zip(&[
        ("pycocoevalcap/meteor/meteor-1.5.jar", jar()),
        ("pycocoevalcap/meteor/data/paraphrase-en.gz", table()),
    ])
}

/// A folder with a wheel, a folder as the package unpacks to, and room for data.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::write(place.path("tiny.whl"), wheel()).unwrap();
        fs::create_dir_all(place.path("package/pycocoevalcap/meteor/data")).unwrap();
        fs::write(place.path("package/pycocoevalcap/meteor/meteor-1.5.jar"), jar()).unwrap();
        fs::write(place.path("package/pycocoevalcap/meteor/data/paraphrase-en.gz"), table()).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn installed(&self) -> PathBuf {
        self.path("data/meteor-1.5.bin")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(crate::program::path());
        command
            .args(args)
            .env("CAPEVAL_DATA", self.path("data"))
            .env("CAPEVAL_CACHE", self.path("caches"))
            // No package index is asked: there is no Python.
            .env("PATH", self.path("nothing"))
            .env_remove("PYTHON")
            .current_dir(fixtures())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        finish(self.command(args).spawn().unwrap())
    }

    fn install(&self, from: &str) -> Run {
        self.run(&["data", "install", "meteor", "--from", self.path(from).to_str().unwrap()])
    }

    /// The COCO suite's report.
    fn report(&self) -> Value {
        let run = self.run(&["score", "-s", "coco", "-r", "references.json", "results.json", "-f", "json"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        serde_json::from_str(&run.stdout).unwrap()
    }
}

fn finish(child: Child) -> Run {
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn data_are_taken_from_a_wheel_a_jar_and_folders_alike() {
    let place = Place::new();
    let mut files = Vec::new();
    for from in
        ["tiny.whl", "package", "package/pycocoevalcap/meteor", "package/pycocoevalcap/meteor/meteor-1.5.jar"]
    {
        let run = place.install(from);
        assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{from}: {}", run.stderr);
        assert!(run.stderr.contains("METEOR needs neither Java nor a network from now on"), "{}", run.stderr);
        assert!(run.stderr.contains("LGPL 2.1"), "{}", run.stderr);
        assert!(run.stderr.contains("scores will not be comparable with published ones"), "{}", run.stderr);
        files.push(fs::read(place.installed()).unwrap());
        let folder: Vec<_> =
            fs::read_dir(place.path("data")).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(folder.len(), 2, "nothing but the file and its notice is left: {folder:?}");
    }
    assert!(files.windows(2).all(|pair| pair[0] == pair[1]), "the same sources give the same bytes");
    let notice = fs::read_to_string(place.path("data/meteor-1.5.NOTICE.txt")).unwrap();
    assert!(notice.contains("Denkowski") && notice.contains("The licence of a made-up WordNet."), "{notice}");
}

#[test]
fn installed_data_are_listed_verified_used_and_removed() {
    let place = Place::new();
    let path = place.run(&["data", "path"]);
    assert_eq!(path.stdout.trim_end(), place.path("data").to_str().unwrap());
    assert!(place.run(&["data", "list"]).stdout.contains("not installed; run `capeval data install meteor`"));
    let run = place.run(&["data", "verify"]);
    assert!(run.code == 2 && run.stderr.contains("run `capeval data install meteor`"), "{}", run.stderr);
    assert!(run.stderr.contains("neither METEOR's resources nor SPICE's grammar"), "{}", run.stderr);
    let run = place.run(&["data", "remove", "meteor"]);
    assert!(run.code == 2 && run.stderr.contains("not installed"), "{}", run.stderr);

    place.install("tiny.whl");
    let list = place.run(&["data", "list"]).stdout;
    assert!(
        list.starts_with("meteor ") && list.contains(" installed, ") && list.contains("content "),
        "{list}"
    );
    let verified = place.run(&["data", "verify"]).stdout;
    assert!(verified.starts_with("meteor ") && verified.contains(" as it was written"), "{verified}");
    let report = place.report();
    assert!(report["systems"][0]["scores"]["meteor"].as_f64().unwrap() > 0.0);
    let codes: Vec<&Value> =
        report["notices"].as_array().unwrap().iter().map(|notice| &notice["code"]).collect();
    assert_eq!(codes, ["no-spice"]);
    // Everything that decides a score is named: the content of the file too.
    let content = list.split("content ").nth(1).unwrap().split(',').next().unwrap().to_owned();
    let signature = report["signatures"]["meteor"].as_str().unwrap();
    assert!(signature.contains(&format!("|data:{content}|")), "{signature} {list}");

    assert_eq!(place.run(&["data", "remove", "meteor"]).code, 0);
    assert_eq!(fs::read_dir(place.path("data")).unwrap().count(), 0);
    assert_eq!(place.report()["notices"][0]["code"], "no-meteor");
}

#[test]
fn shells_and_help_know_the_names_of_all_data() {
    let place = Place::new();
    let names: Vec<String> = place
        .run(&["data", "list"])
        .stdout
        .lines()
        .filter_map(|line| line.split(' ').next().map(str::to_owned))
        .collect();
    assert!(["meteor", "spice"].iter().all(|name| names.contains(&(*name).to_owned())), "{names:?}");
    let script = place.run(&["completions", "bash"]).stdout;
    for action in ["install", "remove"] {
        let part = script.split(&format!("capeval__subcmd__data__subcmd__{action})")).nth(1);
        let part = part.and_then(|part| part.split(";;").next()).unwrap_or_default();
        assert!(part.contains(&names.join(" ")), "{action}: {part}");
        let help = place.run(&["data", action, "--help"]).stdout;
        assert!(names.iter().all(|name| help.contains(&format!("- {name}:"))), "{help}");
    }
    let help = place.run(&["data", "install", "--help"]).stdout.replace("\n", " ");
    assert!(
        help.starts_with("Download data, compile and store them  METEOR's data are taken from the"),
        "{help}"
    );
    assert!(help.contains("verifies the hash. SPICE's grammar is taken from"), "{help}");
    let run = place.run(&["data", "remove", "spice"]);
    assert!(run.code == 2 && run.stderr.contains("SPICE's grammar is not installed"), "{}", run.stderr);
}

#[test]
fn cut_off_and_damaged_files_and_those_of_other_versions_are_refused_with_the_remedy() {
    let place = Place::new();
    place.install("tiny.whl");
    let good = fs::read(place.installed()).unwrap();
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 1;
    let mut other = good.clone();
    other[8] = 2;
    let cases: [(&[u8], &str); 5] = [
        (&flipped, "damaged"),
        (&good[..good.len() - 1], "cut off"),
        (&good[..20], ""),
        (b"", "not a file of METEOR resources"),
        (&other, "format version 2"),
    ];
    for (bytes, why) in cases {
        fs::write(place.installed(), bytes).unwrap();
        let every = [
            &["data", "verify"][..],
            &["score", "-s", "coco", "-r", "references.json", "results.json"],
            &["score", "-m", "meteor", "-r", "references.json", "results.json"],
        ];
        for args in every {
            let run = place.run(args);
            assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?} {why}");
            assert!(run.stderr.contains(why) && run.stderr.contains("meteor-1.5.bin"), "{}", run.stderr);
            assert!(run.stderr.contains("run `capeval data install meteor`"), "{}", run.stderr);
        }
        let list = place.run(&["data", "list"]);
        assert!(list.code == 0 && list.stdout.contains("unusable"), "{}", list.stdout);
    }
    let spice = place.path("data/spice-1.0.bin");
    fs::write(&spice, "damaged").unwrap();
    let run = place.run(&["data", "verify"]);
    assert_eq!(run.code, 2);
    for name in ["meteor-1.5.bin", "spice-1.0.bin"] {
        let errors = run.stderr.lines().filter(|line| line.starts_with("error: ") && line.contains(name));
        assert_eq!(errors.count(), 1, "{}", run.stderr);
    }
    fs::remove_file(spice).unwrap();
    assert_eq!(place.install("tiny.whl").code, 0, "installing again is the remedy");
    assert_eq!(fs::read(place.installed()).unwrap(), good);
    assert_eq!(place.run(&["data", "verify"]).code, 0);
}

#[test]
fn errors_of_spice_name_the_part_that_is_missing() {
    let place = Place::new();
    let refused = || {
        let run = place.run(&["score", "-m", "spice", "-r", "references.json", "results.json"]);
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(run.stderr.contains("capeval data install spice"), "{}", run.stderr);
        run.stderr
    };
    assert!(refused().contains("SPICE's data are not installed"));
    assert_eq!(place.install("tiny.whl").code, 0);
    assert!(refused().contains("SPICE's grammar is not installed"));
    fs::rename(place.installed(), place.path("data/spice-1.0.bin")).unwrap();
    assert!(refused().contains("SPICE's dictionary, which is METEOR's data, is not installed"));
}

#[test]
fn processes_that_install_and_read_at_the_same_time_do_not_harm_each_other() {
    let place = Place::new();
    place.install("tiny.whl");
    let good = fs::read(place.installed()).unwrap();
    let from = place.path("tiny.whl");
    let install = ["data", "install", "meteor", "--from", from.to_str().unwrap()];
    for _ in 0..5 {
        let writers: Vec<Child> = (0..4).map(|_| place.command(&install).spawn().unwrap()).collect();
        let readers: Vec<Child> =
            (0..4).map(|_| place.command(&["data", "verify"]).spawn().unwrap()).collect();
        for run in writers.into_iter().chain(readers).map(finish) {
            assert_eq!(run.code, 0, "{}", run.stderr);
        }
        assert_eq!(fs::read(place.installed()).unwrap(), good);
        assert_eq!(fs::read_dir(place.path("data")).unwrap().count(), 2, "no part is left behind");
    }
}

#[test]
fn what_an_installation_that_was_stopped_left_behind_goes_with_the_data() {
    let place = Place::new();
    place.install("tiny.whl");
    fs::write(place.path("data/.meteor-1.5.123.part"), "half a file").unwrap();
    fs::create_dir(place.path("data/.fetch.123")).unwrap();
    fs::write(place.path("data/.fetch.123/half.whl"), "half a wheel").unwrap();
    assert_eq!(place.run(&["data", "verify"]).code, 0);
    assert_eq!(place.run(&["data", "remove", "meteor"]).code, 0);
    assert_eq!(fs::read_dir(place.path("data")).unwrap().count(), 0);
}

#[test]
fn what_is_no_source_is_refused_and_harms_nothing() {
    let place = Place::new();
    place.install("tiny.whl");
    let good = fs::read(place.installed()).unwrap();
    fs::write(place.path("cut.whl"), &wheel()[..400]).unwrap();
    fs::write(place.path("other.whl"), zip(&[("a.txt", b"a".to_vec())])).unwrap();
    fs::create_dir(place.path("empty")).unwrap();
    fs::create_dir(place.path("alone")).unwrap();
    fs::write(place.path("alone/meteor-1.5.jar"), jar()).unwrap();
    for (from, why) in [
        ("cut.whl", "this is not a wheel"),
        ("other.whl", "use the wheel of pycocoevalcap 1.2"),
        ("empty", "contains no meteor-1.5.jar"),
        ("alone", "no data/paraphrase-en.gz beside this jar"),
        ("missing", "cannot open the file"),
    ] {
        let run = place.install(from);
        assert!(run.code == 2 && run.stderr.contains(why), "{from}: {}", run.stderr);
        assert!(run.stderr.contains(from), "the error names {from}: {}", run.stderr);
        assert_eq!(fs::read(place.installed()).unwrap(), good);
        assert_eq!(fs::read_dir(place.path("data")).unwrap().count(), 2);
    }
}

#[test]
fn without_a_terminal_there_is_no_question() {
    let place = Place::new();
    let run = place.run(&["score", "-r", "references.json", "results.json"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(!run.stdout.contains("METEOR  "), "{}", run.stdout);
    assert!(run.stdout.contains("`capeval data install meteor`"), "{}", run.stdout);
    assert!(!place.path("data").exists(), "nothing is made where nothing is installed");
}

#[test]
fn without_python_yes_says_how_to_get_the_data() {
    let place = Place::new();
    let run = place.run(&["score", "--yes", "-r", "references.json", "results.json"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(
        run.stderr.contains("no Python was found") && run.stderr.contains("--from FILE"),
        "{}",
        run.stderr
    );
    assert_eq!(fs::read_dir(place.path("data")).unwrap().count(), 0, "nothing is left behind");
}

/// The variables with which a program finds a Python whose pip does this. The script is in the repository: one that a
/// test has just written may still be open in a process that another test is starting, and cannot be run then.
#[cfg(unix)]
fn with_pip(pip: &str) -> [(&'static str, String); 2] {
    let python = fixtures().join("python").display().to_string();
    [("PYTHON", python), ("CAPEVAL_TEST_PIP", pip.to_owned())]
}

#[cfg(unix)]
#[test]
fn after_a_yes_the_program_downloads_with_pip_and_scores() {
    let place = Place::new();
    // The folder for the wheel follows --dest, and the checksum is in the file of requirements.
    let python = with_pip(&format!(
        "while [ $# -gt 0 ]; do\n  case $1 in --dest) to=$2;; --requirement) wanted=$2;; esac\n  shift\ndone\n\
             while read line; do\n  case $line in 'pycocoevalcap==1.2 --hash=sha256:'*)\n    while read -r none; do \
             :; done; /bin/cp '{}' \"$to/pycocoevalcap-1.2-py3-none-any.whl\"; exit 0;; esac\ndone < \"$wanted\"\n\
             echo 'no checksum' >&2; exit 1",
        place.path("tiny.whl").display()
    ));
    let run = finish(
        place
            .command(&["score", "--yes", "-r", "references.json", "results.json", "-f", "json"])
            .envs(python)
            .spawn()
            .unwrap(),
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(report["systems"][0]["scores"]["meteor"].as_f64().unwrap() > 0.0);
    assert_eq!(fs::read_dir(place.path("data")).unwrap().count(), 2, "the wheel is not kept");
    // From now on neither Python nor a network is needed.
    assert!(place.report()["systems"][0]["scores"]["meteor"].is_f64());
}

/// Runs the COCO suite at a terminal made by `script`, and gives `answer` to its question.
#[cfg(target_os = "linux")]
fn at_a_terminal(place: &Place, python: &[(&str, String); 2], answer: &str) -> Option<String> {
    let program = format!(
        "env PATH={} CAPEVAL_DATA={} {} score -r references.json results.json",
        place.path("nothing").display(),
        place.path("data").display(),
        crate::program::path()
    );
    let mut script = Command::new("script")
        .args(["-qec", &program, "/dev/null"])
        .envs(python.clone())
        .current_dir(fixtures())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .inspect_err(|_| skip("script", "there is no program `script` to make a terminal"))
        .ok()?;
    let mut keys = script.stdin.take().unwrap();
    // The terminal keeps what is typed until it is read; it must stay open until then.
    keys.write_all(format!("{answer}\n").as_bytes()).unwrap();
    let output = script.wait_with_output().unwrap();
    drop(keys);
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_the_program_asks_and_takes_the_answer() {
    let place = Place::new();
    let python = with_pip(&format!(
        "while [ $# -gt 0 ]; do case $1 in --dest) to=$2;; esac; shift; done; /bin/cp '{}' \"$to/a.whl\"",
        place.path("tiny.whl").display()
    ));
    let Some(shown) = at_a_terminal(&place, &python, "n") else { return };
    assert!(shown.contains("Install them now? [y/N]"), "{shown}");
    assert!(shown.contains("`capeval data install meteor`"), "{shown}");
    assert!(!place.installed().exists());
    let Some(shown) = at_a_terminal(&place, &python, "y") else { return };
    assert!(shown.contains("METEOR's resources are installed in") && shown.contains("METEOR  "), "{shown}");
    assert!(place.installed().exists());
    let Some(shown) = at_a_terminal(&place, &python, "") else { return };
    assert!(!shown.contains("Install them now?") && shown.contains("METEOR  "), "{shown}");
}

#[cfg(unix)]
#[test]
fn what_pip_says_is_passed_on() {
    let place = Place::new();
    let python = with_pip("echo 'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES' >&2; exit 1");
    let run = finish(place.command(&["data", "install", "meteor"]).envs(python).spawn().unwrap());
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("DO NOT MATCH THE HASHES"), "{}", run.stderr);
    assert!(run.stderr.contains("pip download --no-deps pycocoevalcap==1.2"), "{}", run.stderr);
}

#[test]
fn languages_and_tasks_are_settings_and_appear_in_the_signature() {
    let place = Place::new();
    place.install("tiny.whl");
    let metrics = "meteor,meteor:task=adq,meteor:task=hter,meteor:task=li,meteor:task=tune,\
                   meteor:lang=de:match=exact=1+stem=0.8,meteor:lang=other,meteor:lang=da:text=lower";
    let run = place.run(&["score", "-m", metrics, "-r", "references.json", "results.json", "-f", "json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    for (metric, wanted) in [
        ("meteor", "lang:en|match:exact=1+stem=0.6+synonym=0.8+paraphrase=0.6|params:0.85/0.2/0.6/0.75|"),
        ("meteor:task=adq", "match:exact=1+stem=1+synonym=0.6+paraphrase=0.8|params:0.75/1.4/0.45/0.7|"),
        ("meteor:task=hter", "match:exact=1+stem=0.2+synonym=0.6+paraphrase=0.8|params:0.4/1.5/0.35/0.55|"),
        ("meteor:task=li", "match:exact=1+stem=0.5+synonym=0.5+paraphrase=0.5|params:0.75/1.4/0.7/0.5|"),
        ("meteor:task=tune", "match:exact=1+stem=0.5+synonym=0.5+paraphrase=0.5|params:0.5/1/0.5/0.5|"),
        ("meteor:lang=de:match=exact=1+stem=0.8", "lang:de|match:exact=1+stem=0.8|params:0.95/1/0.55/0.55|"),
        ("meteor:lang=other", "lang:other|match:exact=1|params:0.75/1.4/0.7/0.5|beam:40|text:verbatim|"),
        (
            "meteor:lang=da:text=lower",
            "lang:da|match:exact=1+stem=0.5|params:0.75/1.4/0.7/0.5|beam:40|text:lower|",
        ),
    ] {
        let mut signatures = report["signatures"].as_object().unwrap().values();
        let is_there = signatures.any(|signature| signature.as_str().unwrap().contains(wanted));
        assert!(is_there, "{metric}: {}", report["signatures"]);
    }
    for (metric, why) in [
        ("meteor:lang=de", "paraphrase"),
        ("meteor:lang=de:task=adq", "no values for task adq in language de"),
        ("meteor:lang=xy", "unknown language \"xy\""),
        ("meteor:task=rate", "not 'rate'"),
        ("meteor:lang=da:text=norm", "no normaliser for language da"),
    ] {
        let run = place.run(&["score", "-m", metric, "-r", "references.json", "results.json"]);
        assert!(run.code == 2 && run.stderr.contains(why), "{metric}: {}", run.stderr);
    }
}
