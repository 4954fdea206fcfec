//! Metrics that are programs, on the command line: in every command that takes metrics, with pictures, and with scores
//! that are kept.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use capeval_testkit::{eventually, skip};

use crate::program::{capeval_in, path, scratch};

/// Answers with the number of letters of each picture's file, or of each line without one, and counts what it is asked.
const COUNTS: &str = r#"while read -r line; do
  echo "$line" >> asked
  id=${line#*:}; id=${id%%,*}
  case $line in
    *'"image":"'*) picture=${line##*'"image":"'}; picture=${picture%'"'\}}; score=$(wc -c < "$picture") ;;
    *) score=${#line} ;;
  esac
  echo "{\"id\": $id, \"scores\": {\"count\": $score}}"
done"#;

/// A folder with a metric, and a place for scores that are kept.
struct Place(tempfile::TempDir);

impl Place {
    fn new(script: &str, more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("metric.sh"), script).unwrap();
        let text =
            format!("protocol = 1\nname = 'count'\nversion = '1'\ncommand = ['sh', 'metric.sh']\n{more}");
        fs::write(folder.path().join("count.toml"), text).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> String {
        scratch(&self.0, name)
    }

    /// Runs `capeval` with this folder's metric: the exit code, standard output and standard error.
    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let metric = self.path("count.toml");
        let args: Vec<&str> =
            args.iter().map(|arg| if *arg == "METRIC" { metric.as_str() } else { arg }).collect();
        capeval_in(self.0.path(), &args)
    }

    /// The output of a run that must succeed, as one line.
    fn printed(&self, args: &[&str]) -> String {
        let (code, stdout, stderr) = self.run(args);
        assert_eq!(code, 0, "{args:?}: {stderr}");
        stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The error of a run that must fail.
    fn refused(&self, args: &[&str]) -> String {
        let (code, stdout, stderr) = self.run(args);
        assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}: {stderr}");
        stderr
    }

    /// The number of captions that the metric was asked about since the last call.
    fn asked(&self) -> usize {
        let asked = fs::read_to_string(self.path("asked")).unwrap_or_default();
        let _ = fs::remove_file(self.path("asked"));
        asked.lines().count()
    }

    fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }
}

/// The scores in JSON, line by line.
fn segments(place: &Place, args: &[&str]) -> String {
    let file = place.path("segments.jsonl");
    place.printed(&[&["score", "-m", "METRIC", "--segments", &file], args].concat());
    fs::read_to_string(file).unwrap()
}

