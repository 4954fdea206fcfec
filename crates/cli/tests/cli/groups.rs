//! Scores of groups of images: what groups them, both rules, and every way in which they are shown.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{Run, capeval, scratch};

struct Files {
    folder: TempDir,
}

const METRICS: [&str; 2] = ["-m", "bleu,rouge-l,cider-d"];

const DOMAINS: [&str; 6] = ["in", "near", "out", "in", "near", "in"];

const WORDS: [&str; 6] = ["dog", "cat", "red bus", "small kite", "man", "woman"];

impl Files {
    fn new() -> Self {
        let files = Self { folder: tempfile::tempdir().unwrap() };
        let text = |image: usize, r: usize| {
            let word = WORDS[image % 6];
            [
                format!("a {word} on a hill"),
                format!("the {word} is near a tree number {image}"),
                format!("one {word}"),
            ][r % 3]
                .clone()
        };
        let annotations = (0..6)
            .flat_map(|image| (0..3).map(move |r| json!({"image_id": image, "caption": text(image, r)})));
        let images = (0..6)
            .map(|image| json!({"id": image, "domain": DOMAINS[image], "lang": (["en", "de"][image % 2]), "split": (["a", "b"][image % 2])}));
        files.write(
            "refs.json",
            &json!({"images": Vec::from_iter(images), "annotations": Vec::from_iter(annotations)})
                .to_string(),
        );
        for (name, shift) in [("one", 0), ("two", 1)] {
            let results = (0..6).map(|image| {
                let caption = format!("a {} on a hill number {}", WORDS[image], (image + shift) % 6);
                json!({"image_id": image, "caption": caption, "source": (["x", "y"][image / 3])})
            });
            files.write(&format!("{name}.json"), &Value::from_iter(results).to_string());
        }
        files
    }

