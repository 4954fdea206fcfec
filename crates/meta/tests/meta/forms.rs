//! Each documented form is read: small files of our own, since the real ones are not ours to distribute.

use capeval::choice::Code;
use capeval::report::Study as _;
use capeval_meta::{Verdict, benchmarks};

use super::*;

/// Four captions of two images, from the best to the worst of each.
const CAPTIONS: [(&str, &str, f64); 4] = [
    ("a", "a brown dog runs on the sand", 5.0),
    ("a", "a cat sleeps", 1.0),
    ("b", "two children fly a kite", 4.0),
    ("b", "a man rides a horse", 2.0),
];

fn references(image: &str) -> [&'static str; 2] {
    match image {
        "a" => ["A dog runs along the beach.", "a brown dog is running on the sand"],
        _ => ["two children fly a kite in a park", "children play with a kite"],
    }
}

/// A list as Python writes it.
fn python(list: &[&str]) -> String {
    let quoted: Vec<String> = list.iter().map(|text| format!("'{text}'")).collect();
    format!("[{}]", quoted.join(", "))
}

/// Rows in CSV with lists as Python writes them.
fn csv(image: &str, caption: &str, rating: &str) -> String {
    let rows = CAPTIONS
        .iter()
        .map(|(id, text, value)| format!("{id}.jpg,{text},\"{}\",{value}\n", python(&references(id))));
    format!("{image},{caption},refs,{rating}\n{}", rows.collect::<String>())
}

fn json_rows(image: &str, caption: &str, list: &str, rating: &str) -> String {
    let rows: Vec<String> = CAPTIONS
        .iter()
        .map(|(id, text, value)| {
            let refs = serde_json::to_string(&references(id)).unwrap();
            format!(
                r#"{{"{image}": "{id}.jpg", "{caption}": "{text}", "{list}": {refs}, "{rating}": {value}}}"#
            )
        })
        .collect();
    rows.join(",\n")
}

fn composite() -> String {
    let all = json_rows("image", "caption", "references", "human");
    let rows: Vec<&str> = all.split(",\n").collect();
    format!(r#"{{"flickr8k": [{}], "coco": [{}]}}"#, rows[..2].join(","), rows[2..].join(","))
}

const FOIL: &str = r#"{"images": [{"id": 1, "file_name": "x_1.jpg"}, {"id": 2, "file_name": "x_2.jpg"}],
    "annotations": [
        {"id": 10, "image_id": 1, "caption": "a dog runs on the sand", "foil": false, "foil_word": "ORIG"},
        {"id": 10, "image_id": 1, "caption": "a cat runs on the sand", "foil": true, "foil_word": "cat"},
        {"id": 11, "image_id": 2, "caption": "two children fly a kite", "foil": false, "foil_word": "ORIG"},
        {"id": 11, "image_id": 2, "caption": "two children fly a plane", "foil": true, "foil_word": "plane"}]}"#;

const COCO: &str = r#"{"images": [{"id": 1}, {"id": 2}], "annotations": [
    {"id": 1, "image_id": 1, "caption": "a dog runs on the sand"},
    {"id": 2, "image_id": 1, "caption": "a dog on a beach"},
    {"id": 3, "image_id": 1, "caption": "the dog is running"},
    {"id": 4, "image_id": 2, "caption": "children fly a kite in a park"}]}"#;

const PASCAL: &str = r#"{"HC": [{"image": "a.jpg", "captions": ["a dog runs", "a cat"], "label": 0, "references": ["a dog runs on sand"]}],
    "MM": [{"image": "b.jpg", "captions": ["a man", "a kite flies"], "label": 1, "references": ["a kite flies high"]}]}"#;

const MSVD: &str = r#"{"v1": {"vname": "a.avi", "ref": ["a dog runs", "the dog  runs"], "candidate": "a dog runs",
    "human_score": [[5, 4, 5, 5, 4.75], [4, 4, 4, 4, 4.0]]},
    "v2": {"vname": "b.avi", "ref": ["a kite flies"], "candidate": "a man sleeps", "human_score": [[1, 1, 2, 1, 1.25], [2, 1, 1, 1, 1.25]]}}"#;

