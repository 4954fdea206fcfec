//! Dense video captions from the command line.

use std::fs;
use std::process::{Command, Output};

use capeval_testkit::installed;

use crate::program::{path, scratch, stdout};

const REFERENCES: &str = r#"{
  "v_1": {"duration": 20, "timestamps": [[0, 10], [8, 20]], "sentences": ["A man rides a horse.", "The horse jumps over a fence."]},
  "v_2": {"duration": 20, "timestamps": [[0, 5]], "sentences": ["A dog barks."]}}"#;
const RESULTS: &str = r#"{"version": "1", "external_data": {}, "results": {"v_1": [
  {"sentence": "A man rides a horse", "timestamp": [0, 9]}, {"sentence": "A woman cooks", "timestamp": [30, 40]}]}}"#;

/// A run of the command with METEOR's data, which are installed in a folder.
struct Data(std::path::PathBuf);

impl Data {
    fn run(&self, args: &[&str]) -> Output {
        Command::new(path()).arg("dense").args(args).env("CAPEVAL_DATA", &self.0).output().unwrap()
    }

    fn stdout(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What a run says that must be refused.
    fn refused(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    }
}

#[test]
fn a_file_is_scored_by_every_form() {
    let Some(meteor) = installed("meteor") else { return };
    let data = Data(meteor.parent().unwrap().to_owned());
    let folder = tempfile::tempdir().unwrap();
    let [references, results, videos] =
        ["r.json", "p.json", "videos.jsonl"].map(|name| scratch(&folder, name));
    fs::write(&references, REFERENCES).unwrap();
    fs::write(&results, RESULTS).unwrap();
    let table = data.stdout(&["-r", &references, &results]);
    assert!(
        table.contains("capeval") && table.contains("1 video of the references without predictions"),
        "{table}"
    );
    let all = data.stdout(&[
        "-r",
        &references,
        &results,
        "--form",
        "all",
        "--format",
        "csv",
        "--segments",
        &videos,
    ]);
    let value = |form: &str, measure: &str| -> f64 {
        let row = all.lines().find(|line| line.starts_with(&format!("p,{form},{measure},,"))).unwrap();
        row.split(',').nth(4).unwrap().parse().unwrap()
    };
    // One of two videos is missing: 0 for most, left out by VidChapters.
    assert!((value("vidchapters", "meteor") - 2.0 * value("densevid-2019", "meteor")).abs() < 1e-12);
    assert!(value("densevid-2018", "meteor") < value("densevid-2019", "meteor"), "four words of garbage");
    let items = fs::read_to_string(&videos).unwrap();
    assert!(
        items
            .lines()
            .any(|line| line.contains("\"form\":\"densevid-2019\"") && line.contains("\"video\":\"v_2\""))
    );
    let called = data.stdout(&["-r", &references, &results, "--form", "densevid-2021"]);
    assert!(called.contains("densevid-2019 is what PDVC"), "{called}");
    let refused = data.refused(&["-r", &references, &results, "--form", "densevid-2022"]);
    assert!(refused.contains("did you mean densevid-201"), "{refused}");
    fs::write(&results, "{\"v_1\": [{\"timestamp\": [0], \"sentence\": \"a\"}]}").unwrap();
    let refused = data.refused(&["-r", &references, &results]);
    assert!(refused.contains("not a start and an end"), "{refused}");
}

#[test]
fn the_forms_are_listed_with_their_users() {
    let list = stdout(&["dense", "forms"]);
    assert!(
        list.contains("vidchapters") && list.contains("used by: ") && list.contains("left out"),
        "{list}"
    );
}

/// Two files of references with as many videos as an exact test needs, and two systems, of which the second is worse.
fn many(folder: &tempfile::TempDir) -> [String; 4] {
    let names = ["val_1.json", "val_2.json", "good.json", "weak.json"];
    let files = names.map(|name| scratch(folder, name));
    let write = |path: &String, captions: [&str; 2], end: f64| {
        let video = |v: usize| {
            let caption = captions[v % 2];
            (format!("v_{v}"), serde_json::json!({ "timestamps": [[0, end]], "sentences": [caption] }))
        };
        let videos: serde_json::Map<_, _> = (0..12).map(video).collect();
        fs::write(path, serde_json::Value::from(videos).to_string()).unwrap();
    };
    write(&files[0], ["a man rides a horse", "a dog barks at a cat"], 10.0);
    write(&files[1], ["a man on a horse rides", "the dog barks"], 9.0);
    write(&files[2], ["a man rides a horse", "a dog barks"], 10.0);
    write(&files[3], ["a man cooks", "a woman sings"], 20.0);
    files
}

#[test]
fn systems_are_tested_with_videos_as_units() {
    let Some(meteor) = installed("meteor") else { return };
    let data = Data(meteor.parent().unwrap().to_owned());
    let folder = tempfile::tempdir().unwrap();
    let files = many(&folder);
    let [first, second, good, weak] = files.each_ref().map(String::as_str);
    let references: &[&str] = &["-r", first, "-r", second];
    let with = |before: &[&'static str], after: &[&str]| -> Vec<String> {
        [before, references, after].concat().into_iter().map(str::to_owned).collect()
    };
    let run = |args: &[String]| data.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let said = |args: &[String]| data.stdout(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let args = with(&["compare"], &[good, weak, "--resamples", "200", "-f", "json"]);
    let found: serde_json::Value = serde_json::from_str(&said(&args)).unwrap();
    let pair = &found["comparisons"][0];
    assert_eq!((&pair["system"], &pair["baseline"]), (&"weak".into(), &"good".into()), "{found}");
    let soda = &pair["contrasts"]["soda-c"];
    assert_eq!(soda["verdict"], "worse", "{pair}");
    // Twelve videos differ in one direction: 2 of 2^12 sign patterns are as extreme.
    let exact = soda["exact"]["p"].as_f64().unwrap();
    assert!((exact - 2.0 / 4096.0).abs() < 1e-12, "{soda}");
    let required = with(&["compare"], &[good, weak, "--require", "soda-c>=0.9"]);
    assert_eq!(run(&required).status.code(), Some(1));

    // Saved results are shown, have a page, and are compared in the same way.
    let [saved, other, page] = ["saved.json", "other.json", "page.html"].map(|name| scratch(&folder, name));
    data.stdout(&[references, &[good, "--human", "--ci", "--resamples", "200", "--save", &saved]].concat());
    data.stdout(&[references, &[weak, "--save", &other]].concat());
    let shown = stdout(&["show", &saved, "--html", &page]);
    assert!(shown.contains("human") && shown.contains("good"), "{shown}");
    assert!(fs::read_to_string(&page).unwrap().contains("id=\"b-events-0\""));
    let again = stdout(&["compare", "--reports", &saved, &other, "--resamples", "200", "-f", "json"]);
    let again: serde_json::Value = serde_json::from_str(&again).unwrap();
    assert_eq!(again["comparisons"], found["comparisons"]);
    let alone = data.refused(&["-r", first, good, "--human"]);
    assert!(alone.contains("needs two files of references"), "{alone}");
}

#[test]
fn files_of_events_are_inspected() {
    let folder = tempfile::tempdir().unwrap();
    let [references, results] = ["r.json", "p.json"].map(|name| scratch(&folder, name));
    fs::write(&references, REFERENCES).unwrap();
    fs::write(&results, RESULTS.replace("v_1", "1")).unwrap();
    let said = stdout(&["inspect", "-r", &references, &results]);
    for part in [
        "references of dense captions, 2 videos with 3 events",
        "ids with v_; times in seconds, up to 20.0 s; durations of 2 videos",
        "results of dense captions, 1 video with 2 events",
        "ids without v_",
        "ids match the references once v_ is added or removed",
        "1 video of the references without predictions",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&["inspect", "-r", &references, "--json"])).unwrap();
    assert_eq!(json["files"][0]["events"], 3);
}

#[test]
fn files_of_events_are_converted_and_losses_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let references = scratch(&folder, "r.json");
    fs::write(&references, REFERENCES).unwrap();
    let convert = |from: &str, to: &str| {
        let output = Command::new(path()).args(["convert", from, "--format", to]).output().unwrap();
        assert!(output.status.success(), "{to}: {}", String::from_utf8_lossy(&output.stderr));
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (usual, _) = convert(&references, "activitynet");
    for format in ["youcook2", "activitynet-results", "events-jsonl", "events-csv", "timechat"] {
        let (written, said) = convert(&references, format);
        assert_eq!(said, "", "{format}");
        let other = scratch(&folder, format);
        fs::write(&other, written).unwrap();
        let (back, _) = convert(&other, "activitynet");
        let events = |text: &str| -> serde_json::Value {
            let mut videos: serde_json::Value = serde_json::from_str(text).unwrap();
            videos.as_object_mut().unwrap().values_mut().for_each(|video| {
                video.as_object_mut().unwrap().remove("duration");
            });
            videos
        };
        assert_eq!(events(&back), events(&usual), "{format}");
    }
    fs::write(&references, REFERENCES.replace("[8, 20]", "[8.3, 20]")).unwrap();
    let (log, said) = convert(&references, "vtimellm");
    assert!(log.contains("from 00 to 49"), "{log}");
    assert!(said.contains("does not hold everything: 1 event with other times"), "{said}");
    fs::write(&references, "{\"v\": {\"timestamps\": [[0, 1]], \"sentences\": [\"a\"]}}").unwrap();
    let refused =
        Command::new(path()).args(["convert", &references, "--format", "vtimellm"]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("the duration of v is not known"), "{said}");
}

#[test]
fn scores_of_videos_are_grouped_and_correlated() {
    let folder = tempfile::tempdir().unwrap();
    let [references, results, other, kinds, ratings, videos, saved] =
        ["r.json", "p.json", "q.json", "kinds.csv", "ratings.csv", "videos.jsonl", "p.capeval"]
            .map(|name| scratch(&folder, name));
    fs::write(
        &references,
        REFERENCES.replace(
            "{\"duration\": 20, \"timestamps\": [[0, 5]]",
            "{\"duration\": 70.5, \"timestamps\": [[0, 5]]",
        ),
    )
    .unwrap();
    let whole = RESULTS
        .replace("[30, 40]", "[12, 19]")
        .replace("]}}", r#"], "v_2": [{"sentence": "a dog", "timestamp": [0, 4]}]}}"#);
    fs::write(&results, &whole).unwrap();
    fs::write(&other, whole.replace("A woman cooks", "The horse jumps")).unwrap();
    fs::write(&kinds, "video,kind\nv_1,sport\nv_2,animal\n").unwrap();
    let common = ["-r", &references, &results, &other, "--metrics", "bleu,rouge-l"];
    let dense = |more: &[&str]| stdout(&[&["dense"], &common[..], more].concat());
    let grouped = dense(&[
        "--group-by",
        &kinds,
        "--group-by",
        "events=1,4",
        "--group-by",
        "duration=60,180",
        "--save",
        &saved,
    ]);
    for words in ["sport", "animal", "2-4", "61-180", "0-60", "Videos", "all videos", "2 videos"] {
        assert!(grouped.contains(words), "{words}: {grouped}");
    }
    let csv = dense(&["--group-by", &kinds, "--ci", "--resamples", "50", "--format", "csv"]);
    assert!(csv.starts_with("system,group_by,group,videos,"), "{csv}");
    let markdown = dense(&["--group-by", &kinds, "--ci", "--resamples", "50", "--format", "markdown"]);
    for text in [&grouped, &csv, &markdown] {
        assert!(!text.to_lowercase().contains("image"), "{text}");
    }
    let refused =
        Command::new(path()).arg("dense").args(common).args(["--group-by", "kind"]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("nothing groups images by 'kind'") && said.contains("events"), "{said}");
    dense(&["--segments", &videos, "--save", &saved]);
    let later = stdout(&["show", &saved, "--group-by", &kinds]);
    assert!(later.contains("sport"), "{later}");
    let compared = stdout(&[&["dense", "compare"], &common[..], &["--group-by", &kinds]].concat());
    assert!(compared.contains("sport") && compared.contains("numbers of videos"), "{compared}");
    assert!(!compared.to_lowercase().contains("image"), "{compared}");

    fs::write(&ratings, "video,system,rating\nv_1,p,4\nv_2,p,1\nv_1,q,5\nv_2,q,2\n").unwrap();
    let found = stdout(&["correlate", &ratings, "--scores", &videos, "--format", "csv"]);
    assert!(found.contains("rouge-l@0.3") && found.lines().any(|line| line.contains("rouge-l,")), "{found}");
}