#[test]
fn references_are_prepared_for_programs_without_asking_them() {
    let place = Place::new(COUNTS, "");
    let references = place.write("references.json", r#"{"1": ["a dog runs"], "2": ["two cats"]}"#);
    let captions = place.write("captions.json", r#"{"1": "a dog", "2": "a cat"}"#);
    let prepared = place.path("references.capeval");
    place.printed(&["prepare", &references, "-m", "rouge-l", "-m", "METRIC", "-o", &prepared]);
    assert_eq!(place.asked(), 0);
    let score = |references: &str| {
        segments(&place, &["-r", references, &captions, "--metrics", "rouge-l", "--score-cache", "none"])
    };
    assert_eq!(score(&prepared), score(&references));
    assert_eq!(place.asked(), 4);
}

#[test]
fn scores_are_kept_and_only_new_captions_are_asked_about() {
    let place = Place::new(COUNTS, "");
    let references =
        place.write("references.json", r#"{"1": ["a dog runs"], "2": ["two cats"], "3": ["a bus"]}"#);
    let captions = place.write("captions.json", r#"{"1": "a dog", "2": "a cat", "3": "a red bus"}"#);
    let score = || segments(&place, &["-r", &references, &captions]);
    let cold = score();
    assert_eq!(place.asked(), 3);
    assert_eq!(score(), cold);
    assert_eq!(place.asked(), 0, "a second run");
    assert_eq!(segments(&place, &["-r", &references, &captions, "--score-cache", "none"]), cold);
    assert_eq!(place.asked(), 3, "without a cache");
    let notes = place.printed(&["score", "-r", &references, &captions, "-m", "METRIC"]);
    assert!(notes.contains("all scores by count were computed in earlier runs"), "{notes}");
    assert!(notes.contains("--score-cache none"), "{notes}");

    // What differs is asked about.
    place.write("captions.json", r#"{"1": "a dog", "2": "a cat that sleeps", "3": "a red bus"}"#);
    score();
    assert_eq!(place.asked(), 1, "another caption");
    place.write("references.json", r#"{"1": ["a dog runs", "a dog"], "2": ["two cats"], "3": ["a bus"]}"#);
    score();
    assert_eq!(place.asked(), 1, "other references");
    let text = fs::read_to_string(place.path("count.toml")).unwrap();
    place.write("count.toml", &text.replace("version = '1'", "version = '2'"));
    score();
    assert_eq!(place.asked(), 3, "another version");
    place.write("metric.sh", &format!("{COUNTS} # changed"));
    score();
    assert_eq!(place.asked(), 3, "another program");

    // Damage is told, and repaired.
    for file in fs::read_dir(place.path("cache/scores")).unwrap() {
        let file = file.unwrap().path();
        let mut bytes = fs::read(&file).unwrap();
        bytes.iter_mut().skip(100).take(20).for_each(|byte| *byte ^= 0xFF);
        fs::write(file, bytes).unwrap();
    }
    let again = place.printed(&["score", "-r", &references, &captions, "-m", "METRIC"]);
    assert!(again.contains("scores of count are computed again"), "{again}");
    assert_eq!(place.asked(), 3);
    score();
    assert_eq!(place.asked(), 0);

    let listed = place.printed(&["data", "list"]);
    assert!(listed.contains("scores of metrics that are programs or functions: 0.0 MB"), "{listed}");
    let named = place.path("mine");
    let (_, _, said) =
        place.run(&["score", "-r", &references, &captions, "-m", "METRIC", "--score-cache", &named]);
    assert!(said.contains(&format!("wrote {named}")) && said.contains("3 new scores"), "{said}");
    assert_eq!(place.asked(), 3);
    let said = place.refused(&["score", "-r", &references, &captions, "-m", "bleu", "--score-cache", &named]);
    assert!(said.contains("no metric keeps scores in this folder"), "{said}");
}

#[test]
fn scores_survive_a_program_that_dies() {
    let dies = format!(
        "{}; exit 3",
        COUNTS.replace(
            "echo \"$line\" >> asked",
            "echo \"$line\" >> asked; [ $(wc -l < asked) = 3 ] && kill -9 $$"
        )
    );
    let place = Place::new(&dies, "batch = 1");
    let references = place
        .write("references.json", r#"{"1": ["a dog runs"], "2": ["two cats"], "3": ["a bus"], "4": ["a"]}"#);
    let captions =
        place.write("captions.json", r#"{"1": "a dog", "2": "a cat", "3": "a red bus", "4": "a"}"#);
    let said = place.refused(&["score", "-r", &references, &captions, "-m", "METRIC"]);
    assert!(
        said.contains("count ended with signal: 9 (SIGKILL) after 2 of 4 answers, none about image 3"),
        "{said}"
    );
    place.asked();
    // The same program, as far as its name and content tell, whose failure was one of the machine.
    let said = place.refused(&["score", "-r", &references, &captions, "-m", "METRIC"]);
    assert_eq!(place.asked(), 2, "{said}");
}

#[test]
fn scores_survive_the_end_of_capeval() {
    // Answers nine captions, and then waits until its input ends, since capeval waits for its answer.
    let nine =
        format!("n=0; {}", COUNTS.replace("done", "n=$((n + 1)); [ $n = 9 ] && break\ndone\ncat > rest"));
    let place = Place::new(&nine, "batch = 1");
    let captions: Vec<String> = (0..12).map(|id| format!("\"{id}\": \"caption number {id}\"")).collect();
    let captions = place.write("captions.json", &format!("{{{}}}", captions.join(", ")));
    let mut running = Command::new(path())
        .args(["score", "-m", &place.path("count.toml"), "-r", &captions, &captions])
        .env("CAPEVAL_CACHE", place.path("cache"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let scores = Path::new(&place.path("cache")).join("scores");
    let is_there = |entry: std::io::Result<fs::DirEntry>| {
        entry.is_ok_and(|entry| entry.path().extension().is_some_and(|e| e == "scores"))
    };
    eventually("scores are kept", || fs::read_dir(&scores).ok()?.any(is_there).then_some(()));
    running.kill().unwrap();
    running.wait().unwrap();
    assert_eq!(place.asked(), 9);
    place.printed(&["score", "-m", "METRIC", "-r", &captions, &captions]);
    assert_eq!(place.asked(), 3);
}

#[test]
fn an_interrupt_ends_both_without_a_word() {
    let place = Place::new("echo $$ > id; exec sleep 600", "");
    let captions = place.write("captions.json", r#"{"1": "a dog"}"#);
    let running = Command::new(path())
        .args(["score", "-m", &place.path("count.toml"), "-r", &captions, &captions])
        .env("CAPEVAL_CACHE", place.path("cache"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = eventually("the program runs", || {
        fs::read_to_string(place.path("id")).ok().filter(|id| id.ends_with('\n'))
    });
    let signal =
        |name: &str, id: &str| Command::new("kill").args([name, id]).stderr(Stdio::null()).status().unwrap();
    assert!(signal("-INT", &running.id().to_string()).success());
    let output = running.wait_with_output().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(2));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    eventually("the program has ended", || (!signal("-0", id.trim()).success()).then_some(()));
}

#[test]
fn two_processes_share_scores() {
    let place = Place::new(COUNTS, "");
    let captions = |range: std::ops::Range<usize>| {
        let all: Vec<String> = range.map(|id| format!("\"{id}\": \"caption number {id}\"")).collect();
        format!("{{{}}}", all.join(", "))
    };
    let references = place.write("references.json", &captions(0..60));
    let files = [place.write("a.json", &captions(0..40)), place.write("b.json", &captions(20..60))];
    let score =
        |file: &str| place.printed(&["score", "-r", &references, file, "-m", "METRIC", "--missing", "skip"]);
    std::thread::scope(|scope| {
        for file in &files {
            scope.spawn(|| score(file));
        }
    });
    place.asked();
    files.iter().for_each(|file| drop(score(file)));
    assert_eq!(place.asked(), 0);
}

#[test]
fn pictures_reach_programs_in_every_command() {
    let place = Place::new(COUNTS, "pictures = true\n");
    let references = place.write("references.json", r#"{"1": ["a dog runs"], "2": ["two cats"]}"#);
    let captions = place.write("captions.json", r#"{"1": "a dog", "2": "a cat"}"#);
    let prepared = place.path("references.capeval");
    place.printed(&["prepare", &references, "-m", "rouge-l", "-m", "METRIC", "-o", &prepared]);
    let other = place.write("other.json", r#"{"1": "the dog", "2": "the cat"}"#);
    let ratings = place
        .write("ratings.csv", "image_id,caption,rating\n1,a dog,1\n1,the dog,2\n2,a cat,3\n2,the cat,1\n");
    let pairs =
        place.write("pairs.jsonl", "{\"image_id\": 1, \"captions\": [\"a\", \"b\"], \"votes\": [2, 1]}\n");
    fs::create_dir(place.path("first")).unwrap();
    fs::create_dir(place.path("second")).unwrap();
    let (first, second) = (place.path("first"), place.path("second"));
    place.write("first/1.jpg", "1234567");
    place.write("second/COCO_000000000002.jpg", "123");
    let pattern = format!("{second}/COCO_{{id:012}}.jpg");

    let of = |more: &[&str]| segments(&place, &[&["-r", &references, &captions], more].concat());
    let scored = of(&["--pictures", &first, "--pictures", &second]);
    assert!(scored.contains(r#""count":7.0"#) && scored.contains(r#""count":3.0"#), "{scored}");
    assert_eq!(of(&["--pictures", &first, "--pictures", &pattern]), scored);
    assert_eq!(place.asked(), 2, "a picture is the same by whatever way it is found");
    place.write("first/1.jpg", "12345678");
    assert!(
        of(&["--pictures", &first, "--pictures", &second]).contains(r#""count":8.0"#),
        "a picture that has changed"
    );

    let pictures = ["-m", "METRIC", "-r", &references, "--pictures", &first, "--pictures", &second];
    for (command, more) in
        [("compare", &[captions.as_str(), &other][..]), ("correlate", &[&ratings]), ("prefer", &[&pairs])]
    {
        let printed = place.printed(&[&[command], &pictures[..], more].concat());
        assert!(printed.to_lowercase().contains("count"), "{printed}");
        let said = place.refused(&[&[command, "-m", "METRIC", "-r", &references], more].concat());
        assert!(said.contains("count.toml needs pictures, and none are given"), "{said}");
        assert!(said.contains("pass --pictures DIR to say where they are"), "{said}");
    }
    let benchmarks = crate::meta::data();
    let data = benchmarks.path().display().to_string();
    let run = [
        "meta",
        "run",
        "thumb",
        "pascal-50s",
        "--data",
        &data,
        "--subset",
        "--resamples",
        "50",
        "-m",
        "METRIC",
    ];
    place.write("first/a.jpg", "12");
    let printed = place.printed(&[&run[..], &pictures[4..]].concat());
    assert!(printed.contains("count"), "{printed}");
    assert!(place.refused(&run).contains("count.toml needs pictures, and none are given"));
    let said = place.refused(&["score", "-m", "METRIC", "-r", &references, &captions, "--pictures", &first]);
    assert!(said.contains("image 2 has no picture in"), "{said}");
    assert!(said.contains("name each file after the id of its image, such as 42.jpg"), "{said}");
    let address = "https://example.org/{id}.jpg";
    let said = place.refused(&["score", "-m", "METRIC", "-r", &references, &captions, "--pictures", address]);
    assert!(said.contains("metrics look at files, and this is an address"), "{said}");
    let said = place.refused(&["correlate", &ratings, "-m", "bleu", "-r", &references, "--pictures", &first]);
    assert!(said.contains("--pictures is for metrics that look at pictures"), "{said}");

    // The page shows them, too.
    let page = place.path("page.html");
    of(&["--pictures", &first, "--pictures", &second, "--html", &page]);
    let html = fs::read_to_string(page).unwrap();
    assert!(html.contains(r#"["first/1.jpg","second/COCO_000000000002.jpg"]"#));
}

#[test]
fn a_language_that_captions_do_not_look_like_is_noticed() {
    let place = Place::new(COUNTS, "language = 'en'\n");
    let references = place.write("references.json", r#"{"1": ["两只小狗在草地上玩"]}"#);
    let printed = place.printed(&["score", "-m", "METRIC", "-r", &references, &references]);
    assert!(printed.contains("count knows only English"), "{printed}");
}

/// An example: its description in the repository.
fn example(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/metrics");
    root.join(name).display().to_string()
}

#[test]
fn examples_score_what_they_say() {
    for (name, needs, try_it, expected) in [
        ("length-ratio", "python3", &["python3", "--version"][..], 1.0),
        ("exact-match", "jq", &["jq", "--version"], 0.5),
        (
            "edit-similarity",
            "uv",
            &["uv", "run", "--no-project", "--with", "rapidfuzz", "python", "-c", "import rapidfuzz"],
            2.5 / 3.0,
        ),
    ] {
        let tried = Command::new(try_it[0]).args(&try_it[1..]).output();
        if !tried.is_ok_and(|output| output.status.success()) {
            skip(needs, &format!("the example {name} needs {needs}: `{}` fails", try_it.join(" ")));
            continue;
        }
        let place = Place::new("", "");
        let references = place.write("references.json", r#"{"1": ["a dog", "two cats"], "2": ["a bird"]}"#);
        let captions = place.write("captions.json", r#"{"1": "a frog", "2": "a bird"}"#);
        let printed = place.printed(&[
            "score",
            "-m",
            &example(&format!("{name}.toml")),
            "-r",
            &references,
            &captions,
            "-f",
            "json",
        ]);
        let report: serde_json::Value = serde_json::from_str(&printed).unwrap();
        let score = report["systems"][0]["scores"][name].as_f64().unwrap();
        assert!((score - expected).abs() < 1e-12, "{name}: {score}");
    }
}