/// The files of each benchmark in a small version, by name.
pub(super) fn files(name: &str) -> Vec<(&'static str, Vec<u8>)> {
    let of = |file: &'static str, text: String| vec![(file, text.into_bytes())];
    match name {
        "flickr8k-expert" => of("flickr8k.json", clipscore([1.0, 2.0, 4.0])),
        "flickr8k-cf" => of("crowdflower_flickr8k.json", clipscore([0.0, 0.5, 1.0])),
        "elliott-keller-2014" => {
            let judgements = "\"id\",\"j1\",\"j2\",\"j3\",\"imageid\"\n\"0\",\"1\",\"2\",\"1\",\"a.jpg\"\n\"1\",\"4\",\"4\",\"3\",\"a.jpg\"\n";
            let mut all = of("judgements", judgements.to_owned());
            all.extend(of("candidates", "a cat sleeps\na dog runs\n".to_owned()));
            for reference in ["ref-0", "ref-1", "ref-2", "ref-3", "ref-4"] {
                all.extend(of(reference, "a dog runs along\na dog runs along\n".to_owned()));
            }
            all
        }
        "composite" => of("composite.json", composite()),
        "pascal-50s" => of("pascal_50s.json", PASCAL.to_owned()),
        "thumb" | "thumb-machine" => {
            let rows = CAPTIONS.iter().enumerate().map(|(k, (id, text, value))| {
                let system = ["VinVL", "Human"][k % 2];
                format!("{{\"SYS\": \"{system}\", \"seg_id\": \"{id}\", \"hyp\": \"{text}\", \"image\": \"{id}.jpg\", \"human_score\": {value}}}\n")
            });
            let mut all = of("mscoco_THumB-1.0.jsonl", rows.collect());
            let lists = ["a", "b"].map(|id| {
                format!(
                    "{{\"seg_id\": \"{id}\", \"refs\": {}}}\n",
                    serde_json::to_string(&references(id)).unwrap()
                )
            });
            all.extend(of("mscoco_references.json", lists.concat()));
            all
        }
        "polaris" => of("polaris_test.csv", csv("imgid", "mt", "score")),
        "nebula" => of("nebula_test.csv", csv("imgid", "mt", "score")),
        "foil" | "foil-1-ref" => {
            let mut all = of("foilv1.0_test_2017.json", FOIL.to_owned());
            all.extend(of("captions_val2014.json", COCO.to_owned()));
            all
        }
        "capeval1k" => {
            of("capeval1k.jsonl", json_rows("imgid", "caption", "references", "score").replace(",\n", "\n"))
        }
        "msvd-eval" => of("MSVD-Eval.json", MSVD.to_owned()),
        _ => {
            let (test, perspective) = name.strip_prefix("longcap-arena-").unwrap().split_once('-').unwrap();
            let split = if test == "a" { "dci_val" } else { "dci_test" };
            let file: &'static str = Box::leak(format!("{perspective}_{split}.csv").into_boxed_str());
            of(file, csv("file_name", "cand", "score"))
        }
    }
}