    fn path(&self, name: &str) -> String {
        scratch(&self.folder, name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn run(&self, rest: &[&str]) -> Run {
        let (refs, one) = (self.path("refs.json"), self.path("one.json"));
        capeval(&[&["score", "-r", &refs, &one], &METRICS[..], rest].concat())
    }

    fn json(&self, rest: &[&str]) -> Value {
        let run = self.run(&[rest, &["-f", "json"]].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        serde_json::from_str(&run.stdout).unwrap()
    }

    /// The names of the groups by one property, with their numbers of images.
    fn groups(&self, by: &str) -> Vec<String> {
        let report = self.json(&["--group-by", by]);
        let rows = report["groups"][0]["groups"].as_array().unwrap().clone();
        rows.iter().map(|row| format!("{}:{}", row["group"].as_str().unwrap(), row["images"])).collect()
    }

    fn error(&self, rest: &[&str]) -> String {
        let run = self.run(rest);
        assert_eq!(run.code, 2, "{rest:?}: {}{}", run.stdout, run.stderr);
        run.stderr
    }
}

#[test]
fn groups_are_found_in_captions_files_and_built_in_properties() {
    let files = Files::new();
    files.write("groups.csv", "id,group\n0,\"a, b\"\n1,\"c|d\"\n2,\"\"\"q\"\" קבוצה\"\n9,e\n");
    files.write("lists.json", r#"{"first": [0, 1, 2], "second": [2, 3]}"#);
    files.write("by_id.json", r#"{"0": "x", "1": ["x", "y"], "5": "z"}"#);
    files.write(
        "instances.json",
        r#"{"annotations": [{"image_id": 0, "category_id": 1}, {"image_id": 1, "category_id": 2}],
            "categories": [{"id": 1, "name": "dog", "supercategory": "animal"}, {"id": 2, "name": "cat", "supercategory": "animal"}]}"#,
    );
    let path = |name: &str| files.path(name);
    for (by, expected) in [
        ("domain".to_owned(), vec!["in:3", "near:2", "out:1"]),
        ("split".to_owned(), vec!["a:3", "b:3"]),
        ("language".to_owned(), vec!["de:3", "en:3"]),
        ("source".to_owned(), vec!["x:3", "y:3"]),
        ("domain×split".to_owned(), vec!["in×a:1", "in×b:2", "near×a:1", "near×b:1", "out×a:1"]),
        ("domain x source".to_owned(), vec!["in×x:1", "in×y:2", "near×x:1", "near×y:1", "out×x:1"]),
        ("references:count".to_owned(), vec!["3:6"]),
        ("words:candidate=7,8".to_owned(), vec!["0-7:4", "8:2"]),
        ("words:references".to_owned(), vec!["0-5:4", "6-10:2"]),
        (path("groups.csv"), vec!["\"q\" קבוצה:1", "a, b:1", "c|d:1"]),
        (path("lists.json"), vec!["first:3", "second:2"]),
        (path("by_id.json"), vec!["x:2", "y:1", "z:1"]),
        (path("instances.json") + ":category", vec!["cat:1", "dog:1"]),
        (path("instances.json") + ":supercategory", vec!["animal:2"]),
        (path("refs.json") + ":domain", vec!["in:3", "near:2", "out:1"]),
    ] {
        assert_eq!(files.groups(&by), expected, "{by}");
    }
}

/// Bit for bit, by the whole program.
#[test]
fn a_group_scores_as_a_run_on_its_images_or_as_the_mean_of_all() {
    let files = Files::new();
    let own = files.json(&["--group-by", "domain", "--ci", "--resamples", "100"]);
    let all = files.json(&["--group-by", "domain", "--group-df", "all"]);
    let whole = files.path("segments.jsonl");
    files.json(&["--segments", &whole, "--group-by", "domain"]);
    let lines: Vec<Value> =
        fs::read_to_string(&whole).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (k, domain) in ["in", "near", "out"].into_iter().enumerate() {
        let ids: Vec<String> =
            (0..6).filter(|image| DOMAINS[*image] == domain).map(|image| image.to_string()).collect();
        files.write("ids.txt", &ids.join("\n"));
        let alone = files.json(&["--images", &files.path("ids.txt"), "--ci", "--resamples", "100"]);
        let row = &own["groups"][0]["groups"][k];
        assert_eq!(row["scores"], alone["systems"][0]["scores"], "{domain}");
        assert_eq!(row["intervals"], alone["systems"][0]["intervals"], "{domain}");
        let of_group: Vec<&Value> =
            lines.iter().filter(|line| line["groups"]["domain"] == json!([domain])).collect();
        assert_eq!(of_group.len(), ids.len());
        for key in ["rouge-l", "cider-d"] {
            let mean = of_group.iter().map(|line| line["scores"][key].as_f64().unwrap()).sum::<f64>()
                / ids.len() as f64;
            let score = all["groups"][0]["groups"][k]["scores"][key].as_f64().unwrap();
            assert!((score - mean).abs() < 1e-12, "{domain} {key}: {score} is not {mean}");
        }
    }
    assert_eq!(own["systems"][0]["scores"], all["systems"][0]["scores"]);
    let signature =
        |report: &Value| report["groups"][0]["signatures"]["cider-d"].as_str().unwrap().to_owned();
    assert!(signature(&own).ends_with("|group:domain|group-df:own"), "{}", signature(&own));
    assert!(signature(&all).ends_with("|group-df:all"));
}

#[test]
fn prepared_references_give_the_same_groups() {
    let files = Files::new();
    let prepared = files.path("refs.capeval");
    let run = capeval(&["prepare", &files.path("refs.json"), "-m", "bleu,rouge-l,cider-d", "-o", &prepared]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let by = files.path("refs.json") + ":domain";
    let fresh = files.json(&["--group-by", &by]);
    let run = capeval(
        &[
            &["score", "-r", &prepared, &files.path("one.json"), "-f", "json", "--group-by", &by],
            &METRICS[..],
        ]
        .concat(),
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["groups"][0]["groups"], fresh["groups"][0]["groups"]);
}

#[test]
fn every_form_shows_the_groups_and_a_saved_report_keeps_them() {
    let files = Files::new();
    files.write("odd.csv", "id,kind\n0,\"a & b_c|d, e\"\n1,x\n2,x\n");
    let by = ["--group-by", "domain", "--group-by", &files.path("odd.csv")];
    let saved = files.path("report.json");
    let table = files.run(&[&by[..], &["--save", &saved]].concat());
    assert_eq!(table.code, 0, "{}", table.stderr);
    for words in
        ["near", "mean of groups", "all images", "group-df:own", "3 images are in no group", "a & b_c|d, e"]
    {
        assert!(table.stdout.contains(words), "{words}: {}", table.stdout);
    }
    let csv = files.run(&[&by[..], &["-f", "csv"]].concat()).stdout;
    assert!(csv.starts_with("system,group_by,group,images,bleu-1"), "{csv}");
    assert!(csv.contains("one,kind,\"a & b_c|d, e\",1,"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 1 + 3 + 2, "{csv}");
    let lines = files.run(&[&by[..], &["-f", "jsonl"]].concat()).stdout;
    let last: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(
        (lines.lines().count(), &last["group_by"], &last["group"]),
        (6, &json!("kind"), &json!("x")),
        "{lines}"
    );
    let latex = files.run(&[&by[..], &["-f", "latex"]].concat()).stdout;
    assert!(latex.contains(r"a \& b\_c|d, e") || latex.contains(r"a \& b\_c\textbar{}d, e"), "{latex}");
    let markdown = files.run(&[&by[..], &["-f", "markdown"]].concat()).stdout;
    assert!(markdown.contains(r"a & b_c\|d, e") || markdown.contains(r"\|"), "{markdown}");
    let page = files.path("page.html");
    assert_eq!(files.run(&[&by[..], &["--ci", "--resamples", "50", "--html", &page]].concat()).code, 0);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("CIDEr-D by domain") && page.contains("a &amp; b_c|d, e"), "the page draws groups");
    assert!(
        page.contains("<th scope=\"row\"><bdi>mean of groups</bdi></th>"),
        "the page has a table of groups"
    );
    let shown = capeval(&["show", &saved, "-f", "json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(shown["groups"], files.json(&by)["groups"]);
}

#[test]
fn a_saved_report_is_grouped_later_by_means_of_image_scores() {
    let files = Files::new();
    let (saved, by) = (files.path("report.json"), files.path("refs.json") + ":domain");
    files.json(&["--save", &saved]);
    let later = capeval(&["show", &saved, "--group-by", &by, "-f", "json"]);
    assert_eq!(later.code, 0, "{}", later.stderr);
    let later: Value = serde_json::from_str(&later.stdout).unwrap();
    let now = files.json(&["--group-by", "domain", "--group-df", "all"]);
    for (later, now) in later["groups"][0]["groups"]
        .as_array()
        .unwrap()
        .iter()
        .zip(now["groups"][0]["groups"].as_array().unwrap())
    {
        assert_eq!((&later["group"], &later["images"]), (&now["group"], &now["images"]));
        for key in ["rouge-l", "cider-d"] {
            assert_eq!(later["scores"][key], now["scores"][key], "{key}");
        }
        assert_eq!(later["scores"]["bleu-4"], Value::Null);
    }
    assert!(later["notices"].to_string().contains("no-mean-of-groups"));
    let words = capeval(&["show", &saved, "--group-by", "words:candidate"]);
    assert!(words.code == 2 && words.stderr.contains("a saved report has no captions"), "{}", words.stderr);
    let bare = files.path("bare.json");
    fs::write(&bare, files.run(&["-f", "json"]).stdout).unwrap();
    assert!(capeval(&["show", &bare, "--group-by", &by]).stderr.contains("no scores of images"));
}

#[test]
fn an_image_that_lacks_one_of_crossed_properties_is_in_no_group() {
    let files = Files::new();
    files.write("kinds.csv", "id,kind\n0,x\n1,y\n2,x\n");
    let by = format!("domain×{}", files.path("kinds.csv"));
    assert_eq!(files.groups(&by), ["in×x:1", "near×y:1", "out×x:1"]);
    assert_eq!(files.json(&["--group-by", &by])["groups"][0]["without"], 3);
}

/// References of 5 and 6 words have 5.5 on average, which is more than 5.
#[test]
fn a_mean_between_two_bins_is_in_the_upper_one() {
    let files = Files::new();
    let row = |image: usize, caption: &str| json!({"image_id": image, "caption": caption});
    let references =
        [row(0, "a dog on a hill"), row(0, "a dog on the green hill"), row(1, "a cat on a hill")];
    files.write("refs.json", &json!({ "annotations": references }).to_string());
    files.write("one.json", &json!([row(0, "a dog"), row(1, "a cat")]).to_string());
    assert_eq!(files.groups("words:references"), ["0-5:1", "6-10:1"]);
}

#[test]
fn the_mean_of_groups_counts_each_group_once() {
    let report = Files::new().json(&["--group-by", "domain"]);
    let of = &report["groups"][0];
    for key in ["bleu-4", "rouge-l", "cider-d"] {
        let scores = of["groups"].as_array().unwrap().iter().map(|row| row["scores"][key].as_f64().unwrap());
        let mean = of["mean"]["one"][key].as_f64().unwrap();
        assert!((mean - scores.sum::<f64>() / 3.0).abs() < 1e-12, "{key}: {mean}");
    }
}

#[test]
fn a_group_of_a_saved_report_differs_from_all_others_as_it_did() {
    let files = Files::new();
    let (saved, by) = (files.path("report.json"), files.path("refs.json") + ":domain");
    files.json(&["--save", &saved]);
    let later = capeval(&["show", &saved, "--group-by", &by, "-f", "json"]);
    let later: Value = serde_json::from_str(&later.stdout).unwrap();
    let now = files.json(&["--group-by", "domain", "--group-df", "all"]);
    for k in 0..3 {
        let difference = |report: &Value| {
            report["groups"][0]["groups"][k]["rest"]["rouge-l"]["difference"].as_f64().unwrap()
        };
        let (later, now) = (difference(&later), difference(&now));
        assert!((later - now).abs() < 1e-12, "{later} is not {now}");
    }
}

/// By Holm's method, the smaller of two p-values counts twice, and those of two groups that are each other's rest are
/// equal.
#[test]
fn the_p_value_of_a_group_is_corrected_for_the_number_of_groups() {
    let files = Files::new();
    let row = |image: usize, caption: String| json!({"image_id": image, "caption": caption});
    let references = (0..24).map(|image| row(image, format!("a dog number {image} on a green hill")));
    files.write("refs.json", &json!({ "annotations": Vec::from_iter(references) }).to_string());
    let results = (0..24).map(|image| {
        row(
            image,
            ["a dog on a hill", "a hill", "a dog number", "some green cat"][(image / 12 + image) % 4]
                .to_owned(),
        )
    });
    files.write("one.json", &Value::from_iter(results).to_string());
    let one: String = (0..10).map(|image| format!("{image},first\n")).collect();
    let rest: String = (10..24).map(|image| format!("{image},rest\n")).collect();
    files.write("one.csv", &format!("id,one\n{one}"));
    files.write("both.csv", &format!("id,both\n{one}{rest}"));
    let report = files.json(&["--group-by", &files.path("one.csv"), "--group-by", &files.path("both.csv")]);
    let p = |by: usize, group: usize| {
        report["groups"][by]["groups"][group]["rest"]["rouge-l"]["p"].as_f64().unwrap()
    };
    let raw = p(0, 0);
    assert!(raw > 0.0 && raw < 1.0, "{raw}");
    for corrected in [p(1, 0), p(1, 1)] {
        assert!((corrected - (2.0 * raw).min(1.0)).abs() < 1e-9, "{corrected} for {raw}");
    }
}

#[test]
fn requirements_name_groups() {
    let files = Files::new();
    let with = |require: &str| files.run(&["--group-by", "domain", "--require", require]).code;
    assert_eq!([with("rouge-l@out >= 0.01"), with("rouge-l@out >= 1.01")], [0, 1]);
    assert_eq!(with("mean(rouge-l@in, rouge-l@out) > 0.01"), 0);
    let error = files.error(&["--group-by", "domain", "--require", "rouge-l@outt >= 1"]);
    assert!(error.contains("nothing is called 'rouge-l@outt'") && error.contains("rouge-l@out"), "{error}");
}

#[test]
fn several_systems_and_runs_have_groups() {
    let files = Files::new();
    let report = files.json(&[&files.path("two.json"), "--group-by", "domain"]);
    let rows = report["groups"][0]["groups"].as_array().unwrap();
    let systems: Vec<&str> = rows.iter().map(|row| row["system"].as_str().unwrap()).collect();
    assert_eq!(systems, ["one", "two", "one", "two", "one", "two"]);
    let (refs, one, two) = (files.path("refs.json"), files.path("one.json"), files.path("two.json"));
    let by = ["--group-by", "domain", "--rank-by", "points(rouge-l, cider-d), bleu-1", "--resamples", "50"];
    let compared = capeval(&[&["compare", "-r", &refs, &one, &two], &METRICS[..], &by].concat());
    for words in ["less one, by domain", "points(rouge-l, cider-d)", "group-df:own", "near"] {
        assert!(compared.stdout.contains(words), "{words}: {}{}", compared.stdout, compared.stderr);
    }
    let runs = format!("mine={},{}", files.path("one.json"), files.path("two.json"));
    let refs = files.path("refs.json");
    let run = capeval(
        &[&["score", "-r", &refs, "--runs", &runs, "-f", "json", "--group-by", "domain"], &METRICS[..]]
            .concat(),
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    let joined: Value = serde_json::from_str(&run.stdout).unwrap();
    let by_words = [&["score", "-r", &refs, "--runs", &runs, "--group-by", "words:candidate"], &METRICS[..]];
    let refused = capeval(&by_words.concat());
    let words = "mine has several captions for an image, which may be in different groups by words:candidate";
    assert!(refused.code == 2 && refused.stderr.contains(words), "{}", refused.stderr);
    let score = |row: &Value| row["scores"]["bleu-4"].as_f64().unwrap();
    let mean = (score(&rows[0]) + score(&rows[1])) / 2.0;
    assert!((score(&joined["groups"][0]["groups"][0]) - mean).abs() < 1e-12);
}

#[test]
fn ids_that_a_template_makes_are_those_of_groups() {
    let files = Files::new();
    files.write("scenes.csv", "scene,object,kind,caption\nx,1,a,a dog\nx,2,b,two cats\ny,1,a,a bus\n");
    files.write("clips.csv", "clip,kind,caption\n1,a,a dog\n2,b,two cats\n3,a,a bus\n");
    files.write("sizes.csv", "scene,object,size\nx,1,big\nx,2,small\ny,1,big\n");
    let results = |ids: [&str; 3]| {
        let captions = ids.iter().zip(["a dog", "cats", "the bus"]);
        Value::from_iter(captions.map(|(id, caption)| json!({"image_id": id, "caption": caption})))
            .to_string()
    };
    files.write("by_object.json", &results(["x|1", "x|2", "y|1"]));
    files.write("by_clip.json", &results(["v_1.mp4", "v_2.mp4", "v_3.mp4"]));
    let path = |name: &str| files.path(name);
    let (sizes, by_object, by_clip) = (path("sizes.csv"), path("by_object.json"), path("by_clip.json"));
    let (scenes, clips) = (path("scenes.csv"), path("clips.csv"));
    for (args, expected) in [
        (["-r", &scenes, &by_object, "--ref-id-column", "{scene}|{object}", "kind"], ["a", "b"]),
        (["-r", &scenes, &by_object, "--ref-id-column", "{scene}|{object}", &sizes], ["big", "small"]),
        (["-r", &clips, &by_clip, "--ref-id-column", "v_{}.mp4", "kind"], ["a", "b"]),
        (["-r", &by_clip, &clips, "--id-column", "v_{}.mp4", "kind"], ["a", "b"]),
    ] {
        let (by, given) = args.split_last().unwrap();
        let run =
            capeval(&[&["score", "-m", "rouge-l", "-f", "json", "--group-by"], &[*by][..], given].concat());
        assert_eq!(run.code, 0, "{args:?}: {}", run.stderr);
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        let rows = report["groups"][0]["groups"].as_array().unwrap().iter();
        let found: Vec<_> = rows.map(|row| (row["group"].as_str().unwrap(), row["images"].clone())).collect();
        assert_eq!(found, [(expected[0], json!(2)), (expected[1], json!(1))], "{args:?}");
    }
}

#[test]
fn bad_groups_are_refused_with_what_to_do() {
    let files = Files::new();
    files.write("other.csv", "id,group\n71,a\n72,b\n");
    files.write("wide.csv", "id,kind,domain\n0,a,b\n1,c,d\n");
    files.write("empty.csv", "");
    files.write("broken.json", "{\"a\": [1, ");
    let path = |name: &str| files.path(name);
    for (by, words) in [
        ("domian".to_owned(), "did you mean domain"),
        ("".to_owned(), "it lacks a property"),
        ("domain×".to_owned(), "it lacks a property"),
        ("domain×nothing".to_owned(), "nothing groups images by 'nothing'"),
        (
            "domain,lang".to_owned(),
            "pass --group-by 'domain×lang' to score every combination, or give 'domain' and 'lang'",
        ),
        ("lang; words:candidate".to_owned(), "'lang; words:candidate' names 2 properties at once"),
        ("domain,nothing".to_owned(), "nothing groups images by 'domain,nothing'"),
        ("words:candidate=9,3".to_owned(), "not a list of ascending numbers"),
        ("words:candidate=many".to_owned(), "not a list of ascending numbers"),
        ("references:count=3".to_owned(), "it has no bins"),
        ("objects:references=a bus".to_owned(), "'a bus' in 'a bus' is no single word"),
        ("none.csv".to_owned(), "neither a file nor a column"),
        (path("none.csv"), "neither a file nor a column"),
        (path("other.csv"), "none of its values"),
        (path("wide.csv"), "any of the columns kind, domain"),
        (path("wide.csv") + ":colour", "there is no column 'colour'"),
        (path("empty.csv"), "empty"),
        (path("broken.json"), "broken.json"),
        ("partition".to_owned(), "objects:references, id, domain, lang, split, image_id, caption, source"),
        (path("refs.json"), "these are the captions, which do not say what groups images"),
        (path("one.json"), "name one of its columns, as in"),
    ] {
        let error = files.error(&["--group-by", &by]);
        assert!(error.contains(words) && error.contains("help: "), "{by}: {error}");
    }
    assert!(files.error(&["--group-df", "all"]).contains("--group-by"));
    let run = files.run(&["--group-by", "domain", "--group-by", "domain", "-f", "json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["groups"].as_array().unwrap().len(), 1, "one property twice is one");
}

#[test]
fn a_group_of_one_image_is_scored_and_said_to_depend_on_its_frequencies() {
    let files = Files::new();
    let report = files.json(&["--group-by", "domain"]);
    let out = &report["groups"][0]["groups"][2];
    assert_eq!((&out["images"], &out["scores"]["cider-d"]), (&json!(1), &json!(0.0)));
    let notices = report["notices"].to_string();
    assert!(notices.contains("group-frequencies") && notices.contains("'out' is 0.000"), "{notices}");
}

#[test]
fn ten_thousand_groups_are_scored() {
    let files = Files::new();
    let pairs = (0..10_000).map(|k| format!("{},g{k}\n", k % 6));
    files.write("many.csv", &["id,group\n".to_owned()].into_iter().chain(pairs).collect::<String>());
    let report = files.json(&["--group-by", &files.path("many.csv")]);
    assert_eq!(report["groups"][0]["groups"].as_array().unwrap().len(), 10_000);
}

/// A command, its first part with files of all images and with those of the group `in`, and where its results are.
struct GroupRun {
    command: &'static str,
    whole: Vec<String>,
    alone: Vec<String>,
    rest: &'static [&'static str],
    keys: &'static [[&'static str; 2]],
}

impl Files {
    /// Other commands with files of their own: ratings, pairs and references, all and of the group `in` alone.
    fn others(&self) -> Vec<GroupRun> {
        let refs: Value = serde_json::from_str(&fs::read_to_string(self.path("refs.json")).unwrap()).unwrap();
        let is_in = |image: usize| DOMAINS[image] == "in";
        let annotations = refs["annotations"].as_array().unwrap().iter();
        let some = annotations.filter(|row| is_in(row["image_id"].as_u64().unwrap() as usize));
        self.write("refs_in.json", &json!({"annotations": Vec::from_iter(some)}).to_string());
        let of = |keep: &dyn Fn(usize) -> bool, row: &dyn Fn(usize) -> String| {
            (0..6).filter(|image| keep(*image)).map(row).collect::<String>()
        };
        let rated = |image: usize| {
            let one = |k: usize, caption: &str| format!("{image},{caption},{},{k}\n", (image + 3 * k) % 5);
            let word = WORDS[image];
            one(0, &format!("a {word} on a hill"))
                + &one(1, "one cat is near a tree")
                + &one(2, &format!("the {word}"))
        };
        let pair = |image: usize| {
            format!(
                "{image},a {} is on a hill,the cat is near a tree,{}\n",
                WORDS[image],
                ["a", "b"][image % 2]
            )
        };
        for (suffix, keep) in [("", &(|_| true) as &dyn Fn(usize) -> bool), ("_in", &is_in)] {
            let head = "image_id,caption,rating,rater\n".to_owned();
            self.write(&format!("ratings{suffix}.csv"), &(head + &of(keep, &rated)));
            let head = "image_id,caption_a,caption_b,winner\n".to_owned();
            self.write(&format!("pairs{suffix}.csv"), &(head + &of(keep, &pair)));
        }
        let args = |suffix: &str, first: &str| {
            let refs = self.path(&format!("refs{suffix}.json"));
            let first = first
                .is_empty()
                .then(Vec::new)
                .unwrap_or_else(|| vec![self.path(&first.replace('.', &format!("{suffix}.")))]);
            [first, vec!["-r".to_owned(), refs]].concat()
        };
        let grouped = |command, first, rest, keys| GroupRun {
            command,
            whole: args("", first),
            alone: args("_in", first),
            rest,
            keys,
        };
        let ci: &[&str] = &["-m", "bleu,rouge-l,cider-d", "--ci", "--resamples", "40"];
        vec![
            grouped(
                "correlate",
                "ratings.csv",
                ci,
                &[["correlations", "correlations"], ["williams", "williams"], ["ratings", "ratings"]],
            ),
            grouped("prefer", "pairs.csv", ci, &[["accuracies", "accuracies"]]),
            grouped("human", "", ci, &[["scores", "scores"], ["intervals", "intervals"]]),
            grouped("diversity", "refs.json", &["-m", "self-cider,div,vocabulary"], &[["scores", "scores"]]),
        ]
    }
}

fn run(command: &str, args: &[String], rest: &[&str]) -> Run {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    capeval(&[&[command], &args[..], rest].concat())
}

fn parsed(run: &Run) -> Value {
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

/// Bit for bit, with the intervals.
#[test]
fn every_command_treats_a_group_as_if_it_were_alone() {
    let files = Files::new();
    for GroupRun { command, whole, alone, rest, keys } in files.others() {
        let own = parsed(&run(command, &whole, &[rest, &["--group-by", "domain", "-f", "json"]].concat()));
        let alone = parsed(&run(command, &alone, &[rest, &["-f", "json"]].concat()));
        let group = &own["groups"][0]["groups"][0];
        assert_eq!((&own["groups"][0]["by"], &group["group"]), (&json!("domain"), &json!("in")), "{command}");
        for [grouped, key] in keys {
            let expected = alone.get(*key).unwrap_or_else(|| &alone["systems"][0][*key]);
            let (mut found, mut expected) = (group[*grouped].clone(), expected.clone());
            for value in [&mut found, &mut expected] {
                if let Some(fields) = value.as_object_mut() {
                    fields.remove("file");
                }
            }
            assert_eq!(found, expected, "{command} {key}");
        }
        let all = ["--group-by", "domain", "--group-df", "all", "-f", "json"];
        let all = parsed(&run(command, &whole, &[rest, &all].concat()));
        let mut signatures = all["groups"][0]["signatures"].as_object().unwrap().values();
        assert!(signatures.all(|one| one.as_str().unwrap().ends_with("group-df:all")), "{command}");
        // Choices between two captions seldom depend on frequencies.
        assert!(command == "prefer" || all["groups"][0]["groups"] != own["groups"][0]["groups"], "{command}");
    }
}

#[test]
fn every_command_shows_groups_in_every_form() {
    let files = Files::new();
    files.write("odd.csv", "id,kind\n0,\"a & b|c, \"\"d\"\"\"\n1,קבוצה\n2,קבוצה\n");
    let by = ["--group-by", "domain", "--group-by", &files.path("odd.csv")];
    let (saved, page) = (files.path("saved.json"), files.path("page.html"));
    for GroupRun { command, whole, rest, .. } in files.others() {
        let args = [rest, &by].concat();
        let table = run(command, &whole, &[&args[..], &["--save", &saved, "--html", &page]].concat());
        assert_eq!(table.code, 0, "{command}: {}", table.stderr);
        for words in ["by domain", "near", "all images", "קבוצה", "group-df:own", "3 images are in no group"]
        {
            assert!(table.stdout.contains(words), "{command} {words}: {}", table.stdout);
        }
        let csv = run(command, &whole, &[&args[..], &["-f", "csv"]].concat()).stdout;
        let columns = csv.lines().next().unwrap().split(',').collect::<Vec<_>>();
        assert_eq!(columns[1..3], ["group_by", "group"], "{command}");
        assert!(csv.contains(",kind,\"a & b|c, \"\"d\"\"\","), "{command}: {csv}");
        let lines = run(command, &whole, &[&args[..], &["-f", "jsonl"]].concat()).stdout;
        let last: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
        assert_eq!((&last["group_by"], &last["group"]), (&json!("kind"), &json!("קבוצה")), "{command}");
        assert!(fs::read_to_string(&page).unwrap().contains("a &amp; b|c"), "{command}");
        let shown = parsed(&capeval(&["show", &saved, "-f", "json"]));
        let fresh = parsed(&run(command, &whole, &[&args[..], &["-f", "json"]].concat()));
        assert_eq!(shown["groups"], fresh["groups"], "{command}");
    }
}

#[test]
fn groups_are_of_images_also_where_rows_are_captions() {
    let files = Files::new();
    for GroupRun { command, whole, rest, .. } in files.others() {
        let error = |by: &str| {
            let found = run(command, &whole, &[rest, &["--group-by", by]].concat());
            assert_eq!(found.code, 2, "{command} {by}: {}", found.stdout);
            found.stderr
        };
        assert!(error("domian").contains("did you mean domain"), "{command}");
        match command {
            "correlate" => {
                let words = error("rater");
                assert!(
                    words.contains("not the same for all rows of image 0") && words.contains("help: "),
                    "{words}"
                );
                let lengths =
                    run(command, &whole, &[rest, &["--group-by", "words:candidate", "-f", "json"]].concat());
                let lengths = parsed(&lengths);
                let points = |k: usize| lengths["groups"][0]["groups"][k]["ratings"]["points"].clone();
                assert_eq!([points(0), points(1)], [json!(10), json!(8)]);
            }
            "prefer" => assert!(error("words:candidate").contains("a pair has two captions")),
            "human" => assert!(error("words:candidate").contains("each reference is the candidate in turn")),
            _ => assert!(error("words:candidate").contains("an image may have several captions")),
        }
    }
}