fn clipscore(ratings: [f64; 3]) -> String {
    let image = |id: &str, captions: [&str; 2]| {
        let judged: Vec<String> = captions
            .iter()
            .zip([ratings[2], ratings[0]])
            .flat_map(|(text, rating)| {
                [rating, ratings[1]]
                    .map(|r| format!(r#"{{"image_id": "{id}", "caption": "{text}", "rating": {r}}}"#))
            })
            .collect();
        let refs = serde_json::to_string(&references(id)).unwrap();
        format!(
            r#""{id}": {{"human_judgement": [{}], "image_path": "{id}.jpg", "ground_truth": {refs}}}"#,
            judged.join(",")
        )
    };
    let (a, b) =
        (image("a", ["a  brown dog runs on the sand", "a cat"]), image("b", ["a kite", "a man rides"]));
    format!("{{{a}, {b}}}")
}

fn run_files(name: &str, files: &[(&str, Vec<u8>)]) -> Result<MetaReport, Error> {
    let files: Vec<(&str, &[u8])> = files.iter().map(|(file, content)| (*file, content.as_slice())).collect();
    run_on(name, &files, &["bleu", "rouge-l", "cider-d"])
}

#[test]
fn every_benchmark_runs_on_a_small_file_of_its_form() {
    for benchmark in benchmarks() {
        let name = &benchmark.name;
        let report = run_files(name, &files(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let outcome = &report.outcomes[0];
        assert_eq!(outcome.measured.len(), 6, "{name}");
        assert!(
            value(&report, "rouge-l").is_some_and(|value| value > 0.4),
            "{name}: {:?}",
            value(&report, "rouge-l")
        );
        for form in [Form::Table, Form::Markdown, Form::Latex, Form::Csv, Form::Json, Form::Jsonl] {
            assert!(
                text(&report, form).contains(&benchmark.title) || text(&report, form).contains(name.as_str()),
                "{name}"
            );
        }
    }
}

#[test]
fn files_are_found_packed_in_archives_and_under_other_names() {
    use std::io::Write;
    let plain = files("thumb");
    let expected = value(&run_files("thumb", &plain).unwrap(), "cider-d");
    let zipped = |files: &[(&str, Vec<u8>)]| {
        let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, content) in files {
            archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(content).unwrap();
        }
        archive.finish().unwrap().into_inner()
    };
    let gzipped = |content: &[u8]| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(content).unwrap();
        packed.finish().unwrap()
    };
    let of = |files: Vec<(&'static str, Vec<u8>)>| value(&run_files("thumb", &files).unwrap(), "cider-d");
    let mut with_others = plain.clone();
    with_others.push(("readme.txt", b"x".to_vec()));
    assert_eq!(of(vec![("THumB-main.zip", zipped(&with_others))]), expected);
    assert_eq!(
        of(plain
            .iter()
            .map(|(name, content)| {
                let name: &'static str = Box::leak(format!("deep/er/{name}.gz").into_boxed_str());
                (name, gzipped(content))
            })
            .collect()),
        expected
    );
    assert_eq!(
        of(vec![("ratings.jsonl", plain[0].1.clone()), ("gold.json.gz", gzipped(&plain[1].1))]),
        expected
    );
    assert_eq!(of(vec![("MSCOCO_thumb-1.0.JSONL", plain[0].1.clone()), plain[1].clone()]), expected);
}

#[test]
fn rows_of_one_image_may_have_different_references_and_are_resampled_together() {
    let csv = "imgid,mt,refs,score\n\
               a.jpg,a dog runs,\"['a dog runs fast']\",0.9\na.jpg,a cat,\"['a dog sleeps', 'the dog']\",0.2\n\
               b.jpg,a kite,\"['a kite flies']\",0.7\nb.jpg,a man,\"['a kite flies']\",0.1\n";
    let report = run_on("polaris", &[("polaris_test.csv", csv.as_bytes())], &["rouge-l"]).unwrap();
    let outcome = &report.outcomes[0];
    assert_eq!((outcome.n_images, outcome.n_points), (2, 4));
    let points = outcome.points.as_ref().unwrap();
    assert!(points.images.iter().all(|image| ["a.jpg", "b.jpg"].contains(&image.to_string().as_str())));
    // Scores that are given name the image itself.
    let given =
        "image_id,caption,clip\na.jpg,a dog runs,0.9\na.jpg,a cat,0.1\nb.jpg,a kite,0.8\nb.jpg,a man,0.2\n";
    let folder = folder(&[("polaris_test.csv", csv.as_bytes())]);
    let report = run_with(&["polaris"], folder.path(), vec![scores(None, given)], options(&[])).unwrap();
    // All pairs but one are ordered alike.
    assert!(value(&report, "clip").is_some_and(|value| value > 0.6), "{:?}", value(&report, "clip"));
}

#[test]
fn without_an_image_id_rows_with_the_same_references_are_of_one_image() {
    let csv = csv("name", "mt", "score");
    let report = run_on("polaris", &[("polaris_test.csv", csv.as_bytes())], &["rouge-l"]).unwrap();
    assert_eq!(report.outcomes[0].n_images, 2);
}

#[test]
fn corrections_replace_ratings_of_the_same_picture_and_caption() {
    let rated = csv("imgid", "mt", "score");
    let spica =
        "imgid,mt,score\na,a cat sleeps,9\nx/b.png,two children  fly a kite,0\nb,two children fly a kite,1\n";
    let empty = "imgid,mt,score\nz,z,1\n";
    let files: [(&str, &[u8]); 4] = [
        ("nebula_test.csv", rated.as_bytes()),
        ("spica_train.csv", spica.as_bytes()),
        ("spica_val.csv", empty.as_bytes()),
        ("spica_test.csv", empty.as_bytes()),
    ];
    let report = run_on("nebula", &files, &["rouge-l"]).unwrap();
    let ratings = |report: &MetaReport| {
        let mut ratings = report.outcomes[0].points.as_ref().unwrap().ratings.clone();
        ratings.sort_by(f64::total_cmp);
        ratings
    };
    assert_eq!(ratings(&report), [0.5, 2.0, 5.0, 9.0]);
    // Without all of them there is nothing to correct.
    assert_eq!(ratings(&run_on("nebula", &files[..2], &["rouge-l"]).unwrap()), [1.0, 2.0, 4.0, 5.0]);
}

#[test]
fn captions_by_people_can_be_left_out() {
    let (all, machines) =
        (run_files("thumb", &files("thumb")).unwrap(), run_files("thumb-machine", &files("thumb")).unwrap());
    assert_eq!((all.outcomes[0].n_points, machines.outcomes[0].n_points), (4, 2));
}

#[test]
fn foils_are_compared_with_the_right_caption_without_it_among_the_references() {
    let report = run_files("foil", &files("foil")).unwrap();
    let outcome = &report.outcomes[0];
    assert_eq!((outcome.n_points, value(&report, "rouge-l")), (2, Some(1.0)));
    let pairs = outcome.pairs.as_ref().unwrap();
    assert_eq!(pairs[0].captions, ["a dog runs on the sand", "a cat runs on the sand"]);
    let signature = outcome.signatures[0].to_string();
    assert!(signature.contains("nrefs:1-2"), "{signature}");
    let one = run_files("foil-1-ref", &files("foil")).unwrap();
    assert!(one.outcomes[0].signatures[0].to_string().contains("references-per-pair:1|draws:1"));
}

#[test]
fn categories_of_pairs_have_values_of_their_own() {
    let report = run_files("pascal-50s", &files("pascal-50s")).unwrap();
    let measured = report.outcomes[0].measured("cider-d").unwrap();
    let of: Vec<Option<&str>> = measured.values.iter().map(|value| value.category.as_deref()).collect();
    assert_eq!(of, [None, Some("HC"), Some("MM")]);
    assert_eq!(measured.values[0].published[0].printed, "79.6");
    assert_eq!(measured.values[1].published[0].printed, "65.1");
}

#[test]
fn given_scores_stand_beside_metrics_and_are_compared_with_what_was_published() {
    let plain = files("flickr8k-expert");
    let folder = folder(&[(plain[0].0, plain[0].1.as_slice())]);
    let given = "image_id,caption,CLIPScore\na,a brown dog runs on the sand,0.9\na,a cat,0.1\nb,a kite,0.8\nb,a man rides,0.2\n";
    let all = vec![scores(Some("flickr8k-expert"), given)];
    let report = run_with(&["flickr8k-expert"], folder.path(), all.clone(), options(&["rouge-l"])).unwrap();
    let measured = report.outcomes[0].measured("CLIPScore").unwrap();
    let published = &measured.customary().unwrap().published;
    assert_eq!((&*published[0].source, &*published[0].printed), ("clipscore", "51.2"));
    assert!(matches!(published[0].verdict, Verdict::Differs(_)));
    assert_eq!(
        report.unmet().len(),
        report.unmet().iter().filter(|words| words.contains("flickr8k-expert is ")).count()
    );
    let alone = run_with(&["flickr8k-expert"], folder.path(), all, options(&[])).unwrap();
    assert_eq!(alone.outcomes[0].measured.len(), 1);
    assert_eq!(value(&alone, "CLIPScore"), measured.customary().unwrap().value);
}

#[test]
fn metrics_with_other_settings_are_not_compared() {
    let plain = files("flickr8k-expert");
    let files: Vec<(&str, &[u8])> = plain.iter().map(|(name, content)| (*name, content.as_slice())).collect();
    let of = |spec: &str| {
        let report = run_on("flickr8k-expert", &files, &[spec]).unwrap();
        let value = report.outcomes[0].measured("cider-d").unwrap().customary().unwrap().clone();
        (value.published.len(), report.outcomes[0].notices.iter().any(|n| n.code == Code::OtherSettings))
    };
    assert_eq!(of("cider-d"), (2, false));
    assert_eq!(of("cider-d:sigma=4"), (0, true));
}

#[test]
fn differences_and_items_are_written_on_request() {
    let plain = files("flickr8k-expert");
    let folder = folder(&[(plain[0].0, plain[0].1.as_slice())]);
    let options = MetaOptions { differences: true, ..options(&["rouge-l", "cider-d"]) };
    let report = run_with(&["flickr8k-expert"], folder.path(), Vec::new(), options).unwrap();
    assert!(text(&report, Form::Markdown).contains("differences in τ-c"));
    let mut rows = Vec::new();
    report.write_items(&mut rows).unwrap();
    let rows = String::from_utf8(rows).unwrap();
    assert_eq!(rows.lines().count(), 8);
    let first: serde_json::Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    assert_eq!((&first["benchmark"], &first["image_id"]), (&"flickr8k-expert".into(), &"a".into()));
    assert!(first["scores"]["cider-d"].is_number());
}
